//! Tests in which order SQLite runs what pages read, since in another order it would be slow; and what is said of a file
//! that cannot be opened.

use std::fs;

use sqlx::{Row, sqlite::SqlitePoolOptions};

use crate::{
    model::match_chances::Cause,
    store::{
        MatchFilter, corrections, learned::persons, matches::of_person, queues::rows::LEAVE,
        schema::SQLITE, sqlite::why,
    },
};

/// The steps of a statement in a new database.
async fn steps(text: &str) -> Vec<String> {
    let options = SqlitePoolOptions::new().max_connections(1);
    let pool = options.connect("sqlite::memory:").await.unwrap();
    SQLITE.run(&pool).await.unwrap();
    let plan = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {text}"));
    let steps = sqlx::query(plan).fetch_all(&pool).await.unwrap();
    steps.iter().map(|step| step.get("detail")).collect()
}

#[tokio::test]
async fn a_list_of_matches_reads_an_index_in_order_and_sorts_nothing() {
    let ruleset = MatchFilter {
        ruleset: Some("ctf"),
        ..MatchFilter::default()
    };
    let caused = MatchFilter {
        cause: Some(Cause::Leaver),
        ..ruleset
    };
    let of_person = MatchFilter {
        person: Some(1),
        ..ruleset
    };
    for (filter, index) in [
        (MatchFilter::default(), "matches_in_order"),
        (ruleset, "rulings_by_ruleset"),
        (
            MatchFilter {
                before: Some(7),
                ..ruleset
            },
            "rulings_by_ruleset",
        ),
        (caused, "rulings_caused"),
        (of_person, "performances_by_person"),
        (
            MatchFilter {
                before: Some(7),
                ..of_person
            },
            "performances_by_person",
        ),
        (
            MatchFilter {
                before: Some(7),
                ..caused
            },
            "rulings_caused",
        ),
        (
            MatchFilter {
                map: Some("m"),
                ..MatchFilter::default()
            },
            "matches_by_map",
        ),
    ] {
        let steps = steps(filter.list(false, filter.person, 51).text()).await;
        let reads = |step: &String| step.contains(index);
        assert!(steps.iter().any(reads), "{filter:?}: {steps:#?}");
        let sorts = |step: &String| step == "USE TEMP B-TREE FOR ORDER BY";
        assert!(!steps.iter().any(sorts), "{filter:?}: {steps:#?}");
    }
    let picked = MatchFilter {
        picked: true,
        ..MatchFilter::default()
    };
    let steps = steps(picked.list(true, None, 51).text()).await;
    let of_few = |step: &String| step.contains("match_chances_picked");
    assert!(steps.iter().any(of_few), "{steps:#?}");
}

#[tokio::test]
async fn a_player_is_looked_up_and_matches_of_two_are_found_without_a_scan() {
    let steps = [steps(persons::PERSON).await, steps(of_person::SHARED).await].concat();
    let scans = |step: &&String| step.starts_with("SCAN ") && !step.starts_with("SCAN found");
    assert_eq!(steps.iter().find(scans), None, "{steps:#?}");
    let other = "SEARCH e USING COVERING INDEX performances_by_person (person=? AND ended_ms=? AND match_id=?)";
    assert!(steps.iter().any(|step| step == other), "{steps:#?}");
}

#[tokio::test]
async fn void_matches_are_found_by_their_fingerprints() {
    let steps = steps(corrections::VOID).await;
    for table in ["m", "h"] {
        let found = format!("SEARCH {table} USING");
        let is_found = steps.iter().any(|step| step.starts_with(&found));
        assert!(is_found, "{steps:#?}");
    }
}

#[tokio::test]
async fn players_who_leave_tickets_are_found_by_their_ids() {
    let given = "(SELECT column1 AS who, column2 AS its_group, column3 AS slot, column4 AS number
                  FROM (VALUES ('ann', '', 1, 2), ('bob', '', 1, 3))) AS given";
    let steps = steps(&LEAVE.replace("{given}", given)).await;
    let is_search =
        |step: &String| step.starts_with("SEARCH ticket_players USING PRIMARY KEY (player=?");
    assert!(steps.iter().any(is_search), "{steps:#?}");
}

#[test]
fn the_file_system_knows_why() {
    let folder = tempfile::TempDir::new().unwrap();
    assert!(why(folder.path()).unwrap().contains("is a folder"));
    let missing = folder.path().join("none/evenkeel.db");
    assert!(why(&missing).unwrap().ends_with("none does not exist"));
    let file = folder.path().join("evenkeel.db");
    fs::write(&file, "").unwrap();
    assert_eq!(why(&file), None);
}
