//! The coordinator by example, and over random histories.

mod allocation;
mod asking;
mod histories;
mod situations;

use super::*;
use crate::domain::{MatchId, Timestamp};

/// An instance on a machine, for any mode and map.
fn offer(name: &str, machine: &str, slots: u32) -> Offer {
    Offer {
        name: name.to_owned(),
        address: format!("{machine}:27960"),
        slots,
        ..Offer::default()
    }
}

/// A match that any instance can host, and that waits two minutes for one.
fn wanted() -> Wanted {
    Wanted {
        wait: 120_000,
        teams: 2,
        size: 2,
        ..Wanted::default()
    }
}

fn coordinator() -> Coordinator {
    Coordinator::new(CoordinatorSettings::default(), Timestamp(0))
}

/// Settings with which the instances are the provider's to choose.
fn settings(provider: Provider) -> CoordinatorSettings {
    CoordinatorSettings {
        provider,
        ..CoordinatorSettings::default()
    }
}

/// An answer of the allocator with this game server.
fn done(name: &str) -> Allocation {
    Allocation::Done(GameServer {
        name: name.to_owned(),
        address: format!("{name}.example:7000"),
        region: None,
    })
}

fn open(instance: &str, id: MatchId) -> Act {
    let instance = instance.to_owned();
    Act::Open { instance, id }
}

fn close(instance: &str, id: MatchId, why: Why) -> Act {
    let instance = instance.to_owned();
    Act::Close { instance, id, why }
}
