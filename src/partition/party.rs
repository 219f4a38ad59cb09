//! How much balance keeping parties together may cost.

use super::{
    Problem, ProblemError, Settings,
    balance::Evenness,
    clock::StepClock,
    engine::{self, EngineAnswer, Order},
    instance::{Instance, chance},
};

/// Which parties are kept, and the splits that keep them.
pub(super) struct KeptParties {
    pub instance: Instance,
    pub answer: EngineAnswer,
    /// Parties given up, in the order in which they were.
    pub given_up: Vec<usize>,
    /// The best evenness without any party, where it was asked for.
    pub without: Option<f64>,
}

/// Keeps all parties while that costs no more evenness than the budget; past it, gives up the one
/// whose loss helps most, and tries again. At most parties² / 2 runs for one candidate beside
/// those for all.
///
/// # Errors
/// When the engine that was asked for can't do it.
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
        let (instance, answer) = trial.run(&kept, settings.top.as_usize())?;
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
            });
        }
        let party = trial.least_worth(&kept)?;
        kept[party] = false;
        given_up.push(party);
    }
}

/// What is tried, again and again.
struct PartyTrial<'a, 'c> {
    problem: &'a Problem,
    settings: &'a Settings,
    seed: u64,
    clock: &'a mut StepClock<'c>,
}

impl PartyTrial<'_, '_> {
    /// The best splits with the parties `kept`.
    fn run(
        &mut self,
        kept: &[bool],
        keep: usize,
    ) -> Result<(Instance, EngineAnswer), ProblemError> {
        let instance = Instance::new(self.problem, self.settings, kept, self.seed);
        let order = Order {
            keep,
            seed: self.seed,
            engine: self.settings.engine,
            memory: self.settings.memory_mb.bytes(),
        };
        let answer = engine::solve(&instance, order, self.clock)?;
        Ok((instance, answer))
    }

    /// The best evenness when none of the `parties` is kept.
    fn without(&mut self, parties: usize) -> Result<f64, ProblemError> {
        let (_, answer) = self.run(&vec![false; parties], 1)?;
        Ok(best(&answer).map_or(0.0, Evenness::evenness))
    }

    /// Of the parties `kept`, of which there are some, the one whose loss helps most: by the
    /// balance then, or without the time for trying by its size.
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
                chance(self.problem, members, self.seed),
                party,
            ));
        }
        Ok(options.into_iter().max().map_or(0, |(.., party)| party))
    }
}

fn best(answer: &EngineAnswer) -> Option<Evenness> {
    answer.splits.first().map(|(balance, _)| *balance)
}
