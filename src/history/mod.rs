//! The fold of finished matches into weights, and the evaluation of rating systems on them.
//!
//! [`Fold`] takes match records in (end time, fingerprint) order, one at a time. It rules on
//! whether each match is rated, and if not, why ([`Unrated`]); passes rated matches to the rating
//! system of their ruleset; and keeps the weights of humans and bots apart. It is the only path
//! from matches to weights: rebuilding from all stored matches and learning from each as it arrives
//! run the same code and produce the same bits. The fold refuses a match that arrives late
//! ([`Late`]); the caller then folds all matches again.
//!
//! [`evaluate`] runs any of the systems over a history and predicts each match before it learns
//! from it.
//!
//! This room does no I/O and reads no clock. Entry points: [`Fold::new`] and [`evaluate`].

mod bootstrap;
mod departures;
mod digest;
mod evaluate;
mod fold;
mod levels;
mod metrics;
mod newcomers;
mod points;
mod ruling;
mod season;
mod standing;

use digest::Digest;
use levels::Levels;
use season::Season;
pub use standing::Spread;
use standing::Standing;

pub use bootstrap::Interval;
pub use evaluate::{Evaluation, Line, Plan, Prediction, Subset, evaluate};
pub use fold::{BadState, Fold, Late, Reading, Weight};
pub use levels::Level;
pub use metrics::{Bin, Forecast, Metrics};
pub use ruling::{Played, Rules, Ruling, Unrated, unrated};

use serde::{Deserialize, Serialize};

use crate::{
    domain::{Timestamp, units::Share},
    rating,
};

/// How matches become weights. Plain data; the caller checks the ranges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The rating system and its settings.
    #[serde(flatten)]
    pub rating: rating::Settings,
    /// Which matches are rated.
    #[serde(flatten)]
    pub rules: Rules,
    /// Whether the team number is a side of the map that may be easier to win on. False where games
    /// number their teams at random.
    pub sides: bool,
    /// The instants at which seasons begin.
    #[serde(skip_deserializing)]
    pub seasons: Vec<Timestamp>,
    /// The share of their distance from a newcomer that each player keeps at a new season, 0 to 1.
    #[serde(skip_deserializing, default = "season_keeps")]
    pub season_keeps: Share,
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
        }
    }
}

/// A regular keeps a place at the top, and ten games can change it.
fn season_keeps() -> Share {
    const { Share::of(0.8) }
}
