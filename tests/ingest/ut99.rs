//! Two UT99 deathmatches. The expected numbers are those that the log itself prints at its end.

use evenkeel::model::{Kind, MatchRecord, Outcome};

use crate::golden::{log, malformed, skips};
use crate::{games, read};

fn game(name: &str) -> Option<MatchRecord> {
    let items = read("ut99", &log("ut99", name)?);
    assert_eq!(
        (skips(&items), malformed(&items)),
        (vec![], vec![]),
        "{name}"
    );
    let mut matches = games(items);
    assert_eq!(matches.len(), 1);
    matches.pop()
}

/// Name, kills, deaths (suicides included), score.
fn table(game: &MatchRecord) -> Vec<(&str, u32, u32, f64)> {
    let row = |p: &'_ evenkeel::model::Participant| (p.kills, p.deaths, p.points.unwrap());
    let rows = game.participants.iter().map(|p| {
        let (kills, deaths, points) = row(p);
        (p.name.as_str(), kills, deaths, points)
    });
    rows.collect()
}

#[test]
fn a_human_and_bots() {
    let Some(game) = game("nglog-1") else { return };
    assert_eq!(
        (
            game.game_type.as_str(),
            game.map.as_str(),
            game.mutators.len()
        ),
        ("Botpack.DeathMatchPlus", "DM-Agony", 0)
    );
    // Absolute_Time 14:16:47.663 in a time zone four hours behind; game_start at 75.85 s, game_end
    // at 486.36.
    assert_eq!(
        (game.start.to_string().as_str(), game.millis()),
        ("2019-07-08T18:18:03Z", 410_510)
    );
    assert_eq!(
        (game.outcome, game.has_teams()),
        (Outcome::Undecided, false)
    );
    assert_eq!(
        table(&game),
        [
            ("Player01", 34, 7, 30.0),
            ("Malakai", 14, 19, 13.0),
            ("Ichthys", 12, 15, 12.0),
            ("Alarik", 5, 16, 4.0),
            ("Visse", 20, 15, 20.0),
            ("Nikita", 7, 19, 6.0),
            ("Kragoth", 10, 15, 10.0),
            ("Karag", 12, 16, 11.0)
        ]
    );
    let humans = game
        .participants
        .iter()
        .filter(|p| p.key.kind == Kind::Human);
    assert_eq!(
        humans.map(|p| p.key.id.as_str()).collect::<Vec<_>>(),
        ["Player01"]
    );
}

#[test]
fn somebody_comes_and_a_bot_goes() {
    let Some(game) = game("nglog-2") else { return };
    assert_eq!(
        (game.start.to_string().as_str(), game.millis()),
        ("2019-07-09T17:46:29Z", 665_310)
    );
    assert_eq!(
        table(&game),
        [
            ("Player01", 3, 17, -1.0),
            ("Raynor", 23, 26, 21.0),
            ("Zenith", 18, 25, 16.0),
            ("Tamerlane", 28, 21, 28.0),
            ("Kosak", 30, 25, 30.0),
            ("Cryss", 22, 20, 20.0),
            ("Dessloch", 4, 6, 4.0),
            ("Drimacus", 22, 29, 19.0),
            ("Player02", 13, 11, 9.0)
        ]
    );
    // Player02 connected at 613.39 s, and Dessloch left at 615.91 s, of a game that began at 460.85 s.
    let stay = |name: &str| {
        let found = game.participants.iter().find(|p| p.name == name).unwrap();
        let [stay] = found.presence[..] else {
            panic!("{found:?}")
        };
        (stay.span.from, stay.span.to)
    };
    assert_eq!(stay("Player02"), (152_540, 665_310));
    assert_eq!(stay("Dessloch"), (6, 155_060));
}
