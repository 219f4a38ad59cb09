//! The partitions that this daemon knows: each has a task of its own, with its own tickets and instances.

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::{Mutex, RwLock};
use tokio::sync::mpsc;

use super::ClientCall;

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
