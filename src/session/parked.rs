//! Parked games: their connection ended, and they wait for their server to come back.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use super::state::SessionState;

/// Games of different servers that wait at once; the one that has waited longest gives way.
const MAX_WAITING: usize = 256;
/// Games whose connection has ended, by server, and since when, in milliseconds of the clock.
#[derive(Debug, Default)]
pub(super) struct ParkedGames(Mutex<BTreeMap<String, (u64, SessionState)>>);

impl ParkedGames {
    /// Leaves a game here. What it pushes out is returned, with its server.
    pub(super) fn put(
        &self,
        server: &str,
        state: SessionState,
        now: u64,
    ) -> Vec<(String, SessionState)> {
        let mut parked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = Vec::new();
        if let Some((_, other)) = parked.insert(server.to_owned(), (now, state)) {
            out.push((server.to_owned(), other));
        }
        if parked.len() > MAX_WAITING {
            let oldest = parked.iter().min_by_key(|(_, (since, _))| *since);
            let oldest = oldest.map(|(server, _)| server.clone());
            out.extend(oldest.and_then(|server| {
                let (_, state) = parked.remove(&server)?;
                Some((server, state))
            }));
        }
        out
    }

    /// The game of this server, unless it has waited since before `earliest`.
    pub(super) fn take(&self, server: &str, earliest: u64) -> Option<SessionState> {
        let mut parked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, _) = parked.get(server)?;
        if *since < earliest {
            return None;
        }
        parked.remove(server).map(|(_, state)| state)
    }

    /// All games that have waited since before `earliest`.
    pub(super) fn expired(&self, earliest: u64) -> Vec<(String, SessionState)> {
        let mut parked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let late = parked.extract_if(.., |_, (since, _)| *since < earliest);
        late.map(|(server, (_, state))| (server, state)).collect()
    }
}
