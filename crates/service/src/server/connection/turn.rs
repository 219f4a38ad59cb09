//! One turn: a read, the answers to the questions about weights in it, and a write. It takes no lock and allocates
//! nothing, and its buffers belong to the thread: a connection that waits has none.
//!
//! All other lines, and the lines behind them, are left to the requests of the connection. They answer questions,
//! too, with the same bytes: the time that a question takes is the only reason for this second path.
//!
//! For the same reason, the signals that can interrupt a connection are one future and not a `select!`: as long as
//! none of them has been woken, a poll only looks at one flag.

use std::{
    cell::RefCell,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker, ready},
};

use bytes::BytesMut;
use futures_util::task::AtomicWaker;
use tokio::{
    io::ReadBuf,
    time::{Instant, Sleep, sleep_until},
};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::{ByteStream, Connection, ConnectionEnd, READ, write_now};
use crate::{
    model::Kind,
    protocol::{Verb, request::WeightQuestion},
    session::MailboxReceiver,
};

/// What a connection has to handle after it has waited.
pub(super) enum Input {
    /// There are lines to handle, or replies to send.
    Lines,
    /// Something has happened besides.
    Signal(Signal),
    /// The connection ends.
    End(ConnectionEnd),
}

/// How a turn ended.
enum TurnEnd {
    /// Everything that was read is answered, but for a line that lacks its end.
    Answered,
    /// As before, and there was as much to read as fits: others have their turn first.
    AnsweredMuch,
    /// The rest is for the requests.
    Left,
    /// The connection ends.
    End(ConnectionEnd),
}

/// The buffers of a thread, which are empty between two turns.
#[derive(Default)]
struct Buffers {
    input: Vec<u8>,
    output: BytesMut,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

impl<S: ByteStream> Connection<S> {
    /// Answers questions about weights until there is anything else to do.
    pub(super) fn poll_input(&mut self, context: &mut Context<'_>) -> Poll<Input> {
        loop {
            let late = match self.signals.poll(context, self.patience) {
                Poll::Ready(Signal::Late) => true,
                Poll::Ready(signal) => return Poll::Ready(Input::Signal(signal)),
                Poll::Pending => false,
            };
            let turn = BUFFERS.with_borrow_mut(|buffers| self.turn(buffers, context));
            match turn {
                Poll::Ready(TurnEnd::Answered) => {}
                Poll::Ready(TurnEnd::AnsweredMuch) => {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Ready(TurnEnd::Left) => return Poll::Ready(Input::Lines),
                Poll::Ready(TurnEnd::End(end)) => return Poll::Ready(Input::End(end)),
                // What has arrived in time counts, even if it is read too late.
                Poll::Pending if late => {
                    return Poll::Ready(Input::End(ConnectionEnd::TimedOut));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn turn(&mut self, buffers: &mut Buffers, context: &mut Context<'_>) -> Poll<TurnEnd> {
        let Buffers { input, output } = buffers;
        let kept = self.input.len();
        if input.len() < kept + READ {
            input.resize(kept + READ, 0);
        }
        let mut buffer = ReadBuf::new(&mut input[kept..kept + READ]);
        if let Err(error) = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer)) {
            return Poll::Ready(TurnEnd::End(ConnectionEnd::Broken(error)));
        }
        let read = buffer.filled().len();
        if read == 0 {
            return Poll::Ready(TurnEnd::End(ConnectionEnd::ByPeer));
        }
        self.began = Instant::now();
        input[..kept].copy_from_slice(&self.input);
        let bytes = &input[..kept + read];
        let rest = &bytes[self.answer_at_once(bytes, output)..];
        self.keep(rest);
        let sent = write_now(&mut self.stream, context, output);
        if !matches!(sent, Ok(true)) {
            self.output.extend_from_slice(output);
            self.unflushed = true;
            output.clear();
        }
        Poll::Ready(match sent {
            Err(error) => TurnEnd::End(ConnectionEnd::Broken(error)),
            Ok(true) if !self.has_more_to_do() => match read {
                READ => TurnEnd::AnsweredMuch,
                _ => TurnEnd::Answered,
            },
            Ok(_) => TurnEnd::Left,
        })
    }

    /// Keeps what is not answered yet.
    fn keep(&mut self, rest: &[u8]) {
        self.input.clear();
        self.input.extend_from_slice(rest);
        self.framer.restart();
    }

    /// Whether anything is left but a line that lacks its end.
    fn has_more_to_do(&mut self) -> bool {
        if self.peer.is_paused() || self.framer.is_dropping() {
            return true;
        }
        let most = self.limits.max_line_bytes.as_usize() + 1;
        if self.input.len() > most || memchr::memchr(b'\n', &self.input).is_some() {
            return true;
        }
        self.watch_line();
        false
    }

    /// Appends the answers to the questions at the beginning of these lines. Returns the number of bytes that
    /// are answered.
    fn answer_at_once(&mut self, bytes: &[u8], output: &mut BytesMut) -> usize {
        let (mut done, mut humans, mut bots) = (0, 0, 0);
        if self.framer.is_dropping() || !self.peer.may_ask_for_weights() {
            return done;
        }
        let most = self.limits.max_line_bytes.as_usize();
        while let Some(length) = memchr::memchr(b'\n', &bytes[done..]) {
            let line = &bytes[done..done + length];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let Some(question) = WeightQuestion::read(line).filter(|_| line.len() <= most) else {
                break;
            };
            let Some(weights) = self.session.cached_weights(question.kind, question.id) else {
                break;
            };
            let weight = match question.kind {
                Kind::Human => {
                    humans += 1;
                    weights.human(question.id)
                }
                Kind::Bot => {
                    bots += 1;
                    Some(weights.bot(question.id))
                }
            };
            question.answer(weight, output);
            self.peer.count_line();
            done += length + 1;
            if self.peer.is_paused() {
                break;
            }
        }
        if done > 0 {
            self.host.heard();
            self.session.heard();
            let now = Instant::now();
            self.peer.heard(now);
            self.count_questions(humans, bots, now);
            self.postpone(now);
            self.inside_line = false;
        }
        done
    }

    /// Counts questions that have been answered together: each took the same share of the time.
    fn count_questions(&mut self, humans: u32, bots: u32, now: Instant) {
        let each = now.duration_since(self.began) / (humans + bots).max(1);
        self.began = now;
        for (verb, number) in [(Verb::Player, humans), (Verb::Bot, bots)] {
            self.peer.metrics().requests(verb, number, each);
        }
    }
}

/// Something that a connection reacts to besides its own lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// The daemon stops.
    Stop,
    /// Another connection has resumed the game.
    Replaced,
    /// Another connection has the place.
    GivesUp,
    /// The configuration has been replaced.
    Outdated,
    /// There is a line to send without a request.
    Push(String),
    /// An offer to the players of the game may be over.
    Due,
    /// The time limit has passed.
    Late,
}

/// What is cancelled when a connection has to end.
pub(super) struct EndTokens {
    /// The daemon stops.
    pub(super) stop: CancellationToken,
    /// Another connection has resumed the game.
    pub(super) replaced: CancellationToken,
    /// Another connection has the place.
    pub(super) gives_up: CancellationToken,
}

/// The signals of one connection.
pub(super) struct Signals {
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
    replaced: Pin<Box<WaitForCancellationFutureOwned>>,
    gives_up: Pin<Box<WaitForCancellationFutureOwned>>,
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
        ends: EndTokens,
        outdated: CancellationToken,
        pushes: MailboxReceiver,
        late: Instant,
    ) -> Self {
        let woken = Arc::new(SignalWaker::default());
        woken.is_woken.store(true, Ordering::Relaxed);
        Self {
            stop: Box::pin(ends.stop.cancelled_owned()),
            replaced: Box::pin(ends.replaced.cancelled_owned()),
            gives_up: Box::pin(ends.gives_up.cancelled_owned()),
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
        if self.gives_up.as_mut().poll(context).is_ready() {
            return Poll::Ready(Signal::GivesUp);
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
