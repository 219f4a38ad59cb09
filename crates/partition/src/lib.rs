#![doc = include_str!("../README.md")]
//!
//! # How it is built
//!
//! Choosing teams: a problem, its most even splits, and one pick among them, explained.
//!
//! Pure: no clock, no files, no threads, and no randomness but the seed's. Weights come in as
//! numbers; this room does not know how they are learned. The same problem and seed give the same
//! answer on every machine, whatever the order of the humans. Only a search that the caller's clock
//! cuts short depends on how far it came.
//!
//! All decisions on teams take a [`GameView`]. In steps: it and the limits make a [`Problem`]; that and the parties to keep
//! make an `instance` of atoms on a grid of whole numbers. An `engine` finds its K most even splits; [`wishes`] decides
//! which parties are kept, and how many wishes for a team they grant. A `reader` computes the [`Terms`](settings::Terms) of
//! each and its cost, and [`pick`] picks one at random by quality.
//!
//! Entry point: [`solve`].

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping
#![warn(unreachable_pub)]

// Other crates compile the made-up games of the tests, too: they know this crate by its name.
#[cfg(test)]
extern crate self as evenkeel_partition;

mod balance;
mod engine;
mod instance;
pub mod pick;
pub mod problem;
mod reader;
pub mod relax;
pub mod settings;
pub mod solution;
pub mod stated;
pub mod sums;
#[cfg(test)]
mod tests;
pub mod view;
pub mod wishes;

pub use problem::{Problem, ProblemError, ProblemSpec};
pub use settings::Settings;
pub use solution::Solution;
pub use sums::TeamSums;
pub use view::{BotInGame, GameView, HumanInGame};

use evenkeel_model::record::MAX_TEAMS;

/// The most humans of one problem.
const MAX_HUMANS: usize = 128;

/// Solves `problem`: chooses teams, explains them, and breaks ties by `seed`.
///
/// Calls `out_of_time` about every 30 µs; once it returns true, the answer is the best of the
/// splits found so far. A caller without a deadline of its own should use [`DEFAULT_TIME`](settings::DEFAULT_TIME).
///
/// # Errors
/// Fails if the forced engine cannot solve the problem, or if the problem has a handicap and the objective is not
/// [`Objective::Chance`](settings::Objective::Chance).
pub fn solve(
    problem: &Problem,
    settings: &Settings,
    seed: u64,
    out_of_time: &mut dyn FnMut() -> bool,
) -> Result<Solution, ProblemError> {
    if settings.objective == settings::Objective::Ratio && problem.spec().handicap != 0.0 {
        return Err(ProblemError::HandicapUncounted(settings.objective));
    }
    let mut clock = engine::StepClock::new(out_of_time);
    let choice = wishes::choose_parties(problem, settings, seed, &mut clock)?;
    let choice = wishes::choose(problem, settings, seed, choice, &mut clock)?;
    let mut solution = Solution::of(problem, settings, seed, &choice);
    solution.explain_wishes(problem, settings, seed, out_of_time);
    Ok(solution)
}
