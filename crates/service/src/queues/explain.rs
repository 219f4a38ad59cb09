//! Explanations: why a ticket waits, and what the rules found in its match.
//!
//! They run one at a time, apart from the task that owns the tickets, which goes on meanwhile. An
//! explanation of a ticket that waits searches for it again, among the tickets that wait now.

use std::{
    collections::VecDeque,
    sync::{Arc, atomic::AtomicBool},
};

use tokio::task::{JoinHandle, spawn_blocking};

use super::{
    QueueShared, QueuesError, ReplyTo,
    backfill::{Seeking, fill, seeking},
    command::ClientAnswer,
    pool::{RoundFacts, RoundPool, Waiting},
    rounds::waiting,
    view::seconds,
};
use crate::{
    matchmaking::lifecycle::{Lifecycle, Reason, State, TicketNumber, TicketRecord, TicketRefused},
    matchmaking::{Effort, Queue},
    model::{record::MatchId, text::counted},
};

/// The most explanations that wait for their turn.
const MOST: usize = 64;

/// What is said of a ticket whose search panics.
const FAULT: &str = "held back by a fault of the daemon: a search with this ticket has failed";

/// An explanation that is asked for.
#[derive(Debug)]
struct ExplainRequest {
    owner: String,
    id: String,
    answer: ReplyTo,
}

/// The explanations that are asked for, and the one that runs.
#[derive(Debug, Default)]
pub(super) struct Explanations {
    asked: VecDeque<ExplainRequest>,
    running: Option<JoinHandle<()>>,
    cancelled: Arc<AtomicBool>,
}

impl Explanations {
    /// Asks for the explanation of a ticket or a match of this client.
    pub fn ask(&mut self, owner: String, id: String, answer: ReplyTo) {
        match self.asked.len() < MOST {
            true => self.asked.push_back(ExplainRequest { owner, id, answer }),
            false => answer.send(Err(QueuesError::Busy)),
        }
    }

    /// Begins the next explanation if none runs. Everything that it shows is on disk.
    pub fn begin(&mut self, shared: &Arc<QueueShared>, life: &Lifecycle) {
        if self
            .running
            .as_ref()
            .is_some_and(|running| !running.is_finished())
        {
            return;
        }
        let Some(ExplainRequest { owner, id, answer }) = self.asked.pop_front() else {
            return;
        };
        match about(shared, life, &owner, &id) {
            Err(error) => answer.send(Err(error)),
            Ok(about) => {
                let (shared, cancelled) = (shared.clone(), self.cancelled.clone());
                self.running = Some(tokio::spawn(async move {
                    let reasons = about.reasons(&shared, cancelled).await;
                    answer.send(reasons.map(ClientAnswer::Reasons));
                }));
            }
        }
    }
}

impl Drop for Explanations {
    fn drop(&mut self) {
        self.cancelled
            .store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

/// What is explained.
enum About {
    /// A ticket in a final state, or nothing more to find out.
    Said(Vec<String>),
    /// A match, after these lines.
    Match(Vec<String>, MatchId),
    /// A ticket that waits, after these lines.
    Waits(Vec<String>, Box<TicketSearch>),
}

/// A search for a ticket among those that wait.
struct TicketSearch {
    queue: Arc<Queue>,
    ticket: TicketNumber,
    waiting: Vec<Waiting>,
    seeking: Vec<Seeking>,
    facts: RoundFacts,
}

/// Finds what an id means: the client's ticket, or else a match that has one of its tickets.
fn about(
    shared: &QueueShared,
    life: &Lifecycle,
    owner: &str,
    id: &str,
) -> Result<About, QueuesError> {
    let number = match life.find(owner, id) {
        Ok(number) => number,
        Err(refused) => {
            let formed = id.parse().ok().and_then(|id: MatchId| life.formed(id));
            let formed = formed.ok_or(refused)?;
            let own = |number: &TicketNumber| {
                let record = life.ticket(*number);
                record.is_some_and(|record| record.ticket.owner == owner)
            };
            return match formed.tickets().iter().any(own) {
                true => Ok(About::Match(
                    vec![match_line(formed.id, &formed.queue)],
                    formed.id,
                )),
                false => Err(TicketRefused::NoTicket.into()),
            };
        }
    };
    let record = life.ticket(number).ok_or(TicketRefused::NoTicket)?;
    let line = state_line(life, record);
    if let Some(id) = record.state.match_id() {
        return Ok(About::Match(vec![line], id));
    }
    let queue = shared.queue(&record.ticket.queue);
    let (State::Queued, Some(queue)) = (record.state, queue) else {
        return Ok(About::Said(vec![line]));
    };
    let facts = RoundFacts::new(&queue, &shared.learning, life);
    let held_back = if shared.learning.is_starting() {
        Some("the daemon is starting: no search has begun".to_owned())
    } else if let Some((player, id)) = life.held(record) {
        Some(format!(
            "{player} is in match {id}: no search includes the ticket until that is over"
        ))
    } else if facts.awaits(&record.ticket.players) {
        Some("what is known of its players is being derived: no search includes it yet".to_owned())
    } else {
        None
    };
    if let Some(why) = held_back {
        return Ok(About::Said(vec![line, why]));
    }
    let search = TicketSearch {
        waiting: waiting(life, queue.name(), &facts),
        seeking: seeking(life, &queue, &facts),
        facts,
        ticket: number,
        queue,
    };
    Ok(About::Waits(vec![line], Box::new(search)))
}

fn match_line(id: MatchId, queue: &str) -> String {
    format!("match {id} of {queue}")
}

/// The state of a ticket and its wait in one line.
fn state_line(life: &Lifecycle, record: &TicketRecord) -> String {
    let (id, queue) = (&record.ticket.id, &record.ticket.queue);
    let waited = seconds(life.waited(record));
    let reason = match record.reason {
        Reason::None => String::new(),
        reason => format!(" ({})", reason.as_str()),
    };
    match record.state {
        State::Queued => {
            let waiting = life
                .queued(queue)
                .fold((0_u32, 0_u32), |(tickets, players), other| {
                    (tickets + 1, players + other.ticket.players.len() as u32)
                });
            format!(
                "{id} has waited for {waited} s{reason}; waiting in {queue}: {}, {}",
                counted(waiting.0, "ticket"),
                counted(waiting.1, "player")
            )
        }
        State::Proposed(at) => format!(
            "{id} is in {}, which its players can accept; it had waited for {waited} s",
            match_line(at, queue)
        ),
        State::Hosted(at) => format!(
            "{id} is in {}, for which an instance is sought; it has waited for {waited} s",
            match_line(at, queue)
        ),
        State::Called(at) => format!(
            "{id} is in {}, to which its players are called; it has waited for {waited} s",
            match_line(at, queue)
        ),
        State::Matched(at) => format!(
            "{id} is in {}; it waited for {waited} s",
            match_line(at, queue)
        ),
        State::Cancelled => format!("{id} left {queue} after {waited} s{reason}"),
        State::Expired => format!("{id} expired in {queue} after {waited} s"),
    }
}

impl About {
    async fn reasons(
        self,
        shared: &QueueShared,
        cancelled: Arc<AtomicBool>,
    ) -> Result<Vec<String>, QueuesError> {
        match self {
            Self::Said(lines) => Ok(lines),
            Self::Match(mut lines, id) => {
                let found = shared
                    .store
                    .queues()
                    .formed_match(id)
                    .await
                    .map_err(|error| {
                        tracing::error!(%error, "a match cannot be read");
                        QueuesError::NotRead
                    })?;
                lines.extend(
                    found
                        .into_iter()
                        .flat_map(|found| found.formed.proposal.why),
                );
                Ok(lines)
            }
            Self::Waits(mut lines, search) => {
                match spawn_blocking(move || search.run(&cancelled)).await {
                    Ok(found) => lines.extend(found),
                    Err(error) if error.is_panic() => {
                        tracing::error!(%error, "a search for an explanation has failed");
                        lines.push(FAULT.to_owned());
                    }
                    Err(_) => return Err(QueuesError::Stopped),
                }
                Ok(lines)
            }
        }
    }
}

impl TicketSearch {
    /// Whether a match in play has a free seat for the ticket; nothing if no match seeks players.
    fn free_seats(&self) -> Vec<String> {
        if self.seeking.is_empty() {
            return Vec::new();
        }
        let own = self.waiting.iter().filter(|one| one.number == self.ticket);
        let mut own: Vec<Waiting> = own.cloned().collect();
        let (queue, seeking) = (&self.queue, &self.seeking);
        let found = fill(queue, seeking, &mut own, &self.facts, 0);
        let seek = match self.seeking.len() {
            1 => "1 match in play seeks players".to_owned(),
            count => format!("{count} matches in play seek players"),
        };
        let fits = match found.is_empty() {
            true => "this ticket alone fits none",
            false => "this ticket fits",
        };
        vec![format!("backfill: {seek}; {fits}")]
    }

    fn run(&self, cancelled: &AtomicBool) -> Vec<String> {
        let pool = RoundPool::new(&self.queue, &self.waiting, &self.facts);
        let input = pool.input(&self.queue, 0, Effort::default());
        let place = pool
            .numbers
            .iter()
            .position(|number| *number == self.ticket);
        let free: Vec<usize> = (0..pool.numbers.len()).collect();
        let why = place.and_then(|place| input.why(place, &free, cancelled));
        let mut lines = self.free_seats();
        lines.extend(why.map_or_else(Vec::new, |why| why.lines()));
        lines
    }
}
