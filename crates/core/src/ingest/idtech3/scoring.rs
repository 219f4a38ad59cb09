//! How teams score in id Tech 3: the changes of scores by kills, captures, and totals in the log.
//!
//! These are pure functions of a line and of the clients' teams. The parser uses them for finished
//! logs, and a sidecar for a game that is being played.

use super::setup::GameSetup;

/// How many teams a team game has: red and blue.
pub(crate) const TEAMS: usize = 2;

/// Points that a team gains or, if negative, loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TeamPoints {
    /// 0 is red, 1 is blue.
    pub(crate) team: u8,
    /// By how much the team's score changes.
    pub(crate) points: i64,
    /// The client number of the player who caused the change, where the log states it.
    pub(crate) by: Option<usize>,
}

/// The effect of one `Kill:` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KillScore {
    /// The killer's client number; `None` if the victim was not an enemy, because such a kill does
    /// not count for a player.
    pub(crate) enemy_killed_by: Option<usize>,
    /// The change of a team's score, in games where teams score by killing.
    pub(crate) points: Option<TeamPoints>,
}

impl KillScore {
    /// Evaluates a kill. `killer` is `None` for the world, `team_change` marks the death by which the
    /// game carries out a change of teams, and `team_of` returns the team of a client number.
    ///
    /// In team deathmatch an enemy's death gains the killer's team a point; a team mate's death
    /// costs it one. A death by suicide or by the world costs the victim's team a point, unless it
    /// was a change of teams.
    pub(crate) fn of(
        setup: &GameSetup,
        killer: Option<usize>,
        victim: usize,
        team_change: bool,
        team_of: impl Fn(usize) -> Option<u8>,
    ) -> Self {
        let killer = killer.filter(|&killer| killer != victim);
        let enemy_killed_by =
            killer.filter(|&killer| !setup.teams || team_of(killer) != team_of(victim));
        let by = killer.unwrap_or(victim);
        let scores = setup.scored_by_kills && (killer.is_some() || !team_change);
        let points = team_of(by).filter(|_| scores).map(|team| TeamPoints {
            team,
            points: if enemy_killed_by.is_some() { 1 } else { -1 },
            by: Some(by),
        });
        Self {
            enemy_killed_by,
            points,
        }
    }
}

impl TeamPoints {
    /// The point for a captured flag. `flag` names the team that owned it, as the log counts: 1 is red,
    /// 2 is blue. The other team scores.
    pub(crate) fn of_capture(flag: i64, by: Option<usize>) -> Self {
        Self {
            team: if flag == 1 { 1 } else { 0 },
            points: 1,
            by,
        }
    }
}

/// The teams' total scores, red's first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TeamTotals(pub(crate) [i64; TEAMS]);

impl TeamTotals {
    /// Replaces a team's total by one that the log states, and returns by how much it changed. `team`
    /// counts as `TeamScore:` lines do: 1 is red, 2 is blue. Returns `None` where nothing changed, or
    /// for any other team (0 is "free", 3 "spectators").
    pub(crate) fn replace(&mut self, team: i64, total: i64) -> Option<TeamPoints> {
        let index = usize::try_from(team - 1).ok()?;
        let points = total - std::mem::replace(self.0.get_mut(index)?, total);
        (points != 0).then_some(TeamPoints {
            team: index as u8,
            points,
            by: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clients 0 and 1 are red, 2 is blue, 3 watches.
    fn team_of(client: usize) -> Option<u8> {
        [Some(0), Some(0), Some(1), None][client]
    }

    fn kill(gametype: i64, killer: Option<usize>, victim: usize, team_change: bool) -> KillScore {
        let setup = GameSetup::read(format!("\\g_gametype\\{gametype}").as_bytes());
        KillScore::of(&setup, killer, victim, team_change, team_of)
    }

    fn points(team: u8, points: i64, by: usize) -> Option<TeamPoints> {
        let by = Some(by);
        Some(TeamPoints { team, points, by })
    }

    #[test]
    fn kills_score_in_team_deathmatch() {
        for (killer, victim, team_change, enemy, expected) in [
            (Some(0), 2, false, Some(0), points(0, 1, 0)),
            (Some(0), 1, false, None, points(0, -1, 0)),
            (Some(2), 2, false, None, points(1, -1, 2)),
            (None, 2, false, None, points(1, -1, 2)),
            (Some(2), 2, true, None, None),
            (Some(3), 2, false, Some(3), None),
        ] {
            let score = kill(3, killer, victim, team_change);
            assert_eq!((score.enemy_killed_by, score.points), (enemy, expected));
        }
    }

    #[test]
    fn kills_score_for_players_alone_elsewhere() {
        let ctf = kill(4, Some(0), 2, false);
        assert_eq!((ctf.enemy_killed_by, ctf.points), (Some(0), None));
        assert_eq!(kill(4, Some(0), 1, false).enemy_killed_by, None);
        assert_eq!(kill(0, Some(0), 1, false).enemy_killed_by, Some(0));
    }

    #[test]
    fn captures_and_totals() {
        let capture = TeamPoints::of_capture(2, Some(5));
        assert_eq!(Some(capture), points(0, 1, 5));
        assert_eq!(TeamPoints::of_capture(1, None).team, 1);
        let mut totals = TeamTotals::default();
        let change = |team, points, by| Some(TeamPoints { team, points, by });
        assert_eq!(totals.replace(2, 3), change(1, 3, None));
        assert_eq!(totals.replace(2, 3), None);
        assert_eq!(totals.replace(2, 1), change(1, -2, None));
        for team in [0, 3, i64::MAX] {
            assert_eq!(totals.replace(team, 7), None);
        }
        assert_eq!(totals.0, [0, 1]);
    }
}
