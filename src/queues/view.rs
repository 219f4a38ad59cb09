//! What clients are shown of tickets and queues.

use serde::{Deserialize, Serialize};

use crate::{
    coordinator::{Coordinator, Stage},
    domain::MatchId,
    tickets::{FormedMatch, Life, Reason, State, TicketRecord},
};

/// How many tickets and players wait in a queue, and for how long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSize {
    /// The name of the queue.
    pub name: String,
    /// Number of tickets that wait.
    pub tickets: usize,
    /// Number of players in them.
    pub players: usize,
    /// The median wait of the last matched tickets, in seconds.
    pub wait: Option<u32>,
}

/// A ticket and its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TicketView {
    /// The client's id of the ticket.
    pub ticket: String,
    /// The state of the ticket.
    pub standing: Standing,
    /// Why the ticket has that state.
    pub reason: Reason,
    /// The match that the ticket is in.
    pub formed: Option<FormedMatch>,
    /// Whether the ticket has joined the match in play.
    pub joins: bool,
    /// Where the players connect: from the call on, as long as their passes are valid.
    pub call: Option<PlayerCall>,
}

/// Where the players of a ticket connect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayerCall {
    /// The address of the instance.
    pub address: String,
    /// The pass and the identity of each player.
    pub seats: Vec<(String, String)>,
}

impl PlayerCall {
    /// The call of a ticket's players; `None` while there is none.
    fn new(coordinator: &Coordinator, record: &TicketRecord) -> Option<Self> {
        let id = match record.state {
            State::Called(id) | State::Matched(id) => id,
            _ => return None,
        };
        let called = |stage| matches!(stage, Stage::Ready | Stage::Joining | Stage::Playing);
        let hosted = coordinator.hosted(id).filter(|one| called(one.stage))?;
        let seat = |player: &String| Some((coordinator.pass(id, player)?.clone(), player.clone()));
        let seats: Vec<_> = record.ticket.players.iter().filter_map(seat).collect();
        let address = hosted.address.clone()?;
        (!seats.is_empty()).then_some(Self { address, seats })
    }
}

/// The state of a ticket, with times in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Standing {
    /// The ticket waits in its queue.
    Queued {
        /// How long it has waited.
        waited: u32,
        /// How much longer it is expected to wait: the median of the last waits, minus its own.
        eta: Option<u32>,
    },
    /// Its players can accept a match.
    Proposed {
        /// The match that was proposed.
        id: MatchId,
        /// How much time is left.
        left: u32,
    },
    /// It is in a match.
    Matched(MatchId),
    /// It has left the queue.
    Cancelled,
    /// It has waited for as long as its queue allows.
    Expired,
}

impl TicketView {
    pub(super) fn new(life: &Life, coordinator: &Coordinator, record: &TicketRecord) -> Self {
        let formed = record.state.match_id().and_then(|id| life.formed(id));
        let standing = match record.state {
            State::Queued => {
                let waited = seconds(life.waited(record));
                let median = life.median_wait(&record.ticket.queue).map(seconds);
                let eta = median.map(|median| median.saturating_sub(waited));
                Standing::Queued { waited, eta }
            }
            State::Proposed(id) => {
                let until = formed.and_then(|formed| formed.open_until);
                let left = until.map_or(0, |until| until.0.saturating_sub(life.now().0));
                let left = seconds(left.saturating_add(999));
                Standing::Proposed { id, left }
            }
            State::Hosted(id) | State::Called(id) | State::Matched(id) => Standing::Matched(id),
            State::Cancelled => Standing::Cancelled,
            State::Expired => Standing::Expired,
        };
        Self {
            ticket: record.ticket.id.clone(),
            standing,
            reason: record.reason,
            joins: formed.is_some_and(|formed| formed.is_later(record.number)),
            formed: formed.map(|formed| with_those_who_are_there(formed, coordinator)),
            call: PlayerCall::new(coordinator, record),
        }
    }
}

/// A match without the players who have left it in play.
fn with_those_who_are_there(formed: &FormedMatch, coordinator: &Coordinator) -> FormedMatch {
    let mut formed = formed.clone();
    let hosted = coordinator.hosted(formed.id);
    if let Some(hosted) = hosted.filter(|hosted| hosted.roster.is_some()) {
        formed.seats.retain(|seat| hosted.has(&seat.player));
    }
    formed
}

impl QueueSize {
    pub(super) fn new(life: &Life, name: &str) -> Self {
        let (mut tickets, mut players) = (0, 0);
        for record in life.queued(name) {
            tickets += 1;
            players += record.ticket.players.len();
        }
        Self {
            name: name.to_owned(),
            tickets,
            players,
            wait: life.median_wait(name).map(seconds),
        }
    }
}

/// Whole seconds, rounded down.
pub(super) fn seconds(millis: i64) -> u32 {
    u32::try_from(millis.max(0) / 1_000).unwrap_or(u32::MAX)
}
