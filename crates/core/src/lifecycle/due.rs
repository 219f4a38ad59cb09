//! Things that happen at a time unless something else happens before, and when a match is due.

use super::{CoordinatorSettings, KEEP_MILLIS, Match, Stage, TicketNumber, settings::millis};
use crate::domain::{MatchId, Timestamp};

/// Something that happens at a time unless something else happens before.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// A match has been in its state for too long.
    Match(MatchId),
    /// A ticket that waits expires, or a ticket that has ended is removed.
    Ticket(TicketNumber),
    /// An instance was silent for too long, or has not come back in time.
    Instance(String),
    /// Players who were sent to a match in play have not come.
    Expected(MatchId),
    /// An instance has rested, or a match may ask the allocator again.
    Allocate,
}

impl CoordinatorSettings {
    /// When the state of a match times out, if it does.
    pub(super) fn deadline(&self, one: &Match) -> Option<Timestamp> {
        let after = |limit| one.since.plus_millis(limit);
        Some(match (one.stage, one.parted) {
            (Stage::Proposed, _) => return one.open_until,
            (Stage::Formed, _) => return None,
            (Stage::Reserved, _) => one.wait_until,
            (Stage::Opening | Stage::Ready, _) => after(millis(self.open_seconds)),
            (Stage::Joining, _) => after(millis(self.join_seconds)),
            (Stage::Playing, Some(parted)) => parted.plus_millis(self.resume_millis()),
            (Stage::Playing, None) => after(millis(self.play_seconds)),
            (Stage::Over | Stage::Failed, _) => after(KEEP_MILLIS),
        })
    }
}
