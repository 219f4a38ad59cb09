//! The settings of learning.

use serde_json::{Map, Value};

use crate::{
    learning::leases::SharedSettings,
    model::{ClanTags, RulebookSpec, behaviour::BehaviourSettings},
    rating::history,
};

/// What differs between two versions of the program that derive other weights from the same matches and settings.
const VERSION: &str = "the version of the program";

/// How weights are learned. Weights that were learned with other settings are derived again.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Settings {
    /// Which games share their weights.
    pub rulebook: RulebookSpec,
    /// Which matches are rated, and by which rating system.
    pub history: history::Settings,
    /// What is stripped from names before they are identities.
    #[serde(skip_serializing_if = "ClanTags::is_empty")]
    pub tags: ClanTags,
    /// How reports about behaviour count. No weight depends on it.
    #[serde(skip)]
    pub behaviour: BehaviourSettings,
}

impl Settings {
    /// What the daemons of a database must have in common to derive the same weights, by the keys of the configuration.
    ///
    /// # Errors
    /// Fails if the settings cannot be serialised.
    pub(super) fn shared(&self, version: u32) -> Result<SharedSettings, serde_json::Error> {
        let mut shared = SharedSettings::default();
        shared.add(VERSION, &version)?;
        shared.add("mutators", &self.rulebook.mutators)?;
        shared.add("game_types", &self.rulebook.game_types)?;
        shared.add(
            "identity",
            &Map::from_iter([("strip".into(), serde_json::to_value(&self.tags)?)]),
        )?;
        let mut rating = Map::new();
        if let Value::Object(history) = serde_json::to_value(&self.history)? {
            for (key, value) in history {
                match key.as_str() {
                    "divisions" => shared.add("divisions", &value)?,
                    "seasons" => {
                        shared.add("season", &Map::from_iter([("starts".into(), value)]))?
                    }
                    "season_keeps" => {
                        shared.add("season", &Map::from_iter([("keeps".into(), value)]))?;
                    }
                    _ => drop(rating.insert(key, value)),
                }
            }
        }
        shared.add("rating", &rating)?;
        Ok(shared)
    }
}
