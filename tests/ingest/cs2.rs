//! Logs of Counter-Strike 2 that other people's servers have written, and what they must give: by the tables of
//! `README.md` beside them, and of `cases4`.

use evenkeel::model::MatchRecord;

use crate::{
    games,
    golden::{log, malformed},
    read,
};

/// The matches of a shared log; `None` without it.
fn matches(folder: &str, file: &str) -> Option<Vec<MatchRecord>> {
    Some(games(read("source", &log(folder, file)?)))
}

/// Kills, deaths, and whether the player was on one team from start to end.
fn line(game: &MatchRecord, name: &str) -> (u32, u32, bool) {
    let one = game.participants.iter().find(|one| one.name == name);
    let one = one.unwrap_or_else(|| panic!("no {name}"));
    let whole = one.presence.len() == 1 && one.presence[0].span.millis() + 1_000 > game.millis();
    (one.kills, one.deaths, whole)
}

#[test]
fn a_match_with_a_restored_round() {
    let Some(matches) = matches("cs2", "mirage-restored-round.log") else {
        return;
    };
    let [game] = &matches[..] else {
        panic!("{}", matches.len())
    };
    assert_eq!(
        (&game.game_type[..], &game.map[..]),
        ("cs2.de", "de_mirage")
    );
    assert_eq!(game.participants.len(), 10);
    let sides = game
        .scores
        .iter()
        .copied()
        .fold((0.0, f64::MAX), |(most, least), score| {
            (score.max(most), score.min(least))
        });
    assert_eq!(sides, (13.0, 0.0));
    assert_eq!(game.events.iter().map(|e| e.points).sum::<f64>(), 13.0);
    let right = [
        ("Gale", 18, 4),
        ("Juno", 16, 2),
        ("Ines", 11, 6),
        ("Jory", 9, 10),
        ("Udo", 4, 8),
        ("Aldo", 4, 13),
        ("Xeno", 3, 13),
        ("Bren", 2, 13),
        ("Hedo", 2, 13),
        ("Finn", 0, 13),
    ];
    for (name, kills, deaths) in right {
        assert_eq!(line(game, name), (kills, deaths, true), "{name}");
    }
}

#[test]
fn a_person_against_a_bot_in_lines_sent_over_http() {
    let Some(matches) = matches("cs2", "dust2-bot-http-lines.log") else {
        return;
    };
    let [game] = &matches[..] else {
        panic!("{}", matches.len())
    };
    assert_eq!(
        (&game.game_type[..], &game.scores[..]),
        ("cs2.de", &[2.0, 13.0][..])
    );
    assert_eq!(line(game, "Pike"), (11, 2, true));
    assert_eq!(line(game, "Blackwolf"), (0, 12, true));
}

#[test]
fn a_silent_return_and_an_id_that_is_pending() {
    let Some(matches) = matches("cases4", "cs2-pending.log") else {
        return;
    };
    let [game] = &matches[..] else {
        panic!("{}", matches.len())
    };
    assert_eq!(
        (&game.game_type[..], &game.scores[..]),
        ("cs2.de", &[5.0, 2.0][..])
    );
    assert_eq!(game.participants.len(), 4);
    let dan = game
        .participants
        .iter()
        .find(|one| one.name == "dan")
        .unwrap();
    assert_eq!((dan.kills, dan.deaths), (2, 4));
    let stays: Vec<_> = (dan.presence.iter())
        .map(|stay| (stay.span.from / 1_000, stay.span.to / 1_000))
        .collect();
    let [(0, left), (back, end)] = stays[..] else {
        panic!("{stays:?}")
    };
    assert_eq!((left, end), (174, game.millis() / 1_000));
    assert!((219..=234).contains(&back), "{stays:?}");
}

#[test]
fn no_line_is_malformed() {
    for file in ["mirage-restored-round.log", "dust2-bot-http-lines.log"] {
        let Some(log) = log("cs2", file) else {
            return;
        };
        let lines = malformed(&read("source", &log));
        assert!(lines.is_empty(), "{file}: {lines:?}");
    }
}
