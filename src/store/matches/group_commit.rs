//! Puts writes that arrive at the same time into one transaction, which waits for the disk once.

use parking_lot::Mutex;
use tokio::{
    select,
    sync::{Mutex as Turn, oneshot},
};

use crate::{
    model::{MatchRecord, match_chances::MatchChances},
    store::{Recorded, StoreError},
};

/// A game that ends: its record, what was predicted of its teams, and its number.
pub(super) type EndedGame = (MatchRecord, MatchChances, i64);
/// Games that end at the same time.
pub(in crate::store) type EndedGames = GroupCommit<EndedGame, Result<Recorded, StoreError>>;

/// What has become of a transaction for several writes.
pub(in crate::store) enum Attempt<R> {
    /// The result of each write.
    Done(Vec<R>),
    /// It has failed, and each write may succeed alone.
    Failed,
    /// It has failed, and so would all others: this makes the result of each write, also of those that wait.
    FailedForAll(Box<dyn Fn() -> R + Send>),
}

/// The most writes in one transaction.
const MOST: usize = 64;

/// Writes of one kind. Those that arrive while a transaction is under way wait, and go into the next one.
#[derive(Debug)]
pub(in crate::store) struct GroupCommit<T, R> {
    /// The writes that wait, each with the channel for its result.
    waiting: Mutex<Vec<(T, oneshot::Sender<R>)>>,
    /// Held while a transaction is under way.
    turn: Turn<()>,
}

impl<T, R> Default for GroupCommit<T, R> {
    fn default() -> Self {
        Self {
            waiting: Mutex::default(),
            turn: Turn::default(),
        }
    }
}

impl<T, R> GroupCommit<T, R> {
    /// Makes a write, together with those that other callers make at this time. One of the callers makes the
    /// transaction for all of them with its own `write`, which returns the results in the same order.
    ///
    /// Whoever waits while a transaction finds that none can succeed now gets its result at once: otherwise one after
    /// the other would wait as long for the same lock.
    ///
    /// Returns `None` if that transaction fails as a whole, or if the caller that makes it is dropped. As far as is
    /// known, nothing is written then; each caller should make its own write alone.
    pub async fn write<F>(&self, own: T, write: impl Fn(Vec<T>) -> F) -> Option<R>
    where
        F: Future<Output = Attempt<R>>,
    {
        let (answer, mut answered) = oneshot::channel();
        self.waiting.lock().push((own, answer));
        loop {
            // Whoever has an answer leaves, and whoever has made a transaction does not wait for the next one.
            let _turn = select! {
                biased;
                result = &mut answered => return result.ok(),
                turn = self.turn.lock() => turn,
            };
            match answered.try_recv() {
                Ok(result) => return Some(result),
                Err(oneshot::error::TryRecvError::Closed) => return None,
                Err(oneshot::error::TryRecvError::Empty) => {}
            }
            let (all, answers): (Vec<T>, Vec<_>) = {
                let mut waiting = self.waiting.lock();
                let count = waiting.len().min(MOST);
                waiting.drain(..count).unzip()
            };
            match write(all).await {
                Attempt::Done(results) => {
                    for (answer, result) in answers.into_iter().zip(results) {
                        let _ = answer.send(result);
                    }
                }
                Attempt::Failed => {}
                Attempt::FailedForAll(result) => {
                    let waiting = std::mem::take(&mut *self.waiting.lock());
                    let waiting = waiting.into_iter().map(|(_, answer)| answer);
                    for answer in answers.into_iter().chain(waiting) {
                        let _ = answer.send(result());
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::future::join_all;
    use tokio::task::yield_now;

    use super::*;

    /// Writes these numbers at the same time. Returns the result of each, and the numbers of each transaction. A
    /// transaction with a number above 1,000 fails; if it is above 9,000, so would all others.
    async fn written(numbers: impl Iterator<Item = u32>) -> (Vec<Option<u32>>, Vec<Vec<u32>>) {
        let (together, log) = (GroupCommit::default(), Mutex::new(Vec::new()));
        let write = async |all: Vec<u32>| {
            yield_now().await;
            log.lock().push(all.clone());
            match all.iter().max() {
                Some(9_001..) => Attempt::FailedForAll(Box::new(|| 0)),
                Some(1_001..) => Attempt::Failed,
                _ => Attempt::Done(all.iter().map(|number| number + 1).collect()),
            }
        };
        let calls = numbers.map(|number| together.write(number, &write));
        let results = join_all(calls).await;
        (results, log.into_inner())
    }

    #[tokio::test]
    async fn what_comes_meanwhile_is_one_transaction() {
        let (results, log) = written(0..200).await;
        assert!((0..200).all(|n| results[n as usize] == Some(n + 1)));
        let sizes: Vec<usize> = log.iter().map(Vec::len).collect();
        assert_eq!(sizes.iter().sum::<usize>(), 200);
        assert_eq!(sizes.iter().max(), Some(&MOST));
        assert!(sizes.len() <= 5, "{sizes:?}");
    }

    #[tokio::test]
    async fn who_makes_a_transaction_does_not_wait_for_the_next_one() {
        let together = Arc::new(GroupCommit::<u32, u32>::default());
        let write = |number: u32| {
            let together = together.clone();
            // The second transaction never ends.
            let write = async |all: Vec<u32>| match all[0] {
                1 => {
                    yield_now().await;
                    Attempt::Done(all)
                }
                _ => std::future::pending().await,
            };
            tokio::spawn(async move { together.write(number, write).await })
        };
        let (first, second) = (write(1), write(2));
        assert_eq!(first.await.unwrap(), Some(1));
        second.abort();
    }

    #[tokio::test]
    async fn who_was_in_a_transaction_that_failed_learns_it() {
        let (results, _) = written([1, 5_000, 2].into_iter()).await;
        assert_eq!(results[1], None);
        let (alone, _) = written([5_000].into_iter()).await;
        assert_eq!(alone, [None]);
    }

    #[tokio::test]
    async fn when_none_can_succeed_nobody_waits_for_another_try() {
        let (results, log) =
            written((0..200).map(|number| if number == 0 { 9_999 } else { number })).await;
        assert_eq!(results, [Some(0); 200]);
        assert_eq!(log, [[9_999]]);
    }

    #[tokio::test]
    async fn who_goes_away_takes_no_other_along() {
        let together = Arc::new(GroupCommit::<u32, u32>::default());
        let stuck = tokio::spawn({
            let together = together.clone();
            async move { together.write(1, |_| std::future::pending()).await }
        });
        while together.turn.try_lock().is_ok() {
            yield_now().await;
        }
        let other = tokio::spawn({
            let together = together.clone();
            async move { together.write(2, async |all| Attempt::Done(all)).await }
        });
        while together.waiting.lock().is_empty() {
            yield_now().await;
        }
        stuck.abort();
        assert_eq!(other.await.unwrap(), Some(2));
        assert!(stuck.await.unwrap_err().is_cancelled());
    }
}
