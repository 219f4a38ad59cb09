//! The team of a client, as a log states it.

/// The team of a client on a game server. A client is one connection: a human's or a bot's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ClientTeam {
    /// No line has stated it yet.
    #[default]
    Unknown,
    /// The client plays, but not for a team: the game has none, or the choice is still open.
    Free,
    /// The client plays for this team, counted from 0.
    Team(u8),
    /// The client watches, or is still connecting.
    Spectator,
}
