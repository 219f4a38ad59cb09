//! Who has a place in a leaderboard, and which: the same on the pages, below `/v1` and in SQL.

use std::{
    fmt::Write as _,
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    time::{Duration, Instant},
};

use evenkeel::model::Timestamp;
use serde_json::Value;
use sqlx::Row;
use tempfile::TempDir;

use super::json;
use crate::common::{http::Pages, process::evenkeel};

const BOARD: &str = "/v1/leaderboards/daily?away=false";

/// Ingests 30 matches of ann, bob, cid and old, one a day, and 20 more from day 100 on, in which old does not play: new is
/// in the first four of them, eve in the others. The team of ann wins three of four.
fn ingest(folder: &Path) {
    let first = Timestamp::parse("2026-03-01").unwrap();
    let mut lines = String::new();
    for number in 0..50_usize {
        let fourth = ["old", "new", "eve"][usize::from(number >= 30) + usize::from(number >= 34)];
        let mut players = ["bob", "cid", fourth];
        players.rotate_left(number % 3);
        let day = if number < 30 { number } else { number + 70 };
        let start = Timestamp(first.0 + 86_400_000 * i64::try_from(day).unwrap());
        let end = Timestamp(start.0 + 600_000);
        let winner = usize::from(number % 4 == 3);
        let seats = [("ann", 0), (players[0], 0), (players[1], 1), (players[2], 1)].map(|(id, team)| {
            format!("{{\"id\":\"{id}\",\"name\":\"{id}\",\"stays\":[{{\"team\":{team},\"from\":0,\"to\":600000}}]}}")
        });
        let _ = writeln!(
            lines,
            "{{\"evenkeel\":1,\"server\":\"s\",\"start\":\"{start}\",\"end\":\"{end}\",\"game\":\"daily\",\
             \"map\":\"m\",\"scores\":[{}.0,{}.0],\"outcome\":\"won\",\"winner\":{winner},\"players\":[{}],\
             \"events\":[]}}",
            1 - winner,
            winner,
            seats.join(",")
        );
    }
    let path = folder.join("daily.jsonl");
    fs::write(&path, lines).unwrap();
    let output = evenkeel(folder).arg("ingest").arg(&path).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

fn rows(board: &Value) -> &Vec<Value> {
    board["rows"].as_array().unwrap()
}

/// Names with their standing and place.
fn lines(board: &Value) -> Vec<(String, String, Option<i64>)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let line = |row: &Value| {
        let name = text(&row["player"]["name"]);
        (name, text(&row["standing"]), row["place"].as_i64())
    };
    rows(board).iter().map(line).collect()
}

/// The same from the view for operators.
fn in_sql(folder: &Path) -> Vec<(String, String, Option<i64>)> {
    let url = format!("sqlite://{}", folder.join("evenkeel.db").display());
    let reading = async {
        let pool = sqlx::SqlitePool::connect(&url).await.unwrap();
        let found =
            sqlx::query("SELECT name, standing, place FROM leaderboard WHERE kind = 'human'");
        let found = found.fetch_all(&pool).await.unwrap();
        let line = |row: &sqlx::sqlite::SqliteRow| (row.get(0), row.get(1), row.get(2));
        found.iter().map(line).collect()
    };
    tokio::runtime::Runtime::new().unwrap().block_on(reading)
}

#[test]
fn a_place_needs_ten_matches_and_players_who_are_away_keep_nobody_from_one() {
    let folder = TempDir::new().unwrap();
    ingest(folder.path());
    let pages = Pages::start(folder.path(), &[("EVENKEEL_API_ENABLED", "true")]);
    let board = json(&pages, BOARD);
    let least = |row: &Value| row["weight"].as_f64().unwrap() - row["deviation"].as_f64().unwrap();
    let placed: Vec<&Value> = rows(&board)
        .iter()
        .filter(|row| row["standing"] == "placed")
        .collect();
    assert!(placed.len() >= 3, "{board}");
    assert!(placed.is_sorted_by(|a, b| least(a) >= least(b)), "{board}");
    let places: Vec<i64> = placed
        .iter()
        .map(|row| row["place"].as_i64().unwrap())
        .collect();
    assert_eq!(places, (1..=placed.len() as i64).collect::<Vec<_>>());
    for row in &placed {
        assert!(
            row["games"].as_i64().unwrap() >= 10 && row["deviation"].as_f64().unwrap() <= 15.0,
            "{row}"
        );
    }
    let page = pages.get("/rulesets/daily").body;
    assert!(
        page.contains("<td class=\"num\">placing 4 of 10</td>"),
        "{page}"
    );
    assert!(
        page.contains("away=true\">Show those who are away, too (1)</a>"),
        "{page}"
    );
    assert!(!page.contains(">old<"), "{page}");
    let all = json(&pages, "/v1/leaderboards/daily");
    let whole = lines(&all);
    assert_eq!(whole.last().unwrap(), &("old".into(), "away".into(), None));
    let new = whole.iter().find(|line| line.0 == "new").unwrap();
    assert_eq!((new.1.as_str(), new.2), ("placing", None));
    assert_eq!(lines(&json(&pages, "/v1/leaderboards/daily")), whole);
    assert_eq!(in_sql(folder.path()), whole);
    let player = format!("/players/{}", new.0);
    let page = pages.get(&player).body;
    assert!(page.contains(", placing 4 of 10"), "{page}");
    let first = &whole[0].0;
    let hide = evenkeel(folder.path())
        .args(["player", "hide", first])
        .status();
    assert!(hide.unwrap().success());
    let shown: Vec<i64> = lines(&json(&pages, BOARD))
        .iter()
        .filter_map(|line| line.2)
        .collect();
    assert_eq!(
        shown,
        places[..places.len() - 1],
        "a hidden player leaves no gap"
    );
    let check = evenkeel(folder.path()).arg("check").output().unwrap();
    assert!(check.status.success(), "{check:?}");
}

#[test]
fn where_only_divisions_are_shown_nobody_has_an_exact_place() {
    let folder = TempDir::new().unwrap();
    ingest(folder.path());
    let pages = Pages::start(folder.path(), &[("EVENKEEL_WEB_SHOW", "division")]);
    let board = json(&pages, BOARD);
    assert!(
        rows(&board).iter().all(|row| row["place"].is_null()),
        "{board}"
    );
    let page = pages.get("/rulesets/daily").body;
    assert!(
        !page.contains(">Place<") && page.contains(">ann<"),
        "{page}"
    );
    let badge = pages.get("/players/ann.svg").body;
    assert!(!badge.contains("place "), "{badge}");
}

/// Until the next match, the stored weights are those of the season before.
#[test]
fn a_season_begins_on_its_date_in_all_that_shows_a_weight() {
    let folder = TempDir::new().unwrap();
    let config = "[season]\nstarts = ['2026-08-01']\nkeeps = 0.5\n\
                  [divisions]\nnames = ['Low', 'High']\nshow = 'number'\n";
    fs::write(folder.path().join("evenkeel.toml"), config).unwrap();
    ingest(folder.path());
    let config = ("EVENKEEL_CONFIG", "evenkeel.toml");
    let rebuild = evenkeel(folder.path())
        .arg("rebuild")
        .envs([config])
        .status();
    assert!(rebuild.unwrap().success());
    let pages = Pages::start(folder.path(), &[config, ("EVENKEEL_API_ENABLED", "true")]);
    let board = json(&pages, BOARD);
    let ann = rows(&board)
        .iter()
        .find(|row| row["player"]["name"] == "ann");
    let before = ann.unwrap()["weight"].as_f64().unwrap();
    assert!((before - 50.0).abs() > 2.0, "{before}");
    let expected = 50.0 + 0.5 * (before - 50.0);
    let is_it = |value: &Value| (value.as_f64().unwrap() - expected).abs() < 0.002;
    let player = &json(&pages, "/v1/players/ann")["standings"][0];
    assert!(is_it(&player["weight"]), "{player} {expected}");
    let rating = &json(&pages, "/v1/ratings?ids=ann&ruleset=daily")["ratings"][0];
    assert_eq!(rating["weight"], player["weight"]);
    let text = pages.get("/players/ann").body;
    assert!(text.contains(&format!("{expected:.1}")), "{text}");
    assert!(
        text.contains("1 season has begun, and each left 50\u{a0}% of the distance from 50"),
        "{text}"
    );
    let mut lines = TcpStream::connect(pages.daemon.address).unwrap();
    lines
        .write_all(b"GAME daily\nRANK ann\nPLAYER ann\nQUIT\n")
        .unwrap();
    let mut answer = String::new();
    lines.read_to_string(&mut answer).unwrap();
    for line in answer.lines() {
        let weight: f64 = line.rsplit(' ').next().unwrap().parse().unwrap();
        assert!((weight - expected).abs() < 0.002, "{answer} {expected}");
    }
    assert_eq!(answer.lines().count(), 2, "{answer}");
}

/// With more than 500 weights, places were counted every 30 seconds, and whoever was new had none until then.
#[test]
fn among_many_players_a_new_one_is_listed_at_once() {
    let folder = TempDir::new().unwrap();
    let mut lines = String::new();
    for number in 0..400_i64 {
        let _ = writeln!(lines, "{}", duel(number, [2 * number, 2 * number + 1]));
    }
    let path = folder.path().join("duels.jsonl");
    fs::write(&path, lines).unwrap();
    let ingest = |path: &Path| {
        let output = evenkeel(folder.path()).arg("ingest").arg(path).output();
        assert!(output.unwrap().status.success());
    };
    ingest(&path);
    let api = ("EVENKEEL_API_ENABLED", "true");
    let key = ("EVENKEEL_CONFIG", "evenkeel.toml");
    let clients = "[[clients]]\nname = 'club'\ntoken = 'club-token'\nrights = ['report']\n";
    fs::write(folder.path().join("evenkeel.toml"), clients).unwrap();
    let pages = Pages::start(folder.path(), &[api, key]);
    let (began, deadline) = (Instant::now(), Duration::from_secs(15));
    for number in [900, 910] {
        let fields = "Authorization: Bearer club-token\r\nContent-Type: application/json\r\n";
        let body = duel(400 + number, [number, number + 1]);
        let length = body.len();
        let head = format!(
            "POST /v1/matches HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{fields}Content-Length: {length}\r\n\r\n{body}"
        );
        let answer = pages.send(head.as_bytes());
        assert_eq!(answer.status, 201, "{}", answer.body);
        let search = format!("/v1/leaderboards/duel?q=p{number}");
        while rows(&json(&pages, &search)).is_empty() {
            assert!(began.elapsed() < deadline, "nobody is listed");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    assert_eq!(json(&pages, "/v1/rulesets")["rulesets"][0]["humans"], 804);
}

/// A match of two.
fn duel(number: i64, players: [i64; 2]) -> String {
    let first = Timestamp::parse("2026-03-01").unwrap();
    let (start, end) = (
        Timestamp(first.0 + 900_000 * number),
        Timestamp(first.0 + 900_000 * number + 600_000),
    );
    let seats = [0, 1].map(|team| {
        let id = format!("p{}", players[team]);
        format!("{{\"id\":\"{id}\",\"name\":\"{id}\",\"stays\":[{{\"team\":{team},\"from\":0,\"to\":600000}}]}}")
    });
    format!(
        "{{\"evenkeel\":1,\"server\":\"s\",\"start\":\"{start}\",\"end\":\"{end}\",\"game\":\"duel\",\
         \"map\":\"m\",\"scores\":[1.0,0.0],\"outcome\":\"won\",\"winner\":0,\"players\":[{}],\"events\":[]}}",
        seats.join(",")
    )
}
