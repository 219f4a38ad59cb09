//! Logs of a Nexuiz server. Scores and captures were read in the logs; what a player did is what
//! the game itself counted, at the end of each match.

use std::collections::BTreeMap;

use evenkeel::model::{Kind, MatchRecord, Outcome};

use crate::golden::{logs, malformed, skips};
use crate::{games, read};

pub const FIXTURE: &[u8] = include_bytes!("../fixtures/nexuiz/ctf-01.log");

/// Kills, deaths and score of each player, by the log's own count: `score!!,caps!,kills,deaths<,…`.
/// The game subtracts one kill for each team mate killed.
fn counted(log: &[u8]) -> BTreeMap<String, [f64; 3]> {
    let text = std::str::from_utf8(log).unwrap();
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix(":player:see-labels:"));
    let row = |line: &str| {
        let fields: Vec<_> = line.split(':').collect();
        let scores: Vec<f64> = fields[0].split(',').map(|n| n.parse().unwrap()).collect();
        let mates = text.matches(&format!("\n:kill:tk:{}:", fields[3])).count() as f64;
        (
            fields[4].to_owned(),
            [scores[2] + mates, scores[3], scores[0]],
        )
    };
    lines.map(row).collect()
}

fn check_counts(game: &MatchRecord, log: &[u8]) {
    let players = game.participants.iter().map(|p| {
        let row = [p.kills.into(), p.deaths.into(), p.points.unwrap()];
        (p.name.clone(), row)
    });
    assert_eq!(players.collect::<BTreeMap<_, _>>(), counted(log));
    for participant in &game.participants {
        assert_eq!(participant.key.kind, Kind::Bot);
        let [stay] = participant.presence[..] else {
            panic!("{participant:?}")
        };
        assert_eq!(stay.span.to, game.millis());
    }
}

#[test]
fn the_log_that_comes_with_the_crate() {
    let items = read("xonotic", FIXTURE);
    assert_eq!(items.len(), 1);
    let game = games(items).pop().unwrap();
    assert_eq!(
        (
            game.map.as_str(),
            game.game_type.as_str(),
            game.mutators.len()
        ),
        ("basementctf", "xonotic.ctf", 0)
    );
    assert_eq!(
        (
            game.start.to_string().as_str(),
            game.end.to_string().as_str()
        ),
        ("2026-11-20T15:14:28Z", "2026-11-20T15:16:07Z")
    );
    assert_eq!(
        (&game.scores[..], game.outcome),
        (&[2.0, 3.0][..], Outcome::Won(1))
    );
    check_counts(&game, FIXTURE);
    let captures: Vec<_> = game
        .events
        .iter()
        .map(|e| {
            let by = &game.participants[e.by.unwrap() as usize];
            (e.at / 1_000, e.team, e.points, by.name.as_str())
        })
        .collect();
    assert_eq!(
        captures,
        [
            (26, 0, 1.0, "Discovery"),
            (46, 1, 1.0, "Hellfire"),
            (57, 1, 1.0, "Hellfire"),
            (74, 1, 1.0, "Hellfire"),
            (90, 0, 1.0, "Discovery")
        ]
    );
}

/// The length in seconds and the score of each game.
const EIGHT: [(u64, f64, f64); 8] = [
    (99, 0.0, 4.0),
    (99, 2.0, 3.0),
    (49, 0.0, 5.0),
    (42, 0.0, 5.0),
    (98, 2.0, 1.0),
    (76, 5.0, 0.0),
    (99, 0.0, 2.0),
    (40, 5.0, 0.0),
];

#[test]
fn eight_games_of_capture_the_flag() {
    let mut results = Vec::new();
    for (name, bytes) in logs("nexuiz", "ctf-") {
        let items = read("xonotic", &bytes);
        assert_eq!(
            (skips(&items), malformed(&items)),
            (vec![], vec![]),
            "{name}"
        );
        let matches = games(items);
        let [game] = &matches[..] else {
            panic!("{name}")
        };
        check_counts(game, &bytes);
        for (team, score) in (0u8..).zip(&game.scores) {
            let captures = game.events.iter().filter(|e| e.team == team);
            assert_eq!(captures.map(|e| e.points).sum::<f64>(), *score, "{name}");
        }
        results.push((game.millis() / 1_000, game.scores.clone()));
    }
    if !results.is_empty() {
        assert_eq!(results, EIGHT.map(|(s, red, blue)| (s, vec![red, blue])));
    }
}
