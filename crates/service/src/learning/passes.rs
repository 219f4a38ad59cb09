//! The passes of the fold, so that somebody can wait until what they have stored is learned.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

/// Each pass learns from all matches that were stored before it began.
#[derive(Debug, Default)]
pub(super) struct Passes {
    begun: AtomicU64,
    /// The last pass whose weights are published.
    learned: watch::Sender<u64>,
}

impl Passes {
    /// Begins a pass. Returns its number.
    pub fn begin(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Notes that the weights of a pass are published.
    pub fn learned(&self, pass: u64) {
        self.learned.send_if_modified(|last| {
            let is_new = pass > *last;
            *last = pass.max(*last);
            is_new
        });
    }

    /// The pass that learns from what is stored by now.
    pub fn next(&self) -> u64 {
        self.begun.load(Ordering::Acquire) + 1
    }

    /// The last pass whose weights are published, now and from now on.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.learned.subscribe()
    }
}
