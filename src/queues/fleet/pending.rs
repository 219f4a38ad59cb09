//! The calls of this daemon's clients that another daemon has to answer, by a clock that is an argument.

use std::collections::BTreeMap;

use tokio::sync::oneshot;

use crate::queues::{QueuesError, command::Outcome};

/// How many milliseconds an answer may take that must be under way, because the letter was handled.
const GRACE: u64 = 2_000;

/// The calls that wait for their answers.
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
    /// The number of the letter, once it is sent.
    letter: Option<i64>,
    /// Whether its letter was gone when it was to be withdrawn.
    is_handled: bool,
}

impl Pending {
    /// Adds a call, and returns its number.
    pub fn add(&mut self, answer: oneshot::Sender<Outcome>, until: u64) -> u64 {
        self.next += 1;
        let waiting = Waiting {
            answer,
            until,
            letter: None,
            is_handled: false,
        };
        self.calls.insert(self.next, waiting);
        self.next
    }

    /// Notes the letter of a call.
    pub fn posted(&mut self, call: u64, letter: i64) {
        if let Some(waiting) = self.calls.get_mut(&call) {
            waiting.letter = Some(letter);
        }
    }

    /// Answers a call. One that was withdrawn is answered already.
    pub fn answer(&mut self, call: u64, outcome: Outcome) {
        if let Some(waiting) = self.calls.remove(&call) {
            let _ = waiting.answer.send(outcome);
        }
    }

    /// The calls whose time is over, with their letters.
    pub fn late(&self, now: u64) -> Vec<(u64, Option<i64>)> {
        let late = self.calls.iter().filter(|(_, one)| one.until <= now);
        late.map(|(call, one)| (*call, one.letter)).collect()
    }

    /// Withdraws a call whose time is over. If its letter was handled, the answer has a little more time.
    pub fn withdraw(&mut self, call: u64, was_handled: bool, now: u64) {
        match self.calls.get_mut(&call) {
            Some(waiting) if was_handled && !waiting.is_handled => {
                waiting.is_handled = true;
                waiting.until = now.saturating_add(GRACE);
            }
            _ => self.answer(call, Err(QueuesError::Moved)),
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
        for (number, letter) in [(one, 7), (two, 8), (three, 9)] {
            pending.posted(number, letter);
        }
        pending.answer(one, Ok(Answer::Done));
        assert!(matches!(first.try_recv(), Ok(Ok(Answer::Done))));
        assert_eq!(pending.late(199), []);
        assert_eq!(pending.late(300), [(two, Some(8)), (three, Some(9))]);
        pending.withdraw(two, false, 300);
        assert!(matches!(second.try_recv(), Ok(Err(QueuesError::Moved))));
        // The letter of the third was handled: its answer comes a little late, or never.
        pending.withdraw(three, true, 300);
        assert_eq!(pending.late(300 + GRACE - 1), []);
        assert!(third.try_recv().is_err());
        assert_eq!(pending.late(300 + GRACE), [(three, Some(9))]);
        pending.withdraw(three, true, 300 + GRACE);
        assert!(matches!(third.try_recv(), Ok(Err(QueuesError::Moved))));
        pending.answer(three, Ok(Answer::Done));
        assert_eq!(pending.late(u64::MAX), []);
    }
}
