//! The teams' weights, while a decision tries humans on different teams and bots are added or
//! removed to match.

use super::{Snapshot, bots::Fill};
use crate::domain::MAX_TEAMS;

/// Ratios closer than this count as equal: far less than players can notice, far more than rounding
/// errors.
pub(super) const EQUAL: f64 = 1e-9;

/// The sums over the players of one team.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TeamSum {
    /// Number of humans.
    pub(super) humans: usize,
    /// Sum of the humans' weights.
    pub(super) weight: f64,
    /// Number of bots at present.
    bots: usize,
    /// Sum of the present bots' weights.
    bot_weight: f64,
}

impl TeamSum {
    /// The weight of the team's bots once there are `wanted`. The game decides which bot it
    /// removes, so the mean of those on the team is subtracted for each; each bot added weighs
    /// `next` (UT2004 page, "Late changes").
    fn bots_of(&self, wanted: usize, next: f64) -> f64 {
        if wanted >= self.bots {
            self.bot_weight + (wanted - self.bots) as f64 * next
        } else {
            self.bot_weight * (wanted as f64 / self.bots as f64)
        }
    }
}

/// The sums over the players of each team.
#[derive(Clone, Debug)]
pub(super) struct TeamStrengths {
    sides: [TeamSum; MAX_TEAMS],
    teams: usize,
    fill: Fill,
    next_bot: f64,
}

impl TeamStrengths {
    /// The teams of a game. Humans without a team are left out.
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let mut sides = [TeamSum::default(); MAX_TEAMS];
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

    /// The teams, in order of their numbers.
    pub(super) fn sides(&self) -> &[TeamSum] {
        &self.sides[..self.teams]
    }

    /// Adds humans with this total weight to a team. Returns the previous sums, with which
    /// [`restore`](Self::restore) undoes the change exactly.
    pub(super) fn add(&mut self, team: usize, humans: usize, weight: f64) -> TeamSum {
        let before = self.sides[team];
        self.sides[team].humans += humans;
        self.sides[team].weight += weight;
        before
    }

    /// Removes humans with this total weight from a team. Returns the previous sums.
    pub(super) fn remove(&mut self, team: usize, humans: usize, weight: f64) -> TeamSum {
        let before = self.sides[team];
        self.sides[team].humans = before.humans.saturating_sub(humans);
        self.sides[team].weight = (before.weight - weight).max(0.0);
        before
    }

    /// Undoes a change of `team`.
    pub(super) fn restore(&mut self, team: usize, before: TeamSum) {
        self.sides[team] = before;
    }

    /// Each team's weight with the present bots. O(teams).
    pub(super) fn present(&self) -> impl Iterator<Item = f64> + Clone {
        self.sides()
            .iter()
            .map(|side| side.weight + side.bot_weight)
    }

    /// Number of players on each team, bots included.
    pub(super) fn players(&self) -> impl Iterator<Item = usize> + Clone {
        self.sides().iter().map(|side| side.humans + side.bots)
    }

    /// The ratio with the present bots.
    pub(super) fn ratio_now(&self) -> f64 {
        ratio(self.present())
    }

    /// The ratio after bots have been added or removed. O(teams).
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

    /// How many bots each team lacks; 0 where bots are left as they are, or are to go.
    pub(super) fn missing_bots(&self) -> impl Iterator<Item = usize> {
        let humans = self.sides().iter().map(|side| side.humans);
        let largest = humans.clone().max().unwrap_or(0);
        let size = self.fill.team_size(self.teams, humans.sum(), largest);
        let size = size.unwrap_or(0);
        self.sides()
            .iter()
            .map(move |side| size.saturating_sub(side.humans + side.bots))
    }

    /// By how many humans a team outnumbers the smallest.
    pub(super) fn outnumbers(&self, team: usize) -> usize {
        let least = self.sides().iter().map(|side| side.humans).min();
        self.sides[team].humans - least.unwrap_or(0)
    }

    /// By how many humans the largest team exceeds the smallest.
    pub(super) fn spread(&self) -> usize {
        let humans = self.sides().iter().map(|side| side.humans);
        let most = humans.clone().max().unwrap_or(0);
        most - humans.min().unwrap_or(0)
    }
}

/// The smallest sum over the largest, 0 to 1; 1 if all are 0 (UT2004 page, "Choosing teams").
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
        // 2 against 1 and two bots; 6 players are wanted, so each team needs one more bot.
        let mut game = snapshot(2, &[(10.0, 0), (20.0, 0), (30.0, 1)]);
        game.fill.wish = 6;
        game.bots = vec![robot(4.0, 1), robot(8.0, 1)];
        game.next_bot = 5.0;
        let mut strength = TeamStrengths::of(&game);
        let sums: Vec<f64> = strength.present().collect();
        assert_eq!(sums, [30.0, 42.0]);
        assert_eq!(strength.ratio_now(), 30.0 / 42.0);
        assert_eq!(
            strength.ratio_settled(),
            35.0 / 42.0,
            "one comes to the first team"
        );
        let before = strength.add(1, 1, 25.0);
        // One bot of the second team leaves; which one is unknown, so the mean of 6 is subtracted.
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
        assert_eq!(TeamStrengths::of(&game).ratio_settled(), 0.5);
        game.fill.on = true;
        game.fill.min_humans = 2;
        assert_eq!(TeamStrengths::of(&game).ratio_settled(), 0.0, "they go");
    }

    #[test]
    fn nothing_is_even() {
        assert_eq!(ratio([0.0, 0.0].into_iter()), 1.0);
        assert_eq!(ratio([0.0, 1.0].into_iter()), 0.0);
    }
}
