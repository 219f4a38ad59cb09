//! Games and players as the log of a game server describes them.

use evenkeel_model::{Kind, PlayerKey, RoleName};

/// What the log states about a game before it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedSetup {
    pub(crate) game_type: String,
    pub(crate) mutators: Vec<String>,
    pub(crate) map: String,
    /// Whether the players of this game are on teams.
    pub(crate) teams: bool,
    /// The match of a queue that the game is, on a server that hosts matches.
    pub(crate) match_id: Option<i64>,
}

/// The key of a connection of the game server. Each engine decides which number and text distinguish its
/// connections.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionKey(pub(crate) Option<u32>, pub(crate) String);

impl ConnectionKey {
    /// The key of a connection that a number distinguishes.
    pub(crate) fn numbered(number: u32) -> Self {
        Self(Some(number), String::new())
    }

    /// The key of the connection of this client.
    pub(super) fn of(client: usize) -> Self {
        // The grammars of the logs bound client numbers.
        Self::numbered(u32::try_from(client).unwrap_or(u32::MAX))
    }
}

/// A player as the log describes them.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedPlayer {
    pub(crate) key: PlayerKey,
    pub(crate) name: String,
    /// The number by which commands name the player; `None` if the log does not state it.
    pub(crate) number: Option<u32>,
    /// The side of the map that the player is on; `None` for spectators and in games without teams.
    pub(crate) side: Option<u8>,
    /// Whether the player plays without a team, if the game has none.
    pub(crate) free: bool,
    /// Whether the player is in the game, and no longer connecting.
    pub(crate) begun: bool,
    /// What the player plays as, for example a class.
    pub(crate) role: Option<RoleName>,
}

impl LoggedPlayer {
    pub(super) fn is_bot(&self) -> bool {
        self.key.kind == Kind::Bot
    }

    /// Whether the player takes part in a game with or without `teams`.
    pub(crate) fn plays(&self, teams: bool) -> bool {
        self.side.is_some() || (self.free && !teams)
    }
}
