//! Every key there is, by section. What each means, its unit, range and default stand in
//! `config/evenkeel.toml`.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf};

use serde::Deserialize;
use toml::Value;

use crate::domain::{Secret, Timestamp, Unknown};

/// The whole configuration. Units and ranges are told in `config/evenkeel.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Config {
    pub server: Server,
    pub store: Store,
    pub log: Log,
    pub lobby: Lobby,
    pub balance: Balance,
    pub rating: Rating,
    pub season: Season,
    pub mutators: Mutators,
    pub game_types: GameTypes,
}

/// `[server]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Server {
    pub listen: SocketAddr,
    pub max_line_bytes: usize,
    pub max_connections: usize,
    pub max_errors: u32,
    pub first_line_seconds: u64,
    pub line_seconds: u64,
    pub idle_seconds: u64,
    pub write_seconds: u64,
    pub drain_seconds: u64,
    pub resume_grace_seconds: u64,
    pub clients: BTreeMap<String, Secret>,
}

/// `[store]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Store {
    pub database: PathBuf,
    pub busy_ms: u64,
    pub keep_decisions: u32,
}

/// `[log]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Log {
    pub filter: String,
}

/// `[lobby]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Lobby {
    pub max_roster: usize,
    pub min_players: u32,
    pub level_min: u32,
    pub level_max: u32,
}

/// `[balance]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Balance {
    pub top: usize,
    pub power: f64,
    pub max_team_share: f64,
    pub max_difference: Limit,
    pub party_budget: f64,
    pub party_multiplier: Vec<f64>,
    pub default_weight: f64,
    pub default_bot_weight: f64,
    pub deadline_ms: u64,
    pub memory_mb: usize,
    pub factors: Factors,
}

/// `[balance.factors]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Factors {
    pub ratio_gap: f64,
    pub best_gap: f64,
    pub spread_gap: f64,
    pub broken_parties: f64,
    pub avoided_pairs: f64,
    pub moved: f64,
    pub repeated: f64,
}

/// A number, or `"off"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub struct Limit(pub Option<usize>);

impl TryFrom<Value> for Limit {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match value {
            Value::Integer(number) if (0..=1_024).contains(&number) => {
                Ok(Self(Some(number as usize)))
            }
            Value::String(word) if word == "off" => Ok(Self(None)),
            _ => Err("must be 0 to 1024, or \"off\""),
        }
    }
}

/// `[rating]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Rating {
    pub system: String,
    pub min_seconds: u32,
    pub min_humans: u32,
    pub sides: bool,
    pub window: usize,
    pub half_life: f64,
    pub prior: f64,
    pub elo_k: f64,
    pub elo_best: f64,
    pub elo_worst: f64,
    pub scoreboard_window: usize,
}

impl Rating {
    /// What `system` says when each ruleset is to have its own.
    pub const AUTO: &str = "auto";
}

/// `[season]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Season {
    pub starts: Vec<Date>,
    pub keeps: f64,
}

/// A date such as `2026-11-20` or `2026-11-20T15:30:00`, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Date(pub Timestamp);

impl TryFrom<String> for Date {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let expected = "expected a date such as \"2026-11-20\" or \"2026-11-20T15:30:00\"";
        Timestamp::parse(&text).map(Self).ok_or(expected)
    }
}

/// `[mutators]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Mutators {
    pub gameplay: Vec<String>,
    pub ignore: Vec<String>,
    pub unknown: Unknown,
}

/// `[game_types]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct GameTypes {
    pub free_for_all: Vec<String>,
    pub frags: Vec<String>,
    pub aliases: BTreeMap<String, String>,
}
