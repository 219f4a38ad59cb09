//! What the lines of game servers mean, in words that all formats share: events, and the teams of clients. The
//! recorder of matches, a sidecar and an agent take the same events.

/// The most teams of a game that a log tells apart.
pub const TEAMS: usize = 4;

/// Something that the log of a game server shows. Clients are known by their numbers; the state of the format that
/// has read the log says who they are, and which game it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GameEvent {
    /// A game begins: its map is loaded. The log names all clients again.
    Game,
    /// More is known of the game that has begun.
    Setup,
    /// A round of the game begins, of games whose log marks it.
    Round,
    /// A round of the game ends; the teams may change sides before the next one.
    RoundEnd,
    /// The game begins again: what was played until now does not count.
    Restart {
        /// Whether play begins at once, and not with the next round.
        plays: bool,
    },
    /// The game goes on from an earlier round. The scores that follow show which one that is.
    Reloaded {
        /// Whether a round was being played, which does not count.
        running: bool,
    },
    /// The game goes on from the round that began with these scores of the sides: what was played since does not count.
    Restored([f64; 2]),
    /// The game waits for players; nothing counts until play starts.
    WarmUp,
    /// Play starts.
    Start,
    /// Play has ended, and results may follow.
    Over,
    /// All results have been stated.
    Ended,
    /// The server does not have the map that was to be loaded.
    NoMap,
    /// The map is closed, whether its game is over or not.
    Closed,
    /// A client is new, or the log states something of it, perhaps what it was before.
    Client(usize),
    /// A client is on a team, or on none, since a time that may be earlier than this line.
    Placed {
        /// The number of the client.
        client: usize,
        /// In milliseconds since the log began; `None` if the client has been there since the game began.
        since: Option<u64>,
    },
    /// A client has left.
    Left(usize),
    /// A client has died.
    Death {
        /// The number of the client who has died.
        victim: usize,
        /// The number of the other client who has killed them; `None` if nobody else has.
        by: Option<usize>,
        /// Whether that is an enemy, so that it counts as a kill.
        enemy: bool,
        /// Whether the game itself has removed the victim, who changes teams or leaves.
        moved: bool,
    },
    /// The score of a team changes.
    Score {
        /// The team.
        team: u8,
        /// By how much its score changes.
        points: f64,
        /// The number of the client who has caused it, if the log states it.
        by: Option<usize>,
    },
    /// A team has this score.
    Total {
        /// The team.
        team: u8,
        /// Its score.
        points: f64,
    },
    /// A team's final score.
    Final {
        /// The team.
        team: u8,
        /// Its score.
        points: f64,
    },
    /// The final scores of the teams that have one.
    Result([Option<f64>; TEAMS]),
    /// A client's final points.
    Points {
        /// The number of the client.
        client: usize,
        /// The points.
        points: f64,
    },
}

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
