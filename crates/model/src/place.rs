//! Where a match was played, as far as nobody can be in two such matches at once.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{MatchRecord, record::UNTIMED_MILLIS};

/// The client of a match that `evenkeel ingest` has read from a log.
pub const INGEST: &str = "ingest";
/// The client of a match of a log that the daemon follows.
pub const FOLLOW: &str = "follow";
/// The client of a match of a published history, whose rows state no lengths.
pub const HISTORY: &str = "history";

/// Who says where players were: one client, or the log of one game server. It is a hash, so that it takes little room
/// whatever names clients have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place(u64);

impl MatchRecord {
    /// Whether a log was read, rather than that a client has reported the match.
    pub fn is_of_log(&self) -> bool {
        [INGEST, FOLLOW, HISTORY].contains(&self.client.as_str())
    }

    /// Who says where the players of this match were; `None` if it is not known when it was played, who has brought it, or of
    /// which game server a log is.
    pub fn place(&self) -> Option<Place> {
        let (kind, name) = match self.is_of_log() {
            true => (0_u8, &self.server),
            false => (1, &self.client),
        };
        // Without dates, the start of a log is an estimate.
        let is_known = !name.is_empty() && (kind == 1 || self.clock.is_none());
        // All rows of a history have the same length, and those of one day follow each other by a second.
        let is_known = is_known && !(self.client == HISTORY && self.millis() == UNTIMED_MILLIS);
        (is_known && !self.untimed).then(|| {
            let hash = Sha256::new().chain_update([kind]).chain_update(name);
            let mut short = [0; 8];
            short.copy_from_slice(&hash.finalize()[..8]);
            Place(u64::from_le_bytes(short))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    #[test]
    fn a_client_is_one_place_and_of_logs_each_server_is() {
        let place = |client: &str, server: &str| {
            let record = MatchRecord {
                client: client.to_owned(),
                server: server.to_owned(),
                ..MatchRecord::default()
            };
            record.place()
        };
        assert_eq!(place("league", "a"), place("league", "b"));
        assert_ne!(place("league", "a"), place("club", "a"));
        assert_eq!(place("", "a"), None);
        for reader in [INGEST, FOLLOW] {
            assert_eq!(place(reader, "a"), place(INGEST, "a"));
            assert_ne!(place(reader, "a"), place(reader, "b"));
            assert_ne!(place(reader, "league"), place("league", "a"));
            assert_eq!(place(reader, ""), None);
        }
        let untimed = MatchRecord {
            client: "league".to_owned(),
            untimed: true,
            ..MatchRecord::default()
        };
        assert_eq!(untimed.place(), None);
        let row = MatchRecord {
            client: HISTORY.to_owned(),
            server: "a".to_owned(),
            end: Timestamp(UNTIMED_MILLIS as i64),
            ..MatchRecord::default()
        };
        assert_eq!(row.place(), None);
        assert_eq!(
            place(HISTORY, "a"),
            place(INGEST, "a"),
            "who takes that name is no history"
        );
        let undated = |client: &str| MatchRecord {
            client: client.to_owned(),
            server: "a".to_owned(),
            clock: Some(7),
            ..MatchRecord::default()
        };
        assert_eq!(undated(INGEST).place(), None);
        assert_eq!(undated("league").place(), place("league", "a"));
    }
}
