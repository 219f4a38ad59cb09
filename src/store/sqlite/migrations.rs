//! The migrations of `migrations/sqlite`, compiled into the program.
//!
//! They are listed here because the macro `sqlx::migrate!`, which would read the folder, compiles a
//! second copy of the database driver.

use std::sync::LazyLock;

use sqlx::{
    SqlSafeStr,
    migrate::{Migration, MigrationType, Migrator},
};

macro_rules! file {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../../migrations/sqlite/", $name, ".sql")),
        )
    };
}

/// The name and the text of each migration, in the order in which they run. Never change one that was
/// released: databases store a checksum of each.
const FILES: [(&str, &str); 16] = [
    file!("0001_matches"),
    file!("0002_decisions"),
    file!("0003_logs"),
    file!("0004_checkpoint"),
    file!("0005_void"),
    file!("0006_games"),
    file!("0007_left"),
    file!("0008_divisions"),
    file!("0009_start_weights"),
    file!("0010_seasons_roles"),
    file!("0011_tickets"),
    file!("0012_hosting"),
    file!("0013_pools"),
    file!("0014_backfill"),
    file!("0015_behaviour"),
    file!("0016_forgotten"),
];

/// All migrations.
pub(super) static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    let migration = |(version, (name, sql)): (i64, (&'static str, &'static str))| {
        let description = name[5..].replace('_', " ");
        let kind = MigrationType::Simple;
        Migration::new(version, description.into(), kind, sql.into_sql_str(), false)
    };
    Migrator::with_migrations((1..).zip(FILES).map(migration).collect())
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_listed_under_its_number() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite");
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let listed = (1..).zip(FILES).map(|(number, (name, _))| {
            assert!(name.starts_with(&format!("{number:04}_")), "{name}");
            format!("{name}.sql")
        });
        assert_eq!(listed.collect::<Vec<_>>(), names);
        assert_eq!(MIGRATIONS.iter().count(), FILES.len());
    }
}
