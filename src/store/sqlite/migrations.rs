//! The migrations of `migrations/sqlite`, compiled into the program.
//!
//! They are listed here because the macro `sqlx::migrate!`, which would read the folder, compiles a
//! second copy of the database driver.

use std::sync::LazyLock;

use sqlx::migrate::Migrator;

use crate::store::migration;

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
const FILES: [(&str, &str); 22] = [
    file!("0001_matches"),
    file!("0002_decisions"),
    file!("0003_logs"),
    file!("0004_checkpoint"),
    file!("0005_version_0_2"),
    file!("0006_api"),
    file!("0007_recording"),
    file!("0008_weighed"),
    file!("0010_pickups"),
    file!("0011_requests"),
    file!("0012_parts"),
    file!("0013_checkpoint_pieces"),
    file!("0014_standings"),
    file!("0015_venues"),
    file!("0016_queue_page"),
    file!("0017_causes"),
    file!("0018_lists"),
    file!("0019_match_count"),
    file!("0020_voided_matches"),
    file!("0021_ticket_players"),
    file!("0022_accounts"),
    file!("0023_automatic"),
];

/// All migrations, in the order in which they run.
pub(in crate::store) static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    let all = FILES.into_iter().map(|(name, sql)| migration(name, sql));
    Migrator::with_migrations(all.collect())
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
        let listed = FILES.map(|(name, _)| format!("{name}.sql"));
        assert_eq!(listed.to_vec(), names);
        assert!(FILES.is_sorted_by_key(|(name, _)| migration(name, "").version));
        assert_eq!(migration("0004_checkpoint", "").version, 4);
        assert_eq!(MIGRATIONS.iter().count(), FILES.len());
    }
    #[tokio::test]
    async fn checkpoints_in_one_piece_are_dropped() {
        let options = sqlx::sqlite::SqlitePoolOptions::new().max_connections(1);
        let pool = options.connect("sqlite::memory:").await.unwrap();
        let before = FILES
            .iter()
            .take_while(|(name, _)| *name != "0013_checkpoint_pieces");
        let before = before.map(|(name, sql)| migration(name, sql));
        let before = Migrator::with_migrations(before.collect());
        before.run(&pool).await.unwrap();
        let old = "INSERT INTO derived_checkpoint VALUES (3, 3, 1, x'00', 'key', x'00')";
        sqlx::query(old).execute(&pool).await.unwrap();
        MIGRATIONS.run(&pool).await.unwrap();
        let left = sqlx::query_scalar("SELECT count(bytes) FROM derived_checkpoint");
        let left: i64 = left.fetch_one(&pool).await.unwrap();
        assert_eq!(left, 0);
    }
}
