//! Learns while a command records matches, which uses one of two cores.

use tokio::sync::watch;

use super::{Learning, LearningError, look::RefreshMode};

impl Learning {
    /// Learns from the matches that a command records, until the sender of `share` is dropped, and keeps the state for
    /// [`refresh`](Self::refresh), which then has less to do: it publishes and writes the weights. `share` is the part of
    /// the matches that is recorded, from 0 to 1; each new value means that there are more of them.
    ///
    /// Stops early, and returns `false`, if matches come that are earlier than those learned, or change them, and if the
    /// database fails: `refresh` then begins again.
    pub async fn learn_ahead(&self, mut share: watch::Receiver<f64>) -> bool {
        let mut before = None;
        while share.changed().await.is_ok() {
            let share = *share.borrow_and_update();
            match self.learn_stored(share, &mut before).await {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) => {
                    tracing::warn!(%error, "cannot learn while matches are recorded");
                    return false;
                }
            }
        }
        true
    }

    /// Folds the matches that are stored, without publishing or writing weights. `before` is how many matches the state
    /// had at first. Returns `false` if it cannot be continued.
    async fn learn_stored(
        &self,
        share: f64,
        before: &mut Option<i64>,
    ) -> Result<bool, LearningError> {
        let mut slot = self.learned.lock().await;
        let look = self.look(RefreshMode::Write).await?;
        let mut learned = match slot.take() {
            Some((key, learned)) if look.continues(&key, &learned) => learned,
            Some(_) => return Ok(false),
            None => self.begin(&look).await?,
        };
        self.know_written(&look, &learned);
        let before = *before.get_or_insert(learned.matches);
        learned.goal = look.saves().then(|| expected(before, look.stored, share));
        let guard = look.guard.as_ref();
        let mut progress = |_| ();
        let learned = self.fold(learned, look.stored, false, guard, &mut progress);
        let learned = learned.await?;
        if look.lacks_earlier(&learned) {
            return Ok(false);
        }
        *slot = Some((look.key, learned));
        Ok(true)
    }
}

/// How many matches there will be if this share of those after the first `before` is stored.
fn expected(before: i64, stored: i64, share: f64) -> i64 {
    let new = (stored - before).max(0);
    match share > 0.0 && share < 1.0 {
        // A number that is too large becomes the largest one.
        true => before.saturating_add((new as f64 / share) as i64),
        false => stored,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_recorded_matches_tells_how_many_there_will_be() {
        assert_eq!(expected(0, 100, 0.25), 400);
        assert_eq!(expected(1_000, 1_100, 0.5), 1_200);
        assert_eq!(expected(1_000, 1_100, 1.0), 1_100);
        assert_eq!(expected(0, i64::MAX, 1e-300), i64::MAX);
        for odd in [0.0, -1.0, 2.0, f64::NAN, f64::INFINITY] {
            assert_eq!(expected(10, 50, odd), 50);
        }
        assert_eq!(expected(50, 10, 0.5), 50);
    }
}
