//! The operator's settings of games.

use crate::partition::Objective;

use super::{AdvantageSettings, AutoBalanceRules, PlaceSettings, RebalanceSettings};

/// The settings of all lobbies.
#[derive(Clone, Debug, PartialEq)]
pub struct LobbySettings {
    /// The most humans, and the most bots, in one game.
    pub max_roster: usize,
    /// The number of players that a game should have, bots included, unless the session sends
    /// MINPLAYERS.
    pub min_players: u32,
    /// The fewest and the most players for a map that recommends none.
    pub map_range: (u32, u32),
    /// Whether games get bots.
    pub bots: bool,
    /// The fewest humans for which a game gets bots.
    pub min_humans: u32,
    /// The weight of a party on one team, as a multiple of its members' sum: for two members, for
    /// three, and so on. The last entry applies to larger parties, too; an empty list means 1.
    pub party_multiplier: Vec<f64>,
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
}

impl Default for LobbySettings {
    /// Six players, as the UT2004 page recommends, on any map.
    fn default() -> Self {
        Self {
            max_roster: 64,
            min_players: 6,
            map_range: (0, 32),
            bots: true,
            min_humans: 0,
            party_multiplier: Vec::new(),
            objective: Objective::default(),
            place: PlaceSettings::default(),
            advantage: AdvantageSettings::default(),
            rebalance: RebalanceSettings::default(),
            auto_balance: AutoBalanceRules::default(),
        }
    }
}
