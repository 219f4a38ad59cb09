//! The fold of finished matches into weights, and the evaluation of rating systems on them.
//!
//! [`Fold`] takes match records in (end time, fingerprint) order, one at a time, decides which are
//! rated and which are not and why ([`Unrated`]), hands them to the rating system of their ruleset,
//! and tells the weights of humans and bots apart. It is the only path from matches to weights:
//! rebuilding from all stored matches and learning from each as it arrives run the same code and end
//! in the same bits. A match that arrives late cannot be pushed ([`Late`]); the caller folds again.
//!
//! [`evaluate`] runs any of the systems over a history, predicting each match before learning from it.
//!
//! This room never reads a clock, a file or a database. Entry points: [`Fold::new`] and [`evaluate`].

mod bootstrap;
mod digest;
mod evaluate;
mod fold;
mod levels;
mod metrics;
mod newcomers;
mod ruling;
mod season;
mod standing;

use digest::Digest;
use levels::Levels;
use season::Season;
use standing::Standing;
pub use standing::Spread;

pub use bootstrap::Interval;
pub use evaluate::{Evaluation, Line, Plan, Subset, evaluate};
pub use fold::{BadState, Fold, Late, Reading, Weight};
pub use levels::Level;
pub use metrics::{Bin, Forecast, Metrics};
pub use ruling::{Played, Rules, Ruling, Unrated, unrated};

use crate::{domain::Timestamp, rating};

/// How matches become weights. Plain data; the caller has checked the ranges.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Settings {
    /// The rating system and its settings.
    pub rating: rating::Settings,
    /// Which matches are rated.
    pub rules: Rules,
    /// Whether the team number is a side that may be easier to win on. Not where teams are numbered
    /// by chance.
    pub sides: bool,
    /// When seasons begin.
    pub seasons: Vec<Timestamp>,
    /// How much of what sets them apart from a newcomer everyone keeps then, 0 to 1.
    pub season_keeps: f64,
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
            season_keeps: 0.8, // a regular's place remains, and ten games can change it
        }
    }
}
