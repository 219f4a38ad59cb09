//! Evaluation: runs every system on the same history and predicts each match before learning from it; also for
//! communities that begin anew, to see how soon the predictions are better than a coin.

use std::{
    borrow::Borrow,
    collections::{BTreeMap, VecDeque},
    f64::consts::LN_2,
};

use evenkeel_model::{MatchRecord, PlayerKey, Rulebook, Ruleset};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use crate::{
    self as rating, SystemName,
    history::{
        Digest, FEWEST_COMPARED, Forecast, Interval, Levels, Metrics, Season, Settings, Starts,
        SystemComparison, digest::Digested, metrics,
    },
};

/// Which systems to evaluate, and how. Plain data.
#[derive(Clone, Debug)]
pub struct EvaluationPlan {
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

impl Default for EvaluationPlan {
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
struct PredictedMatch {
    /// The number of the match, from 0, in the order given.
    number: usize,
    exchanged: bool,
    /// Index into [`Evaluation::rulesets`].
    ruleset: usize,
    won: bool,
    experienced: bool,
    /// The chance that the base rate gave to side 0, then that of each system.
    chances: Vec<f64>,
}

/// Which of the predicted matches a table covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subset {
    /// All matches after the warm-up.
    All,
    /// Matches after the warm-up in which every player was experienced ([`EvaluationPlan::experience`]).
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
    trials: Vec<PredictedMatch>,
    seed: u64,
    exchanged: bool,
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
pub struct SystemLine {
    /// The system; `None` is the base rate, which uses only how often side 0 has won.
    pub system: Option<SystemName>,
    /// The measures of its predictions.
    pub metrics: Metrics,
    /// The 95 % interval of its log loss minus that of the reference, over the same matches; 0 to 0 for
    /// the reference itself, `None` for fewer than two matches.
    pub against: Option<Interval>,
}

impl SystemLine {
    /// Compares the system with the reference of the table, at the level of
    /// [`CONFIDENCE`](crate::history::CONFIDENCE); `None` below [`FEWEST_COMPARED`] matches.
    pub fn comparison(&self) -> Option<SystemComparison> {
        let enough = self.metrics.matches >= FEWEST_COMPARED;
        self.against.filter(|_| enough).map(SystemComparison::of)
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
    ) -> Vec<SystemLine> {
        let number = ruleset.map(|r| self.rulesets.iter().position(|own| own == r));
        let wanted = |t: &&PredictedMatch| {
            number.is_none_or(|n| n == Some(t.ruleset)) && (subset == Subset::All || t.experienced)
        };
        let trials: Vec<&PredictedMatch> = self.trials.iter().filter(wanted).collect();
        let forecasts = |column: usize| -> Vec<Forecast> {
            let of = |t: &&PredictedMatch| Forecast {
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
            SystemLine {
                system,
                metrics: Metrics::of(&forecasts, self.exchanged),
                against: metrics::interval(&worse, self.seed),
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
    pub fn best(&self, ruleset: &Ruleset) -> Option<(SystemName, SystemLine)> {
        let usual = SystemName::default();
        let table = self.table(Some(ruleset), Subset::All, Some(usual));
        let systems = table
            .into_iter()
            .filter_map(|line| Some((line.system?, line)));
        let mut some: Vec<_> = systems
            .filter(|(_, line)| line.metrics.matches > 0)
            .collect();
        some.sort_by(|(_, a), (_, b)| a.metrics.log_loss.total_cmp(&b.metrics.log_loss));
        let is_better = |(_, line): &(SystemName, SystemLine)| {
            line.metrics.matches >= ENOUGH && line.comparison() == Some(SystemComparison::Better)
        };
        let known = some.iter().any(|(system, _)| *system == usual);
        let of_usual = |(system, _): &(SystemName, SystemLine)| !known || *system == usual;
        let better = some.iter().position(is_better).filter(|_| known);
        let at = better.or_else(|| some.iter().position(of_usual))?;
        Some(some.swap_remove(at))
    }
}

/// The fewest decided matches from which another system than the default one is called the best.
const ENOUGH: usize = 500;

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
pub struct FreshPlayers {
    /// The systems, in the order of the plan.
    pub systems: Vec<SystemName>,
    /// Number of starts.
    pub starts: usize,
    /// For the base rate, then each system, and each start: how much higher the log losses were than a coin's.
    beside_coin: Vec<Vec<Vec<f64>>>,
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
    pub fn comparison(&self) -> SystemComparison {
        SystemComparison::of(self.beside_coin)
    }
}

/// Begins the history anew every `every` matches, and lets the systems predict what comes then, without a warm-up.
/// `progress` gets the number of matches done, of those that [`steps`] counts.
pub fn fresh<M: Borrow<MatchRecord>>(
    matches: impl Iterator<Item = M>,
    every: usize,
    rulebook: &Rulebook,
    settings: &Settings,
    plan: &EvaluationPlan,
    progress: &mut dyn FnMut(usize),
) -> FreshPlayers {
    let plan = EvaluationPlan {
        warm_up: 0.0,
        ..plan.clone()
    };
    let mut fresh = FreshPlayers {
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

impl FreshPlayers {
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
            beside_coin: metrics::interval(&all, self.seed)?,
        })
    }

    fn beats_coin_after(&self, starts: &[Vec<f64>]) -> Option<usize> {
        let better = |from: usize, to: usize| {
            let over = self.over(starts, from, to);
            over.is_some_and(|over| over.comparison() == SystemComparison::Better)
        };
        // A short history has no start with `HORIZON` matches.
        let longest = starts.iter().map(Vec::len).max().unwrap_or(0);
        let last = longest / STEP * STEP;
        let mut windows = (0..=last.checked_sub(WINDOW)?).step_by(STEP);
        windows.find(|&from| better(from, from + WINDOW) && better(from, last))
    }
}

/// Predicts each of `count` matches, then learns from it, in the order given, which must be that of the
/// [fold](crate::history::Fold). `timer` returns seconds since any fixed instant; `progress` gets the number
/// of matches done.
pub fn evaluate<M: Borrow<MatchRecord>>(
    matches: impl Iterator<Item = M>,
    count: usize,
    rulebook: &Rulebook,
    settings: &Settings,
    plan: &EvaluationPlan,
    timer: &mut dyn FnMut() -> f64,
    progress: &mut dyn FnMut(usize),
) -> Evaluation {
    let mut evaluator = Evaluator::new(count, rulebook, settings, plan);
    for (number, record) in matches.enumerate() {
        evaluator.push(record.borrow(), timer);
        progress(number + 1);
    }
    evaluator.finish()
}

/// An evaluation in progress, to which matches are given one by one.
pub struct Evaluator {
    /// The number of matches that are learned from without being measured.
    warm_up: usize,
    digest: Digest,
    season: Season,
    contestants: Vec<Levels>,
    games: BTreeMap<PlayerKey, u32>,
    /// Per ruleset: the number of decided matches, and how many of them side 0 won.
    base: BTreeMap<Ruleset, (f64, f64)>,
    coin: Option<ChaCha8Rng>,
    experience: u32,
    result: Evaluation,
}

impl std::fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluator").finish_non_exhaustive()
    }
}

impl Evaluator {
    /// An evaluation of `count` matches, see [`evaluate`].
    pub fn new(
        count: usize,
        rulebook: &Rulebook,
        settings: &Settings,
        plan: &EvaluationPlan,
    ) -> Self {
        let settings = Settings {
            sides: settings.sides && plan.exchange.is_none(),
            ..settings.clone()
        };
        let contestant = |&system| {
            Levels::new(rating::Settings {
                system: SystemName::into(system),
                ..settings.rating
            })
        };
        Self {
            warm_up: (plan.warm_up * count as f64).ceil() as usize,
            digest: Digest::new(rulebook, &settings),
            season: Season::new(&settings),
            contestants: plan.systems.iter().map(contestant).collect(),
            games: BTreeMap::new(),
            base: BTreeMap::new(),
            coin: plan.exchange.map(ChaCha8Rng::seed_from_u64),
            experience: plan.experience,
            result: Evaluation {
                systems: plan.systems.clone(),
                rulesets: Vec::new(),
                matches: 0,
                unrated: 0,
                undecided: 0,
                seconds: vec![0.0; plan.systems.len()],
                trials: Vec::new(),
                seed: plan.seed,
                exchanged: plan.exchange.is_some(),
            },
        }
    }

    /// The number of matches so far.
    pub fn matches(&self) -> usize {
        self.result.matches
    }

    /// The predictions for the matches so far.
    pub fn finish(self) -> Evaluation {
        self.result
    }

    /// Predicts the next match, then learns from it. `timer` returns seconds since any fixed instant.
    pub fn push(&mut self, record: &MatchRecord, timer: &mut dyn FnMut() -> f64) {
        let number = self.result.matches;
        let counted = number >= self.warm_up;
        self.result.matches += 1;
        let starts = Starts::default();
        for keep in self.season.begun_by(record.end) {
            for levels in &mut self.contestants {
                levels.new_season(keep);
            }
        }
        let exchanged = self.coin.as_mut().is_some_and(|c| c.random_bool(0.5));
        let exchanged = exchanged.then(|| record.clone().with_teams_exchanged());
        let record = exchanged.as_ref().unwrap_or(record);
        let (ruleset, digested) = self.digest.digest(record);
        let Ok(Digested { game, played }) = digested else {
            self.result.unrated += 1;
            return;
        };
        let keys = || {
            played
                .iter()
                .map(|p| &record.participants[p.participant].key)
        };
        let experienced = keys().all(|k| self.games.get(k).is_some_and(|n| *n >= self.experience));
        for key in keys() {
            *self.games.entry(key.clone()).or_default() += 1;
        }
        let won = match game.result(0, 1) {
            Some(std::cmp::Ordering::Less) => Some(true),
            Some(std::cmp::Ordering::Greater) => Some(false),
            _ => None,
        };
        let base = self.base.entry(ruleset.clone()).or_insert((1.0, 0.5)); // Jeffreys: ½ + ½
        let mut chances = vec![base.1 / base.0];
        for (levels, seconds) in self.contestants.iter_mut().zip(&mut self.result.seconds) {
            let start = timer();
            let starts = starts.among(self.digest.people());
            let learned = levels.learn(&ruleset, &game, record.end, starts);
            chances.push(learned.chance.unwrap_or(0.5));
            *seconds += timer() - start;
        }
        match won.filter(|_| game.teams() == 2) {
            Some(won) => {
                *base = (base.0 + 1.0, base.1 + f64::from(u8::from(won)));
                if counted {
                    let ruleset = self.number(&ruleset);
                    self.result.trials.push(PredictedMatch {
                        number,
                        exchanged: exchanged.is_some(),
                        ruleset,
                        won,
                        experienced,
                        chances,
                    });
                }
            }
            None => self.result.undecided += usize::from(counted),
        }
    }

    fn number(&mut self, ruleset: &Ruleset) -> usize {
        let rulesets = &mut self.result.rulesets;
        rulesets
            .iter()
            .position(|r| r == ruleset)
            .unwrap_or_else(|| {
                rulesets.push(ruleset.clone());
                rulesets.len() - 1
            })
    }
}

#[cfg(test)]
mod tests;
