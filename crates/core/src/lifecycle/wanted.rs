//! What a match needs of an instance.

use std::collections::{BTreeMap, BTreeSet};

use super::Instance;

/// What a match needs of an instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// The mode of the match, if it has one.
    pub mode: Option<String>,
    /// The map of the match, if it has one.
    pub map: Option<String>,
    /// The worst latency of its players in each region that all of them state.
    pub latencies: BTreeMap<String, f64>,
    /// The worst latency that a player may have. `None` if any latency will do, also an unknown one.
    pub ceiling: Option<f64>,
    /// How long the match waits for an instance, in milliseconds.
    pub wait: i64,
    /// Number of its teams.
    pub teams: u8,
    /// Number of players of a full team.
    pub size: u32,
}

impl Wanted {
    /// Whether an instance serves the mode and the map of the match, and is near enough to its players.
    pub(super) fn fits(&self, instance: &Instance) -> bool {
        let offer = &instance.offer;
        let has = |all: &BTreeSet<String>, one: &Option<String>| {
            all.is_empty() || one.as_ref().is_none_or(|one| all.contains(one))
        };
        let near = self.ceiling.is_none_or(|ceiling| {
            self.latency(instance)
                .is_some_and(|latency| latency <= ceiling)
        });
        has(&offer.modes, &self.mode) && has(&offer.maps, &self.map) && near
    }

    /// The worst latency of the players at an instance; `None` if it is unknown.
    pub(super) fn latency(&self, instance: &Instance) -> Option<f64> {
        let region = instance.offer.region.as_ref()?;
        self.latencies.get(region).copied()
    }
}
