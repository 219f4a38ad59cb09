//! The first matches of a ruleset that have points: one match moves nobody far.

use std::collections::BTreeMap;

use evenkeel::{
    domain::{Fingerprint, Kind, MatchRecord, Participant, PlayerKey, Rulebook},
    history::{Fold, Settings},
    logs::read_matches,
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use crate::common::shared_data;

/// A player's strength above a newcomer's, its deviation, and the weight.
#[derive(Clone, Copy, Debug)]
struct Known {
    strength: f64,
    deviation: f64,
    weight: f64,
}

/// How many matches at the end of the history have points.
const WITH_POINTS: usize = 4;

fn known(fold: &Fold) -> BTreeMap<String, Known> {
    let of = |weight: evenkeel::history::Weight<'_>| Known {
        strength: weight.strength,
        deviation: weight.doubt,
        weight: weight.weight,
    };
    fold.weights()
        .map(|weight| (weight.key.id.clone(), of(weight)))
        .collect()
}

/// The matches of a pick-up league, the last four of them with points and kills as a game server counts them, which
/// have nothing to do with who wins. In each of these, one player is new.
fn matches(seed: u64, scores: bool) -> Option<Vec<MatchRecord>> {
    let file = shared_data("matches")?.join("tribes_pug.jsonl");
    let mut matches = read_matches(&file, &mut |_| ()).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let first = matches.len() - WITH_POINTS;
    for (at, record) in matches[first..].iter_mut().enumerate() {
        let new = random.random_range(0..record.participants.len());
        record.participants[new].key = PlayerKey {
            kind: Kind::Human,
            id: format!("new{at}"),
        };
        for own in &mut record.participants {
            draw(own, &mut random);
        }
        if scores {
            let lead = f64::from(random.random_range(1..5_u32));
            let winner = usize::from(record.outcome != MatchRecord::outcome_of(&[1.0, 0.0]));
            record.scores = vec![0.0; 2];
            record.scores[winner] = lead;
        }
    }
    Some(matches)
}

fn draw(own: &mut Participant, random: &mut ChaCha8Rng) {
    own.kills = random.random_range(0..40);
    own.deaths = random.random_range(5..30);
    own.points = Some(f64::from(random.random_range(0..3_000_u32)));
}

#[test]
fn the_first_points_of_a_ruleset_throw_nobody_about() {
    let rulebook = Rulebook::new(&Default::default()).unwrap();
    for (seed, scores) in [(1, false), (2, true), (3, false), (4, true)] {
        let Some(matches) = matches(seed, scores) else {
            return;
        };
        let mut fold = Fold::new(&rulebook, Settings::default());
        let first = matches.len() - WITH_POINTS;
        let push = |fold: &mut Fold, record: &MatchRecord| {
            fold.push(record, Fingerprint::of(record)).unwrap();
        };
        matches[..first]
            .iter()
            .for_each(|record| push(&mut fold, record));
        let mut before = known(&fold);
        let mut start = 0.0_f64;
        for now in before.values() {
            start = start.max(now.deviation);
        }
        for record in &matches[first..] {
            push(&mut fold, record);
            let after = known(&fold);
            let most = after
                .iter()
                .filter_map(|(id, now)| Some((before.get(id)?, now)))
                .map(|(was, now)| (now.weight - was.weight).abs())
                .fold(0.0, f64::max);
            let new: Vec<_> = after
                .iter()
                .filter(|(id, _)| !before.contains_key(*id))
                .collect();
            println!(
                "{seed} {scores}: most {most:.1}, largest deviation before {start:.2}, {new:.2?}"
            );
            before = after;
        }
        for id in 0..WITH_POINTS {
            println!("  {:.2?}", before.get(&format!("new{id}")));
        }
    }
}
