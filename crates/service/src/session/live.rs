//! What others see of a session: its running game for spectators, and the lines that the daemon sends to its peer.
//!
//! Each session shows its game whenever it has changed; readers never wait for a session.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use parking_lot::Mutex;
use tokio::sync::mpsc::{self, error::TrySendError};

use super::{MailboxError, command::server_name};
use crate::{
    lobby::Lobby,
    model::{Kind, PlayerKey, Timestamp, match_chances::ChanceSummary},
};

/// A running game with its players.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveGame {
    /// The name of the game server; empty if it has given none.
    pub server: String,
    /// Whether the server is connected. If not, its game is parked.
    pub is_connected: bool,
    /// The game type, as the game server named it.
    pub game_type: String,
    /// The mutators, as the game server named them.
    pub mutators: Vec<String>,
    /// The map, if the server has named it.
    pub map: Option<String>,
    /// When play began; `None` in a warm-up and after the end.
    pub began: Option<Timestamp>,
    /// When the time runs out that CLOCK has stated; `None` if it has stated none.
    pub ends: Option<Timestamp>,
    /// The score of each team; empty unless a game of teams is in play.
    pub scores: Vec<f64>,
    /// Whether the server has stated any score since START.
    pub has_scored: bool,
    /// Number of teams; 0 in a game without teams.
    pub teams: u8,
    /// What was predicted of the teams so far.
    pub chances: ChanceSummary,
    /// The humans, then the bots, in the order in which they joined.
    pub players: Vec<LivePlayer>,
}

/// A player of a running game.
#[derive(Clone, Debug, PartialEq)]
pub struct LivePlayer {
    /// The identity that the game server sent; it is not for the pages.
    pub key: PlayerKey,
    /// The name; the identity where that is a name, and empty if none was stated.
    pub name: String,
    /// The team; `None` without one.
    pub team: Option<u8>,
}

impl LiveGame {
    /// The game of a lobby; `None` without a game, and without players.
    pub(super) fn of(
        lobby: &Lobby,
        server: &str,
        now: Timestamp,
        is_connected: bool,
    ) -> Option<Self> {
        let game = lobby.game().ok()?;
        let team = |team: Option<u8>| team.filter(|_| game.has_teams);
        let humans = game.roster.humans().iter().map(|human| LivePlayer {
            key: PlayerKey {
                kind: Kind::Human,
                id: human.id.text().to_owned(),
            },
            name: human.name.clone().unwrap_or_default(),
            team: team(human.team),
        });
        let bots = game.roster.bots().iter().map(|bot| LivePlayer {
            key: PlayerKey {
                kind: Kind::Bot,
                id: bot.name.text().to_owned(),
            },
            name: bot.name.text().to_owned(),
            team: team(Some(bot.team)),
        });
        let players: Vec<LivePlayer> = humans.chain(bots).collect();
        let played = lobby.played();
        let began = played.map(|played| now.plus_millis(-i64::try_from(played).unwrap_or(0)));
        let left = lobby.left();
        let ends = left.map(|left| now.plus_millis(i64::try_from(left).unwrap_or(i64::MAX)));
        (!players.is_empty()).then(|| Self {
            server: server_name(server).to_owned(),
            is_connected,
            game_type: game.game_type.clone(),
            mutators: game.mutators.clone(),
            map: game.map.clone(),
            began,
            ends,
            scores: match began {
                Some(_) => lobby.scores().to_vec(),
                None => Vec::new(),
            },
            has_scored: began.is_some() && lobby.has_scored(),
            teams: if game.has_teams { lobby.teams() } else { 0 },
            chances: lobby.chance_summary(),
            players,
        })
    }
}

/// The games that sessions show.
#[derive(Debug, Default)]
pub(super) struct LiveBoard {
    games: Mutex<BTreeMap<u64, Arc<LiveGame>>>,
    next: AtomicU64,
}

impl LiveBoard {
    /// The games, in the order in which their sessions began.
    pub(super) fn games(&self) -> Vec<Arc<LiveGame>> {
        self.games.lock().values().cloned().collect()
    }
}

/// The place of one session's game on the board; dropping it removes the game.
#[derive(Debug)]
pub(super) struct LivePlace {
    board: Arc<LiveBoard>,
    number: u64,
    /// Whether the game has changed since it was shown.
    pub(super) is_outdated: bool,
}

impl LivePlace {
    /// A place without a game.
    pub(super) fn new(board: &Arc<LiveBoard>) -> Self {
        Self {
            board: board.clone(),
            number: board.next.fetch_add(1, Ordering::Relaxed),
            is_outdated: false,
        }
    }

    /// Notes that the game has changed.
    pub(super) fn changed(&mut self) {
        self.is_outdated = true;
    }

    /// Shows the game as it is now; `None` takes it off the board.
    pub(super) fn show(&mut self, game: Option<LiveGame>) {
        self.is_outdated = false;
        let mut games = self.board.games.lock();
        match game {
            Some(game) => games.insert(self.number, Arc::new(game)),
            None => games.remove(&self.number),
        };
    }
}

impl Drop for LivePlace {
    fn drop(&mut self) {
        self.board.games.lock().remove(&self.number);
    }
}

/// The most lines queued for a connection. Further lines are dropped if the peer reads too slowly.
/// A match is a line for each of its players, at most 128, and one more.
const CAPACITY: usize = 1_024;

/// Queues lines for one connection. Clones refer to the same connection.
#[derive(Clone, Debug)]
pub struct Mailbox(mpsc::Sender<String>);

/// The receiving end of a [`Mailbox`], from which the connection sends.
#[derive(Debug)]
pub struct MailboxReceiver(mpsc::Receiver<String>);

impl Mailbox {
    /// An empty mailbox, and its receiver.
    pub fn new() -> (Self, MailboxReceiver) {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        (Self(sender), MailboxReceiver(receiver))
    }

    /// Queues a line, which is sent between two replies. Never waits.
    ///
    /// # Errors
    /// Fails if the mailbox is full or the connection has ended. The line is dropped then.
    pub fn push(&self, line: String) -> Result<(), MailboxError> {
        self.0.try_send(line).map_err(|error| match error {
            TrySendError::Full(_) => MailboxError::Full,
            TrySendError::Closed(_) => MailboxError::Closed,
        })
    }
}

impl Mailbox {
    /// Whether the connection has not ended.
    pub fn is_open(&self) -> bool {
        !self.0.is_closed()
    }

    /// Queues lines that belong together: all of them or none.
    ///
    /// # Errors
    /// Fails if the mailbox has no room for them or the connection has ended.
    pub fn push_all(&self, lines: Vec<String>) -> Result<(), MailboxError> {
        let permits = self
            .0
            .try_reserve_many(lines.len())
            .map_err(|error| match error {
                TrySendError::Full(()) => MailboxError::Full,
                TrySendError::Closed(()) => MailboxError::Closed,
            })?;
        for (permit, line) in permits.zip(lines) {
            permit.send(line);
        }
        Ok(())
    }
}

impl MailboxReceiver {
    /// Waits for the next line; `None` once all mailboxes of this connection are dropped. Cancel
    /// safe.
    pub async fn receive(&mut self) -> Option<String> {
        self.0.recv().await
    }

    /// Like [`receive`](Self::receive), for futures that are written by hand.
    pub fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Option<String>> {
        self.0.poll_recv(context)
    }

    /// The next line, if one is queued.
    pub fn try_receive(&mut self) -> Option<String> {
        self.0.try_recv().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_is_gone_with_its_session() {
        let board = Arc::new(LiveBoard::default());
        let game = |server: &str| LiveGame {
            server: server.into(),
            is_connected: true,
            game_type: "ctf".into(),
            mutators: vec![],
            map: None,
            began: None,
            ends: None,
            has_scored: false,
            scores: vec![],
            teams: 2,
            chances: ChanceSummary::default(),
            players: vec![],
        };
        let (mut one, mut other) = (LivePlace::new(&board), LivePlace::new(&board));
        one.show(Some(game("one")));
        other.show(Some(game("other")));
        let servers = || -> Vec<String> {
            let games = board.games.lock();
            games.values().map(|game| game.server.clone()).collect()
        };
        assert_eq!(servers(), ["one", "other"]);
        drop(one);
        assert_eq!(servers(), ["other"]);
        other.show(None);
        assert!(servers().is_empty());
    }
}
