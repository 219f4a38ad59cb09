//! The team of a client, as a log states it.

/// The team of a client on a game server. A client is one connection: a human's or a bot's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientTeam {
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

impl ClientTeam {
    /// Whether two of these clients are opponents: on different teams, or both without one.
    pub(crate) fn are_opposed(clients: impl Iterator<Item = Self>) -> bool {
        let (mut first, mut free) = (None, 0);
        for client in clients {
            match client {
                Self::Team(team) if *first.get_or_insert(team) != team => return true,
                Self::Free if free == 1 => return true,
                Self::Free => free += 1,
                Self::Team(_) | Self::Spectator | Self::Unknown => {}
            }
        }
        false
    }
}
