//! The mean of the bots, for decisions about bots that nobody has chosen yet.

use std::collections::BTreeSet;

use crate::rating::history::{Level, Weight};

/// The bots that have the closest level of games that any bot has.
#[derive(Clone, Debug, Default)]
pub(super) struct MeanBot {
    /// The mean weight, and the number of these bots; `None` without any.
    pub(super) mean: Option<(f64, usize)>,
    pub(super) strength: f64,
    pub(super) names: BTreeSet<String>,
}

impl MeanBot {
    pub(super) fn of(bots: &[(Weight<'_>, Level)]) -> Self {
        let closest = bots.iter().map(|(_, level)| *level).min();
        let (mut sum, mut strength, mut names) = (0.0, 0.0, BTreeSet::new());
        for (weight, _) in bots.iter().filter(|(_, level)| Some(*level) == closest) {
            sum += weight.weight;
            strength += weight.strength;
            names.insert(weight.key.id.clone());
        }
        if names.is_empty() {
            return Self::default();
        }
        let count = names.len();
        Self {
            mean: Some((sum / count as f64, count)),
            strength: strength / count as f64,
            names,
        }
    }
}
