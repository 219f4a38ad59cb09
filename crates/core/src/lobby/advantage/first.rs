//! The formula of version 0.1, for decisions that it stored.
//!
//! `W` is a team's weight and `o` its side's odds. `P` is its score, raised by the same amount for all
//! teams so that none is negative:
//!
//! ```text
//! prior  q = W·o / Σ W·o                        the share by weight
//! seen   s = (P + 1) / Σ (P + 1)                the share by score
//! share  b = q^(1−τ) · s^τ                      τ: trust in the score
//! factor f = max b / min b, for the team of min b
//! ```
//!
//! The answer approaches f no faster than the slew limit allows, measured in ln f.

use super::{Advantage, Assistance, Help, formula::log};

impl Advantage {
    /// The answer of version 0.1.
    pub(super) fn first_answer(&self) -> Assistance {
        let prior = self.shares(|team| team.weight.max(0.0) * team.odds.max(0.0));
        let lowest = self.teams.iter().map(|team| team.score).fold(0.0, f64::min);
        let seen = self.shares(|team| team.score - lowest + 1.0);
        let trust = self.trust();
        let logs = self.playing().map(|team| {
            let pooled = (1.0 - trust) * log(prior[team]) + trust * log(seen[team]);
            (team as u8, pooled)
        });
        let logs: Vec<(u8, f64)> = logs.collect();
        let weakest = logs
            .iter()
            .copied()
            .reduce(|a, b| if b.1 < a.1 { b } else { a });
        let most = logs
            .iter()
            .map(|(_, log)| *log)
            .fold(f64::NEG_INFINITY, f64::max);
        let (team, gap) = weakest.map_or((0, 0.0), |(team, least)| (team, most - least));
        let target = self.target(team, gap);
        Assistance {
            help: self.slewed(target),
            target,
            prior,
            seen,
            trust,
            factor: libm::exp(gap),
            by_score: Vec::new(),
            parts: None,
        }
    }

    /// The help between the last answer and `target` that the slew limit allows. The first answer of a
    /// game is the target itself.
    fn slewed(&self, target: Option<Help>) -> Option<Help> {
        let Some((last, ago)) = self.last else {
            return target;
        };
        let step = log(self.settings.slew.get()) * (ago as f64 / 60_000.0);
        let from = log(last.factor);
        let to = target.map_or(0.0, |target| log(target.factor));
        match target {
            Some(target) if target.team == last.team => {
                help(last.team, from + (to - from).clamp(-step, step))
            }
            // Help for one team ends before another's begins.
            _ if step < from => help(last.team, from - step),
            Some(target) => help(target.team, to.min(step - from)),
            None => None,
        }
    }
}

/// Help with ln f = `log`; `None` if the factor would be written as 1.000.
fn help(team: u8, log: f64) -> Option<Help> {
    let factor = libm::exp(log);
    (factor >= 1.0005).then_some(Help { team, factor })
}
