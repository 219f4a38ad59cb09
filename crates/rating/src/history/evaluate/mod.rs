//! Evaluation: runs every system on the same history and predicts each match before learning from
//! it.

mod evaluation;
mod fresh;
mod run;
#[cfg(test)]
mod tests;

pub use evaluation::{Evaluation, Line, Plan, Prediction, Subset};
pub use fresh::{FIRST, FirstMatches, Fresh, FreshLine, fresh, steps};
pub use run::{Evaluator, evaluate};
