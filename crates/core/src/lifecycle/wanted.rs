//! What a match needs of an instance.

use std::collections::{BTreeMap, BTreeSet};

use super::{Instance, Lifecycle, Match};
use crate::matchmaking::{Raw, TicketSpec};

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

impl Lifecycle {
    /// What a match needs: its mode, its map, and the latencies that its players state.
    pub(super) fn wanted_by(&self, formed: &Match) -> Wanted {
        let terms = self.queues.get(&formed.queue);
        let latency = terms.and_then(|terms| terms.latency.as_ref());
        Wanted {
            mode: formed.proposal.mode.clone(),
            map: formed.proposal.map.clone(),
            latencies: latency.map_or(BTreeMap::new(), |latency| self.worst(formed, &latency.of)),
            ceiling: latency.and_then(|latency| latency.at_most.map(|most| most.get())),
            teams: terms.map_or(0, |terms| terms.teams),
            size: formed.proposal.size,
            wait: terms.map_or(0, |terms| terms.host_wait),
        }
    }

    /// The largest number of all players for each word of a `map num` that all of them state.
    fn worst(&self, formed: &Match, attribute: &str) -> BTreeMap<String, f64> {
        let tickets = formed.tickets().into_iter();
        let specs = tickets.filter_map(|number| {
            let record = self.tickets.get(&number)?;
            serde_json::from_str::<TicketSpec>(&record.ticket.content).ok()
        });
        let mut all: Option<BTreeMap<String, f64>> = None;
        for player in specs.flat_map(|spec| spec.players) {
            let own = match player.attributes.get(attribute) {
                Some(Raw::Map(own)) => own.clone(),
                _ => BTreeMap::new(),
            };
            all = Some(match all {
                None => own,
                Some(others) => {
                    let both = others.into_iter().filter_map(|(word, worst)| {
                        let number = own.get(&word)?;
                        Some((word, worst.max(*number)))
                    });
                    both.collect()
                }
            });
        }
        all.unwrap_or_default()
    }
}
