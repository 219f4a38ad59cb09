//! What instances ask the task of the queues for, and the game that they open.

use serde::{Deserialize, Serialize};

use super::link::Link;
use crate::{
    domain::MatchId,
    lifecycle::{Allocation, Offer},
    protocol::HostSeat,
};

/// What an instance asks for. The first text is the instance's name.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum InstanceCommand {
    Join(Box<Offer>, Link),
    /// The name, the load, and the partition.
    Load(String, f64, Option<String>),
    Refuse(String, MatchId),
    /// With `opens`, this connection opens a game of this number for the match.
    Ready {
        name: String,
        id: MatchId,
        address: Option<String>,
        opens: Option<(i64, Link)>,
    },
    /// A connection has the game of a match. With `plans`, it is about to put it into its session.
    Opened {
        name: String,
        id: MatchId,
        game: i64,
        link: Link,
        plans: bool,
    },
    Began(String, MatchId),
    Ended(MatchId),
    GaveUp(MatchId),
    /// The allocator has answered.
    Allocated {
        id: MatchId,
        allocation: Allocation,
        /// 0 to 1, at random: spreads the times at which matches ask again.
        jitter: f64,
    },
    /// All players of the game of a match in play, each with the team.
    Roster {
        name: String,
        id: MatchId,
        players: Vec<(String, Option<u8>)>,
    },
    /// The number of a team's seats that players of the queue are to fill.
    Seek {
        name: String,
        id: MatchId,
        team: u8,
        seats: u32,
    },
    /// The game server sends a player away who is on the way to its match in play.
    SendAway {
        name: String,
        id: MatchId,
        player: String,
    },
    Arrived {
        name: String,
        id: MatchId,
        player: String,
    },
}

impl InstanceCommand {
    /// The connection that an instance registers with this.
    pub fn link(&self) -> Option<&Link> {
        match self {
            Self::Join(_, link) | Self::Opened { link, .. } => Some(link),
            Self::Ready { opens, .. } => opens.as_ref().map(|(_, link)| link),
            _ => None,
        }
    }
}

/// The game that an instance opens for a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostPlan {
    /// The match that the game is recorded as.
    pub id: MatchId,
    /// The queue that formed it.
    pub queue: String,
    /// The game type, and the mutators.
    pub ruleset: String,
    /// The map of the match, if it has one.
    pub map: Option<String>,
    /// Number of teams.
    pub teams: u8,
    /// The players with their teams and parties.
    pub seats: Vec<HostSeat>,
    /// The predicted chance that team 0 wins.
    pub chance: Option<f64>,
    /// What the violations of rules cost.
    pub penalty: f64,
}
