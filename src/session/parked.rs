//! Parked games: games whose connection ended, and that wait for their server to reconnect.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::state::SessionState;

/// The most games parked at once; the one parked first makes room for another.
const MAX_PARKED: usize = 256;

/// The parked games by server name, each with the millisecond of the clock at which it was parked.
#[derive(Debug, Default)]
pub(super) struct ParkedGames(Mutex<BTreeMap<String, (u64, SessionState)>>);

impl ParkedGames {
    /// Parks a game. Returns the games that had to make room for it, with their servers.
    pub(super) fn put(
        &self,
        server: &str,
        state: SessionState,
        now: u64,
    ) -> Vec<(String, SessionState)> {
        let mut parked = self.0.lock();
        let mut evicted = Vec::new();
        if let Some((_, other)) = parked.insert(server.to_owned(), (now, state)) {
            evicted.push((server.to_owned(), other));
        }
        if parked.len() > MAX_PARKED {
            let oldest = parked.iter().min_by_key(|(_, (since, _))| *since);
            let oldest = oldest.map(|(server, _)| server.clone());
            evicted.extend(oldest.and_then(|server| {
                let (_, state) = parked.remove(&server)?;
                Some((server, state))
            }));
        }
        evicted
    }

    /// Removes and returns the game of this server, unless it was parked before `earliest`.
    pub(super) fn take(&self, server: &str, earliest: u64) -> Option<SessionState> {
        let mut parked = self.0.lock();
        let (since, _) = parked.get(server)?;
        if *since < earliest {
            return None;
        }
        parked.remove(server).map(|(_, state)| state)
    }

    /// Removes and returns all games that were parked before `earliest`.
    pub(super) fn expired(&self, earliest: u64) -> Vec<(String, SessionState)> {
        let mut parked = self.0.lock();
        let late = parked.extract_if(.., |_, (since, _)| *since < earliest);
        late.map(|(server, (_, state))| (server, state)).collect()
    }
}
