//! What a match of a queue needs of an instance.

use std::collections::BTreeMap;

use super::Shared;
use crate::{
    coordinator::Wanted,
    matchmaking::{Raw, TicketSpec},
    tickets::{FormedMatch, Life},
};

/// What a match needs of an instance: its mode, its map, and the latencies that its players state.
pub(super) fn wanted(shared: &Shared, life: &Life, formed: &FormedMatch) -> Wanted {
    let queue = shared.queue(&formed.queue);
    let settings = queue.as_ref().map(|one| one.settings());
    let latency = settings.and_then(|settings| settings.latency.as_ref());
    Wanted {
        mode: formed.proposal.mode.clone(),
        map: formed.proposal.map.clone(),
        latencies: latency.map_or(BTreeMap::new(), |latency| worst(life, formed, &latency.of)),
        ceiling: latency.and_then(|latency| latency.at_most.map(|most| most.get())),
        teams: settings.map_or(0, |settings| settings.teams.get() as u8),
        size: formed.proposal.size,
        wait: settings.map_or(0, |settings| i64::from(settings.host_wait.get()) * 1_000),
    }
}

/// The largest number of all players for each word of a `map num` that all of them state.
fn worst(life: &Life, formed: &FormedMatch, attribute: &str) -> BTreeMap<String, f64> {
    let tickets = formed.tickets().into_iter();
    let specs = tickets.filter_map(|number| {
        let record = life.ticket(number)?;
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
