//! The errors of a lobby.

use evenkeel_model::RecordError;

/// Why a command or decision failed. It changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LobbyError {
    /// The session has no game yet.
    #[error("send GAME first")]
    NoGame,
    /// No player with this id or name is in the game.
    #[error("not in the roster")]
    UnknownPlayer,
    /// The id is a placeholder that games send for all players without an identity.
    #[error("many players share this id; send a name instead")]
    SharedId,
    /// The game has as many humans, or bots, as the settings allow.
    #[error("the roster is full")]
    RosterFull,
    /// The game has fewer teams than this number needs.
    #[error("there is no team {0}")]
    NoSuchTeam(u8),
    /// The number of teams is not 2 to 8.
    #[error("the number of teams cannot be {0}")]
    BadTeams(u8),
    /// A human or bot is on, or pinned to, a team that would no longer exist.
    #[error("a player is on a team, or pinned to one, that would not exist")]
    TeamInUse,
    /// The game type is played without teams.
    #[error("this game type has no teams")]
    NoTeams,
    /// The game has more mutators than any real game.
    #[error("too many mutators")]
    TooManyMutators,
    /// Play has not begun, so it cannot end.
    #[error("send START first")]
    NotStarted,
    /// Play has already begun; beginning again would discard its score.
    #[error("play has begun; send END or GAME first")]
    AlreadyStarted,
    /// The numbers in a journal cannot be the sizes and chances of teams.
    #[error("these cannot be the sizes and chances of teams")]
    BadChances,
    /// The reported events do not make a valid match record.
    #[error("the reported events do not make a valid match record: {0}")]
    Record(#[from] RecordError),
}
