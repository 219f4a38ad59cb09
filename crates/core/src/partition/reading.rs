//! How even a split is by its chances, which follow from the players' strengths.

use super::{Counted, ProblemSpec, Settings, Strengths, TeamSums, counts::Counts};
use crate::domain::TeamLoad;

impl Strengths {
    /// The edge for each unit of strength in a game of these players. With more than two teams, each
    /// pair of teams is compared as if they played alone.
    pub(super) fn per_strength(&self, spec: &ProblemSpec, counts: &Counts) -> f64 {
        self.outlook
            .per_strength_at(2 * self.team_size(spec, counts))
    }

    /// The number of players on an average team, rounded up.
    fn team_size(&self, spec: &ProblemSpec, counts: &Counts) -> usize {
        let even = counts.humans.div_ceil(counts.teams);
        match spec.bots.fill {
            true => counts.floor.max(even),
            false => even + spec.bots_there(0).0.max(spec.bots_there(1).0),
        }
    }

    /// The strength that counts for a place that no human has: that of a bot, or where no bots come, what a
    /// team of players of the lobby's mean strength loses by having one player less.
    pub(super) fn of_place(&self, spec: &ProblemSpec, counts: &Counts) -> f64 {
        if spec.bots.fill {
            return self.bot;
        }
        let size = self.team_size(spec, counts).max(1);
        let mean = self.mean(spec);
        let [fewer, all] = [size - 1, size].map(|heads| TeamLoad::alike(heads, mean));
        let less = self.outlook.heads(fewer, all);
        less / self.outlook.per_strength_at(2 * size - 1)
    }

    /// The mean strength of the humans and of the bots that are there; 0 if there is nobody.
    fn mean(&self, spec: &ProblemSpec) -> f64 {
        let bots: usize = spec.bots_there.iter().map(|bots| bots.count).sum();
        let players = self.humans.len() + bots;
        let all = self.humans.iter().chain(&self.bots_there);
        let mut all: Vec<f64> = all.copied().collect();
        all.sort_by(f64::total_cmp); // the order of the humans must not matter, not even to the last bit
        all.iter().sum::<f64>() / players.max(1) as f64
    }
}

impl ProblemSpec {
    /// The sums of a split's teams as the game counts them, given each human's team: friends on one team count more,
    /// also without the rest of their party. O(humans).
    pub(super) fn sums(&self, known: &Strengths, settings: &Settings, team_of: &[u8]) -> TeamSums {
        let counted = |weight: f64, strength: f64| Counted {
            weight,
            strength,
            ..Counted::default()
        };
        let (fill, next) = (self.bots.filling(), counted(self.bots.weight, known.bot));
        let mut sums = TeamSums::new(self.teams, fill, next, Some(known.outlook));
        for team in 0..self.bots_there.len() {
            let (count, weight) = self.bots_there(team);
            let strength = known.bots_there.get(team).copied().unwrap_or(0.0);
            sums.add_bots(team, count, counted(weight, strength));
        }
        let humans = self.humans.iter().zip(&known.humans);
        for ((human, strength), &team) in humans.zip(team_of) {
            sums.add(usize::from(team), 1, counted(human.weight, *strength));
        }
        for party in self.friends() {
            for team in 0..self.teams {
                let on = |who: &usize| usize::from(team_of[*who]) == team;
                let here = || party.iter().copied().filter(on);
                let count = here().count();
                if count > 1 {
                    let alone =
                        here().map(|who| counted(self.humans[who].weight, known.humans[who]));
                    let alone: Counted = alone.sum();
                    let weight = alone.weight * (settings.multiplier(count) - 1.0);
                    let strength = known.together(here()) - alone.strength;
                    sums.add(team, 0, counted(weight, strength));
                }
            }
        }
        sums
    }
}

/// The evenness from which on a split may be picked if that of the best split is `best`. Chances within `doubt` of one
/// half count as even. If there are none, those count as equal to the best whose odds are no further from its odds: near
/// one half these are chances within `doubt` of it, and fewer in a game that is one-sided anyway.
pub(super) fn least(best: f64, doubt: f64) -> f64 {
    let even = (0.5 - doubt) / (0.5 + doubt);
    if best >= even { even } else { best * even }
}
