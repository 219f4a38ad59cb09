//! The formula of ADVANTAGE.

use super::{Advantage, Assistance, Help, TeamState};

impl Advantage {
    /// The teams that have players.
    fn playing(&self) -> impl Iterator<Item = usize> {
        (0..self.teams.len()).filter(|&team| self.teams[team].players > 0)
    }

    /// Each playing team's share of the sum of `value`; equal shares if the sum is 0.
    fn shares(&self, value: impl Fn(&TeamState) -> f64) -> Vec<f64> {
        let sum: f64 = self.playing().map(|team| value(&self.teams[team])).sum();
        let equal = 1.0 / self.playing().count().max(1) as f64;
        let share = |team: &TeamState| match team.players {
            0 => 0.0,
            _ if sum > 0.0 => value(team) / sum,
            _ => equal,
        };
        self.teams.iter().map(share).collect()
    }

    /// Trust in the scores, 0 to 1.
    fn trust(&self) -> f64 {
        match self.scored {
            true => libm::pow(self.done(), self.settings.trust.get()),
            false => 0.0,
        }
    }

    /// The help for a factor whose logarithm is `gap`, within the cap and the dead band.
    fn target(&self, team: u8, gap: f64) -> Option<Help> {
        let factor = libm::exp(gap).min(self.settings.max.get());
        (factor > 1.0 && factor >= self.settings.dead_band.get()).then_some(Help { team, factor })
    }

    /// The help to give now.
    pub(super) fn assist(&self) -> Assistance {
        let basis = &self.basis;
        let trust = self.trust();
        let wanted = self.by_score(trust);
        let step = log(self.settings.slew.get()) * (basis.ago as f64 / 60_000.0);
        let slewed = wanted.iter().enumerate().map(|(team, &wanted)| {
            let last = basis.last.get(team).copied().unwrap_or(0.0);
            // Two teams move apart at twice the speed of one.
            last + (wanted - last).clamp(-step / 2.0, step / 2.0)
        });
        let by_score: Vec<f64> = slewed.collect();
        let (team, parts) = self.weakest(trust, &by_score);
        let (to, target) = self.weakest(trust, &wanted);
        let gap = parts.iter().sum::<f64>();
        Assistance {
            help: self.target(team, gap),
            target: self.target(to, target.iter().sum()),
            prior: self.shares(|team| team.weight.max(0.0)),
            trust,
            factor: libm::exp(gap),
            by_score,
            parts,
        }
    }

    /// For each team, the logarithm of the factor by which its score makes it stronger. It depends
    /// on the lead over the mean score of the teams that play.
    fn by_score(&self, trust: f64) -> Vec<f64> {
        let playing = self.playing().count().max(1) as f64;
        let scores = || self.playing().map(|team| self.teams[team].score);
        let mean = scores().sum::<f64>() / playing;
        // For two teams this is the sum of their scores; each leads the mean by half the
        // difference.
        let sum = 2.0 * scores().map(f64::abs).sum::<f64>() / playing;
        let score = |team: &TeamState| match team.players {
            0 => 0.0,
            _ => {
                trust
                    * self
                        .basis
                        .spread
                        .stronger(team.score - mean, sum, self.done())
            }
        };
        self.teams.iter().map(score).collect()
    }

    /// Finds the pair of teams with the largest factor of one over the other. Returns the weaker of
    /// the two and the logarithms of the three parts of that factor: heads, players, score.
    /// O(teams²).
    fn weakest(&self, trust: f64, by_score: &[f64]) -> (u8, [f64; 3]) {
        let two = self.teams.len() == 2;
        let pairs = self
            .playing()
            .flat_map(|one| self.playing().map(move |other| (one, other)));
        let factors = pairs
            .filter(|(one, other)| one != other)
            .map(|(one, other)| {
                let side = match (two, one) {
                    (false, _) => 0.0,
                    (true, 0) => 1.0,
                    (true, _) => -1.0,
                };
                let stronger =
                    self.basis
                        .known
                        .stronger(&self.teams[one], &self.teams[other], side);
                let score = by_score[one] - by_score[other];
                let parts = [stronger.heads, (1.0 - trust) * stronger.players, score];
                (other as u8, parts)
            });
        let sum = |parts: &[f64; 3]| parts.iter().sum::<f64>();
        let most = factors.reduce(|a, b| if sum(&b.1) > sum(&a.1) { b } else { a });
        most.unwrap_or((0, [0.0; 3]))
    }

    /// The share of the game that is over, 0 to 1.
    fn done(&self) -> f64 {
        let length = match self.left {
            Some(left) => self.elapsed.saturating_add(left),
            None => self.settings.usual_seconds.millis(),
        };
        match length {
            0 => 0.0,
            _ => (self.elapsed as f64 / length as f64).min(1.0),
        }
    }
}

/// ln of an amount, or of 1e-9 if it is smaller.
pub(super) fn log(amount: f64) -> f64 {
    libm::log(amount.max(1e-9))
}
