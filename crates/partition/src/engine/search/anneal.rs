//! Simulated annealing of a split.

use super::state::{Change, SearchState};
use crate::clock::StepClock;
use evenkeel_model::Stream;

/// The most changes tried in one run.
const STEPS: usize = 20_000;

/// Anneals a state: makes a change that worsens it by Δ with probability e^(−Δ/t), while the
/// temperature t falls geometrically from the cost of an average swap to almost 0 (S. Kirkpatrick,
/// C. D. Gelatt and M. P. Vecchi, 1983).
pub(super) fn anneal(state: &mut SearchState, rng: &mut Stream, clock: &mut StepClock) {
    let atoms = state.split.len();
    if atoms < 2 {
        return;
    }
    let steps = STEPS.min(50 * atoms * atoms);
    let random_change = |rng: &mut Stream| {
        let (one, other) = (rng.wide_index(atoms), rng.wide_index(atoms));
        Change::Swap(one, other)
    };
    let sample = (0..100).filter_map(|_| state.cost(random_change(rng)));
    let hot = sample.map(f64::abs).fold(0.0, f64::max);
    for step in 0..steps {
        if clock.spend(16) {
            return;
        }
        let temperature = hot * libm::exp(-25.0 * step as f64 / steps as f64);
        let change = random_change(rng);
        if let Some(cost) = state.cost(change)
            && (cost <= 0.0 || rng.unit() < libm::exp(-cost / temperature))
        {
            state.apply(change);
        }
    }
}
