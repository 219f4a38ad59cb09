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
use crate::model::access::Holder;

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

/// The most games parked at once, if there are not more connections. If there are more games, the holder with most of them
/// gives up one.
const MAX_PARKED: usize = 256;
/// The most games of an earlier daemon that are parked at once.
const MAX_RESTORED: usize = 4_096;

/// The parked games.
#[derive(Debug)]
pub(super) struct ParkedGames {
    /// By server name.
    games: Mutex<BTreeMap<String, ParkedGame>>,
    /// The most games at once.
    most: AtomicUsize,
}

#[derive(Debug)]
struct ParkedGame {
    /// The millisecond of the clock at which it was parked.
    since: u64,
    /// Whose share of the room it takes.
    holder: Holder,
    state: SessionState,
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
        holder: Holder,
        state: SessionState,
        now: u64,
    ) -> Vec<(String, SessionState)> {
        let mut parked = self.games.lock();
        let mut evicted = Vec::new();
        let game = ParkedGame {
            since: now,
            holder,
            state,
        };
        if let Some(other) = parked.insert(server.to_owned(), game) {
            evicted.push((server.to_owned(), other.state));
        }
        if parked.len() > self.most.load(Ordering::Relaxed) {
            let games = parked.iter().map(|(server, game)| {
                let has_started = game.state.playing.is_some();
                (&game.holder, has_started, game.since, server.as_str())
            });
            let gone = first_to_go(games).map(str::to_owned);
            evicted.extend(gone.and_then(|server| {
                let game = parked.remove(&server)?;
                Some((server, game.state))
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
        if parked.get(server)?.since < earliest {
            return None;
        }
        parked.remove(server).map(|game| game.state)
    }

    /// Removes and returns all games that were parked before `earliest`.
    pub(super) fn expired(&self, earliest: u64) -> Vec<(String, SessionState)> {
        let mut parked = self.games.lock();
        let late = parked.extract_if(.., |_, game| game.since < earliest);
        late.map(|(server, game)| (server, game.state)).collect()
    }
}

/// Of the games of the holder who has most, the oldest one without START, else the oldest one. A game is its holder,
/// whether START has come, since when it is parked, and the name of its server.
fn first_to_go<'a>(
    games: impl Iterator<Item = (&'a Holder, bool, u64, &'a str)>,
) -> Option<&'a str> {
    let mut holders: BTreeMap<&Holder, (usize, (bool, u64, &str))> = BTreeMap::new();
    for (holder, has_started, since, server) in games {
        let game = (has_started, since, server);
        let entry = holders.entry(holder).or_insert((0, game));
        *entry = (entry.0 + 1, entry.1.min(game));
    }
    let most = holders
        .into_values()
        .max_by(|(count, game), (others, other)| count.cmp(others).then(other.cmp(game)));
    most.map(|(_, (.., server))| server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_with_most_games_gives_up_its_oldest_those_without_start_first() {
        let (club, rogue) = (
            Holder::Client("club".into()),
            Holder::Client("rogue".into()),
        );
        let mut games = vec![
            (&club, false, 1, "c"),
            (&rogue, true, 2, "r2"),
            (&rogue, false, 4, "r4"),
            (&rogue, false, 3, "r3"),
        ];
        let mut gone = Vec::new();
        while let Some(server) = first_to_go(games.iter().copied()) {
            games.retain(|game| game.3 != server);
            gone.push(server);
        }
        // Once both have one, that without START goes.
        assert_eq!(gone, ["r3", "r4", "c", "r2"]);
    }
}
