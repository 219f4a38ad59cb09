//! The solution: the candidates and the pick among them, as data. [`Display`](std::fmt::Display) explains it.

use std::fmt;

use super::{
    Problem, ProblemSpec, Settings,
    balance::Evenness,
    instance::{AtomInstance, TeamTally},
    pick::{Candidate, Figures, WhatIf, pick, pick_this},
    reader::{Candidates, KeptParties, SplitReader},
    settings::{Engine, Objective},
    wishes,
    wishes::{RefusedWish, WishRefusal, Wishes},
};
use evenkeel_model::{
    team_names::Naming,
    text::{amount, counted},
    win_model::chance_of_weaker,
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
    /// Whether it was picked because these teams are there already.
    #[serde(skip)]
    pub kept: bool,
    /// For each human, in the caller's order, the result if they alone were on another team.
    pub trials: Vec<WhatIf>,
    /// What candidates are ranked by: the ratio, or the chance to win.
    pub objective: Objective,
    /// Whether the chances of more than two teams decide, each of which has one against each other.
    pub of_pairs: bool,
    /// Whether the weights are amounts that whoever asks has stated, so that the sums are the reason.
    pub amounts: bool,
    /// Whether some candidates are less even than those that count as equal, so that nobody is always on the same side of
    /// the map.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drawn: bool,
    /// How even the current teams are, when those are legal.
    pub current: Option<Figures>,
    /// The parties that were given up, each as its members' keys.
    pub given_up: Vec<Vec<String>>,
    /// The best evenness without keeping any party; `None` if it was not needed to decide which
    /// parties to keep.
    pub without_parties: Option<f64>,
    /// What became of the wishes for a team; `None` if nobody had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wishes: Option<Wishes>,
}

impl Solution {
    /// The candidate that was picked.
    pub fn pick(&self) -> &Candidate {
        &self.candidates[self.picked]
    }

    /// The candidate with the highest quality beside the pick; `None` if there is no other.
    pub fn runner_up(&self) -> Option<&Candidate> {
        let others = self.candidates.iter().enumerate();
        let others = others.filter(|(at, _)| *at != self.picked);
        let best = others.max_by(|(_, a), (_, b)| a.log_quality().total_cmp(&b.log_quality()));
        best.map(|(_, candidate)| candidate)
    }
}

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
        let reader = SplitReader::new(problem, settings, choice);
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
fn bound(reader: &SplitReader<'_>, choice: &KeptParties, list: &[Candidate]) -> f64 {
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
fn current(problem: &Problem, instance: &AtomInstance) -> Option<(Evenness, Vec<u8>)> {
    let team_of = problem.spec().present()?;
    let split = instance.split_of_humans(&team_of)?;
    Some((instance.balance_of_any(&split)?, team_of))
}

impl Solution {
    /// The sums of the teams' weights, where these are amounts that whoever asks has stated; otherwise empty.
    pub fn stated_sums(&self) -> &[f64] {
        match self.amounts {
            true => &self.sums,
            false => &[],
        }
    }

    /// The sums of stated weights in words; `None` where something else decides.
    pub fn decided_by(&self) -> Option<String> {
        let sums: Vec<String> = self.stated_sums().iter().copied().map(amount).collect();
        let sums = (!sums.is_empty()).then(|| sums.join(" to "))?;
        Some(format!("the sums of the stated weights decide: {sums}"))
    }

    /// How even the picked teams are, in words: the chance before the ratio.
    pub fn headline(&self) -> String {
        self.figures(&self.pick().figures, &Naming::default())
    }

    /// Formats how even teams are by the objective: the chance before the ratio.
    fn figures(&self, figures: &Figures, naming: &Naming) -> String {
        let Figures { ratio, gap, .. } = figures;
        match (self.objective, figures.chance) {
            (Objective::Ratio, _) => format!("ratio {ratio:.6}"),
            (Objective::Chance, Some(chance)) => {
                let first = naming.team(0_usize);
                format!("chance of {first} to win {chance:.6}, ratio {ratio:.6}")
            }
            (Objective::Chance, None) if self.of_pairs => {
                let chance = chance_of_weaker(figures.evenness);
                format!(
                    "chance of the weakest team against the strongest {chance:.6}, ratio {ratio:.6}"
                )
            }
            (Objective::Chance, None) => format!("gap {gap:.6}, ratio {ratio:.6}"),
        }
    }

    /// Formats an evenness: the ratio, or the chance of the weaker team.
    pub fn evenness(&self, evenness: f64) -> String {
        let chance = chance_of_weaker(evenness);
        match self.objective {
            Objective::Ratio => format!("ratio {evenness:.6}"),
            Objective::Chance if self.of_pairs => {
                format!("chance of the weakest team against the strongest {chance:.6}")
            }
            Objective::Chance if self.pick().figures.chance.is_some() => {
                format!("chance of the weaker team {chance:.6}")
            }
            Objective::Chance => format!("evenness {evenness:.6}"),
        }
    }

    /// Writes how many wishes for a team were satisfied, and one line for each that was not.
    fn write_wishes(
        &self,
        wishes: &Wishes,
        naming: &Naming,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let all = wishes.satisfied + wishes.refused.len();
        writeln!(
            f,
            "wishes for a team: {} of {all} granted",
            wishes.satisfied
        )?;
        for RefusedWish { who, team, why } in &wishes.refused {
            let why = self.refusal(wishes, *why);
            let (who, team) = (naming.player(who), naming.team(*team));
            writeln!(f, "wish not granted: {who} to {team}, {why}")?;
        }
        Ok(())
    }

    /// Why a wish was not satisfied, in words that name nobody.
    fn refusal(&self, wishes: &Wishes, why: WishRefusal) -> String {
        match (why, wishes.without) {
            (WishRefusal::Uneven { evenness }, Some(without)) => {
                let (with, without) = (self.evenness(evenness), self.evenness(without));
                let beside = match wishes.satisfied {
                    0 => "",
                    _ => "beside the wishes that are granted, ",
                };
                format!("{beside}{why}: {with} at best, instead of {without} without any wish")
            }
            _ => why.to_string(),
        }
    }

    /// Why each of the wishes was not satisfied that were not, in words that name nobody.
    pub fn refusals(&self) -> Vec<String> {
        let wishes = self.wishes.iter();
        let refused = wishes.flat_map(|all| all.refused.iter().map(move |one| (all, one.why)));
        refused.map(|(all, why)| self.refusal(all, why)).collect()
    }

    /// Writes one line for the candidate, and one for each term that is not 0 or costs something.
    fn describe(
        &self,
        what: &str,
        candidate: &Candidate,
        naming: &Naming,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let Candidate {
            cost,
            quality,
            probability,
            ..
        } = candidate;
        writeln!(
            f,
            "{what}: {}, cost {cost:.4}, quality {quality:.6}, probability of this pick {:.2} %",
            self.figures(&candidate.figures, naming),
            probability * 100.0
        )?;
        for ((name, value), (_, cost)) in candidate
            .terms
            .named()
            .into_iter()
            .zip(candidate.costs.named())
        {
            if cost > 0.0 {
                writeln!(f, "{what}: {name} {value:.6} costs {cost:.4}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Solution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(&Naming::default(), f)
    }
}

impl Solution {
    /// Writes the explanation as lines, with these names.
    ///
    /// # Errors
    /// Fails only if the formatter does.
    pub fn write(&self, naming: &Naming, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let proof = if self.exact {
            "exact"
        } else {
            "not proven best"
        };
        let figures = &self.pick().figures;
        if let Some(sums) = self.decided_by() {
            writeln!(f, "{sums}")?;
        }
        match self.objective {
            Objective::Ratio => write!(f, "ratio {:.6}, of ", figures.ratio)?,
            Objective::Chance => {
                writeln!(f, "{}", self.figures(figures, naming))?;
                write!(f, "{}, of ", self.evenness(figures.evenness))?;
            }
        }
        let by_chance = self.objective == Objective::Chance;
        let bound = match by_chance && (self.of_pairs || figures.chance.is_some()) {
            true => chance_of_weaker(self.bound),
            false => self.bound,
        };
        writeln!(
            f,
            "at most {bound:.6} ({proof}); engine {}, {}, {}",
            self.engine,
            counted(self.considered, "combination"),
            counted(self.candidates.len(), "candidate")
        )?;
        if self.drawn {
            writeln!(
                f,
                "the sides are drawn, also where that is less even: otherwise somebody would always be on the same side"
            )?;
        }
        self.describe("picked", self.pick(), naming, f)?;
        if let Some(other) = self.runner_up() {
            self.describe("runner-up", other, naming, f)?;
        }
        if let Some(current) = &self.current {
            writeln!(f, "current teams: {}", self.figures(current, naming))?;
        }
        for party in &self.given_up {
            writeln!(f, "party given up: {}", naming.players(party))?;
        }
        if let Some(evenness) = self.without_parties {
            writeln!(f, "without parties: {}", self.evenness(evenness))?;
        }
        if let Some(wishes) = &self.wishes {
            self.write_wishes(wishes, naming, f)?;
        }
        for what in &self.trials {
            let (who, other) = (naming.player(&what.who), naming.team(what.other));
            let figures = self.figures(&what.figures, naming);
            writeln!(f, "with {who} on {other} instead: {figures}")?;
        }
        Ok(())
    }
}
