//! Limits how much evenness wishes may cost: first those of parties to stay together, then those of players for a team.
//!
//! All parties are kept if that costs no more evenness than their budget; otherwise some are given up.
//!
//! As many wishes for a team are satisfied as are worth what they cost. A wish is worth its factor, in units of the weaker
//! team's chance to win. Splits that count as equal to the most even one cost nothing; others cost the chance by which they
//! are less even than it. Satisfied are as many wishes as have the highest worth less cost, but never more than cost the
//! budget. Which ones follows from the pick: all candidates grant as many.
//!
//! Why the others were refused is computed, too.

use std::fmt;

use evenkeel_model::win_model::{chance_of_weaker, evenness_of_chance};

use crate::{
    Problem, ProblemError, Settings,
    balance::Evenness,
    engine::{self, EngineAnswer, EngineOrder, StepClock},
    instance::{Atom, AtomInstance, lot},
    reader::{KeptParties, SplitReader},
    settings::Objective,
};

/// Keeps all parties if that costs no more evenness than the budget. Otherwise gives up one party
/// at a time, always the one whose loss helps most, until the rest costs no more than the budget.
/// Needs one search for all candidates per attempt, and at most parties² / 2 searches for one
/// candidate.
///
/// # Errors
/// Fails if the forced engine cannot solve the problem.
pub(super) fn choose_parties(
    problem: &Problem,
    settings: &Settings,
    seed: u64,
    clock: &mut StepClock,
) -> Result<KeptParties, ProblemError> {
    let parties = &problem.spec().parties;
    let mut trial = PartyTrial {
        problem,
        settings,
        seed,
        clock,
    };
    let mut kept: Vec<bool> = parties.iter().map(|party| party.len() > 1).collect();
    let mut given_up = Vec::new();
    let mut without = None;
    loop {
        let (instance, answer) = trial.run(&kept, keep(problem, settings, &given_up))?;
        let best = best(&answer).map(Evenness::evenness);
        let affordable = match best {
            _ if !kept.contains(&true) => true,
            None => false,
            Some(even) if even >= 1.0 - settings.party_budget.get() || trial.clock.over() => true,
            Some(even) => {
                let free = match without {
                    Some(free) => free,
                    None => trial.without(kept.len())?,
                };
                without = Some(free);
                even >= free - settings.party_budget.get()
            }
        };
        if affordable {
            return Ok(KeptParties {
                instance,
                answer,
                given_up,
                without,
                least_even: 0.0,
            });
        }
        let party = trial.least_worth(&kept)?;
        kept[party] = false;
        given_up.push(party);
    }
}

/// How many of the most even splits are looked for. Where chances within a distance count as equal, these
/// are more than `top`, so that the pick varies; also where the engines do not count everything exactly, as bots that are
/// there, so that the most even splits are among them.
fn keep(problem: &Problem, settings: &Settings, given_up: &[usize]) -> usize {
    /// Of more, the pick would hardly vary more (30 picks of 64 give 24 different ones), and larger games would
    /// take several times as long. Among 32, newcomers and turns at the weaker side are not always shared out.
    const AS_EVEN: usize = 64;
    /// In a game of four teams with a strong bot on one of them, 64 were too few.
    const INEXACT: usize = 200;
    let by_chance = settings.objective == Objective::Chance && problem.spec().view.chance.is_some();
    let inexact = !problem.bots().is_empty() || !given_up.is_empty();
    let least = match problem.spec().equal_within {
        _ if inexact => INEXACT,
        Some(_) if by_chance => AS_EVEN,
        _ => 0,
    };
    settings.top.as_usize().max(least)
}

/// The arguments that are the same for every attempt.
struct PartyTrial<'a, 'c> {
    problem: &'a Problem,
    settings: &'a Settings,
    seed: u64,
    clock: &'a mut StepClock<'c>,
}

impl PartyTrial<'_, '_> {
    /// Finds the `keep` best splits with the parties in `kept`.
    fn run(
        &mut self,
        kept: &[bool],
        keep: usize,
    ) -> Result<(AtomInstance, EngineAnswer), ProblemError> {
        let instance = AtomInstance::new(self.problem, self.settings, kept, self.seed);
        let order = EngineOrder::of(self.settings, self.seed, keep);
        let answer = engine::solve(&instance, order, self.clock)?;
        Ok((instance, answer))
    }

    /// The best evenness if none of the `parties` is kept.
    fn without(&mut self, parties: usize) -> Result<f64, ProblemError> {
        let (_, answer) = self.run(&vec![false; parties], 1)?;
        Ok(best(&answer).map_or(0.0, Evenness::evenness))
    }

    /// The kept party whose loss helps evenness most; the largest one if there is no time to try.
    /// At least one must be kept.
    fn least_worth(&mut self, kept: &[bool]) -> Result<usize, ProblemError> {
        let parties = &self.problem.spec().parties;
        let mut options = Vec::new();
        for party in (0..kept.len()).filter(|&party| kept[party]) {
            let balance = if self.clock.over() {
                None
            } else {
                let mut fewer = kept.to_vec();
                fewer[party] = false;
                best(&self.run(&fewer, 1)?.1)
            };
            let members = &parties[party];
            options.push((
                balance,
                members.len(),
                lot(self.problem, members, self.seed),
                party,
            ));
        }
        Ok(options.into_iter().max().map_or(0, |(.., party)| party))
    }
}

fn best(answer: &EngineAnswer) -> Option<Evenness> {
    answer.splits.first().map(|(balance, _)| *balance)
}

/// A difference of worth that is rounding alone.
const ROUNDING: f64 = 1e-9;

/// What splits cost that are less even than the best one without wishes.
struct Price {
    /// The chance of the weaker team in the best split.
    best: f64,
    /// The evenness from which on a split costs nothing.
    free: f64,
    /// The most that wishes may cost.
    budget: f64,
}

impl Price {
    fn cost(&self, evenness: f64) -> f64 {
        match evenness + ROUNDING >= self.free {
            true => 0.0,
            false => (self.best - chance_of_weaker(evenness)).max(0.0),
        }
    }

    /// The least evenness that is cheap enough, beside a split of this evenness.
    fn least(&self, evenness: f64) -> f64 {
        match self.cost(evenness) > 0.0 {
            true => evenness_of_chance((self.best - self.budget).max(0.0)),
            false => self.free,
        }
    }
}

/// Answers with splits that grant as many wishes as are worth it, among those that keep the parties of `choice`. At most
/// one search for each wish.
///
/// # Errors
/// Fails if the forced engine cannot solve the problem.
pub(super) fn choose(
    problem: &Problem,
    settings: &Settings,
    seed: u64,
    mut choice: KeptParties,
    clock: &mut StepClock,
) -> Result<KeptParties, ProblemError> {
    let wishes = problem.spec().wishes();
    if wishes == 0 {
        return Ok(choice);
    }
    let trial = WishTrial::new(problem, settings, seed, &choice);
    let without = trial.best(&choice.answer).unwrap_or(0.0);
    let price = trial.price(without);
    let factor = settings.factors.wishes.get();
    let cheap = |evenness: &f64| price.cost(*evenness) == 0.0;
    let splits = choice.answer.splits.iter();
    let for_nothing = splits.filter(|(_, split)| cheap(&trial.evenness(split)));
    let for_nothing = for_nothing.map(|(_, split)| choice.instance.satisfied(split));
    let mut level = WishLevel {
        satisfied: for_nothing.max().unwrap_or(0),
        cost: 0.0,
        answer: None,
    };
    for satisfied in level.satisfied + 1..=wishes {
        if clock.over() {
            break;
        }
        let answer = trial.solve(clock, |instance| instance.least_satisfied = satisfied)?;
        let Some(evenness) = trial.best(&answer) else {
            break;
        };
        let cost = price.cost(evenness);
        if cost > price.budget + ROUNDING {
            break;
        }
        let more = (satisfied - level.satisfied) as f64 * factor;
        if more + ROUNDING >= cost - level.cost {
            level = WishLevel {
                satisfied,
                cost,
                answer: Some(answer),
            };
        }
    }
    let satisfied = level.satisfied;
    let answer = match level.answer {
        Some(answer) => answer,
        None => trial.solve(clock, |instance| instance.least_satisfied = satisfied)?,
    };
    let answer = match answer.exact {
        true => answer,
        false => trial.with_found_before(answer, satisfied),
    };
    let best = trial.best(&answer).unwrap_or(without);
    choice.least_even = price.least(best);
    choice.answer = answer;
    choice.instance.least_satisfied = satisfied;
    Ok(choice)
}

/// The most worthwhile number of satisfied wishes so far.
struct WishLevel {
    satisfied: usize,
    cost: f64,
    answer: Option<EngineAnswer>,
}

/// The arguments that are the same for every attempt.
pub(super) struct WishTrial<'a> {
    problem: &'a Problem,
    settings: &'a Settings,
    seed: u64,
    choice: &'a KeptParties,
    reader: SplitReader<'a>,
}

impl<'a> WishTrial<'a> {
    pub(super) fn new(
        problem: &'a Problem,
        settings: &'a Settings,
        seed: u64,
        choice: &'a KeptParties,
    ) -> Self {
        Self {
            reader: SplitReader::new(problem, settings, choice),
            problem,
            settings,
            seed,
            choice,
        }
    }

    /// The most even splits of the instance after this change to it.
    pub(super) fn solve(
        &self,
        clock: &mut StepClock,
        change: impl FnOnce(&mut AtomInstance),
    ) -> Result<EngineAnswer, ProblemError> {
        let mut instance = self.choice.instance.clone();
        change(&mut instance);
        let keep = keep(self.problem, self.settings, &self.choice.given_up);
        let order = EngineOrder::of(self.settings, self.seed, keep);
        engine::solve(&instance, order, clock)
    }

    /// The evenness of the best of the splits that were found, as it is reported; `None` if there are none.
    pub(super) fn best(&self, answer: &EngineAnswer) -> Option<f64> {
        let splits = answer.splits.iter();
        let evenness = splits.map(|(_, split)| self.evenness(split));
        evenness.max_by(f64::total_cmp)
    }

    fn evenness(&self, split: &[u8]) -> f64 {
        let team_of = self.choice.instance.teams_of_humans(split);
        self.reader.figures(&team_of, None).evenness
    }

    fn price(&self, without: f64) -> Price {
        Price {
            best: chance_of_weaker(without),
            free: self.reader.as_even_as(without).unwrap_or(without),
            budget: self.settings.wish_budget.get(),
        }
    }

    /// The answer of a search that is not exact, with the splits found before that grant as many wishes: it may have found
    /// none, or none as even.
    fn with_found_before(&self, mut answer: EngineAnswer, satisfied: usize) -> EngineAnswer {
        let before = self.choice.answer.splits.iter();
        let enough = before.filter(|(_, split)| self.choice.instance.satisfied(split) >= satisfied);
        let more: Vec<_> = enough
            .filter(|one| !answer.splits.contains(one))
            .cloned()
            .collect();
        answer.splits.extend(more);
        answer
            .splits
            .sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.cmp(other)));
        answer
    }
}

/// What became of the wishes for a team.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Wishes {
    /// The number of satisfied wishes.
    pub satisfied: usize,
    /// The best evenness if nobody had a wish; `None` if there was no time to find it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without: Option<f64>,
    /// The wishes that were not satisfied, in the caller's order of the humans.
    pub refused: Vec<RefusedWish>,
}

/// A wish for a team that was not satisfied.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RefusedWish {
    /// Id of the human.
    pub who: String,
    /// The team for which they wish, counted from 0.
    pub team: u8,
    /// Why it was not satisfied.
    #[serde(flatten)]
    pub why: WishRefusal,
}

/// Why a wish for a team was not satisfied.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum WishRefusal {
    /// They are pinned to another team.
    Pinned,
    /// Their party is on another team, where a friend must be or wishes to be.
    Party,
    /// No legal teams grant it beside the wishes that were satisfied.
    NoRoom,
    /// The teams would have been too uneven.
    Uneven {
        /// The best evenness of teams that grant it beside the wishes that were satisfied.
        evenness: f64,
    },
    /// There was no time to find out what it costs.
    Unknown,
}

impl fmt::Display for WishRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pinned => "they are pinned to another team",
            Self::Party => "their party is on another team",
            Self::NoRoom => "there is no room for it beside the wishes that are granted",
            Self::Uneven { .. } => "the teams would be too uneven",
            Self::Unknown => "there was no time to find out what it would cost",
        })
    }
}

/// What became of the wishes in these teams; `None` if nobody has one. Takes one search for each wish that was not satisfied,
/// and one without wishes.
pub(super) fn explain(
    problem: &Problem,
    settings: &Settings,
    seed: u64,
    team_of: &[u8],
    out_of_time: &mut dyn FnMut() -> bool,
) -> Option<Wishes> {
    let spec = problem.spec();
    if spec.wishes() == 0 || team_of.len() != spec.view.humans.len() {
        return None;
    }
    let together = |party: &Vec<usize>| party.iter().all(|&one| team_of[one] == team_of[party[0]]);
    let parties = || spec.parties.iter();
    let kept: Vec<bool> = parties()
        .map(|party| party.len() > 1 && together(party))
        .collect();
    let given_up = (0..kept.len()).filter(|&party| spec.parties[party].len() > 1 && !kept[party]);
    let choice = KeptParties {
        instance: AtomInstance::new(problem, settings, &kept, seed),
        answer: EngineAnswer::none(),
        given_up: given_up.collect(),
        without: None,
        least_even: 0.0,
    };
    let mut clock = StepClock::new(out_of_time);
    let reasons = WishReasons {
        trial: WishTrial::new(problem, settings, seed, &choice),
        choice: &choice,
        team_of,
    };
    let humans = spec.view.humans.iter().zip(team_of).enumerate();
    let mut refused = Vec::new();
    let mut satisfied = 0;
    for (who, (human, &team)) in humans {
        match human.wish {
            Some(wish) if wish == team => satisfied += 1,
            Some(wish) => refused.push(RefusedWish {
                who: human.id.clone(),
                team: wish,
                why: match human.pin {
                    Some(_) => WishRefusal::Pinned,
                    None => reasons.of(who, wish, &mut clock),
                },
            }),
            None => {}
        }
    }
    let known = refused
        .iter()
        .any(|one| matches!(one.why, WishRefusal::Uneven { .. }));
    Some(Wishes {
        satisfied,
        without: known.then(|| reasons.best(&mut clock, |_| {})).flatten(),
        refused,
    })
}

struct WishReasons<'a> {
    trial: WishTrial<'a>,
    choice: &'a KeptParties,
    team_of: &'a [u8],
}

impl WishReasons<'_> {
    /// Why a human is not on the team for which they wish.
    fn of(&self, who: usize, wish: u8, clock: &mut StepClock) -> WishRefusal {
        let mine = |atom: &Atom| atom.members.contains(&who);
        let Some(atom) = self.choice.instance.atoms.iter().find(|atom| mine(atom)) else {
            return WishRefusal::Unknown;
        };
        let pinned = atom.team.is_some();
        if pinned || self.satisfied_to(atom) > 0 {
            return WishRefusal::Party;
        }
        if clock.over() {
            return WishRefusal::Unknown;
        }
        let granting = |instance: &mut AtomInstance| {
            for atom in &mut instance.atoms {
                if mine(atom) {
                    atom.team = Some(wish);
                } else if self.satisfied_to(atom) > 0 {
                    atom.team = Some(self.team_of[atom.members[0]]);
                }
            }
        };
        match self.best(clock, granting) {
            Some(evenness) => WishRefusal::Uneven { evenness },
            None if clock.over() => WishRefusal::Unknown,
            None => WishRefusal::NoRoom,
        }
    }

    /// How many members of an atom are where they wish to be.
    fn satisfied_to(&self, atom: &Atom) -> u8 {
        atom.wishes[usize::from(self.team_of[atom.members[0]])]
    }

    /// The best evenness after this change to the instance; `None` if no legal split was found.
    fn best(&self, clock: &mut StepClock, change: impl FnOnce(&mut AtomInstance)) -> Option<f64> {
        let answer = self.trial.solve(clock, change).ok()?;
        self.trial.best(&answer)
    }
}
