//! The number of bots that a game needs: enough to make the teams equal in number, and no more.

use serde::{Deserialize, Serialize};

use evenkeel_partition::sums::Fill;

/// Whether a session acts on bots: adds those that the lobby asks for, and removes the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BotUse {
    /// Whether it does, as HELLO states it; this overrides `shown`.
    pub declared: Option<bool>,
    /// Whether the session has sent BOTJOIN, or asked about bots.
    pub shown: bool,
}

impl BotUse {
    /// Whether bots that are not in the game yet may be expected.
    pub(super) fn expects(self) -> bool {
        self.declared.unwrap_or(self.shown)
    }
}

/// The number of players for the game server's MinPlayers setting, and the bots that follow from
/// it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BotPlan {
    /// The number of players in all, bots included; 0 for no bots.
    pub players: u32,
    /// The number of bots on each team; a single number in a game without teams.
    pub per_team: Vec<u32>,
}

impl BotPlan {
    /// The plan that fills up all teams to one size. `humans` is the number of humans on each team.
    /// Each human without a team counts on the smallest team, where they will be placed.
    pub(super) fn for_teams(fill: &Fill, humans: &[usize], unplaced: usize) -> Self {
        let humans = with_unplaced(humans.to_vec(), unplaced);
        let largest = humans.iter().copied().max().unwrap_or(0);
        let size = fill.team_size(humans.len(), humans.iter().sum(), largest);
        let size = size.unwrap_or(0);
        let missing = |&count: &usize| to_u32(size.saturating_sub(count));
        Self {
            players: to_u32(size * humans.len()),
            per_team: humans.iter().map(missing).collect(),
        }
    }

    /// The plan for a game without teams: bots fill it up to the wanted number, limited to the
    /// map's range.
    pub(super) fn for_all(fill: &Fill, humans: usize) -> Self {
        let players = match fill.is_none(humans) {
            true => 0,
            false => fill.players(),
        };
        Self {
            players,
            per_team: vec![players.saturating_sub(to_u32(humans))],
        }
    }

    /// Reduces the plan to at most `most` players in all. `humans` is the number of humans on each
    /// team; bots get only the places that they leave. Bots are removed from the team with the
    /// most.
    pub(super) fn at_most(mut self, most: usize, humans: &[usize]) -> Self {
        let teams = to_u32(humans.len().max(1));
        self.players = self.players.min(to_u32(most) / teams * teams);
        let size = self.players / teams;
        for (bots, &humans) in self.per_team.iter_mut().zip(humans) {
            *bots = (*bots).min(size.saturating_sub(to_u32(humans)));
        }
        let room = to_u32(most.saturating_sub(humans.iter().sum()));
        while self.per_team.iter().sum::<u32>() > room {
            match self.per_team.iter_mut().max() {
                Some(bots) => *bots -= 1,
                None => break,
            }
        }
        self
    }
}

/// The humans per team after each human without a team has joined the smallest.
pub(super) fn with_unplaced(mut humans: Vec<usize>, unplaced: usize) -> Vec<usize> {
    for _ in 0..unplaced {
        if let Some(fewest) = humans.iter_mut().min() {
            *fewest += 1;
        }
    }
    humans
}

pub(super) fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fill(wish: u32) -> Fill {
        Fill {
            on: true,
            wish,
            map_range: (0, 32),
            min_humans: 0,
        }
    }

    fn plan(players: u32, per_team: &[u32]) -> BotPlan {
        BotPlan {
            players,
            per_team: per_team.to_vec(),
        }
    }

    #[test]
    fn the_largest_team_rules_when_it_must() {
        let cases: [(u32, &[usize], usize, BotPlan); 6] = [
            (7, &[1, 2], 0, plan(8, &[3, 2])),
            (4, &[5, 3], 0, plan(10, &[0, 2])),
            (4, &[5, 3], 2, plan(10, &[0, 0])),
            (4, &[0, 0], 7, plan(8, &[0, 1])),
            (7, &[0, 0, 0], 0, plan(9, &[3, 3, 3])),
            (0, &[0, 0], 0, plan(0, &[0, 0])),
        ];
        for (wish, humans, unplaced, expected) in cases {
            assert_eq!(BotPlan::for_teams(&fill(wish), humans, unplaced), expected);
        }
    }

    #[test]
    fn the_level_rules_over_the_wish() {
        // The UT2004 page's program: 8 wanted on a map for 6 to 12.
        let page = Fill {
            map_range: (6, 12),
            ..fill(8)
        };
        assert_eq!(BotPlan::for_teams(&page, &[3, 2], 0), plan(8, &[1, 2]));
        assert_eq!(
            BotPlan::for_teams(&Fill { wish: 2, ..page }, &[3, 2], 0),
            plan(6, &[0, 1])
        );
        assert_eq!(
            BotPlan::for_teams(&Fill { wish: 20, ..page }, &[3, 2], 0),
            plan(12, &[3, 4])
        );
        assert_eq!(
            BotPlan::for_teams(&Fill { wish: 20, ..page }, &[9, 8], 0),
            plan(18, &[0, 1])
        );
    }

    #[test]
    fn without_teams_the_wish_is_all() {
        assert_eq!(BotPlan::for_all(&fill(6), 2), plan(6, &[4]));
        assert_eq!(BotPlan::for_all(&fill(6), 9), plan(6, &[0]));
    }

    #[test]
    fn bots_can_be_off_and_can_wait_for_humans() {
        let off = Fill {
            on: false,
            ..fill(6)
        };
        assert_eq!(BotPlan::for_teams(&off, &[2, 1], 0), plan(0, &[0, 0]));
        assert_eq!(BotPlan::for_all(&off, 1), plan(0, &[0]));
        let waits = Fill {
            min_humans: 2,
            ..fill(6)
        };
        assert_eq!(BotPlan::for_teams(&waits, &[1, 0], 0), plan(0, &[0, 0]));
        assert_eq!(BotPlan::for_teams(&waits, &[1, 0], 1), plan(6, &[2, 2]));
        assert_eq!(BotPlan::for_all(&waits, 1), plan(0, &[0]));
        assert_eq!(BotPlan::for_all(&waits, 2), plan(6, &[4]));
    }

    #[test]
    fn the_roster_bounds_it() {
        let most = |wish, humans: &[usize], most| {
            BotPlan::for_teams(&fill(wish), humans, 0).at_most(most, humans)
        };
        assert_eq!(most(8, &[2, 1], 8), plan(8, &[2, 3]));
        assert_eq!(most(12, &[2, 1], 8), plan(8, &[2, 3]));
        assert_eq!(most(12, &[2, 1], 7), plan(6, &[1, 2]));
        assert_eq!(most(12, &[5, 1], 8), plan(8, &[0, 2]));
        assert_eq!(
            BotPlan::for_all(&fill(12), 3).at_most(8, &[3]),
            plan(8, &[5])
        );
    }

    proptest! {
        #[test]
        fn no_more_than_the_roster_holds(wish in 0u32..40, most in 1usize..30, humans in proptest::collection::vec(0usize..20, 2..=8)) {
            let plan = BotPlan::for_teams(&fill(wish), &humans, 0).at_most(most, &humans);
            let bots = plan.per_team.iter().sum::<u32>() as usize;
            prop_assert!(plan.players as usize <= most);
            prop_assert!(bots == 0 || humans.iter().sum::<usize>() + bots <= most);
        }

        #[test]
        fn teams_come_out_equal(wish in 0u32..40, humans in proptest::collection::vec(0usize..20, 2..=8)) {
            let plan = BotPlan::for_teams(&fill(wish), &humans, 0);
            let sizes: Vec<usize> = humans.iter().zip(&plan.per_team).map(|(h, b)| h + *b as usize).collect();
            prop_assert!(sizes.iter().all(|size| *size == sizes[0]));
            prop_assert_eq!(sizes.iter().sum::<usize>() as u32, plan.players);
            // No more than needed: with one fewer on each team, there are too few players, or the
            // largest team does not fit.
            let fewer = plan.players.saturating_sub(humans.len() as u32);
            let largest = humans.iter().max().unwrap() * humans.len();
            prop_assert!(plan.players == 0 || fewer < wish.min(32) || fewer < largest as u32);
        }
    }
}
