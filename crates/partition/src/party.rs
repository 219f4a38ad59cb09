//! Limits how much evenness keeping parties together may cost.

use super::{
    Objective, Problem, ProblemError, Settings,
    balance::Evenness,
    engine::{self, EngineAnswer, EngineOrder, StepClock},
    instance::{AtomInstance, lot},
};

/// Which parties are kept, and the splits that keep them.
pub(super) struct KeptParties {
    pub instance: AtomInstance,
    pub answer: EngineAnswer,
    /// Indices of the parties given up, in the order of giving up.
    pub given_up: Vec<usize>,
    /// The best evenness without any party, if it was computed.
    pub without: Option<f64>,
    /// The least evenness that satisfied wishes for a team may cost; 0 if nobody has one.
    pub least_even: f64,
}

impl KeptParties {
    /// Whether teams grant as many wishes as the splits do.
    pub(super) fn can_be(&self, team_of: &[u8]) -> bool {
        let split = self.instance.split_of_humans(team_of);
        split.is_some_and(|split| self.instance.satisfied(&split) >= self.instance.least_satisfied)
    }
}

/// Keeps all parties if that costs no more evenness than the budget. Otherwise gives up one party
/// at a time, always the one whose loss helps most, until the rest costs no more than the budget.
/// Needs one search for all candidates per attempt, and at most parties² / 2 searches for one
/// candidate.
///
/// # Errors
/// Fails if the forced engine cannot solve the problem.
pub(super) fn choose(
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
pub(super) fn keep(problem: &Problem, settings: &Settings, given_up: &[usize]) -> usize {
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
