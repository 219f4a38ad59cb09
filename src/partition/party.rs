//! How much balance keeping parties together may cost.

use super::{
    Problem, ProblemError, Settings,
    balance::Balance,
    clock::Clock,
    engine::{self, Answer, Order},
    instance::Instance,
    random,
};

/// Which parties are kept, and the splits that keep them.
pub(super) struct Choice {
    pub instance: Instance,
    pub answer: Answer,
    /// Parties given up, in the order in which they were.
    pub given_up: Vec<usize>,
    /// The best ratio without any party, where it was asked for.
    pub without: Option<f64>,
}

/// Keeps all parties while that costs no more ratio than the budget; past it, gives up the one
/// whose loss helps most, and tries again.
///
/// # Errors
/// When the engine that was asked for can't do it.
pub(super) fn choose(
    problem: &Problem,
    settings: &Settings,
    seed: u64,
    clock: &mut Clock,
) -> Result<Choice, ProblemError> {
    let run = |kept: &[bool], keep: usize, clock: &mut Clock| {
        let instance = Instance::new(problem, settings, kept, seed);
        let order = Order {
            keep,
            seed,
            engine: settings.engine,
            memory: settings.memory,
        };
        let answer = engine::solve(&instance, order, clock)?;
        Ok((instance, answer))
    };
    let parties = &problem.spec().parties;
    let mut kept: Vec<bool> = parties.iter().map(|party| party.len() > 1).collect();
    let mut given_up = Vec::new();
    let mut without = None;
    loop {
        let (instance, answer) = run(&kept, settings.top, clock)?;
        let ratio = best(&answer).map_or(f64::NEG_INFINITY, Balance::ratio);
        let nothing_to_give = !kept.contains(&true);
        let hurried = clock.over();
        let hurried_enough = hurried && !answer.splits.is_empty();
        if nothing_to_give || hurried_enough || ratio >= 1.0 - settings.party_budget {
            return Ok(Choice {
                instance,
                answer,
                given_up,
                without,
            });
        }
        if hurried {
            // No legal split, and no time to try: the largest party is the likeliest to be why.
            let largest = (0..kept.len())
                .filter(|&party| kept[party])
                .max_by_key(|&party| (parties[party].len(), chance(problem, party, seed)));
            largest.into_iter().for_each(|party| {
                kept[party] = false;
                given_up.push(party);
            });
            continue;
        }
        let free = match without {
            Some(free) => free,
            None => {
                let (_, answer) = run(&vec![false; kept.len()], 1, clock)?;
                best(&answer).map_or(0.0, Balance::ratio)
            }
        };
        without = Some(free);
        if ratio >= free - settings.party_budget {
            return Ok(Choice {
                instance,
                answer,
                given_up,
                without,
            });
        }
        let mut options = Vec::new();
        for party in (0..kept.len()).filter(|&party| kept[party]) {
            let mut fewer = kept.clone();
            fewer[party] = false;
            let (_, answer) = run(&fewer, 1, clock)?;
            options.push((best(&answer), chance(problem, party, seed), party));
        }
        if let Some((_, _, party)) = options.into_iter().max() {
            kept[party] = false;
            given_up.push(party);
        }
    }
}

fn best(answer: &Answer) -> Option<Balance> {
    answer.splits.first().map(|(balance, _)| *balance)
}

/// A number that orders parties whatever the caller's order.
fn chance(problem: &Problem, party: usize, seed: u64) -> Option<u64> {
    let humans = &problem.spec().humans;
    problem.spec().parties[party]
        .iter()
        .map(|&h| random::hash(seed, humans[h].key.bytes()))
        .min()
}
