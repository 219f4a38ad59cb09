//! The queries, each written once for both databases.
//!
//! SQLite and PostgreSQL have a module each that opens the database and includes this folder: the types of
//! `sqlx` fix the database at compile time, so that these files are compiled twice, and neither database
//! pays for the other. Both understand every statement here. The rules for that:
//!
//! - A parameter is `$1`, and each that is bound is used.
//! - Integers are `i64` ([`int`] makes smaller ones of them), truth values are `bool`.
//! - `ON CONFLICT … DO` states what happens to rows that exist. Inside it, columns are named with their table.
//! - A sum of integers is `CAST(sum(…) AS BIGINT)`, and nothing else is cast to an integer, because SQLite
//!   cuts off where PostgreSQL rounds.
//! - What only one database has is in the module of that database: sequences, views, triggers.
//!
//! The module that includes this folder provides `Acquired`, `Db`, `DbConnection`, `DbPool`, `DbRow` and `DbStore`,
//! and `snapshot`, `content`, `leases`, `post`, `sequences` and `text`.

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
mod insert;
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
mod transfer;
mod values;
mod webhooks;
mod weights;
mod write;

use super::{
    Acquired, Db, DbConnection, DbPool, DbRow, DbStore, content, leases, post, sequences, snapshot,
    text::{storable, text},
};
use values::{int, optional_int};
pub(super) use write::DbWrite;
