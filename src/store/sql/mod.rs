//! The queries: the methods of [`Store`], by use.

mod archive;
mod balances;
mod behaviour;
mod chances;
mod decisions;
mod derived;
mod forgotten;
mod games;
mod halves;
mod hook_reports;
mod hosting;
pub(super) mod insert;
mod logs;
mod matches;
pub(super) mod pages;
mod partitions;
mod parts;
mod persons;
mod played;
mod players;
mod pools;
mod queue_hours;
mod receipts;
mod sign_ins;
mod tickets;
mod webhooks;
mod weights;

use super::{Store, leases, postgres::exchange};
