//! The replies of a server: one variant of [`Reply`] per kind.

mod fields;
mod grammar;
mod players;
mod queue;
mod reader;
mod teams;
#[cfg(test)]
mod tests;

pub(super) use fields::{Parsed, ident, number, split_first, split_last};
pub(super) use queue::go;
pub use queue::{QueueLine, TicketReply};
pub use reader::{Received, ReplyReader};
pub(super) use teams::{parse_move, put_move};

use super::{Refusal, VERSION};
use evenkeel_model::{Ident, Move, SwitchAnswer};

/// One reply, of one or several lines.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A human's weight; `None` if the player is unknown.
    Player(Ident, Option<f64>),
    /// A bot's weight.
    Bot(Ident, f64),
    /// A human's division.
    Rank {
        /// The identity of the human, as it was sent.
        id: Ident,
        /// The name of the division, and the way through it, 0 to 1; `None` while the player is
        /// calibrating.
        division: Option<(String, f64)>,
        /// Number of rated matches in this ruleset.
        games: u32,
        /// The weight; `None` if players are not shown it, or it is unknown.
        weight: Option<f64>,
    },
    /// The mean weight of the known bots, and their number.
    MeanBot(f64, usize),
    /// The reply to HELLO.
    Hello {
        /// Name and version of the program, such as `evenkeel/0.2.0`.
        program: String,
        /// Version of the protocol, now 1.
        protocol: u32,
        /// Whether a game was resumed; `None` if the peer did not ask for that.
        resumed: Option<bool>,
    },
    /// The reply to PING.
    Pong,
    /// The teams that BALANCE chose.
    Balance {
        /// The weight of the weakest team divided by that of the strongest, 0 to 1.
        ratio: f64,
        /// The predicted chance that team 0 wins; `None` if there is no prediction.
        chance: Option<f64>,
        /// The seed that reproduces the pick.
        seed: u64,
        /// Each human's team, in JOIN order.
        humans: Vec<(Ident, u8)>,
        /// The number of bots on each team.
        bots: Vec<u32>,
    },
    /// The value of MINPLAYERS, and the number of bots on each team.
    Bots(u32, Vec<u32>),
    /// The team for a late arrival, and the resulting ratio.
    Place(Ident, u8, f64),
    /// The team that needs an advantage, and the factor; `None` if no team does.
    Advantage(Option<(u8, f64)>),
    /// The moves that REBALANCE advises: the fewest that make the game even.
    Rebalance {
        /// The ratio before the moves, 0 to 1.
        before: f64,
        /// The ratio after the moves, 0 to 1.
        after: f64,
        /// The advised moves, in the order in which to make them.
        moves: Vec<Move>,
    },
    /// The human who died moves to another team now.
    Move(Move),
    /// What becomes of a human who has volunteered.
    Switch(Ident, SwitchAnswer),
    /// The match has been stored.
    End {
        /// The id under which it is stored.
        id: String,
        /// Why the match is not rated, on one line; `None` if it is rated.
        unrated: Option<String>,
    },
    /// The explanation of the last decision, one reason per line.
    Explain(Vec<String>),
    /// The configured queues.
    Queues(Vec<QueueLine>),
    /// The state of a ticket.
    Ticket(TicketReply),
    /// The seats of a team for which players of the queue are sought now.
    Backfill {
        /// The match in play.
        id: i64,
        /// Number of those seats, with those whose players are on their way.
        seats: u32,
    },
    /// The command was refused and changed nothing.
    Error(Refusal),
}

impl Reply {
    /// The reply of this program to HELLO.
    pub fn hello(resumed: Option<bool>) -> Self {
        Self::Hello {
            program: concat!("evenkeel/", env!("CARGO_PKG_VERSION")).to_owned(),
            protocol: VERSION,
            resumed,
        }
    }
}
