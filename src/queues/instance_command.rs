//! What instances ask the task of the queues for.

use serde::{Deserialize, Serialize};

use super::link::Link;
use crate::{
    domain::MatchId,
    lifecycle::{Allocation, Offer},
};

/// What an instance asks for, or reports of a match. The first text is the instance's name.
#[derive(Debug, Serialize, Deserialize)]
pub enum InstanceCommand {
    /// It connects, or changes what it offers. Fails if there are too many instances.
    Join(Box<Offer>, Link),
    /// How busy it is, and the partition of its offer. Fails if the instance is not known.
    Load(String, f64, Option<String>),
    /// It refuses to host a match. The daemon looks for another one; see
    /// [`Lifecycle::refused`](crate::lifecycle::Lifecycle::refused).
    Refuse(String, MatchId),
    /// It is ready to host a match, and the players are called; see
    /// [`Lifecycle::ready`](crate::lifecycle::Lifecycle::ready).
    Ready {
        /// The instance.
        name: String,
        /// The match.
        id: MatchId,
        /// Where players connect; `None` for the address of the offer.
        address: Option<String>,
        /// The number of the game that this connection opens for the match, if it opens one.
        opens: Option<(i64, Link)>,
    },
    /// A connection has the game of a match; see
    /// [`Lifecycle::opened`](crate::lifecycle::Lifecycle::opened).
    Opened {
        /// The instance.
        name: String,
        /// The match.
        id: MatchId,
        /// The number of the game.
        game: i64,
        /// The connection.
        link: Link,
        /// Whether the connection is about to put the game into its session.
        plans: bool,
    },
    /// Play begins in a match, which no other instance gets from now on; see
    /// [`Lifecycle::began`](crate::lifecycle::Lifecycle::began).
    Began(String, MatchId),
    /// A match has ended, and is recorded. If this cannot be written, the daemon that runs the queue finds the recorded
    /// match later, and ends it.
    Ended(MatchId),
    /// The game server has begun another game instead of that of the match.
    GaveUp(MatchId),
    /// The allocator has answered.
    Allocated {
        /// The match that asked.
        id: MatchId,
        /// The answer.
        allocation: Allocation,
        /// 0 to 1, at random: spreads the times at which matches ask again.
        jitter: f64,
    },
    /// All players of the game of a match in play. Others may queue again.
    Roster {
        /// The instance.
        name: String,
        /// The match.
        id: MatchId,
        /// The players, each with the team.
        players: Vec<(String, Option<u8>)>,
    },
    /// The number of a team's seats that players of the queue are to fill; see
    /// [`Lifecycle::seek_players`](crate::lifecycle::Lifecycle::seek_players).
    Seek {
        /// The instance.
        name: String,
        /// The match in play.
        id: MatchId,
        /// The team.
        team: u8,
        /// The number of seats.
        seats: u32,
    },
    /// The game server sends a player away who is on the way to its match in play.
    SendAway {
        /// The instance.
        name: String,
        /// The match in play.
        id: MatchId,
        /// The player.
        player: String,
    },
    /// A player of a match whose play has not begun is there.
    Arrived {
        /// The instance.
        name: String,
        /// The match.
        id: MatchId,
        /// The player.
        player: String,
    },
}

impl InstanceCommand {
    /// The connection that an instance registers with this.
    pub(super) fn link(&self) -> Option<&Link> {
        match self {
            Self::Join(_, link) | Self::Opened { link, .. } => Some(link),
            Self::Ready { opens, .. } => opens.as_ref().map(|(_, link)| link),
            _ => None,
        }
    }
}
