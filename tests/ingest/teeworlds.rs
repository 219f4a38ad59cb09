//! A log of a Teeworlds server, on which twelve players made for tests played three matches. The scores are those that
//! the players saw; kills are counted here in the lines.

use evenkeel::{ingest::detect, model::Outcome};

use crate::{games, golden::skips, read};

pub const FIXTURE: &[u8] = include_bytes!("../fixtures/teeworlds/ctf-live.log");

/// The kills of enemies in each match, by its lines alone.
fn kills() -> Vec<u32> {
    let mut counts = Vec::new();
    for line in std::str::from_utf8(FIXTURE).unwrap().lines() {
        if line.contains("[game]: start match") {
            counts.push(0);
        }
        let team = |word: &str| line.split(word).nth(1)?.split(':').nth(1);
        let (killer, victim) = (team("killer='"), team("victim='"));
        if let Some(count) = counts.last_mut()
            && killer.is_some()
            && killer != victim
        {
            *count += 1;
        }
    }
    counts
}

#[test]
fn the_log_that_comes_with_the_crate() {
    assert_eq!(detect(FIXTURE).unwrap().name, "teeworlds");
    let half = &FIXTURE[FIXTURE.len() / 2..];
    assert_eq!(detect(half).unwrap().name, "teeworlds", "from the middle");
    let items = read("teeworlds", FIXTURE);
    assert_eq!(skips(&items).len(), 1, "the fourth match has only begun");
    let games = games(items);
    let scores: Vec<_> = games.iter().map(|game| game.scores.clone()).collect();
    assert_eq!(scores, [[109.0, 11.0], [3.0, 4.0], [4.0, 3.0]]);
    for (game, kills) in games.iter().zip(kills()) {
        assert_eq!(
            (game.map.as_str(), game.game_type.as_str()),
            ("arena", "teeworlds.ctf")
        );
        assert_eq!(game.participants.len(), 12);
        let sum: u32 = game.participants.iter().map(|p| p.kills).sum();
        assert_eq!(sum, kills);
    }
    let outcomes = [Outcome::Won(0), Outcome::Won(1), Outcome::Won(0)];
    assert!(games.iter().map(|game| game.outcome).eq(outcomes));
    let seconds = games.iter().map(|game| game.millis() / 1_000);
    assert!(
        (60..=62).contains(&seconds.clone().next().unwrap()),
        "the time limit"
    );
    assert!(
        seconds.skip(1).all(|seconds| seconds < 60),
        "the score limit"
    );
}
