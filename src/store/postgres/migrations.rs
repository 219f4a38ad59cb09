//! The migrations of `migrations/postgres`, compiled into the program.

use std::sync::LazyLock;

use sqlx::migrate::Migrator;

use crate::store::migration;

/// The name and the text of the migration in a file.
macro_rules! file {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../../migrations/postgres/", $name, ".sql")),
        )
    };
}

/// All migrations, in the order in which they run. Never change one that was released: databases store a checksum of
/// each.
pub(super) static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    let files = [
        file!("0001_evenkeel"),
        file!("0002_scale"),
        file!("0003_match_chances"),
        file!("0004_former_scale"),
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
        file!("0019_ticket_players"),
        file!("0020_accounts"),
        file!("0021_automatic"),
    ];
    let files = files.map(|(name, sql)| migration(name, sql));
    Migrator::with_migrations(files.to_vec())
});
