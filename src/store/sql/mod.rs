//! The queries: the methods of [`Store`], by use.

pub(super) mod behaviour;
mod called;
mod chances;
pub(super) mod decisions;
mod derived;
mod forgotten;
mod games;
mod halves;
mod hook_reports;
mod insert;
pub(super) mod links;
pub(super) mod logs;
mod matches;
mod new_games;
pub(super) mod numbers;
pub(super) mod operator_import;
pub mod operator_lines;
mod orphans;
pub(super) mod pages;
pub(super) mod persons;
pub(super) mod pickups;
mod played;
pub(super) mod players;
mod read_matches;
pub(super) mod receipts;
mod recounts;
mod rewrite;
pub(super) mod rows;
pub(super) mod sign_ins;
pub(super) mod state;
mod twins;
pub(super) mod webhooks;
mod weights;

use super::{Store, leases};
