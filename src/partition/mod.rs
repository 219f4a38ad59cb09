//! Choosing teams: a problem, its most even splits, and one pick among them, explained.
//!
//! Pure: no clock, no files, no threads, no randomness but the seed's. This room is given weights
//! as numbers and does not know how they are learned. The same problem and seed give the same answer
//! on every machine, whatever the order of the humans; only a search cut short by the caller's
//! clock depends on how far it came.
//!
//! The way through it: a [`Problem`] and which of its parties are kept (`party`) make an `instance`
//! of atoms on a `grid` of whole numbers; an `engine` finds its K most even splits; `terms` and
//! [`Settings`] put a price on each, and `pick` takes one.
//!
//! Entry point: [`solve`].

mod balance;
mod best;
mod clock;
mod engine;
mod error;
mod explain;
mod grid;
mod instance;
mod label;
mod party;
mod pick;
mod problem;
mod settings;
mod solution;
mod terms;
#[cfg(test)]
mod tests;

pub use error::ProblemError;
pub use explain::{Explanation, WhatIf};
pub use pick::Candidate;
pub use problem::{Bots, MAX_HUMANS, MAX_PLAYERS, Problem, ProblemSpec, WeightedHuman};
pub use settings::{DEFAULT_TIME, Engine, MAX_TOP, Objective, Settings};
pub use solution::Solution;
pub use terms::{Factors, Terms};

use crate::domain::MAX_TEAMS;

/// The teams of `problem`, by `seed`.
///
/// `out_of_time` is called about every 30 µs; once it returns true, the best teams found so far are
/// the answer. A caller without a deadline of its own should use [`DEFAULT_TIME`].
///
/// # Errors
/// The forced engine cannot solve the problem, or the objective does not count its handicap.
pub fn solve(
    problem: &Problem,
    settings: &Settings,
    seed: u64,
    out_of_time: &mut dyn FnMut() -> bool,
) -> Result<Solution, ProblemError> {
    if settings.objective == Objective::Ratio && problem.spec().handicap != 0.0 {
        return Err(ProblemError::HandicapUncounted(settings.objective));
    }
    let choice = party::choose(
        problem,
        settings,
        seed,
        &mut clock::StepClock::new(out_of_time),
    )?;
    Ok(Solution::of(problem, settings, seed, &choice))
}
