//! The fate of wishes for a team: how many were granted, and why the others were not.

use std::fmt;

/// What became of the wishes for a team.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Wishes {
    /// The number of granted wishes.
    pub granted: usize,
    /// The best evenness if nobody had a wish; `None` if there was no time to find it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without: Option<f64>,
    /// The wishes that were not granted, in the caller's order of the humans.
    pub refused: Vec<RefusedWish>,
}

/// A wish for a team that was not granted.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RefusedWish {
    /// Id of the human.
    pub who: String,
    /// The team for which they wish, counted from 0.
    pub team: u8,
    /// Why it was not granted.
    #[serde(flatten)]
    pub why: Refusal,
}

/// Why a wish for a team was not granted.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum Refusal {
    /// They are pinned to another team.
    Pinned,
    /// Their party is on another team, where a friend must be or wishes to be.
    Party,
    /// No legal teams grant it beside the wishes that were granted.
    NoRoom,
    /// The teams would have been too uneven.
    Uneven {
        /// The best evenness of teams that grant it beside the wishes that were granted.
        evenness: f64,
    },
    /// There was no time to find out what it costs.
    Unknown,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pinned => "they are pinned to another team",
            Self::Party => "their party is on another team",
            Self::NoRoom => "there is no room for it beside the wishes that are granted",
            Self::Uneven { .. } => "the teams would be too uneven",
            Self::Unknown => "there was no time to find out what it would cost",
        })
    }
}
