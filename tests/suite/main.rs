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

mod agent;
mod agones;
mod api;
mod architecture;
mod archive_command;
mod attacks;
mod backfill;
mod backup;
mod behaviour;
mod cli;
mod client;
mod configuration;
mod decisions;
mod demo;
mod discord;
mod disk;
mod divisions;
mod docs;
mod exhausted;
mod farmers;
mod find;
mod first_points;
mod fleet;
mod follow;
mod instances;
mod journal;
mod journal_lines;
mod journal_power;
mod journal_session;
mod late_matches;
mod leases;
mod leaving;
mod live;
mod logs;
mod match_archive;
mod match_chances;
mod messages;
mod metrics;
mod migrate_store;
mod mutator;
mod old_database;
mod openarena;
mod operator_sql;
mod outputs;
mod parties;
mod partition;
mod passing;
mod postgres_wire;
mod process;
mod protocol;
mod queue;
mod queue_chaos;
mod queue_explain;
mod queue_maps;
mod queue_panics;
mod read_models;
mod restart;
mod restricted;
mod results;
mod rights;
mod roles_seasons;
mod running;
mod sense;
mod sense_chance;
mod sense_small;
mod sense_stories;
mod sense_weights;
mod sense_wishes;
mod service_manager;
mod sessions;
mod shared_weights;
mod sidecar;
mod sidecar_source;
mod sidecar_xonotic;
mod spans;
mod start_weights;
mod stop;
mod store;
mod store_postgres;
mod store_story;
mod store_tickets;
mod store_weights;
mod suspects;
mod teams;
mod tickets;
mod tls;
mod tls_client;
mod tls_limits;
mod web;
mod web_attacks;
mod web_browser;
mod web_limits;
mod web_live;
mod web_queues;
mod webhooks;
mod why;
mod wire_turns;
