//! The task that owns all tickets: a batch of calls, one write, the answers, the news.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep},
};

use super::{
    Listener, QueueSize, QueuesError, Shared, TicketView, listeners::Listeners, rounds::Rounds,
    search::Found, view::seconds,
};
use crate::{
    domain::{Timestamp, counted},
    matchmaking::{Known, TicketSpec},
    store::StoreError,
    tickets::{Life, MatchId, Submission, TicketNumber, TicketRecord},
};

/// How often the task looks at what is due.
const TICK: Duration = Duration::from_millis(50);
/// How long changes that can wait are held back.
const LAZY: Duration = Duration::from_secs(1);
/// The delay before a database that failed is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// The most calls of one batch.
const BATCH: usize = 1_024;

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
    Submit(Submission),
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
}

/// The answer to a call, or why it has failed.
pub(super) type Outcome = Result<Answer, QueuesError>;

/// What a client is answered.
#[derive(Debug)]
pub(super) enum Answer {
    List(Vec<QueueSize>),
    Ticket(Box<TicketView>),
    Reasons(Vec<String>),
    Done,
}

/// Runs until the queues are stopped. After a write that failed, begins again with what is on disk.
pub(super) async fn run(shared: Arc<Shared>, mut calls: mpsc::Receiver<Call>) {
    let mut listeners = Listeners::default();
    let steady = Steady::new(&shared);
    loop {
        match load(&shared, &steady).await {
            Ok(life) => {
                let mut task = Task {
                    shared: &shared,
                    steady: &steady,
                    life,
                    rounds: Rounds::default(),
                    answers: Vec::new(),
                    written: Instant::now(),
                };
                match task.run(&mut calls, &mut listeners).await {
                    Ok(()) => return,
                    Err(error) => tracing::error!(%error, "tickets cannot be written"),
                }
            }
            Err(error) => tracing::error!(%error, "tickets cannot be read"),
        }
        while let Ok(call) = calls.try_recv() {
            let _ = call.answer.send(Err(QueuesError::NotWritten));
        }
        if shared
            .stop
            .run_until_cancelled(sleep(RETRY))
            .await
            .is_none()
        {
            return;
        }
    }
}

/// The time by which waits count.
struct Steady {
    start: Timestamp,
    millis: u64,
}

impl Steady {
    fn new(shared: &Shared) -> Self {
        Self {
            start: shared.clock.now(),
            millis: shared.clock.millis(),
        }
    }

    fn now(&self, shared: &Shared) -> Timestamp {
        let passed = shared.clock.millis().saturating_sub(self.millis);
        self.start
            .plus_millis(i64::try_from(passed).unwrap_or(i64::MAX))
    }
}

async fn load(shared: &Shared, steady: &Steady) -> Result<Life, StoreError> {
    let (tickets, matches) = shared.store.tickets().await?;
    let fits = |record: &TicketRecord| {
        let spec = serde_json::from_str::<TicketSpec>(&record.ticket.content).ok();
        let queue = shared.queues.get(&record.ticket.queue);
        let ticket = queue
            .zip(spec)
            .map(|(queue, spec)| queue.ticket(spec, &mut |_| Known::default()));
        ticket.is_some_and(|ticket| ticket.is_ok())
    };
    let now = steady.now(shared);
    let life = Life::restore(shared.terms(), tickets, matches, now, fits);
    if !shared.queues.is_empty() {
        tracing::info!(
            queues = shared.queues.len(),
            tickets = life.waiting(),
            "the queues are open"
        );
    }
    Ok(life)
}

struct Task<'a> {
    shared: &'a Shared,
    steady: &'a Steady,
    life: Life,
    rounds: Rounds,
    /// The answers of this batch, which are sent once its changes are on disk.
    answers: Vec<(oneshot::Sender<Outcome>, Outcome)>,
    /// When changes were last written.
    written: Instant,
}

impl Task<'_> {
    async fn run(
        &mut self,
        calls: &mut mpsc::Receiver<Call>,
        listeners: &mut Listeners,
    ) -> Result<(), StoreError> {
        // Restoring may have changed something.
        self.write().await?;
        let shared = self.shared;
        let mut batch = Vec::new();
        loop {
            let found = tokio::select! {
                biased;
                () = shared.stop.cancelled() => break,
                found = self.rounds.next() => found,
                _ = calls.recv_many(&mut batch, BATCH) => None,
                () = sleep(TICK) => None,
            };
            self.life.at(self.steady.now(shared));
            self.handle(batch.drain(..), listeners);
            let found = match found {
                Some(found) => self.commit(found).await,
                None => Ok(()),
            };
            match found {
                Ok(()) => self.settle(listeners).await?,
                Err(error) => return self.fail(error),
            }
            self.rounds.begin(shared, &self.life);
        }
        calls.close();
        while let Some(call) = calls.recv().await {
            self.handle([call], listeners);
        }
        self.written = self.written.checked_sub(LAZY).unwrap_or(self.written);
        self.settle(listeners).await
    }

    /// Writes what must be written, sends the answers of the batch, and then the news.
    async fn settle(&mut self, listeners: &mut Listeners) -> Result<(), StoreError> {
        let is_late = self.life.has_changed() && self.written.elapsed() >= LAZY;
        if self.life.must_write() {
            self.rounds.changed();
        }
        if (self.life.must_write() || is_late)
            && let Err(error) = self.write().await
        {
            return self.fail(error);
        }
        for (client, answer) in self.answers.drain(..) {
            let _ = client.send(answer);
        }
        listeners.tell(&mut self.life);
        Ok(())
    }

    async fn write(&mut self) -> Result<(), StoreError> {
        let changes = self.life.take_changes();
        if !changes.is_empty() {
            self.shared.store.write_tickets(&changes).await?;
        }
        self.written = Instant::now();
        Ok(())
    }

    /// Answers the batch with the failure of its write.
    fn fail(&mut self, error: StoreError) -> Result<(), StoreError> {
        for (client, _) in self.answers.drain(..) {
            let _ = client.send(Err(QueuesError::NotWritten));
        }
        Err(error)
    }

    /// Forms the matches that a round has found.
    async fn commit(&mut self, found: Found) -> Result<(), StoreError> {
        let Found {
            queue, proposals, ..
        } = found;
        let Ok(count @ 1..) = u32::try_from(proposals.len()) else {
            return Ok(());
        };
        let first = self.shared.store.reserve_matches(count).await?;
        let formed = self.life.propose(&queue, proposals, first);
        tracing::debug!(queue, found = count, formed, "a round has ended");
        Ok(())
    }

    fn handle(&mut self, calls: impl IntoIterator<Item = Call>, listeners: &mut Listeners) {
        for Call { ask, answer } in calls {
            let outcome = match ask {
                Ask::Listen(owner, listener) => {
                    listeners.add(owner, listener);
                    Ok(Answer::Done)
                }
                ask => self.answer(ask),
            };
            self.answers.push((answer, outcome));
        }
    }

    fn answer(&mut self, ask: Ask) -> Result<Answer, QueuesError> {
        Ok(match ask {
            Ask::List => {
                let queues = self.shared.queues.keys();
                Answer::List(
                    queues
                        .map(|name| QueueSize::new(&self.life, name))
                        .collect(),
                )
            }
            Ask::Submit(submission) => {
                let number = self.life.submit(submission)?;
                self.view(number)?
            }
            Ask::Cancel(owner, id) => {
                let number = self.life.cancel(&owner, &id)?;
                self.view(number)?
            }
            Ask::Ticket(owner, id) => {
                let number = self.life.find(&owner, &id)?;
                self.view(number)?
            }
            Ask::Answer {
                owner,
                id,
                player,
                accepts,
            } => {
                match accepts {
                    true => self.life.accept(&owner, id, &player)?,
                    false => self.life.decline(&owner, id, &player)?,
                }
                Answer::Done
            }
            Ask::Explain(owner, id) => Answer::Reasons(self.explain(&owner, &id)?),
            Ask::Listen(..) => Answer::Done,
        })
    }

    fn view(&self, number: TicketNumber) -> Result<Answer, QueuesError> {
        let record = self
            .life
            .ticket(number)
            .ok_or(crate::tickets::Refused::NoTicket)?;
        let view = TicketView::new(&self.life, record);
        Ok(Answer::Ticket(Box::new(view)))
    }

    fn explain(&self, owner: &str, id: &str) -> Result<Vec<String>, QueuesError> {
        let number = self.life.find(owner, id)?;
        let record = self
            .life
            .ticket(number)
            .ok_or(crate::tickets::Refused::NoTicket)?;
        if record.state != crate::tickets::State::Queued {
            return Ok(vec![format!(
                "{id} does not wait in {}",
                record.ticket.queue
            )]);
        }
        let size = QueueSize::new(&self.life, &record.ticket.queue);
        let count = |number: usize, what| counted(u32::try_from(number).unwrap_or(u32::MAX), what);
        let mut reasons = vec![format!(
            "{id} has waited for {} s; waiting in {}: {}, {}",
            seconds(self.life.waited(record)),
            size.name,
            count(size.tickets, "ticket"),
            count(size.players, "player"),
        )];
        reasons.push(match self.rounds.reason(&record.ticket.queue, number) {
            Some(reason) => reason.to_owned(),
            None => "no round has searched for it yet".to_owned(),
        });
        Ok(reasons)
    }
}
