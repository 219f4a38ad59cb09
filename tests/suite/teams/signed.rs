//! Who may use the forms: tokens, cookies, other sites' pages, visitors.

use std::fs;

use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection, sqlite::SqliteConnectOptions};

use crate::common::{api::Api, forms::Browser};

const OPEN: &str = "[api]\nenabled = true\nvisitors = true\n";

/// Whether a browser is signed in.
fn is_signed_in(browser: &mut Browser<'_>) -> bool {
    browser.go("");
    assert_eq!(browser.answer.status, 200);
    browser.shows("This browser records for <b>club</b>.")
}

/// A browser with teams that it may record.
fn picked<'a>(api: &'a Api, base: &'a str) -> Browser<'a> {
    let mut browser = Browser::open(api, base);
    browser.sign_in("club");
    browser.press("pick", &[("ruleset", "futsal"), ("names", "Ann, Bob")]);
    assert_eq!(browser.press("pick", &[]), 200);
    browser
}

#[test]
fn the_cookie_is_for_the_forms_of_the_page_only() {
    let api = Api::start("[api]\nenabled = true\norigins = ['https://club.example']\n");
    let mut browser = Browser::open(&api, "");
    let set = browser.sign_in("club");
    let (pair, attributes) = set.split_once("; ").unwrap();
    let secret = pair.strip_prefix("evenkeel-teams=").unwrap();
    assert!(secret.len() == 64 && secret.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert_eq!(
        attributes,
        "path=/teams; max-age=2592000; httponly; samesite=strict"
    );
    assert!(is_signed_in(&mut browser));
    // Over HTTPS, as the browser states it, also Secure.
    let mut secure = Browser::open(&api, "");
    secure.origin = "https://club.example".to_owned();
    let set = secure.sign_in("club");
    assert!(set.ends_with("; samesite=strict; secure"), "{set}");
    // Not for `/v1`.
    let body = json!({"ruleset": "futsal", "teams": [["ann"], ["bob"]], "winner": 0});
    let cookie = format!("Cookie: {}\r\n", browser.cookie);
    let answer = api.call_with("", "POST", "/v1/matches", &body, &cookie);
    assert_eq!(answer.0, 401, "{answer:?}");
    // Nor is the token in it, or in any page.
    assert!(!browser.shows("club-token") && !browser.shows(secret));
    let old = browser.cookie.clone();
    assert_eq!(browser.press("out", &[]), 200);
    assert!(
        browser
            .answer
            .field("set-cookie")
            .unwrap()
            .contains("max-age=0")
    );
    browser.cookie = old;
    assert!(!is_signed_in(&mut browser), "the database has forgotten it");
}

#[test]
fn below_a_base_path_everything_works_alike() {
    let api = Api::start(&format!("{OPEN}[web]\nbase_path = '/stats'\n"));
    let mut browser = Browser::open(&api, "/stats");
    let set = browser.sign_in("club");
    assert!(set.contains("; path=/stats/teams;"), "{set}");
    assert!(browser.shows("action=\"/stats/teams\""));
    let script = browser.answer.body.split("<script src=\"").nth(1).unwrap();
    let script = script.split('"').next().unwrap();
    assert_eq!(api.pages.get(script).status, 200, "{script}");
    let mut browser = picked(&api, "/stats");
    assert_eq!(browser.press("won-0", &[]), 200);
    assert!(browser.shows("href=\"/stats/matches/"));
    assert_eq!(api.pages.get("/teams").status, 404);
}

#[test]
fn pages_of_other_sites_can_do_nothing_with_the_cookie() {
    let api = Api::start(OPEN);
    let mut browser = picked(&api, "");
    let won = browser.form("won-0", &[]);
    let own = browser.origin.clone();
    for origin in [
        "https://evil.example",
        "null",
        "",
        "http://127.0.0.1:1",
        "http://localhost",
    ] {
        browser.origin = origin.to_owned();
        assert_eq!(browser.send(&won), 403, "{origin}");
        assert_eq!(browser.send("do=in&token=club-token"), 403, "{origin}");
        assert!(browser.answer.field("set-cookie").is_none());
    }
    browser.origin = own;
    // Without the code of the form, or with another's.
    let (head, rest) = won.split_once("code=").unwrap();
    let (code, rest) = rest.split_once('&').unwrap();
    let other = picked(&api, "");
    let other = other.form("won-0", &[]);
    let other = other
        .split_once("code=")
        .unwrap()
        .1
        .split('&')
        .next()
        .unwrap();
    assert_ne!(code, other);
    for wrong in [String::new(), "code=&".to_owned(), format!("code={other}&")] {
        assert_eq!(
            browser.send(&format!("{head}{wrong}{rest}")),
            403,
            "{wrong}"
        );
        assert!(browser.shows("this form was not made for you"));
    }
    assert_eq!(api.matches(), 0);
    assert_eq!(browser.send(&won), 200);
    assert_eq!(api.matches(), 1);
}

#[test]
fn wrong_tokens_open_nothing_and_rights_are_those_of_the_client() {
    let api = Api::start("");
    let mut browser = Browser::open(&api, "");
    assert!(browser.shows("To make teams, show a token once.") && !browser.shows("name=\"names\""));
    assert_eq!(browser.press("in", &[("token", "club-tokem")]), 401);
    assert!(
        browser.shows("no client has this token"),
        "{}",
        browser.answer.body
    );
    assert_eq!(
        browser.press("in", &[("token", "lobby-token")]),
        403,
        "it has neither right"
    );
    browser.sign_in("other");
    assert!(!browser.shows("name=\"names\""), "it may only report");
    assert_eq!(browser.press("out", &[]), 200);
    browser.cookie.clear();
    browser.sign_in("asker");
    browser.press("pick", &[("ruleset", "futsal"), ("names", "Ann, Bob")]);
    assert_eq!(browser.press("pick", &[]), 200);
    assert!(!browser.shows("Who won?"), "it may only ask");
    let code = browser.form("again", &[]);
    let code = code
        .split_once("code=")
        .unwrap()
        .1
        .split('&')
        .next()
        .unwrap();
    let seats = "seat=0:new:a&seat=1:new:b&ruleset=futsal&key=1";
    assert_eq!(browser.send(&format!("do=won-0&{seats}&code={code}")), 403);
    assert_eq!(api.matches(), 0);
}

#[test]
fn visitors_may_pick_if_they_may_and_only_so_often() {
    let api = Api::start(&format!(
        "{OPEN}[limits]\ndecisions_per_second = 1\ndecisions_burst = 5\n"
    ));
    let mut browser = Browser::open(&api, "");
    browser.press("pick", &[("ruleset", "futsal"), ("names", "Ann, Bob")]);
    assert_eq!(browser.press("pick", &[]), 200);
    assert!(browser.shows("<h1>1 v 1</h1>") && !browser.shows("Who won?"));
    let again = browser.form("again", &[]);
    let refused = (0..100)
        .map(|_| browser.send(&again))
        .find(|status| *status != 200);
    assert_eq!(refused, Some(429));
    assert!(browser.shows("too often: try again in"));
    assert_eq!(api.matches(), 0);
}

/// Starts the daemon again with another configuration.
fn start_again(mut api: Api, change: impl Fn(String) -> String) -> Api {
    let path = api.folder.path().join("evenkeel.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, change(text)).unwrap();
    api.kill_and_start();
    api
}

#[test]
fn a_sign_in_outlives_a_restart_and_ends_with_the_token_of_its_client() {
    let api = Api::start("");
    let cookie = picked(&api, "").cookie;
    let signed_in = |api: &Api| {
        let mut browser = Browser::open(api, "");
        browser.cookie.clone_from(&cookie);
        is_signed_in(&mut browser)
    };
    let api = start_again(api, |text| text);
    assert!(signed_in(&api));
    let api = start_again(api, |text| {
        text.replace("'club-token'", "'another-token-of-club'")
    });
    assert!(!signed_in(&api), "another token");
    let api = start_again(api, |text| {
        text.replace("'another-token-of-club'", "'club-token'")
    });
    assert!(signed_in(&api));
    let api = start_again(api, |text| text.replace("name = 'club'", "name = 'gang'"));
    assert!(!signed_in(&api), "another client");
    let api = start_again(api, |text| text.replace("name = 'gang'", "name = 'club'"));
    assert!(signed_in(&api));
}

#[tokio::test]
async fn a_sign_in_ends_after_thirty_days() {
    let api = Api::start("");
    let cookie = picked(&api, "").cookie;
    let mut database = SqliteConnectOptions::new()
        .filename(api.folder.path().join("evenkeel.db"))
        .connect()
        .await
        .unwrap();
    let stored: Vec<u8> = sqlx::query_scalar("SELECT secret FROM sign_ins")
        .fetch_one(&mut database)
        .await
        .unwrap();
    let hex: String = stored.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(
        stored.len() == 32 && !cookie.contains(&hex),
        "only a hash is stored"
    );
    let mut browser = Browser::open(&api, "");
    browser.cookie = cookie;
    for (days, valid) in [(29_i64, true), (31, false)] {
        let query =
            sqlx::query("UPDATE sign_ins SET made_at = datetime(made_at, '-' || $1 || ' days')");
        query.bind(days).execute(&mut database).await.unwrap();
        assert_eq!(is_signed_in(&mut browser), valid, "{days}");
        let query =
            sqlx::query("UPDATE sign_ins SET made_at = datetime(made_at, '+' || $1 || ' days')");
        query.bind(days).execute(&mut database).await.unwrap();
    }
    database.close().await.unwrap();
    assert_eq!(api.call("", "GET", "/v1/live", &Value::Null).0, 200);
}
