//! Matches that are reported over HTTP: durable, once each, rated, and void again.

use serde_json::{Value, json};

use super::{
    NONE,
    asked::{until, wait_for_weight},
};
use crate::common::{api::Api, backends::rows, process::evenkeel};

fn game(winner: u8) -> Value {
    json!({"ruleset": "futsal", "teams": [["ann", "bob"], ["cid", "dan"]], "winner": winner})
}

fn post(api: &Api, client: &str, body: &Value, key: &str) -> (u16, Value) {
    let key = match key {
        "" => String::new(),
        key => format!("Idempotency-Key: {key}\r\n"),
    };
    api.call_with(client, "POST", "/v1/matches", body, &key)
}

#[test]
fn a_result_without_a_game_server_is_rated() {
    let api = Api::start("");
    let (status, answer) = post(&api, "club", &game(0), "");
    assert_eq!((status, &answer["rated"]), (201, &json!(true)), "{answer}");
    let ann = wait_for_weight(&api, "ann");
    let cid = wait_for_weight(&api, "cid");
    assert!(ann["weight"].as_f64() > Some(50.0) && cid["weight"].as_f64() < Some(50.0));
    let (_, shown) = api.call(
        "",
        "GET",
        &format!("/v1/matches/{}", answer["match"]),
        &NONE,
    );
    assert_eq!(
        (&shown["untimed"], &shown["started"]),
        (&json!(true), &shown["ended"])
    );
    assert_eq!(
        (&shown["unrated"], &shown["server"]),
        (&NONE, &json!("club"))
    );
    // It is exported as it came, and is the same match when it is read back.
    let export = evenkeel(api.folder.path()).arg("export").output().unwrap();
    let line = String::from_utf8(export.stdout).unwrap();
    let object: Value = serde_json::from_str(&line).unwrap();
    assert!(
        object.get("end").is_none() && object["fingerprint"].is_string(),
        "{line}"
    );
    std::fs::write(api.folder.path().join("again.jsonl"), &line).unwrap();
    let read = evenkeel(api.folder.path())
        .args(["ingest", "again.jsonl"])
        .output()
        .unwrap();
    assert!(read.status.success(), "{read:?}");
    assert_eq!(api.matches(), 1);
}

#[test]
fn the_length_decides_only_where_it_is_known() {
    let api = Api::start("");
    let with = |more: Value| {
        let mut body = game(0);
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        post(&api, "club", &body, "")
    };
    let reason = |answer: (u16, Value)| answer.1["reason"].as_str().unwrap_or_default().to_owned();
    assert_eq!(reason(with(json!({"duration": 30}))), "too-short");
    assert_eq!(reason(with(json!({"duration": 600}))), "");
    let at = "2026-11-20T15:00:00Z";
    assert_eq!(
        reason(with(json!({"start": at, "end": "2026-11-20T15:00:30Z"}))),
        "too-short"
    );
    assert_eq!(reason(with(json!({"start": at}))), "");
    for (more, part) in [
        (json!({"start": "soon"}), "start: is not a date"),
        (json!({"start": "2999-01-01"}), "in the future"),
        (
            json!({"start": at, "end": "2026-11-20T14:00:00Z"}),
            "ends before it starts",
        ),
        (json!({"duration": -1}), "duration: must be"),
        (json!({"winner": 2}), "winner: there is no team 2"),
        (json!({"draw": true}), "draw: there is a winner"),
        (json!({"winner": null}), "state winner"),
        (json!({"scores": [1]}), "scores: must be one number"),
        (
            json!({"teams": [["ann"], ["ann"]]}),
            "teams[1][0].id: ann is there twice",
        ),
        (
            json!({"teams": [["ann"], ["000"]]}),
            "many players share this id",
        ),
        (json!({"teams": [["ann"]]}), "must be 2 to 8"),
        (
            json!({"teams": [["ann"], [{"id": "bob", "pts": 1}]]}),
            "unknown key \"pts\"",
        ),
        (json!({"players": []}), "either players or teams"),
        (json!({"colour": 1}), "unknown key \"colour\""),
        (json!({"id": 5}), "id: invalid type"),
    ] {
        let (status, answer) = with(more);
        assert_eq!(status, 400, "{answer}");
        assert!(
            answer["detail"].as_str().unwrap().contains(part),
            "{part}: {answer}"
        );
    }
    assert_eq!(api.matches(), 4);
}

#[test]
fn only_the_same_key_gets_the_first_answer() {
    let mut api = Api::start("");
    let id = |answer: &(u16, Value)| answer.1["match"].as_i64().unwrap();
    let plain = [
        post(&api, "club", &game(0), ""),
        post(&api, "club", &game(0), ""),
    ];
    assert_ne!(
        id(&plain[0]),
        id(&plain[1]),
        "two equal results are two matches"
    );
    let first = post(&api, "club", &game(0), "a");
    let mut own = game(1);
    own["id"] = json!("evening-3");
    let named = post(&api, "club", &own, "");
    let both = post(&api, "club", &own, "b");
    assert_eq!(both, named);
    let list = json!([game(0), game(1)]);
    let two = post(&api, "club", &list, "list");
    for round in 0..2 {
        assert_eq!(post(&api, "club", &game(0), "a"), first, "{round}");
        assert_eq!(post(&api, "club", &own, ""), named, "{round}");
        assert_eq!(post(&api, "club", &list, "list"), two, "{round}");
        for (body, key) in [
            (&game(1), "a"),
            (&game(1), "b"),
            (&json!([game(0)]), "list"),
        ] {
            let (status, answer) = post(&api, "club", body, key);
            assert_eq!(status, 422, "{answer}");
        }
        let mut other = own.clone();
        other["winner"] = json!(0);
        assert_eq!(post(&api, "club", &other, "").0, 422);
        api.kill_and_start();
    }
    // Keys are a client's own, and a key that was used for a refused body is free.
    assert_ne!(id(&post(&api, "other", &game(1), "a")), id(&first));
    assert_eq!(post(&api, "club", &json!({"teams": []}), "c").0, 400);
    assert_eq!(post(&api, "club", &game(0), "c").0, 201);
    assert_eq!(api.matches(), 8);
}

#[test]
fn all_matches_of_a_list_are_recorded_or_none() {
    let api = Api::start("");
    let mut list = vec![game(0); 20];
    list.push(json!({"ruleset": "futsal", "teams": [["ann"], ["bob"]], "winner": 7}));
    let (status, answer) = post(&api, "club", &json!(list), "");
    assert_eq!(status, 400);
    assert!(
        answer["detail"]
            .as_str()
            .unwrap()
            .starts_with("[20]: winner"),
        "{answer}"
    );
    assert_eq!(api.matches(), 0);
    list.pop();
    let (status, answer) = post(&api, "club", &json!(list), "");
    assert_eq!((status, answer.as_array().unwrap().len()), (201, 20));
    assert_eq!(post(&api, "club", &json!([]), "").0, 400);
    assert_eq!(post(&api, "club", &json!(vec![game(0); 101]), "").0, 400);
    assert_eq!(api.matches(), 20);
}

#[test]
fn a_match_in_the_interchange_format_keeps_what_it_states() {
    let api = Api::start("");
    let mut long = json!({"game": "futsal", "start": "2026-11-20T15:00:00Z", "end": "2026-11-20T15:10:00Z",
        "map": "hall", "scores": [3, 1], "events": [{"at": 5000, "team": 0, "points": 1, "by": 0}],
        "players": [{"id": "ann", "team": 0, "points": 3}, {"id": "bob", "team": 1, "left": "kicked"}]});
    let (status, answer) = post(&api, "club", &long, "");
    assert_eq!((status, &answer["rated"]), (201, &json!(true)), "{answer}");
    let (_, shown) = api.call(
        "",
        "GET",
        &format!("/v1/matches/{}", answer["match"]),
        &NONE,
    );
    assert_eq!(
        (&shown["map"], &shown["scores"]),
        (&json!("hall"), &json!([3.0, 1.0]))
    );
    assert_eq!(shown["teams"][1]["players"][0]["left"], "kicked");
    for (key, value, part) in [
        ("colour", json!(1), "unknown key \"colour\""),
        ("fingerprint", json!("00"), "fingerprint"),
        ("start", json!("soon"), "not a date"),
        ("scores", json!([1]), "number of teams"),
    ] {
        let mut wrong = long.clone();
        wrong[key] = value;
        let (status, answer) = post(&api, "club", &wrong, "");
        assert_eq!(status, 400, "{answer}");
        assert!(
            answer["detail"].as_str().unwrap().contains(part),
            "{answer}"
        );
    }
    for key in ["start", "end"] {
        long.as_object_mut().unwrap().remove(key);
    }
    let (_, answer) = post(&api, "club", &long, "");
    assert_eq!(answer["rated"], true, "{answer}");
}

#[test]
fn waiting_for_opponents_is_no_play() {
    let api = Api::start("");
    let stays = |team: u8, from: u64| json!([{"team": team, "from": from, "to": 1_200_000}]);
    let match_ = json!({"game": "futsal", "start": "2026-11-20T15:00:00Z", "end": "2026-11-20T15:20:00Z",
        "scores": [4, 0], "players": [{"id": "ann", "stays": stays(0, 0)}, {"id": "bob", "stays": stays(0, 720_000)},
        {"id": "cid", "stays": stays(1, 720_000)}, {"id": "dan", "stays": stays(1, 720_000)}]});
    let (status, answer) = post(&api, "club", &match_, "");
    assert_eq!((status, &answer["rated"]), (201, &json!(true)), "{answer}");
    let path = format!("/v1/matches/{}", answer["match"]);
    let (_, shown) = api.call("", "GET", &path, &NONE);
    assert_eq!(shown["started"], "2026-11-20T15:12:00Z");
    let [ann, bob] = ["ann", "bob"].map(|who| wait_for_weight(&api, who)["weight"].clone());
    assert_eq!(ann, bob);
    assert!(bob.as_f64() > Some(50.0), "{bob}");
    // Shares are from the start, so that the second half had no opponents.
    let short = json!({"ruleset": "futsal", "start": "2026-11-20T17:00:00Z", "duration": 600, "winner": 0,
        "teams": [[{"id": "ann"}], [{"id": "cid", "share": 0.5}, {"id": "dan", "share": 0.5}]]});
    let (_, answer) = post(&api, "club", &short, "");
    let path = format!("/v1/matches/{}", answer["match"]);
    let (_, shown) = api.call("", "GET", &path, &NONE);
    assert_eq!(
        (&shown["started"], &shown["ended"]),
        (
            &json!("2026-11-20T17:00:00Z"),
            &json!("2026-11-20T17:05:00Z")
        )
    );
    // Free for all needs no teams.
    let free = json!({"game": "baseoa.ffa", "start": "2026-11-20T16:00:00Z", "end": "2026-11-20T16:20:00Z",
        "players": [{"id": "ann", "points": 7}, {"id": "bob", "points": 3}]});
    let (_, answer) = post(&api, "club", &free, "");
    assert_eq!(answer["rated"], true, "{answer}");
}

#[test]
fn a_free_for_all_without_a_word_about_teams_is_rated() {
    let api = Api::start("");
    let player = |id: &str, points: u32| json!({"id": id, "points": points});
    let match_ = json!({"game": "t.ffa", "start": "2026-11-20T15:00:00Z", "end": "2026-11-20T15:10:00Z",
        "players": [player("ann", 20), player("bob", 12), player("cid", 3)]});
    let (status, answer) = post(&api, "club", &match_, "");
    assert_eq!((status, &answer["rated"]), (201, &json!(true)), "{answer}");
    let path = "/v1/ratings?ids=ann,cid&ruleset=t.ffa";
    let known = until(&api, path, |answer| answer["ratings"][1]["known"] == true);
    let [ann, cid] = [0, 1].map(|at| known["ratings"][at]["weight"].as_f64());
    assert!(ann > Some(50.0) && cid < Some(50.0), "{known}");
    // Who came late states so, and who waited alone waited.
    let mut late = match_.clone();
    late["start"] = json!("2026-11-20T16:00:00Z");
    late["end"] = json!("2026-11-20T16:20:00Z");
    for player in [1, 2] {
        late["players"][player]["stays"] = json!([{"from": 600_000, "to": 1_200_000}]);
    }
    let (status, answer) = post(&api, "club", &late, "");
    assert_eq!((status, &answer["rated"]), (201, &json!(true)), "{answer}");
    let path = format!("/v1/matches/{}", answer["match"]);
    let (_, shown) = api.call("", "GET", &path, &NONE);
    assert_eq!(shown["started"], "2026-11-20T16:10:00Z");
}

/// Nobody has said how it ended but who has won: no page and no row says 0:0.
#[tokio::test]
async fn a_score_that_nobody_has_stated_is_null() {
    let api = Api::start("");
    let draw = json!({"ruleset": "futsal", "teams": [["ann"], ["cid"]], "draw": true});
    let nil = json!({"ruleset": "futsal", "teams": [["ann"], ["cid"]], "scores": [0, 0]});
    let long = json!({"game": "futsal", "scores": [null, null], "outcome": "won", "winner": 0,
        "players": [{"id": "ann", "team": 0}, {"id": "cid", "team": 1}]});
    for body in [&game(0), &draw, &nil, &long] {
        let (status, answer) = post(&api, "club", body, "");
        assert_eq!(status, 201, "{answer}");
    }
    let play = "GAME arena\nJOIN ann team=0\nJOIN cid team=1\nSTART\nCLOCK 600\n";
    for end in ["END 1\n", "SCORE 0 2\nSCORE 1 2\nEND 1\n"] {
        let said = api
            .pages
            .daemon
            .ask(&format!("HELLO game-7 game-token\n{play}{end}"));
        assert!(said.contains("END "), "{said}");
    }
    let unknown = json!([null, null]);
    let (zero, two) = (json!([0.0, 0.0]), json!([2.0, 2.0]));
    let run = |words: &[&str]| {
        let output = evenkeel(api.folder.path()).args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let database = api.folder.path().join("evenkeel.db");
    let all: Vec<(i64, String, Option<f64>)> =
        rows(&database, "SELECT id, scores, gap FROM matches ORDER BY id").await;
    let expected = [
        ("-:-", None, &unknown),
        ("-:-", Some(0.0), &unknown),
        ("0:0", Some(0.0), &zero),
        ("-:-", None, &unknown),
        ("-:-", None, &unknown),
        ("2:2", None, &two),
    ];
    assert_eq!(all.len(), expected.len(), "{all:?}");
    for ((id, text, gap), (own, own_gap, scores)) in all.into_iter().zip(expected) {
        assert_eq!((text.as_str(), gap), (own, own_gap), "{id}");
        let (_, shown) = api.call("", "GET", &format!("/v1/matches/{id}"), &NONE);
        assert_eq!(shown["scores"], *scores, "{id}");
        assert_eq!(shown["teams"][0]["score"], scores[0], "{id}");
        let page = api.pages.get(&format!("/matches/{id}")).body;
        assert_eq!(
            page.contains("class=\"score\""),
            *scores != unknown,
            "{id}: {page}"
        );
        let shown = run(&["match", "show", &id.to_string()]);
        assert_eq!(
            shown.contains("\nno scores, "),
            *scores == unknown,
            "{shown}"
        );
    }
    let exported = run(&["export"]);
    assert_eq!(
        exported.matches(r#""scores":[null,null]"#).count(),
        4,
        "{exported}"
    );
    std::fs::write(api.folder.path().join("again.jsonl"), &exported).unwrap();
    let read = run(&["ingest", "again.jsonl", "--json"]);
    assert!(
        read.contains(r#""duplicates": 6"#) || read.contains(r#""duplicates":6"#),
        "{read}"
    );
}

/// Which client has brought each match, as the record, the row and the command say it, by the number of the match.
async fn clients(api: &Api) -> Vec<String> {
    let run = |words: &[&str]| {
        let output = evenkeel(api.folder.path()).args(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let database = api.folder.path().join("evenkeel.db");
    let all: Vec<(i64, String)> =
        rows(&database, "SELECT id, client FROM matches ORDER BY id").await;
    let exported = run(&["export"]);
    for (id, client) in &all {
        let id = id.to_string();
        let shown = run(&["match", "show", &id, "--json"]);
        let shown: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(shown["client"], **client, "{id}");
        let text = run(&["match", "show", &id]);
        assert!(text.contains(&format!("brought by {client}\n")), "{text}");
        let stated = format!(r#","client":"{client}","start""#);
        assert!(exported.contains(&stated), "{exported}");
    }
    all.into_iter().map(|(_, client)| client).collect()
}

#[tokio::test]
async fn each_match_says_which_client_has_brought_it() {
    let api = Api::start("");
    assert_eq!(post(&api, "club", &game(0), "").0, 201);
    let play = "GAME futsal\nJOIN ann team=0\nJOIN cid team=1\nSTART\nCLOCK 600\nSCORE 0 3\nEND\n";
    let said = api
        .pages
        .daemon
        .ask(&format!("HELLO game-7 game-token\n{play}"));
    assert!(said.contains("END "), "{said}");
    let line = |minute: u32, more: &str| {
        format!(
            r#"{{"evenkeel":1,{more}"start":"2026-11-20T20:{minute}:00Z","end":"2026-11-20T20:{}:00Z","game":"futsal","scores":[1,0],"players":[{{"id":"ann","team":0}},{{"id":"cid","team":1}}]}}"#,
            minute + 8
        ) + "\n"
    };
    let lines = line(10, "") + &line(20, r#""client":"game-9","#);
    std::fs::write(api.folder.path().join("more.jsonl"), lines).unwrap();
    let read = evenkeel(api.folder.path())
        .args(["ingest", "more.jsonl"])
        .output()
        .unwrap();
    assert!(read.status.success(), "{read:?}");
    assert_eq!(clients(&api).await, ["club", "game-7", "ingest", "game-9"]);
    // Whoever sends a match again has not brought it, whatever it states.
    let mut stated: Value = serde_json::from_str(&line(30, r#""client":"game-9","#)).unwrap();
    stated.as_object_mut().unwrap().remove("evenkeel");
    let (status, answer) = post(&api, "other", &stated, "");
    assert_eq!(status, 201, "{answer}");
    assert_eq!(clients(&api).await[4], "other");
}

/// A match is the same whoever brings it.
#[tokio::test]
async fn the_client_is_no_part_of_the_fingerprint() {
    let api = Api::start("");
    let run = |file: &str, client: &str| {
        let line = format!(
            r#"{{"evenkeel":1,"client":"{client}","start":"2026-11-20T20:10:00Z","end":"2026-11-20T20:20:00Z","game":"futsal","scores":[1,0],"players":[{{"id":"ann","team":0}},{{"id":"cid","team":1}}]}}"#
        );
        std::fs::write(api.folder.path().join(file), line + "\n").unwrap();
        let read = evenkeel(api.folder.path())
            .args(["ingest", file])
            .output()
            .unwrap();
        assert!(read.status.success(), "{read:?}");
    };
    run("one.jsonl", "one");
    run("two.jsonl", "two");
    assert_eq!(clients(&api).await, ["one"], "who came first");
}

#[test]
fn a_wrong_result_can_be_voided_by_who_may() {
    let api = Api::start("");
    let (_, answer) = post(&api, "club", &game(0), "k");
    let number = answer["match"].as_i64().unwrap();
    let void = |client: &str, what: &str| {
        api.call(
            client,
            "POST",
            &format!("/v1/matches/{number}/{what}"),
            &NONE,
        )
    };
    assert_eq!(void("other", "void").0, 403, "it is not its own");
    assert_eq!(
        void("club", "void"),
        (200, json!({"match": number, "void": true, "changed": true}))
    );
    assert_eq!(void("boss", "void").1["changed"], false);
    assert_eq!(void("boss", "unvoid").1["changed"], true);
    assert_eq!(
        api.call("boss", "POST", "/v1/matches/99/void", &NONE).0,
        404
    );
    assert_eq!(api.call("boss", "POST", "/v1/matches/x/void", &NONE).0, 404);
    // A corrected match is another one.
    assert_eq!(void("club", "void").0, 200);
    let (_, other) = post(&api, "club", &game(1), "k2");
    assert_ne!(other["match"], answer["match"]);
    let path = "/v1/ratings?ids=cid&ruleset=futsal";
    until(&api, path, |answer| {
        let cid = &answer["ratings"][0];
        cid["games"] == 1 && cid["weight"].as_f64() > Some(50.0)
    });
}

#[test]
fn behaviour_is_reported_as_by_lines() {
    let api = Api::start("");
    assert_eq!(post(&api, "club", &game(0), "").0, 201);
    let body = json!({"id": "ann", "points": -2});
    assert_eq!(
        api.call("club", "POST", "/v1/behaviour", &body),
        (204, NONE)
    );
    let shown = evenkeel(api.folder.path())
        .args(["player", "show", "ann"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(text.contains("club"), "{text} {shown:?}");
    let body = json!({"id": "ann", "points": 99});
    assert_eq!(api.call("club", "POST", "/v1/behaviour", &body).0, 400);
    let body = json!({"id": "ann", "points": 1, "why": "x"});
    assert_eq!(api.call("club", "POST", "/v1/behaviour", &body).0, 400);
}
