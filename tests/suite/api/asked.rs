//! Teams for a game that the caller describes: the same answers as by lines.

use std::{thread, time::Duration};

use serde_json::{Value, json};

use super::NONE;
use crate::common::{
    api::Api,
    http::HttpAnswer,
    process::{evenkeel, poll, run_with},
};

const PLAYERS: [&str; 7] = ["ann", "bob", "cid", "dan", "eve", "fay", "gus"];

/// A daemon that has learned from matches that were reported to it.
pub fn learned(toml: &str) -> Api {
    let api = Api::start(toml);
    let mut matches = Vec::new();
    for (n, one) in PLAYERS.iter().enumerate() {
        for other in &PLAYERS[n + 1..] {
            let mates = |first: &str| [first.to_owned(), format!("{first}-mate")];
            matches.push(
                json!({"ruleset": "futsal", "teams": [mates(one), mates(other)], "winner": 0}),
            );
        }
    }
    assert_eq!(
        api.call("club", "POST", "/v1/matches", &json!(matches)).0,
        201
    );
    wait_for_weight(&api, "ann");
    api
}

/// The pause between two looks: the daemon answers 50 requests of a client per second.
const LOOK: Duration = Duration::from_millis(25);

/// Waits until what is read at a path is as expected.
pub fn until(api: &Api, path: &str, done: impl Fn(&Value) -> bool) -> Value {
    poll(|| {
        let (status, answer) = api.call("asker", "GET", path, &NONE);
        assert!([200, 404, 503].contains(&status), "{answer}");
        match status == 200 && done(&answer) {
            true => Ok(answer),
            false => {
                thread::sleep(LOOK);
                Err(format!("{path}: {answer}"))
            }
        }
    })
}

/// Waits until the daemon has learned from the matches of a player.
pub fn wait_for_weight(api: &Api, player: &str) -> Value {
    let path = format!("/v1/ratings?ids={player}&ruleset=futsal");
    until(api, &path, |answer| answer["ratings"][0]["known"] == true)["ratings"][0].clone()
}

/// The words of the line that begins so.
fn words<'a>(said: &'a str, start: &str) -> Vec<&'a str> {
    let line = said.lines().find(|line| line.starts_with(start));
    line.unwrap_or_else(|| panic!("{said}"))
        .split(' ')
        .collect()
}

fn why(said: &str) -> Vec<&str> {
    said.lines()
        .filter_map(|line| line.strip_prefix("WHY "))
        .collect()
}

/// The command reads the same body, and takes the same weights from the database.
#[test]
fn a_body_has_the_same_answer_by_http_and_by_the_command() {
    let api = learned("");
    let players: Vec<Value> = PLAYERS.iter().map(|id| json!({"id": id})).collect();
    let learned = json!({"ruleset": "futsal", "seed": 7, "top": 4, "players": players});
    let stated = json!({"ruleset": "new", "seed": 7, "players": [
        {"id": "ann", "weight": 5, "party": "x"}, {"id": "bob", "weight": 4},
        {"id": "cid", "weight": 3, "party": "x"}, {"id": "dan", "weight": 1, "pin": 1}]});
    let folder = api.folder.path();
    for body in [learned, stated] {
        let (status, answer) = api.call("asker", "POST", "/v1/teams", &body);
        assert_eq!(status, 200, "{answer}");
        let (code, out, error) = run_with(folder, &["balance", "--json"], &body.to_string());
        assert_eq!(code, 0, "{error}");
        assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), answer);
        let (_, text, _) = run_with(folder, &["balance", "--explain"], &body.to_string());
        let why = answer["why"][0].as_str().unwrap();
        assert!(text.contains(why) && text.contains("seed 7"), "{text}");
    }
    for (words, body, said) in [
        (
            &["balance", "--teams", "3"][..],
            json!({"ruleset": "a", "players": []}),
            "state the others in the body",
        ),
        (
            &["balance"],
            json!({"ruleset": "a", "players": []}),
            "players: there is nobody",
        ),
        (
            &["balance"],
            json!({"ruleset": "a", "colour": 1}),
            "unknown field `colour`",
        ),
        (
            &["balance"],
            json!({"ruleset": "a", "players": [{"id": "a"}], "keep": true}),
            "keep: ",
        ),
    ] {
        let (code, _, error) = run_with(folder, words, &body.to_string());
        assert!(code == 4 && error.contains(said), "{code} {error}");
    }
}

#[test]
fn the_same_question_has_the_same_answer_by_line_and_by_http() {
    let api = learned("");
    let weight = wait_for_weight(&api, "ann")["weight"].as_f64().unwrap();
    let hello = |number: usize| format!("HELLO game-{number} game-token bots=no\n");
    let said = api
        .pages
        .daemon
        .ask(&format!("{}GAME futsal\nPLAYER ann\n", hello(0)));
    assert_eq!(words(&said, "PLAYER")[2], format!("{weight:.3}"));
    for teams in [2, 3] {
        for seed in [7, 8] {
            let joins = "JOIN ann\nJOIN bob wish=1\nJOIN cid party=x\nJOIN dan avoid=ann\nJOIN eve pin=1\n\
                         JOIN fay party=x\nJOIN gus team=0\nJOIN new\n";
            let hello = hello(10 * teams + seed);
            let lines = format!(
                "{hello}TEAMS {teams}\nGAME futsal\n{joins}BALANCE top=20 seed={seed}\nEXPLAIN\n"
            );
            let said = api.pages.daemon.ask(&lines);
            let body = json!({"ruleset": "futsal", "teams": teams, "top": 20, "seed": seed, "players": [
                {"id": "ann"}, {"id": "bob", "wish": 1}, {"id": "cid", "party": "x"}, {"id": "dan", "avoid": ["ann"]},
                {"id": "eve", "pin": 1}, {"id": "fay", "party": "x"}, {"id": "gus", "team": 0}, {"id": "new"},
            ]});
            let (status, answer) = api.call("asker", "POST", "/v1/teams", &body);
            assert_eq!(status, 200, "{answer}");
            let head = words(&said, "BALANCE");
            assert_eq!(head[2], format!("{:.6}", answer["ratio"].as_f64().unwrap()));
            let chance = answer["teams"][0]["chance"].as_f64();
            assert_eq!(
                head[3],
                chance.map_or("-".to_owned(), |chance| format!("{chance:.6}"))
            );
            assert!(chance.is_some_and(|chance| chance != 0.5), "{answer}");
            assert_eq!(head[4], answer["seed"].to_string());
            for (team, entry) in answer["teams"].as_array().unwrap().iter().enumerate() {
                for player in entry["players"].as_array().unwrap() {
                    let line = format!("TEAM {team} {}", player["id"].as_str().unwrap());
                    assert!(said.lines().any(|own| own == line), "{line}: {said}");
                }
                assert!(
                    said.contains(&format!("BOTS {team} {}", entry["bots"])),
                    "{said}"
                );
            }
            assert_eq!(json!(why(&said)), answer["why"], "{teams} {seed}");
        }
    }
}

#[test]
fn late_arrivals_and_moves_are_those_of_the_line() {
    let api = learned("");
    let joins =
        "JOIN ann team=0\nJOIN bob team=0\nJOIN cid team=0\nJOIN fay team=0\nJOIN gus team=1\n";
    let begin = |name: &str| format!("HELLO {name} game-token bots=no\nGAME futsal\n{joins}");
    let play = "START\nSCORE 0 3\nCLOCK 300\n";
    let mut players: Vec<Value> = [("ann", 0), ("bob", 0), ("cid", 0), ("fay", 0), ("gus", 1)]
        .iter()
        .map(|(id, team)| json!({"id": id, "team": team}))
        .collect();
    let lines = format!("{}{play}REBALANCE seed=5\nEXPLAIN\n", begin("game-1"));
    let said = api.pages.daemon.ask(&lines);
    let mut body =
        json!({"ruleset": "futsal", "players": players, "scores": [3, 0], "left": 300, "seed": 5});
    let (status, answer) = api.call("club", "POST", "/v1/teams/rebalance", &body);
    assert_eq!(status, 200, "{answer}");
    let head = words(&said, "REBALANCE");
    for (at, key) in [(2, "before"), (3, "after")] {
        assert_eq!(head[at], format!("{:.6}", answer[key].as_f64().unwrap()));
    }
    let moves = answer["moves"].as_array().unwrap();
    assert!(!moves.is_empty(), "{said}");
    for one in moves {
        let line = format!(
            "MOVE {} {} {}",
            one["id"].as_str().unwrap(),
            one["from"],
            one["to"]
        );
        assert!(said.lines().any(|own| own == line), "{line}: {said}");
    }
    assert_eq!(json!(why(&said)), answer["why"]);
    // The seed of PLACE decides only between teams that are equal.
    let said = api.pages.daemon.ask(&format!(
        "{}JOIN eve\nPLACE eve\nEXPLAIN\n",
        begin("game-2")
    ));
    players.push(json!({"id": "eve"}));
    body = json!({"ruleset": "futsal", "players": players});
    let (status, answer) = api.call("club", "POST", "/v1/teams/place", &body);
    assert_eq!(status, 200, "{answer}");
    let placed = &answer["placed"][0];
    let head = words(&said, "PLACE");
    assert_eq!(head[2], placed["team"].to_string());
    assert_eq!(head[3], format!("{:.6}", placed["ratio"].as_f64().unwrap()));
    assert_eq!(json!(why(&said)), placed["why"]);
}

#[test]
fn a_caller_may_state_weights_and_needs_no_history() {
    let api = Api::start("");
    let weights = [90, 70, 50, 30, 10];
    let players: Vec<Value> = PLAYERS
        .iter()
        .zip(weights)
        .map(|(id, weight)| json!({"id": id, "weight": weight}))
        .collect();
    let body = json!({"ruleset": "futsal", "players": players, "top": 1, "max_difference": 1});
    let (status, answer) = api.call("asker", "POST", "/v1/teams", &body);
    assert_eq!(status, 200, "{answer}");
    let sizes: Vec<usize> = answer["teams"]
        .as_array()
        .unwrap()
        .iter()
        .map(|team| team["players"].as_array().unwrap().len())
        .collect();
    assert_eq!(sizes.iter().sum::<usize>(), 5, "odd numbers play, too");
    assert!(sizes.contains(&3), "{answer}");
    let sums: Vec<f64> = answer["teams"]
        .as_array()
        .unwrap()
        .iter()
        .map(|team| {
            let players = team["players"].as_array().unwrap();
            players
                .iter()
                .map(|one| one["weight"].as_f64().unwrap())
                .sum()
        })
        .collect();
    assert!((sums[0] - sums[1]).abs() <= 10.0, "{answer}");
    assert!(
        answer["teams"]
            .as_array()
            .unwrap()
            .iter()
            .all(|team| team["chance"].is_null())
    );
    assert!(answer["closest_alternative"].is_object() || answer["closest_alternative"].is_null());
    assert!(answer["why"].as_array().unwrap().len() > 2);
    // Stated weights count beside learned ones, and are not learned.
    let api = learned("");
    let known = wait_for_weight(&api, "ann")["weight"].clone();
    let body = json!({"ruleset": "futsal", "seed": 1, "players": [
        {"id": "ann", "weight": 12.5}, {"id": "bob"}, {"id": "new"}, {"id": "cid"}]});
    let (_, answer) = api.call("asker", "POST", "/v1/teams", &body);
    let text = answer.to_string();
    assert!(
        text.contains(r#"{"deviation":0.0,"id":"ann","known":true,"weight":12.5}"#),
        "{text}"
    );
    // Somebody unknown counts as newcomers do here, who have lost to those who were there before.
    let weight_of_new = answer["teams"].as_array().unwrap().iter().find_map(|team| {
        let mut players = team["players"].as_array().unwrap().iter();
        let new = players.find(|player| player["id"] == "new")?;
        assert_eq!(
            (&new["known"], &new["deviation"]),
            (&json!(false), &Value::Null)
        );
        new["weight"].as_f64()
    });
    assert!((35.0..=65.0).contains(&weight_of_new.unwrap()), "{text}");
    assert_eq!(wait_for_weight(&api, "ann")["weight"], known);
}

#[test]
fn a_question_leaves_a_trace_only_if_it_is_kept() {
    let api = learned("");
    let mut body =
        json!({"ruleset": "futsal", "players": [{"id": "ann"}, {"id": "bob"}, {"id": "cid"}]});
    let (_, answer) = api.call("asker", "POST", "/v1/teams", &body);
    assert!(answer.get("decision").is_none(), "{answer}");
    assert_eq!(api.call("", "GET", "/v1/live", &NONE).1["running"], 0);
    body["keep"] = json!(true);
    let (_, answer) = api.call("club", "POST", "/v1/teams", &body);
    let decision = answer["decision"].as_i64().unwrap();
    let mut result = json!({"ruleset": "futsal", "winner": 1, "decision": decision,
        "teams": [answer["teams"][0]["players"].as_array().unwrap().iter().map(|one| &one["id"]).collect::<Vec<_>>(),
                  answer["teams"][1]["players"].as_array().unwrap().iter().map(|one| &one["id"]).collect::<Vec<_>>()]});
    let (status, other) = api.call("other", "POST", "/v1/matches", &result);
    assert_eq!(status, 400, "it is another client's: {other}");
    let (status, recorded) = api.call("club", "POST", "/v1/matches", &result);
    assert_eq!(status, 201, "{recorded}");
    let path = format!("/v1/matches/{}", recorded["match"]);
    let (_, game) = api.call("", "GET", &path, &NONE);
    assert!(game["reasons"].is_object(), "{game}");
    let picked = game["chances"]["picked"]["win"][0].as_f64().unwrap();
    let told = answer["teams"][0]["chance"].as_f64().unwrap();
    assert!((picked - told).abs() < 1e-6, "{game}");
    result["decision"] = json!(999_999);
    assert_eq!(api.call("club", "POST", "/v1/matches", &result).0, 400);
}

#[test]
fn visitors_pick_teams_only_where_they_may() {
    let api = learned("[api]\nenabled = true\nvisitors = true\n");
    let mut body = json!({"ruleset": "futsal", "seed": 3, "players": [{"id": "ann"}, {"id": "bob"}, {"id": "cid"}]});
    let (status, answer) = api.call("", "POST", "/v1/teams", &body);
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer, api.call("asker", "POST", "/v1/teams", &body).1);
    for path in ["/v1/teams/place", "/v1/teams/rebalance", "/v1/matches"] {
        assert_eq!(api.call("", "POST", path, &body).0, 401, "{path}");
    }
    body["keep"] = json!(true);
    assert_eq!(api.call("", "POST", "/v1/teams", &body).0, 401);
    // Somebody who is hidden is as somebody whom nobody knows.
    body["keep"] = json!(false);
    let mut hide = evenkeel(api.folder.path());
    let hidden = hide.args(["player", "hide", "ann"]).output().unwrap();
    assert!(hidden.status.success(), "{hidden:?}");
    let (_, answer) = api.call("", "POST", "/v1/teams", &body);
    let newcomer = r#"{"deviation":null,"id":"ann","known":false,"weight":"#;
    assert!(answer.to_string().contains(newcomer), "{answer}");
    let path = "/v1/ratings?ids=ann,bob&ruleset=futsal";
    let (_, ratings) = api.call("", "GET", path, &NONE);
    assert_eq!(ratings["ratings"].as_array().unwrap().len(), 1);
}

#[test]
fn visitors_who_ask_for_too_much_are_told_when_there_is_room() {
    // Half of the cores are for visitors. Teams of so many parties take the whole deadline.
    let api = Api::start("[balance]\ndeadline_ms = 3000\n[api]\nenabled = true\nvisitors = true\n");
    let player = |n: usize| {
        let weight = ((n * 245_489 + n * n * 104_729) % 10_007) as f64 / 100.0;
        json!({"id": format!("p{n}"), "weight": weight, "party": format!("{}", n / 3)})
    };
    let players: Vec<Value> = (0..128).map(player).collect();
    let body = json!({"ruleset": "ctf", "teams": 8, "players": players}).to_string();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let fields = "Content-Type: application/json\r\n";
    let asked: Vec<_> = (0..2 * cores + 2)
        .map(|_| api.begin("POST", "/v1/teams", fields, &body))
        .collect();
    // A game server is answered all the while.
    let said = api
        .pages
        .daemon
        .ask("HELLO game-1 game-token\nGAME ctf\nJOIN a\nJOIN b\nBALANCE\nEXPLAIN\n");
    assert!(said.contains("BALANCE 4 "), "{said}");
    let mut refused = 0;
    for stream in asked {
        let answer = HttpAnswer::read(stream);
        match answer.status {
            200 => {}
            503 => {
                refused += 1;
                let why = "visitors wait at most 1 s for their turn; try again in ";
                assert!(answer.body.contains(why), "{}", answer.body);
                let after: u64 = answer.field("retry-after").unwrap().parse().unwrap();
                assert!((1..=60).contains(&after), "{after}");
                api.check("POST", "/v1/teams", &answer);
            }
            _ => panic!("{} {}", answer.status, answer.body),
        }
    }
    assert!((1..2 * cores + 2).contains(&refused), "{refused}");
}

#[test]
fn visitors_see_no_numbers_where_the_pages_show_none() {
    let api = learned("[web]\nshow = 'division'\n[api]\nenabled = true\nvisitors = true\n");
    let body = json!({"ruleset": "futsal", "players": [{"id": "ann"}, {"id": "bob"}]});
    let (_, answer) = api.call("", "POST", "/v1/teams", &body);
    let text = answer.to_string();
    for key in ["weight", "chance", "ratio", "why"] {
        assert!(!text.contains(&format!("\"{key}\"")), "{text}");
    }
    let (_, answer) = api.call("", "GET", "/v1/ratings?ids=ann&ruleset=futsal", &NONE);
    assert!(answer["ratings"][0].get("weight").is_none(), "{answer}");
}

/// Names that are parts of words, of numbers, and of handles.
const PARTS: [&str; 14] = [
    "a", "b", "c", "d", "e", "f", "1", "2", "3", "4", "5", "ratio", "6", "team 0",
];

/// The names of the players in the sentences of two answers may differ, and nothing else.
fn differ_in_names_only(named: &Value, called: &Value, handles: &[(String, String)]) {
    let lines = |answer: &Value| answer["why"].as_array().unwrap().clone();
    let (named, called) = (lines(named), lines(called));
    assert_eq!(named.len(), called.len());
    for (named, called) in named.iter().zip(&called) {
        let (named, called) = (named.as_str().unwrap(), called.as_str().unwrap());
        let around = handles.iter().find_map(|(name, handle)| {
            let (before, after) = called.split_once(handle.as_str())?;
            Some(format!("{before}{name}{after}"))
        });
        assert_eq!(around.as_deref().unwrap_or(called), named);
    }
}

#[test]
fn sentences_have_names_and_no_others_within_them() {
    let api = Api::start("[api]\nenabled = true\nvisitors = true\n");
    let names = PARTS.map(|name| json!(name));
    let body = json!({"ruleset": "futsal", "teams": [names[..7], names[7..]], "winner": 0});
    assert_eq!(api.call("club", "POST", "/v1/matches", &body).0, 201);
    wait_for_weight(&api, "a");
    let handle = |name: &str| {
        let path = format!(
            "/v1/ratings?ids={}&ruleset=futsal",
            name.replace(' ', "%20")
        );
        // The pages know a player a moment after the weights do.
        let is_known = |found: &Value| found["ratings"][0]["handle"].is_string();
        let found = until(&api, &path, is_known);
        let handle = &found["ratings"][0]["handle"];
        (name.to_owned(), handle.as_str().unwrap().to_owned())
    };
    let handles: Vec<(String, String)> = PARTS.map(handle).into();
    let ask = |client: &str, players: Vec<Value>| {
        let body = json!({"ruleset": "futsal", "seed": 7, "players": players});
        let (status, answer) = api.call(client, "POST", "/v1/teams", &body);
        assert_eq!(status, 200, "{answer}");
        answer
    };
    let player = |id: &str, pin: Option<u8>| json!({"id": id, "pin": pin});
    let by_name = ask(
        "asker",
        handles.iter().map(|(name, _)| player(name, None)).collect(),
    );
    for client in ["asker", ""] {
        let called = handles.iter().map(|(_, handle)| player(handle, None));
        let called = ask(client, called.collect());
        differ_in_names_only(&by_name, &called, &handles);
        assert!(called.to_string().len() < 16 * 1_024, "{called}");
        let first = called["why"][0].as_str().unwrap();
        assert!(first.starts_with("chance of team 0 to win "), "{first}");
    }
    let team = |at: usize| at % 2;
    let place = |of: &dyn Fn(&(String, String)) -> String| {
        let players = handles
            .iter()
            .enumerate()
            .map(|(at, one)| json!({"id": of(one), "team": (at > 0).then(|| team(at))}));
        let body = json!({"ruleset": "futsal", "seed": 7, "players": players.collect::<Vec<_>>()});
        let (status, answer) = api.call("asker", "POST", "/v1/teams/place", &body);
        assert_eq!(status, 200, "{answer}");
        answer["placed"][0].clone()
    };
    let (named, called) = (place(&|one| one.0.clone()), place(&|one| one.1.clone()));
    differ_in_names_only(&named, &called, &handles);
}

#[test]
fn an_answer_to_a_hundred_long_names_is_bounded() {
    let api = Api::start("");
    let name = |at: usize| format!("{at:03}{}", "x".repeat(250));
    let late = (0..128).map(|at| json!({"id": name(at), "party": (at / 4).to_string()}));
    let mut body = json!({"ruleset": "futsal", "seed": 1, "players": late.collect::<Vec<_>>()});
    for path in ["/v1/teams", "/v1/teams/place", "/v1/teams/rebalance"] {
        let (status, answer) = api.call("all", "POST", path, &body);
        assert_eq!(status, 200, "{path}: {answer}");
        let length = answer.to_string().len();
        assert!(length < 512 * 1_024, "{path}: {length}");
        body["seed"] = json!(2);
    }
}
