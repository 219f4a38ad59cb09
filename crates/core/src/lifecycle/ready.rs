//! What events lead to: what to store, and then what to send, to ask for and to count.

use std::collections::BTreeSet;

use super::{Change, Why};
use crate::domain::MatchId;

/// What is to be done after events, in this order: store [`write`](Self::write) in one transaction, and only
/// then do the rest. If the write fails, the state is [restored](super::Lifecycle::restore) from what is stored, where
/// nothing has changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ready {
    /// The changes, which apply in order. Empty as long as all of them can wait.
    pub write: Vec<Change>,
    /// What instances are sent, in order. If it is lost, nothing else is: an instance that comes back is sent its
    /// matches again.
    pub send: Vec<Message>,
    /// The matches for which the allocator is asked for a game server.
    pub allocate: Vec<MatchId>,
    /// What has happened, to be counted and logged.
    pub count: Vec<Happened>,
}

impl Ready {
    /// The players who did not come to their match. This is stored together with the changes.
    pub fn no_shows(&self) -> Vec<String> {
        let of = |happened: &Happened| match happened {
            Happened::NotHosted { absent, .. } => absent.clone(),
            Happened::NoShow { players, .. } => players.clone(),
            _ => Vec::new(),
        };
        self.count.iter().flat_map(of).collect()
    }
}

/// What an instance is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// It is asked to host the match.
    Open {
        /// The name of the instance.
        instance: String,
        /// The match that it is to host.
        id: MatchId,
    },
    /// It does not host the match any more.
    Close {
        /// The name of the instance.
        instance: String,
        /// The match that it hosts no longer.
        id: MatchId,
        /// Why it hosts the match no longer.
        why: Why,
    },
    /// The game of a match in play gets these players, who are expected from now on.
    Admit(MatchId, Vec<String>),
    /// These players, whom the game of a match in play was to get, do not come.
    Dismiss(MatchId, Vec<String>),
}

/// Something that operators can count or read in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// A ticket of this queue is in a match that is final, after this time in milliseconds.
    Waited(String, i64),
    /// A match whose play has not begun has failed.
    NotHosted {
        /// The match that failed.
        id: MatchId,
        /// Why it failed.
        why: Why,
        /// The players who did not come to it, as far as that is known.
        absent: Vec<String>,
    },
    /// Players who were sent to a match in play have not come in time.
    NoShow {
        /// The match in play.
        id: MatchId,
        /// Those who have not come.
        players: Vec<String>,
    },
    /// Players who were sent to a match in play need not come.
    Released {
        /// The match in play.
        id: MatchId,
        /// Those who need not come.
        players: Vec<String>,
    },
}

/// What has come up for the next [`Ready`].
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Changes of tickets and of what was formed of them, in order.
    pub changes: Vec<Change>,
    /// The matches whose hosting has changed.
    pub hosted: BTreeSet<MatchId>,
    pub hosting_forgotten: Vec<MatchId>,
    pub instances: BTreeSet<String>,
    pub owed: Vec<(String, MatchId, Why)>,
    pub settled: Vec<(String, MatchId)>,
    pub send: Vec<Message>,
    pub allocate: Vec<MatchId>,
    pub count: Vec<Happened>,
}
