//! Kills a daemon and commands at chosen moments; lets everything go wrong for three daemons on one PostgreSQL. These two
//! are in the gate, `.ci/run`; the others are in `.ci/nightly`: a gigabyte over the network and half a gigabyte of log, in
//! bounded memory; two thousand histories of equals; an evening of hosted matches; somebody who uses up every share, beside
//! honest players; simulated seasons. All of them:
//! `cargo test --test large -- --ignored`; a plain `cargo test` does not build them.
//!
//! They measure the memory of the whole process, so only one runs at a time.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a test may fail by unwrapping

#[path = "../common/mod.rs"]
mod common;

mod attacks;
mod equals;
mod evening;
mod fair;
mod fleet;
mod gigabyte;
mod hosting;
mod long_logs;
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
