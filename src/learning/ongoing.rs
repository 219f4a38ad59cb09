//! Work that others wait for.

use std::{
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
};

use tokio::sync::Notify;

/// Whether some work goes on, which only one task does at a time.
#[derive(Debug, Default)]
pub(super) struct Ongoing {
    goes_on: AtomicBool,
    ended: Notify,
}

/// The work goes on until this is dropped.
pub(super) struct Work<'a>(&'a Ongoing);

impl Ongoing {
    pub fn begin(&self) -> Work<'_> {
        self.goes_on.store(true, Ordering::Release);
        Work(self)
    }

    pub fn goes_on(&self) -> bool {
        self.goes_on.load(Ordering::Acquire)
    }

    /// Waits until it does not.
    pub async fn end(&self) {
        loop {
            let mut ended = pin!(self.ended.notified());
            ended.as_mut().enable();
            if !self.goes_on() {
                return;
            }
            ended.await;
        }
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        self.0.goes_on.store(false, Ordering::Release);
        self.0.ended.notify_waiters();
    }
}
