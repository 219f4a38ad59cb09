//! What pages leave out, because it says nothing.

use std::fs;

use evenkeel::model::Timestamp;
use tempfile::TempDir;

use super::json;
use crate::common::{hostile, http::Pages, process::evenkeel};

/// Ingests twelve matches of two players, one a week, and a later one that was abandoned.
fn ingest_weeks(folder: &std::path::Path) {
    let first = Timestamp::parse("2026-08-03").unwrap();
    let game = |week: i64, outcome: &str| {
        let start = Timestamp(first.0 + week * 7 * 86_400_000);
        let end = Timestamp(start.0 + 600_000);
        let player = |id: &str, team: u8| {
            format!(
                "{{\"id\":\"{id}\",\"name\":\"{id}\",\"stays\":[{{\"team\":{team},\"from\":0,\"to\":600000}}]}}"
            )
        };
        format!(
            "{{\"evenkeel\":1,\"server\":\"s\",\"start\":\"{start}\",\"end\":\"{end}\",\"game\":\"weekly\",\
             \"map\":\"{outcome}-map\",\"scores\":[{}.0,3.0],\"outcome\":\"{outcome}\",{}\"players\":[{},{}],\
             \"events\":[]}}\n",
            1 + week % 2 * 4,
            match outcome {
                "won" => format!("\"winner\":{},", 1 - week % 2),
                _ => String::new(),
            },
            player("ann", 0),
            player("bob", 1),
        )
    };
    let mut lines: String = (0..12).map(|week| game(week, "won")).collect();
    lines.push_str(&game(20, "abandoned"));
    let path = folder.join("weeks.jsonl");
    fs::write(&path, lines).unwrap();
    let output = evenkeel(folder).arg("ingest").arg(&path).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn rulesets_with_few_matches_are_folded_away_beside_others() {
    let folder = TempDir::new().unwrap();
    hostile::ingest(folder.path(), 4);
    let pages = Pages::start(folder.path(), &[]);
    assert!(!pages.get("/").body.contains("<details>"));
    drop(pages);
    hostile::ingest_season(folder.path());
    let pages = Pages::start(folder.path(), &[]);
    let home = pages.get("/").body;
    let (shown, folded) = home.split_once("<details>").unwrap();
    assert!(
        folded.contains("1 game type with fewer than 10 matches"),
        "{home}"
    );
    let names = (">baseoa.ctf<", "%3Ci%3Ectf");
    assert!(
        shown.contains(names.0) && !shown.contains(names.1),
        "{home}"
    );
    assert_eq!(
        json(&pages, "/v1/rulesets")["rulesets"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn abandoned_games_are_not_among_the_latest_matches() {
    let folder = TempDir::new().unwrap();
    ingest_weeks(folder.path());
    let pages = Pages::start(folder.path(), &[]);
    for path in ["/", "/rulesets/weekly", "/matches"] {
        let page = pages.get(path).body;
        let listed = page.matches("href=\"/matches/").count();
        assert!(listed >= 10 && !page.contains("/matches/13\""), "{page}");
    }
    assert!(!pages.get("/matches.atom").body.contains("abandoned"));
    let last = pages.get("/matches/13");
    assert!(last.body.contains("It was abandoned."), "{}", last.body);
}

#[test]
fn the_balance_page_lists_two_months_and_no_measure_of_statisticians() {
    let folder = TempDir::new().unwrap();
    ingest_weeks(folder.path());
    let pages = Pages::start(folder.path(), &[]);
    let data = json(&pages, "/v1/balance?ruleset=weekly");
    assert_eq!(data["weeks"].as_array().unwrap().len(), 12);
    let page = pages.get("/balance?ruleset=weekly&date=2020-01-01").body;
    let weeks = page.split("<h2>By week</h2>").nth(1).unwrap();
    assert_eq!(weeks.matches("<tr>").count(), 1 + 8, "{weeks}");
    for word in ["Brier", ">Minutes<", ">Before<"] {
        assert!(!page.contains(word), "{word}: {page}");
    }
    let systems = "href=\"/systems\"";
    assert!(page.contains(systems) && !pages.get("/").body.contains(systems));
}
