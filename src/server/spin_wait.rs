//! A thread that serves connections spins while lines come in quick succession: it looks for the next line instead of
//! falling asleep. To fall asleep and to be woken takes longer than to answer a question, for the client, too, who has
//! to wake the thread. Only the time that a question about a weight takes is the reason for this module.

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    task::{Poll, Waker},
    time::Duration,
};

use tokio::{task::yield_now, time::Instant};

/// How long a thread looks for the next line before it sleeps, if the last two came in less time than this. So
/// it stays awake for nothing for at most this long after each burst of lines, and not at all for a line now and
/// then.
const AWAKE: Duration = Duration::from_micros(50);

/// What a thread knows of the lines that it serves.
#[derive(Default)]
struct RecentLines {
    /// When lines came last.
    last: Cell<Option<Instant>>,
    is_awake: Cell<bool>,
    /// Wakes the task that keeps the thread awake.
    waker: RefCell<Option<Waker>>,
}

thread_local! {
    static RECENT: RecentLines = RecentLines::default();
}

/// Notes that lines have come now.
pub(super) fn note(now: Instant) {
    RECENT.with(|recent| {
        let last = recent.last.replace(Some(now));
        let is_quick = last.is_some_and(|last| now.duration_since(last) < AWAKE);
        if is_quick && !recent.is_awake.get() {
            // Without a task that keeps it awake, the thread sleeps as usual.
            if let Some(waker) = recent.waker.take() {
                recent.is_awake.set(true);
                waker.wake();
            }
        }
    });
}

/// Keeps the thread on which it is polled awake while lines come in quick succession. Never returns. For a
/// runtime with a single thread.
pub async fn stay_awake() {
    loop {
        poll_fn(|context| {
            RECENT.with(|recent| match recent.is_awake.get() {
                true => Poll::Ready(()),
                false => {
                    recent.waker.replace(Some(context.waker().clone()));
                    Poll::Pending
                }
            })
        })
        .await;
        let since = || RECENT.with(|recent| recent.last.get().map(|last| last.elapsed()));
        while since().is_some_and(|since| since < AWAKE) {
            // The runtime looks for input before it comes back.
            yield_now().await;
        }
        RECENT.with(|recent| recent.is_awake.set(false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_lines_in_quick_succession_keep_a_thread_awake() {
        let is_awake = || RECENT.with(|recent| recent.is_awake.get());
        note(Instant::now());
        note(Instant::now());
        assert!(!is_awake(), "nothing keeps this thread awake");
        tokio::time::advance(2 * AWAKE).await;
        tokio::spawn(stay_awake());
        yield_now().await;
        note(Instant::now());
        assert!(!is_awake(), "a line now and then");
        tokio::time::advance(AWAKE / 2).await;
        note(Instant::now());
        assert!(is_awake());
        tokio::time::advance(AWAKE * 3 / 4).await;
        yield_now().await;
        assert!(is_awake());
        note(Instant::now());
        tokio::time::advance(AWAKE * 3 / 4).await;
        yield_now().await;
        assert!(is_awake(), "another line came in time");
        tokio::time::advance(AWAKE).await;
        yield_now().await;
        assert!(!is_awake());
        note(Instant::now());
        note(Instant::now());
        assert!(is_awake(), "again");
    }
}
