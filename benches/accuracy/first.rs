//! The first matches of a history, from many starts: `cargo bench --bench accuracy -- first`.
//!
//! The first matches from one start are mostly chance. So the history is begun anew at starts that are evenly spread, and the
//! losses of all of them are compared, start by start, with those of a coin and of `presence`.

use std::f64::consts::LN_2;

use evenkeel::{
    model::{MatchRecord, Rulebook},
    rating::SystemName,
    rating::history::{EvaluationPlan, Interval, Settings, evaluate, interval},
};

use crate::Set;

/// From how many matches on a history is begun anew.
const STARTS: usize = 20;
/// The numbers of matches from a start over which the log loss is measured.
const FIRST: [usize; 2] = [50, 100];

/// Prints the mean log loss of `joint` and of `presence` over the decided ones of the first matches, and the intervals of the
/// differences.
pub fn run(set: &Set, matches: &[MatchRecord], rulebook: &Rulebook) {
    let plan = EvaluationPlan {
        systems: vec![SystemName::Joint, SystemName::Presence],
        warm_up: 0.0,
        exchange: (!set.sides).then_some(1),
        ..EvaluationPlan::default()
    };
    for first in FIRST {
        let last = matches.len().saturating_sub(first);
        let mut starts: Vec<usize> = (0..STARTS).map(|at| at * last / (STARTS - 1)).collect();
        starts.dedup();
        let [mut joint, mut presence] = [const { Vec::new() }; 2];
        for start in starts {
            let part = &matches[start..matches.len().min(start + first)];
            let (settings, mut nothing) = (Settings::default(), |_| ());
            let evaluation = evaluate(
                part.iter(),
                part.len(),
                rulebook,
                &settings,
                &plan,
                &mut || 0.0,
                &mut nothing,
            );
            let of = |system| {
                let own = evaluation.predictions();
                let own = own.filter(move |p| p.system == Some(system));
                own.map(|p| p.forecast.log_loss())
            };
            joint.extend(of(SystemName::Joint));
            presence.extend(of(SystemName::Presence));
        }
        let coin = vec![LN_2; joint.len()];
        println!(
            "{:14} first {first:3}: {:5} decided  joint {:.4}  presence {:.4}  against a coin {}  against presence {}",
            set.name,
            joint.len(),
            mean(&joint),
            mean(&presence),
            against(&joint, &coin),
            against(&joint, &presence),
        );
    }
}

fn mean(losses: &[f64]) -> f64 {
    losses.iter().sum::<f64>() / losses.len().max(1) as f64
}

/// The mean of the differences, and its interval.
fn against(own: &[f64], other: &[f64]) -> String {
    let more: Vec<f64> = own
        .iter()
        .zip(other)
        .map(|(own, other)| own - other)
        .collect();
    let between = interval(&more, 1).map_or_else(String::new, |Interval { low, high }| {
        format!(" ({low:+.4} to {high:+.4})")
    });
    format!("{:+.4}{between}", mean(&more))
}
