//! Pick-up matches over HTTP, as the people who play them would tell it.

use serde_json::{Value, json};

use super::{NONE, asked::until};
use crate::common::api::Api;

const FOUR: [&str; 4] = ["ann", "bob", "cid", "dan"];

fn ask(players: &[&str]) -> Value {
    let players: Vec<Value> = players.iter().map(|id| json!({ "id": id })).collect();
    json!({"channel": "hall", "names": {"ann": "Ann Ω"}, "game": {"ruleset": "futsal", "players": players}})
}

/// A pick-up match of these players.
fn pick(api: &Api, id: &str, players: &[&str]) -> Value {
    let made = api.call("club", "PUT", &path(id, ""), &ask(players));
    assert_eq!(
        (made.0, &made.1["state"]),
        (200, &json!("picked")),
        "{made:?}"
    );
    made.1
}

fn path(id: &str, what: &str) -> String {
    format!("/v1/pickups/{id}{what}")
}

fn post(api: &Api, id: &str, what: &str, body: &Value) -> (u16, Value) {
    api.call("club", "POST", &path(id, what), body)
}

/// A pick-up match that is played. Returns the teams.
fn play(api: &Api, id: &str, players: &[&str]) -> Vec<Vec<String>> {
    pick(api, id, players);
    let started = post(api, id, "/start", &json!({"place": 0}));
    assert_eq!(
        (started.0, &started.1["state"]),
        (200, &json!("playing")),
        "{started:?}"
    );
    teams(&started.1)
}

fn teams(pickup: &Value) -> Vec<Vec<String>> {
    let ids = |team: &Value| {
        let players = team["players"].as_array().unwrap().iter();
        players
            .map(|player| player["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let teams = pickup["picked"]["teams"].as_array().unwrap();
    teams.iter().map(ids).collect()
}

fn won(by: &str, team: u8) -> Value {
    json!({"by": by, "winner": team})
}

#[test]
fn we_played_and_both_captains_said_who_won() {
    let api = Api::start("");
    let teams = play(&api, "one", &FOUR);
    let said = post(&api, "one", "/result", &won(&teams[0][0], 0));
    assert_eq!(
        (said.0, &said.1["state"], &said.1["match"]),
        (200, &json!("playing"), &NONE)
    );
    let done = post(&api, "one", "/result", &won(&teams[1][0], 0)).1;
    assert_eq!(
        (&done["state"], &done["rated"]),
        (&json!("recorded"), &json!(true)),
        "{done}"
    );
    assert_eq!(done["result"], json!({"outcome": "won", "winner": 0}));
    let game = api
        .call("", "GET", &format!("/v1/matches/{}", done["match"]), &NONE)
        .1;
    assert!(game.to_string().contains("Ann Ω"), "{game}");
    assert!(game["reasons"].is_object(), "why these teams: {game}");
}

#[test]
fn we_all_pressed_the_button_and_it_counted_once() {
    let api = Api::start("");
    let teams = play(&api, "one", &FOUR);
    for player in teams.concat().iter().chain(&teams.concat()) {
        let said = post(&api, "one", "/result", &won(player, 1));
        assert_eq!(said.0, 200, "{said:?}");
    }
    assert_eq!(api.matches(), 1);
    let other = post(&api, "one", "/result", &won(&teams[0][0], 0));
    assert_eq!(other.0, 409, "{other:?}");
}

#[test]
fn the_daemon_died_between_the_two_clicks() {
    let mut api = Api::start("");
    let teams = play(&api, "one", &FOUR);
    post(&api, "one", "/result", &won(&teams[0][1], 1));
    api.kill_and_start();
    let done = post(&api, "one", "/result", &won(&teams[1][1], 1)).1;
    assert_eq!(done["state"], "recorded", "{done}");
    api.kill_and_start();
    let same = post(&api, "one", "/result", &won(&teams[1][1], 1)).1;
    assert_eq!((&same["match"], api.matches()), (&done["match"], 1));
    assert_eq!(api.call("club", "GET", &path("one", ""), &NONE).1, same);
}

#[test]
fn the_bot_asked_twice_and_we_still_had_the_same_teams() {
    let api = Api::start("");
    let first = pick(&api, "one", &FOUR);
    assert_eq!(pick(&api, "one", &FOUR), first);
    let other = api.call("club", "PUT", &path("one", ""), &ask(&FOUR[..2]));
    assert_eq!(other.0, 422, "{other:?}");
    assert!(
        first["picked"]["why"].as_array().unwrap().len() > 1,
        "{first}"
    );
    assert!(first["picked"]["decision"].is_i64(), "{first}");
}

#[test]
fn we_wanted_other_teams_and_two_of_us_clicked() {
    let api = Api::start("");
    let first = pick(&api, "one", &FOUR);
    let again = post(&api, "one", "/again", &json!({"place": 0})).1;
    assert_eq!(
        (&again["place"], &again["state"]),
        (&json!(1), &json!("picked")),
        "{again}"
    );
    assert_ne!(teams(&again), teams(&first));
    assert_eq!(post(&api, "one", "/again", &json!({"place": 0})).1, again);
    let old = post(&api, "one", "/start", &json!({"place": 0}));
    assert_eq!(old.0, 409, "{old:?}");
    for _ in 0..2 {
        assert_eq!(post(&api, "one", "/start", &json!({"place": 1})).0, 200);
    }
    assert_eq!(post(&api, "one", "/again", &json!({"place": 1})).0, 409);
}

#[test]
fn my_friend_was_picked_while_still_playing_elsewhere() {
    let api = Api::start("");
    let teams = play(&api, "one", &FOUR);
    pick(&api, "two", &["dan", "eve"]);
    let busy = post(&api, "two", "/start", &json!({"place": 0}));
    assert_eq!(busy.0, 409, "{busy:?}");
    assert!(
        busy.1["detail"].as_str().unwrap().starts_with("dan plays"),
        "{busy:?}"
    );
    let org = json!({"by": "org", "organiser": true, "draw": true});
    assert_eq!(post(&api, "one", "/result", &org).1["state"], "recorded");
    assert_eq!(post(&api, "two", "/start", &json!({"place": 0})).0, 200);
    assert_eq!(teams.concat().len(), 4);
}

#[test]
fn a_spectator_tried_to_report_our_game() {
    let api = Api::start("");
    play(&api, "one", &FOUR);
    assert_eq!(post(&api, "one", "/result", &won("eve", 0)).0, 403);
    let wrong = [
        won("ann", 2),
        json!({"by": "ann"}),
        json!({"by": "ann", "winner": 0, "draw": true}),
        json!({"by": "", "winner": 0}),
        json!({"by": "ann", "winner": 0, "score": 3}),
    ];
    for body in wrong {
        assert_eq!(post(&api, "one", "/result", &body).0, 400, "{body}");
    }
    assert_eq!(api.call("other", "GET", &path("one", ""), &NONE).0, 403);
    assert_eq!(
        api.call("all", "GET", &path("one", ""), &NONE).0,
        404,
        "it is another client's"
    );
    assert_eq!(api.matches(), 0);
}

#[test]
fn both_of_us_reported_the_wrong_side_and_the_organiser_put_it_right() {
    let api = Api::start("");
    let teams = play(&api, "one", &FOUR);
    for team in &teams {
        post(&api, "one", "/result", &won(&team[0], 0));
    }
    let by = &teams[0][0];
    assert_eq!(post(&api, "one", "/void", &json!({ "by": by })).0, 409);
    let org = json!({"by": "org", "organiser": true});
    let void = post(&api, "one", "/void", &org).1;
    assert_eq!(void["state"], "void", "{void}");
    let right = json!({"by": "org", "organiser": true, "winner": 1});
    let done = post(&api, "one", "/result", &right).1;
    assert_eq!(
        (&done["state"], api.matches()),
        (&json!("recorded"), 2),
        "{done}"
    );
    let first = format!("/v1/matches/{}", void["match"]);
    until(&api, &first, |game| game["unrated"] == "void");
    let second = format!("/v1/matches/{}", done["match"]);
    until(&api, &second, |game| {
        game["ruleset"] == "futsal" && game["unrated"].is_null()
    });
}

#[test]
fn it_started_to_rain_and_both_teams_called_it_off() {
    let api = Api::start("");
    let teams = play(&api, "one", &FOUR);
    let one = post(&api, "one", "/void", &json!({"by": teams[0][0]})).1;
    assert_eq!(one["state"], "playing", "{one}");
    let both = post(&api, "one", "/void", &json!({"by": teams[1][0]})).1;
    assert_eq!(
        (&both["state"], &both["match"]),
        (&json!("void"), &NONE),
        "{both}"
    );
    assert_eq!(post(&api, "one", "/result", &won(&teams[0][0], 0)).0, 409);
    assert_eq!(api.matches(), 0);
    pick(&api, "two", &FOUR);
    assert_eq!(post(&api, "two", "/start", &json!({"place": 0})).0, 200);
}

#[test]
fn the_bot_moved_us_once_and_its_successor_let_us_walk() {
    let mut api = Api::start("");
    let moved = |api: &Api, state: &str| post(api, "one", "/moved", &json!({ "state": state }));
    pick(&api, "one", &FOUR);
    assert_eq!(moved(&api, "picked").1["to_move"], false);
    let started = post(&api, "one", "/start", &json!({"place": 0})).1;
    assert_eq!(started["to_move"], true, "{started}");
    api.kill_and_start();
    assert_eq!(moved(&api, "playing").1["to_move"], false);
    let said = post(&api, "one", "/result", &won("ann", 0)).1;
    assert_eq!(said["to_move"], false, "{said}");
    let org = json!({"by": "org", "organiser": true, "winner": 0});
    let over = post(&api, "one", "/result", &org).1;
    assert_eq!(over["to_move"], true, "{over}");
    assert_eq!(moved(&api, "playing").1["to_move"], true, "that is past");
    assert_eq!(moved(&api, "recorded").1["to_move"], false);
    assert_eq!(moved(&api, "home").0, 400);
}

#[test]
fn a_second_bot_found_our_match() {
    let api = Api::start("");
    play(&api, "one", &FOUR);
    pick(&api, "two", &["eve", "fay"]);
    let list = |query: &str| {
        let (status, answer) = api.call("club", "GET", &format!("/v1/pickups{query}"), &NONE);
        assert_eq!(status, 200, "{answer}");
        let ids = answer["pickups"].as_array().unwrap().iter();
        ids.map(|one| one["pickup"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(list("?channel=hall").len(), 2);
    assert_eq!(list("?channel=hall&player=cid"), ["one"]);
    assert_eq!(list("?state=picked"), ["two"]);
    assert_eq!(list("?channel=yard"), [""; 0]);
    for wrong in ["?limit=51", "?state=nonsense", "?state="] {
        let wrong = api.call("club", "GET", &format!("/v1/pickups{wrong}"), &NONE);
        assert_eq!(wrong.0, 400, "{wrong:?}");
    }
    for (body, status) in [
        (json!({"game": {"ruleset": "futsal", "players": []}}), 400),
        (
            json!({"game": {"ruleset": "futsal", "players": [{"id": "ann"}]}}),
            400,
        ),
        (
            json!({"game": {"ruleset": "futsal", "top": 3, "players": [{"id": "ann"}, {"id": "bob"}]}}),
            400,
        ),
        (
            json!({"game": {"ruleset": "futsal", "colour": 1, "players": [{"id": "ann"}]}}),
            400,
        ),
        (
            json!({"names": {"ann": ""}, "game": {"ruleset": "futsal", "players": [{"id": "ann"}]}}),
            400,
        ),
    ] {
        let made = api.call("club", "PUT", &path("three", ""), &body);
        assert_eq!(made.0, status, "{body} {made:?}");
    }
    assert_eq!(api.call("club", "GET", &path("three", ""), &NONE).0, 404);
}
