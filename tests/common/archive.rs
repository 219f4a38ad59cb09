//! A database of old matches to archive, and what is in it.

use std::{path::Path, time::Duration};

use evenkeel::{
    domain::{Fingerprint, Kind::Human, MatchRecord},
    store::{self, Cursor, Stored},
};
use sqlx::{Connection, SqliteConnection};
use tempfile::TempDir;

use super::{BUSY, game};

/// A folder with a database of matches between Ann and others, all of them long ago.
pub async fn many(matches: i64) -> TempDir {
    let folder = TempDir::new().unwrap();
    let store = store::open(&folder.path().join("evenkeel.db"), true, BUSY)
        .await
        .unwrap();
    let record = |number: i64| {
        let other = format!("p{}", number % 7);
        let scores = [(number % 3) as f64, (number % 2) as f64];
        let sides = if number % 5 == 0 {
            ["ann", &other]
        } else {
            ["eve", &other]
        };
        let mut record = game(
            15 * number,
            &[(Human, sides[0])],
            &[(Human, sides[1])],
            scores,
        );
        record.participants[0].kills = number as u32;
        record
    };
    let records: Vec<(MatchRecord, Fingerprint)> = (0..matches)
        .map(record)
        .map(|record| (record.clone(), Fingerprint::of(&record)))
        .collect();
    store.record_all(&records).await.unwrap();
    store.close().await;
    folder
}

/// All matches, in order.
pub async fn all(folder: &Path) -> Vec<Stored> {
    let store = store::open(&folder.join("evenkeel.db"), false, Duration::from_secs(5))
        .await
        .unwrap();
    let (mut matches, mut cursor) = (Vec::new(), Cursor::START);
    loop {
        let (page, next) = store.matches(cursor, 500).await.unwrap();
        if page.is_empty() {
            break;
        }
        matches.extend(page);
        cursor = next;
    }
    store.close().await;
    matches
}

/// The number that a query answers with.
pub async fn count(folder: &Path, query: &'static str) -> i64 {
    let url = format!("sqlite:{}", folder.join("evenkeel.db").display());
    let mut database = SqliteConnection::connect(&url).await.unwrap();
    let count = sqlx::query_scalar(query)
        .fetch_one(&mut database)
        .await
        .unwrap();
    database.close().await.unwrap();
    count
}
