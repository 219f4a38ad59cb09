//! The WHY lines of ADVANTAGE.

use std::fmt;

use super::{Advantage, Assistance, Basis, Help, Known};
use crate::domain::counted;

impl Advantage {
    /// Explains an answer made from `basis`.
    pub(super) fn explain_from(
        &self,
        basis: &Basis,
        answer: &Assistance,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        answer.explain_help(f)?;
        if let Some(parts) = answer.parts {
            let [heads, players, score] = parts.map(libm::exp);
            writeln!(
                f,
                "factor by the number of players {heads:.6}, by their strength {players:.6}, by the score {score:.6}"
            )?;
        }
        basis.explain(f)?;
        for (index, team) in self.teams.iter().enumerate() {
            writeln!(
                f,
                "team {index}: {}, weight {:.3}, share by weight {:.6}, strength {:.6}; score {}, factor by the score {:.6}",
                counted(team.players, "player"),
                team.weight,
                answer.prior[index],
                team.strength,
                team.score,
                libm::exp(answer.by_score.get(index).copied().unwrap_or(0.0))
            )?;
        }
        Ok(())
    }

    /// Explains an answer of version 0.1.
    pub(super) fn explain_first(
        &self,
        answer: &Assistance,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        answer.explain_help(f)?;
        for (index, team) in self.teams.iter().enumerate() {
            writeln!(
                f,
                "team {index}: {}, weight {:.3}, odds of the side {:.3}, share by weight {:.6}; score {}, share by score {:.6}",
                counted(team.players, "player"),
                team.weight,
                team.odds,
                answer.prior[index],
                team.score,
                answer.seen[index]
            )?;
        }
        if let Some((help, ago)) = self.last {
            writeln!(
                f,
                "previous help, {} s ago: {}",
                ago / 1_000,
                describe(Some(help).filter(|help| help.factor > 1.0))
            )?;
        }
        Ok(())
    }
}

impl Assistance {
    /// The lines that answers of all versions have.
    fn explain_help(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "help now: {}; target: {} ({:.6} before cap and dead band)",
            describe(self.help),
            describe(self.target),
            self.factor
        )?;
        writeln!(f, "trust in the scores: {:.6}", self.trust)
    }
}

impl Basis {
    fn explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.known {
            Known::Weights => writeln!(f, "nothing has been learned yet: the weights decide")?,
            Known::Strengths(outlook) => writeln!(
                f,
                "the standard deviation of the predicted edge is {:.6}",
                outlook.doubt
            )?,
        }
        if self.spread.matches > 0.0 {
            let usual = libm::sqrt(self.spread.square);
            writeln!(
                f,
                "final scores of such matches differ by {usual:.3} (root mean square)"
            )?;
        }
        Ok(())
    }
}

fn describe(help: Option<Help>) -> String {
    match help {
        Some(Help { team, factor }) => format!("factor {factor:.3} for team {team}"),
        None => "none".to_owned(),
    }
}
