//! All keys, by section. `config/evenkeel.toml` documents the meaning, unit, range and default of
//! each. The type of a key states its range; see [`units`](crate::domain::units).

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf};

use serde::Deserialize;

use super::values::{self, Date, FormatChoice, SystemChoice};
use crate::{
    domain::{
        Secret, Unknown,
        units::{
            Amount, ChoiceExponent, Count, Factor, HalfLife, MaxDifference, Megabytes, Millis,
            PlayerWeight, PositiveAmount, PositiveShare, Seconds, Share, ShareBelowOne, UpToADay,
        },
    },
    lobby::{AdvantageSettings, AutoBalanceRules, PlaceSettings, RebalanceSettings},
};

/// A time limit of 1 second to one week.
type UpToAWeek = Seconds<1, 604_800>;

/// The configuration; each field is a section of `config/evenkeel.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Config {
    pub server: ServerSection,
    pub store: StoreSection,
    pub log: LogSection,
    pub lobby: LobbySection,
    pub balance: BalanceSection,
    pub place: PlaceSettings,
    pub advantage: AdvantageSettings,
    pub rebalance: RebalanceSettings,
    pub auto_balance: AutoBalanceSection,
    pub rating: RatingSection,
    pub season: SeasonSection,
    pub mutators: MutatorsSection,
    pub game_types: GameTypesSection,
    pub ingest: IngestSection,
    pub follow: Vec<FollowSection>,
}

/// The keys of section `[server]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct ServerSection {
    pub listen: SocketAddr,
    pub max_line_bytes: Count<64, 65_536>,
    pub max_connections: Count<1, 65_536>,
    pub max_errors: Count<1, { u32::MAX }>,
    pub first_line_seconds: UpToAWeek,
    pub line_seconds: UpToAWeek,
    pub idle_seconds: UpToAWeek,
    pub write_seconds: UpToAWeek,
    pub drain_seconds: Seconds<0, 60>,
    pub resume_grace_seconds: UpToADay,
    #[serde(deserialize_with = "values::clients")]
    pub clients: BTreeMap<String, Secret>,
}

/// The keys of section `[store]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct StoreSection {
    #[serde(deserialize_with = "values::path")]
    pub database: PathBuf,
    pub busy_ms: Millis<0, 600_000>,
    pub keep_decisions: Count<0, 10_000_000>,
}

/// The keys of section `[log]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct LogSection {
    #[serde(deserialize_with = "values::filter")]
    pub filter: String,
}

/// The keys of section `[lobby]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct LobbySection {
    pub max_roster: Count<2, 128>,
    pub min_players: Count<0, 128>,
    pub level_min: Count<0, 128>,
    pub level_max: Count<0, 128>,
    pub bots: bool,
    pub min_humans: Count<0, 128>,
}

/// The keys of section `[auto_balance]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct AutoBalanceSection {
    pub rules: RulesPreset,
    pub tournament: Vec<String>,
    pub custom: AutoBalanceRules,
}

/// The values of `[auto_balance] rules`: a preset, or the rules in `[auto_balance.custom]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum RulesPreset {
    Off,
    SectorsEdge,
    PlayersProposal,
    Custom,
}

/// The keys of section `[balance]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct BalanceSection {
    pub objective: EvenBy,
    pub top: Count<1, 4_096>,
    pub power: ChoiceExponent,
    pub max_team_share: PositiveShare,
    pub max_difference: MaxDifference,
    pub party_budget: Share,
    pub party_multiplier: Vec<Factor>,
    pub default_weight: PlayerWeight,
    pub default_bot_weight: PlayerWeight,
    pub deadline_ms: Millis<1, 60_000>,
    pub memory_mb: Megabytes<1, 4_096>,
    pub factors: FactorsSection,
}

/// The values of `[balance] objective`, by which teams are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EvenBy {
    /// The weaker team's weight over the stronger one's, as close to 1 as possible.
    Ratio,
    /// Equal chances of both teams to win.
    Chance,
}

/// The keys of section `[balance.factors]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct FactorsSection {
    pub ratio_gap: Amount,
    pub best_gap: Amount,
    pub spread_gap: Amount,
    pub broken_parties: Amount,
    pub avoided_pairs: Amount,
    pub moved: Amount,
    pub repeated: Amount,
}

/// The keys of section `[rating]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct RatingSection {
    pub system: SystemChoice,
    pub min_seconds: UpToADay,
    pub min_humans: Count<0, 64>,
    pub sides: bool,
    pub window: Count<1, 1_000>,
    pub half_life: HalfLife,
    pub prior: Amount,
    pub elo_k: PositiveAmount,
    pub elo_best: Amount,
    pub elo_worst: Amount,
    pub hive_constant: Amount,
    pub hive_adaptive: Amount,
    pub hive_epsilon: PositiveAmount,
    pub trueskill_beta: PositiveAmount,
    pub trueskill_drift: Amount,
    pub trueskill_ties: ShareBelowOne,
    pub scoreboard_window: Count<1, 1_000>,
}

/// The keys of section `[season]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct SeasonSection {
    pub starts: Vec<Date>,
    pub keeps: Share,
}

/// The keys of section `[mutators]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct MutatorsSection {
    pub gameplay: Vec<String>,
    pub ignore: Vec<String>,
    pub unknown: Unknown,
}

/// The keys of section `[game_types]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct GameTypesSection {
    pub free_for_all: Vec<String>,
    pub frags: Vec<String>,
    #[serde(deserialize_with = "values::aliases")]
    pub aliases: BTreeMap<String, String>,
}

/// The keys of section `[ingest]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct IngestSection {
    pub archive: PathBuf,
    pub follow_ms: Millis<10, 60_000>,
    pub settle_seconds: UpToAWeek,
}

/// The keys of one `[[follow]]` section.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct FollowSection {
    #[serde(deserialize_with = "values::path")]
    pub path: PathBuf,
    #[serde(default)]
    pub format: FormatChoice,
    #[serde(default)]
    pub server: String,
}
