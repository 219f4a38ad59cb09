//! How even a split is by its chances, which follow from the players' strengths.

use super::{ChanceModel, Counted, Problem, Settings, TeamSums};
use crate::domain::TeamLoad;

impl ChanceModel {
    /// The edge for each unit of strength in a game of these players. With more than two teams, each
    /// pair of teams is compared as if they played alone.
    pub(super) fn per_strength(&self, problem: &Problem) -> f64 {
        let size = team_size(problem);
        self.outlook.per_strength_at(2 * size)
    }

    /// The strength that counts for a place that no human has: that of a bot, or where no bots come, what a
    /// team of players of the lobby's mean strength loses by having one player less.
    pub(super) fn of_place(&self, problem: &Problem) -> f64 {
        if problem.spec().view.filling().on {
            return self.next_bot;
        }
        let size = team_size(problem).max(1);
        let mean = self.mean(problem);
        let [fewer, all] = [size - 1, size].map(|heads| TeamLoad::alike(heads, mean));
        let less = self.outlook.heads(fewer, all);
        less / self.outlook.per_strength_at(2 * size - 1)
    }

    /// The mean strength of the humans and of the bots that are there; 0 if there is nobody.
    fn mean(&self, problem: &Problem) -> f64 {
        let teams = problem.bots().iter();
        let bots: usize = teams.clone().map(|team| team.bots).sum();
        let players = self.humans.len() + bots;
        let of_bots = teams.map(|team| team.of_bots.strength);
        let mut all: Vec<f64> = self.humans.iter().copied().chain(of_bots).collect();
        all.sort_by(f64::total_cmp); // the order of the humans must not matter, not even to the last bit
        all.iter().sum::<f64>() / players.max(1) as f64
    }
}

/// The number of players on an average team, rounded up.
fn team_size(problem: &Problem) -> usize {
    let counts = problem.counts();
    let even = counts.humans.div_ceil(counts.teams);
    match problem.spec().view.filling().on {
        true => counts.floor.max(even),
        false => even + problem.bots_there(0).max(problem.bots_there(1)),
    }
}

impl Problem {
    /// The sums of a split's teams as the game counts them, given each human's team: friends on one team count more,
    /// also without the rest of their party. O(humans).
    pub(super) fn sums(
        &self,
        model: &ChanceModel,
        settings: &Settings,
        team_of: &[u8],
    ) -> TeamSums {
        let counted = |weight: f64, strength: f64| Counted {
            weight,
            strength,
            ..Counted::default()
        };
        let (spec, view) = (self.spec(), &self.spec().view);
        let next = counted(view.weight_of_place(), model.next_bot);
        let mut sums = TeamSums::new(spec.teams(), view.filling(), next, Some(model.outlook));
        for (team, there) in self.bots().iter().enumerate() {
            sums.add_bots(team, there.bots, there.of_bots);
        }
        let humans = view.humans.iter().zip(&model.humans);
        for ((human, strength), &team) in humans.zip(team_of) {
            sums.add(usize::from(team), 1, counted(human.weight, *strength));
        }
        for party in spec.friends() {
            for team in 0..spec.teams() {
                let on = |who: &usize| usize::from(team_of[*who]) == team;
                let here = || party.iter().copied().filter(on);
                let count = here().count();
                if count > 1 {
                    let alone =
                        here().map(|who| counted(view.humans[who].weight, model.humans[who]));
                    let alone: Counted = alone.sum();
                    let weight = alone.weight * (settings.multiplier(count) - 1.0);
                    let strength = model.together(here()) - alone.strength;
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
