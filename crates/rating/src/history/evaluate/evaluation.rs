//! The predictions of an evaluation, and the tables that measure them.

use crate::SystemName;
use crate::history::{Comparison, FEWEST_COMPARED, Forecast, Interval, Metrics, bootstrap};
use evenkeel_model::Ruleset;

/// Which systems to evaluate, and how. Plain data.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The systems, in the order of the report.
    pub systems: Vec<SystemName>,
    /// The share of all matches, from the first one on, from which the systems learn without being
    /// measured; 0 to below 1.
    pub warm_up: f64,
    /// The number of earlier games from which on a player counts as experienced.
    pub experience: u32,
    /// For histories whose team numbers mean nothing: the seed by which each match's teams are
    /// exchanged at random or not. Sides are then not learned.
    pub exchange: Option<u64>,
    /// The seed of the resampling behind the intervals.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            systems: SystemName::ALL.to_vec(),
            warm_up: 0.2,
            experience: 5,
            exchange: None,
            seed: 1,
        }
    }
}

/// One predicted match between two teams, of which one won.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    /// The number of the match, from 0, in the order given.
    pub(super) number: usize,
    pub(super) exchanged: bool,
    /// Index into [`Evaluation::rulesets`].
    pub(super) ruleset: usize,
    pub(super) won: bool,
    pub(super) experienced: bool,
    /// The chance that the base rate gave to side 0, then that of each system.
    pub(super) chances: Vec<f64>,
}

/// Which of the predicted matches a table covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subset {
    /// All matches after the warm-up.
    All,
    /// Matches after the warm-up in which every player was experienced ([`Plan::experience`]).
    Experienced,
}

/// The predictions and counts of an evaluation; [`table`](Self::table) measures them.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The systems, in the order of the plan.
    pub systems: Vec<SystemName>,
    /// The rulesets, in the order in which they first occurred.
    pub rulesets: Vec<Ruleset>,
    /// Number of matches in the history.
    pub matches: usize,
    /// How many of them are not rated.
    pub unrated: usize,
    /// How many rated matches after the warm-up have no winner, or more than two teams.
    pub undecided: usize,
    /// Seconds that each system took, by the caller's timer.
    pub seconds: Vec<f64>,
    pub(super) trials: Vec<Trial>,
    pub(super) seed: u64,
    pub(super) exchanged: bool,
}

/// One system's prediction for one match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The number of the match, from 0, in the order given.
    pub number: usize,
    /// The system; `None` is the base rate.
    pub system: Option<SystemName>,
    /// The predicted chance that team 0 of the record wins, and whether it won. If the teams were
    /// exchanged, this is undone here.
    pub forecast: Forecast,
}

/// The line of a table for one system.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The system; `None` is the base rate, which uses only how often side 0 has won.
    pub system: Option<SystemName>,
    /// The measures of its predictions.
    pub metrics: Metrics,
    /// The 95 % interval of its log loss minus that of the reference, over the same matches; 0 to 0 for
    /// the reference itself, `None` for fewer than two matches.
    pub against: Option<Interval>,
}

impl Line {
    /// Compares the system with the reference of the table, at the level of
    /// [`CONFIDENCE`](crate::history::CONFIDENCE); `None` below [`FEWEST_COMPARED`] matches.
    pub fn comparison(&self) -> Option<Comparison> {
        let enough = self.metrics.matches >= FEWEST_COMPARED;
        self.against.filter(|_| enough).map(Comparison::of)
    }
}

impl Evaluation {
    /// A table over the matches of one ruleset, or of all: the base rate first, then every system.
    /// Intervals compare with `reference`, or with the base rate if it is `None`.
    pub fn table(
        &self,
        ruleset: Option<&Ruleset>,
        subset: Subset,
        reference: Option<SystemName>,
    ) -> Vec<Line> {
        let number = ruleset.map(|r| self.rulesets.iter().position(|own| own == r));
        let wanted = |t: &&Trial| {
            number.is_none_or(|n| n == Some(t.ruleset)) && (subset == Subset::All || t.experienced)
        };
        let trials: Vec<&Trial> = self.trials.iter().filter(wanted).collect();
        let forecasts = |column: usize| -> Vec<Forecast> {
            let of = |t: &&Trial| Forecast {
                chance: t.chances[column],
                won: t.won,
            };
            trials.iter().map(of).collect()
        };
        let place = reference.and_then(|r| self.systems.iter().position(|s| *s == r));
        let reference = forecasts(place.map_or(0, |p| p + 1));
        let columns = std::iter::once(None).chain(self.systems.iter().copied().map(Some));
        let line = |(column, system): (usize, Option<SystemName>)| {
            let forecasts = forecasts(column);
            let pairs = forecasts.iter().zip(&reference);
            let worse: Vec<f64> = pairs.map(|(f, r)| f.log_loss() - r.log_loss()).collect();
            Line {
                system,
                metrics: Metrics::of(&forecasts, self.exchanged),
                against: bootstrap::interval(&worse, self.seed),
            }
        };
        columns.enumerate().map(line).collect()
    }

    /// All predictions that the tables measure: for each match the base rate's, then each system's.
    pub fn predictions(&self) -> impl Iterator<Item = Prediction> {
        self.trials.iter().flat_map(|trial| {
            let systems = std::iter::once(None).chain(self.systems.iter().copied().map(Some));
            systems.zip(&trial.chances).map(|(system, &chance)| {
                let forecast = Forecast {
                    chance,
                    won: trial.won,
                };
                Prediction {
                    number: trial.number,
                    system,
                    forecast: match trial.exchanged {
                        true => forecast.mirrored(),
                        false => forecast,
                    },
                }
            })
        })
    }

    /// The system that predicts a ruleset best, and its line. It is the default one unless another is better beyond
    /// chance over at least 500 matches; of several such, that with the lowest log loss. `rating.system = "auto"` chooses
    /// by this. Without the default system, that with the lowest log loss. `None` if there are no predictions.
    pub fn best(&self, ruleset: &Ruleset) -> Option<(SystemName, Line)> {
        let usual = SystemName::default();
        let table = self.table(Some(ruleset), Subset::All, Some(usual));
        let systems = table
            .into_iter()
            .filter_map(|line| Some((line.system?, line)));
        let mut some: Vec<_> = systems
            .filter(|(_, line)| line.metrics.matches > 0)
            .collect();
        some.sort_by(|(_, a), (_, b)| a.metrics.log_loss.total_cmp(&b.metrics.log_loss));
        let is_better = |(_, line): &(SystemName, Line)| {
            line.metrics.matches >= ENOUGH && line.comparison() == Some(Comparison::Better)
        };
        let known = some.iter().any(|(system, _)| *system == usual);
        let of_usual = |(system, _): &(SystemName, Line)| !known || *system == usual;
        let better = some.iter().position(is_better).filter(|_| known);
        let at = better.or_else(|| some.iter().position(of_usual))?;
        Some(some.swap_remove(at))
    }
}

/// The fewest decided matches from which another system than the default one is called the best.
const ENOUGH: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_matches_are_not_compared() {
        let line = |matches| Line {
            system: None,
            metrics: Metrics {
                matches,
                ..Metrics::default()
            },
            against: Some(Interval {
                low: 0.1,
                high: 0.2,
            }),
        };
        assert_eq!(line(FEWEST_COMPARED - 1).comparison(), None);
        assert_eq!(line(FEWEST_COMPARED).comparison(), Some(Comparison::Worse));
    }
}
