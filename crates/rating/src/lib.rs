#![doc = include_str!("../README.md")]
//!
//! # How it is built
//!
//! Rating systems: estimate each player's strength from finished games.
//!
//! One file or folder per system, or one for several that are alike, behind the small trait [`System`], and one registry, [`SystemName`]. A
//! system sees games only as [`RatedGame`]: dense player numbers, time shares, sides and results.
//! `history` resolves identities, assigns each match to a ruleset and rules on whether it is rated.
//!
//! Everything here is a pure function of the games given, in their order: no clock, no files, no
//! randomness, and no sum whose order depends on a hash map or on threads. The same games therefore
//! give the same bits on every machine. Entry point: [`SystemName::build`].

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping
#![warn(unreachable_pub)]

pub mod baselines;
pub mod divisions;
pub mod elo;
pub mod game;
pub mod glicko2;
pub mod history;
pub mod hive;
pub mod hive_history;
pub mod joint;
pub mod normal;
pub mod player_map;
pub mod presence;
pub mod system;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub mod trueskill;
pub mod weng_lin;

use std::fmt;

use evenkeel_model::win_model::UNITS;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use game::{RatedGame, Seat};
pub use player_map::Player;
pub use system::{Strength, System, chances};

use baselines::{PlainPoints, Scoreboard, WinRate};
use system::Scale;
use weng_lin::{Model, WengLin};

/// Defines [`SystemName`]. Each row is one system: its variant, its name in the configuration and in tables, its type,
/// and how it begins without any games.
macro_rules! systems {
    ($settings:ident; $( $(#[$about:meta])* $name:ident $word:literal: $system:ty = $new:expr; )+) => {
        /// The registry of all rating systems.
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub enum SystemName {
            $( $(#[$about])* $name, )+
        }

        impl SystemName {
            /// All systems, in the order in which tables list them.
            pub const ALL: [SystemName; [$($word),+].len()] = [$(SystemName::$name),+];

            /// The name of the system in the configuration and in tables.
            pub fn as_str(self) -> &'static str {
                match self {
                    $( SystemName::$name => $word, )+
                }
            }

            /// A system without any games.
            pub fn build(self, $settings: &Settings) -> Box<dyn System> {
                match self {
                    $( SystemName::$name => Box::new($new), )+
                }
            }

            /// Restores a system from the bytes that [`Persist::save`](system::Persist::save) wrote; they include its settings.
            ///
            /// # Errors
            /// Fails if the bytes are not a saved state of this system. Memory use is bounded by a small multiple of
            /// their number.
            pub fn restore(self, state: &[u8]) -> Result<Box<dyn System>, postcard::Error> {
                match self {
                    $( SystemName::$name => read::<$system>(state), )+
                }
            }
        }
    };
}

systems! { settings;
    /// Full covariance between players: [`joint`].
    #[default]
    Joint "joint": joint::Joint = joint::Joint::with(settings.joint);
    /// Share of the points that a player's team scores while the player is on it: [`presence`].
    Presence "presence": presence::PresenceSystem = presence::PresenceSystem::new(settings.presence);
    /// Elo for teams, of World of Tanks Blitz: [`elo`].
    Elo "elo": elo::Elo = elo::Elo::new(settings.elo);
    /// Logistic regression by gradient, of Natural Selection 2: [`hive`].
    Hive "hive": hive::Hive = hive::Hive::new(settings.hive);
    /// The same solved over the whole history: [`hive_history`].
    HiveHistory "hive-history": hive_history::HiveHistory = hive_history::HiveHistory::new(settings.hive_history);
    /// Glicko-2 with a composite opponent: [`glicko2`].
    Glicko2 "glicko2": glicko2::Glicko2 = glicko2::Glicko2::new();
    /// TrueSkill: [`trueskill`].
    TrueSkill "trueskill": trueskill::TrueSkill = trueskill::TrueSkill::new(settings.trueskill);
    /// Weng and Lin's Plackett-Luce: [`weng_lin`].
    PlackettLuce "weng-lin-pl": WengLin = WengLin::new(Model::PlackettLuce);
    /// Weng and Lin's Thurstone-Mosteller: [`weng_lin`].
    ThurstoneMosteller "weng-lin-tm": WengLin = WengLin::new(Model::ThurstoneMosteller);
    /// Mean scoreboard position, of Sector's Edge: [`baselines`].
    Scoreboard "scoreboard": Scoreboard = Scoreboard::new(settings.scoreboard);
    /// Share of games won, a baseline: [`baselines`].
    WinRate "winrate": WinRate = WinRate::new();
    /// Victories less defeats, a baseline: [`baselines`].
    PlainPoints "plain-points": PlainPoints = PlainPoints::new();
}

fn read<T: System + DeserializeOwned + 'static>(
    state: &[u8],
) -> Result<Box<dyn System>, postcard::Error> {
    match postcard::take_from_bytes::<T>(state)? {
        (system, []) => Ok(Box::new(system)),
        _ => Err(postcard::Error::DeserializeBadEncoding),
    }
}

impl SystemName {
    /// The system that the configuration calls `word`.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.as_str() == word)
    }
}

impl fmt::Display for SystemName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

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
    pub scoreboard: baselines::Settings,
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

/// The number of players on each team.
const TEAM: u32 = 4;

/// The chance of one of two teams of four to win if one of its players has a weight `points` above 50 and all others
/// have 50, and if all of them are known for certain. `None` for rating systems without strengths.
pub fn worth(settings: &Settings, points: f64) -> Option<f64> {
    let mut system = settings.system.name().build(settings);
    let Scale::Strengths { unit, .. } = system.scale() else {
        return None;
    };
    let seats = (0..2 * TEAM).map(|number| Seat::new(Player(number), (number / TEAM) as u16));
    for number in 0..2 * TEAM {
        let above = if number == 0 { points } else { 0.0 };
        let mean = above / 50.0 * UNITS * unit;
        system.start(Player(number), Strength::exact(mean));
    }
    let game = RatedGame::new(seats.collect());
    Some(system.beats(&game, 0, 1))
}
