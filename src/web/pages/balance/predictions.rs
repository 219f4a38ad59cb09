//! Whether the predictions of a ruleset are better than a coin.

use maud::{Markup, html};
use serde::Serialize;

use crate::web::{Site, words};

/// How far the predictions of a ruleset are from a coin.
#[derive(Debug, Serialize)]
pub(super) struct PredictionLine {
    learned: u64,
    predicted: u64,
    /// By how much the mean log loss is lower than a coin's.
    gain: f64,
    /// The 95 % interval reaches so far on both sides of the gain; `None` for too few predictions.
    gain_reach: Option<f64>,
    sentence: String,
}

impl PredictionLine {
    /// That of a ruleset; `None` while its weights are derived again.
    pub(super) fn of(site: &Site, ruleset: &str) -> Option<Self> {
        let of = site.learning().metrics().beside_coin(ruleset)?;
        Some(Self {
            learned: of.learned,
            predicted: of.predicted,
            gain: words::rounded(of.gain, 4),
            gain_reach: of.reach,
            sentence: of.to_string(),
        })
    }

    pub(super) fn body(&self, site: &Site) -> Markup {
        html! {
            p {
                (self.sentence) ". "
                a href=(site.links.to("/systems")) { (text!(balance.all_rating_systems_compared)) }
            }
        }
    }
}
