//! Synthetic histories: matches of four against four, drawn at random.

use evenkeel::model::{
    Kind, MatchRecord, Participant, PlayerKey, Timestamp,
    record::{Presence, ScoreEvent, Span},
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

/// The time in which all matches are played, in milliseconds.
const SPAN: i64 = 90_000_000_000;
const MINUTES: i64 = 10;

/// What the matches are like.
#[derive(Clone, Copy)]
pub struct History {
    pub matches: u32,
    pub players: u32,
    /// The game types, each of which is a ruleset.
    pub types: &'static [&'static str],
    /// Whether everybody plays equally often. If not, some play a hundred times as often as others.
    pub everybody: bool,
}

impl History {
    /// All matches, in order.
    pub fn records(self) -> impl Iterator<Item = MatchRecord> {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        (0..self.matches).map(move |number| self.game(&mut random, number))
    }

    /// Eight players of the match with this number.
    pub fn lineup(self, random: &mut ChaCha8Rng, number: u32) -> Vec<u32> {
        if self.everybody {
            let first = u64::from(number) * 8;
            let player = |seat: u64| ((first + seat) % u64::from(self.players)) as u32;
            return (0..8).map(player).collect();
        }
        let mut players = std::collections::BTreeSet::new();
        while players.len() < 8 {
            let share: f64 = random.random();
            players.insert((share.powi(4) * f64::from(self.players)) as u32);
        }
        let mut order: Vec<u32> = players.into_iter().collect();
        (0..8)
            .map(|_| order.swap_remove(random.random_range(0..order.len())))
            .collect()
    }

    /// A match of ten minutes. With 100,000 matches, it begins a quarter of an hour after the one before.
    fn game(self, random: &mut ChaCha8Rng, number: u32) -> MatchRecord {
        let start =
            Timestamp(1_600_000_000_000 + i64::from(number) * (SPAN / i64::from(self.matches)));
        let drawn = self.lineup(random, number);
        let millis = (MINUTES * 60_000) as u64;
        let events: Vec<ScoreEvent> = (1..=random.random_range(1..12_u64))
            .map(|at| ScoreEvent {
                at: at * millis / 12,
                team: random.random_range(0..2),
                points: 1.0,
                by: None,
            })
            .collect();
        let score = |team: u8| events.iter().filter(|event| event.team == team).count() as f64;
        let scores = vec![score(0), score(1)];
        let mut participants: Vec<Participant> = (0..)
            .zip(&drawn)
            .map(|(seat, player)| Participant {
                key: PlayerKey {
                    kind: Kind::Human,
                    id: identity(*player),
                },
                name: format!("^{}Player^7{player}", player % 8),
                presence: vec![Presence {
                    team: u8::from(seat >= 4),
                    span: Span {
                        from: 0,
                        to: millis,
                    },
                }],
                points: Some(f64::from(random.random_range(0..100_u32))),
                kills: random.random_range(0..40),
                deaths: random.random_range(0..40),
                roles: vec![],
                party: None,
                left: None,
            })
            .collect();
        participants.sort_by(|a, b| a.key.cmp(&b.key));
        MatchRecord {
            server: format!("server {}", number % 5),
            start,
            end: start.plus_millis(MINUTES * 60_000),
            clock: None,
            untimed: false,
            client: String::new(),
            unscored: false,
            too_many_new: None,
            logged_as: None,
            map: format!("map_{}", random.random_range(0..400)),
            game_type: self.types[random.random_range(0..self.types.len())].to_owned(),
            mode: String::new(),
            mutators: vec![],
            outcome: MatchRecord::outcome_of(&scores),
            scores,
            participants,
            events,
        }
    }
}

/// The identity of a player.
pub fn identity(player: u32) -> String {
    format!("a{player:031x}") // no identity of zeros: many players would share that
}
