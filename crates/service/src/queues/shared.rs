//! The partitions that this daemon knows, and what they share. Each has a task of its own, with its own tickets and
//! instances; its handle is how that task sees it.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::resume_unwind,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use parking_lot::{Mutex, RwLock};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::{Allocator, ClientCall, Configured, QueueMetrics, fleet::Fleet, view::NamedListeners};

use crate::{
    learning::{
        Learning,
        leases::{LeaseSettings, SharedSettings},
    },
    matchmaking::{
        KnownAttributes, Queue,
        lifecycle::{CoordinatorSettings, QueueTerms, Submission},
        planner::Cores,
        settings::Host,
    },
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

/// The most calls that wait for the task of a partition.
const CALLS: usize = 4_096;

/// The ways to the tasks of all partitions, by name, and the number of those with queues that this daemon runs.
#[derive(Debug, Default)]
pub(super) struct PartitionTasks {
    calls: RwLock<BTreeMap<String, mpsc::Sender<ClientCall>>>,
    /// Taken when the tasks begin.
    receivers: Mutex<Vec<(String, mpsc::Receiver<ClientCall>)>>,
    held: Mutex<usize>,
    /// The names of the partitions that this daemon runs.
    run_here: Mutex<BTreeSet<String>>,
}

impl PartitionTasks {
    /// Adds a partition, unless it is known.
    pub fn add(&self, name: &str) {
        let mut calls = self.calls.write();
        if !calls.contains_key(name) {
            let (sender, receiver) = mpsc::channel(CALLS);
            calls.insert(name.to_owned(), sender);
            self.receivers.lock().push((name.to_owned(), receiver));
        }
    }

    /// The names of all partitions.
    pub fn names(&self) -> Vec<String> {
        self.calls.read().keys().cloned().collect()
    }

    /// The name of the partition, if there is only one.
    pub fn only(&self) -> Option<String> {
        let calls = self.calls.read();
        let mut names = calls.keys();
        names.next().filter(|_| calls.len() == 1).cloned()
    }

    /// The way to the task of a partition.
    pub fn calls(&self, name: &str) -> Option<mpsc::Sender<ClientCall>> {
        self.calls.read().get(name).cloned()
    }

    /// The partitions whose tasks have not begun, with the way to the task of each.
    pub fn begin(&self) -> Vec<(String, mpsc::Receiver<ClientCall>)> {
        std::mem::take(&mut *self.receivers.lock())
    }

    /// This daemon runs a partition from now on, or does not run it any more.
    pub fn runs(&self, name: &str, runs: bool) {
        let mut here = self.run_here.lock();
        match runs {
            true => here.insert(name.to_owned()),
            false => here.remove(name),
        };
    }

    /// The names of the partitions that this daemon does not run.
    pub fn run_elsewhere(&self) -> Vec<String> {
        let here = self.run_here.lock();
        let mut names = self.names();
        names.retain(|name| !here.contains(name));
        names
    }

    /// This daemon runs one more partition that has queues.
    pub fn taken(&self) {
        *self.held.lock() += 1;
    }

    /// This daemon runs one of them less.
    pub fn lost(&self) {
        let mut held = self.held.lock();
        *held = held.saturating_sub(1);
    }

    /// Whether this daemon runs its share of `partitions`, or more, while `daemons` are alive.
    pub fn has_share(&self, partitions: usize, daemons: usize) -> bool {
        *self.held.lock() >= share(partitions, daemons)
    }

    /// Whether a partition is to be left to another daemon. If so, it counts as lost from now on.
    pub fn is_one_too_many(&self, partitions: usize, daemons: usize) -> bool {
        let share = share(partitions, daemons);
        let mut held = self.held.lock();
        let is_too_many = *held > share;
        *held -= usize::from(is_too_many);
        is_too_many
    }
}

fn share(partitions: usize, daemons: usize) -> usize {
    partitions.div_ceil(daemons.max(1))
}

/// What the names of the leases of partitions begin with.
const LEASE: &str = "queues/";

/// One partition, as its task sees it.
pub(super) struct PartitionHandle {
    pub shared: Arc<QueueShared>,
    pub name: String,
    /// The name of its lease.
    pub lease: String,
    /// The way to its task.
    pub calls: mpsc::Sender<ClientCall>,
}

impl PartitionHandle {
    /// The partitions whose tasks have not begun, with the calls that come for each.
    pub fn begin(shared: &Arc<QueueShared>) -> Vec<(Self, mpsc::Receiver<ClientCall>)> {
        let handle = |(name, receiver): (String, _)| {
            let handle = Self {
                lease: format!("{LEASE}{name}"),
                calls: shared.tasks.calls(&name)?,
                shared: shared.clone(),
                name,
            };
            Some((handle, receiver))
        };
        shared
            .tasks
            .begin()
            .into_iter()
            .filter_map(handle)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_daemon_runs_its_share_of_the_partitions() {
        let tasks = PartitionTasks::default();
        for name in ["eu", "us", "asia", "eu", "main"] {
            tasks.add(name);
        }
        assert_eq!(tasks.names(), ["asia", "eu", "main", "us"]);
        (0..4).for_each(|_| tasks.taken());
        assert!(!tasks.is_one_too_many(4, 0) && !tasks.is_one_too_many(4, 1));
        // A second daemon comes, and a third one.
        let mut left = 0;
        while tasks.is_one_too_many(4, 2) {
            left += 1;
        }
        assert_eq!(left, 2);
        assert!(tasks.has_share(4, 3) && !tasks.is_one_too_many(4, 3));
        tasks.lost();
        assert!(!tasks.has_share(4, 3));
        assert!(tasks.has_share(4, 4));
    }
}
