//! The numbers of the new pages, computed again from the tables by a script that shares nothing with the program; and how
//! large pages are.

use std::process::Command;

use serde_json::Value;

use super::{json, live::seasons, paths, share::compressed};
use crate::common::hostile::SECRET;

/// The most that a page may have, compressed, in bytes.
const MOST: usize = 50_000;

#[test]
fn fifty_numbers_are_those_of_the_tables() {
    let Ok(version) = Command::new("python3").arg("--version").output() else {
        println!("skipped: there is no python3");
        return;
    };
    assert!(version.status.success(), "{version:?}");
    let (pages, folder) = seasons(&[]);
    let run = Command::new("python3")
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/suite/web/computed.py"
        ))
        .arg(folder.path().join("evenkeel.db"))
        .args([pages.address.to_string(), "baseoa.ctf".to_owned()])
        .output()
        .unwrap();
    let (said, errors) = (
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr),
    );
    println!("{said}");
    assert!(run.status.success(), "{said}{errors}");
}

#[test]
fn pages_have_at_most_fifty_kilobytes_compressed() {
    let (pages, _folder) = seasons(&[]);
    let mut paths = paths(&pages);
    paths.push("/regulars?ruleset=baseoa.ctf".to_owned());
    for path in paths {
        let (head, body) = compressed(&pages, &path);
        assert!(head.starts_with("http/1.1 200"), "{path}: {head}");
        assert!(body.len() <= MOST, "{path}: {} bytes", body.len());
    }
}

#[test]
fn the_lines_of_regulars_can_be_picked_out() {
    let (pages, _folder) = seasons(&[]);
    let all = json(&pages, "/v1/regulars?ruleset=baseoa.ctf&kind=bot");
    let list = all["regulars"].as_array().unwrap();
    assert_eq!(list.len(), 8, "one for each colour");
    let counts: Vec<i64> = list
        .iter()
        .map(|line| line["matches"].as_i64().unwrap())
        .collect();
    assert!(counts.is_sorted_by(|a, b| a >= b), "{counts:?}");
    let page = pages.get("/regulars?ruleset=baseoa.ctf&kind=bot").body;
    let third = list[2]["player"]["handle"].as_str().unwrap();
    let way = format!("/regulars?ruleset=baseoa.ctf&amp;kind=bot&amp;pick={third}");
    assert!(page.contains(&way), "{page}");
    // The third colour alone is left.
    let colours = |page: &str| {
        ["#101010", "#111111", "#121212"]
            .map(|colour| page.contains(&format!("stroke=\"{colour}\"")))
    };
    assert_eq!(colours(&page), [true; 3]);
    let picked = pages.get(&way.replace("&amp;", "&")).body;
    assert_eq!(colours(&picked), [false, false, true]);
    assert!(picked.contains("Show all in colour"));
    for wrong in ["/regulars", "/regulars?ruleset=none"] {
        assert_eq!(pages.get(wrong).status, 404, "{wrong}");
    }
    let long = format!("/regulars?ruleset=baseoa.ctf&pick={}", "a".repeat(201));
    assert_eq!(pages.get(&long).status, 400);
    assert!(!page.contains(SECRET) && !picked.contains(SECRET));
}

#[test]
fn a_player_sees_the_own_place_in_the_distribution() {
    let (pages, _folder) = seasons(&[]);
    let board = json(&pages, "/v1/leaderboards/baseoa.ctf?kind=bot");
    let steps = board["distribution"].as_array().unwrap();
    let share: f64 = steps
        .iter()
        .map(|step| step["share"].as_f64().unwrap())
        .sum();
    assert!((share - 1.0).abs() < 0.01, "{steps:?}");
    assert!(
        pages
            .get("/rulesets/baseoa.ctf?kind=bot")
            .body
            .contains("All players with a place")
    );
    let sarge = pages.get("/players/Sarge").body;
    assert!(sarge.contains("Sarge is in the other colour"), "{sarge}");
    assert_eq!(sarge.matches("fill=\"#050505\"").count(), 1);
    let (hidden, _folder) = seasons(&[("EVENKEEL_WEB_SHOW", "division")]);
    assert!(
        !hidden
            .get("/players/Sarge")
            .body
            .contains("in the other colour")
    );
    assert_eq!(hidden.get("/regulars?ruleset=baseoa.ctf").status, 404);
}

#[test]
fn a_match_shows_the_chance_over_its_time_and_a_fairer_exchange() {
    let (pages, _folder) = seasons(&[]);
    let matches = json(&pages, "/v1/matches?ruleset=baseoa.ctf");
    let games = matches["matches"].as_array().unwrap().iter();
    let games: Vec<Value> = games
        .map(|line| json(&pages, &format!("/v1/matches/{}", line["id"])))
        .collect();
    for game in &games {
        let course = game["chance_over_time"].as_array().unwrap();
        let first = course.first().unwrap()[1].as_f64().unwrap();
        assert!(
            (first - game["forecast"].as_f64().unwrap()).abs() < 0.002,
            "{game}"
        );
        let last = course.last().unwrap()[1].as_f64().unwrap();
        let ahead = game["scores"][0].as_f64() > game["scores"][1].as_f64();
        assert_eq!(last > 0.5, ahead, "{game}");
    }
    let fairer = games.iter().filter(|game| !game["fairest"].is_null());
    let mut count = 0;
    for game in fairer {
        count += 1;
        let (after, before) = (
            game["fairest"]["chance"].as_f64().unwrap(),
            game["forecast"].as_f64().unwrap(),
        );
        assert!((after - 0.5).abs() < (before - 0.5).abs(), "{game}");
        assert_eq!(game["fairest"]["players"].as_array().unwrap().len(), 2);
        let page = pages.get(&format!("/matches/{}", game["id"])).body;
        assert!(page.contains("Most even with one exchange: "), "{page}");
        assert!(page.contains("Chance of team 0 over time: "), "{page}");
    }
    assert!(
        count > 10,
        "random teams are rarely the most even ones: {count}"
    );
}

/// Whoever reads the pages may read the data. Other calls, other sites and tokens need `[api] enabled`.
#[test]
fn what_pages_show_is_below_v1_also_without_the_api() {
    let (pages, _folder) = seasons(&[]);
    for path in ["/v1/live", "/v1/rulesets", "/v1/openapi.json"] {
        let answer = pages.get(path);
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.field("access-control-allow-origin"), None);
        let tag = answer.field("etag").unwrap().replace("w/", "W/");
        let fields = format!("If-None-Match: {tag}\r\nAuthorization: Bearer wrong\r\n");
        assert_eq!(pages.request("GET", path, &fields).status, 304, "{path}");
    }
    for (method, path, status) in [
        ("POST", "/v1/matches", 405),
        ("POST", "/v1/teams", 404),
        ("GET", "/v1/pickups", 404),
        ("GET", "/v1/links/ann", 404),
        ("GET", "/teams", 404),
        ("GET", "/live.json", 404),
        ("GET", "/v1/live?colour=1", 400),
        ("GET", "/v1/players/Sarge?kind=cat", 400),
        ("GET", "/v1/maps/none", 404),
    ] {
        assert_eq!(pages.request(method, path, "").status, status, "{path}");
    }
    assert!(pages.get("/").body.contains("href=\"/v1/openapi.json\""));
}
