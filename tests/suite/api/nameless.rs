//! Players without a name, as pages, feeds and `/v1` show them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{NONE, asked::until};
use crate::common::{api::Api, process::poll};

const NAMER: &str =
    "[[clients]]\nname = 'namer'\ntoken = 'namer-token'\nrights = ['report']\nids = 'names'\n";
/// Identities that nobody may see.
const SECRET: [&str; 6] = [
    "0123456789abcdef0123456789abcdef",
    "secret-ann",
    "123456789012345",
    "d-123456789012345",
    "76561198000000001",
    "secret-eve",
];

fn report(api: &Api, client: &str, body: Value) {
    let (status, answer) = api.call(client, "POST", "/v1/matches", &body);
    assert_eq!(status, 201, "{answer}");
}

#[test]
fn an_identity_is_shown_only_where_it_is_a_name() {
    let api = Api::start(NAMER);
    let [guid, ann, number, prefixed, steam, eve] = SECRET;
    // One minute each, so that every match is a page of its own.
    let game =
        |teams: Value| json!({"ruleset": "futsal", "winner": 0, "duration": 600, "teams": teams});
    report(&api, "club", game(json!([[{"id": ann}], ["bob"]])));
    report(
        &api,
        "club",
        game(json!([[guid], [{"id": prefixed, "name": "Pre"}]])),
    );
    report(
        &api,
        "namer",
        game(json!([[{"id": "cid"}], [{"id": number}]])),
    );
    report(
        &api,
        "namer",
        game(json!([[{"id": prefixed}], [{"id": steam}]])),
    );
    let long = |players: Value| {
        json!({"game": "futsal", "start": "2026-11-20T20:00:00Z", "end": "2026-11-20T20:10:00Z",
               "scores": [1, 0], "players": players})
    };
    report(
        &api,
        "club",
        long(json!([{"id": eve, "team": 0}, {"id": "dan", "name": "Dan", "team": 1}])),
    );
    report(
        &api,
        "namer",
        long(json!([{"id": "fay", "team": 0}, {"id": steam, "team": 1}])),
    );
    let board = until(&api, "/v1/leaderboards/futsal", |board| {
        board["players"] == 10
    });
    let mut shown = BTreeSet::new();
    for row in board["rows"].as_array().unwrap() {
        let (handle, name) = (&row["player"]["handle"], &row["player"]["name"]);
        let (handle, name) = (handle.as_str().unwrap(), name.as_str().unwrap());
        match name.strip_prefix("player ") {
            Some(digits) => {
                assert!(digits.len() >= 4 && handle.starts_with(digits), "{row}");
                assert!(shown.insert("player".to_owned() + digits), "{row}");
            }
            None => assert!(shown.insert(name.to_owned()), "{row}"),
        }
    }
    let names: Vec<&str> = shown.iter().map(String::as_str).collect();
    let named = names.iter().filter(|name| !name.starts_with("player"));
    let named: Vec<&&str> = named.collect();
    assert_eq!(named, [&"Dan", &"Pre", &"bob", &"cid", &"fay"]);
    assert_eq!(names.len(), 10);
    let handle = board["rows"][0]["player"]["handle"].as_str().unwrap();
    let mut paths: Vec<String> = ["/v1/matches", "/v1/live", "/v1/leaderboards/futsal"]
        .map(str::to_owned)
        .into();
    paths.push(format!("/v1/players/{handle}"));
    paths.extend((1..=6).map(|id| format!("/v1/matches/{id}")));
    for path in &paths {
        // A page of a player is there a moment after the leaderboard.
        let answer = poll(|| match api.call("", "GET", path, &NONE) {
            (200, answer) => Ok(answer),
            (_, problem) => Err(problem),
        });
        for secret in SECRET {
            assert!(!answer.to_string().contains(secret), "{path}: {answer}");
        }
    }
    let pages = [
        "/",
        "/rulesets/futsal",
        "/matches",
        "/matches.atom",
        "/balance?ruleset=futsal",
    ];
    let pages = pages.map(str::to_owned).into_iter();
    let matches = (1..=6).map(|id| format!("/matches/{id}"));
    for path in pages.chain(matches).chain([format!("/players/{handle}")]) {
        let page = api.pages.get(&path).body;
        for secret in SECRET {
            assert!(!page.contains(secret), "{path}: {page}");
        }
    }
    let first = api.pages.get("/matches/1").body;
    assert!(
        first.contains(">player ") && first.contains(">bob<"),
        "{first}"
    );
    // A part of an identity finds nobody, and the handle does.
    for part in ["secret", "0123456", "player"] {
        let (_, found) = api.call("", "GET", &format!("/v1/players?q={part}"), &NONE);
        assert_eq!(found["players"], json!([]), "{part}");
    }
}
