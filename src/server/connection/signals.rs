//! What can interrupt a connection besides its own lines, as one future that costs almost nothing while nothing
//! happens: as long as none of these signals has been woken, a poll only looks at one flag. The time that a question
//! about a weight takes is the only reason why this is not a `select!`.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use futures_util::task::AtomicWaker;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::session::MailboxReceiver;

/// Something that a connection reacts to besides its own lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// The daemon stops.
    Stop,
    /// Another connection has resumed the game.
    Replaced,
    /// The configuration has been replaced.
    Outdated,
    /// There is a line to send without a request.
    Push(String),
    /// An offer to the players of the game may be over.
    Due,
    /// The time limit has passed.
    Late,
}

/// The signals of one connection.
pub(super) struct Signals {
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
    replaced: Pin<Box<WaitForCancellationFutureOwned>>,
    outdated: Pin<Box<WaitForCancellationFutureOwned>>,
    /// Lines to send without a request.
    pub(super) pushes: MailboxReceiver,
    /// A timer that is never later than the time limit. It is set anew only when it has run out, so that a
    /// limit that each line postpones costs nothing.
    timer: Pin<Box<Sleep>>,
    /// Runs out when an offer is over; `None` without an offer.
    due: Option<Pin<Box<Sleep>>>,
    woken: Arc<SignalWaker>,
    /// The waker of the signals, made of `woken`.
    waker: Waker,
}

/// Wakes the task of the connection, and remembers that a signal has done it.
#[derive(Default)]
struct SignalWaker {
    is_woken: AtomicBool,
    task: AtomicWaker,
}

impl Wake for SignalWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.task.wake();
    }
}

impl Signals {
    /// The signals of a connection whose first time limit is `late`.
    pub(super) fn new(
        stop: CancellationToken,
        replaced: CancellationToken,
        outdated: CancellationToken,
        pushes: MailboxReceiver,
        late: Instant,
    ) -> Self {
        let woken = Arc::new(SignalWaker::default());
        woken.is_woken.store(true, Ordering::Relaxed);
        Self {
            stop: Box::pin(stop.cancelled_owned()),
            replaced: Box::pin(replaced.cancelled_owned()),
            outdated: Box::pin(outdated.cancelled_owned()),
            pushes,
            timer: Box::pin(sleep_until(late)),
            due: None,
            waker: Waker::from(woken.clone()),
            woken,
        }
    }

    /// Waits for another configuration than the one that was waited for.
    pub(super) fn watch_configuration(&mut self, outdated: CancellationToken) {
        self.outdated.set(outdated.cancelled_owned());
        self.woken.is_woken.store(true, Ordering::Relaxed);
    }

    /// Makes sure that the timer is not later than this time limit.
    pub(super) fn not_later_than(&mut self, late: Instant) {
        if late < self.timer.deadline() {
            self.timer.as_mut().reset(late);
            self.woken.is_woken.store(true, Ordering::Relaxed);
        }
    }

    /// Signals at this time that an offer may be over.
    pub(super) fn watch_offer(&mut self, due: Option<Instant>) {
        if due != self.due.as_ref().map(|due| due.deadline()) {
            self.due = due.map(|due| Box::pin(sleep_until(due)));
            self.woken.is_woken.store(true, Ordering::Relaxed);
        }
    }

    /// The next signal; [`Signal::Late`] if `late` has passed.
    pub(super) async fn next(&mut self, late: Instant) -> Signal {
        std::future::poll_fn(|context| self.poll(context, late)).await
    }

    /// Like [`next`](Self::next). The signals have an order: the first that has happened is returned.
    pub(super) fn poll(&mut self, context: &mut Context<'_>, late: Instant) -> Poll<Signal> {
        self.woken.task.register(context.waker());
        if !self.woken.is_woken.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        let waker = self.waker.clone();
        let signal = self.look(&mut Context::from_waker(&waker), late);
        // The signals behind the one that has happened have not been looked at.
        self.woken
            .is_woken
            .fetch_or(signal.is_ready(), Ordering::Relaxed);
        signal
    }

    fn look(&mut self, context: &mut Context<'_>, late: Instant) -> Poll<Signal> {
        if self.stop.as_mut().poll(context).is_ready() {
            return Poll::Ready(Signal::Stop);
        }
        if self.replaced.as_mut().poll(context).is_ready() {
            return Poll::Ready(Signal::Replaced);
        }
        if self.outdated.as_mut().poll(context).is_ready() {
            return Poll::Ready(Signal::Outdated);
        }
        if let Poll::Ready(Some(line)) = self.pushes.poll_receive(context) {
            return Poll::Ready(Signal::Push(line));
        }
        if let Some(due) = &mut self.due
            && due.as_mut().poll(context).is_ready()
        {
            self.due = None;
            return Poll::Ready(Signal::Due);
        }
        while self.timer.as_mut().poll(context).is_ready() {
            if self.timer.deadline() >= late {
                return Poll::Ready(Signal::Late);
            }
            self.timer.as_mut().reset(late);
        }
        Poll::Pending
    }
}
