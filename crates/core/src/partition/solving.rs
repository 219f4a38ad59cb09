//! How the solution is made of the splits that the engine has found.

use super::{
    Candidate, Problem, ProblemSpec, Settings, Solution,
    balance::Evenness,
    instance::{Instance, TeamTally},
    party::KeptParties,
    pick::{pick, pick_this},
    reader::{Candidates, Reader},
    wishes,
};

impl Solution {
    /// Explains which wishes for a team these teams grant. The problem may be another one than the teams were chosen for,
    /// of the same humans.
    pub fn explain_wishes(
        &mut self,
        problem: &Problem,
        settings: &Settings,
        seed: u64,
        out_of_time: &mut dyn FnMut() -> bool,
    ) {
        self.wishes = wishes::explain(problem, settings, seed, &self.team_of, out_of_time);
    }

    pub(super) fn of(
        problem: &Problem,
        settings: &Settings,
        seed: u64,
        choice: &KeptParties,
    ) -> Self {
        let answer = &choice.answer;
        let reader = Reader::new(problem, settings, choice);
        let current = current(problem, &choice.instance);
        let legal = current
            .as_ref()
            .filter(|(_, team_of)| choice.can_be(team_of));
        let Candidates {
            mut list,
            least,
            drawn,
        } = reader.candidates(settings, seed, legal);
        let mut picked = pick(&mut list, settings, seed);
        let stay = reader.stays(&list[picked], least);
        let kept = stay.is_some();
        if let Some(present) = stay {
            picked = pick_this(&mut list, present);
        }
        let chosen = list[picked].clone();
        let TeamTally { humans, size, .. } = choice.instance.tally(&chosen.team_of);
        let spec = problem.spec();
        Self {
            bots: humans.iter().map(|humans| size - humans).collect(),
            sums: reader.sums(&chosen.team_of),
            ratio: chosen.figures.ratio,
            gap: chosen.figures.gap,
            chance: chosen.figures.chance,
            least,
            exact: reader.is_proven(),
            bound: bound(&reader, choice, &list),
            engine: answer.engine,
            considered: answer.considered,
            candidates: list,
            picked,
            kept,
            trials: reader.trials(&chosen.team_of),
            objective: settings.objective,
            of_pairs: reader.model.is_some() && spec.teams() > 2,
            amounts: spec.amounts,
            drawn,
            current: current.map(|(balance, team_of)| reader.figures(&team_of, Some(balance))),
            given_up: given_up(spec, choice, &chosen.team_of),
            without_parties: choice.without,
            wishes: None,
            team_of: chosen.team_of,
        }
    }
}

/// The most evenness that any split can have: that of the best candidate if all splits were compared exactly.
fn bound(reader: &Reader<'_>, choice: &KeptParties, list: &[Candidate]) -> f64 {
    let best = list.iter().map(|candidate| candidate.figures.evenness);
    match reader.is_exact() {
        true if reader.is_proven() => best.fold(0.0, f64::max),
        true => 1.0,
        false => choice.answer.bound,
    }
}

/// The members of the parties that are given up, and of those that are not together on these teams.
fn given_up(spec: &ProblemSpec, choice: &KeptParties, team_of: &[u8]) -> Vec<Vec<String>> {
    let apart = |party: &[usize]| party.iter().any(|&who| team_of[who] != team_of[party[0]]);
    let others = spec.parties.iter().enumerate();
    let others = others.filter(|(at, party)| !choice.given_up.contains(at) && apart(party));
    let all = choice
        .given_up
        .iter()
        .copied()
        .chain(others.map(|(at, _)| at));
    let key = |&who: &usize| spec.view.humans[who].id.clone();
    all.map(|at| spec.parties[at].iter().map(key).collect())
        .collect()
}

/// The current teams and their evenness, if every human has a team and the teams are legal.
fn current(problem: &Problem, instance: &Instance) -> Option<(Evenness, Vec<u8>)> {
    let team_of = problem.spec().present()?;
    let split = instance.split_of_humans(&team_of)?;
    Some((instance.balance_of_any(&split)?, team_of))
}
