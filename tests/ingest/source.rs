//! Logs of Team Fortress 2 and Classic servers. The results are those that the logs print; kills
//! and captures were counted in them by other means.

use evenkeel::ingest::same_match::join_halves;
use evenkeel::model::{Kind, MatchRecord, Outcome, Participant};

use crate::golden::{log, malformed, skips};
use crate::{games, read};

fn player<'a>(game: &'a MatchRecord, id: &str) -> &'a Participant {
    let found = game.participants.iter().find(|p| p.key.id == id);
    found.unwrap_or_else(|| panic!("no {id}"))
}

/// The ids of the players who were on a team for most of the game.
fn team(game: &MatchRecord, team: u8) -> Vec<&str> {
    let there = game.participants.iter().filter(|p| {
        let on = p.presence.iter().filter(|s| s.team == team);
        on.map(|s| s.span.millis()).sum::<u64>() * 2 > game.millis()
    });
    let mut ids: Vec<_> = there.map(|p| p.key.id.as_str()).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn a_game_of_capture_the_flag_is_read_whole() {
    let Some(bytes) = log("source", "tf2-full_ctfdoublecross") else {
        return;
    };
    let items = read("source", &bytes);
    assert_eq!((skips(&items), malformed(&items)), (vec![], vec![]));
    let matches = games(items);
    let [game] = &matches[..] else {
        panic!("{matches:?}")
    };
    assert_eq!((game.game_type.as_str(), game.map.as_str()), ("tf.ctf", ""));
    assert_eq!(
        (&game.scores[..], game.outcome),
        (&[2.0, 7.0][..], Outcome::Won(1))
    );
    // Round_Start at 18:38:09, Game_Over at 18:51:24.
    assert_eq!(
        (game.start.to_string().as_str(), game.millis()),
        ("2011-01-24T18:38:09Z", 795_000)
    );
    let captures: Vec<_> = game.events.iter().map(|e| (e.at / 1_000, e.team)).collect();
    assert_eq!(
        captures,
        [
            (183, 1),
            (199, 0),
            (214, 1),
            (464, 0),
            (481, 1),
            (626, 1),
            (664, 1),
            (714, 1),
            (794, 1)
        ]
    );
    assert_eq!((team(game, 0).len(), team(game, 1).len()), (9, 9));
}

#[test]
fn control_points_of_which_the_second_half_never_ends() {
    let Some(bytes) = log("source", "tf2-full_badlands") else {
        return;
    };
    let items = read("source", &bytes);
    assert_eq!(
        (skips(&items), malformed(&items)),
        (vec![(1817, "aborted")], vec![])
    );
    let matches = games(items);
    let [game] = &matches[..] else {
        panic!("{matches:?}")
    };
    assert_eq!(game.game_type, "tf.cp");
    assert_eq!(game.mutators, ["tf_weapon_criticals=0"]);
    assert_eq!(
        (&game.scores[..], game.outcome),
        (&[0.0, 4.0][..], Outcome::Won(1))
    );
    assert_eq!(
        (game.start.to_string().as_str(), game.millis()),
        ("2011-01-31T20:41:14Z", 1_808_000)
    );
    let rounds: Vec<_> = game.events.iter().map(|e| (e.at / 1_000, e.team)).collect();
    assert_eq!(rounds, [(620, 1), (754, 1), (1_212, 1), (1_791, 1)]);
    assert_eq!((team(game, 0).len(), team(game, 1).len()), (9, 9));
}

#[test]
fn games_that_the_log_does_not_end() {
    // The second log contains a player's reason to leave that spans three lines.
    for (name, line, odd) in [
        ("tf2-full_koth", 371, vec![]),
        ("tf2-mini", 17, vec![65, 67]),
    ] {
        let Some(bytes) = log("source", name) else {
            return;
        };
        let items = read("source", &bytes);
        assert_eq!(
            (skips(&items), malformed(&items)),
            (vec![(line, "aborted")], odd)
        );
        assert!(games(items).is_empty());
    }
}

#[test]
fn two_halves_of_a_match() {
    let (Some(one), Some(two)) = (
        log("source", "tfc-match1-half1"),
        log("source", "tfc-match1-half2"),
    ) else {
        return;
    };
    let half = |bytes| {
        let items = read("source", bytes);
        assert_eq!((skips(&items), malformed(&items)), (vec![], vec![]));
        let mut matches = games(items);
        assert_eq!(matches.len(), 1);
        matches.remove(0)
    };
    let (one, two) = (half(&one), half(&two));
    // Daylight saving time begins during the warm-up of the first game.
    assert_eq!(
        (one.start.to_string().as_str(), one.millis()),
        ("2026-03-08T03:00:39Z", 900_000)
    );
    assert_eq!(
        (two.start.to_string().as_str(), two.millis()),
        ("2026-03-08T03:16:28Z", 900_000)
    );
    for half in [&one, &two] {
        assert_eq!(
            (half.game_type.as_str(), half.map.as_str()),
            ("tfc", "schtop")
        );
        assert_eq!(half.mutators, ["mp_friendlyfire"]);
    }
    assert_eq!(
        (&one.scores[..], &two.scores[..]),
        (&[0.0, 50.0][..], &[0.0, 100.0][..])
    );
    // Each captured flag is worth ten points.
    assert!(
        one.events
            .iter()
            .chain(&two.events)
            .all(|e| e.points == 10.0 && e.by.is_some())
    );
    assert_eq!((one.events.len(), two.events.len()), (5, 10));
    let match_ = join_halves(&one, &two).unwrap();
    assert_eq!(
        (&match_.scores[..], match_.outcome),
        (&[100.0, 50.0][..], Outcome::Won(0))
    );
    let blue_first = [
        "STEAM_0:0:170593921",
        "STEAM_0:1:225963093",
        "STEAM_0:1:69153411",
        "STEAM_0:1:83489498",
    ];
    assert_eq!(
        (team(&one, 1), team(&two, 0), team(&match_, 1)),
        (
            blue_first.to_vec(),
            blue_first.to_vec(),
            blue_first.to_vec()
        )
    );
    assert_eq!(match_.participants.len(), 8);
    assert!(
        match_
            .participants
            .iter()
            .all(|p| p.key.kind == Kind::Human)
    );
    // The log of the first half contains sixteen kills, one of a player who died on the line
    // before.
    let medic = "STEAM_0:1:225963093";
    assert_eq!(
        (
            player(&one, medic).kills,
            player(&two, medic).kills,
            player(&match_, medic).kills
        ),
        (15, 68, 83)
    );
    assert_eq!(join_halves(&two, &one), None);
}
