//! Tests in which order SQLite runs the search for a name: in another order it would be slow.

use sqlx::{Row, sqlite::SqlitePoolOptions};

use super::MIGRATIONS;
use crate::store::sql::pages::boards;

#[tokio::test]
async fn a_search_goes_through_the_names_once() {
    let options = SqlitePoolOptions::new().max_connections(1);
    let pool = options.connect("sqlite::memory:").await.unwrap();
    MIGRATIONS.run(&pool).await.unwrap();
    let plan = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {}", boards::SEARCH));
    let steps = sqlx::query(plan).fetch_all(&pool).await.unwrap();
    let steps: Vec<String> = steps.iter().map(|step| step.get("detail")).collect();
    let place = |text: &str| steps.iter().position(|step| step.starts_with(text));
    let names = place("SCAN f").unwrap();
    let rows = place("SEARCH p USING PRIMARY KEY").unwrap();
    assert!(names < rows, "{steps:#?}");
    assert_eq!(
        place("SEARCH p USING INDEX weight_parts"),
        None,
        "{steps:#?}"
    );
}
