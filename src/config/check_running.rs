//! Ranges of what the decisions in a running game go by.

use super::{Config, check::Check};

impl Config {
    pub(super) fn running_faults(&self) -> Vec<Check> {
        let mut faults = self.place_and_advantage_faults();
        faults.extend(self.moving_faults());
        faults
    }

    fn place_and_advantage_faults(&self) -> Vec<Check> {
        let (place, advantage) = (&self.place, &self.advantage);
        vec![
            (
                "lobby.min_humans",
                self.lobby.min_humans <= 128,
                "must be 0 to 128",
            ),
            (
                "place.rejoin_grace_seconds",
                place.rejoin_grace_seconds <= DAY,
                UP_TO_A_DAY,
            ),
            (
                "place.rejoin_budget",
                is_share(place.rejoin_budget),
                "must be 0 to 1",
            ),
            (
                "advantage.max",
                (1.0..=10.0).contains(&advantage.max),
                "must be 1 to 10",
            ),
            (
                "advantage.dead_band",
                (1.0..=advantage.max).contains(&advantage.dead_band),
                "must be 1 to advantage.max",
            ),
            (
                "advantage.slew",
                advantage.slew > 1.0 && advantage.slew <= 10.0,
                "must be above 1, at most 10",
            ),
            (
                "advantage.trust",
                advantage.trust > 0.0 && advantage.trust <= 10.0,
                "must be above 0, at most 10",
            ),
            (
                "advantage.usual_seconds",
                advantage.usual_seconds <= DAY,
                UP_TO_A_DAY,
            ),
        ]
    }

    fn moving_faults(&self) -> Vec<Check> {
        let (rebalance, custom) = (&self.rebalance, &self.auto_balance.custom);
        let sizes = &custom.lopsided;
        vec![
            (
                "rebalance.max_moves",
                rebalance.max_moves <= 16,
                "must be 0 to 16",
            ),
            (
                "rebalance.enough",
                is_share(rebalance.enough),
                "must be 0 to 1",
            ),
            (
                "rebalance.min_gain",
                is_share(rebalance.min_gain),
                "must be 0 to 1",
            ),
            (
                "rebalance.cooldown_seconds",
                rebalance.cooldown_seconds <= DAY,
                UP_TO_A_DAY,
            ),
            (
                "auto_balance.custom.quiet_end_seconds",
                custom.quiet_end_seconds <= DAY,
                UP_TO_A_DAY,
            ),
            (
                "auto_balance.custom.lopsided",
                sizes.len() <= 128 && sizes.iter().all(|(strong, weak)| strong > weak),
                "must be up to 128 pairs, each of more against fewer",
            ),
            (
                "auto_balance.custom.gap",
                custom.gap > 0.0 && custom.gap.is_finite(),
                "must be above 0",
            ),
            (
                "auto_balance.custom.rank_base",
                custom.rank_base <= 1_000,
                "must be 0 to 1000",
            ),
            (
                "auto_balance.custom.delay_seconds",
                custom.delay_seconds <= DAY,
                UP_TO_A_DAY,
            ),
            (
                "auto_balance.custom.movable_share",
                is_share(custom.movable_share),
                "must be 0 to 1",
            ),
        ]
    }
}

const DAY: u64 = 86_400;
const UP_TO_A_DAY: &str = "must be 0 to 86400 (a day)";

fn is_share(number: f64) -> bool {
    (0.0..=1.0).contains(&number)
}
