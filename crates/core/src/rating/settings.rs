//! The settings of all rating systems.

use serde::{Deserialize, Serialize};

use super::{SystemChoice, elo, hive, hive_history, joint, presence, scoreboard, trueskill};

/// Which system to use, and the settings of each. Those that cannot be configured are constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The system that weights come from.
    pub system: SystemChoice,
    /// Settings of `joint`.
    #[serde(flatten)]
    pub joint: joint::Settings,
    /// Settings of `presence`.
    #[serde(flatten)]
    pub presence: presence::Settings,
    /// Settings of `elo`.
    #[serde(flatten, skip_deserializing)]
    pub elo: elo::Settings,
    /// Settings of `hive`.
    #[serde(flatten, skip_deserializing)]
    pub hive: hive::Settings,
    /// Settings of `hive-history`.
    #[serde(flatten, skip_deserializing)]
    pub hive_history: hive_history::Settings,
    /// Settings of `trueskill`.
    #[serde(flatten, skip_deserializing)]
    pub trueskill: trueskill::Settings,
    /// Settings of `scoreboard`.
    #[serde(flatten, skip_deserializing)]
    pub scoreboard: scoreboard::Settings,
}
