//! What is refused: wrong tokens, missing rights, other sites' pages, wrong bodies, too much.

use serde_json::{Value, json};

use super::NONE;
use crate::common::api::Api;

fn code(answer: &(u16, Value)) -> (u16, &str) {
    (answer.0, answer.1["code"].as_str().unwrap_or_default())
}

#[test]
fn each_call_needs_its_right() {
    let api = Api::start("");
    let teams = json!({"ruleset": "futsal", "players": [{"id": "ann"}, {"id": "bob"}]});
    let game = json!({"ruleset": "futsal", "players": [{"id": "ann", "team": 0}, {"id": "bob"}]});
    let result = json!({"ruleset": "futsal", "teams": [["ann"], ["bob"]], "winner": 0});
    let ticket = "/v1/queues/q/tickets/t";
    for (method, path, body, right) in [
        ("POST", "/v1/teams", &teams, "asker"),
        ("POST", "/v1/teams/place", &game, "asker"),
        ("POST", "/v1/teams/rebalance", &game, "asker"),
        ("POST", "/v1/matches", &result, "club"),
        (
            "POST",
            "/v1/behaviour",
            &json!({"id": "ann", "points": -1}),
            "club",
        ),
        ("POST", "/v1/matches/99/void", &NONE, "boss"),
        ("GET", ticket, &NONE, "lobby"),
        ("DELETE", ticket, &NONE, "lobby"),
        ("PUT", ticket, &json!({"players": []}), "lobby"),
    ] {
        let nobody = api.call("", method, path, body);
        assert_eq!(code(&nobody), (401, "not-allowed"), "{method} {path}");
        for client in ["asker", "club", "other", "lobby", "boss"] {
            let allowed = client == right
                || client == "club" && right == "asker"
                || client == "other" && right == "club"
                || ["club", "other"].contains(&client) && path.ends_with("void");
            let answer = api.call(client, method, path, body);
            let refused = answer.1["detail"]
                .as_str()
                .is_some_and(|why| why.contains("needs the right"));
            assert_eq!(refused, !allowed, "{client} {method} {path}: {answer:?}");
            assert_eq!(
                answer.0 == 403,
                !allowed,
                "{client} {method} {path}: {answer:?}"
            );
        }
    }
    // A wrong token is refused everywhere, and soon its sender has to wait.
    let wrong = |token: &str| {
        let head = format!("Authorization: {token}\r\n");
        api.send("GET", "/v1/live", &head, "").status
    };
    for token in [
        "Bearer asker",
        "Bearer ",
        "Basic YTpi",
        "asker-token",
        "Bearer \u{e9}",
    ] {
        assert_eq!(wrong(token), 401, "{token}");
    }
    assert_eq!(
        wrong("bearer asker-token"),
        200,
        "a right one does not wait"
    );
}

#[test]
fn pages_of_other_sites_can_send_nothing() {
    let toml = "[api]\nenabled = true\norigins = ['https://club.example']\n";
    let api = Api::start(toml);
    let body = r#"{"ruleset":"futsal","players":[{"id":"ann"}]}"#;
    let fields = "Authorization: Bearer asker-token\r\nContent-Type: application/json\r\n";
    let own = format!("Origin: http://{}\r\n", api.pages.address);
    for (more, status) in [
        ("", 200),
        (own.as_str(), 200),
        ("Origin: https://club.example\r\n", 200),
        ("Origin: https://evil.example\r\n", 403),
        ("Origin: http://club.example\r\n", 403),
        ("Origin: null\r\n", 403),
        ("Host: club.example\r\n", 200),
        ("Host: evil.example\r\n", 403),
        ("Host: 127.0.0.1.evil.example\r\n", 403),
    ] {
        let answer = api.send("POST", "/v1/teams", &format!("{fields}{more}"), body);
        api.check("POST", "/v1/teams", &answer);
        assert_eq!(answer.status, status, "{more} {}", answer.body);
    }
    let allowed = |method: &str, origin: &str| {
        let answer = api.send(method, "/v1/live", &format!("Origin: {origin}\r\n"), "");
        let allowed = answer
            .field("access-control-allow-origin")
            .map(str::to_owned);
        (answer.status, allowed.unwrap_or_default())
    };
    let site = "https://club.example";
    assert_eq!(allowed("GET", "https://evil.example"), (200, "*".into()));
    assert_eq!(allowed("GET", site), (200, site.into()));
    assert_eq!(allowed("OPTIONS", site), (204, site.into()));
    assert_eq!(allowed("OPTIONS", "https://evil.example").0, 403);
}

#[test]
fn what_is_wrong_with_a_body_is_named() {
    let api = Api::start("");
    let refused = |body: Value, part: &str| {
        let (status, answer) = api.call("all", "POST", "/v1/teams", &body);
        assert_eq!(
            (status, &answer["code"]),
            (400, &json!("bad-argument")),
            "{body} {answer}"
        );
        assert!(
            answer["detail"].as_str().unwrap().contains(part),
            "{body} {answer}"
        );
    };
    let players = |more: Value| json!({"ruleset": "futsal", "players": [{"id": "ann"}, more]});
    refused(
        players(json!({"id": "ann"})),
        "players[1].id: ann is there twice",
    );
    refused(
        players(json!({"id": "bob", "colour": 1})),
        "players[1].colour: unknown key \"colour\"",
    );
    refused(
        players(json!({"id": "bob", "wish": 2})),
        "players[1]: there is no team 2",
    );
    refused(
        players(json!({"id": "bob", "weight": -1})),
        "players[1].weight: must be a finite number of at least 0, not -1",
    );
    refused(
        players(json!({"id": "bob", "pin": 2})),
        "players[1]: there is no team 2",
    );
    refused(
        players(json!({"id": ""})),
        "players[1].id: must not be empty",
    );
    refused(players(json!({"id": "a\u{7}"})), "control characters");
    refused(players(json!({"weight": 5})), "missing field \"id\"");
    refused(
        json!({"ruleset": "futsal", "players": []}),
        "there is nobody",
    );
    refused(
        json!({"players": [{"id": "ann"}]}),
        "missing field \"ruleset\"",
    );
    for (key, value, part) in [
        ("teams", json!(9), "the number of teams cannot be 9"),
        ("teams", json!(300), "teams: invalid value"),
        ("seed", json!(-1), "seed: invalid value"),
        ("seed", json!(1u64 << 60), "seed: must be 0 to"),
        ("top", json!(0), "top must be 1"),
        ("max_difference", json!("none"), "max_difference: must be"),
        ("scores", json!([1]), "not for this question"),
    ] {
        let mut body = json!({"ruleset": "futsal", "players": [{"id": "ann"}, {"id": "bob"}]});
        body[key] = value;
        refused(body, part);
    }
    let many: Vec<Value> = (0..10_000)
        .map(|n| json!({"id": format!("p{n}")}))
        .collect();
    let many = api.call(
        "all",
        "POST",
        "/v1/teams",
        &json!({"ruleset": "x", "players": many}),
    );
    assert_eq!(code(&many), (400, "roster-full"));
    let token = "Authorization: Bearer all-token\r\n";
    let kind = "Content-Type: application/json\r\n";
    let json = format!("{token}{kind}");
    for (fields, body, status) in [
        (token.to_owned(), "{}".to_owned(), 415),
        (
            format!("{token}Content-Type: text/plain\r\n"),
            "{}".to_owned(),
            415,
        ),
        (json.clone(), "{".to_owned(), 400),
        (json.clone(), String::new(), 400),
        (json.clone(), "{} {}".to_owned(), 400),
        (json.clone(), "[".repeat(100_000), 400),
        (json.clone(), "x".repeat(300_000), 413),
        (
            json,
            format!("{{\"ruleset\":{}}}", "9".repeat(100_000)),
            400,
        ),
    ] {
        let answer = api.send("POST", "/v1/teams", &fields, &body);
        api.check("POST", "/v1/teams", &answer);
        assert_eq!(answer.status, status, "{}", answer.body);
    }
    assert_eq!(api.call("all", "PATCH", "/v1/teams", &NONE).0, 405);
    assert_eq!(api.call("all", "GET", "/v1/nothing", &NONE).0, 404);
    let long = format!("/v1/players?q={}", "x".repeat(3_000));
    assert_eq!(
        code(&api.call("all", "GET", &long, &NONE)),
        (414, "too-long")
    );
}

#[test]
fn limits_are_those_of_the_client_on_the_line() {
    let api = Api::start("[limits]\ndecisions_per_second = 1\ndecisions_burst = 3\n");
    let said = api
        .pages
        .daemon
        .ask("HELLO asker asker-token\nGAME futsal\nJOIN ann\nJOIN bob\nBALANCE\nBALANCE\n");
    assert_eq!(said.matches("BALANCE ").count(), 2, "{said}");
    let body = json!({"ruleset": "futsal", "players": [{"id": "ann"}, {"id": "bob"}]});
    let ask = || api.call("asker", "POST", "/v1/teams", &body);
    assert_eq!(ask().0, 200, "the third of three");
    let refused = (0..200).map(|_| ask()).find(|answer| answer.0 != 200);
    assert_eq!(code(&refused.unwrap()), (429, "overloaded"));
    // Another client has its own.
    assert_eq!(api.call("club", "POST", "/v1/teams", &body).0, 200);
}
