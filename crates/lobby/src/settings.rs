//! The operator's settings of games.

use evenkeel_model::units::{Count, Factor, MaxDifference, Share, UpToADay};
use evenkeel_partition::settings::Objective;
use serde::{Deserialize, Serialize};

use crate::{
    advantage::AdvantageSettings, autobalance::AutoBalanceRules, rebalance::RebalanceSettings,
};

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

/// How BALANCE makes teams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TeamChoice {
    /// It searches for the best ones.
    #[default]
    Best,
    /// It draws them at random, of the same sizes.
    Random,
    /// Who is on a team stays; the others come to the team with fewest humans, in JOIN order.
    ByHand,
}

impl TeamChoice {
    /// Whether teams are searched for.
    pub(crate) fn is_best(&self) -> bool {
        *self == Self::Best
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
    /// How BALANCE makes teams.
    pub teams: TeamChoice,
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
            teams: TeamChoice::Best,
        }
    }
}

/// Settings of PLACE. Costs and gains are in evenness: the chance of the weaker team over that of the
/// stronger, or the ratio of their weights, depending on `[balance] objective`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceSettings {
    /// How much evenness keeping a party together may cost.
    ///
    /// PLACE and BALANCE share one key of the configuration, which is not in the section `[place]`.
    #[serde(default = "party_budget")]
    pub party_budget: Share,
    /// How much of the weaker team's chance a wish for a side may cost: as much as it is worth in BALANCE, and at most
    /// the budget there. It is not in the section `[place]`, either.
    #[serde(default = "wish_budget")]
    pub wish_budget: Share,
    /// Whether the number of humans alone decides, as if nobody balanced. It is not in the section `[place]`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_number: bool,
    /// How much evenness returning to the old team may cost.
    pub rejoin_budget: Share,
    /// How long the old team is remembered after LEAVE.
    pub rejoin_grace_seconds: UpToADay,
    /// By how many humans the joined team may outnumber another.
    pub max_difference: MaxDifference,
    /// The gain in evenness above which a team may exceed `max_difference` by one human, provided
    /// that bots fill up the other team.
    pub clear_gain: Share,
}

/// The value of the section `[place]`, until that of `[balance]` takes its place.
fn wish_budget() -> Share {
    const { Share::of(0.02) }
}

impl Default for PlaceSettings {
    /// The party budget is that of BALANCE. Five minutes cover a crash and a restart. ADVANTAGE can
    /// make up for a tenth of evenness; with that budget, a player who leaves the losing team and
    /// comes back does not get onto the winning one. With a difference of 1, the short side is
    /// filled up first. A gain of 0.5 is very rare: in random games with bots and normally
    /// distributed weights (mean 50, standard deviation 15), at most one arrival in a hundred joins
    /// the larger side, even in 1 against 2 (the test `the_short_side_comes_first`).
    fn default() -> Self {
        Self {
            party_budget: party_budget(),
            wish_budget: wish_budget(),
            by_number: false,
            rejoin_budget: const { Share::of(0.10) },
            rejoin_grace_seconds: const { UpToADay::of(300) },
            max_difference: const { MaxDifference::of(1) },
            clear_gain: const { Share::of(0.5) },
        }
    }
}

fn party_budget() -> Share {
    const { Share::of(0.05) }
}
