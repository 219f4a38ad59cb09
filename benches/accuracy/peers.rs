//! Rating systems of others, to compare with: written from their papers or taken from their crates,
//! with the parameters that these give. They share nothing with this project's rating systems.
//!
//! A peer sees who played in which team and for how long, when the match ended, and who won. It knows
//! neither sides nor points.

use std::collections::HashMap;

use evenkeel::model::{MatchRecord, Outcome, PlayerKey};

use crate::{elo_mmr, openskill, skill_ratings, through_time, whole_history};

/// A player's part in a team.
#[derive(Clone, Copy, Debug)]
pub struct Seat {
    /// The player's number, from 0.
    pub player: usize,
    /// The share of the match that the player was there for, above 0 and up to 1.
    pub share: f64,
}

/// A match of two teams, of which both have players.
#[derive(Clone, Debug)]
pub struct Game {
    pub teams: [Vec<Seat>; 2],
    /// The day of its end, counted from 1970.
    pub day: i64,
    /// 1 if the first team won, 0 if the other one did, 0.5 for a tie.
    pub result: f64,
}

/// The least share of a match with which a player counts for peers that know no shares.
const PRESENT: f64 = 0.5;

impl Game {
    /// The players of a team for peers that know no shares: those who were there for half of the
    /// match; all of the team if nobody was.
    pub fn present(&self, team: usize) -> Vec<usize> {
        let seats = &self.teams[team];
        let some = seats.iter().any(|seat| seat.share >= PRESENT);
        let counts = |seat: &&Seat| !some || seat.share >= PRESENT;
        seats.iter().filter(counts).map(|s| s.player).collect()
    }
}

/// A rating system that predicts each match before it learns from it.
pub trait Peer {
    /// The chance that the first team wins.
    fn chance(&self, game: &Game) -> f64;
    /// Learns from a match. All matches come in order of time.
    fn learn(&mut self, game: &Game);
}

/// A peer's name, and how a new one is made.
type NamedPeer = (&'static str, fn() -> Box<dyn Peer>);

/// The peers.
pub const PEERS: [NamedPeer; 7] = [
    ("ttt", || Box::new(through_time::ThroughTime::new(true))),
    ("ttt forward", || {
        Box::new(through_time::ThroughTime::new(false))
    }),
    ("whr", || Box::new(whole_history::WholeHistory::new())),
    ("elo-mmr", || Box::new(elo_mmr::EloMmr::default())),
    ("openskill-pl", || {
        Box::new(openskill::PlackettLuce::default())
    }),
    ("sr-trueskill", || {
        Box::new(skill_ratings::TrueSkill::default())
    }),
    (
        "sr-weng-lin",
        || Box::new(skill_ratings::WengLin::default()),
    ),
];

/// Asserts that the peers reproduce the examples that were published with them.
pub fn check() {
    through_time::check();
    whole_history::check();
    elo_mmr::check();
    openskill::check();
}

/// Each match of a history as peers see it; `None` for what is not a match of two teams.
pub fn games(matches: &[MatchRecord]) -> Vec<Option<Game>> {
    numbered(matches).0
}

/// The same, and the number of each player, by id.
pub fn numbered(matches: &[MatchRecord]) -> (Vec<Option<Game>>, HashMap<PlayerKey, usize>) {
    let mut numbers = HashMap::new();
    let games = matches.iter().map(|m| game(m, &mut numbers)).collect();
    (games, numbers)
}

fn game(record: &MatchRecord, numbers: &mut HashMap<PlayerKey, usize>) -> Option<Game> {
    let millis = record.millis().max(1) as f64;
    let mut teams = [Vec::new(), Vec::new()];
    for participant in &record.participants {
        let next = numbers.len();
        let player = *numbers.entry(participant.key.clone()).or_insert(next);
        for (team, seats) in teams.iter_mut().enumerate() {
            let stays = participant.presence.iter();
            let stays = stays.filter(|stay| usize::from(stay.team) == team);
            let share = stays.map(|stay| stay.span.millis() as f64).sum::<f64>() / millis;
            if share > 0.0 {
                let share = share.min(1.0);
                seats.push(Seat { player, share });
            }
        }
    }
    let result = match record.outcome {
        Outcome::Won(0) => 1.0,
        Outcome::Won(1) => 0.0,
        Outcome::Draw => 0.5,
        _ => return None,
    };
    let full = teams.iter().all(|team| !team.is_empty()) && record.scores.len() <= 2;
    full.then_some(Game {
        teams,
        day: record.end.0.div_euclid(86_400_000),
        result,
    })
}

/// The chance that a peer gave to the first team of each match before it learned from it.
pub fn predict(mut peer: Box<dyn Peer>, games: &[Option<Game>]) -> Vec<f64> {
    let mut chances = Vec::with_capacity(games.len());
    for game in games {
        let Some(game) = game else {
            chances.push(0.5);
            continue;
        };
        chances.push(peer.chance(game));
        peer.learn(game);
    }
    chances
}

/// The distribution function of the standard normal distribution.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// The density of the standard normal distribution.
pub fn normal_density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// Asserts that a figure is the published one, to so many decimals.
pub fn assert_published(what: &str, got: f64, published: f64, decimals: i32) {
    let within = 0.51 * 10.0_f64.powi(-decimals);
    assert!(
        (got - published).abs() <= within,
        "{what}: {got} instead of {published}"
    );
}

/// A game of teams that were there from start to end.
pub fn whole_game(teams: [&[usize]; 2], day: i64, result: f64) -> Game {
    let seat = |&player: &usize| Seat { player, share: 1.0 };
    Game {
        teams: teams.map(|team| team.iter().map(seat).collect()),
        day,
        result,
    }
}
