//! Queues: tickets, matches, instances that host them, and the command that tries a queue.

mod agones;
mod backfill;
mod behaviour;
mod chaos;
mod command;
mod explain;
mod instances;
mod maps;
mod panics;
mod pauses;
mod restricted;
mod tickets;
