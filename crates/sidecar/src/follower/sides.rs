//! Recognises teams that exchange their sides between two rounds, as at half-time.

use super::roster::ServerRoster;
use crate::logged::ConnectionKey;
use evenkeel_model::is_exchange;

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
