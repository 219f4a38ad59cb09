//! The WHY lines of ADVANTAGE.

use std::fmt;

use super::{Advantage, Assistance, Basis, Help, Known};
use evenkeel_model::counted;

impl Advantage {
    /// Writes the help, the parts of its factor, and the teams.
    pub(super) fn explain_answer(
        &self,
        answer: &Assistance,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        writeln!(
            f,
            "help now: {}; target: {} ({:.6} before cap and dead band)",
            describe(answer.help),
            describe(answer.target),
            answer.factor
        )?;
        writeln!(f, "trust in the scores: {:.6}", answer.trust)?;
        let [heads, players, score] = answer.parts.map(libm::exp);
        writeln!(
            f,
            "factor by the number of players {heads:.6}, by their strength {players:.6}, by the score {score:.6}"
        )?;
        self.basis.explain(f)?;
        for (index, team) in self.teams.iter().enumerate() {
            writeln!(
                f,
                "team {index}: {}, weight {:.3}, share by weight {:.6}, strength {:.6}; score {}, factor by the score {:.6}",
                counted(team.players, "player"),
                team.weight,
                answer.prior[index],
                team.strength,
                team.score,
                libm::exp(answer.by_score[index])
            )?;
        }
        Ok(())
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
