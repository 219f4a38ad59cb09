//! One interface to both databases: statements, their values and rows, connections and transactions.
//!
//! The rest of the room uses only this module to talk to a database, so that each query is written and compiled once.
//! Both databases understand every statement of the room. The rules for that:
//!
//! - A parameter is `$1`, and each that is bound is used.
//! - Integers have 64 bits in a row; [`Row::get`] makes smaller ones of them. Truth values are `bool`.
//! - A [`Timestamp`](crate::model::Timestamp) is a text, which sorts as the times do; `julianday` makes a number of it.
//! - `ON CONFLICT … DO` states what happens to rows that exist. Inside it, columns are named with their table.
//! - A sum of integers is `CAST(sum(…) AS BIGINT)`, and nothing else is cast to an integer, because SQLite cuts off
//!   where PostgreSQL rounds.
//! - PostgreSQL stores no NUL in a text: it gets U+FFFD instead.
//! - What only one database has, is in the module of that database, or behind a [`Dialect`].

mod connection;
mod query;
mod row;

pub(super) use connection::{ConnectionPool, Dialect, PooledConnection};
pub(super) use query::{Executor, Query, Sql, Write, moved_to, scalar, sql, tuple};
pub(super) use row::{At, FromColumn, FromRow, Row, SqlValue, bad, columns, made, values};
