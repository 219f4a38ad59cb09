//! The settings of all rating systems.

use serde::{Deserialize, Serialize};

use super::{SystemName, elo, hive, hive_history, joint, presence, scoreboard, trueskill};

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

/// The choice of a rating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum SystemChoice {
    /// `auto`: each ruleset uses the system that best predicts its stored matches.
    Auto,
    /// Every ruleset uses this system.
    Always(SystemName),
}

impl SystemChoice {
    const AUTO: &str = "auto";

    /// The value of `[rating] system` for this choice.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => Self::AUTO,
            Self::Always(name) => name.as_str(),
        }
    }

    /// The system to use. With [`Auto`](Self::Auto), it is used until there are matches on which
    /// systems can be compared.
    pub fn name(self) -> SystemName {
        match self {
            Self::Auto => SystemName::default(),
            Self::Always(name) => name,
        }
    }
}

impl Default for SystemChoice {
    fn default() -> Self {
        Self::Always(SystemName::default())
    }
}

impl From<SystemName> for SystemChoice {
    fn from(name: SystemName) -> Self {
        Self::Always(name)
    }
}

impl From<SystemChoice> for String {
    fn from(choice: SystemChoice) -> Self {
        choice.as_str().to_owned()
    }
}

impl TryFrom<String> for SystemChoice {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        if word == Self::AUTO {
            return Ok(Self::Auto);
        }
        let known = || SystemName::ALL.map(SystemName::as_str).join(", ");
        SystemName::parse(&word).map(Self::Always).ok_or_else(|| {
            format!(
                "must be one of: {}, {}, not \"{word}\"",
                known(),
                Self::AUTO
            )
        })
    }
}
