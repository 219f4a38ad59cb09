//! The turns of all questions for teams: the clock, the lock and the waiting around [`TurnQueue`].

#![allow(
    clippy::disallowed_methods,
    reason = "a core is used in real time, whatever clock the sessions have"
)]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::{sync::oneshot, time::timeout};

use super::turns::{AskerClass, TurnAsker, TurnEnd, TurnQueue};

/// A question had to wait for its turn for longer than its class may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "too many questions for teams: {} wait at most {} s for their turn; try again in {} s",
    class.as_str(),
    class.patience().unwrap_or_default().as_secs(),
    again.as_secs()
)]
pub struct NoTurn {
    /// The class of the asker.
    pub class: AskerClass,
    /// After how long there may be room.
    pub again: Duration,
}

/// The turns of all questions of a daemon.
#[derive(Debug)]
pub(super) struct TurnGate {
    turns: Mutex<TurnQueue<oneshot::Sender<TurnEnd>>>,
    began: Instant,
}

/// A question, until it is dropped: it waits, or it has its turn.
#[derive(Debug)]
struct AskedTurn {
    gate: Arc<TurnGate>,
    number: u64,
}

impl Drop for AskedTurn {
    fn drop(&mut self) {
        let now = self.gate.now();
        self.gate.turns.lock().leave(self.number, now);
        self.gate.start();
    }
}

/// A turn on a core. It ends when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct CoreTurn {
    question: Arc<AskedTurn>,
    end: TurnEnd,
}

impl CoreTurn {
    /// Whether the search has to end.
    pub(super) fn is_over(&self) -> bool {
        self.end.has_come(self.question.gate.now())
    }
}

impl TurnGate {
    pub(super) fn new(cores: usize) -> Arc<Self> {
        Arc::new(Self {
            turns: Mutex::new(TurnQueue::new(cores)),
            began: Instant::now(),
        })
    }

    /// Waits for a turn, which takes at most `deadline`.
    ///
    /// # Errors
    /// Fails if the asker may not wait as long as it takes.
    pub(super) async fn turn(
        self: &Arc<Self>,
        asker: TurnAsker,
        deadline: Duration,
    ) -> Result<CoreTurn, NoTurn> {
        let class = asker.class;
        let (waker, woken) = oneshot::channel();
        let number = self.turns.lock().ask(asker, deadline, waker, self.now());
        let question = AskedTurn {
            gate: self.clone(),
            number,
        };
        self.start();
        let woken = match class.patience() {
            None => woken.await.ok(),
            Some(most) => timeout(most, woken).await.ok().and_then(Result::ok),
        };
        match woken {
            Some(end) => Ok(CoreTurn {
                question: Arc::new(question),
                end,
            }),
            None => {
                let again = self.turns.lock().room_in(class).as_secs_f64().ceil();
                let again = Duration::from_secs_f64(again.clamp(1.0, 60.0));
                Err(NoTurn { class, again })
            }
        }
    }

    /// Wakes those whose turn has come. Whoever does not wait any more gives the turn back by itself.
    fn start(&self) {
        let started = self.turns.lock().start(self.now());
        for turn in started {
            let _ = turn.waker.send(turn.end);
        }
    }

    /// The number of turns that go on.
    pub(super) fn running(&self) -> usize {
        self.turns.lock().running()
    }

    /// The number of questions of a class that wait.
    pub(super) fn waiting(&self, class: AskerClass) -> usize {
        self.turns.lock().waiting(class)
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }
}
