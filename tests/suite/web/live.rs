//! The page of running games, who plays now on other pages, and why teams are as they are.

use std::{
    io::{BufReader, Write},
    net::TcpStream,
    path::Path,
};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{
    hostile::{self, SECRET, identity},
    http::Pages,
    process::{evenkeel, line, poll},
};

/// An identity that is a secret, of a player without a name.
const GUID: &str = "00112233445566778899aabbccddeeff";

pub fn json(pages: &Pages, path: &str) -> Value {
    let answer = pages.get(path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

/// Waits until the data at a path are as wanted, and returns them.
pub fn wait_until(pages: &Pages, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    poll(|| {
        let found = json(pages, path);
        match wanted(&found) {
            true => Ok(found),
            false => Err(found),
        }
    })
}

/// Sends lines, and returns once the daemon has processed them.
pub fn tell(stream: &mut BufReader<TcpStream>, lines: &str) {
    let text = format!("{lines}PING\n");
    stream.get_mut().write_all(text.as_bytes()).unwrap();
    assert_eq!(line(stream), "PONG", "{lines}");
}

/// A game server with a running game. Two of its humans are those of the hostile season.
pub fn play(pages: &Pages) -> BufReader<TcpStream> {
    let mut stream = pages.daemon.connect();
    stream
        .get_mut()
        .write_all(b"HELLO \"<b>arena</b>\"\n")
        .unwrap();
    assert!(line(&mut stream).starts_with("HELLO "));
    let (one, other) = (identity(0), identity(1));
    let lines = format!(
        "GAME baseoa.ctf\nMAP \"<i>oasago2</i>\"\nJOIN {one} name=\"<script>x</script>\" team=0\n\
         JOIN {other} name=\"^1Red^2Green\" team=1\nJOIN {GUID} team=1\nBOTJOIN Sarge 0\nSTART\nSCORE 0\n"
    );
    tell(&mut stream, &lines);
    stream
}

pub fn seasons(variables: &[(&str, &str)]) -> (Pages, TempDir) {
    let folder = TempDir::new().unwrap();
    hostile::ingest_season(folder.path());
    hostile::ingest(folder.path(), 24);
    (Pages::start(folder.path(), variables), folder)
}

fn command(folder: &Path, words: &[&str]) {
    let output = evenkeel(folder).args(words).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {error}");
}

#[test]
fn running_games_are_shown_without_identities() {
    let (pages, _folder) = seasons(&[]);
    assert_eq!(json(&pages, "/v1/live")["running"], 0);
    assert!(pages.get("/live").body.contains("Nobody plays"));
    let mut stream = play(&pages);
    let live = json(&pages, "/v1/live");
    assert_eq!(
        (&live["running"], &live["humans"], &live["bots"]),
        (&1.into(), &3.into(), &1.into())
    );
    let game = &live["games"][0];
    assert_eq!(game["scores"], serde_json::json!([1.0, 0.0]));
    assert_eq!(game["map"], "<i>oasago2</i>");
    assert!(game["began"].is_string() && game["connected"] == true);
    let started = &game["chances"]["started"];
    assert_eq!(
        (
            &started["humans"],
            &started["bots"],
            &game["chances"]["picked"]
        ),
        (
            &serde_json::json!([1, 2]),
            &serde_json::json!([1, 0]),
            &Value::Null
        )
    );
    let chance = started["win"][0].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&chance) && chance != 0.5, "{chance}");
    let handle = json(&pages, &format!("/v1/players/{}", identity(0)));
    let handle = handle["player"]["handle"].as_str().unwrap();
    assert_eq!(game["teams"][0][0]["handle"], handle);
    assert_eq!(game["teams"][0][1]["bot"], true);
    let board = json(&pages, "/v1/leaderboards/%3Ci%3Ectf%3C%2Fi%3E%26a");
    let rows = board["rows"].as_array().unwrap().iter();
    let playing = rows.filter(|row| row["plays_now"] == true).count();
    assert_eq!(playing, 2);
    let other = pages.get("/rulesets/%3Ci%3Ectf%3C%2Fi%3E%26a").body;
    assert!(!other.contains("Playing now"), "{other}");
    assert_eq!(game["server"], "<b>arena</b>");
    for path in ["/live", "/v1/live", "/", "/rulesets/baseoa.ctf?kind=bot"] {
        let answer = pages.get(path);
        for secret in [SECRET, GUID] {
            assert!(!answer.body.contains(secret), "{path}");
        }
        if !path.starts_with("/v1/") {
            assert!(
                answer.body.contains(&format!("/players/{handle}")),
                "{path}"
            );
            assert!(
                !answer.body.contains("<script>x") && !answer.body.contains("<b>arena"),
                "{path}"
            );
            let policy = answer.field("content-security-policy").unwrap();
            assert!(policy.contains("script-src 'self';"), "{path}");
        }
    }
    let leading = game["chance_with_score"].as_f64().unwrap();
    assert!(leading > chance, "{leading} with a lead, {chance} without");
    assert!(game["ends"].is_null(), "CLOCK was not sent");
    tell(&mut stream, "SCORE 1\nSCORE 1\nCLOCK 10\n");
    let live = json(&pages, "/v1/live");
    let game = &live["games"][0];
    assert_eq!(game["scores"], serde_json::json!([1.0, 2.0]));
    let behind = game["chance_with_score"].as_f64().unwrap();
    assert!(
        behind < 0.2,
        "a goal behind with ten seconds left: {behind}"
    );
    assert!(game["ends"].is_string());
    for path in ["/live", "/embed/live"] {
        let body = pages.get(path).body;
        assert!(
            body.contains("With the score, team 1 has a chance of"),
            "{path}: {body}"
        );
        assert!(body.contains(" by the game’s clock"), "{path}");
    }
    drop(stream);
    wait_until(&pages, "/v1/live", |live| {
        live["games"][0]["connected"] == false
    });
    assert!(pages.get("/live").body.contains("the game server is away"));
}

#[test]
fn who_is_hidden_or_forgotten_has_no_name_or_handle_in_running_games() {
    let (pages, folder) = seasons(&[]);
    let _stream = play(&pages);
    let handle = json(&pages, &format!("/v1/players/{}", identity(0)));
    let handle = handle["player"]["handle"].as_str().unwrap();
    command(folder.path(), &["player", "hide", &identity(0)]);
    let game = &json(&pages, "/v1/live")["games"][0];
    assert_eq!(
        game["teams"][0][0],
        serde_json::json!({"handle": null, "name": null, "bot": false})
    );
    for path in ["/live", "/", "/rulesets/baseoa.ctf?kind=bot"] {
        let body = pages.get(path).body;
        assert!(
            !body.contains("&lt;script&gt;x") && !body.contains(handle),
            "{path}"
        );
    }
    command(folder.path(), &["player", "forget", &identity(1)]);
    wait_until(&pages, "/v1/live", |live| {
        live["games"][0]["teams"][1][0]["handle"].is_null()
    });
}

#[test]
fn a_game_that_is_over_is_not_in_play() {
    let (pages, _folder) = seasons(&[("EVENKEEL_WEB_SHOW", "division")]);
    let mut stream = play(&pages);
    let live = pages.get("/v1/live").body;
    assert!(
        live.contains("\"running\":1") && !live.contains("chance"),
        "{live}"
    );
    assert!(!pages.get("/live").body.contains("chance"));
    stream.get_mut().write_all(b"END\n").unwrap();
    assert!(line(&mut stream).starts_with("END "));
    let game = &json(&pages, "/v1/live")["games"][0];
    assert!(
        game["began"].is_null() && game["scores"].as_array().unwrap().is_empty(),
        "{game}"
    );
    let (one, other) = (identity(0), identity(1));
    tell(
        &mut stream,
        &format!("LEAVE {one}\nLEAVE {other}\nLEAVE {GUID}\nBOTLEAVE Sarge\n"),
    );
    assert_eq!(json(&pages, "/v1/live")["running"], 0);
}

#[test]
fn the_reasons_of_balance_are_told_on_the_page_of_the_match() {
    let folder = TempDir::new().unwrap();
    hostile::ingest_season(folder.path());
    let pages = Pages::start(folder.path(), &[]);
    let mut stream = pages.daemon.connect();
    let lines =
        "GAME baseoa.ctf\nJOIN ann party=x\nJOIN bob party=x\nJOIN cid\nJOIN dan\nBALANCE seed=1\n";
    stream.get_mut().write_all(lines.as_bytes()).unwrap();
    let head = line(&mut stream);
    let words: Vec<&str> = head.split(' ').collect();
    assert_eq!(words[0], "BALANCE", "{head}");
    let ratio: f64 = words[2].parse().unwrap();
    for _ in 0..words[1].parse::<usize>().unwrap() {
        line(&mut stream);
    }
    stream
        .get_mut()
        .write_all(b"START\nSCORE 0\nEND\n")
        .unwrap();
    let end = line(&mut stream);
    let id = end.split(' ').nth(1).unwrap();
    let game = wait_until(&pages, &format!("/v1/matches/{id}"), |game| {
        !game["reasons"].is_null()
    });
    let reasons = &game["reasons"];
    assert!(
        (reasons["ratio"].as_f64().unwrap() - ratio).abs() < 0.001,
        "{reasons} and {head}"
    );
    assert_eq!(
        (&reasons["humans"], &reasons["parties"]),
        (&4.into(), &1.into())
    );
    assert_eq!(
        (&reasons["parties_apart"], &reasons["torn"]),
        (&0.into(), &Value::Null)
    );
    let page = pages.get(&format!("/matches/{id}")).body;
    let share = format!("{:.0}\u{a0}%", 100.0 * ratio);
    for part in [
        "<h2>Why these teams</h2>",
        &format!("The weaker team had {share} of the weight of the stronger one, among 4 humans."),
        "1 party asked to be together; all were.",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}
