//! The task that owns all tickets: a batch of calls, one write, the answers, the news.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep},
};

use super::{
    Shared,
    call::{Call, ReplyTo},
    command::{Command, Outcome},
    connections::Connections,
    explain::Explanations,
    hosting::draw_pass,
    match_ids::MatchIds,
    metrics::LOOK,
    partition_handle::PartitionHandle,
    rounds::Rounds,
    search::Found,
    wait_clock::WaitClock,
};
use crate::{
    domain::Timestamp,
    learning::leases::{HeldLease, SharedSettings},
    lifecycle::Lifecycle,
    store::StoreError,
};

/// How often the task looks at what is due.
const TICK: Duration = Duration::from_millis(50);
/// How long changes that can wait are held back.
pub(super) const LAZY: Duration = Duration::from_secs(1);
/// The most calls of one batch.
const BATCH: usize = 1_024;

/// All state of the queues, and what one batch of calls has changed.
pub(super) struct Task<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) partition: &'a PartitionHandle,
    /// The number that stands for the partition in the database.
    pub(super) slot: i64,
    clock: &'a WaitClock,
    pub(super) held: &'a HeldLease,
    pub(super) life: Lifecycle,
    pub(super) rounds: Rounds,
    pub(super) explanations: Explanations,
    ids: MatchIds,
    /// The answers of this batch, which are sent once its changes are on disk.
    pub(super) answers: Vec<(ReplyTo, Outcome)>,
    /// The requests of other daemons that were read, and whose answers are not written.
    pub(super) open: BTreeSet<(String, i64)>,
    /// Changes when there may be requests of other daemons.
    wakes: Option<watch::Receiver<()>>,
    /// The median waits that were published last, and when.
    pub(super) published: (BTreeMap<String, i64>, Option<Instant>),
    /// When changes were last written.
    pub(super) written: Instant,
    /// When it was last looked up when the instances sent their last lines.
    heard: Timestamp,
    /// When the connections of instances were last looked at.
    watched: Option<Instant>,
    /// When the reports about behaviour were last looked at.
    reported: Option<Instant>,
    /// When the database was last asked which instances drain, and which matches in play are recorded.
    polled: Option<Instant>,
    /// When the metrics last took over who waits.
    looked: Option<Instant>,
    /// The settings that are noted beside the lease.
    noted: SharedSettings,
}

/// Why a task has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The queues are stopped.
    Stopped,
    /// The lease is lost.
    Lost,
    /// The partition is left to another daemon.
    Left,
}

impl<'a> Task<'a> {
    /// The task of a partition that was read.
    pub fn new(
        partition: &'a PartitionHandle,
        slot: i64,
        clock: &'a WaitClock,
        held: &'a HeldLease,
        life: Lifecycle,
    ) -> Self {
        let shared = &partition.shared;
        Self {
            shared,
            partition,
            slot,
            clock,
            held,
            life,
            rounds: Rounds::new(&shared.metrics),
            explanations: Explanations::default(),
            ids: MatchIds::default(),
            answers: Vec::new(),
            open: BTreeSet::new(),
            wakes: shared.fleet.as_ref().map(|fleet| fleet.wakes()),
            published: Default::default(),
            written: Instant::now(),
            heard: Timestamp::default(),
            watched: None,
            reported: None,
            polled: None,
            looked: None,
            noted: shared.settings_of(&partition.name),
        }
    }

    /// Runs until the queues are stopped, or the partition is left to another daemon.
    ///
    /// # Errors
    /// Fails if a write does, or if the lease is lost.
    pub async fn run(
        &mut self,
        calls: &mut mpsc::Receiver<Call>,
        connections: &mut Connections,
    ) -> Result<End, StoreError> {
        connections.links.rejoin(&mut self.life);
        self.note_told_here();
        let shared = self.shared;
        let mut requests = true;
        let mut batch = Vec::new();
        loop {
            let found = tokio::select! {
                biased;
                () = shared.stop.cancelled() => break,
                () = self.held.lost() => return Err(self.fail(self.lost(), connections)),
                found = self.rounds.next() => found,
                () = woken(&mut self.wakes) => { requests = true; None },
                _ = calls.recv_many(&mut batch, BATCH) => None,
                () = std::future::ready(()), if requests => None,
                () = sleep(TICK) => None,
            };
            let now = self.clock.now(shared);
            self.pass(now, connections);
            self.watch(connections).await;
            for call in &batch {
                if let Command::Listen(owner) = &call.command {
                    self.note_told(owner).await;
                }
            }
            self.handle(batch.drain(..), connections);
            if std::mem::take(&mut requests) {
                requests = self.read_requests(connections).await;
            }
            let found = match found {
                Some(found) => self.form(found).await,
                None => Ok(()),
            };
            match found {
                Ok(()) => self.commit(connections).await?,
                Err(error) => return Err(self.fail(error, connections)),
            }
            self.rounds.begin(shared, &self.life);
            self.explanations.begin(shared, &self.life);
            if self.looked.is_none_or(|at| at.elapsed() >= LOOK) {
                self.looked = Some(Instant::now());
                if self.is_left() {
                    self.write_all(connections).await?;
                    return Ok(End::Left);
                }
                self.note_settings().await;
                let own = shared.names_of(&self.partition.name);
                shared.metrics.look(&self.partition.name, &own, &self.life);
            }
        }
        calls.close();
        while let Some(call) = calls.recv().await {
            self.handle([call], connections);
        }
        self.write_all(connections).await?;
        Ok(End::Stopped)
    }

    /// Notes settings that have changed beside the lease.
    async fn note_settings(&mut self) {
        let now = self.shared.settings_of(&self.partition.name);
        if now == self.noted {
            return;
        }
        let lease = self.held.lease();
        match self.shared.store.describe_lease(lease, &now.text()).await {
            Ok(()) => self.noted = now,
            Err(error) => tracing::debug!(%error, "the settings of the queues are not noted"),
        }
    }

    /// Writes also what can wait.
    async fn write_all(&mut self, connections: &mut Connections) -> Result<(), StoreError> {
        self.written = self.written.checked_sub(LAZY).unwrap_or(self.written);
        self.commit(connections).await
    }

    /// Whether another daemon that is alive is to run the partition instead.
    fn is_left(&self) -> bool {
        let (shared, partition) = (self.shared, &self.partition.name);
        let Some(fleet) = &shared.fleet else {
            return false;
        };
        let (partitions, daemons) = (shared.partitions(), fleet.alive().len());
        let has_queues = partitions.contains(partition);
        has_queues && shared.tasks.is_one_too_many(partitions.len(), daemons)
    }

    /// Moves the time forward. An instance that has sent a line is not silent, even if
    /// the daemon could not look at it for longer than a heartbeat: its line counts first.
    fn pass(&mut self, now: Timestamp, connections: &Connections) {
        if now >= self.heard.plus_millis(TICK.as_millis() as i64) {
            self.heard = now;
            let links = &connections.links;
            links.hear(&mut self.life, |millis| self.clock.time(millis));
        }
        self.life.at(now);
    }

    /// Looks at the connections of instances, and at what operators have changed.
    async fn watch(&mut self, connections: &mut Connections) {
        if self.watched.is_some_and(|at| at.elapsed() < TICK) {
            return;
        }
        self.watched = Some(Instant::now());
        self.watch_behaviour().await;
        self.watch_daemons(connections);
        connections
            .links
            .watch(&mut self.life, |millis| self.clock.time(millis));
        let has_instances = self.life.instances().next().is_some();
        if has_instances && self.polled.is_none_or(|at| at.elapsed() >= LAZY) {
            self.polled = Some(Instant::now());
            self.watch_results().await;
            match self.shared.store.queues().draining().await {
                Ok(names) => {
                    if self.life.drain(&names) {
                        tracing::info!(?names, "these instances get no further matches");
                    }
                }
                Err(error) => tracing::debug!(%error, "cannot read which instances drain"),
            }
        }
    }

    /// Ends the matches whose results another daemon has recorded without reporting it.
    async fn watch_results(&mut self) {
        if self.shared.fleet.is_none() {
            return;
        }
        match self.shared.store.queues().recorded(self.slot).await {
            Ok(ended) => {
                for id in ended {
                    self.life.ended(id);
                }
            }
            Err(error) => tracing::debug!(%error, "cannot read which matches are recorded"),
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

    /// Forms the matches that a round has found.
    async fn form(&mut self, found: Found) -> Result<(), StoreError> {
        let Found {
            queue,
            proposals,
            fillings,
        } = found;
        let now = self.shared.queue(queue.name());
        if now.is_none_or(|now| !Arc::ptr_eq(&now, &queue)) {
            return Ok(()); // found under another configuration
        }
        for filling in fillings {
            let id = filling.id;
            let joined = self.life.fill(filling, draw_pass);
            tracing::debug!(match_id = id, joined, "players for free seats");
        }
        let Ok(count @ 1..) = u32::try_from(proposals.len()) else {
            return Ok(());
        };
        let first = self.ids.take(&self.shared.store, count).await?;
        let queue = queue.name();
        let formed = self.life.propose(queue, proposals, first);
        tracing::debug!(queue, found = count, formed, "a round has ended");
        Ok(())
    }
}

/// Waits until there may be requests; for ever if there never are any. Cancel safe.
async fn woken(wakes: &mut Option<watch::Receiver<()>>) {
    if let Some(wakes) = wakes
        && wakes.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}
