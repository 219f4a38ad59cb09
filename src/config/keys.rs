//! Every key there is, by section. What each means, its unit, range and default stand in
//! `config/evenkeel.toml`.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf};

use serde::Deserialize;
use toml::Value;

use crate::{
    domain::{Secret, Timestamp, Unknown},
    lobby,
};

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
    pub place: Place,
    pub advantage: Advantage,
    pub rebalance: Rebalance,
    pub auto_balance: AutoBalance,
    pub rating: Rating,
    pub season: Season,
    pub mutators: Mutators,
    pub game_types: GameTypes,
    pub ingest: Ingest,
    pub follow: Vec<Follow>,
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
    pub bots: bool,
    pub min_humans: u32,
}

/// `[place]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Place {
    pub rejoin_grace_seconds: u64,
    pub rejoin_budget: f64,
    pub max_difference: Limit,
}

/// `[advantage]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Advantage {
    pub max: f64,
    pub dead_band: f64,
    pub slew: f64,
    pub trust: f64,
    pub usual_seconds: u64,
}

/// `[rebalance]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Rebalance {
    pub max_moves: usize,
    pub enough: f64,
    pub min_gain: f64,
    pub cooldown_seconds: u64,
    pub newest_first: bool,
    pub spare_top: bool,
    pub max_difference: Limit,
}

/// `[auto_balance]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct AutoBalance {
    pub rules: RuleSet,
    pub tournament: Vec<String>,
    pub custom: CustomRules,
}

/// Whose rules auto-balance goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum RuleSet {
    Off,
    SectorsEdge,
    PlayersProposal,
    Custom,
}

/// `[auto_balance.custom]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct CustomRules {
    pub quiet_end_seconds: u64,
    pub like_sizes: Limit,
    pub lopsided: Vec<(usize, usize)>,
    pub gap: f64,
    pub gap_of: GapOf,
    pub power: lobby::Power,
    pub rank_base: u32,
    pub delay_seconds: u64,
    pub movable_share: f64,
    pub once: bool,
    pub choice: lobby::MoveRule,
}

/// What a gap of power is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum GapOf {
    Points,
    Share,
}

/// `[balance]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Balance {
    pub objective: Objective,
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

/// What `[balance] objective` can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// The ratio of the teams' weights.
    Ratio,
    /// The chance to win.
    Chance,
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
    pub hive_constant: f64,
    pub hive_adaptive: f64,
    pub hive_epsilon: f64,
    pub trueskill_beta: f64,
    pub trueskill_drift: f64,
    pub trueskill_ties: f64,
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

/// `[ingest]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Ingest {
    pub archive: PathBuf,
    pub follow_ms: u64,
    pub settle_seconds: u64,
}

/// One `[[follow]]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Follow {
    pub path: PathBuf,
    #[serde(default = "Follow::auto")]
    pub format: String,
    #[serde(default)]
    pub server: String,
}

impl Follow {
    /// The format that is found out.
    pub const AUTO: &str = "auto";

    fn auto() -> String {
        Self::AUTO.to_owned()
    }
}
