//! Closed worlds: people of known strength who only play each other, four against four.

use std::collections::BTreeMap;

use evenkeel::{
    model::{
        Kind, MatchRecord, Participant, PlayerKey, Ruleset, Timestamp,
        record::{Presence, Span},
        win_model::LineupPlayer,
    },
    rating::history::Fold,
};
use rand::{Rng, RngExt, SeedableRng, rngs::ChaCha8Rng};

/// What the score of a match says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Always 3:1.
    Same,
    /// Goals, more where the strengths differ more.
    Goals,
    /// 1:0, as where only the winner is known.
    Winner,
}

impl Score {
    pub const ALL: [Score; 3] = [Score::Same, Score::Goals, Score::Winner];
}

/// A world, and who passes by.
#[derive(Clone, Copy, Debug)]
pub struct World {
    pub seed: u64,
    /// The people who stay.
    pub regulars: usize,
    pub matches: usize,
    /// The standard deviation of the strengths, in log odds.
    pub spread: f64,
    pub score: Score,
    /// How much stronger the guests are on average, who take two of the eight seats for one to five matches each; `None`
    /// without guests.
    pub guests: Option<f64>,
}

/// The matches of a world, in order, and the strengths of everybody in it.
pub struct Played {
    pub matches: Vec<MatchRecord>,
    pub strengths: BTreeMap<String, f64>,
}

impl World {
    /// Thirty people without guests.
    pub fn closed(seed: u64, matches: usize, spread: f64, score: Score) -> Self {
        Self {
            seed,
            regulars: 30,
            matches,
            spread,
            score,
            guests: None,
        }
    }

    /// The name of a regular.
    pub fn regular(number: usize) -> String {
        format!("p{number:02}")
    }

    pub fn play(&self) -> Played {
        let mut draw = ChaCha8Rng::seed_from_u64(self.seed);
        let mut strengths = BTreeMap::new();
        for number in 0..self.regulars {
            strengths.insert(Self::regular(number), self.spread * normal(&mut draw));
        }
        // Each guest with the number of matches that are left.
        let mut guests: Vec<(String, usize)> = Vec::new();
        let mut matches = Vec::with_capacity(self.matches);
        for number in 0..self.matches {
            while let (Some(above), true) = (self.guests, guests.len() < 2) {
                let name = format!("g{:04}", strengths.len());
                strengths.insert(name.clone(), above + self.spread * normal(&mut draw));
                guests.push((name, draw.random_range(1..=5)));
            }
            let mut seats: Vec<String> = guests.iter().map(|(name, _)| name.clone()).collect();
            while seats.len() < 8 {
                let name = Self::regular(draw.random_range(0..self.regulars));
                if !seats.contains(&name) {
                    seats.push(name);
                }
            }
            for at in (1..seats.len()).rev() {
                seats.swap(at, draw.random_range(0..=at));
            }
            let strength = |name: &String| strengths[name];
            let ahead = seats[..4].iter().map(strength).sum::<f64>()
                - seats[4..].iter().map(strength).sum::<f64>();
            let scores = self.scores(ahead, &mut draw);
            matches.push(record(number, &seats, scores));
            guests.iter_mut().for_each(|(_, left)| *left -= 1);
            guests.retain(|(_, left)| *left > 0);
        }
        Played { matches, strengths }
    }

    fn scores(&self, ahead: f64, draw: &mut impl Rng) -> [f64; 2] {
        let won = |draw: &mut _, [more, less]: [f64; 2]| match uniform(draw)
            < 1.0 / (1.0 + (-ahead).exp())
        {
            true => [more, less],
            false => [less, more],
        };
        match self.score {
            Score::Same => won(draw, [3.0, 1.0]),
            Score::Winner => won(draw, [1.0, 0.0]),
            Score::Goals => [1.0, -1.0].map(|sign| poisson(4.0 * (sign * ahead / 8.0).exp(), draw)),
        }
    }
}

impl Played {
    /// What it adds to a team's chance in four against four that an average newcomer replaces an average regular: by the
    /// forecast, and in truth. An average newcomer is as strong as `newcomer`.
    pub fn newcomer_adds(&self, fold: &Fold, ruleset: &Ruleset, world: &World) -> [f64; 2] {
        const LINEUPS: usize = 200;
        let newcomer = world.guests.unwrap_or(0.0);
        let mut draw = ChaCha8Rng::seed_from_u64(world.seed);
        let mut sums = [0.0; 2];
        for _ in 0..LINEUPS {
            let mut seats: Vec<String> = Vec::with_capacity(8);
            while seats.len() < 8 {
                let name = World::regular(draw.random_range(0..world.regulars));
                if !seats.contains(&name) {
                    seats.push(name);
                }
            }
            let mut with_newcomer = seats.clone();
            with_newcomer[0] = "a newcomer".into();
            for (lineup, sign) in [(with_newcomer, 1.0), (seats, -1.0)] {
                let strength = |name| self.strengths.get(name).copied().unwrap_or(newcomer);
                let [one, other] =
                    [&lineup[..4], &lineup[4..]].map(|team| team.iter().map(strength).sum::<f64>());
                let player = |name: &String| {
                    LineupPlayer::from(PlayerKey {
                        kind: Kind::Human,
                        id: name.clone(),
                    })
                };
                let teams =
                    [&lineup[..4], &lineup[4..]].map(|team| team.iter().map(player).collect());
                sums[0] += sign * fold.chances(ruleset, "m", &teams)[0];
                sums[1] += sign / (1.0 + (other - one).exp());
            }
        }
        sums.map(|sum| sum / LINEUPS as f64)
    }
}

/// A match of twenty minutes, one an hour.
fn record(number: usize, seats: &[String], scores: [f64; 2]) -> MatchRecord {
    const MINUTES: u64 = 20;
    let start = 1_788_220_800_000 + 3_600_000 * number as i64;
    let millis = MINUTES * 60_000;
    let participant = |(at, name): (usize, &String)| {
        let span = Span {
            from: 0,
            to: millis,
        };
        Participant {
            key: PlayerKey {
                kind: Kind::Human,
                id: name.clone(),
            },
            name: name.clone(),
            presence: vec![Presence {
                team: u8::from(at >= 4),
                span,
            }],
            points: None,
            kills: 0,
            deaths: 0,
            roles: Vec::new(),
            party: None,
            left: None,
        }
    };
    MatchRecord {
        server: "world".into(),
        start: Timestamp(start),
        end: Timestamp(start + millis as i64),
        clock: None,
        untimed: false,
        client: String::new(),
        unscored: false,
        too_many_new: None,
        logged_as: None,
        map: "m".into(),
        game_type: "t.ctf".into(),
        mode: String::new(),
        mutators: Vec::new(),
        scores: scores.to_vec(),
        outcome: MatchRecord::outcome_of(&scores),
        participants: seats.iter().enumerate().map(participant).collect(),
        events: Vec::new(),
    }
}

fn uniform(draw: &mut impl Rng) -> f64 {
    draw.random_range(0.0..1.0)
}

/// By Box and Muller.
fn normal(draw: &mut impl Rng) -> f64 {
    let (radius, angle) = (1.0 - uniform(draw), uniform(draw));
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// By Knuth: how many uniform numbers it takes until their product is small.
fn poisson(mean: f64, draw: &mut impl Rng) -> f64 {
    let (mut events, mut product, limit) = (0.0, uniform(draw), (-mean).exp());
    while product >= limit {
        events += 1.0;
        product *= uniform(draw);
    }
    events
}
