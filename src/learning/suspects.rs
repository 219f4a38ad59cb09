//! Players who are perhaps another account of a known player.

use super::{Learning, LearningError};
use crate::rating::history::Suspect;

impl Learning {
    /// The humans who play far above a newcomer with few matches, in all rulesets. It leaves out players
    /// whom the operator has given a weight: those are known. Learns from new matches first, and does not
    /// replace weights that another configuration has derived.
    pub async fn suspects(&self) -> Result<Vec<Suspect>, LearningError> {
        self.learn(false, &mut |_| ()).await?;
        let learned = self.learned.lock().await;
        let Some((_, learned)) = learned.as_ref() else {
            return Ok(Vec::new());
        };
        let knowledge = &learned.knowledge;
        let known = |suspect: &Suspect| {
            knowledge.pinned.contains_key(&suspect.key)
                || knowledge.starts.contains_key(&suspect.key)
        };
        let all = knowledge.suspects().into_iter();
        Ok(all.filter(|suspect| !known(suspect)).collect())
    }
}
