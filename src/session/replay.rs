//! Decisions as they are stored, and taken again.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{SessionError, Sessions};
use crate::{
    domain::Timestamp,
    lobby::Decision,
    partition::{self, Problem, ProblemSpec},
};

/// The word that BALANCE is stored under; the others are those of [`Decision::kind`].
pub(super) const BALANCE: &str = "balance";

const NO_SENSE: &str = "this decision was changed by hand, and makes no sense";

/// What replaying BALANCE may take at most; choosing teams has a deadline of its own.
const PATIENCE: Duration = Duration::from_secs(60);

/// BALANCE, as it is stored.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Chosen {
    pub(super) problem: ProblemSpec,
    pub(super) settings: partition::Settings,
    pub(super) seed: u64,
    pub(super) team_of: Vec<u8>,
    /// Whether there was no time to look at everything, so that the machine's speed mattered.
    pub(super) cut_short: bool,
}

/// What became of a decision that was taken again.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// What kind of decision it is.
    pub kind: String,
    /// When it was made.
    pub made_at: Timestamp,
    /// The game server.
    pub server: String,
    /// Its seed.
    pub seed: u64,
    /// Whether it came out the same.
    pub same: bool,
    /// Whether it had been cut short by its deadline, and so need not come out the same.
    pub cut_short: bool,
    /// Why it is decided so today, a line each.
    pub why: Vec<String>,
}

impl Sessions {
    /// Takes a stored decision again; `None` if there is none of this id, or no longer.
    ///
    /// # Errors
    /// The database's, or inputs that this version does not understand.
    pub async fn replay(&self, id: i64) -> Result<Option<Replayed>, SessionError> {
        let Some(row) = self.store.decision(id).await? else {
            return Ok(None);
        };
        let (kind, json) = (row.kind.clone(), row.decision);
        let taken = tokio::task::spawn_blocking(move || match kind.as_str() {
            BALANCE => balance_again(&json),
            _ => decide_again(&json),
        });
        let (same, cut_short, why) = taken.await??;
        Ok(Some(Replayed {
            kind: row.kind,
            made_at: row.made_at,
            server: row.server,
            seed: row.seed,
            same,
            cut_short,
            why,
        }))
    }
}

type Again = (bool, bool, Vec<String>);

fn balance_again(json: &str) -> Result<Again, SessionError> {
    let Chosen {
        problem,
        settings,
        seed,
        team_of,
        cut_short,
    } = serde_json::from_str(json).map_err(not_understood)?;
    let problem = Problem::new(problem)?;
    let patience = Instant::now() + PATIENCE;
    let solution = partition::solve(&problem, &settings, seed, &mut || {
        Instant::now() >= patience
    })?;
    let why = super::decide::reasons(&solution.explanation);
    Ok((solution.team_of == team_of, cut_short, why))
}

fn decide_again(json: &str) -> Result<Again, SessionError> {
    let decision: Decision = serde_json::from_str(json).map_err(not_understood)?;
    let again = decision.clone().again();
    let again = again.ok_or_else(|| SessionError::BadArgument(NO_SENSE.to_owned()))?;
    let why = super::decide::reasons(&again);
    Ok((again == decision, false, why))
}

fn not_understood(error: serde_json::Error) -> SessionError {
    SessionError::BadArgument(format!("this decision is not understood: {error}"))
}
