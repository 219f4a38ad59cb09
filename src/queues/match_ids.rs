//! The ids of the matches that a queue forms next.

use std::{ops::Range, time::Duration};

use tokio::time::Instant;

use crate::{
    model::MatchId,
    store::{Store, StoreError},
};

/// The most ids that are reserved ahead.
const MOST: u32 = 1_024;
/// Ids that lasted for longer than this were enough.
const BUSY: Duration = Duration::from_secs(10);

/// Ids of matches that are reserved in the database and not used yet. A busy queue reserves ever more of them together,
/// and so seldom asks; a quiet one leaves no gap between its matches.
#[derive(Debug, Default)]
pub(super) struct MatchIds {
    free: Range<MatchId>,
    block: u32,
    reserved: Option<Instant>,
}

impl MatchIds {
    /// The first of `count` consecutive ids, which no other match gets.
    pub async fn take(&mut self, store: &Store, count: u32) -> Result<MatchId, StoreError> {
        if self.free.end - self.free.start < i64::from(count) {
            let ahead = self.ahead(Instant::now());
            self.block = ahead.max(count);
            let first = store.queues().reserve_matches(self.block).await?;
            self.free = first..first + i64::from(self.block);
        }
        let first = self.free.start;
        self.free.start += i64::from(count);
        Ok(first)
    }

    /// How many ids are reserved although nobody needs them yet.
    fn ahead(&mut self, now: Instant) -> u32 {
        let before = self.reserved.replace(now);
        match before.is_some_and(|before| now.duration_since(before) < BUSY) {
            true => self.block.saturating_mul(2).min(MOST),
            false => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_busy_queue_reserves_ahead() {
        let (mut ids, began) = (MatchIds::default(), Instant::now());
        let mut ahead = |seconds| {
            let ahead = ids.ahead(began + Duration::from_secs(seconds));
            ids.block = ahead.max(3);
            ahead
        };
        assert_eq!([0, 60, 61, 62].map(&mut ahead), [0, 0, 6, 12]);
        assert_eq!([80, 81].map(&mut ahead), [0, 6]);
        assert_eq!((82..100).map(&mut ahead).max(), Some(MOST));
    }
}
