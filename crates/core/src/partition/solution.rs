//! The solution: the picked candidate, its sums and bots, and the explanation.

use super::{
    Candidate, Engine, Explanation, Problem, ProblemSpec, Settings,
    balance::Evenness,
    instance::{Instance, TeamTally},
    party::KeptParties,
    pick::{pick, pick_this},
    reader::{Candidates, Reader},
    wishes,
};

/// The chosen teams and their explanation.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Solution {
    /// Each human's team, counted from 0, in the caller's order.
    pub team_of: Vec<u8>,
    /// Number of bots to add to each team.
    pub bots: Vec<usize>,
    /// Each team's weight, bots included; a kept party counts its multiple.
    pub sums: Vec<f64>,
    /// The smallest sum over the largest, 0 to 1; 1 if all are 0.
    pub ratio: f64,
    /// The largest sum minus the smallest, with the handicap added to team 0's.
    pub gap: f64,
    /// The chance that team 0 wins, 0 to 1; `None` without strengths, and for more than two teams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// The evenness from which on a split may be picked.
    #[serde(skip)]
    pub least: f64,
    /// Whether it is proven that no legal split with these parties is more even than the best
    /// candidate.
    pub exact: bool,
    /// An upper bound on the evenness of any legal split; equal to the best candidate's if `exact`.
    pub bound: f64,
    /// The algorithm that found the candidates.
    pub engine: Engine,
    /// Number of legal combinations that the engine considered.
    pub considered: u128,
    /// The splits that the pick was made from, most even first.
    pub candidates: Vec<Candidate>,
    /// Index of the candidate that was picked.
    pub picked: usize,
    /// Whether it was picked because these are the current teams.
    #[serde(skip)]
    pub kept: bool,
    /// The explanation of the pick.
    pub explanation: Explanation,
}

impl Solution {
    /// How even the picked teams are by the objective, 0 to 1.
    pub fn evenness(&self) -> f64 {
        self.candidates[self.picked].figures.evenness
    }

    /// Explains which wishes for a team these teams grant. The problem may be another one than the teams were chosen for,
    /// of the same humans.
    pub fn explain_wishes(
        &mut self,
        problem: &Problem,
        settings: &Settings,
        seed: u64,
        out_of_time: &mut dyn FnMut() -> bool,
    ) {
        self.explanation.wishes =
            wishes::explain(problem, settings, seed, &self.team_of, out_of_time);
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
            .filter(|(_, team_of)| choice.can_be(team_of) && !meet(problem.spec(), team_of));
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
        let runner_up = runner_up(&list, picked);
        let bound = bound(&reader, choice, &list);
        let sums = reader.sums(&chosen.team_of);
        let explanation = Explanation {
            objective: settings.objective,
            of_pairs: reader.strengths.is_some() && problem.spec().teams > 2,
            handicap: problem.spec().handicap,
            engine: answer.engine,
            exact: answer.exact,
            bound,
            considered: answer.considered,
            candidates: list.len(),
            drawn,
            sums: match problem.spec().amounts {
                true => sums.clone(),
                false => Vec::new(),
            },
            pick: chosen.clone(),
            runner_up,
            current: current.map(|(balance, team_of)| reader.figures(&team_of, Some(balance))),
            given_up: given_up(problem.spec(), choice, &chosen.team_of),
            without_parties: choice.without,
            wishes: None,
            what_if: reader.what_if(&chosen.team_of),
        };
        Self {
            bots: humans.iter().map(|humans| size - humans).collect(),
            sums,
            kept,
            ratio: chosen.figures.ratio,
            gap: chosen.figures.gap,
            chance: chosen.figures.chance,
            team_of: chosen.team_of,
            least,
            exact: answer.exact,
            bound,
            engine: answer.engine,
            considered: answer.considered,
            candidates: list,
            picked,
            explanation,
        }
    }
}

/// The most evenness that any split can have: that of the best candidate if all splits were compared exactly.
fn bound(reader: &Reader<'_>, choice: &KeptParties, list: &[Candidate]) -> f64 {
    let best = list.iter().map(|candidate| candidate.figures.evenness);
    match reader.is_exact() {
        true if choice.answer.exact => best.fold(0.0, f64::max),
        true => 1.0,
        false => choice.answer.bound,
    }
}

/// Whether somebody is on one team with a human whom they avoid: they can get away only if less even teams are
/// candidates, too.
fn meet(spec: &ProblemSpec, team_of: &[u8]) -> bool {
    let mut avoid = spec.avoid.iter();
    avoid.any(|&(one, other)| team_of[one] == team_of[other])
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
    let key = |&who: &usize| spec.humans[who].key.clone();
    all.map(|at| spec.parties[at].iter().map(key).collect())
        .collect()
}

/// The best candidate beside the one that is picked.
fn runner_up(list: &[Candidate], picked: usize) -> Option<Candidate> {
    let others = list.iter().enumerate().filter(|(at, _)| *at != picked);
    let best = others.max_by(|(_, a), (_, b)| a.log_quality().total_cmp(&b.log_quality()));
    best.map(|(_, candidate)| candidate.clone())
}

/// The current teams and their evenness, if every human has a team and the teams are legal.
fn current(problem: &Problem, instance: &Instance) -> Option<(Evenness, Vec<u8>)> {
    let team_of = problem.spec().present()?;
    let split = instance.split_of_humans(&team_of)?;
    Some((instance.balance_of_any(&split)?, team_of))
}
