//! The explanation of a solution, as lines.

use std::fmt;

use super::{Candidate, Figures, Objective, Refusal, RefusedWish, Solution, Wishes};
use crate::domain::{Naming, amount, chance_of_weaker, counted};

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
