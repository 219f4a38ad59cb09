//! An evaluation in progress.

use std::{borrow::Borrow, collections::BTreeMap};

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use super::{Evaluation, Plan, evaluation::Trial};
use crate::history::{Digest, Levels, Season, Settings, Starts, digest::Digested};
use crate::{self as rating, SystemName};
use evenkeel_model::{MatchRecord, PlayerKey, Rulebook, Ruleset};

/// Predicts each of `count` matches, then learns from it, in the order given, which must be that of the
/// [fold](crate::history::Fold). `timer` returns seconds since any fixed instant; `progress` gets the number
/// of matches done.
pub fn evaluate<M: Borrow<MatchRecord>>(
    matches: impl Iterator<Item = M>,
    count: usize,
    rulebook: &Rulebook,
    settings: &Settings,
    plan: &Plan,
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
    pub fn new(count: usize, rulebook: &Rulebook, settings: &Settings, plan: &Plan) -> Self {
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
                    self.result.trials.push(Trial {
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
