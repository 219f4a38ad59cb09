//! What a client needs for each verb: the only table of rights. A verb without an entry does not compile.

use super::{HostRequest, QueueRequest, Request};
use crate::domain::{Ident, Right, Rights};

/// What the daemon demands of a client before it carries out a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The client must have one of these rights; none is needed if this is empty.
    pub rights: Rights,
    /// As what the request counts for the limits.
    pub charge: Charge,
}

/// As what a request counts for the limits of a client, besides being a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    /// Only a line.
    Line,
    /// A decision: the daemon searches for teams, or stores how it chose.
    Decision,
    /// A report: the daemon stores what the line says.
    Report,
}

const ANYBODY: Rights = Rights::NONE;
const ASK: Rights = Rights::of(&[Right::Ask]);
const REPORT: Rights = Rights::of(&[Right::Report]);
/// Who asks and who reports both have to describe the game first.
const ASK_OR_REPORT: Rights = Rights::of(&[Right::Ask, Right::Report]);
const QUEUE: Rights = Rights::of(&[Right::Queue]);
const INSTANCE: Rights = Rights::of(&[Right::Instance]);

/// What a client needs to ask for a weight.
pub(in crate::protocol) const WEIGHT_DEMAND: Demand = Demand {
    rights: ASK,
    charge: Charge::Line,
};

impl Request {
    /// What a client needs for this request.
    pub fn demand(&self) -> Demand {
        use Charge::{Decision, Line, Report};
        let (rights, charge) = match self {
            Self::Ping | Self::Quit => (ANYBODY, Line),
            Self::Hello { hosts: None, .. } => (ANYBODY, Line),
            Self::Hello { hosts: Some(_), .. } => (INSTANCE, Line),
            Self::Game(_)
            | Self::Mutator(_)
            | Self::Map { .. }
            | Self::Teams(_)
            | Self::MinPlayers(_)
            | Self::Join(_)
            | Self::Leave { .. }
            | Self::Move { .. }
            | Self::BotJoin { .. }
            | Self::BotLeave(_)
            | Self::Protect { .. }
            | Self::Role { .. } => (ASK_OR_REPORT, Line),
            Self::Player(_) | Self::Bot(_) => return WEIGHT_DEMAND,
            Self::Rank(_) | Self::MeanBot => (ASK, Line),
            Self::Bots | Self::Advantage | Self::Explain => (ASK, Line),
            Self::Balance { .. } | Self::Place(_) | Self::Rebalance { .. } => (ASK, Decision),
            Self::Start
            | Self::Score { .. }
            | Self::Total { .. }
            | Self::Points { .. }
            | Self::Kill { .. }
            | Self::Death(_)
            | Self::Behaviour { .. }
            | Self::Clock(_)
            | Self::End(_) => (REPORT, Report),
            Self::Queue(request) => (QUEUE, request.charge()),
            Self::Host(request) => (INSTANCE, request.charge()),
        };
        Demand { rights, charge }
    }

    /// The player for whom a client of the queues sends this.
    pub fn speaks_for(&self) -> Option<&Ident> {
        match self {
            Self::Queue(request) => request.speaks_for(),
            _ => None,
        }
    }
}

impl QueueRequest {
    /// As what the request counts. Tickets are stored; an explanation is a search.
    fn charge(&self) -> Charge {
        match self {
            Self::Queues
            | Self::Enqueue { .. }
            | Self::Seat { .. }
            | Self::Ticket(_)
            | Self::Listen => Charge::Line,
            Self::Submit | Self::Cancel(_) | Self::Accept { .. } | Self::Decline { .. } => {
                Charge::Report
            }
            Self::Explain(_) => Charge::Decision,
        }
    }

    /// The player for whom a client sends this. Tickets belong to the client that submitted them anyway.
    fn speaks_for(&self) -> Option<&Ident> {
        match self {
            Self::Seat { player, .. } | Self::Accept { player, .. } => Some(player),
            Self::Decline { player, .. } => Some(player),
            Self::Queues
            | Self::Enqueue { .. }
            | Self::Submit
            | Self::Cancel(_)
            | Self::Ticket(_)
            | Self::Listen
            | Self::Explain(_) => None,
        }
    }
}

impl HostRequest {
    /// As what the request counts.
    fn charge(&self) -> Charge {
        match self {
            Self::Instance { .. }
            | Self::Load(_)
            | Self::Ready { .. }
            | Self::Refuse { .. }
            | Self::Backfill { .. } => Charge::Line,
        }
    }
}
