//! The settings of the fold.

use serde::{Deserialize, Serialize};

use super::Rules;
use crate::{self as rating, divisions};
use evenkeel_model::{Timestamp, units::Share};

/// How matches become weights. Plain data; the caller checks the ranges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The rating system and its settings.
    #[serde(flatten)]
    pub rating: rating::Settings,
    /// Which matches are rated.
    #[serde(flatten)]
    pub rules: Rules,
    /// Whether the team number stands for a side of the map, which may be easier to win on. Set it
    /// to false if games number their teams at random.
    pub sides: bool,
    /// The instants at which seasons begin.
    #[serde(skip_deserializing)]
    pub seasons: Vec<Timestamp>,
    /// The share of their distance from a newcomer that each player keeps at a new season, 0 to 1.
    #[serde(skip_deserializing, default = "season_keeps")]
    pub season_keeps: Share,
    /// The divisions of the players of a ruleset.
    #[serde(skip_deserializing)]
    pub divisions: divisions::Settings,
}

impl Default for Settings {
    fn default() -> Self {
        rating::Settings::default().into()
    }
}

impl From<rating::Settings> for Settings {
    fn from(rating: rating::Settings) -> Self {
        Self {
            rating,
            rules: Rules::default(),
            sides: true,
            seasons: Vec::new(),
            season_keeps: season_keeps(),
            divisions: divisions::Settings::default(),
        }
    }
}

/// With 0.8, a regular player stays near the top after a new season, but ten games can change that.
fn season_keeps() -> Share {
    const { Share::of(0.8) }
}
