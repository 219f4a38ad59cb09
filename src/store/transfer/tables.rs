//! The tables that are transferred.

/// A table, and the columns that distinguish its rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    pub name: &'static str,
    /// Columns without NULL whose values together are different in each row. Rows are read in their order.
    pub key: &'static [&'static str],
}

/// Tables with rows that every new database already contains.
pub(super) const FROM_THE_BEGINNING: [&str; 2] = ["state", "partitions"];

/// Which rows of a table are transferred: not what is about one database.
pub(super) fn goes_along(table: &str) -> &'static str {
    match table {
        "state" => "name NOT IN ('matches', 'transfer', 'moved')",
        _ => "TRUE",
    }
}

/// The columns in which the database numbers new rows. It never uses a number again, even if its row is gone.
pub(super) const NUMBERED: [(&str, &str); 4] = [
    ("matches", "id"),
    ("persons", "person"),
    ("decisions", "id"),
    ("webhook_events", "number"),
];

const fn table(name: &'static str, key: &'static [&'static str]) -> Table {
    Table { name, key }
}

/// All tables, in an order in which each comes after those that it refers to. The webhooks are last, so that
/// no row of another table becomes an event again.
pub(super) const TABLES: [Table; 35] = [
    table("matches", &["id"]),
    table("match_players", &["match_id", "seat"]),
    table("match_halves", &["fingerprint"]),
    table("log_matches", &["log", "match_id"]),
    table("receipts", &["client", "key"]),
    table("sign_ins", &["secret"]),
    table("pickups", &["client", "pickup"]),
    table("links", &["player"]),
    table("match_chances", &["match_id", "step"]),
    table("voided_fingerprints", &["fingerprint"]),
    table("merged_players", &["kind", "player"]),
    table("player_settings", &["kind", "player"]),
    table("recounts", &["player", "kind", "ruleset", "recounted_at"]),
    table("forgotten_lately", &["handle"]),
    table("state", &["name"]),
    table("rulings", &["match_id"]),
    table("performances", &["match_id", "seat"]),
    table("persons", &["person"]),
    table("weights", &["ruleset", "kind", "player"]),
    table("divisions", &["ruleset", "division"]),
    table("seasons", &["starts_at"]),
    table("decisions", &["id"]),
    table("behaviour", &["player", "reporter", "day"]),
    table("partitions", &["name"]),
    table("tickets", &["number"]),
    table("ticket_players", &["player", "queue_group", "partition"]),
    table("formed_matches", &["match_id"]),
    table("formed_seats", &["match_id", "seat"]),
    table("pools", &["pool_id"]),
    table("queue_hours", &["queue", "hour"]),
    table("hosted_matches", &["match_id"]),
    table("owed_closes", &["instance", "match_id"]),
    table("instances", &["name"]),
    table("webhook_events", &["number"]),
    table("webhooks", &["name"]),
];

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use sqlx::{SqlitePool, sqlite::SqlitePoolOptions};

    use super::*;
    use crate::store::schema::SQLITE;

    /// Tables that are about one database and its daemons, and stay behind.
    const LEFT_BEHIND: [&str; 1] = ["leases"];

    async fn schema() -> SqlitePool {
        let options = SqlitePoolOptions::new().max_connections(1);
        let pool = options.connect("sqlite::memory:").await.unwrap();
        SQLITE.run(&pool).await.unwrap();
        pool
    }

    #[tokio::test]
    async fn every_table_of_the_schema_is_transferred_by_its_key() {
        let keys = "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c ON c.pk > 0
             WHERE t.type = 'table' ORDER BY t.name, c.pk";
        let query = sqlx::query_as(keys).fetch_all(&schema().await).await;
        let mut keys: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let rows: Vec<(String, String)> = query.unwrap();
        for (table, column) in rows {
            keys.entry(table).or_default().push(column);
        }
        for left in LEFT_BEHIND.into_iter().chain(["_sqlx_migrations"]) {
            assert!(keys.remove(left).is_some(), "{left}");
        }
        let owned = |table: &Table| {
            let key = table.key.iter().map(ToString::to_string).collect();
            (table.name.to_owned(), key)
        };
        assert_eq!(TABLES.iter().map(owned).collect::<BTreeMap<_, _>>(), keys);
        let tables =
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
        let tables = sqlx::query_scalar(tables).fetch_all(&schema().await).await;
        let tables: Vec<String> = tables.unwrap();
        assert_eq!(tables.len(), TABLES.len() + LEFT_BEHIND.len() + 1);
    }

    #[tokio::test]
    async fn every_table_comes_after_those_that_it_refers_to() {
        let query = "SELECT t.name, f.\"table\" FROM sqlite_schema t
             JOIN pragma_foreign_key_list(t.name) f WHERE t.type = 'table'";
        let query = sqlx::query_as(query).fetch_all(&schema().await).await;
        let references: Vec<(String, String)> = query.unwrap();
        assert!(references.len() > 3, "{references:?}");
        let place = |name: &str| TABLES.iter().position(|table| table.name == name).unwrap();
        for (table, other) in references {
            assert!(place(&table) > place(&other), "{table} {other}");
        }
    }

    #[tokio::test]
    async fn every_number_that_counts_on_is_known() {
        let counting = "SELECT name FROM sqlite_schema WHERE sql LIKE '%AUTOINCREMENT%'";
        let counting = sqlx::query_scalar(counting)
            .fetch_all(&schema().await)
            .await;
        let counting: BTreeSet<String> = counting.unwrap().into_iter().collect();
        let known: BTreeSet<String> = NUMBERED.map(|(table, _)| table.to_owned()).into();
        assert_eq!(counting, known);
    }
}
