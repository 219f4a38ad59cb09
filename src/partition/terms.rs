//! The blemishes of a split, term by term.

use super::{Problem, balance::Evenness, instance::Instance};
use crate::domain::units::Amount;

/// What one unit of each term costs; the terms are those of [`Terms`].
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Factors {
    pub ratio_gap: Amount,
    pub best_gap: Amount,
    pub spread_gap: Amount,
    pub broken_parties: Amount,
    pub avoided_pairs: Amount,
    pub moved: Amount,
    pub repeated: Amount,
}

/// One number for each term: a split's value, or what it costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Terms {
    /// 1 − evenness, which is the ratio of the teams' sums unless the objective is another: 0 to 1.
    pub ratio_gap: f64,
    /// How far the teams' best humans are apart, of the best of all: 0 to 1. A team without humans
    /// has a bot as its best.
    pub best_gap: f64,
    /// How far the standard deviations of the teams' human weights are apart, of the largest
    /// weight: 0 to 1/2.
    pub spread_gap: f64,
    /// Parties that are not together.
    pub broken_parties: f64,
    /// Pairs on one team who would rather not be.
    pub avoided_pairs: f64,
    /// Humans who are to leave their current team.
    pub moved: f64,
    /// Of the pairs who were on one team in the last game, the share who are again: 0 to 1.
    pub repeated: f64,
}

impl Terms {
    /// Every term with its name, always in the same order.
    pub fn named(&self) -> [(&'static str, f64); 7] {
        [
            ("ratio_gap", self.ratio_gap),
            ("best_gap", self.best_gap),
            ("spread_gap", self.spread_gap),
            ("broken_parties", self.broken_parties),
            ("avoided_pairs", self.avoided_pairs),
            ("moved", self.moved),
            ("repeated", self.repeated),
        ]
    }

    /// Value times factor, term by term.
    pub(super) fn times(&self, factors: &Factors) -> Self {
        Self {
            ratio_gap: self.ratio_gap * factors.ratio_gap.get(),
            best_gap: self.best_gap * factors.best_gap.get(),
            spread_gap: self.spread_gap * factors.spread_gap.get(),
            broken_parties: self.broken_parties * factors.broken_parties.get(),
            avoided_pairs: self.avoided_pairs * factors.avoided_pairs.get(),
            moved: self.moved * factors.moved.get(),
            repeated: self.repeated * factors.repeated.get(),
        }
    }

    /// The sum of all terms.
    pub(super) fn total(&self) -> f64 {
        self.named().iter().map(|(_, value)| value).sum()
    }
}

/// Measures the terms of splits of one problem.
pub(super) struct Scorer<'a> {
    problem: &'a Problem,
    /// Humans in an order that isn't the caller's, so that sums round the same.
    order: Vec<usize>,
    /// Weights as shares of the largest one, the bots' last.
    shares: Vec<f64>,
    /// Different pairs to keep apart.
    avoid: Vec<(usize, usize)>,
}

impl<'a> Scorer<'a> {
    pub fn new(problem: &'a Problem, instance: &Instance) -> Self {
        let spec = problem.spec();
        let weights = || {
            spec.humans
                .iter()
                .map(|h| h.weight)
                .chain([spec.bots.weight])
        };
        let largest = weights().fold(0.0, f64::max);
        let share = |weight: f64| if largest > 0.0 { weight / largest } else { 0.0 };
        let mut avoid: Vec<_> = spec
            .avoid
            .iter()
            .map(|&(a, b)| (a.min(b), a.max(b)))
            .collect();
        avoid.sort_unstable();
        avoid.dedup();
        Self {
            problem,
            order: instance
                .atoms
                .iter()
                .flat_map(|atom| &atom.members)
                .copied()
                .collect(),
            shares: weights().map(share).collect(),
            avoid,
        }
    }

    /// The terms of a split, by each human's team. O(humans + pairs to avoid).
    pub fn terms(&self, team_of: &[u8], balance: Evenness) -> Terms {
        let spec = self.problem.spec();
        let (best_gap, spread_gap) = self.gaps(team_of);
        let together = |&(a, b): &(usize, usize)| team_of[a] == team_of[b];
        let broken = |party: &&Vec<usize>| party.iter().any(|&h| team_of[h] != team_of[party[0]]);
        let moves = |&(human, team): &(&super::WeightedHuman, &u8)| {
            human
                .current
                .is_some_and(|current| current != usize::from(*team))
        };
        Terms {
            ratio_gap: 1.0 - balance.evenness(),
            best_gap,
            spread_gap,
            broken_parties: spec.parties.iter().filter(broken).count() as f64,
            avoided_pairs: self.avoid.iter().filter(|pair| together(pair)).count() as f64,
            moved: spec.humans.iter().zip(team_of).filter(moves).count() as f64,
            repeated: self.repeated(team_of),
        }
    }

    /// Largest less smallest over the teams, of their best weights and of their deviations.
    fn gaps(&self, team_of: &[u8]) -> (f64, f64) {
        let teams = self.problem.spec().teams;
        let bot = self.shares[self.shares.len() - 1];
        let (mut best, mut spread) = ((f64::MAX, 0.0), (f64::MAX, 0.0));
        let widen = |range: (f64, f64), value: f64| (range.0.min(value), range.1.max(value));
        for team in 0..teams as u8 {
            let shares = || {
                let members = self
                    .order
                    .iter()
                    .filter(move |&&human| team_of[human] == team);
                members.map(|&human| self.shares[human])
            };
            let count = shares().count().max(1) as f64;
            let mean = shares().sum::<f64>() / count;
            let variance = shares().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
            best = widen(best, shares().reduce(f64::max).unwrap_or(bot));
            spread = widen(spread, variance.sqrt());
        }
        (best.1 - best.0, spread.1 - spread.0)
    }

    /// Pairs of the last game who are together again, of those who could be.
    fn repeated(&self, team_of: &[u8]) -> f64 {
        let mut then = [0u32; super::MAX_TEAMS];
        let mut again = [[0u32; super::MAX_TEAMS]; super::MAX_TEAMS];
        for (human, &team) in self.problem.spec().humans.iter().zip(team_of) {
            if let Some(last) = human.last {
                then[last] += 1;
                again[last][usize::from(team)] += 1;
            }
        }
        let pairs = |count: &u32| count * count.saturating_sub(1) / 2;
        let all: u32 = then.iter().map(pairs).sum();
        let kept: u32 = again.iter().flatten().map(pairs).sum();
        f64::from(kept) / f64::from(all.max(1))
    }
}
