//! Sends a gigabyte over the network and reads half a gigabyte of log, in bounded memory; kills a daemon a
//! hundred times; restarts one fifty times under load; learns two thousand histories of equals; plays an evening of
//! hosted matches; lets everything go wrong for three daemons on one PostgreSQL; kills a
//! daemon and commands at chosen moments; uses up every share beside honest players; plays simulated seasons. `.ci/run` runs these tests, and so does
//! `cargo test --test large -- --ignored`; a plain `cargo test` does not build them.
//!
//! They measure the memory of the whole process, so only one runs at a time.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a test may fail by unwrapping

#[path = "../common/mod.rs"]
mod common;

mod api_kills;
mod attacks;
mod equals;
mod evening;
mod fair;
mod fleet;
mod gigabyte;
mod hosting;
mod kills;
mod long_logs;
mod queue_kills;
mod restarts;
mod shares;
mod simulation;

use std::fs;

use tokio::sync::{Mutex, MutexGuard};

/// Locked by the test that measures memory.
static PROCESS: Mutex<()> = Mutex::const_new(());

/// Waits until no other test measures, and resets the peak to the current memory of the process.
async fn alone() -> MutexGuard<'static, ()> {
    let turn = PROCESS.lock().await;
    fs::write("/proc/self/clear_refs", "5").unwrap();
    turn
}

/// The peak of the process's memory since [`alone`], in bytes.
fn peak() -> usize {
    memory("VmHWM:")
}

/// The current memory of the process, in bytes.
fn resident() -> usize {
    memory("VmRSS:")
}

fn memory(field: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<usize>().ok());
    kib.unwrap() * 1_024
}
