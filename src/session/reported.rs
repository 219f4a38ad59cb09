//! What clients report about games that no session has followed: finished matches, and how players behave.

use std::sync::Arc;

use rand::{TryRng, rngs::SysRng};
use sha2::{Digest, Sha256};

use super::{SessionError, Sessions};
use crate::{
    learning::ANYONE,
    lobby::LobbyError,
    model::{Fingerprint, Ident, MatchChances, MatchRecord, Timestamp, behaviour::BehaviourDay},
    store::{Receipt, Reported, ReportedMatch},
};

/// A finished match that a client reports.
#[derive(Clone, Debug)]
pub struct Report {
    /// The record of the match.
    pub record: MatchRecord,
    /// The keys under which it is known if it is sent again.
    pub keys: Vec<Receipt>,
    /// What was predicted of its teams.
    pub chances: MatchChances,
    /// The number of the decision that picked its teams.
    pub decision: Option<i64>,
}

impl Sessions {
    /// Records matches that a client reports, all or none. They are on disk when this returns; the background task
    /// learns from them later.
    ///
    /// # Errors
    /// Fails if a record is not valid, or if the database does.
    pub async fn record_reported(
        self: &Arc<Self>,
        client: &str,
        reports: Vec<Report>,
    ) -> Result<Reported, SessionError> {
        let (sessions, client) = (self.clone(), client.to_owned());
        // A task of its own, which completes even if the caller is dropped: what is on disk is also learned from.
        let recording = async move {
            let now = sessions.clock.now();
            let matches: Vec<ReportedMatch> = reports
                .into_iter()
                .map(|report| sessions.reported(&client, report, now))
                .collect();
            let recorded = sessions
                .store
                .matches()
                .record_reported(&client, now, &matches)
                .await?;
            if let Reported::Recorded(_) = recorded {
                sessions.learn_of(&matches);
            }
            Ok(recorded)
        };
        self.tasks().spawn(recording).await?
    }

    /// A match as it is stored.
    pub(super) fn reported(&self, client: &str, report: Report, now: Timestamp) -> ReportedMatch {
        ReportedMatch {
            unrated: self.unrated(&report.record),
            fingerprint: fingerprint(client, &report.keys, now),
            record: report.record,
            keys: report.keys,
            chances: report.chances,
            decision: report.decision,
        }
    }

    /// Lets the background task learn from matches that are on disk.
    pub(super) fn learn_of(&self, matches: &[ReportedMatch]) {
        for one in matches {
            self.metrics.recorded.count();
            self.learning.note_participants(&one.record);
        }
        self.learning.match_recorded();
    }

    /// Stores a report about how a human behaves, of a game server of this name. When this returns, it is on disk.
    /// `client` is the configured client that has sent it.
    ///
    /// # Errors
    /// Fails if this game server may not report, or has reported too often, if `points` are more than a report may have,
    /// or if the database fails.
    pub async fn report_behaviour(
        &self,
        server: &str,
        client: Option<&str>,
        id: &Ident,
        points: f64,
    ) -> Result<(), SessionError> {
        if id.is_nobody() {
            return Err(LobbyError::SharedId.into());
        }
        let book = self.learning.behaviour();
        let now = self.clock.now();
        let report = BehaviourDay::report(id.text(), client.unwrap_or(ANYONE), points, now);
        Ok(book.report(server, report).await?)
    }
}

/// The fingerprint of a match that a client reports. Two matches with the same players and result are two matches, so
/// it is made of the client and its keys, and of a random number without any. Keys are forgotten after a time; so it
/// also depends on when the match is recorded.
fn fingerprint(client: &str, keys: &[Receipt], now: Timestamp) -> Fingerprint {
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(b"evenkeel reported match 1");
    add(client.as_bytes());
    keys.iter().for_each(|receipt| add(receipt.key.as_bytes()));
    add(&now.0.to_le_bytes());
    if keys.is_empty() {
        let mut drawn = [0; 16];
        // If the system has no randomness, the time of the match still tells it from others.
        let _ = SysRng.try_fill_bytes(&mut drawn);
        add(&drawn);
    }
    let mut short = [0; 16];
    short.copy_from_slice(&hash.finalize()[..16]);
    Fingerprint(short)
}
