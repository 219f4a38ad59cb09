//! The migrations of `migrations/postgres`, compiled into the program.

use std::sync::LazyLock;

use sqlx::migrate::Migrator;

use crate::store::migration;

/// All migrations, in the order in which they run.
pub(super) static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    let schema = include_str!("../../../migrations/postgres/0001_evenkeel.sql");
    let scale = include_str!("../../../migrations/postgres/0002_scale.sql");
    Migrator::with_migrations(vec![
        migration("0001_evenkeel", schema),
        migration("0002_scale", scale),
    ])
});
