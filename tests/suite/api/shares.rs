//! What one client may bring and cost: the others, and the memory, do not suffer from it.

use std::{thread, time::Duration};

use serde_json::{Value, json};

use super::{
    NONE,
    asked::{until, wait_for_weight},
};
use crate::common::{
    api::Api,
    process::{ask, configured, line, poll, run},
};

/// A short match of these players, half of them on each team, with more keys.
fn game(players: &[String], more: Value) -> Value {
    let (one, other) = players.split_at(players.len() / 2);
    let mut game = json!({"ruleset": "futsal", "teams": [one, other], "winner": 0});
    let more = more.as_object().unwrap().clone();
    game.as_object_mut().unwrap().extend(more);
    game
}

fn names(numbers: std::ops::Range<u32>) -> Vec<String> {
    numbers.map(|number| format!("player-{number}")).collect()
}

fn post(api: &Api, client: &str, body: &Value) -> (u16, Value) {
    api.call(client, "POST", "/v1/matches", body)
}

/// Sends a request that must be refused with 429. Returns why, and the seconds of `Retry-After`.
fn refused(api: &Api, client: &str, body: &Value) -> (String, Option<u64>) {
    let head =
        format!("Authorization: Bearer {client}-token\r\nContent-Type: application/json\r\n");
    let answer = api.send("POST", "/v1/matches", &head, &body.to_string());
    let content = api.check("POST", "/v1/matches", &answer);
    assert_eq!(answer.status, 429, "{content}");
    let again = answer.field("retry-after");
    let why = content["detail"].as_str().unwrap().to_owned();
    (why, again.map(|seconds| seconds.parse().unwrap()))
}

/// A whole game of these players by the line. Returns the answer to END.
fn played(api: &Api, server: &str, game_type: &str, players: &[String]) -> String {
    let mut lines = format!("HELLO {server} game-token\nGAME {game_type}\n");
    for (at, player) in players.iter().enumerate() {
        lines.push_str(&format!("JOIN {player} team={}\n", at % 2));
    }
    lines.push_str("START\nPING\n");
    let mut stream = api.pages.daemon.connect();
    let mut said = ask(&mut stream, &lines);
    while said != "PONG" {
        assert!(!said.starts_with("ERROR"), "{said}");
        said = line(&mut stream);
    }
    // A game of no time is not rated.
    thread::sleep(Duration::from_millis(5));
    let mut said = ask(&mut stream, "SCORE 0 1\nEND\n");
    while !said.starts_with("END ") {
        assert!(!said.starts_with("ERROR"), "{said}");
        said = line(&mut stream);
    }
    said
}

const FEW: &str =
    "[limits]\nnew_players_per_hour = 8\nnew_rulesets_per_hour = 2\n[rating]\nmin_seconds = 0\n";

#[test]
fn over_http_nothing_is_stored_beyond_the_share_of_a_client() {
    let api = Api::start(FEW);
    let first = game(&names(0..4), json!({"id": "first"}));
    let (status, answer) = post(&api, "club", &first);
    assert_eq!((status, &answer["rated"]), (201, &json!(true)), "{answer}");
    assert_eq!(post(&api, "club", &game(&names(0..8), json!({}))).0, 201);
    let (why, again) = refused(&api, "club", &game(&names(6..10), json!({})));
    for part in ["client club", "8 players", "new_players_per_hour", "ingest"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    assert!(
        again.is_some_and(|again| (3_000..=3_600).contains(&again)),
        "{again:?}"
    );
    // A list is recorded as a whole or not at all.
    let list = json!([
        game(&names(0..4), json!({})),
        game(&names(6..10), json!({}))
    ]);
    refused(&api, "club", &list);
    let (why, again) = refused(&api, "other", &game(&names(20..30), json!({})));
    assert!(
        why.contains("send fewer at once") && again.is_none(),
        "{why}"
    );
    assert_eq!(api.matches(), 2);
    // Matches of known people, and what was answered before, are never refused; others have shares of their own.
    assert_eq!(post(&api, "club", &game(&names(0..8), json!({}))).0, 201);
    assert_eq!(post(&api, "club", &first), (201, answer));
    assert_eq!(post(&api, "other", &game(&names(20..28), json!({}))).0, 201);
    for ruleset in ["chess", "go"] {
        let new = game(&names(0..4), json!({"ruleset": ruleset}));
        let status = post(&api, "club", &new).0;
        assert_eq!(
            status,
            if ruleset == "chess" { 201 } else { 429 },
            "{ruleset}"
        );
    }
    let unrated = game(&names(50..60), json!({"duration": 0}));
    assert_eq!(
        post(&api, "club", &unrated).1["rated"],
        false,
        "it teaches nothing"
    );
}

#[test]
fn end_is_never_refused_and_an_operator_admits_what_was_too_much() {
    let api = Api::start(FEW);
    assert!(!played(&api, "game-1", "ctf", &names(0..6)).contains("unrated"));
    wait_for_weight_of(&api, "player-1", "ctf");
    let held = played(&api, "game-2", "ctf", &names(4..10));
    assert!(held.contains("unrated too-many-new"), "{held}");
    assert!(
        !played(&api, "game-3", "ctf", &names(0..6)).contains("unrated"),
        "known people"
    );
    assert!(
        !played(&api, "game-3", "ctf", &names(5..8)).contains("unrated"),
        "there is room"
    );
    let status = api.pages.get("/status.json").body;
    let status: Value = serde_json::from_str(&status).unwrap();
    let expected = json!([{"by": "client game-*", "matches": 1}]);
    assert_eq!(status["too_many_new"], expected);
    let warned = status["warnings"].to_string();
    assert!(warned.contains("admit --client 'game-*'"), "{warned}");
    let metrics = api.pages.get("/metrics").body;
    assert!(
        metrics.contains("\nevenkeel_matches_too_many_new_total 1\n"),
        "{metrics}"
    );

    // The mark is part of the record, and weights stay those of the matches.
    let folder = api.folder.path();
    let (_, lines, _) = run(folder, &["export"]);
    let marked: Vec<&str> = lines
        .lines()
        .filter(|line| line.contains("too_many_new"))
        .collect();
    assert!(
        marked.len() == 1 && marked[0].contains(r#""too_many_new":{"client":"game-*"}"#),
        "{lines}"
    );
    let other = configured("[rating]\nmin_seconds = 0\n");
    std::fs::write(other.path().join("all.jsonl"), &lines).unwrap();
    run(
        other.path(),
        &["ingest", "all.jsonl", "--config", "evenkeel.toml"],
    );
    for (one, copied) in lines.lines().zip(run(other.path(), &["export"]).1.lines()) {
        assert_eq!(one, copied);
    }
    let weights = |folder: &std::path::Path| run(folder, &["weights", "--game", "ctf", "--csv"]).1;
    assert_eq!(weights(other.path()), weights(folder));
    run(other.path(), &["rebuild", "--config", "evenkeel.toml"]);
    assert_eq!(weights(other.path()), weights(folder));
    assert!(!weights(folder).contains("player-9"));

    let (code, _, why) = run(folder, &["match", "admit", "--client", "game-2"]);
    assert!(
        code != 0 && why.contains("client game-* (1 match)"),
        "{why}"
    );
    for folder in [folder, other.path()] {
        let words = [
            "match",
            "admit",
            "--client",
            "game-*",
            "--config",
            "evenkeel.toml",
        ];
        let (code, said, why) = run(folder, &words);
        assert_eq!((code, said.as_str()), (0, "1 match counts now\n"), "{why}");
    }
    wait_for_weight_of(&api, "player-9", "ctf");
    assert_eq!(weights(other.path()), weights(folder));
    assert!(!run(folder, &["export"]).1.contains("too_many_new"));
    assert_eq!(
        run(folder, &["match", "admit", "--address", "10.0.0.7"]).0,
        4
    );
}

fn wait_for_weight_of(api: &Api, player: &str, ruleset: &str) {
    let path = format!("/v1/ratings?ids={player}&ruleset={ruleset}");
    until(api, &path, |answer| {
        answer.to_string().contains("\"known\":true")
    });
}

#[test]
fn thirty_matches_of_a_human_are_an_hour() {
    let api = Api::start("");
    let at = |hour: u32| json!({"start": format!("2026-11-20T{hour:02}:00:00Z"), "duration": 600});
    let four = names(0..4);
    let list = |count: usize, hour| Value::Array(vec![game(&four, at(hour)); count]);
    assert_eq!(post(&api, "club", &list(29, 10)).0, 201);
    let (why, again) = refused(&api, "club", &list(2, 10));
    for part in [
        "player-0",
        "30 matches",
        "2026-11-20T10:00:00Z",
        "`start`",
        "ingest",
    ] {
        assert!(why.contains(part), "{part}: {why}");
    }
    assert_eq!(again, None, "that hour never has room again");
    let last = game(
        &four,
        json!({"start": "2026-11-20T10:30:00Z", "duration": 60, "id": "last"}),
    );
    let (status, answer) = post(&api, "club", &last);
    assert_eq!(status, 201);
    assert_eq!(api.matches(), 30);
    refused(&api, "club", &list(1, 10));
    assert_eq!(post(&api, "club", &last), (201, answer), "a repetition");
    // Others, another hour, and another client.
    assert_eq!(post(&api, "club", &game(&names(8..12), at(10))).0, 201);
    assert_eq!(post(&api, "club", &list(1, 11)).0, 201);
    assert_eq!(post(&api, "other", &list(1, 10)).0, 201);
    // Without `start`, all are now.
    let now = Value::Array(vec![game(&four, json!({})); 31]);
    let (_, again) = refused(&api, "other", &now);
    assert!(
        again.is_some_and(|again| (1..=3_600).contains(&again)),
        "{again:?}"
    );
}

#[test]
fn a_start_of_the_daemon_forgets_no_hour() {
    let mut api = Api::start("");
    let at = json!({"start": "2026-11-20T10:00:00Z", "duration": 600});
    let all = Value::Array(vec![game(&names(0..4), at); 30]);
    assert_eq!(post(&api, "club", &all).0, 201);
    api.kill_and_start();
    refused(&api, "club", &all[0]);
    assert_eq!(api.matches(), 30);
}

#[test]
fn programs_report_no_match_of_last_year() {
    let old = json!({"start": "2020-11-20T10:00:00Z", "duration": 600});
    let api = Api::start("");
    let (status, answer) = post(&api, "club", &game(&names(0..4), old.clone()));
    let why = answer["detail"].as_str().unwrap();
    assert!(
        status == 400 && why.contains("365 days") && why.contains("ingest"),
        "{why}"
    );
    let list = json!([
        game(&names(0..4), json!({})),
        game(&names(0..4), old.clone())
    ]);
    let (status, answer) = post(&api, "club", &list);
    assert!(
        status == 400
            && answer["detail"]
                .as_str()
                .unwrap()
                .starts_with("[1]: start: "),
        "{answer}"
    );
    assert_eq!(api.matches(), 0);
    let api = Api::start("[api]\nenabled = true\noldest_match_days = 0\n");
    assert_eq!(post(&api, "club", &game(&names(0..4), old)).0, 201);
}

#[test]
fn what_a_client_has_brought_is_taken_out_and_in_again() {
    let api = Api::start("");
    let timed =
        |minute: u32| json!({"start": format!("2026-11-20T10:{minute:02}:00Z"), "duration": 60});
    assert_eq!(post(&api, "club", &game(&names(0..4), timed(0))).0, 201);
    wait_for_weight(&api, "player-0");
    let folder = api.folder.path();
    let weights = || run(folder, &["weights", "--game", "futsal", "--csv"]).1;
    let honest = weights();
    // The daemon learns a moment later.
    let settled = |is_so: &dyn Fn(&str) -> bool| {
        poll(|| {
            let weights = weights();
            is_so(&weights).then_some(()).ok_or(weights)
        });
    };
    for minute in [2, 4, 6] {
        // It says that it is the server of another client.
        let mut lie = json!({"game": "futsal", "server": "club", "scores": [0, 9],
            "players": [{"id": "player-0", "team": 0}, {"id": "player-9", "team": 1}]});
        let more = timed(minute).as_object().unwrap().clone();
        lie["start"] = more["start"].clone();
        lie["end"] = json!(format!("2026-11-20T10:{:02}:00Z", minute + 1));
        let (status, answer) = post(&api, "other", &lie);
        assert_eq!(status, 201, "{answer}");
    }
    settled(&|weights| weights != honest);
    let (code, said, why) = run(folder, &["match", "void", "--client", "other"]);
    assert_eq!((code, said.as_str()), (0, "3 matches are void\n"), "{why}");
    settled(&|weights| weights == honest);
    let since = [
        "match",
        "unvoid",
        "--client",
        "oth*",
        "--from",
        "2026-11-20",
    ];
    let (code, said, why) = run(folder, &since);
    assert_eq!(
        (code, said.as_str()),
        (0, "3 matches are valid again\n"),
        "{why}"
    );
    settled(&|weights| weights != honest);
    let (code, _, why) = run(
        folder,
        &["match", "void", "--client", "club", "--from", "2999-01-01"],
    );
    assert!(
        code == 4 && why.contains("client club has brought no match that came on 2999"),
        "{why}"
    );
    let (code, _, _) = run(
        folder,
        &["match", "void", "--client", "other", "--player", "player-0"],
    );
    assert_eq!(code, 2);
}

#[test]
fn two_places_at_once_are_one_and_two_clients_who_say_so_are_named() {
    let api = Api::start("");
    let timed =
        |second: u32| json!({"start": format!("2026-11-20T10:00:{second:02}Z"), "duration": 900});
    let lie = |number: u32| {
        let players = ["victim".to_owned(), format!("accomplice-{number}")];
        game(&players, timed(number))
    };
    let lies: Vec<Value> = (0..30).map(lie).collect();
    assert_eq!(post(&api, "other", &Value::Array(lies)).0, 201);
    until(&api, "/v1/ratings?ids=victim&ruleset=futsal", |answer| {
        answer.to_string().contains("\"games\":1")
    });
    let folder = api.folder.path();
    assert_eq!(run(folder, &["player", "suspects"]).0, 0);
    let (_, none, _) = run(folder, &["player", "suspects", "--json"]);
    assert_eq!(none.trim(), "[]");
    let honest = game(&["victim".to_owned(), "friend".to_owned()], timed(40));
    assert_eq!(post(&api, "club", &honest).1["rated"], true);
    let (_, found, _) = run(folder, &["player", "suspects", "--json"]);
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found[0]["id"], "victim", "{found}");
    assert_eq!(found[0]["clients"], json!(["club", "other"]));
    let (_, table, _) = run(folder, &["player", "suspects"]);
    assert!(table.contains("club and other say"), "{table}");
    let (_, shown) = api.call("", "GET", "/v1/matches?limit=200", &NONE);
    assert!(
        !shown.to_string().contains("two-places"),
        "the others are rated"
    );
}
