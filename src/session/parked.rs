//! Parked games: games whose connection ended, and that wait for their server to reconnect.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
};

use parking_lot::Mutex;

use super::state::SessionState;

/// The most games parked at once, if there are not more connections. If there are more games, the one that was parked
/// first is given up.
const MAX_PARKED: usize = 256;
/// The most games of an earlier daemon that are parked at once.
const MAX_RESTORED: usize = 4_096;

/// The parked games.
#[derive(Debug)]
pub(super) struct ParkedGames {
    /// By server name, each with the millisecond of the clock at which it was parked.
    games: Mutex<BTreeMap<String, (u64, SessionState)>>,
    /// The most games at once.
    most: AtomicUsize,
}

impl ParkedGames {
    /// Room for the games of `connections` connections, which may all end at once.
    pub(super) fn new(connections: usize) -> Self {
        Self {
            games: Mutex::default(),
            most: AtomicUsize::new(connections.max(MAX_PARKED)),
        }
    }

    /// Raises the limit to this number of games, up to [`MAX_RESTORED`]. An earlier daemon may have
    /// had more connections than games can be parked otherwise.
    pub(super) fn make_room(&self, games: usize) {
        self.most
            .fetch_max(games.min(MAX_RESTORED), Ordering::Relaxed);
    }

    /// Parks a game. Returns the games that no longer fit, with the names of their servers.
    pub(super) fn put(
        &self,
        server: &str,
        state: SessionState,
        now: u64,
    ) -> Vec<(String, SessionState)> {
        let mut parked = self.games.lock();
        let mut evicted = Vec::new();
        if let Some((_, other)) = parked.insert(server.to_owned(), (now, state)) {
            evicted.push((server.to_owned(), other));
        }
        if parked.len() > self.most.load(Ordering::Relaxed) {
            let oldest = parked.iter().min_by_key(|(_, (since, _))| *since);
            let oldest = oldest.map(|(server, _)| server.clone());
            evicted.extend(oldest.and_then(|server| {
                let (_, state) = parked.remove(&server)?;
                Some((server, state))
            }));
        }
        evicted
    }

    /// The number of parked games.
    pub(super) fn len(&self) -> usize {
        self.games.lock().len()
    }

    /// Removes and returns the game of this server, unless it was parked before `earliest`.
    pub(super) fn take(&self, server: &str, earliest: u64) -> Option<SessionState> {
        let mut parked = self.games.lock();
        let (since, _) = parked.get(server)?;
        if *since < earliest {
            return None;
        }
        parked.remove(server).map(|(_, state)| state)
    }

    /// Removes and returns all games that were parked before `earliest`.
    pub(super) fn expired(&self, earliest: u64) -> Vec<(String, SessionState)> {
        let mut parked = self.games.lock();
        let late = parked.extract_if(.., |_, (since, _)| *since < earliest);
        late.map(|(server, (_, state))| (server, state)).collect()
    }
}
