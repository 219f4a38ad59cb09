//! The game that the log of a game server shows: its setup and players, how far it is, and which of its results are
//! known.

use std::collections::BTreeSet;

use evenkeel_model::{Kind, PlayerKey, team_names::RoleName};

/// How long the results may take after the end of play, in milliseconds.
const RESULTS: u64 = 2_000;
/// The time of play after which a player who joins is a late arrival, in milliseconds. Those who
/// join earlier were still loading the map.
const LATE: u64 = 15_000;

/// The phase of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GamePhase {
    /// The map is loaded, and play has not begun; a warm-up may follow.
    Opening,
    /// Players warm up; what they do does not count.
    WarmUp,
    /// Play is running.
    Playing,
    /// Play has ended, and the results are being logged.
    Over,
    /// All results have been logged, or are overdue.
    Ended,
}

/// A game as the log shows it. Times are milliseconds of any clock, which is the same for all calls.
#[derive(Debug)]
pub(super) struct LoggedGame {
    pub(super) setup: LoggedSetup,
    phase: GamePhase,
    /// When the phase was last entered.
    since: u64,
    /// Whether the log contains the final score.
    scored: bool,
    /// The client numbers whose final points are in the log.
    pointed: BTreeSet<usize>,
}

impl LoggedGame {
    /// A game that has just been announced.
    pub(super) fn new(setup: LoggedSetup, now: u64) -> Self {
        Self {
            setup,
            phase: GamePhase::Opening,
            since: now,
            scored: false,
            pointed: BTreeSet::new(),
        }
    }

    pub(super) fn phase(&self) -> GamePhase {
        self.phase
    }

    pub(super) fn enter(&mut self, phase: GamePhase, now: u64) {
        (self.phase, self.since) = (phase, now);
    }

    /// For how long the game has been in its phase, in milliseconds.
    pub(super) fn lasted(&self, now: u64) -> u64 {
        now.saturating_sub(self.since)
    }

    /// Whether a player who joins now is a late arrival.
    pub(super) fn is_late(&self, now: u64) -> bool {
        self.phase == GamePhase::Playing && self.lasted(now) >= LATE
    }

    /// Whether the results are overdue.
    pub(super) fn is_overdue(&self, now: u64) -> bool {
        self.phase == GamePhase::Over && self.lasted(now) >= RESULTS
    }

    /// Notes that the log contains the final score. Returns whether it has not before.
    pub(super) fn note_result(&mut self) -> bool {
        !std::mem::replace(&mut self.scored, true)
    }

    /// Notes that the log contains the final points of a client. Returns whether it has not before.
    pub(super) fn note_points(&mut self, number: usize) -> bool {
        self.pointed.insert(number)
    }

    /// Whether the log contains all results, if these clients play.
    pub(super) fn has_results(&self, mut players: impl Iterator<Item = usize>) -> bool {
        let scored = self.scored || !self.setup.teams;
        scored && players.all(|number| self.pointed.contains(&number))
    }
}

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
    pub(crate) fn of(client: usize) -> Self {
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
    pub(crate) fn is_bot(&self) -> bool {
        self.key.kind == Kind::Bot
    }

    /// Whether the player takes part in a game with or without `teams`.
    pub(crate) fn plays(&self, teams: bool) -> bool {
        self.side.is_some() || (self.free && !teams)
    }
}
