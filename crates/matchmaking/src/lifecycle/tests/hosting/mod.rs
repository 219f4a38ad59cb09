//! Hosted matches by example, and over random histories.

mod allocation;
mod asking;
mod histories;
mod situations;

use super::super::*;
use super::{begin, disk::Disk, take};
use evenkeel_model::{MatchId, Timestamp};

/// An instance on a machine, for any mode and map.
fn offer(name: &str, machine: &str, slots: u32) -> InstanceOffer {
    InstanceOffer {
        name: name.to_owned(),
        address: format!("{machine}:27960"),
        slots,
        ..InstanceOffer::default()
    }
}

/// One queue, `q`, whose matches any instance can host, and wait two minutes for one.
fn queues() -> Vec<(String, QueueTerms)> {
    let terms = QueueTerms {
        ttl: 1_000_000_000_000,
        hosted: true,
        host_wait: 120_000,
        teams: 2,
        backfill: true,
        ..QueueTerms::default()
    };
    vec![("q".to_owned(), terms)]
}

fn life() -> Lifecycle {
    begin(CoordinatorSettings::default(), queues(), 0)
}

/// Settings with which the instances are the provider's to choose.
fn settings(provider: Provider) -> CoordinatorSettings {
    CoordinatorSettings {
        provider,
        ..CoordinatorSettings::default()
    }
}

/// Submits a ticket.
fn submit(life: &mut Lifecycle, id: &str, players: &[&str]) -> TicketNumber {
    let ticket = Submission {
        owner: "me".to_owned(),
        id: id.to_owned(),
        queue: "q".to_owned(),
        players: players.iter().map(|player| (*player).to_owned()).collect(),
        spec: std::sync::Arc::default(),
    };
    life.submit(ticket).unwrap()
}

/// Forms a match of two against two, which needs an instance. In the first one are ann and bob, cid and dan.
fn host(life: &mut Lifecycle, id: MatchId) {
    let proposal = Proposal {
        size: 2,
        ..Proposal::default()
    };
    host_as(life, id, proposal);
}

fn host_as(life: &mut Lifecycle, id: MatchId, proposal: Proposal) {
    let player = |name: &str| match id {
        1 => name.to_owned(),
        _ => format!("{name}.{id}"),
    };
    let mut ticket = |name| submit(life, &format!("{name} of {id}"), &[&player(name)]);
    let teams = [["ann", "bob"], ["cid", "dan"]].map(|team| team.map(&mut ticket).to_vec());
    let teams = teams.to_vec();
    let proposal = Proposal { teams, ..proposal };
    assert_eq!(life.propose("q", vec![proposal], id), 1);
}

/// An answer of the allocator with this game server.
fn done(name: &str) -> Allocation {
    Allocation::Done(GameServer {
        name: name.to_owned(),
        address: format!("{name}.example:7000"),
        region: None,
    })
}

/// What instances are sent.
fn sent(life: &mut Lifecycle) -> Vec<Message> {
    let ready = take(life);
    assert!(ready.allocate.is_empty());
    ready.send
}

fn open(instance: &str, id: MatchId) -> Message {
    let instance = instance.to_owned();
    Message::Open { instance, id }
}

fn close(instance: &str, id: MatchId, why: Why) -> Message {
    let instance = instance.to_owned();
    Message::Close { instance, id, why }
}
