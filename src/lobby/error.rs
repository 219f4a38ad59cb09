//! Why a lobby refuses a command.

use crate::domain::RecordError;

/// Why a command was refused; it changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LobbyError {
    /// The session has no game yet.
    #[error("send GAME first")]
    NoGame,
    /// No player of that id or name takes part.
    #[error("not in the roster")]
    UnknownPlayer,
    /// The id is one that a game gives to every player whose identity it does not know.
    #[error("many players share this id; send a name instead")]
    SharedId,
    /// The game has as many humans, or bots, as the settings allow.
    #[error("the roster is full")]
    RosterFull,
    /// The game has fewer teams.
    #[error("there is no team {0}")]
    NoSuchTeam(u8),
    /// The number of teams is not 2 to 8.
    #[error("the number of teams cannot be {0}")]
    BadTeams(u8),
    /// A player is on, or pinned to, a team that would no longer exist.
    #[error("a player is on a team that would not exist")]
    TeamInUse,
    /// The game type is played without teams.
    #[error("this game type has no teams")]
    NoTeams,
    /// The game names more mutators than any real game.
    #[error("too many mutators")]
    TooManyMutators,
    /// Play has not begun, so it cannot end.
    #[error("send START first")]
    NotStarted,
    /// Play has begun already: beginning it again would drop its score.
    #[error("play has begun; send END or GAME first")]
    AlreadyStarted,
    /// What the game server reported makes no valid match record.
    #[error("no match record can be made of this: {0}")]
    Record(#[from] RecordError),
}
