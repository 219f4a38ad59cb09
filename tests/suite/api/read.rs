//! What programs read: as the pages show it, in parts.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{NONE, asked::until};
use crate::common::api::Api;

fn get(api: &Api, path: &str) -> Value {
    let (status, answer) = api.call("", "GET", path, &NONE);
    assert_eq!(status, 200, "{path}: {answer}");
    answer
}

#[test]
fn lists_come_in_parts_without_gaps_and_doubles() {
    let api = Api::start("");
    let game = |n: usize| {
        json!({"ruleset": "futsal", "winner": 0, "duration": 600,
        "start": format!("2026-11-20T{:02}:{:02}:00Z", n / 60, n % 60),
        "teams": [[format!("p{n:02}")], [format!("p{:02}", (n + 1) % 40)]]})
    };
    let list: Vec<Value> = (0..40).map(game).collect();
    assert_eq!(api.call("club", "POST", "/v1/matches", &json!(list)).0, 201);
    until(&api, "/v1/leaderboards/futsal", |board| {
        board["players"] == 40
    });
    for path in [
        "/v1/matches?limit=7",
        "/v1/matches?limit=7&ruleset=futsal",
        "/v1/leaderboards/futsal?limit=7",
        "/v1/leaderboards/futsal?limit=7&q=p&kind=human",
    ] {
        let (mut seen, mut cursor) = (BTreeSet::new(), String::new());
        let mut last = None;
        loop {
            let part = get(&api, &format!("{path}{cursor}"));
            let entries = part["matches"]
                .as_array()
                .or_else(|| part["rows"].as_array())
                .unwrap()
                .clone();
            for entry in entries {
                let key = match entry["player"]["handle"].as_str() {
                    Some(handle) => handle.to_owned(),
                    None => {
                        let at = entry["ended"].as_str().unwrap().to_owned();
                        assert!(last.as_ref().is_none_or(|last| *last > at), "{path}");
                        last = Some(at);
                        entry["id"].to_string()
                    }
                };
                assert!(seen.insert(key.clone()), "{path}: {key} twice");
            }
            match part["next"].as_i64() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(seen.len(), 40, "{path}");
    }
    for path in [
        "/v1/matches?limit=0",
        "/v1/matches?limit=201",
        "/v1/matches?limit=x",
        "/v1/matches?colour=1",
        "/v1/leaderboards/futsal?cursor=-1",
        "/v1/leaderboards/futsal?kind=cat",
        "/v1/players",
        "/v1/ratings?ids=&ruleset=futsal",
        "/v1/ratings?ids=ann",
    ] {
        assert_eq!(api.call("", "GET", path, &NONE).0, 400, "{path}");
    }
    for path in [
        "/v1/matches/99",
        "/v1/matches/x",
        "/v1/players/nobody",
        "/v1/leaderboards/none",
    ] {
        assert_eq!(api.call("", "GET", path, &NONE).0, 404, "{path}");
    }
}

#[test]
fn a_player_is_found_by_name_and_known_by_handle_everywhere() {
    let api = Api::start("");
    let guid = "0123456789ABCDEF0123456789ABCDEF";
    let game = json!({"ruleset": "futsal", "winner": 0,
        "teams": [[{"id": guid, "name": "Ann", "points": 5}], ["bob"]]});
    assert_eq!(api.call("club", "POST", "/v1/matches", &game).0, 201);
    until(&api, "/v1/leaderboards/futsal", |board| {
        board["players"] == 2
    });
    let found = get(&api, "/v1/leaderboards/futsal?q=an");
    let handle = found["rows"][0]["player"]["handle"]
        .as_str()
        .unwrap()
        .to_owned();
    // The rows by which a player is found in all rulesets are written a moment after the leaderboard has them.
    let found = until(&api, "/v1/players?q=ann", |found| {
        found["players"][0].is_object()
    });
    assert_eq!(
        found["players"][0]["player"],
        json!({"handle": handle, "name": "Ann", "bot": false})
    );
    assert_eq!(found["players"][0]["ruleset"], "futsal");
    assert_eq!(
        get(&api, "/v1/players?q=0123456")["players"],
        json!([]),
        "an identity is a secret"
    );
    let player = get(&api, &format!("/v1/players/{handle}"));
    assert_eq!(player["standings"][0]["ruleset"], "futsal");
    let by = |id: &str| get(&api, &format!("/v1/ratings?ids={id},new&ruleset=Futsal"));
    assert_eq!(
        by(&handle)["ratings"][0]["weight"],
        by(guid)["ratings"][0]["weight"]
    );
    assert_eq!(by(guid)["ratings"][1]["known"], false);
    for path in [
        "/v1/live",
        "/v1/matches",
        "/v1/players?q=ann",
        &format!("/v1/players/{handle}"),
        "/v1/matches/1",
    ] {
        assert!(!get(&api, path).to_string().contains(guid), "{path}");
    }
    // The handle stands for the player in questions and in reports, too.
    let ask = |id: &str| {
        let body = json!({"ruleset": "futsal", "seed": 1, "players": [{"id": id}, {"id": "bob"}]});
        api.call("asker", "POST", "/v1/teams", &body).1
    };
    let (one, other) = (ask(&handle), ask(guid));
    assert_eq!(one.to_string().replace(&handle, guid), other.to_string());
    let body = json!({"ruleset": "futsal", "players": [{"id": handle}, {"id": guid}]});
    assert_eq!(
        api.call("asker", "POST", "/v1/teams", &body).0,
        400,
        "it is one player"
    );
    let game = json!({"ruleset": "futsal", "winner": 0, "teams": [[handle], ["bob"]]});
    assert_eq!(api.call("club", "POST", "/v1/matches", &game).0, 201);
    let path = format!("/v1/players/{handle}");
    until(&api, &path, |player| player["standings"][0]["games"] == 2);
}

#[test]
fn running_games_and_the_contract_are_read() {
    let api = Api::start("");
    let mut game = api.pages.daemon.connect();
    let lines = "HELLO all all-token\nGAME ctf\nJOIN ann team=0\nJOIN bob team=1\nSTART\nPING\n";
    std::io::Write::write_all(game.get_mut(), lines.as_bytes()).unwrap();
    while crate::common::process::line(&mut game) != "PONG" {}
    let live = get(&api, "/v1/live");
    assert_eq!(
        (&live["running"], &live["games"][0]["server"]),
        (&json!(1), &json!("all"))
    );
    let contract = get(&api, "/v1/openapi.json");
    assert_eq!(contract["openapi"], "3.1.0");
    // Every example of a path in the documentation is in the contract, and the other way round.
    let page = include_str!("../../../docs/reference/http.md");
    for (method, path) in api.operations() {
        assert!(
            page.contains(&format!("`{method} {path}`")),
            "{method} {path} is not documented"
        );
    }
    let shown = page.split('`').filter_map(|code| code.split_once(" /v1/"));
    let words = ["GET", "POST", "PUT", "DELETE"];
    for (method, rest) in shown.filter(|(method, _)| words.contains(method)) {
        let path = format!("/v1/{}", rest.split(['?', ' ']).next().unwrap());
        let known = api
            .operations()
            .contains(&(method.to_owned(), path.clone()));
        assert!(known, "{method} {path} does not exist");
    }
}
