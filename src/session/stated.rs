//! The weights that the asker of one question states, and what they mean.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{Session, SessionError};
use crate::partition::Decider;

/// The weights that the asker of one question states. A session of a game has none.
#[derive(Clone, Debug, Default)]
pub(super) struct StatedWeights {
    /// The stated weights of humans, by identity.
    pub(super) weights: BTreeMap<String, f64>,
    /// The humans of whom the asker must not learn anything: they count as if nobody knew them.
    pub(super) hidden: BTreeSet<String>,
    /// What a human without a stated weight counts if the sums of the stated ones decide.
    pub(super) unknown: Option<f64>,
}

impl StatedWeights {
    /// The weight that counts for this human instead of what was learned; `None` if that counts.
    pub(super) fn instead(&self, id: &str, default: f64) -> Option<f64> {
        let hidden = || self.hidden.contains(id).then_some(default);
        let stated = self.weights.get(id).copied();
        stated.or(self.unknown).or_else(hidden)
    }

    /// Whether this human does not count with what was learned.
    pub(super) fn is_instead(&self, id: &str) -> bool {
        self.instead(id, 0.0).is_some()
    }
}

impl Session {
    /// Finds out what the weights mean that the asker of one question has stated. To be called once all players have
    /// joined.
    ///
    /// # Errors
    /// Fails if there is no game, if a weight is being derived that it needs, or if a stated weight cannot count.
    pub fn weigh_stated(&mut self) -> Result<(), SessionError> {
        let weights = self.weights()?;
        if weights.stated.weights.is_empty() {
            return Ok(());
        }
        let humans = self.state.lobby.game()?.roster.humans().iter();
        let listed = humans.map(|human| weights.listed(human.id.text()));
        let unknown = match Decider::of(&listed.collect::<Vec<_>>())? {
            Decider::Sums { unknown } => Some(unknown),
            Decider::Learned => None,
        };
        if let Some(aside) = &mut self.aside {
            Arc::make_mut(&mut aside.stated).unknown = unknown;
        }
        Ok(())
    }
}
