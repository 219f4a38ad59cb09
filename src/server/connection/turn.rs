//! One turn: a read, the answers to the questions about weights in it, and a write. It takes no lock and
//! allocates nothing, and its buffers belong to the thread: a connection that waits has none.
//!
//! Whatever is not such a question is left to the requests of the connection, with all lines behind it. They answer
//! questions, too, with the same bytes: the time that a question takes is the only reason for this second path.

use std::{
    cell::RefCell,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::BytesMut;
use tokio::{io::ReadBuf, time::Instant};

use super::{Connection, ConnectionEnd, READ, Signal, Stream, wire::write_now};
use crate::{
    model::Kind,
    protocol::{Verb, WeightQuestion},
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
enum Turn {
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

impl<S: Stream> Connection<S> {
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
                Poll::Ready(Turn::Answered) => {}
                Poll::Ready(Turn::AnsweredMuch) => {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Ready(Turn::Left) => return Poll::Ready(Input::Lines),
                Poll::Ready(Turn::End(end)) => return Poll::Ready(Input::End(end)),
                // What has arrived in time counts, even if it is read too late.
                Poll::Pending if late => {
                    return Poll::Ready(Input::End(ConnectionEnd::TimedOut));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn turn(&mut self, buffers: &mut Buffers, context: &mut Context<'_>) -> Poll<Turn> {
        let Buffers { input, output } = buffers;
        let kept = self.input.len();
        if input.len() < kept + READ {
            input.resize(kept + READ, 0);
        }
        let mut buffer = ReadBuf::new(&mut input[kept..kept + READ]);
        if let Err(error) = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer)) {
            return Poll::Ready(Turn::End(ConnectionEnd::Broken(error)));
        }
        let read = buffer.filled().len();
        if read == 0 {
            return Poll::Ready(Turn::End(ConnectionEnd::ByPeer));
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
            Err(error) => Turn::End(ConnectionEnd::Broken(error)),
            Ok(true) if !self.has_more_to_do() => match read {
                READ => Turn::AnsweredMuch,
                _ => Turn::Answered,
            },
            Ok(_) => Turn::Left,
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
