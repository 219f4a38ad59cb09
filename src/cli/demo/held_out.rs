//! Measures how well the weights predict matches from which they were not learned.

use crate::{
    config::Config,
    model::{MatchRecord, Rulebook},
    rating::history::{self, Plan, Subset},
};

/// The share of the matches that are learned before the first prediction counts. After half of them
/// all bots have played, and the other half is enough to measure.
const LEARNED: f64 = 0.5;

/// The predictions of the later matches, each made before the match is learned from.
pub(super) struct HeldOut {
    /// Number of matches learned before the first prediction.
    pub(super) learned: usize,
    /// Number of matches predicted.
    pub(super) matches: usize,
    /// How many predicted matches the side with the better chance won; an even chance counts ½.
    pub(super) right: f64,
    /// Mean −ln of the chance given to the team that won.
    pub(super) log_loss: f64,
}

impl HeldOut {
    /// Predicts with the configured rating system. `matches` must be in the order of the fold.
    pub(super) fn of(matches: &[MatchRecord], rulebook: &Rulebook, config: &Config) -> Self {
        let settings = config.history();
        let plan = Plan {
            systems: vec![settings.rating.system.name()],
            warm_up: LEARNED,
            ..Plan::default()
        };
        let result = history::evaluate(
            matches.iter(),
            matches.len(),
            rulebook,
            &settings,
            &plan,
            &mut || 0.0, // the time is not reported
            &mut |_| (),
        );
        let table = result.table(None, Subset::All, None);
        let metrics = table.into_iter().find(|line| line.system.is_some());
        let metrics = metrics.map(|line| line.metrics).unwrap_or_default();
        Self {
            learned: matches.len() - metrics.matches,
            matches: metrics.matches,
            right: metrics.accuracy * metrics.matches as f64,
            log_loss: metrics.log_loss,
        }
    }

    /// The probability that coin flips predict at least as many: a tail of the binomial
    /// distribution.
    pub(super) fn by_luck(&self) -> f64 {
        let n = self.matches;
        let mut ways = 1.0; // of choosing k of n
        let mut tail = 0.0;
        for k in 0..=n {
            if k as f64 >= self.right {
                tail += ways;
            }
            ways *= (n - k) as f64 / (k + 1) as f64;
        }
        tail / libm::exp2(n as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luck_by_hand() {
        let luck = |matches, right| {
            let forecast = HeldOut {
                learned: 0,
                matches,
                right,
                log_loss: 0.0,
            };
            forecast.by_luck()
        };
        assert_eq!(luck(3, 3.0), 0.125);
        assert_eq!(luck(3, 2.0), 0.5);
        assert_eq!(luck(3, 1.5), 0.5);
        assert_eq!(luck(4, 0.0), 1.0);
    }
}
