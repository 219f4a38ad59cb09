//! The calls that clients and instances make, and their answers.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{
    Configured, HostPlan, Listener, QueueSize, QueuesError, TicketView, host_ask::HostAsk,
};
use crate::{domain::MatchId, matchmaking::Queue, tickets::Submission};

/// A client's call.
#[derive(Debug)]
pub(super) struct Call {
    pub ask: Ask,
    pub answer: oneshot::Sender<Outcome>,
}

/// What a client asks for. The first text is the client's name.
#[derive(Debug)]
pub(super) enum Ask {
    List,
    /// The ticket, and the queue that has checked it.
    Submit(Arc<Queue>, Submission),
    Cancel(String, String),
    Ticket(String, String),
    Answer {
        owner: String,
        id: MatchId,
        player: String,
        accepts: bool,
    },
    Listen(String, Listener),
    Explain(String, String),
    Host(HostAsk),
    Configure(Configured),
}

/// The answer to a call, or why it has failed.
pub(super) type Outcome = Result<Answer, QueuesError>;

/// What a client is answered.
#[derive(Debug)]
pub(super) enum Answer {
    List(Vec<QueueSize>),
    Ticket(Box<TicketView>),
    Reasons(Vec<String>),
    Plan(Box<HostPlan>),
    Match(Option<MatchId>),
    Seats(u32),
    /// Whether a player was on the way to a match.
    WasComing(bool),
    Done,
}
