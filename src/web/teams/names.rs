//! Names as people type or paste them, and the identities of new players.

use crate::model::plain_name;

/// The longest text of names that is read, in bytes.
pub(super) const LONGEST: usize = 16 * 1_024;
/// What stands between two names.
const BETWEEN: [char; 4] = ['\n', ',', ';', '\t'];
/// What a line of a list begins with.
const BULLETS: [char; 5] = ['-', '*', '•', '–', '·'];

/// The names in a text: one per line, or with commas between them. Bullets and numbers of a pasted list are left out.
pub(super) fn names(text: &str) -> Vec<String> {
    let text = &text[..text.floor_char_boundary(LONGEST)];
    let names = text.split(BETWEEN).map(without_number).map(clean);
    names.flatten().collect()
}

/// A name on a list, and the weight that stands before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ListedName {
    /// As it was typed, with the weight.
    pub(super) text: String,
    pub(super) name: String,
    /// The weight as it was typed.
    pub(super) weight: Option<String>,
}

/// The names of a list, with weights before them as in `5 Ann`. A tab may stand between them.
pub(super) fn listed(text: &str) -> Vec<ListedName> {
    let text = &text[..text.floor_char_boundary(LONGEST)];
    let parts = text.split([BETWEEN[0], BETWEEN[1], BETWEEN[2]]);
    parts.flat_map(listed_on).collect()
}

/// The names of one part of a list, in which tabs stand between names, and between a weight and its name.
fn listed_on(part: &str) -> Vec<ListedName> {
    let mut names: Vec<ListedName> = Vec::new();
    for cell in part.split('\t').map(without_number) {
        let is_weight = |last: &mut ListedName| is_number(&last.text);
        match names.pop_if(is_weight) {
            Some(weight) => {
                let text = format!("{} {cell}", weight.text);
                names.extend(ListedName::of(&text).or(Some(weight)));
            }
            None => names.extend(ListedName::of(cell)),
        }
    }
    names
}

impl ListedName {
    /// A name, with the weight that stands before it; `None` if nothing is left of the name.
    pub(super) fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        let parts = text.split_once(char::is_whitespace);
        let parts = parts.filter(|(weight, _)| is_number(weight));
        let weighed = parts.and_then(|(weight, name)| Some((weight, clean(name)?)));
        Some(match weighed {
            Some((weight, name)) => Self {
                text: format!("{weight} {name}"),
                name,
                weight: Some(weight.to_owned()),
            },
            None => Self::plain(clean(text)?),
        })
    }

    /// A name without a weight.
    pub(super) fn plain(name: String) -> Self {
        Self {
            text: name.clone(),
            name,
            weight: None,
        }
    }
}

/// Whether a word is a number in digits, of any size and sign.
fn is_number(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit())
        && word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        && word.parse::<f64>().is_ok()
}

/// The groups of names in a text, one on each line.
pub(super) fn groups(text: &str) -> Vec<Vec<String>> {
    let groups = text[..text.floor_char_boundary(LONGEST)].lines().map(names);
    groups.filter(|group| !group.is_empty()).collect()
}

/// A name as it is shown: in one line, without characters that nobody sees. `None` if nothing is left of it.
pub(super) fn clean(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let joined = words.join(" ");
    let seen = |c: &char| !c.is_control();
    let name: String = joined.chars().filter(seen).collect();
    let name = plain_name(&name);
    // What is shown of a name without visible characters.
    let is_empty = name.trim().is_empty() || name == plain_name("");
    (!is_empty).then(|| name.trim().to_owned())
}

/// A name without the bullet or the number before it, as in `3. Ann` or `- Ann`.
fn without_number(text: &str) -> &str {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix(BULLETS) {
        return if rest.starts_with(' ') { rest } else { text };
    }
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(['.', ')']) {
        Some(name) if rest.len() < text.len() && name.starts_with(' ') => name,
        _ => text,
    }
}

/// What is compared of a name: names that differ only in capital letters are one.
pub(super) fn key(name: &str) -> String {
    name.to_lowercase()
}

/// The identity of a new player of this name: in lower case, with `-` for each white space.
pub(super) fn identity(name: &str) -> String {
    key(name).replace(char::is_whitespace, "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_people_write_them() {
        let read = |text: &str| names(text).join("|");
        assert_eq!(read("ann, bob, cid"), "ann|bob|cid");
        assert_eq!(
            read("Ann\r\n  Bob  Lee \n\n;Cid;\tDan"),
            "Ann|Bob Lee|Cid|Dan"
        );
        assert_eq!(
            read("1. Ann\n2) Bob\n- Cid\n• Dan\n10. Eve"),
            "Ann|Bob|Cid|Dan|Eve"
        );
        assert_eq!(read("3pac, -x-, 7, 1.5, 2.Fay"), "3pac|-x-|7|1.5|2.Fay");
        assert_eq!(read(" ,;\n \u{200b}\u{7}"), "");
        assert_eq!(
            read("<b>x</b>, ^1Red\u{0}\u{202e}"),
            "<b>x</b>|Red",
            "colours are not part of a name"
        );
        assert_eq!(names(&"x\n".repeat(100_000)).len(), LONGEST / 2);
        assert_eq!(names(&"é".repeat(100_000))[0].chars().count(), 41, "cut");
        assert_eq!(
            groups("ann, bob\n\n cid\n,\n"),
            [vec!["ann", "bob"], vec!["cid"]]
        );
    }

    #[test]
    fn a_list_has_weights_before_names() {
        let read = |text: &str| {
            let listed = listed(text).into_iter();
            let shown =
                listed.map(|one| format!("{}={}", one.name, one.weight.unwrap_or_default()));
            shown.collect::<Vec<_>>().join("|")
        };
        let list = "5 Boring John\n 3\tSilly  Billy\n- 2.5 Ann, .5 Bob; Cid";
        assert_eq!(
            read(list),
            "Boring John=5|Silly Billy=3|Ann=2.5|Bob=.5|Cid="
        );
        assert_eq!(
            read("1. 7 Ann\n2) -7 Bob\n1e999 Cid"),
            "Ann=7|Bob=-7|Cid=1e999"
        );
        assert_eq!(read("ann\t5\tbob\tcid"), "ann=|bob=5|cid=");
        // Words that are no numbers in digits are names.
        assert_eq!(
            read("3pac, 7, Nan Lee, inf x, 2nd Ann"),
            "3pac=|7=|Nan Lee=|inf x=|2nd Ann="
        );
    }

    #[test]
    fn the_identity_of_a_new_player_does_not_depend_on_how_the_name_is_written() {
        assert_eq!(identity("Ann Lee"), "ann-lee");
        assert_eq!(identity("ANN"), key("ann"));
        assert_eq!(identity("Zoë"), "zoë");
    }
}
