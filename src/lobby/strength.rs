//! What the teams weigh while humans are put here and there, and bots follow.

use super::{Snapshot, bots::Fill};
use crate::domain::MAX_TEAMS;

/// Ratios closer than this are equal: far below what anybody could feel, far above rounding.
pub(super) const EQUAL: f64 = 1e-9;

/// One team.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Side {
    /// Its humans.
    pub(super) humans: usize,
    /// What they weigh.
    pub(super) weight: f64,
    /// The bots on it now.
    bots: usize,
    /// What those weigh.
    bot_weight: f64,
}

impl Side {
    /// What its bots weigh when there are `wanted`. Nobody knows which bot leaves, so the mean of
    /// those on the team does; one that comes weighs `next` (UT2004 page, "Late changes").
    fn bots_of(&self, wanted: usize, next: f64) -> f64 {
        if wanted >= self.bots {
            self.bot_weight + (wanted - self.bots) as f64 * next
        } else {
            self.bot_weight * (wanted as f64 / self.bots as f64)
        }
    }
}

/// All teams.
#[derive(Clone, Debug)]
pub(super) struct Strength {
    sides: [Side; MAX_TEAMS],
    teams: usize,
    fill: Fill,
    next_bot: f64,
}

impl Strength {
    /// The game as it stands; those on no team count nowhere.
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let mut sides = [Side::default(); MAX_TEAMS];
        for human in &snapshot.humans {
            let team = human.team.map(usize::from);
            if let Some(side) = team.and_then(|team| sides.get_mut(team)) {
                side.humans += 1;
                side.weight += human.weight;
            }
        }
        for bot in &snapshot.bots {
            if let Some(side) = sides.get_mut(usize::from(bot.team)) {
                side.bots += 1;
                side.bot_weight += bot.weight;
            }
        }
        Self {
            sides,
            teams: usize::from(snapshot.teams).min(MAX_TEAMS),
            fill: snapshot.fill,
            next_bot: snapshot.next_bot,
        }
    }

    /// Each team.
    pub(super) fn sides(&self) -> &[Side] {
        &self.sides[..self.teams]
    }

    /// `humans` who weigh `weight` together come to `team`. Returns what [`restore`](Self::restore)
    /// needs to undo it to the bit.
    pub(super) fn add(&mut self, team: usize, humans: usize, weight: f64) -> Side {
        let before = self.sides[team];
        self.sides[team].humans += humans;
        self.sides[team].weight += weight;
        before
    }

    /// They leave it again.
    pub(super) fn remove(&mut self, team: usize, humans: usize, weight: f64) -> Side {
        let before = self.sides[team];
        self.sides[team].humans = before.humans.saturating_sub(humans);
        self.sides[team].weight = (before.weight - weight).max(0.0);
        before
    }

    /// `team` is as it was.
    pub(super) fn restore(&mut self, team: usize, before: Side) {
        self.sides[team] = before;
    }

    /// Everybody's weight per team, by the very bots that play. O(teams).
    pub(super) fn present(&self) -> impl Iterator<Item = f64> + Clone {
        self.sides()
            .iter()
            .map(|side| side.weight + side.bot_weight)
    }

    /// Players per team, bots included.
    pub(super) fn players(&self) -> impl Iterator<Item = usize> + Clone {
        self.sides().iter().map(|side| side.humans + side.bots)
    }

    /// The ratio as it stands.
    pub(super) fn ratio_now(&self) -> f64 {
        ratio(self.present())
    }

    /// The ratio once bots have come and gone. O(teams).
    pub(super) fn ratio_settled(&self) -> f64 {
        let humans = self.sides().iter().map(|side| side.humans);
        let largest = humans.clone().max().unwrap_or(0);
        match self.fill.team_size(self.teams, humans.sum(), largest) {
            None => self.ratio_now(),
            Some(size) => ratio(self.sides().iter().map(|side| {
                let wanted = size.saturating_sub(side.humans);
                side.weight + side.bots_of(wanted, self.next_bot)
            })),
        }
    }

    /// How many humans more the largest team has than the smallest.
    pub(super) fn spread(&self) -> usize {
        let humans = self.sides().iter().map(|side| side.humans);
        let most = humans.clone().max().unwrap_or(0);
        most - humans.min().unwrap_or(0)
    }
}

/// The smallest sum over the largest, 0 to 1; 1 when all are 0 (UT2004 page, "Choosing teams").
pub(super) fn ratio(sums: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = sums.clone().fold(0.0, f64::max);
    let least = sums.fold(f64::INFINITY, f64::min);
    if most > 0.0 { least / most } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lobby::snapshot::tests::{robot, snapshot};

    #[test]
    fn bots_that_stay_are_themselves_and_others_are_means() {
        // 2 against 1 and two bots; 6 players are wished for, so one bot is missing on either side.
        let mut game = snapshot(2, &[(10.0, 0), (20.0, 0), (30.0, 1)]);
        game.fill.wish = 6;
        game.bots = vec![robot(4.0, 1), robot(8.0, 1)];
        game.next_bot = 5.0;
        let mut strength = Strength::of(&game);
        let sums: Vec<f64> = strength.present().collect();
        assert_eq!(sums, [30.0, 42.0]);
        assert_eq!(strength.ratio_now(), 30.0 / 42.0);
        assert_eq!(
            strength.ratio_settled(),
            35.0 / 42.0,
            "one comes to the first team"
        );
        let before = strength.add(1, 1, 25.0);
        // One of the second team's bots leaves: nobody knows which, so their mean of 6 does.
        assert_eq!(strength.ratio_settled(), 35.0 / 61.0);
        strength.restore(1, before);
        assert_eq!(strength.ratio_settled(), 35.0 / 42.0);
    }

    #[test]
    fn bots_that_are_off_stay() {
        let mut game = snapshot(2, &[(10.0, 0)]);
        game.bots = vec![robot(5.0, 1)];
        game.fill.wish = 8;
        game.fill.on = false;
        assert_eq!(Strength::of(&game).ratio_settled(), 0.5);
        game.fill.on = true;
        game.fill.min_humans = 2;
        assert_eq!(Strength::of(&game).ratio_settled(), 0.0, "they go");
    }

    #[test]
    fn nothing_is_even() {
        assert_eq!(ratio([0.0, 0.0].into_iter()), 1.0);
        assert_eq!(ratio([0.0, 1.0].into_iter()), 0.0);
    }
}
