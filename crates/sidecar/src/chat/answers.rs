//! The lines that answer players' commands. Each line is safe in a console command.

use evenkeel_protocol::Reply;

use super::ChatPlayer;

/// The most lines about the player who asks for the reasons of a decision, and the most in all.
const OWN_REASONS: usize = 2;
const REASONS: usize = 3;
/// Starts of reasons that are for the operator.
const FOR_OPERATORS: [&str; 5] = ["objective", "picked", "runner-up", "best plan", "only bots"];

/// The name of a team in the game.
pub(super) fn team_name(names: &[&str], team: u8) -> String {
    match names.get(usize::from(team)) {
        Some(name) => (*name).to_owned(),
        None => format!("team {team}"),
    }
}

/// The chance of the first team to win, if it was told, and the ratio.
pub(super) type Even = (Option<f64>, f64);

/// Answers `!teams`: who is on which team, and how even they were when teams were last chosen.
pub(super) fn teams(players: &[ChatPlayer], names: &[&str], even: Option<Even>) -> Vec<String> {
    let mut lines = Vec::new();
    for team in 0..u8::try_from(names.len()).unwrap_or(u8::MAX) {
        let members = players.iter().filter(|player| player.team == Some(team));
        let members: Vec<_> = members.map(|player| plain_name(&player.name)).collect();
        if !members.is_empty() || team < 2 {
            let team = team_name(names, team);
            lines.push(list(format!("{team} ({}):", members.len()), &members));
        }
    }
    lines.push(match even {
        Some((Some(chance), ratio)) => format!(
            "chance of {} to win {chance:.2}, ratio {ratio:.2} when teams were last chosen",
            team_name(names, 0)
        ),
        Some((None, ratio)) => {
            format!("ratio {ratio:.2} when teams were last chosen, 1.00 is even")
        }
        None => "no teams have been chosen yet".to_owned(),
    });
    lines
}

/// Appends the names to the line, as many as fit, and the number of the others.
fn list(mut line: String, names: &[String]) -> String {
    for (index, name) in names.iter().enumerate() {
        let rest = names.len() - index;
        if line.len() + name.len() + " and 99 more".len() > MAX_LINE {
            return format!("{line} and {rest} more");
        }
        line.push(' ');
        line.push_str(name);
        if rest > 1 {
            line.push(',');
        }
    }
    line
}

/// Answers `!rank` with the daemon's reply.
pub(super) fn rank(reply: &Reply) -> String {
    let Reply::Rank {
        division,
        games,
        weight,
        ..
    } = reply
    else {
        return "there are no ranks on this server".to_owned();
    };
    let mut line = match division {
        Some((name, progress)) => {
            let progress = (progress * 100.0).round();
            format!("your division is {name}, {progress} of 100 to the next")
        }
        None => "you have no division yet".to_owned(),
    };
    if let Some(weight) = weight {
        line += &format!(", weight {weight:.1}");
    }
    let games = match games {
        1 => "1 rated game".to_owned(),
        games => format!("{games} rated games"),
    };
    cut(plain(&format!("{line}, {games}")))
}

/// Answers `!why` with the reasons for the last decision: first those that name the player who
/// asks, then those that name no player. Reasons that name other players are left out, because
/// they contain identities, and what others did.
pub(super) fn why(
    reasons: &[String],
    players: &[ChatPlayer],
    number: usize,
    names: &[&str],
) -> Vec<String> {
    if reasons.is_empty() {
        return vec!["nothing has been decided yet".to_owned()];
    }
    let asker = players.iter().find(|player| player.number == number);
    let own = |reason: &&String| {
        asker.is_some_and(|asker| mentions(reason, &asker.id))
            && !players
                .iter()
                .any(|player| player.number != number && mentions(reason, &player.id))
    };
    let general = |reason: &&String| {
        !players.iter().any(|player| mentions(reason, &player.id))
            && !FOR_OPERATORS.iter().any(|start| reason.starts_with(start))
    };
    let mut chosen: Vec<&String> = reasons.iter().filter(own).take(OWN_REASONS).collect();
    let rest = REASONS - chosen.len();
    chosen.extend(reasons.iter().filter(general).take(rest));
    let line = |reason: &String| {
        let (id, name) = match asker {
            Some(asker) => (asker.id.as_str(), asker.name.as_str()),
            None => ("", ""),
        };
        cut(plain(&reworded(reason, id, name, names)))
    };
    let lines: Vec<_> = chosen.into_iter().map(line).collect();
    match lines.is_empty() {
        true => vec!["the last decision was not about you".to_owned()],
        false => lines,
    }
}

/// Whether a reason contains an identity as a whole word.
fn mentions(reason: &str, id: &str) -> bool {
    !id.is_empty() && words(reason, id).next().is_some()
}

/// The places of an identity in a reason, as a whole word.
fn words<'a>(reason: &'a str, id: &'a str) -> impl Iterator<Item = usize> + 'a {
    let inside = |c: char| c.is_alphanumeric();
    reason
        .match_indices(id)
        .map(|(at, _)| at)
        .filter(move |&at| {
            !reason[..at].ends_with(inside) && !reason[at + id.len()..].starts_with(inside)
        })
}

/// A reason in a player's words: their name instead of the identity, names of teams instead of
/// numbers, two decimals, and nothing after a semicolon.
fn reworded(reason: &str, id: &str, name: &str, names: &[&str]) -> String {
    let mut text = String::new();
    let mut from = 0;
    if !id.is_empty() {
        for at in words(reason, id) {
            if at >= from {
                text += &general_words(&reason[from..at], names);
                text += name;
                from = at + id.len();
            }
        }
    }
    let rest = reason[from..].split(';').next().unwrap_or_default();
    text + &general_words(rest, names)
}

fn general_words(text: &str, names: &[&str]) -> String {
    let mut text = rounded(text);
    for (team, name) in names.iter().enumerate() {
        text = with_name(&text, &format!("team {team}"), name);
    }
    text
}

/// Replaces a team's number by its name, but not the beginning of another number, as in `the weaker team 0.48`.
fn with_name(text: &str, number: &str, name: &str) -> String {
    let mut named = String::new();
    let mut parts = text.split(number).peekable();
    while let Some(part) = parts.next() {
        named += part;
        if let Some(next) = parts.peek() {
            let mut rest = next.chars();
            let longer = match rest.next() {
                Some('.') => rest.next().is_some_and(|c| c.is_ascii_digit()),
                next => next.is_some_and(|c| c.is_ascii_digit()),
            };
            named += if longer { number } else { name };
        }
    }
    named
}

/// Rounds the numbers in a text to two decimals.
fn rounded(text: &str) -> String {
    let numeric = |c: char| c.is_ascii_digit() || c == '.';
    let mut short = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(numeric) {
        let end = rest[at..]
            .find(|c| !numeric(c))
            .map_or(rest.len(), |length| at + length);
        let (before, number) = (&rest[..at], &rest[at..end]);
        short += before;
        match number.parse::<f64>() {
            Ok(value) if number.contains('.') && !number.ends_with('.') => {
                short += &format!("{value:.2}");
            }
            _ => short += number,
        }
        rest = &rest[end..];
    }
    short + rest
}

/// The longest line that a game shows to a player, in bytes.
pub(super) const MAX_LINE: usize = 110;
/// The longest name in a line, in bytes.
const MAX_NAME: usize = 24;

/// Makes a text safe in a console command. Only ASCII letters and digits, single blanks and
/// `_-.,:()[]+=*#` stay. Everything else becomes `_`: quotes, `;`, line feeds and `//` end an
/// argument or a command, `^` starts a colour code, `$` and `%` are replaced in some games, and `!`
/// starts a command.
pub(super) fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        let stays = c.is_ascii_alphanumeric() || "_-.,:()[]+=*#".contains(c);
        match c {
            ' ' if safe.is_empty() || safe.ends_with(' ') => {}
            ' ' => safe.push(' '),
            _ if stays => safe.push(c),
            _ => safe.push('_'),
        }
    }
    safe.truncate(safe.trim_end().len());
    safe
}

/// A player's name, safe and short. Never empty.
pub(super) fn plain_name(name: &str) -> String {
    let mut safe = plain(name);
    safe.truncate(MAX_NAME);
    safe.truncate(safe.trim_end().len());
    if safe.is_empty() {
        safe.push('_');
    }
    safe
}

/// Cuts a safe text to the length of a line.
pub(super) fn cut(mut text: String) -> String {
    if text.len() > MAX_LINE {
        // A safe text is ASCII, so that it can be cut at any byte.
        text.truncate(text.floor_char_boundary(MAX_LINE - 3));
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use evenkeel_model::ident::Ident;
    use proptest::prelude::*;

    use super::*;

    const NAMES: [&str; 2] = ["red", "blue"];

    fn player(number: usize, id: &str, name: &str, team: u8) -> ChatPlayer {
        ChatPlayer {
            number,
            id: id.to_owned(),
            name: name.to_owned(),
            team: Some(team),
            human: true,
        }
    }

    #[test]
    fn teams_are_listed_as_far_as_they_fit() {
        let mut players = vec![player(0, "A", "a\";quit", 0), player(1, "B", "b", 0)];
        assert_eq!(
            teams(&players, &NAMES, Some((Some(0.481), 0.934))),
            [
                "red (2): a__quit, b",
                "blue (0):",
                "chance of red to win 0.48, ratio 0.93 when teams were last chosen"
            ]
        );
        let ratio = teams(&players, &NAMES, Some((None, 0.934)));
        assert_eq!(
            ratio[2],
            "ratio 0.93 when teams were last chosen, 1.00 is even"
        );
        for number in 2..40 {
            players.push(player(number, "C", &"c".repeat(30), 1));
        }
        let lines = teams(&players, &NAMES, None);
        assert!(lines[1].starts_with("blue (38): ccc") && lines[1].ends_with(", and 35 more"));
        assert!(lines.iter().all(|line| line.len() <= MAX_LINE), "{lines:?}");
    }

    #[test]
    fn reasons_name_nobody_else() {
        let players = [player(3, "83357476", "ann", 0), player(4, "8BA1", "bob", 1)];
        let reasons = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let balance = reasons(
            "ratio 0.951128, of at most 0.960000 (exact); engine exhaustive, 10 combinations\n\
             picked: ratio 0.951128, cost 0.0000, quality 1.000000, probability of this pick 10.00 %\n\
             with 83357476 on team 1 instead: ratio 0.500000\n\
             with 8BA1 on team 0 instead: ratio 0.400000",
        );
        assert_eq!(
            why(&balance, &players, 3, &NAMES),
            [
                "with ann on blue instead: ratio 0.50",
                "ratio 0.95, of at most 0.96 (exact)"
            ]
        );
        let by_chance = reasons(
            "chance of team 0 to win 0.481234, ratio 0.951128\n\
             chance of the weaker team 0.481234, of at most 0.500000 (exact); engine meet, 10 combinations\n\
             picked: chance of team 0 to win 0.481234, ratio 0.951128, probability of this pick 10.00 %\n\
             with 83357476 on team 1 instead: chance of team 0 to win 0.312345, ratio 0.500000",
        );
        assert_eq!(
            why(&by_chance, &players, 3, &NAMES),
            [
                "with ann on blue instead: chance of red to win 0.31, ratio 0.50",
                "chance of red to win 0.48, ratio 0.95",
                "chance of the weaker team 0.48, of at most 0.50 (exact)"
            ]
        );
        let place = reasons(
            "83357476 to team 0 (all equal, chosen at random): ratio 0.750000\n\
             only bots that are on a team count: none are expected to come\n\
             team 0: ratio 0.750000, humans 3, score 0\nteam 1: ratio 0.666667, humans 3, score 0\n\
             8BA1 returned 0 times, changed to the stronger team 1 time",
        );
        assert_eq!(
            why(&place, &players, 3, &NAMES),
            [
                "ann to red (all equal, chosen at random): ratio 0.75",
                "red: ratio 0.75, humans 3, score 0",
                "blue: ratio 0.67, humans 3, score 0"
            ]
        );
        assert_eq!(
            why(&place[..1], &players, 4, &NAMES),
            ["the last decision was not about you"]
        );
    }

    #[test]
    fn an_identity_is_a_whole_word() {
        assert!(mentions("move a b from", "a b") && mentions("ann: x", "ann"));
        assert!(!mentions("banner", "ann") && !mentions("x", ""));
        let named = with_name(
            "the weaker team 0.5, team 0. team 01 team 0",
            "team 0",
            "red",
        );
        assert_eq!(named, "the weaker team 0.5, red. team 01 red");
        assert_eq!(rounded("v1.2.3 0.125001 7. 7"), "v1.2.3 0.13 7. 7");
    }

    #[test]
    fn ranks() {
        let reply = |division, games, weight| Reply::Rank {
            id: Ident::from_text("x"),
            division,
            games,
            weight,
        };
        assert_eq!(
            rank(&reply(
                Some(("Silver;quit".to_owned(), 0.35)),
                12,
                Some(61.25)
            )),
            "your division is Silver_quit, 35 of 100 to the next, weight 61.2, 12 rated games"
        );
        assert_eq!(
            rank(&reply(None, 1, None)),
            "you have no division yet, 1 rated game"
        );
        assert_eq!(rank(&Reply::Pong), "there are no ranks on this server");
    }

    #[test]
    fn what_ends_a_command_is_replaced() {
        assert_eq!(
            plain("  a\";quit;\n\r//b  ^1c $x %n !vote\\"),
            "a__quit_____b _1c _x _n _vote_"
        );
        assert_eq!(plain("[clan]joe-2 (x)"), "[clan]joe-2 (x)");
        assert_eq!(plain_name("é"), "_");
        assert_eq!(plain_name("   "), "_");
        assert_eq!(plain_name(&"x ".repeat(60)).len(), 23);
        assert_eq!(cut("y".repeat(200)).len(), MAX_LINE);
    }

    proptest! {
        #[test]
        fn any_text_becomes_one_argument(text in any::<String>()) {
            for safe in [plain(&text), plain_name(&text)] {
                let fits = |b: u8| b.is_ascii_alphanumeric() || b" _-.,:()[]+=*#".contains(&b);
                prop_assert!(safe.bytes().all(fits), "{safe}");
                prop_assert!(!safe.contains("  ") && safe.trim() == safe);
            }
        }
    }
}
