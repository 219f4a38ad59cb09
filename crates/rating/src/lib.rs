#![doc = include_str!("../README.md")]
//!
//! # How it is built
//!
//! Rating systems: estimate each player's strength from finished games.
//!
//! One file per system behind the small trait [`System`], and one registry, [`SystemName`]. A
//! system sees games only as [`RatedGame`]: dense player numbers, time shares, sides and results.
//! `history` resolves identities, assigns each match to a ruleset and rules on whether it is rated.
//!
//! Everything here is a pure function of the games given, in their order: no clock, no files, no
//! randomness, and no sum whose order depends on a hash map or on threads. The same games therefore
//! give the same bits on every machine. Entry point: [`SystemName::build`].

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping

pub mod divisions;
pub mod elo;
mod game;
pub mod glicko2;
pub mod history;
pub mod hive;
pub mod hive_history;
pub mod joint;
pub mod normal;
pub mod plain_points;
mod player_map;
pub mod presence;
#[cfg(test)]
mod same_place;
pub mod scoreboard;
mod settings;
mod slope;
mod strength;
mod system;
#[cfg(test)]
pub(crate) mod testing;
pub mod trueskill;
pub mod weng_lin;
pub mod winrate;
mod worth;

use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use game::{Arrival, Departure, RatedGame, Seat, Tally};
pub use player_map::{Player, PlayerMap, Shared};
pub use settings::{Settings, SystemChoice};
pub use strength::{
    Effects, NEWCOMER_FACTORS, RoleStrengths, Scale, Strength, StrengthParts, with_effects,
};
pub use system::{Persist, System, chances};
pub use worth::worth;

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

            /// Restores a system from the bytes that [`Persist::save`] wrote; they include its settings.
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
    /// Mean scoreboard position, of Sector's Edge: [`scoreboard`].
    Scoreboard "scoreboard": scoreboard::Scoreboard = scoreboard::Scoreboard::new(settings.scoreboard);
    /// Share of games won, a baseline: [`winrate`].
    WinRate "winrate": winrate::WinRate = winrate::WinRate::new();
    /// Victories less defeats, a baseline: [`plain_points`].
    PlainPoints "plain-points": plain_points::PlainPoints = plain_points::PlainPoints::new();
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
