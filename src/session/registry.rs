//! The connected sessions by the name of their game server, and the parked games: those whose connection ended, and
//! that wait for their server to reconnect.
//!
//! A dead connection can remain open for hours. When its server reconnects, the new session replaces the old one, and
//! need not wait until the daemon notices that the old connection is dead.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{sync::Notify, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{Mailbox, Session, state::SessionState};

/// The time limit for a replaced session to park its game.
const LEAVE: Duration = Duration::from_secs(1);

/// The newest session for each server name.
#[derive(Debug, Default)]
pub(super) struct ConnectionRegistry {
    sessions: Mutex<BTreeMap<String, RegisteredSession>>,
    next: AtomicU64,
    left: Notify,
}

#[derive(Clone, Debug)]
struct RegisteredSession {
    number: u64,
    replaced: CancellationToken,
    mailbox: Mailbox,
}

/// The entry of one session in the registry; dropping it removes the entry.
#[derive(Debug)]
pub(super) struct Registration {
    registry: Arc<ConnectionRegistry>,
    number: u64,
    name: Option<String>,
    replaced: CancellationToken,
    mailbox: Mailbox,
}

impl ConnectionRegistry {
    /// The mailbox of the registered session with this name.
    pub(super) fn mailbox(&self, name: &str) -> Option<Mailbox> {
        let sessions = self.sessions.lock();
        sessions.get(name).map(|session| session.mailbox.clone())
    }

    /// The registered session with this name, unless it has this number.
    fn other(&self, name: &str, number: u64) -> Option<RegisteredSession> {
        let sessions = self.sessions.lock();
        let session = sessions.get(name).filter(|other| other.number != number);
        session.cloned()
    }
}

impl Registration {
    pub(super) fn new(registry: &Arc<ConnectionRegistry>, mailbox: Mailbox) -> Self {
        Self {
            registry: registry.clone(),
            number: registry.next.fetch_add(1, Ordering::Relaxed),
            name: None,
            replaced: CancellationToken::new(),
            mailbox,
        }
    }

    /// The number of this session, unique within this process.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The mailbox of this session.
    pub(super) fn own_mailbox(&self) -> &Mailbox {
        &self.mailbox
    }

    /// Registers this session under a name.
    pub(super) fn announce(&mut self, name: &str) {
        self.end();
        self.name = Some(name.to_owned());
        let session = RegisteredSession {
            number: self.number,
            replaced: self.replaced.clone(),
            mailbox: self.mailbox.clone(),
        };
        let mut sessions = self.registry.sessions.lock();
        sessions.insert(name.to_owned(), session);
    }

    /// Registers this session under a name, and ends another session with that name. When this
    /// returns, that session has parked its game, or has taken longer than [`LEAVE`].
    pub(super) async fn replace(&mut self, name: &str) {
        let registry = &self.registry;
        if let Some(other) = registry.other(name, self.number) {
            other.replaced.cancel();
            let gone = async {
                loop {
                    let left = registry.left.notified();
                    let now = registry.other(name, self.number);
                    if now.is_none_or(|now| now.number != other.number) {
                        return;
                    }
                    left.await;
                }
            };
            let _ = timeout(LEAVE, gone).await;
        }
        self.announce(name);
    }

    /// Removes the entry from the registry.
    pub(super) fn end(&mut self) {
        let Some(name) = self.name.take() else { return };
        let registry = &self.registry;
        let mut sessions = registry.sessions.lock();
        if sessions
            .get(&name)
            .is_some_and(|session| session.number == self.number)
        {
            sessions.remove(&name);
        }
        registry.left.notify_waiters();
    }
}

impl Session {
    /// Cancelled when another connection of the same server replaces this one, which should then end.
    pub fn replaced(&self) -> CancellationToken {
        self.registration.replaced.clone()
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.end();
    }
}

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
