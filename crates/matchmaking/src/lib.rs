#![doc = include_str!("../README.md")]
//!
//! # How it is built
//!
//! The queue: from people who want to play to matches that meet every requirement.
//!
//! Pure: no clock, no files, no threads, and no randomness but the seed's. How long each ticket has
//! waited and what is known of each player come in as numbers. The same tickets, settings, seed and
//! effort give the same matches on any number of cores.
//!
//! In steps: [`Queue::new`] checks the settings of a queue, and [`Queue::ticket`] what a client
//! states in a ticket. A `pool` has the tickets of one round in columns, with sets of those that
//! could play together. A `search` starts from one ticket: it chooses what the match is like (its
//! mode, its map, its band of levels), builds teams from tickets that mirror each other, and improves
//! them by annealing; small pools are searched exactly. Last, `partition` makes the teams even. The
//! planner repeats this until every ticket has had its turn, a few of the oldest first, then those that
//! fit the fewest others. Then older tickets that are left take the places of younger ones, and some of
//! the matches are formed again.
//!
//! [`backfill`] chooses tickets for the free seats of matches in play, before a round forms new ones.
//!
//! Entry points: [`plan`], [`PlanInput::backfill`](planner::PlanInput::backfill).

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping
#![warn(unreachable_pub)]

// The tests share the generator of tickets with the program, which knows this crate by its name.
#[cfg(test)]
extern crate self as evenkeel_matchmaking;

pub mod attribute;
pub mod backfill;
mod columns;
pub mod draw;
pub mod lifecycle;
pub mod planner;
mod pool;
pub mod queue;
mod rules;
mod search;
pub mod settings;
#[cfg(test)]
mod tests;
pub mod ticket;

pub use planner::{Effort, Plan, plan};
pub use queue::Queue;
pub use search::OneCore;
pub use settings::{QueueError, QueueSettings};
pub use ticket::{KnownAttributes, Ticket, TicketSpec};
