//! Takes over what another daemon learns, instead of learning from each match once more.
//!
//! The daemon with the lease of the fold writes weights after each match, and a checkpoint every ten seconds while
//! matches come. The others read both: their weights are those in the database, and what else they know of players, such
//! as the chances of teams, is as old as the last checkpoint. So a further daemon costs little, and one that gets the
//! lease goes on from that checkpoint.

use std::{collections::BTreeSet, sync::Arc};

use super::{CURRENT, Learning, LearningError, learned::Learned, look::Look, newer::NewerWeights};
use crate::{domain::PlayerKey, history::Fold, store::WrittenSoFar};

/// To read the state of this number of players takes as long as to learn from a match: 26 µs each with 6,000 players,
/// and 0.24 ms.
const PLAYERS: i64 = 10;

impl Learning {
    /// Whether another daemon of the same settings has the lease of the fold, so that this one takes over its weights.
    pub(super) fn is_follower(&self, look: &Look) -> bool {
        let is_beside = self.store.is_shared() && look.guard.is_none();
        is_beside && !look.is_other && !look.all
    }

    /// Whether this daemon has taken over weights, and will go on to do so.
    pub(super) fn takes_over(&self) -> bool {
        self.store.is_shared() && !self.is_writer() && self.taken_over.lock().is_some()
    }

    /// Publishes the weights that another daemon has written, if they are newer than those published. Returns `false`
    /// if there is no checkpoint to begin with.
    pub(super) async fn take_over(
        &self,
        look: &Look,
        slot: &mut Option<(String, Learned)>,
    ) -> Result<bool, LearningError> {
        let written = self.store.written_so_far().await?;
        let known = slot.as_ref().filter(|(key, _)| *key == look.key);
        let known = known.map(|(_, learned)| learned.matches);
        if known.is_none_or(|known| written.checkpointed > known) {
            self.catch_up(look, slot, written.checkpointed).await?;
        }
        let Some((_, learned)) = slot.as_ref().filter(|(key, _)| *key == look.key) else {
            return Ok(false);
        };
        if !self.is_published(learned, written) {
            let newer = match written.weighed > learned.matches {
                true => Some(self.newer_weights(learned).await?),
                false => None,
            };
            let weighed = newer
                .as_ref()
                .map_or(written.weighed, |newer| newer.matches);
            self.metrics.publish(learned);
            self.metrics.took_over(weighed);
            let mut knowledge = learned.knowledge.clone();
            knowledge.newer = newer.map(Arc::new);
            self.replace(knowledge, None, CURRENT);
            *self.taken_over.lock() = Some((learned.matches, weighed));
        }
        self.metrics.caught_up();
        Ok(true)
    }

    /// Brings the learned state up to the newest checkpoint, of this number of matches: learns the few matches that it
    /// lacks, or else reads the checkpoint. Leaves it as it is if the checkpoint is not one of the first matches on disk.
    async fn catch_up(
        &self,
        look: &Look,
        slot: &mut Option<(String, Learned)>,
        checkpointed: i64,
    ) -> Result<(), LearningError> {
        let (is_its, known) = match slot {
            Some((key, learned)) => (*key == look.key, Some(learned.matches)),
            None => (false, None),
        };
        let before = look.before.as_ref();
        let newer = match slot.take().filter(|_| is_its) {
            Some((_, learned)) if self.is_close_to(&learned, checkpointed).await? => {
                let mut learned = self
                    .fold(learned, checkpointed, true, None, &mut |_| ())
                    .await?;
                // The daemon that wrote the checkpoint has written its rulings before.
                learned.pending.clear();
                learned.has_all_rulings = false;
                learned.ruled.clone_from(&look.before);
                Some(learned)
            }
            kept => {
                let known = known.filter(|_| is_its);
                let restored = self.restore(&look.key, &look.overrides, before, known);
                restored.await?.or(kept.map(|(_, learned)| learned))
            }
        };
        *slot = newer.map(|newer| (look.key.clone(), newer));
        *self.taken_over.lock() = None;
        Ok(())
    }

    /// Whether it takes less to learn the matches that a state lacks than to read the checkpoint of `matches`, and the
    /// matches of the state are the first ones on disk.
    async fn is_close_to(&self, learned: &Learned, matches: i64) -> Result<bool, LearningError> {
        let players = learned.knowledge.folds.values().map(Fold::players);
        let players = i64::try_from(players.sum::<usize>()).unwrap_or(i64::MAX);
        if (matches - learned.matches).saturating_mul(PLAYERS) > players {
            return Ok(false);
        }
        let first = self.store.extent_to(learned.cursor).await?;
        Ok(first == (learned.matches, learned.last_match))
    }

    /// Whether the weights of this state, with those written so far, were the last ones to be published.
    fn is_published(&self, learned: &Learned, written: WrittenSoFar) -> bool {
        self.is_current() && *self.taken_over.lock() == Some((learned.matches, written.weighed))
    }

    /// The weights in the database of those players whose weights may differ from the ones of this state.
    async fn newer_weights(&self, learned: &Learned) -> Result<NewerWeights, LearningError> {
        let (unsettled, rulesets) = learned.knowledge.unsettled();
        let mut players: BTreeSet<PlayerKey> = unsettled.into_iter().cloned().collect();
        let merges = &learned.knowledge.counts_as;
        for played in self.store.played_after(learned.cursor).await? {
            players.insert(merges.of(&played).into_owned());
        }
        let players: Vec<PlayerKey> = players.into_iter().collect();
        let rows = self.store.new_parts(&players, &rulesets).await?;
        Ok(NewerWeights::new(rows))
    }
}
