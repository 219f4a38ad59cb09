//! The solution: the picked candidate, its sums and bots, and the explanation.

use std::cmp::Reverse;

use super::{
    Candidate, Engine, Explanation, Problem, Settings, WhatIf,
    balance::Evenness,
    instance::{Instance, TeamTally},
    label::Labels,
    party::KeptParties,
    pick::pick,
    terms::Scorer,
};

/// By how much the rounding of evenness can differ.
const ROUNDING: f64 = 1e-12;

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
    /// The explanation of the pick.
    pub explanation: Explanation,
}

impl Solution {
    /// How even the picked teams are by the objective, 0 to 1.
    pub fn evenness(&self) -> f64 {
        self.candidates[self.picked].evenness
    }

    pub(super) fn of(
        problem: &Problem,
        settings: &Settings,
        seed: u64,
        choice: &KeptParties,
    ) -> Self {
        let KeptParties {
            instance, answer, ..
        } = choice;
        let current = current(problem, instance);
        let mut candidates = candidates(problem, settings, seed, choice, current.as_ref());
        let picked = pick(&mut candidates, settings, seed);
        let chosen = candidates[picked].clone();
        let TeamTally { sums, humans, size } = instance.tally(&chosen.team_of);
        let others = candidates
            .iter()
            .enumerate()
            .filter(|&(index, _)| index != picked);
        let runner_up = others
            .max_by(|(_, a), (_, b)| a.log_quality().total_cmp(&b.log_quality()))
            .map(|(_, candidate)| candidate.clone());
        let keys = |&party: &usize| {
            let members = problem.spec().parties[party].iter();
            members
                .map(|&human| problem.spec().humans[human].key.clone())
                .collect()
        };
        let now = current.map(|(_, team_of)| instance.tally(&team_of));
        let explanation = Explanation {
            objective: settings.objective,
            handicap: problem.spec().handicap,
            engine: answer.engine,
            exact: answer.exact,
            bound: answer.bound,
            considered: answer.considered,
            candidates: candidates.len(),
            pick: chosen.clone(),
            runner_up,
            current_ratio: now.as_ref().map(TeamTally::ratio),
            current_gap: now.map(|now| now.gap(instance)),
            given_up: choice.given_up.iter().map(keys).collect(),
            ratio_without_parties: choice.without,
            what_if: what_if(problem, instance, &chosen.team_of),
        };
        Self {
            bots: humans.iter().map(|humans| size - humans).collect(),
            sums: sums
                .into_iter()
                .map(|sum| instance.grid.value(sum))
                .collect(),
            ratio: chosen.ratio,
            gap: chosen.gap,
            team_of: chosen.team_of,
            exact: answer.exact,
            bound: answer.bound,
            engine: answer.engine,
            considered: answer.considered,
            candidates,
            picked,
            explanation,
        }
    }
}

/// The current teams and their evenness, if every human has a team and the teams are legal.
fn current(problem: &Problem, instance: &Instance) -> Option<(Evenness, Vec<u8>)> {
    let team = |human: &super::WeightedHuman| human.current.map(|team| team as u8);
    let team_of: Vec<u8> = problem
        .spec()
        .humans
        .iter()
        .map(team)
        .collect::<Option<_>>()?;
    let split = instance.split_of_humans(&team_of)?;
    Some((instance.balance(&split)?, team_of))
}

/// The splits found, except those less even than the current teams or than tolerated, as candidates.
fn candidates(
    problem: &Problem,
    settings: &Settings,
    seed: u64,
    choice: &KeptParties,
    current: Option<&(Evenness, Vec<u8>)>,
) -> Vec<Candidate> {
    let KeptParties {
        instance, answer, ..
    } = choice;
    let scorer = Scorer::new(problem, instance);
    let labels = Labels::new(problem, instance, seed);
    let candidate = |balance: Evenness, mut team_of: Vec<u8>| {
        labels.assign(&mut team_of);
        let terms = scorer.terms(&team_of, balance);
        Candidate::new(instance, team_of, balance, terms, &settings.factors)
    };
    let best = answer.splits.first().map_or(0.0, |(b, _)| b.evenness());
    let tolerance = problem.spec().tolerance;
    let least = tolerance.map_or(0.0, |tolerance| tolerance.least(best) - ROUNDING);
    let splits = answer.splits.iter();
    let kept = splits
        .filter(|(b, _)| current.is_none_or(|(now, _)| b >= now))
        .filter(|(b, _)| b.evenness() >= least);
    let mut candidates: Vec<Candidate> = kept
        .map(|(b, split)| candidate(*b, instance.teams_of_humans(split)))
        .collect();
    // A search that is not exact can miss the current teams.
    if let (Some((balance, team_of)), true) = (current, candidates.is_empty()) {
        candidates.push(candidate(*balance, team_of.clone()));
    }
    candidates
}

/// For each human, the ratio and the gap if they alone changed teams. O(humans² × teams).
fn what_if(problem: &Problem, instance: &Instance, team_of: &[u8]) -> Vec<WhatIf> {
    let mut moved = team_of.to_vec();
    let mut what_ifs = Vec::with_capacity(team_of.len());
    for (human, &team) in team_of.iter().enumerate() {
        let others = (0..problem.spec().teams as u8).filter(|&other| other != team);
        let best = others.map(|other| {
            moved[human] = other;
            let tally = instance.tally(&moved);
            let balance = instance.measure.of(tally.counted(instance));
            (balance, Reverse(other), tally)
        });
        let best = best.max_by_key(|&(balance, other, _)| (balance, other));
        if let Some((_, Reverse(other), tally)) = best {
            let who = problem.spec().humans[human].key.clone();
            what_ifs.push(WhatIf {
                who,
                team,
                other,
                ratio: tally.ratio(),
                gap: tally.gap(instance),
            });
        }
        moved[human] = team;
    }
    what_ifs
}
