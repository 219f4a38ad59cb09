//! The operator's settings of games.

use serde::Deserialize;

use super::{AdvantageSettings, AutoBalanceRules, PlaceSettings, RebalanceSettings};
use evenkeel_model::units::{Count, Factor, UpToADay};
use evenkeel_partition::Objective;

/// A number of players, which may be none.
type Players = Count<0, 128>;

/// How many humans and bots may be in a game.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RosterSettings {
    /// The most humans, and the most bots, in one game.
    pub max_roster: Count<2, 128>,
    /// The number of players that a game should have, bots included, unless the session sends
    /// MINPLAYERS.
    pub min_players: Players,
    /// The fewest players of a game whose MAP states no numbers.
    pub level_min: Players,
    /// The most players of such a game, at least `level_min`.
    pub level_max: Players,
    /// Whether games get bots.
    pub bots: bool,
    /// The fewest humans for which a game gets bots.
    pub min_humans: Players,
    /// How long after GAME wishes for a side count for the game; 0 for as long as it lasts.
    pub wish_seconds: UpToADay,
}

impl RosterSettings {
    /// The fewest and the most players of a game whose MAP states no numbers.
    pub fn map_range(&self) -> (u32, u32) {
        (self.level_min.get(), self.level_max.get())
    }
}

impl Default for RosterSettings {
    /// Six players, as the UT2004 page recommends, on any map.
    fn default() -> Self {
        Self {
            max_roster: const { Count::of(128) },
            min_players: const { Count::of(6) },
            level_min: const { Count::of(0) },
            level_max: const { Count::of(32) },
            bots: true,
            min_humans: const { Count::of(0) },
            wish_seconds: const { UpToADay::of(0) },
        }
    }
}

/// The settings of all lobbies.
#[derive(Clone, Debug, PartialEq)]
pub struct LobbySettings {
    /// How many humans and bots may be in a game.
    pub roster: RosterSettings,
    /// The weight of a party on one team, as a multiple of its members' sum: for two members, for
    /// three, and so on. The last entry applies to larger parties, too; an empty list
    /// means 1.
    pub party_multiplier: Vec<Factor>,
    /// What makes teams even for PLACE, REBALANCE and auto-balance: the ratio of weights, or the chance
    /// to win.
    pub objective: Objective,
    /// Settings of PLACE.
    pub place: PlaceSettings,
    /// Settings of ADVANTAGE.
    pub advantage: AdvantageSettings,
    /// Settings of REBALANCE.
    pub rebalance: RebalanceSettings,
    /// The rules by which a human who dies changes teams.
    pub auto_balance: AutoBalanceRules,
    /// Whether streaks are reported to game servers that want to know them.
    pub streak: bool,
}

impl Default for LobbySettings {
    /// Streaks are reported: only game servers that can do something about them ask to know of them.
    fn default() -> Self {
        Self {
            roster: RosterSettings::default(),
            party_multiplier: Vec::new(),
            objective: Objective::default(),
            place: PlaceSettings::default(),
            advantage: AdvantageSettings::default(),
            rebalance: RebalanceSettings::default(),
            auto_balance: AutoBalanceRules::default(),
            streak: true,
        }
    }
}
