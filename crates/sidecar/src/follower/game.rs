//! The state of one game as the log describes it: its phase, and the score that the daemon has been
//! sent.

use std::collections::BTreeSet;

use evenkeel_ingest::live::{TEAMS, source::SideTotals};
use evenkeel_model::recorder::is_exchange;
use evenkeel_protocol::Request;

use super::roster::ServerRoster;
use crate::{
    link::{Outbox, plain_ident},
    progress::{ConnectionKey, GamePhase, LoggedGame, LoggedSetup},
};

/// A game that the log describes.
pub(super) struct FollowedGame {
    pub(super) logged: LoggedGame,
    /// Whether the daemon has been sent the game from its beginning, so that it can store the match.
    pub(super) complete: bool,
    /// The number of teams that the daemon knows of.
    teams: u8,
    /// The scores that have been sent to the daemon.
    sent: [f64; TEAMS],
    totals: SideTotals,
    /// Whether the teams are on each other's sides.
    exchanged: bool,
    /// The sides at the end of the last round, until the sides of the next one are final.
    pub(super) watch: Option<RoundSides>,
    /// The identities that were on the server when play began, or joined later.
    pub(super) met: BTreeSet<String>,
}

impl FollowedGame {
    pub(super) fn new(setup: LoggedSetup, now: u64, complete: bool) -> Self {
        Self {
            logged: LoggedGame::new(setup, now),
            complete,
            teams: 2,
            sent: [0.0; TEAMS],
            totals: SideTotals::default(),
            exchanged: false,
            watch: None,
            met: BTreeSet::new(),
        }
    }

    /// Handles the start or the end of a connection to the daemon. The daemon has lost what it was sent of
    /// a running game, so the game is no longer complete.
    pub(super) fn interrupt(&mut self) {
        self.complete &= matches!(self.logged.phase(), GamePhase::Opening | GamePhase::WarmUp);
    }

    /// The daemon is sent the game from here on. In a warm-up that is all of it that counts.
    pub(super) fn resume(&mut self) {
        self.complete |= self.logged.phase() == GamePhase::WarmUp;
    }

    /// Whether events are sent to the daemon now.
    pub(super) fn is_followed(&self) -> bool {
        self.complete && self.logged.phase() == GamePhase::Playing
    }

    /// Whether the score counts now.
    fn counts(&self) -> bool {
        matches!(self.logged.phase(), GamePhase::Playing | GamePhase::Over)
    }

    /// Sends what the daemon needs before the roster: the game type, mutators and map.
    pub(super) fn announce(&mut self, out: &mut Outbox<'_>) {
        self.teams = 2;
        let setup = &self.logged.setup;
        out.announce(&setup.game_type, &setup.mutators, &setup.map);
    }

    /// Sends the number of teams if the daemon does not know of this one yet.
    pub(super) fn announce_team(&mut self, team: u8, out: &mut Outbox<'_>) {
        if team >= self.teams && usize::from(team) < TEAMS {
            self.teams = team + 1;
            out.send(Request::Teams(self.teams));
        }
    }

    /// Play starts: the daemon counts scores from here.
    pub(super) fn forget_scores(&mut self) {
        self.sent = [0.0; TEAMS];
    }

    /// The team of the players on a side of the map. The same rule gives the side of a team.
    pub(super) fn team_of(&self, side: u8) -> u8 {
        match side {
            0 | 1 if self.exchanged => 1 - side,
            side => side,
        }
    }

    /// The teams exchange their sides.
    pub(super) fn exchange(&mut self) {
        self.exchanged = !self.exchanged;
        self.totals.exchange();
    }

    /// Handles a line that states the total score of a side.
    pub(super) fn total(&mut self, side: u8, total: f64, out: &mut Outbox<'_>) {
        if usize::from(side) >= TEAMS || !self.counts() {
            return;
        }
        for (side, points) in self.totals.state(side, total) {
            self.score(self.team_of(side), points, None, out);
        }
    }

    /// Handles the final scores in the log: sends the daemon the differences to those sent before.
    pub(super) fn finals(&mut self, mut finals: Vec<(u8, f64)>, out: &mut Outbox<'_>) {
        if self.totals.lost(&finals).is_some() {
            return; // those that were sent count
        }
        self.totals.finals(&mut finals);
        for (side, score) in finals {
            let team = self.team_of(side);
            if let Some(sent) = self.sent.get(usize::from(team)) {
                self.score(team, score - sent, None, out);
            }
        }
    }

    /// Handles a change of a team's score. `by` is the identity of the player who caused it.
    pub(super) fn score(&mut self, team: u8, points: f64, by: Option<&str>, out: &mut Outbox<'_>) {
        if points == 0.0 || !points.is_finite() || !self.counts() || !self.logged.setup.teams {
            return;
        }
        let Some(sent) = self.sent.get_mut(usize::from(team)) else {
            return;
        };
        *sent += points;
        if self.complete {
            let by = by.map(plain_ident);
            out.send(Request::Score { team, points, by });
        }
    }
}

/// How long after the start of a round players may still change sides, in milliseconds.
const SETTLED: u64 = 3_000;

/// The players and their sides at the end of a round.
#[derive(Debug)]
pub(super) struct RoundSides {
    before: Vec<(ConnectionKey, u8)>,
    /// When the sides of the next round are final; `None` before that round starts.
    due: Option<u64>,
}

impl RoundSides {
    /// Begins with the sides at the end of a round.
    pub(super) fn new(roster: &ServerRoster) -> Self {
        let seats = roster.seats();
        let sides = seats.filter_map(|(connection, seat)| {
            let side = seat.player.side.filter(|&side| side < 2)?;
            Some((connection.clone(), side))
        });
        Self {
            before: sides.collect(),
            due: None,
        }
    }

    /// Handles the start of the next round.
    pub(super) fn round_started(&mut self, now: u64) {
        self.due.get_or_insert(now.saturating_add(SETTLED));
    }

    /// Whether the next round has not started.
    pub(super) fn is_between_rounds(&self) -> bool {
        self.due.is_none()
    }

    /// Whether the sides of the next round are final.
    pub(super) fn is_due(&self, now: u64) -> bool {
        self.due.is_some_and(|due| now >= due)
    }

    /// Whether the teams have exchanged their sides.
    pub(super) fn is_exchange(&self, roster: &ServerRoster) -> bool {
        let now = |connection| roster.get(connection)?.player.side;
        let before = self.before.iter();
        is_exchange(before.filter_map(|(connection, old)| Some((*old, now(connection)?))))
    }
}
