//! The answers about teams. What is not shown to a caller without a token is left out of them.

use serde::Serialize;

use super::call::places;
use crate::{
    model::amount,
    session::CountedWeight,
    web::{pages::Reasons, words},
};

/// The answer to `/v1/teams`.
#[derive(Debug, Serialize)]
pub(in crate::web) struct Teams<'a> {
    pub(in crate::web) teams: Vec<Team<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::web) ratio: Option<f64>,
    pub(in crate::web) seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::web) decision: Option<Option<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::web) why: Option<Vec<String>>,
    pub(in crate::web) closest_alternative: Option<Alternative<'a>>,
    /// The sums of stated weights, if these decided and numbers are shown; for people.
    #[serde(skip)]
    pub(in crate::web) sums: Vec<f64>,
    /// What was weighed up, and from how many teams these were picked; for people.
    #[serde(skip)]
    pub(in crate::web) weighed: Option<(Reasons, usize)>,
}

#[derive(Debug, Serialize)]
pub(in crate::web) struct Team<'a> {
    pub(in crate::web) players: Vec<TeamPlayer<'a>>,
    pub(in crate::web) bots: u32,
    /// `None` without a prediction; left out where numbers are not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::web) chance: Option<Option<f64>>,
}

#[derive(Debug, Serialize)]
pub(in crate::web) struct TeamPlayer<'a> {
    pub(in crate::web) id: &'a str,
    #[serde(flatten)]
    pub(in crate::web) weight: Option<Weight>,
}

impl TeamPlayer<'_> {
    /// The weight for people, if it is shown and anything is known of the player.
    pub(in crate::web) fn shown_weight(&self) -> Option<String> {
        let weight = self.weight.as_ref().filter(|weight| weight.known)?;
        Some(match weight.stated {
            true => amount(weight.weight),
            false => words::tenths(weight.weight),
        })
    }
}

/// The weight with which a player counts.
#[derive(Debug, Serialize)]
pub(in crate::web) struct Weight {
    pub(in crate::web) weight: f64,
    pub(in crate::web) deviation: Option<f64>,
    pub(in crate::web) known: bool,
    /// Whether it is stated, on whatever scale.
    #[serde(skip)]
    stated: bool,
}

impl From<CountedWeight> for Weight {
    fn from(counted: CountedWeight) -> Self {
        Self {
            weight: match counted.stated {
                true => counted.weight, // as the caller has stated it, on whatever scale
                false => places(counted.weight, 3),
            },
            deviation: counted.deviation.map(|deviation| places(deviation, 3)),
            known: counted.known,
            stated: counted.stated,
        }
    }
}

/// The teams that were as good, or nearly.
#[derive(Debug, Serialize)]
pub(in crate::web) struct Alternative<'a> {
    pub(in crate::web) teams: Vec<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::web) ratio: Option<f64>,
    /// The chance of team 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::web) chance: Option<Option<f64>>,
}

/// The answer to `/v1/teams/place`.
#[derive(Debug, Serialize)]
pub(super) struct Placed<'a> {
    pub(super) placed: Vec<PlacedPlayer<'a>>,
    pub(super) seed: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct PlacedPlayer<'a> {
    pub(super) id: &'a str,
    pub(super) team: u8,
    pub(super) ratio: f64,
    pub(super) why: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<Option<i64>>,
}

/// The answer to `/v1/teams/rebalance`.
#[derive(Debug, Serialize)]
pub(super) struct Rebalanced {
    pub(super) before: f64,
    pub(super) after: f64,
    pub(super) moves: Vec<AdvisedMove>,
    pub(super) seed: u64,
    pub(super) why: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<Option<i64>>,
}

#[derive(Debug, Serialize)]
pub(super) struct AdvisedMove {
    pub(super) id: String,
    pub(super) from: Option<u8>,
    pub(super) to: u8,
}
