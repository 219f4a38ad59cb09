//! What the task and the clients of the queues share: the configured queues, the rooms that they use, and the threads
//! for the searches of the planner.

use std::{
    collections::BTreeSet,
    panic::resume_unwind,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{
    Allocator, Configured, QueueMetrics, fleet::Fleet, partition_tasks::PartitionTasks,
    view::NamedListeners,
};
use crate::{
    learning::{
        Learning,
        leases::{LeaseSettings, SharedSettings},
    },
    matchmaking::lifecycle::{CoordinatorSettings, QueueTerms, Submission},
    matchmaking::{KnownAttributes, Queue, planner::Cores, settings::Host},
    session::{Clock, HolderOf},
    store::Store,
};

/// What the task and the clients of the queues share.
pub(super) struct QueueShared {
    /// Replaced as a whole by [`Queues::configure`](super::Queues::configure).
    pub(super) queues: RwLock<Arc<Configured>>,
    pub(super) store: Arc<Store>,
    pub(super) learning: Arc<Learning>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) hosting: CoordinatorSettings,
    pub(super) leases: LeaseSettings,
    /// The clients of this daemon that have sent LISTEN.
    pub(super) listeners: Mutex<NamedListeners>,
    /// Notified after each batch that has changed tickets or hosted matches.
    pub(super) changed: Notify,
    /// The daemons of the database; `None` if this one cannot share its queues with others.
    pub(super) fleet: Option<Fleet>,
    /// Where the searches of rounds run.
    pub(super) cores: RwLock<RoundCores>,
    /// The allocator that hosted matches ask for instances.
    pub(super) allocator: Option<Arc<Allocator>>,
    /// The partitions that this daemon runs, and the way to the task of each.
    pub(super) tasks: PartitionTasks,
    pub(super) stop: CancellationToken,
    pub(super) metrics: Arc<QueueMetrics>,
    /// Whose share of the room for tickets the name of a client means.
    pub(super) holders: OnceLock<HolderOf>,
}

/// Cores that the rounds of all queues share.
pub type RoundCores = Arc<dyn Cores + Send + Sync>;

impl std::fmt::Debug for QueueShared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl QueueShared {
    /// Whether any queue needs instances.
    pub(super) fn has_hosts(&self) -> bool {
        let queues = self.queues();
        let mut queues = queues.values();
        queues.any(|queue| queue.settings().host == Host::Required)
    }

    /// The queues as they are configured now.
    pub(super) fn queues(&self) -> Arc<Configured> {
        self.queues.read().clone()
    }

    /// The queue with this name.
    pub(super) fn queue(&self, name: &str) -> Option<Arc<Queue>> {
        self.queues().get(name).cloned()
    }

    /// Whether the queue of a ticket accepts it.
    pub(super) fn accepts(&self, ticket: &Submission) -> bool {
        let queue = self.queue(&ticket.queue);
        let checked =
            queue.map(|queue| queue.ticket(&ticket.spec, &mut |_| KnownAttributes::default()));
        checked.is_some_and(|ticket| ticket.is_ok())
    }

    /// The partitions that queues are in.
    pub(super) fn partitions(&self) -> BTreeSet<String> {
        let queues = self.queues();
        let all = queues
            .values()
            .map(|queue| queue.settings().partition.clone());
        all.collect()
    }

    /// The names of the queues of a partition.
    pub(super) fn names_of(&self, partition: &str) -> BTreeSet<String> {
        let queues = self.queues();
        let own = queues
            .values()
            .filter(|queue| queue.settings().partition == partition);
        own.map(|queue| queue.name().to_owned()).collect()
    }

    /// What a daemon must have in common with this one to go on with the queues of a partition.
    pub(super) fn settings_of(&self, partition: &str) -> SharedSettings {
        let queues = self.queues();
        let mut shared = SharedSettings::default();
        for name in self.names_of(partition) {
            let Some(queue) = queues.get(&name) else {
                continue;
            };
            if let Err(error) = shared.add(&part_of(&name), queue.settings()) {
                tracing::error!(%error, queue = name, "the settings cannot be compared");
            }
        }
        shared
    }

    /// The terms of the queues of a partition. Players may be in one ticket of all queues of a group.
    pub(super) fn terms(&self, partition: &str) -> Vec<(String, QueueTerms)> {
        let own = self.names_of(partition);
        let terms = |(name, queue): (&String, &Arc<Queue>)| {
            let settings = queue.settings();
            let terms = QueueTerms {
                ttl: i64::from(settings.ttl.get()) * 1_000,
                ready_check: i64::from(settings.ready_check.get()) * 1_000,
                group: settings.group.clone().unwrap_or_default(),
                hosted: settings.host == Host::Required,
                host_wait: i64::from(settings.host_wait.get()) * 1_000,
                latency: settings.latency.clone(),
                teams: settings.teams.get() as u8,
                backfill: settings.backfill,
            };
            (name.clone(), terms)
        };
        let queues = self.queues();
        let queues = queues.iter().filter(|(name, _)| own.contains(*name));
        queues.map(terms).collect()
    }
}

/// The part of the shared settings that a queue is.
pub(super) fn part_of(queue: &str) -> String {
    format!("queue.{queue}")
}

/// Runs the jobs of a batch on this many threads.
#[derive(Clone, Copy, Debug)]
pub struct Threads(pub usize);

/// The most threads of a round.
const MOST: usize = 2;

impl Threads {
    /// As many threads as the machine has cores, at most [`MOST`].
    pub(super) fn of_rounds() -> Self {
        let cores = thread::available_parallelism();
        Self(cores.map_or(1, |cores| cores.get().min(MOST)))
    }
}

impl Cores for Threads {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        let threads = self.0.min(count);
        if threads < 2 {
            return (0..count).for_each(job);
        }
        let next = AtomicUsize::new(0);
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= count {
                    return;
                }
                job(at);
            }
        };
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            work();
            for other in others {
                if let Err(panic) = other.join() {
                    resume_unwind(panic); // with its message
                }
            }
        });
    }

    fn share(&self, jobs: usize) -> Box<dyn Cores + '_> {
        Box::new(Self(self.0 / jobs.max(1)))
    }
}
