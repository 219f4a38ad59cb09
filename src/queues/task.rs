//! The task that owns all tickets: a batch of calls, one write, the answers, the news.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep},
};

use super::{
    Configured, HostPlan, Listener, QueueSize, QueuesError, Shared, TicketView,
    explain::Explanations,
    hosting::{HostAsk, Hosting},
    links::Links,
    listeners::Listeners,
    rounds::Rounds,
    search::Found,
};
use crate::{
    domain::Timestamp,
    matchmaking::Queue,
    store::StoreError,
    tickets::{Life, MatchId, Refused, Submission, TicketNumber, TicketRecord},
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
    Done,
}

/// Runs until the queues are stopped. After a write that failed, begins again with what is on disk.
pub(super) async fn run(shared: Arc<Shared>, mut calls: mpsc::Receiver<Call>) {
    let mut ears = Ears::default();
    let steady = Steady::new(&shared);
    loop {
        match load(&shared, &steady).await {
            Ok((life, hosting)) => {
                let mut task = Task {
                    shared: &shared,
                    steady: &steady,
                    life,
                    hosting,
                    rounds: Rounds::default(),
                    explanations: Explanations::default(),
                    answers: Vec::new(),
                    written: Instant::now(),
                    watched: None,
                    polled: None,
                };
                match task.run(&mut calls, &mut ears).await {
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
        self.time(shared.clock.millis())
    }

    /// The time of a millisecond of the clock.
    fn time(&self, millis: u64) -> Timestamp {
        let passed = millis.saturating_sub(self.millis);
        self.start
            .plus_millis(i64::try_from(passed).unwrap_or(i64::MAX))
    }
}

/// The connections that are sent what happens. They outlast a write that fails.
#[derive(Debug, Default)]
struct Ears {
    listeners: Listeners,
    links: Links,
}

async fn load(shared: &Shared, steady: &Steady) -> Result<(Life, Hosting), StoreError> {
    let (tickets, matches) = shared.store.tickets().await?;
    let fits = |record: &TicketRecord| shared.accepts(&record.ticket);
    let now = steady.now(shared);
    let mut life = Life::restore(shared.terms(), tickets, matches, now, fits);
    let hosting = Hosting::load(shared, &*shared.store, &mut life, now).await?;
    let queues = shared.queues().len();
    if queues > 0 {
        tracing::info!(queues, tickets = life.waiting(), "the queues are open");
    }
    Ok((life, hosting))
}

struct Task<'a> {
    shared: &'a Arc<Shared>,
    steady: &'a Steady,
    life: Life,
    hosting: Hosting,
    rounds: Rounds,
    explanations: Explanations,
    /// The answers of this batch, which are sent once its changes are on disk.
    answers: Vec<(oneshot::Sender<Outcome>, Outcome)>,
    /// When changes were last written.
    written: Instant,
    /// When the connections of instances were last looked at.
    watched: Option<Instant>,
    /// When the database was last asked which instances drain.
    polled: Option<Instant>,
}

impl Task<'_> {
    async fn run(
        &mut self,
        calls: &mut mpsc::Receiver<Call>,
        ears: &mut Ears,
    ) -> Result<(), StoreError> {
        // Restoring may have changed something.
        self.hosting.act(self.shared, &mut self.life);
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
            let now = self.steady.now(shared);
            self.life.at(now);
            self.hosting.coordinator.at(now);
            self.watch(ears).await;
            self.handle(batch.drain(..), ears);
            let found = match found {
                Some(found) => self.commit(found).await,
                None => Ok(()),
            };
            match found {
                Ok(()) => self.settle(ears).await?,
                Err(error) => return self.fail(error),
            }
            self.rounds.begin(shared, &self.life);
            self.explanations.begin(shared, &self.life);
        }
        calls.close();
        while let Some(call) = calls.recv().await {
            self.handle([call], ears);
        }
        self.written = self.written.checked_sub(LAZY).unwrap_or(self.written);
        self.settle(ears).await
    }

    /// Looks at the connections of instances, and at what operators have changed.
    async fn watch(&mut self, ears: &mut Ears) {
        if self.watched.is_some_and(|at| at.elapsed() < TICK) {
            return;
        }
        self.watched = Some(Instant::now());
        let coordinator = &mut self.hosting.coordinator;
        ears.links
            .watch(coordinator, |millis| self.steady.time(millis));
        let has_instances = coordinator.instances().next().is_some();
        if has_instances && self.polled.is_none_or(|at| at.elapsed() >= LAZY) {
            self.polled = Some(Instant::now());
            match self.shared.store.draining().await {
                Ok(names) => {
                    if self.hosting.coordinator.drain(&names) {
                        tracing::info!(?names, "these instances get no further matches");
                    }
                }
                Err(error) => tracing::debug!(%error, "cannot read which instances drain"),
            }
        }
    }

    /// Writes what must be written, sends the answers of the batch, and then the news.
    async fn settle(&mut self, ears: &mut Ears) -> Result<(), StoreError> {
        self.hosting.act(self.shared, &mut self.life);
        let coordinator = &self.hosting.coordinator;
        let has_changed = self.life.has_changed() || coordinator.has_changed();
        let is_late = has_changed && self.written.elapsed() >= LAZY;
        let must_write = self.life.must_write() || coordinator.must_write();
        if self.life.must_write() {
            self.rounds.changed();
        }
        if (must_write || is_late)
            && let Err(error) = self.write().await
        {
            return self.fail(error);
        }
        for (client, answer) in self.answers.drain(..) {
            let _ = client.send(answer);
        }
        for act in self.hosting.take_unsent() {
            let opening = |id| self.hosting.opening(&self.life, id);
            ears.links.send(&act, opening);
        }
        ears.listeners
            .tell(&mut self.life, &self.hosting.coordinator);
        Ok(())
    }

    async fn write(&mut self) -> Result<(), StoreError> {
        let changes = self.life.take_changes();
        let hosting = self.hosting.coordinator.take_changes();
        if !(changes.is_empty() && hosting.is_empty()) {
            let store = &self.shared.store;
            store.write_hosting(&changes, &hosting).await?;
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
        let Found { queue, proposals } = found;
        let now = self.shared.queue(queue.name());
        if now.is_none_or(|now| !Arc::ptr_eq(&now, &queue)) {
            return Ok(()); // found under another configuration
        }
        let Ok(count @ 1..) = u32::try_from(proposals.len()) else {
            return Ok(());
        };
        let first = self.shared.store.reserve_matches(count).await?;
        let queue = queue.name();
        let formed = self.life.propose(queue, proposals, first);
        tracing::debug!(queue, found = count, formed, "a round has ended");
        Ok(())
    }

    fn handle(&mut self, calls: impl IntoIterator<Item = Call>, ears: &mut Ears) {
        for Call { ask, answer } in calls {
            let outcome = match ask {
                Ask::Explain(owner, id) => {
                    self.explanations.ask(owner, id, answer);
                    continue;
                }
                Ask::Listen(owner, listener) => {
                    ears.listeners.add(owner, listener);
                    Ok(Answer::Done)
                }
                Ask::Host(ask) => self.host(ask, &mut ears.links),
                ask => self.answer(ask),
            };
            self.answers.push((answer, outcome));
        }
    }

    fn answer(&mut self, ask: Ask) -> Result<Answer, QueuesError> {
        Ok(match ask {
            Ask::List => {
                let queues = self.shared.queues();
                let size = |name: &String| QueueSize::new(&self.life, name);
                Answer::List(queues.keys().map(size).collect())
            }
            Ask::Submit(queue, submission) => {
                self.still_accepts(&queue, &submission)?;
                let mut players = submission.players.iter();
                if let Some(player) = players.find(|id| self.hosting.plays_in(id).is_some()) {
                    let known = self.life.find(&submission.owner, &submission.id);
                    known.map_err(|_| Refused::InMatch(player.clone()))?;
                }
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
            Ask::Configure(queues) => {
                self.configure(queues);
                Answer::Done
            }
            Ask::Listen(..) | Ask::Explain(..) | Ask::Host(_) => Answer::Done,
        })
    }

    /// Refuses a ticket that another configuration of its queue has checked and the present one does not
    /// accept.
    fn still_accepts(&self, queue: &Arc<Queue>, ticket: &Submission) -> Result<(), QueuesError> {
        let now = self.shared.queue(&ticket.queue);
        let is_same = now.is_none_or(|now| Arc::ptr_eq(&now, queue));
        match is_same || self.shared.accepts(ticket) {
            true => Ok(()),
            false => Err(QueuesError::Reconfigured),
        }
    }

    /// Goes on with other queues. Rounds that run with an old configuration of a queue find nothing.
    fn configure(&mut self, queues: Configured) {
        let before = self.life.waiting();
        *self.shared.queues.write() = Arc::new(queues);
        let shared = self.shared;
        let fits = |record: &TicketRecord| shared.accepts(&record.ticket);
        self.life.configure(shared.terms(), fits);
        self.rounds.changed();
        tracing::info!(
            queues = shared.queues().len(),
            tickets = self.life.waiting(),
            left = before.saturating_sub(self.life.waiting()),
            "the queues are configured again"
        );
    }

    /// What an instance asks for.
    fn host(&mut self, ask: HostAsk, links: &mut Links) -> Result<Answer, QueuesError> {
        let coordinator = &mut self.hosting.coordinator;
        match ask {
            HostAsk::Join(offer, link) => {
                coordinator.joined((*offer).clone())?;
                links.join(*offer, link);
            }
            HostAsk::Load(name, load) => coordinator.load(&name, load)?,
            HostAsk::Refuse(name, id) => coordinator.refused(&name, id)?,
            HostAsk::Ready { name, id, address } => {
                coordinator.ready(&name, id, address.as_deref())?;
            }
            HostAsk::Opened {
                name,
                id,
                game,
                link,
            } => {
                coordinator.opened(&name, id, game)?;
                links.host(id, link);
            }
            HostAsk::Began(name, id) => coordinator.began(&name, id)?,
            HostAsk::Ended(id) => coordinator.ended(id),
            HostAsk::GaveUp(id) => coordinator.gave_up(id),
            HostAsk::Arrived { name, id, player } => coordinator.arrived(&name, id, &player),
            HostAsk::Left(id, player) => self.hosting.left(id, &player),
            HostAsk::OfGame(name, game) => {
                return Ok(Answer::Match(coordinator.match_of_game(&name, game)));
            }
            HostAsk::Plan(name, id) => {
                let plan = self.hosting.plan(self.shared, &self.life, &name, id)?;
                return Ok(Answer::Plan(Box::new(plan)));
            }
        }
        Ok(Answer::Done)
    }

    fn view(&self, number: TicketNumber) -> Result<Answer, QueuesError> {
        let record = self
            .life
            .ticket(number)
            .ok_or(crate::tickets::Refused::NoTicket)?;
        let view = TicketView::new(&self.life, &self.hosting.coordinator, record);
        Ok(Answer::Ticket(Box::new(view)))
    }
}
