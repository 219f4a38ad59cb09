//! The programs of `integrations/http` against a daemon.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener},
    path::Path,
    process::{Command, Stdio},
    thread,
};

use super::NONE;
use crate::{
    common::{api::Api, chrome::Chrome},
    web_browser::browser,
};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/integrations/http");
const PAGE: &str = include_str!("../../../integrations/http/teams.html");

/// Whether a program is there; if not, says so.
fn is_there(program: &str) -> bool {
    let tried = Command::new(program).arg("--version").output();
    let is_there = tried.is_ok_and(|output| output.status.success());
    if !is_there {
        println!("skipped: there is no {program}");
    }
    is_there
}

/// What an example prints that picks teams of four, and is told that the second team won.
fn run(api: &Api, example: &str) -> String {
    let mut command = Command::new(Path::new(FOLDER).join(example));
    command
        .args(["futsal", "ann", "bob", "cid", "dan"])
        .env("EVENKEEL", format!("http://{}", api.pages.address))
        .env("EVENKEEL_TOKEN", "club-token")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"1\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{example}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// The stored match is of four players, and the second team won.
fn is_recorded(api: &Api) {
    let (status, list) = api.call("all", "GET", "/v1/matches", &NONE);
    assert_eq!((status, list["matches"].as_array().unwrap().len()), (200, 1));
    let number = &list["matches"][0]["id"];
    let (_, game) = api.call("all", "GET", &format!("/v1/matches/{number}"), &NONE);
    assert_eq!(game["winner"], 1, "{game}");
    assert_eq!(game["teams"][1].as_array().map(Vec::len), Some(2), "{game}");
}

#[test]
fn the_script_for_a_shell_picks_teams_and_reports_the_result() {
    if !is_there("curl") || !is_there("jq") {
        return;
    }
    let api = Api::start("");
    let said = run(&api, "teams.sh");
    assert_eq!(said.matches("chance not known yet").count(), 2, "{said}");
    assert!(said.contains("\"match\":1"), "{said}");
    is_recorded(&api);
}

#[test]
fn the_script_for_python_picks_teams_and_reports_the_result() {
    if !is_there("python3") {
        return;
    }
    let api = Api::start("");
    let said = run(&api, "teams.py");
    assert!(said.starts_with("team 0: ") && said.contains("\nteam 1: "), "{said}");
    assert!(said.ends_with("recorded as match 1\n"), "{said}");
    is_recorded(&api);
}

/// The web site of a club, which answers everything with the example.
fn site() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let length = PAGE.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
            );
            // A browser may close a connection that it has opened ahead of time.
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(PAGE.as_bytes()));
        }
    });
    address
}

#[test]
fn the_page_for_a_web_site_shows_teams_and_names_as_text() {
    let Some(browser) = browser() else { return };
    let site = site();
    let api = Api::start(&format!(
        "[api]\nenabled = true\nvisitors = true\norigins = ['http://{site}']\n"
    ));
    let mut chrome = Chrome::start(&browser);
    chrome.go(&format!("http://{site}/#http://{}", api.pages.address));
    chrome.fill("#names", "ann\nbob\n<b>cid</b>\ndan");
    chrome.tap("button");
    let shown = "new Promise(done => { const look = () => { const text = document.getElementById('teams').textContent;
                 text ? done(text) : setTimeout(look, 10); }; look(); })";
    let shown = chrome.value(shown);
    let shown = shown.as_str().unwrap();
    for name in ["ann", "bob", "<b>cid</b>", "dan"] {
        assert!(shown.contains(name), "{shown}");
    }
}

/// They are examples: short enough to be read at a glance.
#[test]
fn examples_have_less_than_forty_lines() {
    for name in ["teams.sh", "teams.py", "teams.html", "teams.sp"] {
        let text = std::fs::read_to_string(Path::new(FOLDER).join(name)).unwrap();
        assert!(text.lines().count() < 40, "{name}");
    }
}
