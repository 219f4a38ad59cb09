//! The statistics pages of a real daemon, over HTTP.

mod accounts;
mod attacks;
mod brief;
pub(crate) mod browser;
mod club;
mod eyes;
mod find;
mod limits;
pub(crate) mod live;
mod numbers;
mod questions;
mod queues;
mod share;
mod standings;
mod words;

use std::{net::TcpListener, path::Path, process::Stdio};

use serde_json::Value;
use tempfile::TempDir;

use live::seasons;

use crate::common::{
    hostile::{self, SECRET, identity},
    http::Pages,
    process::{Process, evenkeel},
};

/// The largest page.
const LARGEST: usize = 100_000;

fn json(pages: &Pages, path: &str) -> Value {
    let answer = pages.get(path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    assert_eq!(answer.field("content-type"), Some("application/json"));
    serde_json::from_str(&answer.body).unwrap()
}

/// The handle of the first human who played the latest match.
fn some_handle(pages: &Pages) -> String {
    let home = json(pages, "/v1/matches");
    let id = home["matches"].as_array().unwrap().iter();
    let id = id
        .filter(|line| line["humans"] == 8)
        .map(|line| &line["id"])
        .next()
        .unwrap();
    let game = json(pages, &format!("/v1/matches/{id}"));
    let handle = &game["teams"][0]["players"][0]["player"]["handle"];
    handle.as_str().unwrap().to_owned()
}

/// The paths of all kinds of pages.
fn paths(pages: &Pages) -> Vec<String> {
    let home = json(pages, "/v1/matches?limit=20");
    let matches = home["matches"].as_array().unwrap();
    let mut paths: Vec<String> = ["/", "/balance", "/systems", "/matches", "/search?q=s"]
        .map(str::to_owned)
        .into();
    for line in [matches.first().unwrap(), matches.last().unwrap()] {
        paths.push(format!("/matches/{}", line["id"]));
    }
    for ruleset in ["baseoa.ctf", "%3Ci%3Ectf%3C%2Fi%3E%26a"] {
        paths.push(format!("/rulesets/{ruleset}"));
        paths.push(format!("/balance?ruleset={ruleset}&date=2026-11-10"));
    }
    paths.push("/rulesets/baseoa.ctf?kind=bot&q=a&page=1".to_owned());
    paths.push(format!("/players/{}", some_handle(pages)));
    paths.push("/players/Sarge".to_owned());
    paths
}

/// The path of the data of a page.
fn data_of(path: &str) -> String {
    match path {
        "/" => "/v1/rulesets".to_owned(),
        "/search?q=s" => "/v1/players?q=s".to_owned(),
        path => format!(
            "/v1{}",
            path.replace("/rulesets/", "/leaderboards/")
                .replace("&page=1", "")
        ),
    }
}

#[test]
fn every_page_is_small_escaped_and_without_identities() {
    let (pages, _folder) = seasons(&[]);
    let mut paths = paths(&pages);
    let feed = pages.get("/matches.atom");
    assert!(feed.body.matches("<entry>").count() == 30, "{}", feed.body);
    paths.push("/matches.atom".to_owned());
    for path in &paths {
        let mut variants = vec![path.clone()];
        variants.extend((path != "/matches.atom").then(|| data_of(path)));
        for path in variants {
            let answer = pages.get(&path);
            assert_eq!(answer.status, 200, "{path}: {}", answer.body);
            assert!(
                answer.body.len() < LARGEST,
                "{path}: {} bytes",
                answer.body.len()
            );
            assert!(!answer.body.contains(SECRET), "{path}");
            let policy = answer.field("content-security-policy").unwrap();
            assert!(policy.starts_with("default-src 'none'"), "{path}");
            assert_eq!(answer.field("x-content-type-options"), Some("nosniff"));
            assert_eq!(answer.field("referrer-policy"), Some("same-origin"));
            if !path.starts_with("/v1/") {
                let body = answer.body.replacen("<script src=\"/times-", "", 1);
                for tag in [
                    "<script",
                    "<img",
                    "<i>",
                    "<b>",
                    "onerror=document.title='owned'>",
                ] {
                    assert!(!body.contains(tag), "{path}: {tag}");
                }
                assert!(!answer.body.contains('\u{202e}'), "{path}");
            }
        }
    }
}

#[test]
fn a_player_is_found_by_handle_and_by_identity_and_can_leave() {
    let (pages, folder) = seasons(&[]);
    let mine = pages.get(&format!("/v1/players/{}", identity(2)));
    assert_eq!(mine.status, 200);
    let mine: Value = serde_json::from_str(&mine.body).unwrap();
    let handle = mine["player"]["handle"].as_str().unwrap().to_owned();
    assert_eq!(mine["player"]["name"], "RedGreenTeal & ' \" ]]>");
    assert_eq!(json(&pages, &format!("/v1/players/{handle}")), mine);
    assert_eq!(mine["standings"][0]["games"], 24);
    assert_eq!(
        mine["standings"][0]["history"].as_array().unwrap().len(),
        24
    );
    assert_eq!(mine["form"].as_array().unwrap().len(), 10);
    let why = mine["why"][0]["sentences"].as_array().unwrap();
    assert!(why.len() >= 4, "{why:?}");
    let first = why[0].as_str().unwrap();
    assert!(first.contains("after 24 rated matches"), "{first}");
    let html = pages.get(&format!("/players/{handle}")).body;
    assert!(html.contains("<h2>Why this rating</h2>"), "{html}");
    assert!(html.contains(&format!("<li>{first}</li>")), "{html}");
    let kind = |kind: &str| pages.get(&format!("/players/Sarge?kind={kind}")).status;
    assert_eq!((kind("bot"), kind("human")), (200, 404));
    // An identity without a match is most likely a typing error.
    let mut nobody = evenkeel(folder.path());
    let output = nobody.args(["player", "hide", "nobody"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("nobody"), "{said}");
    for command in ["hide", "unhide", "forget"] {
        let output = evenkeel(folder.path())
            .args(["player", command, &identity(2)])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let shown = command == "unhide";
        let status = if shown { 200 } else { 404 };
        assert_eq!(
            pages.get(&format!("/players/{handle}")).status,
            status,
            "{command}"
        );
        assert_eq!(
            pages.get(&format!("/players/{}", identity(2))).status,
            status
        );
        let ruleset = "/rulesets/%3Ci%3Ectf%3C%2Fi%3E%26a";
        let board = json(&pages, &data_of(ruleset));
        assert_eq!(
            board["rows"].as_array().unwrap().len(),
            if shown { 8 } else { 7 }
        );
        let other = pages.get(&format!("/v1/players/{}", identity(3)));
        for text in [&board.to_string(), &other.body] {
            assert_eq!(text.contains("RedGreenTeal"), shown, "{command}: {text}");
        }
        let home = json(&pages, "/v1/matches");
        let game = pages.get(&format!("/matches/{}", home["matches"][0]["id"]));
        assert_eq!(game.body.contains("Green"), shown, "{command}");
        assert_eq!(game.body.contains("a player"), !shown, "{command}");
    }
}

/// A wish to be hidden counts for all identities of a player, whichever comes first.
#[test]
fn a_hidden_player_stays_hidden_when_identities_are_merged() {
    let player = |folder: &Path, words: &[&str]| {
        let output = evenkeel(folder).arg("player").args(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    let (one, other) = (identity(2), identity(3));
    let (merge, hide) = (["merge", &one, &other], ["hide", &one]);
    for order in [[&merge[..], &hide[..]], [&hide[..], &merge[..]]] {
        let (pages, folder) = seasons(&[]);
        for words in order {
            player(folder.path(), words);
        }
        let found = |id: &String| pages.get(&format!("/players/{id}")).status;
        assert_eq!((found(&one), found(&other)), (404, 404), "{order:?}");
        let board = json(&pages, "/v1/leaderboards/%3Ci%3Ectf%3C%2Fi%3E%26a");
        assert_eq!(board["rows"].as_array().unwrap().len(), 6, "{order:?}");
        player(folder.path(), &["unhide", &one]);
        assert_eq!(found(&other), 200, "{order:?}");
    }
}

#[test]
fn a_match_page_tells_what_was_expected_and_what_happened() {
    let (pages, _folder) = seasons(&[]);
    let list = json(&pages, "/v1/matches?ruleset=baseoa.ctf");
    let line = &list["matches"][0];
    let game = json(&pages, &format!("/v1/matches/{}", line["id"]));
    assert_eq!(game["scores"], line["scores"]);
    let forecast = game["forecast"].as_f64().unwrap();
    assert!(
        (0.0..=1.0).contains(&forecast) && forecast != 0.5,
        "{forecast}"
    );
    assert_eq!(line["forecast"], game["forecast"]);
    assert!(
        game.get("chances").is_none() && game["changes"] == serde_json::json!([]),
        "Evenkeel was not there when it was played"
    );
    let players = game["teams"][0]["players"].as_array().unwrap();
    assert!(
        players
            .iter()
            .all(|player| player["weight"].is_f64() && player["other_side"].is_f64())
    );
    let html = pages.get(&format!("/matches/{}", line["id"])).body;
    let before = |player: &Value| player["weight_before"].as_f64().unwrap();
    let sum: f64 = players.iter().map(before).sum();
    for part in [
        format!("<p class=\"note\">4 players, weights before {sum:.1}</p>"),
        " of such matches.".to_owned(),
        format!("{:.1}</td>", before(&players[0])),
    ] {
        assert!(html.contains(&part), "{part}: {html}");
    }
    for part in ["Forecast: team ", "Other side", "Score over time", "<svg"] {
        assert!(html.contains(part), "{part}");
    }
    // The season's true skills are 1 to 5, so the predictions are better than a coin's.
    let balance = json(&pages, "/v1/balance?ruleset=baseoa.ctf&date=2026-11-20");
    assert_eq!(balance["all"]["matches"], 60);
    assert!(
        balance["all"]["brier"].as_f64().unwrap() < 0.25,
        "{balance}"
    );
    let said = &balance["predictions"];
    assert_eq!(said["learned"], 60, "{said}");
    let sentence = said["sentence"].as_str().unwrap();
    assert!(
        sentence.starts_with("60 matches learned; predictions beat a coin by 0."),
        "{sentence}"
    );
    let status = json(&pages, "/status.json");
    let of_all = &status["predictions"];
    assert!(of_all["gain"].as_f64().unwrap() > of_all["gain_reach"].as_f64().unwrap());
    let sentence_of_all = of_all["beside_coin"].as_str().unwrap();
    assert!(sentence_of_all.contains("predictions beat a coin by 0."));
    let html = pages.get("/balance?ruleset=baseoa.ctf").body;
    assert!(html.contains(sentence), "{sentence}");
    let verdict = &balance["verdict"];
    assert_eq!(verdict["others"]["decided"], 60, "{verdict}");
    assert_eq!(
        (&verdict["picked"], &verdict["before"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(
        verdict["others"]["won"], verdict["latest"]["won"],
        "all are of one week"
    );
    let favourites = verdict["sentence"].as_str().unwrap();
    assert!(
        html.contains(favourites) && favourites.starts_with("Favourites won "),
        "{favourites}"
    );
    let parts = ["before", "after"].map(|part| balance[part]["matches"].as_i64().unwrap());
    assert_eq!(parts.iter().sum::<i64>(), 60);
    let gaps = balance["gaps"].as_array().unwrap().iter();
    assert_eq!(
        gaps.map(|bar| bar["matches"].as_i64().unwrap())
            .sum::<i64>(),
        60
    );
}

#[test]
fn divisions_can_be_shown_instead_of_numbers() {
    let variables = [
        ("EVENKEEL_WEB_SHOW", "division"),
        ("EVENKEEL_WEB_BASE_PATH", "/stats"),
        ("EVENKEEL_WEB_TITLE", "Ann's <site>"),
        ("EVENKEEL_WEB_IMPRINT", "https://example.org/?a=\"b"),
    ];
    let (pages, _folder) = seasons(&variables);
    assert_eq!(
        pages.get("/").status,
        404,
        "the pages are below the base path"
    );
    assert_eq!(pages.get("/healthz").body, "ok\n");
    assert_eq!(pages.get("/stats").status, 200);
    let home = pages.get("/stats/");
    assert_eq!(home.status, 200);
    let home = home.body;
    assert!(
        home.contains("Ann&#39;s &lt;site&gt;") || home.contains("Ann's &lt;site&gt;"),
        "{home}"
    );
    assert!(home.contains("https://example.org/?a=&quot;b"));
    assert!(home.contains("href=\"/stats/balance\""));
    let player = json(&pages, "/stats/v1/players/Sarge");
    let text = player.to_string();
    for number in [
        "weight",
        "deviation",
        "chance_as_started",
        "forecast",
        "change",
        "history",
    ] {
        assert!(!text.contains(&format!("\"{number}\"")), "{number}");
    }
    let html = pages.get("/stats/players/Sarge").body;
    assert!(!html.contains("<svg") && !html.contains("±"), "{html}");
    assert!(!html.contains("Why this rating"), "{html}");
}

#[test]
fn an_answer_is_sent_again_only_if_it_has_changed() {
    let (pages, folder) = seasons(&[]);
    let first = pages.get("/");
    // The answers here are read in lower case.
    let tag = first.field("etag").unwrap().replace("w/", "W/");
    let again = pages.request("GET", "/", &format!("If-None-Match: {tag}\r\n"));
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    assert_eq!(again.field("etag"), first.field("etag"));
    let head = pages.request("HEAD", "/", "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert_eq!(head.field("etag"), first.field("etag"));
    hostile::ingest(folder.path(), 30);
    let changed = pages.request("GET", "/", &format!("If-None-Match: {tag}\r\n"));
    assert_eq!(changed.status, 200);
    let sheet = first
        .body
        .split("href=\"")
        .find(|part| part.starts_with("/style-"))
        .unwrap();
    let sheet = pages.get(sheet.split('"').next().unwrap());
    assert_eq!(sheet.field("content-type"), Some("text/css; charset=utf-8"));
    assert!(sheet.field("cache-control").unwrap().contains("immutable"));
}

#[test]
fn an_empty_database_has_pages_too() {
    let folder = TempDir::new().unwrap();
    let pages = Pages::start(folder.path(), &[]);
    for path in [
        "/",
        "/balance",
        "/live",
        "/systems",
        "/v1/rulesets",
        "/v1/balance",
        "/v1/live",
        "/v1/systems",
        "/matches",
        "/v1/matches",
        "/search?q=x",
        "/matches.atom",
        "/healthz",
        "/readyz",
    ] {
        assert_eq!(pages.get(path).status, 200, "{path}");
    }
    for path in [
        "/rulesets/x",
        "/players/x",
        "/matches/1",
        "/matches/x",
        "/nothing",
        "/balance?ruleset=x",
    ] {
        let answer = pages.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.body.contains("<h1>"), "{path}");
    }
    let error = pages.get("/v1/players/x");
    assert_eq!(
        (error.status, error.field("content-type")),
        (404, Some("application/problem+json"))
    );
}

#[test]
fn the_default_address_may_be_taken_and_a_configured_one_may_not() {
    // If another program has the default address already, this test needs not take it.
    let _taken = TcpListener::bind("127.0.0.1:7998");
    let folder = TempDir::new().unwrap();
    let mut command = evenkeel(folder.path());
    command.env_remove("EVENKEEL_WEB_LISTEN");
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    let mut daemon = command.stderr(Stdio::piped()).spawn().unwrap();
    let log = std::io::BufReader::new(daemon.stderr.take().unwrap());
    let mut said = std::io::BufRead::lines(log).map_while(Result::ok);
    let said = said.find(|line| line.contains("statistics pages"));
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    assert!(said.unwrap().contains("there are no statistics pages"));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for words in [&["--web", &address][..], &[]] {
        let mut command = evenkeel(folder.path());
        command.env("EVENKEEL_WEB_LISTEN", &address);
        let output = command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(words)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            errors.contains(&format!("[web] listen: cannot listen on {address}: ")),
            "{errors}"
        );
    }
    let off = Process::run(
        folder.path(),
        &["serve", "--listen", "127.0.0.1:0", "--web", "off"],
        &[],
    );
    assert_eq!(off.ask("PING\n"), "PONG\n");
}
