//! Three daemons on one PostgreSQL of their own, with game servers, clients of queues, instances and an operator at all
//! of them, while daemons are killed and sleep, connections are cut, and the database crashes or has a full disk. At
//! the end everything is counted: nothing is lost, nothing happened twice, and all daemons have the weights of a fold
//! from the beginning.
//!
//! `EVENKEEL_FLEET_SECONDS=600` lets it run for ten minutes of faults, `EVENKEEL_FLEET_SEED` repeats their order.
#![allow(
    clippy::disallowed_methods,
    reason = "what real processes do is waited for in real time"
)]

mod count;
mod faults;
mod game;
mod hosts;
mod line;
mod lobby;
mod operator;
mod servers;
mod weights;

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    sync::{Arc, atomic::Ordering},
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use sqlx::{Connection, PgConnection};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use self::{
    count::Faults,
    faults::Machines,
    line::{DAEMONS, World, pause},
    lobby::Lobby,
};
use crate::{
    PROCESS,
    common::{draw::Draw, postgres::Server},
};

const DATABASE: &str = "fleet";
const LEASE: Duration = Duration::from_secs(1);
/// The disk of the database, in MiB, besides 4 MiB for each second of faults.
const DISK: u32 = 500;
const SERVERS: usize = 4;
const LOBBIES: usize = 4;
const HOSTS: usize = 3;
const CONFIG: &str = r#"
[store]
lease_seconds = 1

[rating]
min_seconds = 0

[coordinator]
rest_seconds = 1
open_seconds = 5
join_seconds = 10

[queue.open]
teams = 2
size = 1
ruleset = "ctf"
host = "none"

[queue.checked]
teams = 2
size = 2
ruleset = "ctf"
host = "none"
ready_check = 20

[queue.duel]
teams = 2
size = 1
ruleset = "ctf"
host_wait = 20
backfill = false
"#;

/// What all clients have seen.
struct Seen {
    played: Vec<servers::Played>,
    announced: Vec<lobby::Announced>,
    heard: Vec<BTreeMap<String, BTreeSet<i64>>>,
    hosted: Vec<(i64, game::End)>,
    corrections: operator::Corrections,
    looks: usize,
    counts: BTreeMap<&'static str, usize>,
}

/// A number from the environment.
pub fn wish(name: &str, otherwise: u64) -> u64 {
    let wish = env::var(name).ok().map(|text| text.parse().unwrap());
    wish.unwrap_or(otherwise)
}

#[test]
#[ignore = "takes two minutes: `cargo test --test large -- --ignored`"]
fn three_daemons_lose_nothing() {
    let _turn = PROCESS.blocking_lock();
    let lasts = Duration::from_secs(wish("EVENKEEL_FLEET_SECONDS", 60));
    let disk = Server::start_on_disk(DISK + 4 * lasts.as_secs() as u32);
    let has_disk = disk.is_some();
    let Some(server) = disk.or_else(Server::start) else {
        return;
    };
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = wish("EVENKEEL_FLEET_SEED", clock.as_secs());
    println!(
        "EVENKEEL_FLEET_SEED={seed} EVENKEEL_FLEET_SECONDS={}",
        lasts.as_secs()
    );
    let runtime = Runtime::new().unwrap();
    runtime.block_on(server.create(DATABASE));
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("evenkeel.toml"), CONFIG).unwrap();
    let start = |number| Machines::start(folder.path(), &server, number, DATABASE);
    let mut machines = Machines {
        daemons: (0..DAEMONS).map(start).collect(),
        server: &server,
        runtime: &runtime,
        folder: folder.path(),
        has_disk,
    };
    let world = Arc::new(World::default());
    *world.addresses.lock() = machines.daemons.iter().map(|one| one.address).collect();
    let mut faults = Faults::default();
    let seen = evening(&mut machines, &world, (seed, lasts), &mut faults);
    let compared = after(&mut machines, &world, &seen, &mut faults);
    report(&world, &seen, compared);
    assert!(faults.0.is_empty(), "seed {seed}: {faults:#?}");
}

/// Lets the clients run while things go wrong, and then until they have finished what they have begun.
fn evening(
    machines: &mut Machines<'_>,
    world: &Arc<World>,
    (seed, lasts): (u64, Duration),
    faults: &mut Faults,
) -> Seen {
    let url = machines.server.url(DATABASE);
    let folder = machines.folder;
    thread::scope(|scope| {
        let spawn = |count: usize, offset: u64| {
            (0..count)
                .map(move |number| (number, seed.wrapping_mul(1_000) + offset + number as u64))
        };
        let servers: Vec<_> = spawn(SERVERS, 0)
            .map(|(number, seed)| scope.spawn(move || servers::play_games(world, number, seed)))
            .collect();
        let lobbies: Vec<_> = spawn(LOBBIES, 100)
            .map(|(number, seed)| scope.spawn(move || Lobby::new(world, number, seed).run()))
            .collect();
        let listeners: Vec<_> = spawn(LOBBIES, 200)
            .map(|(number, seed)| scope.spawn(move || lobby::listen(world, number, seed)))
            .collect();
        let hosts: Vec<_> = spawn(HOSTS, 300)
            .map(|(number, seed)| scope.spawn(move || hosts::host(world, number, seed)))
            .collect();
        let operator = scope.spawn(|| operator::correct(world, folder, &url, seed));
        let watcher = scope.spawn(|| count::watch(world, &url));
        let counts = machines.suffer(world, &mut Draw(seed), lasts);
        world.ending.store(true, Ordering::Relaxed);
        let played = servers.into_iter().map(|one| one.join().unwrap()).collect();
        let announced = lobbies.into_iter().map(|one| one.join().unwrap()).collect();
        let corrections = operator.join().unwrap();
        pause(2_000); // for the last pushes
        world.ended.store(true, Ordering::Relaxed);
        let heard = listeners
            .into_iter()
            .map(|one| one.join().unwrap())
            .collect();
        let hosted = hosts
            .into_iter()
            .flat_map(|one| one.join().unwrap())
            .collect();
        let (looks, in_two) = watcher.join().unwrap();
        for player in in_two {
            faults.add("a player is in two matches", player);
        }
        Seen {
            played,
            announced,
            heard,
            hosted,
            corrections,
            looks,
            counts,
        }
    })
}

/// Compares what the clients have seen with the database, and the weights with those of a fold. Returns how many
/// weights were compared, and prints the states of the tickets.
fn after(
    machines: &mut Machines<'_>,
    world: &Arc<World>,
    seen: &Seen,
    faults: &mut Faults,
) -> usize {
    machines.runtime.block_on(async {
        let url = machines.server.url(DATABASE);
        let mut db = PgConnection::connect(&url).await.unwrap();
        count::games(&mut db, &seen.played, faults).await;
        count::hosted(&mut db, &seen.hosted, faults).await;
        let states = count::states_of_hosted(&mut db).await;
        println!("hosted matches in the database: {states:?}");
        let states = count::tickets(&mut db, &seen.announced, &seen.heard, faults).await;
        println!("tickets in the database: {states:?}");
        operator::check(&mut db, &seen.corrections, faults).await;
    });
    let compared = weights::each_daemon_has_those_of_a_fold(machines, world, faults);
    weights::daemons_agree(world, faults);
    compared
}

fn report(world: &World, seen: &Seen, compared: usize) {
    let ends = seen.played.iter().flat_map(|one| &one.games);
    let sum = |number: fn(&servers::Played) -> usize| seen.played.iter().map(number).sum::<usize>();
    let announced =
        |number: fn(&lobby::Announced) -> usize| seen.announced.iter().map(number).sum::<usize>();
    println!("what went wrong: {:?}", seen.counts);
    println!(
        "games: {} ended, of {} the answer was on its way; {} resumed, {} forgotten",
        sum(|one| one.games.len()),
        ends.filter(|(_, end)| *end == game::End::OnItsWay).count(),
        sum(|one| one.resumed),
        sum(|one| one.forgotten),
    );
    println!(
        "queues: {} tickets answered, {} matched, {} cancelled, {} heard; {} hosted matches ended, {} dropped",
        announced(|one| one.submitted.len()),
        announced(|one| one.matched.len()),
        announced(|one| one.cancelled.len()),
        seen.heard.iter().map(BTreeMap::len).sum::<usize>(),
        seen.hosted
            .iter()
            .filter(|(_, end)| *end != game::End::Dropped)
            .count(),
        seen.hosted
            .iter()
            .filter(|(_, end)| *end == game::End::Dropped)
            .count(),
    );
    let corrections = &seen.corrections;
    println!(
        "operator: {} commands done, {} failed, {} players forgotten",
        corrections.done,
        corrections.failed,
        corrections.forgotten.len(),
    );
    println!(
        "{} looks for players in two matches, {compared} weights compared to the last bit; errors answered: {:?}",
        seen.looks,
        world.errors.lock()
    );
}
