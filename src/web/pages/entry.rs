//! What a match has entered into a player's account, as pages show it.

use serde::Serialize;

use crate::{
    learning,
    model::{WeightCause, WeightEntry},
    web::words::rounded,
};

/// What a match has entered into a player's account.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    weight_before: f64,
    weight: f64,
    change: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<WeightCause>,
    /// Whether an operator has fixed the player's weight: the account goes on beneath it.
    pinned: bool,
    /// What moved the weight or held it, in a few words.
    #[serde(skip)]
    reason: Option<String>,
}

impl Entry {
    pub(super) fn new(entry: &WeightEntry, pinned: bool) -> Self {
        Self {
            weight_before: rounded(entry.before, 3),
            weight: rounded(entry.weight, 3),
            change: rounded(entry.change(), 3),
            cause: entry.cause,
            pinned,
            reason: learning::reason(entry, pinned),
        }
    }

    /// The weight before the match.
    pub(super) fn before(&self) -> f64 {
        self.weight_before
    }

    /// By how much the match has moved the weight.
    pub(super) fn change(&self) -> f64 {
        self.change
    }

    /// What moved the weight or held it, in a few words.
    pub(super) fn reason(&self) -> Option<String> {
        self.reason.clone()
    }
}
