//! Rating systems: what finished games say about who is how strong.
//!
//! One file per system behind the small trait [`System`], and one registry, [`SystemName`]. A system
//! sees games only as [`Game`]: dense player numbers, time shares, sides and results; who the players
//! are, which ruleset a game belongs to and whether it counts at all is decided in `history`.
//!
//! Everything in here is a pure function of the games given, in their order: no clock, no files, no
//! randomness, and no sum whose order depends on a hash map or on threads, so that the same games
//! give the same bits everywhere. Entry point: [`SystemName::build`].

mod game;
pub mod presence;

use std::fmt;

pub use game::{Game, Player, Tally};

/// A rating system: learns from one finished game at a time.
pub trait System: Send {
    /// Learns from a game. Games come in time order.
    fn update(&mut self, game: &Game);

    /// The weight of a player, 0 to 100, where 50 is an average newcomer. `None` for a player this
    /// system has not seen.
    fn weight(&self, player: Player) -> Option<f64>;
}

/// The registry: every system there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SystemName {
    /// Shares of being on the team as it scores: [`presence`].
    #[default]
    Presence,
}

impl SystemName {
    /// All of them, in the order of tables.
    pub const ALL: [SystemName; 1] = [SystemName::Presence];

    /// The word for it in the configuration and in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            SystemName::Presence => "presence",
        }
    }

    /// The system a word means.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.as_str() == word)
    }

    /// A system that has seen nothing yet.
    pub fn build(self, settings: &Settings) -> Box<dyn System> {
        match self {
            SystemName::Presence => Box::new(presence::PresenceSystem::new(settings.presence)),
        }
    }
}

impl fmt::Display for SystemName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which system, and the settings of each. Plain data; the caller has checked the ranges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    /// The system in use.
    pub system: SystemName,
    /// Settings of `presence`.
    pub presence: presence::Settings,
}
