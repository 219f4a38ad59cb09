//! Settings of PLACE.

use serde::{Deserialize, Serialize};

use evenkeel_model::units::{MaxDifference, Share, UpToADay};

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
