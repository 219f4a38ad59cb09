//! Learns from matches while a command still records others: each of the two keeps one core busy.

use tokio::sync::watch;

use super::{Learning, LearningError};

impl Learning {
    /// Learns from the matches that a command records, until the sender of `part` is dropped, and keeps the state for
    /// [`refresh`](Self::refresh), which then has less to do: it publishes and writes the weights. `part` is how much of
    /// its input the command has recorded, from 0 to 1; each new value means that there are more matches. `before` is
    /// the number of matches that were stored before the command.
    ///
    /// Stops early and returns `false` if `refresh` has to learn them again: if a match is earlier than one already
    /// learned, or replaces one (a half that is joined), if another process changes what players are or learns from these
    /// matches, too, and if the database fails.
    pub async fn learn_ahead(&self, before: i64, mut part: watch::Receiver<f64>) -> bool {
        if !self.has_turn().await {
            return true; // a daemon learns from them
        }
        while part.changed().await.is_ok() {
            let part = *part.borrow_and_update();
            match self.learn_stored(before, part).await {
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

    /// Folds the matches that are stored, without publishing or writing weights. Returns `false` if the state cannot be
    /// continued.
    async fn learn_stored(&self, before: i64, part: f64) -> Result<bool, LearningError> {
        let mut slot = self.learned.lock().await;
        let look = self.look(false).await?;
        let mut learned = match slot.take() {
            Some((key, learned)) if look.continues(&key, &learned) => learned,
            other @ Some(_) => {
                *slot = other;
                return Ok(false);
            }
            None => self.begin(&look, None).await?,
        };
        if look.lacks_rulings(&learned) {
            return Ok(false); // a daemon writes them meanwhile
        }
        self.know_written(&look, &learned);
        learned.goal = expected(before, look.stored, part).unwrap_or(look.stored);
        let mut progress = |_| ();
        let learned = self.fold(learned, look.stored, false, &mut progress);
        let learned = learned.await?;
        let is_in_order = !look.lacks_earlier(&learned);
        *slot = Some((look.key, learned));
        Ok(is_in_order)
    }
}

/// How many matches there will be if this part of those after the first `before` is stored; `None` if the part is not
/// known, because the length of the input is not known.
fn expected(before: i64, stored: i64, part: f64) -> Option<i64> {
    let new = (stored - before).max(0);
    let is_known = part > 0.0 && part <= 1.0;
    // A number that is too large becomes the largest one.
    is_known.then(|| before.saturating_add((new as f64 / part) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_part_tells_how_many_matches_there_will_be() {
        assert_eq!(expected(0, 100, 0.25), Some(400));
        assert_eq!(expected(1_000, 1_100, 0.5), Some(1_200));
        assert_eq!(expected(1_000, 1_100, 1.0), Some(1_100));
        assert_eq!(expected(50, 10, 0.5), Some(50));
        assert_eq!(expected(0, i64::MAX, 1e-300), Some(i64::MAX));
        for odd in [0.0, -1.0, 2.0, f64::NAN, f64::INFINITY] {
            assert_eq!(expected(10, 50, odd), None);
        }
    }
}
