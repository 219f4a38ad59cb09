//! The tables of `migrations/sqlite`, compiled into the program.

use std::sync::LazyLock;

use sqlx::migrate::Migrator;

use crate::store::migrations;

/// All migrations, in the order in which they run. Databases store a checksum of each: one that was released never
/// changes.
pub(in crate::store) static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    migrations([(
        "0001_evenkeel",
        include_str!("../../../migrations/sqlite/0001_evenkeel.sql"),
    )])
});
