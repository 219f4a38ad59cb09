//! The task that owns all tickets: a batch of calls, one write, the answers, the news.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep},
};

use super::{
    QueuesError, Shared,
    call::{Call, Outcome, ReplyTo},
    connections::Connections,
    explain::Explanations,
    fleet::Remote,
    hosting::Hosting,
    metrics::LOOK,
    rounds::Rounds,
    search::Found,
    standby::stand_by,
    wait_clock::WaitClock,
};
use crate::{
    coordinator::Act,
    domain::Timestamp,
    leases::HeldLease,
    store::{QueueWrite, StoreError},
    tickets::{Life, TicketRecord},
};

/// How often the task looks at what is due.
const TICK: Duration = Duration::from_millis(50);
/// How long changes that can wait are held back.
const LAZY: Duration = Duration::from_secs(1);
/// The delay before a database that failed is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// The most calls of one batch.
const BATCH: usize = 1_024;

/// Runs until the queues are stopped: whenever this daemon holds their lease.
pub(super) async fn run(shared: Arc<Shared>, mut calls: mpsc::Receiver<Call>) {
    let mut connections = Connections::default();
    let clock = WaitClock::new(&shared);
    while let Some(held) = stand_by(&shared, &mut calls, &mut connections).await {
        hold(&shared, &clock, &held, &mut calls, &mut connections).await;
        connections.remote = Remote::default();
        shared.metrics.look_away();
        if let Err(error) = held.give_back().await {
            tracing::debug!(%error, "the lease of the queues ends by itself");
        }
    }
}

/// Runs until the queues are stopped or the lease is lost. After a write that failed, begins again with what
/// is on disk.
async fn hold(
    shared: &Arc<Shared>,
    clock: &WaitClock,
    held: &HeldLease,
    calls: &mut mpsc::Receiver<Call>,
    connections: &mut Connections,
) {
    loop {
        match load(shared, clock).await {
            Ok((life, hosting)) => {
                let mut task = Task {
                    shared,
                    clock,
                    held,
                    life,
                    hosting,
                    rounds: Rounds::new(&shared.metrics),
                    explanations: Explanations::default(),
                    answers: Vec::new(),
                    written: Instant::now(),
                    heard: Timestamp::default(),
                    watched: None,
                    reported: None,
                    polled: None,
                    looked: None,
                    handled: Vec::new(),
                    mail: shared.office.as_ref().map(|office| office.wakes()),
                };
                match task.run(calls, connections).await {
                    Ok(()) => return,
                    Err(error) if error.is_lease_lost() => return,
                    Err(error) => tracing::error!(%error, "tickets cannot be written"),
                }
            }
            Err(error) => tracing::error!(%error, "tickets cannot be read"),
        }
        if !held.is_held() {
            return;
        }
        shared.metrics.failed();
        while let Ok(call) = calls.try_recv() {
            call.answer.send(Err(QueuesError::NotWritten));
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

async fn load(shared: &Shared, clock: &WaitClock) -> Result<(Life, Hosting), StoreError> {
    let (tickets, matches) = shared.store.tickets().await?;
    let fits = |record: &TicketRecord| shared.accepts(&record.ticket);
    shared.learning.behaviour().refresh().await?;
    let now = clock.now(shared);
    let mut life = Life::restore(shared.terms(), tickets, matches, now, fits);
    let hosting = Hosting::load(shared, &*shared.store, &mut life, now).await?;
    let queues = shared.queues().len();
    if queues > 0 {
        tracing::info!(queues, tickets = life.waiting(), "the queues are open");
    }
    Ok((life, hosting))
}

/// All state of the queues, and what one batch of calls has changed.
pub(super) struct Task<'a> {
    pub(super) shared: &'a Arc<Shared>,
    clock: &'a WaitClock,
    pub(super) held: &'a HeldLease,
    pub(super) life: Life,
    pub(super) hosting: Hosting,
    pub(super) rounds: Rounds,
    pub(super) explanations: Explanations,
    /// The answers of this batch, which are sent once its changes are on disk.
    pub(super) answers: Vec<(ReplyTo, Outcome)>,
    /// The numbers of the letters that were handled since the last write, which discards them.
    pub(super) handled: Vec<i64>,
    /// Changes when there may be letters to the holder of the lease.
    mail: Option<watch::Receiver<()>>,
    /// When changes were last written.
    written: Instant,
    /// When it was last looked up when the instances sent their last lines.
    heard: Timestamp,
    /// When the connections of instances were last looked at.
    watched: Option<Instant>,
    /// When the reports about behaviour were last looked at.
    reported: Option<Instant>,
    /// When the database was last asked which instances drain.
    polled: Option<Instant>,
    /// When the metrics last took over who waits.
    looked: Option<Instant>,
}

impl Task<'_> {
    async fn run(
        &mut self,
        calls: &mut mpsc::Receiver<Call>,
        connections: &mut Connections,
    ) -> Result<(), StoreError> {
        connections.links.rejoin(&mut self.hosting.coordinator);
        // Restoring may have changed something.
        self.hosting.act(self.shared, &mut self.life);
        self.write(&connections.remote).await?;
        let shared = self.shared;
        let mut letters = true;
        let mut batch = Vec::new();
        loop {
            let found = tokio::select! {
                biased;
                () = shared.stop.cancelled() => break,
                () = self.held.lost() => return self.fail(self.lost(), connections),
                found = self.rounds.next() => found,
                () = mail(&mut self.mail) => { letters = true; None },
                _ = calls.recv_many(&mut batch, BATCH) => None,
                () = std::future::ready(()), if letters => None,
                () = sleep(TICK) => None,
            };
            let now = self.clock.now(shared);
            self.life.at(now);
            self.pass(now, connections);
            self.watch(connections).await;
            self.handle(batch.drain(..), connections);
            if std::mem::take(&mut letters) {
                letters = self.read_letters(connections).await;
            }
            let found = match found {
                Some(found) => self.commit(found).await,
                None => Ok(()),
            };
            match found {
                Ok(()) => self.settle(connections).await?,
                Err(error) => return self.fail(error, connections),
            }
            self.rounds.begin(shared, &self.life, &self.hosting);
            let (life, hosting) = (&self.life, &self.hosting);
            self.explanations.begin(shared, life, hosting, &self.rounds);
            if self.looked.is_none_or(|at| at.elapsed() >= LOOK) {
                self.looked = Some(Instant::now());
                shared.metrics.look(life, &hosting.coordinator);
            }
        }
        calls.close();
        while let Some(call) = calls.recv().await {
            self.handle([call], connections);
        }
        self.written = self.written.checked_sub(LAZY).unwrap_or(self.written);
        self.settle(connections).await
    }

    /// Moves the time of hosted matches forward. An instance that has sent a line is not silent, even if
    /// the daemon could not look at it for longer than a heartbeat: its line counts first.
    fn pass(&mut self, now: Timestamp, connections: &Connections) {
        let coordinator = &mut self.hosting.coordinator;
        if now >= self.heard.plus_millis(TICK.as_millis() as i64) {
            self.heard = now;
            let links = &connections.links;
            links.hear(coordinator, |millis| self.clock.time(millis));
        }
        coordinator.at(now);
    }

    /// Looks at the connections of instances, and at what operators have changed.
    async fn watch(&mut self, connections: &mut Connections) {
        if self.watched.is_some_and(|at| at.elapsed() < TICK) {
            return;
        }
        self.watched = Some(Instant::now());
        self.watch_behaviour().await;
        self.watch_daemons(connections);
        let coordinator = &mut self.hosting.coordinator;
        connections
            .links
            .watch(coordinator, |millis| self.clock.time(millis));
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

    /// Notices reports about behaviour that other processes have changed.
    async fn watch_behaviour(&mut self) {
        if self.reported.is_none_or(|at| at.elapsed() >= LAZY) {
            self.reported = Some(Instant::now());
            if let Err(error) = self.shared.learning.behaviour().refresh().await {
                tracing::debug!(%error, "cannot read the reports about behaviour");
            }
        }
    }

    /// Writes what must be written, sends the answers of the batch, and then the news.
    async fn settle(&mut self, connections: &mut Connections) -> Result<(), StoreError> {
        self.hosting.act(self.shared, &mut self.life);
        let coordinator = &self.hosting.coordinator;
        let has_changed = self.life.has_changed() || coordinator.has_changed();
        let is_late = has_changed && self.written.elapsed() >= LAZY;
        let must_write = self.life.must_write() || coordinator.must_write();
        if self.life.must_write() {
            self.rounds.changed();
        }
        self.write_to_daemons(&mut connections.remote);
        let has_mail = !(self.handled.is_empty() && connections.remote.outbox.is_empty());
        if (must_write || is_late || has_mail)
            && let Err(error) = self.write(&connections.remote).await
        {
            return self.fail(error, connections);
        }
        if !self.held.is_held() {
            return self.fail(self.lost(), connections);
        }
        for (client, answer) in self.answers.drain(..) {
            client.send(answer);
        }
        for act in self.hosting.take_unsent() {
            if let Act::Allocate(id) = act {
                self.hosting.allocate(self.shared, id);
            }
            let opening = |id| self.hosting.opening(&self.life, id);
            match self.hosting.game_news(&self.life, &act) {
                Some((id, news)) => connections.links.send_to_game(id, &news),
                None => connections.links.send(&act, opening),
            }
        }
        let mut listeners = self.shared.listeners.lock();
        listeners.send_changes(&mut self.life, &self.hosting.coordinator);
        Ok(())
    }

    async fn write(&mut self, remote: &Remote) -> Result<(), StoreError> {
        let name = self.shared.office.as_ref().map(|office| &*office.name);
        let letters = remote.outbox.take(name.unwrap_or_default());
        let handled = std::mem::take(&mut self.handled);
        let changes = self.life.take_changes();
        let hosting = self.hosting.coordinator.take_changes();
        let book = self.shared.learning.behaviour();
        let no_shows = book.no_shows(&self.hosting.take_no_shows(), self.life.now());
        let has_mail = !(letters.is_empty() && handled.is_empty());
        if has_mail || !(changes.is_empty() && hosting.is_empty() && no_shows.days.is_empty()) {
            let store = &self.shared.store;
            let write = QueueWrite {
                lease: self.held.lease(),
                tickets: &changes,
                hosting: &hosting,
                no_shows: &no_shows,
                handled: &handled,
                letters: &letters,
            };
            let version = store.write_queues(write).await?;
            if let Some(version) = version {
                book.is_written(&no_shows, version);
            }
            let waits = self.life.take_waits();
            self.shared.metrics.written(&changes, waits);
        }
        self.written = Instant::now();
        Ok(())
    }

    fn lost(&self) -> StoreError {
        StoreError::LeaseLost(self.held.lease().name.clone())
    }

    /// Answers the batch with the failure of its write.
    fn fail(&mut self, error: StoreError, to: &mut Connections) -> Result<(), StoreError> {
        let why = match error.is_lease_lost() {
            true => QueuesError::Moved,
            false => QueuesError::NotWritten,
        };
        for (client, _) in self.answers.drain(..) {
            // The letters of other daemons are still there.
            if !client.is_there() {
                client.send(Err(why.clone()));
            }
        }
        to.remote.write_failed();
        Err(error)
    }

    /// Forms the matches that a round has found.
    async fn commit(&mut self, found: Found) -> Result<(), StoreError> {
        let Found {
            queue,
            proposals,
            fillings,
            aside,
        } = found;
        for one in &aside {
            one.log(&self.life);
        }
        let now = self.shared.queue(queue.name());
        if now.is_none_or(|now| !Arc::ptr_eq(&now, &queue)) {
            return Ok(()); // found under another configuration
        }
        for filling in fillings {
            let id = filling.id;
            let joined = self.hosting.fill(&mut self.life, filling);
            tracing::debug!(match_id = id, joined, "players for free seats");
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
}

/// Waits until there may be letters; for ever if there never are any. Cancel safe.
async fn mail(letters: &mut Option<watch::Receiver<()>>) {
    if let Some(letters) = letters
        && letters.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}
