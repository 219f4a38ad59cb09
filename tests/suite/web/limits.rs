//! What visitors of the statistics pages may not do.

use std::{
    io::{Read, Write},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::common::{hostile, http::Pages, process::wait};

#[test]
fn pages_only_show() {
    let folder = TempDir::new().unwrap();
    let pages = Pages::start(folder.path(), &[]);
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        let answer = pages.request(method, "/", "Content-Length: 0\r\n");
        assert_eq!(answer.status, 405, "{method}");
        assert_eq!(answer.field("allow"), Some("get,head"), "{method}");
    }
}

#[test]
fn addresses_that_make_no_sense_are_refused() {
    let folder = TempDir::new().unwrap();
    hostile::ingest(folder.path(), 4);
    let pages = Pages::start(folder.path(), &[]);
    let long = "x".repeat(3_000);
    let answers = [
        (format!("/players/{long}"), 414),
        (format!("/?{long}"), 414),
        ("/players/%ff%fe".to_owned(), 400),
        ("/players/%00".to_owned(), 404),
        ("/players/..%2f..%2fetc%2fpasswd".to_owned(), 404),
        ("/../../etc/passwd".to_owned(), 404),
        ("/players/'%20OR%201=1".to_owned(), 404),
        ("/rulesets/x?page=-5".to_owned(), 404),
        (
            "/rulesets/%3Ci%3Ectf%3C%2Fi%3E%26a?page=99999999".to_owned(),
            404,
        ),
        ("/rulesets/%3Ci%3Ectf%3C%2Fi%3E%26a?page=x".to_owned(), 400),
        (
            "/rulesets/%3Ci%3Ectf%3C%2Fi%3E%26a?q=%25%27%22%3Cb%3E".to_owned(),
            200,
        ),
        ("/balance?date=yesterday".to_owned(), 400),
        ("/matches/99999999999999999999".to_owned(), 404),
        ("/matches/-1".to_owned(), 404),
    ];
    for (path, status) in answers {
        let answer = pages.get(&path);
        assert_eq!(answer.status, status, "{path}");
        assert!(!answer.body.contains("<b>"), "{path}");
        assert!(answer.field("content-security-policy").is_some(), "{path}");
    }
    let fields = "X: y\r\n".repeat(100);
    assert_eq!(pages.request("GET", "/", &fields).status, 431);
    let large = format!("X: {}\r\n", "y".repeat(20_000));
    assert_eq!(pages.request("GET", "/", &large).status, 431);
    assert_eq!(
        pages.send(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n").status,
        400
    );
    assert_eq!(pages.get("/healthz").status, 200);
}

#[test]
fn slow_visitors_are_dropped() {
    let folder = TempDir::new().unwrap();
    let variables = [
        ("EVENKEEL_WEB_HEAD_SECONDS", "1"),
        ("EVENKEEL_WEB_CONNECTION_SECONDS", "1"),
    ];
    let pages = Pages::start(folder.path(), &variables);
    let began = Instant::now();
    let mut silent = pages.connect();
    let mut halfway = pages.connect();
    halfway.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n").unwrap();
    let mut idle = pages.connect();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        .unwrap();
    for stream in [&mut silent, &mut halfway, &mut idle] {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn one_address_cannot_take_all_connections() {
    let folder = TempDir::new().unwrap();
    let variables = [("EVENKEEL_WEB_MAX_PER_ADDRESS", "2")];
    let pages = Pages::start(folder.path(), &variables);
    let mut two = [pages.connect(), pages.connect()];
    for stream in &mut two {
        stream
            .write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            .unwrap();
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
    }
    for path in ["/healthz", "/", "/v1/live"] {
        let third = pages.get(path);
        assert_eq!(third.status, 503, "{third:?}");
        assert_eq!(third.field("retry-after"), Some("1"));
        let why = "<p>There are too many connections from your address. Try again later.</p>";
        assert!(third.body.contains(why), "{}", third.body);
    }
    drop(two);
    // The daemon notices soon that they have ended.
    let began = Instant::now();
    while pages.get("/healthz").status != 200 {
        assert!(began.elapsed() < Duration::from_secs(30));
    }
}

#[test]
fn a_stop_ends_open_connections_in_time() {
    let folder = TempDir::new().unwrap();
    let mut pages = Pages::start(folder.path(), &[("EVENKEEL_SERVER_DRAIN_SECONDS", "1")]);
    let mut idle = pages.connect();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        .unwrap();
    let mut byte = [0];
    idle.read_exact(&mut byte).unwrap();
    let mut halfway = pages.connect();
    halfway.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    let began = Instant::now();
    pages.daemon.signal("-TERM");
    assert!(wait(&mut pages.daemon.child).success());
    assert!(
        began.elapsed() < Duration::from_secs(3),
        "{:?}",
        began.elapsed()
    );
}
