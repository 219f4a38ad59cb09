//! Instances: what they offer, how busy they are, and what a match needs of one.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use evenkeel_model::{MatchId, Timestamp};

/// What an instance offers, as INSTANCE states it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceOffer {
    /// The name of the game server.
    pub name: String,
    /// Where players connect, such as `203.0.113.7:27960`.
    pub address: String,
    /// The region, a word for which players state their latency.
    pub region: Option<String>,
    /// How many matches it hosts at once.
    pub slots: u32,
    /// The modes that it serves; all if there are none.
    pub modes: BTreeSet<String>,
    /// The maps that it has; all if there are none.
    pub maps: BTreeSet<String>,
    /// The partition of the queues whose matches it hosts; `None` for the main one.
    pub partition: Option<String>,
}

impl InstanceOffer {
    /// The machine: the address without the port.
    pub fn machine(&self) -> &str {
        match self.address.rsplit_once(':') {
            Some((machine, _)) => machine,
            None => &self.address,
        }
    }
}

/// A game server that can host matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// What it offers.
    pub offer: InstanceOffer,
    /// How busy it states to be, 0 to 1.
    pub load: f64,
    /// When it sent its last line.
    pub heard: Timestamp,
    /// When its connection was lost; `None` while it is connected.
    pub away: Option<Timestamp>,
    /// Whether it gets no further matches.
    pub drains: bool,
    /// The matches that it hosts or was asked to host.
    pub matches: BTreeSet<MatchId>,
    /// Until when it gets no match, because it has refused one or has not answered.
    pub(super) rests_until: Timestamp,
}

impl Instance {
    /// An instance that has just joined.
    pub(super) fn new(offer: InstanceOffer, now: Timestamp) -> Self {
        Self {
            offer,
            load: 0.0,
            heard: now,
            away: None,
            drains: false,
            matches: BTreeSet::new(),
            rests_until: now,
        }
    }

    /// Whether it can be asked to host one more match now.
    pub(super) fn is_free(&self, now: Timestamp) -> bool {
        let connected = self.away.is_none() && !self.drains;
        connected && self.rests_until <= now && self.matches.len() < self.offer.slots as usize
    }

    /// How busy it is: what it states, or the part of its slots in use if that is more.
    pub(super) fn busy(&self) -> f64 {
        let used = self.matches.len() as f64 / f64::from(self.offer.slots.max(1));
        self.load.max(used)
    }
}

/// What a match needs of an instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WantedInstance {
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

impl WantedInstance {
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
