//! The first matches of a ruleset that have points: one match moves nobody far.

use std::collections::BTreeMap;

use evenkeel::{
    logs::read_matches,
    model::{Fingerprint, Kind, MatchRecord, PlayerKey, Rulebook, UNITS},
    rating::history::{Fold, Settings, Weight},
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use crate::common::shared_data;

/// What a player is worth.
#[derive(Clone, Copy, Debug)]
struct Known {
    weight: f64,
    /// The deviation of the strength.
    deviation: f64,
}

/// The deviation of newcomers' strengths in this league.
const SPREAD: f64 = 1.6;
/// The most points by which one match may move a player: two units of strength.
const MOST: f64 = 2.0 * 50.0 / UNITS;
/// The most by which it may move a newcomer: one deviation, and a tenth for being new, which counts only half after
/// the first match. A unit of this rating system is 0.46.
const MOST_OF_NEW: f64 = 1.1 * SPREAD / 0.46 * 50.0 / UNITS;

/// How many matches at the end of the history have points.
const WITH_POINTS: usize = 4;

fn known(fold: &Fold) -> BTreeMap<String, Known> {
    let of = |weight: Weight<'_>| Known {
        weight: weight.weight,
        deviation: weight.strength_deviation,
    };
    let all = fold.weights();
    all.map(|weight| (weight.key.id.clone(), of(weight)))
        .collect()
}

/// Gives the last matches of a pick-up league points and kills as a game server counts them, drawn by `seed`, so that
/// they have nothing to do with who wins. In each of these matches, one player is new.
fn with_points(matches: &mut [MatchRecord], seed: u64, scores: bool) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for (at, record) in matches.iter_mut().enumerate() {
        let new = random.random_range(0..record.participants.len());
        record.participants[new].key = PlayerKey {
            kind: Kind::Human,
            id: format!("new{at}"),
        };
        for own in &mut record.participants {
            own.kills = random.random_range(0..40);
            own.deaths = random.random_range(5..30);
            own.points = Some(f64::from(random.random_range(0..3_000_u32)));
        }
        if scores {
            let lead = f64::from(random.random_range(1..5_u32));
            let winner = usize::from(record.outcome != MatchRecord::outcome_of(&[1.0, 0.0]));
            record.scores = vec![0.0; 2];
            record.scores[winner] = lead;
        }
    }
}

#[test]
fn the_first_points_of_a_ruleset_throw_nobody_about() {
    let Some(folder) = shared_data("matches") else {
        return;
    };
    let matches = read_matches(&folder.join("tribes_pug.jsonl"), &mut |_| ()).unwrap();
    let rulebook = Rulebook::new(&Default::default()).unwrap();
    let mut fold = Fold::new(&rulebook, Settings::default());
    let push = |fold: &mut Fold, record: &MatchRecord| {
        fold.push(record, Fingerprint::of(record)).unwrap();
    };
    let (earlier, last) = matches.split_at(matches.len() - WITH_POINTS);
    for record in earlier {
        push(&mut fold, record);
    }
    for (seed, scores) in [(1, false), (2, true), (3, false), (4, true)] {
        let mut fold = fold.clone();
        let mut last = last.to_vec();
        with_points(&mut last, seed, scores);
        for (at, record) in last.iter().enumerate() {
            let before = known(&fold);
            push(&mut fold, record);
            let after = known(&fold);
            for (id, now) in &after {
                // A newcomer begins with 50.
                let was = before.get(id).map_or(50.0, |was| was.weight);
                let most = if before.contains_key(id) {
                    MOST
                } else {
                    MOST_OF_NEW
                };
                let moved = (now.weight - was).abs();
                assert!(moved < most, "seed {seed}: {id} moved by {moved:.1}");
            }
            let new = after[&format!("new{at}")];
            assert!(new.deviation >= 2.0 / 3.0 * SPREAD, "{new:?}");
        }
    }
}
