//! The queries: the methods of [`Store`], by use.

pub(super) mod archive;
mod balances;
pub(super) mod behaviour;
mod chances;
pub(super) mod decisions;
mod derived;
mod forgotten;
mod games;
mod halves;
mod hook_reports;
mod hosting;
mod insert;
mod later_seats;
pub(super) mod logs;
mod matches;
mod orphans;
pub(super) mod pages;
pub(super) mod partitions;
mod parts;
mod persons;
mod played;
mod players;
mod pools;
mod queue_hours;
mod queue_write;
pub(super) mod receipts;
pub(super) mod rows;
pub(super) mod sign_ins;
mod tickets;
mod turn;
pub(super) mod webhooks;
mod weights;

use super::{Store, leases, postgres::exchange};
