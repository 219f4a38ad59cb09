//! The calls of this daemon's clients that another daemon has to answer, by a clock that is an argument.

use std::collections::BTreeMap;

use tokio::sync::oneshot;

use crate::queues::{QueuesError, command::Outcome};

/// How many milliseconds it may take to read an answer that is written.
const GRACE: u64 = 2_000;

/// The calls that wait for their answers, by the keys of their requests.
#[derive(Debug, Default)]
pub(super) struct Pending {
    calls: BTreeMap<u64, Waiting>,
    next: u64,
}

#[derive(Debug)]
struct Waiting {
    answer: oneshot::Sender<Outcome>,
    /// When the call is withdrawn.
    until: u64,
    /// Whether its request had an answer when it was to be withdrawn.
    is_answered: bool,
}

impl Pending {
    /// A key that no other request of this daemon has.
    pub fn next(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Adds a call, and returns the key of its request.
    pub fn add(&mut self, answer: oneshot::Sender<Outcome>, until: u64) -> u64 {
        let waiting = Waiting {
            answer,
            until,
            is_answered: false,
        };
        let key = self.next();
        self.calls.insert(key, waiting);
        key
    }

    /// Whether a call waits for its answer.
    pub fn waits(&self, key: u64) -> bool {
        self.calls.contains_key(&key)
    }

    /// Answers a call. One that was withdrawn is answered already.
    pub fn answer(&mut self, key: u64, outcome: Outcome) {
        if let Some(waiting) = self.calls.remove(&key) {
            let _ = waiting.answer.send(outcome);
        }
    }

    /// The calls whose time is over.
    pub fn late(&self, now: u64) -> Vec<u64> {
        let late = self.calls.iter().filter(|(_, one)| one.until <= now);
        late.map(|(key, _)| *key).collect()
    }

    /// Withdraws a call whose time is over. If its request has an answer, reading it may take a little more time.
    pub fn withdraw(&mut self, key: u64, is_answered: bool, now: u64) {
        match self.calls.get_mut(&key) {
            Some(waiting) if is_answered && !waiting.is_answered => {
                waiting.is_answered = true;
                waiting.until = now.saturating_add(GRACE);
            }
            _ => self.answer(key, Err(QueuesError::Moved)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::command::Answer;

    #[test]
    fn a_call_is_answered_once_or_withdrawn_in_time() {
        let mut pending = Pending::default();
        let mut call = |until| {
            let (answer, answered) = oneshot::channel();
            (pending.add(answer, until), answered)
        };
        let (one, mut first) = call(100);
        let (two, mut second) = call(200);
        let (three, mut third) = call(300);
        pending.answer(one, Ok(Answer::Done));
        assert!(matches!(first.try_recv(), Ok(Ok(Answer::Done))));
        assert!(pending.late(199).is_empty());
        assert_eq!(pending.late(300), [two, three]);
        pending.withdraw(two, false, 300);
        assert!(matches!(second.try_recv(), Ok(Err(QueuesError::Moved))));
        // The third one has an answer: it is read a little late, or never.
        pending.withdraw(three, true, 300);
        assert!(pending.late(300 + GRACE - 1).is_empty());
        assert!(third.try_recv().is_err());
        assert_eq!(pending.late(300 + GRACE), [three]);
        pending.withdraw(three, true, 300 + GRACE);
        assert!(matches!(third.try_recv(), Ok(Err(QueuesError::Moved))));
        pending.answer(three, Ok(Answer::Done));
        assert!(pending.late(u64::MAX).is_empty());
    }
}
