//! All tests except those of log formats (`ingest`) and those that move a gigabyte (`large`), in
//! one binary, because each binary links the whole library. To run one file: `cargo test --test
//! suite attacks::`.

#![allow(
    clippy::disallowed_methods,
    reason = "time-outs of real processes are measured in real time"
)]
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test may fail by unwrapping

#[path = "../common/mod.rs"]
mod common;

mod api;
mod architecture;
mod benches;
mod command;
mod daemon;
mod discord;
mod docs;
mod experiment;
mod fleet;
mod game;
mod journal;
mod learning;
mod line;
mod logs;
mod mutator;
mod queue;
mod sense;
mod sidecar;
mod store;
mod teams;
mod web;
mod webhooks;
