//! What must hold of every simulation.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::atomic::AtomicBool,
};

use proptest::prelude::*;

use super::{Simulation, SimulationReport, SimulationSettings};
use crate::{
    matchmaking::{Cores, Effort, OneCore, Plan, Queue, Ticket},
    model::{Stream, StreamPurpose},
    simulate::Load,
};

const FILES: [&str; 2] = [
    include_str!("../../../config/queues/wotb.toml"),
    include_str!("../../../config/queues/pickup.toml"),
];

fn queue(name: &str) -> Queue {
    let tables = FILES.map(|file| file.parse::<toml::Table>().unwrap());
    let found = tables.iter().find_map(|table| table["queue"].get(name));
    Queue::new(name, found.unwrap().clone().try_into().unwrap()).unwrap()
}

fn search(simulation: &Simulation<'_>, cores: &dyn Cores) -> Plan {
    let input = simulation.round(Effort::default());
    input.plan(cores, &AtomicBool::new(false))
}

fn run(queue: &Queue, settings: SimulationSettings) -> SimulationReport {
    let mut simulation = Simulation::new(queue, settings);
    while simulation.next_round().unwrap() {
        let plan = search(&simulation, &OneCore);
        simulation.found(&plan);
    }
    simulation.report()
}

/// Runs the jobs of a batch in the opposite order, as another number of threads might.
struct Backwards;

impl Cores for Backwards {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        (0..count).rev().for_each(job);
    }
}

/// Follows a simulation from the outside: who waits in which round, and which match each player was
/// found for.
#[derive(Default)]
struct Watch {
    /// When each player last waited for the first time with a ticket, by ticket.
    seen: BTreeMap<String, f64>,
    /// Until when each player plays at least.
    busy: HashMap<String, f64>,
    /// The tickets that waited in the last round, with their players.
    waiting: BTreeMap<String, Vec<String>>,
    /// The tickets for which the last round has found a match.
    found: BTreeSet<String>,
}

impl Watch {
    fn round(&mut self, now: f64, tickets: &[Ticket], shortest: f64) {
        let waiting: BTreeMap<String, Vec<String>> = tickets
            .iter()
            .map(|t| {
                (
                    t.id.clone(),
                    t.players.iter().map(|p| p.id.clone()).collect(),
                )
            })
            .collect();
        let players: BTreeSet<&String> = waiting.values().flatten().collect();
        let seats: usize = waiting.values().map(Vec::len).sum();
        assert_eq!(players.len(), seats, "a player waits with one ticket");
        // Who was in a proposal and does not wait any more, plays.
        for (id, players) in &self.waiting {
            if self.found.contains(id) && !waiting.contains_key(id) {
                for player in players {
                    self.busy.insert(player.clone(), self.seen[id] + shortest);
                }
            }
        }
        for (id, players) in &waiting {
            for player in players {
                let until = self.busy.get(player).copied().unwrap_or(0.0);
                assert!(
                    until <= now,
                    "{player} queues at {now} and plays until {until}"
                );
            }
            self.seen.insert(id.clone(), now);
        }
        self.waiting = waiting;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]
    #[test]
    fn no_ticket_is_lost_and_nobody_is_in_two_matches(
        seed in any::<u64>(),
        online in 20_usize..120,
        name in prop::sample::select(vec!["regular", "rated", "pickup", "roles"]),
        patience in 5.0..100.0,
        declines in 0.0..0.2,
    ) {
        let queue = queue(name);
        let settings = SimulationSettings {
            seed, online, patience, declines,
            length: 240.0, battle: 60.0,
            ..SimulationSettings::default()
        };
        let mut simulation = Simulation::new(&queue, settings);
        let (mut watch, mut found) = (Watch::default(), 0);
        while simulation.next_round().unwrap() {
            let tickets = simulation.line.tickets();
            // A ready check may hold a match back for its whole length.
            let asks = queue.settings().ready_check.get() > 0;
            let shortest = if asks { 0.0 } else { 60.0 * 0.7 };
            watch.round(simulation.now(), tickets, shortest);
            let plan = search(&simulation, &OneCore);
            let seated = plan.matches.iter().flat_map(|found| found.teams.iter().flatten());
            watch.found = seated.map(|place| tickets[*place].id.clone()).collect();
            found += plan.matches.len() as u64;
            simulation.found(&plan);
        }
        let report = simulation.report();
        let counts = report.tickets;
        let ends = counts.matched + counts.cancelled + counts.declined + counts.expired + counts.left;
        prop_assert_eq!(counts.queued, ends);
        prop_assert_eq!(report.waits[0].tickets, ends - counts.left);
        prop_assert!(report.matches + report.dropped + report.dissolved <= found);
        prop_assert!(report.rules.iter().all(|rule| !rule.hard || rule.violated == 0));
    }
}

#[test]
fn declines_and_impatience_happen_as_configured() {
    let queue = queue("pickup");
    let settings = SimulationSettings {
        online: 200,
        length: 2.0 * 3_600.0,
        battle: 600.0,
        declines: 0.1,
        patience: 60.0,
        ..SimulationSettings::default()
    };
    let report = run(&queue, settings);
    let counts = report.tickets;
    assert!(counts.cancelled > 20 && counts.declined > 20, "{counts:?}");
    // Each match has 10 players, each of whom declines with a probability of .1 or is too late.
    let declined = report.dissolved as f64 / (report.dissolved + report.matches) as f64;
    assert!((0.5..0.8).contains(&declined), "{declined}");
}

#[test]
fn the_order_of_the_jobs_changes_nothing_and_the_seed_does() {
    let queue = queue("regular");
    let settings = SimulationSettings {
        online: 250,
        length: 90.0,
        battle: 60.0,
        ..SimulationSettings::default()
    };
    let one = run(&queue, settings);
    let mut simulation = Simulation::new(&queue, settings);
    while simulation.next_round().unwrap() {
        let plan = search(&simulation, &Backwards);
        simulation.found(&plan);
    }
    assert_eq!(one, simulation.report());
    assert!(one.matches > 10);
    let other = run(
        &queue,
        SimulationSettings {
            seed: 2,
            ..settings
        },
    );
    assert_ne!(one.tickets, other.tickets);
}

/// Without matches, everybody's ticket comes once: the shares are those of the settings.
#[test]
fn tickets_are_as_configured() {
    let queue = queue("regular");
    let settings = SimulationSettings {
        online: 12_000,
        length: 300.0,
        patience: 86_400.0,
        patience_spread: 0.0,
        ..SimulationSettings::default()
    };
    let mut simulation = Simulation::new(&queue, settings);
    let none = Plan {
        matches: Vec::new(),
        left: Vec::new(),
    };
    let (mut half, mut all) = (0, 0);
    while simulation.next_round().unwrap() {
        simulation.found(&none);
        all = simulation.line.tickets().len();
        half = if simulation.now() < 150.0 { all } else { half };
    }
    let share = |of: usize| of as f64 / all as f64;
    assert!(
        (share(half) - 0.5).abs() < 0.02,
        "arrivals are even: {half} of {all}"
    );
    let tickets = simulation.line.tickets();
    let players: usize = tickets.iter().map(|ticket| ticket.players.len()).sum();
    assert!((11_900..=12_000).contains(&players), "{players}");
    let sized = |size| tickets.iter().filter(|t| t.players.len() == size).count();
    for (size, expected) in [(1, 0.75), (2, 0.17), (3, 0.08)] {
        assert!(
            (share(sized(size)) - expected).abs() < 0.02,
            "{size}: {}",
            sized(size)
        );
    }
    let report = simulation.report();
    assert_eq!(report.tickets.left, report.tickets.queued);
    assert_eq!((report.matches, report.tickets.queued as usize), (0, all));
}

#[test]
fn a_population_has_the_attributes_of_the_load() {
    let queue = queue("regular");
    let settings = SimulationSettings {
        online: 8_000,
        ..SimulationSettings::default()
    };
    let crowd = super::Crowd::new(&queue, settings.bounded());
    let nothing = super::crowd::RecentMatches::default();
    let names: Vec<&String> = queue.settings().attributes.keys().collect();
    let at = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let number =
        |player: &crate::matchmaking::TicketPlayer, name: &str| match player.values[at(name)] {
            crate::matchmaking::Value::Number(number) => number,
            _ => f64::NAN,
        };
    let mut players = Vec::new();
    for party in 0..crowd.len() {
        let ticket = crowd
            .ticket(party, 1, &nothing, &mut crowd.visit(party, 1))
            .unwrap();
        players.extend(ticket.players);
    }
    assert_eq!(players.len(), 8_000);
    let mean = |of: &dyn Fn(&crate::matchmaking::TicketPlayer) -> f64| {
        players.iter().map(of).sum::<f64>() / players.len() as f64
    };
    assert!((mean(&|p| number(p, "tier")) - 6.9).abs() < 0.15);
    assert!((mean(&|p| number(p, "same_control")) - 0.25).abs() < 0.02);
    assert!((mean(&|p| p.known.numbers["@weight"]) - 50.0).abs() < 0.6);
    let cap =
        |p: &crate::matchmaking::TicketPlayer| f64::from(u8::from(number(p, "tier_cap") < 10.0));
    assert!((0.05..0.09).contains(&mean(&cap)));
    let maps = |p: &crate::matchmaking::TicketPlayer| match &p.values[at("maps")] {
        crate::matchmaking::Value::Set(maps) => maps.len() as f64,
        _ => 0.0,
    };
    assert!((mean(&maps) - 17.0).abs() < 0.1);
    // A party keeps what it has and changes its vehicles.
    let twice = [1, 2].map(|visit| {
        let mut stream = Stream::new(visit.into(), StreamPurpose::Arrivals);
        crowd
            .ticket(7, visit, &nothing, &mut stream)
            .unwrap()
            .players
    });
    assert_eq!(
        twice[0][0].values[at("maps")],
        twice[1][0].values[at("maps")]
    );
    assert_eq!(twice[0][0].known, twice[1][0].known);
    assert_ne!(twice[0][0].values, twice[1][0].values);
}

#[test]
fn settings_out_of_bounds_are_bounded() {
    let queue = queue("roles");
    let settings = SimulationSettings {
        online: 0,
        length: f64::NAN,
        battle: -1.0,
        patience: f64::INFINITY,
        load: Load {
            pairs: 7.0,
            threes: 1.0,
            vehicles: 0,
            maps: 0,
            ..Load::default()
        },
        spacing_millis: 0,
        ..SimulationSettings::default()
    };
    let report = run(&queue, settings);
    assert_eq!(report.online, 1);
}
