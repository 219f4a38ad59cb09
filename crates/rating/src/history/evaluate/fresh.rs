//! Fresh starts: how soon the systems predict better than a coin in a community that begins anew.

use std::{borrow::Borrow, collections::VecDeque, f64::consts::LN_2};

use super::{Evaluation, Plan, run::Evaluator};
use crate::SystemName;
use crate::history::{Comparison, Interval, Settings, bootstrap};
use evenkeel_model::{MatchRecord, Rulebook};

/// The numbers of decided matches after each start over which systems are measured.
pub const FIRST: [usize; 3] = [50, 100, 200];
/// The number of decided matches after a start that are looked at.
const HORIZON: usize = 200;
/// The number of matches after a start that are predicted, because some have no winner.
const LOOKED_AT: usize = 2 * HORIZON;
/// The decided matches in one window of the search for when a system begins to beat a coin.
const WINDOW: usize = 50;
/// The decided matches from the beginning of one window to that of the next.
const STEP: usize = 25;

/// What the systems predicted of a history that was begun anew again and again.
#[derive(Clone, Debug)]
pub struct Fresh {
    /// The systems, in the order of the plan.
    pub systems: Vec<SystemName>,
    /// Number of starts.
    pub starts: usize,
    /// For the base rate, then each system, and each start: how much higher the log losses were than a coin's.
    pub(super) beside_coin: Vec<Vec<Vec<f64>>>,
    seed: u64,
}

/// The line of a table for one system.
#[derive(Clone, Debug, PartialEq)]
pub struct FreshLine {
    /// The system; `None` is the base rate.
    pub system: Option<SystemName>,
    /// Its predictions of the [`FIRST`] matches; `None` where no start has that number.
    pub first: [Option<FirstMatches>; FIRST.len()],
    /// The number of decided matches after which it predicts better than a coin, beyond chance: the 50 matches that
    /// follow, and all that follow up to the 200th. `None` if there is no such number.
    pub beats_coin_after: Option<usize>,
}

/// The predictions of the first matches after each start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstMatches {
    /// Number of starts with enough decided matches.
    pub starts: usize,
    /// The mean log loss.
    pub log_loss: f64,
    /// The 95 % interval of the mean log loss minus a coin's.
    pub beside_coin: Interval,
}

impl FirstMatches {
    /// Compares the system with a coin.
    pub fn comparison(&self) -> Comparison {
        Comparison::of(self.beside_coin)
    }
}

/// Begins the history anew every `every` matches, and lets the systems predict what comes then, without a warm-up.
/// `progress` gets the number of matches done, of those that [`steps`] counts.
pub fn fresh<M: Borrow<MatchRecord>>(
    matches: impl Iterator<Item = M>,
    every: usize,
    rulebook: &Rulebook,
    settings: &Settings,
    plan: &Plan,
    progress: &mut dyn FnMut(usize),
) -> Fresh {
    let plan = Plan {
        warm_up: 0.0,
        ..plan.clone()
    };
    let mut fresh = Fresh {
        systems: plan.systems.clone(),
        starts: 0,
        beside_coin: vec![Vec::new(); plan.systems.len() + 1],
        seed: plan.seed,
    };
    let (mut begun, mut done) = (VecDeque::new(), 0);
    for (number, record) in matches.enumerate() {
        if number.is_multiple_of(every.max(1)) {
            begun.push_back(Evaluator::new(LOOKED_AT, rulebook, settings, &plan));
        }
        for one in &mut begun {
            one.push(record.borrow(), &mut || 0.0);
        }
        done += begun.len();
        progress(done);
        if begun.front().is_some_and(|one| one.matches() == LOOKED_AT) {
            begun.pop_front().into_iter().for_each(|one| fresh.add(one));
        }
    }
    begun.into_iter().for_each(|one| fresh.add(one));
    fresh
}

/// The number of matches that [`fresh`] goes through: a match counts as often as it is a part of what follows a start.
pub fn steps(matches: usize, every: usize) -> usize {
    parts(matches, every).map(|part| part.len()).sum()
}

/// The matches after each start.
fn parts(matches: usize, every: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let starts = (0..matches).step_by(every.max(1));
    starts.map(move |at| at..matches.min(at + LOOKED_AT))
}

/// For the base rate, then each system: how much higher the log losses of the first predictions are than a coin's.
fn worse_than_coin(evaluation: &Evaluation) -> Vec<Vec<f64>> {
    let systems = evaluation.systems.iter().copied().map(Some);
    let systems = std::iter::once(None).chain(systems);
    let of = |system| {
        let own = evaluation.predictions().filter(|p| p.system == system);
        let first = own.take(HORIZON);
        first.map(|p| p.forecast.log_loss() - LN_2).collect()
    };
    systems.map(of).collect()
}

impl Fresh {
    /// Adds what was predicted after one more start.
    fn add(&mut self, one: Evaluator) {
        self.starts += 1;
        let own = worse_than_coin(&one.finish());
        let columns = self.beside_coin.iter_mut().zip(own);
        columns.for_each(|(all, own)| all.push(own));
    }

    /// The base rate first, then every system.
    pub fn table(&self) -> Vec<FreshLine> {
        let systems = std::iter::once(None).chain(self.systems.iter().copied().map(Some));
        let line = |(system, starts): (Option<SystemName>, &Vec<Vec<f64>>)| FreshLine {
            system,
            first: FIRST.map(|number| self.over(starts, 0, number)),
            beats_coin_after: self.beats_coin_after(starts),
        };
        systems.zip(&self.beside_coin).map(line).collect()
    }

    /// The measures from one number of decided matches after each start to another.
    fn over(&self, starts: &[Vec<f64>], from: usize, to: usize) -> Option<FirstMatches> {
        let some: Vec<&[f64]> = starts.iter().filter_map(|own| own.get(from..to)).collect();
        let all = some.concat();
        let mean = all.iter().sum::<f64>() / all.len().max(1) as f64;
        Some(FirstMatches {
            starts: some.len(),
            log_loss: LN_2 + mean,
            beside_coin: bootstrap::interval(&all, self.seed)?,
        })
    }

    fn beats_coin_after(&self, starts: &[Vec<f64>]) -> Option<usize> {
        let better = |from: usize, to: usize| {
            let over = self.over(starts, from, to);
            over.is_some_and(|over| over.comparison() == Comparison::Better)
        };
        // A short history has no start with `HORIZON` matches.
        let longest = starts.iter().map(Vec::len).max().unwrap_or(0);
        let last = longest / STEP * STEP;
        let mut windows = (0..=last.checked_sub(WINDOW)?).step_by(STEP);
        windows.find(|&from| better(from, from + WINDOW) && better(from, last))
    }
}
