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
//! `backfill` chooses tickets for the free seats of matches in play, before a round forms new ones.
//!
//! Entry points: [`plan`], [`PlanInput::backfill`].

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping

// The tests share the generator of tickets with the program, which knows this crate by its name.
#[cfg(test)]
extern crate self as evenkeel_matchmaking;

mod attribute;
mod backfill;
mod bits;
mod columns;
pub mod draw;
mod error;
pub mod lifecycle;
mod people;
mod planner;
mod pool;
mod queue;
mod rules;
mod search;
mod settings;
mod stated;
#[cfg(test)]
mod tests;
mod ticket;

pub use attribute::{Attribute, AttributeType, Raw, Value};
pub use backfill::{Addition, OpenMatch};
pub use columns::is_known;
pub use error::{QueueError, TicketError};
pub use planner::{Effort, Explanation, Left, Plan, PlanInput, PlannedMatch, RuleReport, plan};
pub use pool::{PLAYER_MATCHES, QUEUE_MATCHES};
pub use queue::{AGAIN_MILLIS, Queue, REST, SPACING_MILLIS};
pub use rules::{Finding, RuleSettings, Severity};
pub use search::{Cores, OneCore};
pub use settings::{Accept, Host, Latency, MAIN_PARTITION, QueueSettings};
pub use ticket::{KnownAttributes, PlayerSpec, Ticket, TicketPlayer, TicketSpec, unknown};

/// The longest identifier of a ticket or player, and the longest name of a rule or ruleset, in
/// bytes.
pub const MAX_ID: usize = 128;
/// The longest word of an attribute, in bytes.
pub const MAX_WORD: usize = 64;
/// The most words of a set, a map or an enum.
pub const MAX_WORDS: usize = 128;
/// The most players of a match.
pub const MAX_MATCH: usize = 128;
