//! Replays stored decisions.

#![allow(
    clippy::disallowed_methods,
    reason = "a replay ends after some real time, whatever clock the sessions have"
)]

use std::time::{Duration, Instant};

use super::{SessionError, Sessions, decide::reasons};
use crate::{lobby::Decision, model::Timestamp};

/// The time limit of a replay. It is independent of the deadline of BALANCE, so that a slower
/// machine can replay what a faster one chose.
const PATIENCE: Duration = Duration::from_secs(60);

/// A stored decision and its replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// The kind of decision, as stored.
    pub kind: String,
    /// When it was made.
    pub made_at: Timestamp,
    /// Name of the game server.
    pub server: String,
    /// The seed of its random choices.
    pub seed: u64,
    /// Whether the replay gave the same answer.
    pub same: bool,
    /// Whether a deadline ended the original search early, so that the replay may differ.
    pub cut_short: bool,
    /// The reasons in the replay, one per line.
    pub why: Vec<String>,
}

impl Sessions {
    /// Replays a stored decision; `None` if there is no decision with this id, or it has been
    /// deleted.
    ///
    /// # Errors
    /// Fails if the database does, or if this version cannot read the decision.
    pub async fn replay(&self, id: i64) -> Result<Option<Replayed>, SessionError> {
        let Some(row) = self.store.decisions().decision(id).await? else {
            return Ok(None);
        };
        let json = row.decision;
        let replayed = tokio::task::spawn_blocking(move || again(&json));
        let (original, replay) = replayed.await??;
        Ok(Some(Replayed {
            kind: row.kind,
            made_at: row.made_at,
            server: row.server,
            seed: row.seed,
            same: replay == original,
            cut_short: original.cut_short(),
            why: reasons(&replay),
        }))
    }
}

/// The decision as stored, and as this version makes it.
fn again(json: &str) -> Result<(Decision, Decision), SessionError> {
    let original: Decision = serde_json::from_str(json).map_err(|error| {
        SessionError::BadArgument(format!("cannot read this decision: {error}"))
    })?;
    let patience = Instant::now() + PATIENCE;
    let replay = original.clone().again(&mut || Instant::now() >= patience);
    let replay = replay.ok_or_else(|| {
        SessionError::BadArgument("this decision was edited and is inconsistent".to_owned())
    })?;
    Ok((original, replay))
}
