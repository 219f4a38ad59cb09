//! The score of a match. The server prints no score: it follows from flags and kills, by the rules of the game's own
//! source (`src/game/server/gamemodes` of version 0.7.5).

use std::collections::{BTreeMap, BTreeSet};

use super::players::TeeworldsPlayers;
use crate::event::GameEvent;

/// What decides a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ScoringRules {
    /// A capture counts 100, and taking the flag from its place 1.
    Flags,
    /// An enemy killed counts 1; a team mate, or oneself, costs 1.
    TeamKills,
    /// The team that is left alive wins the round.
    Rounds,
    /// Each player's own points.
    Points,
    /// Unknown: of another type of match.
    #[default]
    Unknown,
}

impl ScoringRules {
    /// The rules of a type of match.
    pub(crate) fn of(kind: &str, teams: bool) -> Self {
        match (kind, teams) {
            ("ctf", true) => Self::Flags,
            ("tdm", true) => Self::TeamKills,
            ("lts", true) => Self::Rounds,
            ("dm", false) => Self::Points,
            _ => Self::Unknown,
        }
    }
}

/// Where a flag is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Flag {
    #[default]
    Home,
    Carried(usize),
    /// It lies somewhere since this event.
    Dropped(u64),
}

/// The score of one match.
#[derive(Clone, Debug, Default)]
pub(super) struct MatchScore {
    pub(super) rules: ScoringRules,
    pub(super) sides: [f64; 2],
    /// The points of the players who have any.
    pub(super) points: BTreeMap<usize, f64>,
    flags: [Flag; 2],
    /// Counts the flags that were dropped.
    drops: u64,
    /// Who is alive in a round; `None` between two rounds.
    alive: Option<BTreeSet<usize>>,
}

impl MatchScore {
    pub(super) fn new(rules: ScoringRules) -> Self {
        Self {
            rules,
            ..Self::default()
        }
    }

    /// Whether a team or a player is ahead, as the server asks before it ends a match.
    pub(super) fn is_decided(&self) -> bool {
        match self.rules {
            ScoringRules::Flags | ScoringRules::TeamKills => self.sides[0] != self.sides[1],
            ScoringRules::Rounds => self.sides != [0.0; 2],
            ScoringRules::Points => {
                let top = self.top();
                self.points.values().filter(|p| **p == top).count() == 1
            }
            ScoringRules::Unknown => false,
        }
    }

    /// The highest score of a team, or of a player in a match without teams.
    pub(super) fn top(&self) -> f64 {
        match self.rules {
            ScoringRules::Points => self.points.values().fold(0.0, |top, p| p.max(top)),
            _ => self.sides[0].max(self.sides[1]),
        }
    }

    fn add(&mut self, client: usize, points: f64) {
        *self.points.entry(client).or_default() += points;
    }

    fn score(&mut self, side: u8, points: f64, by: Option<usize>) -> GameEvent {
        self.sides[usize::from(side & 1)] += points;
        let team = side;
        GameEvent::Score { team, points, by }
    }

    /// A player of this team has taken the other team's flag.
    pub(super) fn grab(&mut self, client: usize, side: u8) -> Option<GameEvent> {
        self.add(client, 1.0);
        let flag = &mut self.flags[usize::from(1 - (side & 1))];
        let home = std::mem::replace(flag, Flag::Carried(client)) == Flag::Home;
        home.then(|| self.score(side, 1.0, Some(client)))
    }

    /// A player of this team has captured.
    pub(super) fn capture(&mut self, client: usize, side: u8) -> GameEvent {
        self.add(client, 5.0);
        self.flags = [Flag::Home; 2];
        self.score(side, 100.0, Some(client))
    }

    /// A player has brought the own team's flag back, or the flag that lies longest has come back on its own.
    pub(super) fn flag_returned(&mut self, by: Option<(usize, u8)>) {
        if let Some((client, side)) = by {
            self.add(client, 1.0);
            self.flags[usize::from(side & 1)] = Flag::Home;
            return;
        }
        let since = |flag: &Flag| match flag {
            Flag::Dropped(since) => *since,
            _ => u64::MAX,
        };
        if let Some(flag) = self.flags.iter_mut().min_by_key(|flag| since(flag))
            && since(flag) != u64::MAX
        {
            *flag = Flag::Home;
        }
    }

    /// A player has died. `killer` is who killed, with the team; `by_game` whether the game removed the player.
    pub(super) fn kill(
        &mut self,
        killer: Option<(usize, u8)>,
        victim: (usize, u8),
        by_game: bool,
        players: &TeeworldsPlayers,
    ) -> Vec<GameEvent> {
        let carried = self.drop_flag(victim.0);
        let mut changes = Vec::new();
        if let Some((client, side)) = killer.filter(|_| !by_game) {
            let teams = self.rules != ScoringRules::Points;
            let enemy = client != victim.0 && (!teams || side != victim.1);
            let points = if enemy { 1.0 } else { -1.0 };
            self.add(client, points);
            if carried && enemy {
                self.add(client, 1.0);
            }
            if self.rules == ScoringRules::TeamKills {
                changes.push(self.score(side, points, Some(client)));
            }
        }
        if self.rules == ScoringRules::Rounds {
            changes.extend(self.die(victim.0, by_game, players));
        }
        changes
    }

    /// A player does not carry a flag any more. Returns whether they did.
    pub(super) fn drop_flag(&mut self, client: usize) -> bool {
        self.drops += 1;
        let mut carried = false;
        for flag in &mut self.flags {
            if *flag == Flag::Carried(client) {
                *flag = Flag::Dropped(self.drops);
                carried = true;
            }
        }
        carried
    }

    /// A player dies in a match of rounds. Who is left alone on the server after a kill has won the round.
    fn die(&mut self, victim: usize, by_game: bool, players: &TeeworldsPlayers) -> Vec<GameEvent> {
        let everybody = || {
            let on_teams = players.iter().filter(|(_, player)| player.team.is_some());
            on_teams.map(|(slot, _)| slot).collect()
        };
        // Between two rounds the game is paused, and only the game itself removes players.
        if self.alive.is_none() && by_game {
            return Vec::new();
        }
        let alive = self.alive.get_or_insert_with(everybody);
        alive.remove(&victim);
        let count = |side| {
            alive
                .iter()
                .filter(|&&slot| players.team(slot) == Some(side))
                .count()
        };
        let winners: &[u8] = match (count(0), count(1)) {
            (0, 0) => &[0, 1],
            (0, _) => &[1],
            (_, 0) => &[0],
            _ => return Vec::new(),
        };
        self.alive = None;
        winners
            .iter()
            .map(|&side| self.score(side, 1.0, None))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::teeworlds::grammar::{NamedClient, PlayerInKill};

    fn players(count: usize) -> TeeworldsPlayers {
        let mut players = TeeworldsPlayers::default();
        for slot in 0..count {
            let name = &[b'a' + u8::try_from(slot).unwrap()];
            let who = NamedClient { slot, name };
            let team = Some(u8::try_from(slot % 2).unwrap());
            players.note(PlayerInKill { who, team });
        }
        players
    }

    #[test]
    fn a_flag_counts_only_where_it_stands() {
        let all = players(4);
        let mut score = MatchScore::new(ScoringRules::Flags);
        score.grab(0, 0);
        assert_eq!(score.sides, [1.0, 0.0]);
        score.kill(Some((1, 1)), (0, 0), false, &all);
        score.grab(2, 0);
        assert_eq!(score.sides, [1.0, 0.0], "it was not at its place");
        score.kill(None, (2, 0), true, &all);
        score.flag_returned(None);
        score.grab(2, 0);
        assert_eq!(score.sides, [2.0, 0.0], "it came back on its own");
        score.capture(2, 0);
        score.grab(1, 1);
        assert_eq!(score.sides, [102.0, 1.0]);
        score.kill(Some((0, 0)), (1, 1), false, &all);
        score.flag_returned(Some((0, 0)));
        score.grab(3, 1);
        assert_eq!(score.sides, [102.0, 2.0]);
        assert_eq!(
            score.points,
            [(0, 4.0), (1, 3.0), (2, 7.0), (3, 1.0)].into()
        );
    }

    #[test]
    fn team_kills_cost_their_team() {
        let all = players(4);
        let mut score = MatchScore::new(ScoringRules::TeamKills);
        score.kill(Some((0, 0)), (1, 1), false, &all);
        score.kill(Some((0, 0)), (2, 0), false, &all);
        score.kill(Some((1, 1)), (1, 1), false, &all);
        score.kill(Some((3, 1)), (3, 1), true, &all);
        assert_eq!(score.sides, [0.0, -1.0]);
    }

    #[test]
    fn the_last_team_alive_wins_the_round() {
        let all = players(4);
        let mut score = MatchScore::new(ScoringRules::Rounds);
        score.kill(Some((0, 0)), (1, 1), false, &all);
        assert_eq!(score.sides, [0.0, 0.0]);
        score.kill(Some((0, 0)), (3, 1), false, &all);
        assert_eq!(score.sides, [1.0, 0.0]);
        score.kill(Some((3, 1)), (3, 1), true, &all);
        assert_eq!(score.sides, [1.0, 0.0], "the round is over");
        for victim in [0, 2] {
            score.kill(Some((1, 1)), (victim, 0), false, &all);
        }
        assert_eq!(score.sides, [1.0, 1.0]);
    }

    #[test]
    fn a_duel_is_decided_by_points() {
        let all = players(2);
        let mut score = MatchScore::new(ScoringRules::Points);
        score.kill(Some((0, 0)), (1, 0), false, &all);
        assert!(score.is_decided());
        score.kill(Some((1, 0)), (0, 0), false, &all);
        assert!(!score.is_decided());
        score.kill(Some((1, 0)), (1, 0), false, &all);
        assert_eq!((score.is_decided(), score.top()), (true, 1.0));
    }
}
