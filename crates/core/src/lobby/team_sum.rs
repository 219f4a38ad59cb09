//! The sums over the players of one team.

use super::weights::Counted;

/// The sums over the players of one team.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TeamSum {
    /// Number of humans.
    pub(super) humans: usize,
    /// The sums of the humans' weights and strengths.
    pub(super) counted: Counted,
    /// Number of bots now.
    pub(super) bots: usize,
    /// The sums of the bots' weights and strengths.
    pub(super) of_bots: Counted,
}

impl TeamSum {
    /// Number of players now, bots included.
    pub(super) fn players(&self) -> usize {
        self.humans + self.bots
    }

    /// The sums over all present players.
    pub(super) fn present(&self) -> Counted {
        self.counted + self.of_bots
    }

    /// The sums over the team's bots once there are `wanted` of them. It is unknown which bot the
    /// game removes, so each bot that leaves counts as the mean of those on the team; each one that
    /// is added counts as `next` (UT2004 page, "Late changes").
    pub(super) fn bots_of(&self, wanted: usize, next: Counted) -> Counted {
        if wanted >= self.bots {
            self.of_bots + next.times((wanted - self.bots) as f64)
        } else {
            self.of_bots.times(wanted as f64 / self.bots as f64)
        }
    }
}
