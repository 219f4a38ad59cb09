//! How many bots belong in a game: enough to even the teams, and no more.

/// The setting of MinPlayers, and the bots it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotPlan {
    /// Players in all, bots included.
    pub players: u32,
    /// Bots per team; a single number in a game without teams.
    pub per_team: Vec<u32>,
}

impl BotPlan {
    /// Teams of equal size, as small as `wish` and the largest team of humans allow (the Ideal Bot
    /// Counter of the UT2004 balancing page).
    ///
    /// Humans on no team yet are expected where most are missing, since that is where they will go.
    pub(super) fn for_teams(wish: u32, humans: &[usize], unplaced: usize) -> Self {
        let mut humans = humans.to_vec();
        for _ in 0..unplaced {
            if let Some(fewest) = humans.iter_mut().min() {
                *fewest += 1;
            }
        }
        let teams = humans.len().max(1);
        let largest = humans.iter().copied().max().unwrap_or(0);
        let size = (wish as usize).div_ceil(teams).max(largest);
        let per_team = humans.iter().map(|&count| to_u32(size - count)).collect();
        Self {
            players: to_u32(size * teams),
            per_team,
        }
    }

    /// Everyone for themselves: no more than the wish.
    pub(super) fn for_all(wish: u32, humans: usize) -> Self {
        Self {
            players: wish,
            per_team: vec![wish.saturating_sub(to_u32(humans))],
        }
    }
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_team_rules_when_it_must() {
        let plan = |wish, humans: &[usize], unplaced| BotPlan::for_teams(wish, humans, unplaced);
        assert_eq!(
            plan(7, &[1, 2], 0),
            BotPlan {
                players: 8,
                per_team: vec![3, 2]
            }
        );
        assert_eq!(
            plan(4, &[5, 3], 0),
            BotPlan {
                players: 10,
                per_team: vec![0, 2]
            }
        );
        assert_eq!(
            plan(4, &[5, 3], 2),
            BotPlan {
                players: 10,
                per_team: vec![0, 0]
            }
        );
        assert_eq!(
            plan(4, &[0, 0], 7),
            BotPlan {
                players: 8,
                per_team: vec![0, 1]
            }
        );
        assert_eq!(
            plan(7, &[0, 0, 0], 0),
            BotPlan {
                players: 9,
                per_team: vec![3, 3, 3]
            }
        );
        assert_eq!(
            plan(0, &[0, 0], 0),
            BotPlan {
                players: 0,
                per_team: vec![0, 0]
            }
        );
    }

    #[test]
    fn without_teams_the_wish_is_all() {
        assert_eq!(
            BotPlan::for_all(6, 2),
            BotPlan {
                players: 6,
                per_team: vec![4]
            }
        );
        assert_eq!(
            BotPlan::for_all(6, 9),
            BotPlan {
                players: 6,
                per_team: vec![0]
            }
        );
    }
}
