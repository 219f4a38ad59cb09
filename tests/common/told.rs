//! A story in a file: what a game server sends (`> `), what it hears (`< `), and how many milliseconds pass (`~ `).

/// One line of a story.
pub enum Step<'a> {
    Sends(&'a str),
    Hears(&'a str),
    Waits(u64),
}

/// The steps of a story. Empty lines and lines that begin with `#` are for its readers.
pub fn steps(story: &str) -> impl Iterator<Item = Step<'_>> {
    let lines = story.lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| match line.split_at_checked(2) {
        Some(("> ", line)) => Step::Sends(line),
        Some(("< ", line)) => Step::Hears(line),
        Some(("~ ", millis)) => Step::Waits(millis.parse().unwrap()),
        _ => panic!("{line}"),
    })
}
