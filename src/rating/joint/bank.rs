//! The bank: filters with different priors side by side, weighed by what they foretold.
//!
//! How much players differ, and whether points tell more than the outcome, is no one's to set: every
//! game and every community differs. Each filter keeps its log evidence, the sum of the logarithms of
//! the chances it gave to what then happened, and the bank's word is the mean by evidence (Bayesian
//! model averaging). Filters are few and dropped by halves as the evidence grows, so a long history
//! costs little more than one filter.

use serde::{Deserialize, Serialize};

use super::columns::Row;
use super::filter::{Filter, Latent, Prior, Sight};
use crate::rating::Strength;

/// Players' standard deviations tried, in units of the noise of a match of two. Five octaves hold all
/// sets measured (0.1 for casual rounds of friends, 0.8 for a league, 1.6 for open pick-up games).
const SKILLS: [f64; 5] = [0.1, 0.2, 0.4, 0.8, 1.6];
/// Drift a match, and at most this part of the players' deviation.
const DRIFT: f64 = 0.05;
const DRIFT_SHARE: f64 = 0.1;
/// A week away counts as a match.
const DAYS: f64 = 7.0;
/// How many filters go on after so many matches. Evidence differs by about a hundredth a match, so by
/// then what is dropped is behind, or as good as what stays.
const HALVINGS: [(u64, usize); 4] = [(128, 3), (512, 2), (1_024, 3), (2_048, 1)];
/// After so many matches drift is put to the test, too: other drifts foretell the same until then.
const DRIFTING: u64 = 512;
/// What is tried, as multiples of drift and of the days that count as a match: nothing else, half the
/// drift, double, and a day as a match.
const DRIFTS: [(f64, f64); 4] = [(1.0, 1.0), (0.5, 1.0), (2.0, 1.0), (1.0, 1.0 / 7.0)];

/// One filter and its record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Member {
    /// What it believes beforehand.
    pub prior: Prior,
    /// Whether it learns from points instead of outcomes where there are points.
    pub points: bool,
    /// Log evidence.
    pub evidence: f64,
    /// Its state.
    pub filter: Filter,
    /// The match being looked at.
    #[serde(skip)]
    pub seen: Latent,
    #[serde(skip)]
    gain: Vec<f32>,
}

/// The filters still in the running, never none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bank {
    /// In the order of their priors.
    pub members: Vec<Member>,
    asked_for_points: bool,
}

/// One filter per prior.
impl Default for Bank {
    fn default() -> Self {
        let member = |skill: f64| Member {
            prior: Prior {
                skill,
                drift: DRIFT.min(DRIFT_SHARE * skill),
                days: DAYS,
            },
            points: false,
            evidence: 0.0,
            filter: Filter::default(),
            seen: Latent::default(),
            gain: Vec::new(),
        };
        Self {
            members: SKILLS.into_iter().map(member).collect(),
            asked_for_points: false,
        }
    }
}

impl Bank {
    /// The first match with points: every filter gets a double that learns from them. Until here the
    /// two would have been the same.
    pub fn try_points(&mut self) {
        if !self.asked_for_points {
            self.asked_for_points = true;
            let doubles = self.members.iter().cloned();
            let doubles = doubles.map(|m| Member { points: true, ..m });
            self.members = self.members.iter().cloned().chain(doubles).collect();
        }
    }

    /// The best filter is replaced by some whose players drift less and more. They share its evidence.
    fn try_drifts(&mut self) {
        let evidence = |(_, m): &(usize, &Member)| m.evidence;
        let best = self.members.iter().enumerate();
        let best = best.max_by(|a, b| evidence(a).total_cmp(&evidence(b)));
        let Some((best, _)) = best else { return };
        let member = self.members.remove(best);
        let each = DRIFTS.map(|(drift, days)| {
            let mut each = member.clone();
            each.prior.drift *= drift;
            each.prior.days *= days;
            each.evidence -= libm::log(DRIFTS.len() as f64);
            each
        });
        self.members.splice(best..best, each);
    }

    /// Posterior probabilities of the members; they sum to 1.
    pub fn weights(&self) -> Vec<f64> {
        if self.members.len() == 1 {
            return vec![1.0];
        }
        let evidence = self.members.iter().map(|m| m.evidence);
        let best = evidence.clone().fold(f64::NEG_INFINITY, f64::max);
        let raw: Vec<f64> = evidence.map(|e| libm::exp(e - best)).collect();
        let sum: f64 = raw.iter().sum();
        raw.into_iter().map(|w| w / sum).collect()
    }

    /// The mean of what the members say.
    pub fn mean(&self, of: impl Fn(&Member) -> f64) -> f64 {
        let weights = self.weights();
        let sum = self.members.iter().zip(weights);
        sum.map(|(member, weight)| weight * of(member)).sum()
    }

    /// Mean and deviation of the mixture of what the members say.
    pub fn strength(&self, of: impl Fn(&Member) -> Strength) -> Strength {
        let mean = self.mean(|m| of(m).mean);
        let square = self.mean(|m| {
            let s = of(m);
            s.deviation * s.deviation + (s.mean - mean) * (s.mean - mean)
        });
        Strength {
            mean,
            deviation: libm::sqrt(square),
        }
    }

    /// When `matches` reaches a halving, drops the filters with the least evidence. The doubles of
    /// [`try_points`](Self::try_points) can come late, so the last halving comes again.
    pub fn halve(&mut self, matches: u64) {
        let last = HALVINGS[HALVINGS.len() - 1].0;
        let due = |at: u64| matches == at || (at == last && matches.is_multiple_of(last));
        let due = HALVINGS.iter().find(|(at, _)| due(*at));
        if let Some(&(_, keep)) = due {
            self.drop_to(keep);
        }
        if matches == DRIFTING {
            self.try_drifts();
        }
    }

    fn drop_to(&mut self, keep: usize) {
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        let evidence = |i: &usize| self.members[*i].evidence;
        order.sort_by(|i, j| evidence(j).total_cmp(&evidence(i)).then(i.cmp(j)));
        let mut rank = vec![0; order.len()];
        for (place, &member) in order.iter().enumerate() {
            rank[member] = place;
        }
        let mut places = rank.into_iter();
        self.members
            .retain(|_| places.next().is_some_and(|p| p < keep));
    }
}

/// What a match tells: its outcome, and its points where it has some.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// The outcome.
    pub outcome: Sight,
    /// The points.
    pub points: Option<Sight>,
}

impl Member {
    /// The latent difference of a row.
    pub fn latent(&self, row: &Row) -> Latent {
        self.filter.latent(row, &self.prior, &mut Vec::new())
    }

    /// Looks at a match whose columns all have numbers, before learning from it.
    pub fn look(&mut self, row: &Row) {
        self.seen = self.filter.latent(row, &self.prior, &mut self.gain);
    }

    /// What these columns gain from the match looked at.
    pub fn gains(&self, columns: &[usize]) -> Vec<f64> {
        columns.iter().map(|&c| self.gain[c].into()).collect()
    }

    /// Learns from the match looked at; the columns in `still` don't change. A decided outcome is
    /// evidence; a tie, whose meaning differs from game to game, is none.
    pub fn learn(&mut self, told: Told, still: &[usize]) {
        if let Sight::Sign(sign) = told.outcome {
            let chance = self.seen.chance();
            let given = if sign > 0.0 { chance } else { 1.0 - chance };
            self.evidence += libm::log(given.max(1e-12)); // the best can't become impossible
        }
        let sight = if self.points { told.points } else { None };
        let sight = sight.unwrap_or(told.outcome);
        self.filter.learn(sight, self.seen, &self.gain, still);
    }

    /// Learns that a column is about this, give or take this variance.
    pub fn observe(&mut self, column: usize, value: f64, variance: f64) {
        let unit = 1.0 / libm::sqrt(variance.max(1e-6)); // a row whose noise is 1
        let row = Row {
            known: vec![(column, unit)],
            new: Vec::new(),
        };
        self.look(&row);
        let sight = Sight::Value(value * unit);
        self.filter.learn(sight, self.seen, &self.gain, &[]);
    }

    /// Lets those who play drift, by a game and by the days each was away, but not beyond what is
    /// believed of somebody unknown.
    pub fn drift(&mut self, columns: impl Iterator<Item = (usize, f64)>) {
        let most = self.prior.skill * self.prior.skill;
        let step = self.prior.drift * self.prior.drift;
        for (column, days) in columns {
            let room = most - self.filter.variance(column);
            if room > 0.0 {
                self.filter
                    .widen(column, (step * (1.0 + days / self.prior.days)).min(room));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_weighs_and_halvings_drop_the_worst() {
        let mut bank = Bank::default();
        for (member, evidence) in bank.members.iter_mut().zip([-3.0, -1.0, 0.0, -1.0, -9.0]) {
            member.evidence = evidence;
        }
        let weights = bank.weights();
        assert!((weights[1] / weights[2] - libm::exp(-1.0)).abs() < 1e-15);
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        bank.halve(127);
        assert_eq!(bank.members.len(), 5);
        bank.halve(128);
        let skills = |bank: &Bank| {
            bank.members
                .iter()
                .map(|m| m.prior.skill)
                .collect::<Vec<_>>()
        };
        assert_eq!(skills(&bank), [0.2, 0.4, 0.8]);
        bank.try_points();
        bank.try_points();
        assert_eq!(bank.members.len(), 6);
        bank.halve(4_096);
        assert_eq!(skills(&bank), [0.4]);
        assert!(!bank.members[0].points, "the first among equals");
    }

    #[test]
    fn drifts_are_tried_once_the_players_are_known() {
        let mut bank = Bank::default();
        let drift = bank.members[0].prior.drift;
        bank.members[0].evidence = 1.0;
        (1..DRIFTING).for_each(|matches| bank.halve(matches));
        assert_eq!(bank.members.len(), 3);
        let before = bank.weights()[0];
        bank.halve(DRIFTING);
        let drifts: Vec<f64> = bank.members.iter().map(|m| m.prior.drift).collect();
        assert_eq!(drifts[..4], [drift, 0.5 * drift, 2.0 * drift, drift]);
        assert_eq!(drifts.len(), 5, "the second best stays as it is");
        let after: f64 = bank.weights()[..4].iter().sum();
        assert!(after >= before, "shared, and of one rival less");
        bank.members[1].evidence += 1.0;
        (DRIFTING + 1..2_049).for_each(|matches| bank.halve(matches));
        assert_eq!(bank.members.len(), 1);
        assert_eq!(bank.members[0].prior.drift, 0.5 * drift);
    }

    #[test]
    fn absence_blurs_up_to_somebody_unknown() {
        let mut member = Bank::default().members.swap_remove(3);
        let known = Strength {
            mean: 1.0,
            deviation: 0.1,
        };
        (0..3).for_each(|_| member.filter.add(known));
        member.drift([(0, 0.0), (1, 7.0), (2, 1e9)].into_iter());
        let step = member.prior.drift * member.prior.drift;
        let variances = [0, 1, 2].map(|c| member.filter.variance(c));
        let expected = [0.01 + step, 0.01 + 2.0 * step, 0.64];
        for (got, expected) in variances.into_iter().zip(expected) {
            assert!((got - expected).abs() < 1e-6, "{got} {expected}");
        }
    }
}
