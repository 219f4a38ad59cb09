//! The explanation of the chosen teams.

use std::fmt;

use super::{Candidate, Engine, Figures, Objective, Refusal, RefusedWish, Wishes};
use crate::domain::{Naming, amount, chance_of_weaker, counted};

/// The result if only one human changed teams.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct WhatIf {
    /// Key of the human.
    pub who: String,
    /// Their team, counted from 0.
    pub team: u8,
    /// The other team; with more than two teams, the one that gives the most even split.
    pub other: u8,
    /// How even the teams would be.
    #[serde(flatten)]
    pub figures: Figures,
}

/// The explanation of a pick as plain data; [`Display`](fmt::Display) formats it as lines.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Explanation {
    /// What candidates are ranked by: the ratio, or the chance to win.
    pub objective: Objective,
    /// Whether the chances of more than two teams decide, each of which has one against each other.
    pub of_pairs: bool,
    /// What team 0's side is worth, in the unit of the weights.
    pub handicap: f64,
    /// The algorithm that found the candidates.
    pub engine: Engine,
    /// Whether it is proven that no legal split with these parties is more even.
    pub exact: bool,
    /// An upper bound on the evenness of any legal split, 0 to 1.
    pub bound: f64,
    /// Number of legal combinations that the engine considered.
    pub considered: u128,
    /// Number of candidates that the pick was made from.
    pub candidates: usize,
    /// Whether some of them are less even than those that count as equal, so that nobody is always on the same side of the
    /// map.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drawn: bool,
    /// The sums of the teams' weights, where these are amounts that whoever asks has stated; otherwise empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sums: Vec<f64>,
    /// The candidate that was picked.
    pub pick: Candidate,
    /// The candidate with the highest quality other than the pick; `None` if there is no other.
    pub runner_up: Option<Candidate>,
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
    /// For each human, in the caller's order, the result if they alone were on another team.
    pub what_if: Vec<WhatIf>,
}

impl Explanation {
    /// The sums of stated weights in words; `None` where something else decides.
    pub fn sums(&self) -> Option<String> {
        let sums: Vec<String> = self.sums.iter().copied().map(amount).collect();
        let decide = || {
            format!(
                "the sums of the stated weights decide: {}",
                sums.join(" to ")
            )
        };
        (!sums.is_empty()).then(decide)
    }

    /// How even the picked teams are, in words: the chance before the ratio.
    pub fn headline(&self) -> String {
        self.figures(&self.pick.figures, &Naming::default())
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
            Objective::Chance if self.pick.figures.chance.is_some() => {
                format!("chance of the weaker team {chance:.6}")
            }
            Objective::Chance => format!("evenness {evenness:.6}"),
        }
    }

    /// Writes how many wishes for a team were granted, and one line for each that was not.
    fn write_wishes(
        &self,
        wishes: &Wishes,
        naming: &Naming,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let all = wishes.granted + wishes.refused.len();
        writeln!(f, "wishes for a team: {} of {all} granted", wishes.granted)?;
        for RefusedWish { who, team, why } in &wishes.refused {
            let why = self.refusal(wishes, *why);
            let (who, team) = (naming.player(who), naming.team(*team));
            writeln!(f, "wish not granted: {who} to {team}, {why}")?;
        }
        Ok(())
    }

    /// Why a wish was not granted, in words that name nobody.
    fn refusal(&self, wishes: &Wishes, why: Refusal) -> String {
        match (why, wishes.without) {
            (Refusal::Uneven { evenness }, Some(without)) => {
                let (with, without) = (self.evenness(evenness), self.evenness(without));
                let beside = match wishes.granted {
                    0 => "",
                    _ => "beside the wishes that are granted, ",
                };
                format!("{beside}{why}: {with} at best, instead of {without} without any wish")
            }
            _ => why.to_string(),
        }
    }

    /// Why each of the wishes was not granted that were not, in words that name nobody.
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
            if value > 0.0 {
                writeln!(f, "{what}: {name} {value:.6} costs {cost:.4}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(&Naming::default(), f)
    }
}

impl Explanation {
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
        let figures = &self.pick.figures;
        if let Some(sums) = self.sums() {
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
            counted(self.candidates, "candidate")
        )?;
        if self.drawn {
            writeln!(
                f,
                "the sides are drawn, also where that is less even: otherwise somebody would always be on the same side"
            )?;
        }
        self.describe("picked", &self.pick, naming, f)?;
        if let Some(other) = &self.runner_up {
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
        for what in &self.what_if {
            let (who, other) = (naming.player(&what.who), naming.team(what.other));
            let figures = self.figures(&what.figures, naming);
            writeln!(f, "with {who} on {other} instead: {figures}")?;
        }
        Ok(())
    }
}
