//! Attacks on the pages of a daemon while a game server plays: the game server notices nothing.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::common::{
    hostile,
    http::Pages,
    process::{HANG, line, poll, run},
};

/// Text that turns the text around it, and that begins a command of a terminal, in everything that a game server states.
#[test]
fn what_a_game_server_states_is_shown_without_its_commands() {
    let folder = TempDir::new().unwrap();
    let mut pages = Pages::start(folder.path(), &[]);
    let bad = "x\u{202e}y\u{9b}2J\u{2067}z";
    let game = format!(
        "HELLO \"{bad}\"\nGAME \"{bad}\"\nMAP \"{bad}\"\nMINPLAYERS 0\nJOIN a team=0 name=\"{bad}\"\nJOIN b team=1\n\
         START\nSCORE 0\nEND\n"
    );
    let said = pages.daemon.ask(&game);
    assert!(said.contains("END 1 "), "{said}");
    let harms = ['\u{202e}', '\u{9b}', '\u{2067}'];
    let paths = [
        "/",
        "/matches",
        "/matches/1",
        "/matches.atom",
        "/balance",
        "/live",
        "/v1/matches",
        "/v1/matches/1",
    ];
    // Some of them show a match once it is learned.
    poll(|| {
        let shows = |path: &&str| {
            let answer = pages.get(path);
            assert_eq!(answer.status, 200, "{path}");
            assert!(!answer.body.contains(harms), "{path}: {}", answer.body);
            answer.body.contains("202e")
        };
        match paths.iter().copied().filter(shows).count() {
            5.. => Ok(()),
            shown => Err(shown),
        }
    });
    pages.daemon.stop();
    for words in [
        &["export"][..],
        &["match", "show", "1", "--json"],
        &["weights", "--json"],
    ] {
        let (code, text, error) = run(folder.path(), words);
        assert_eq!(code, 0, "{words:?}: {error}");
        assert!(!text.contains(harms), "{words:?}: {text}");
        for line in text.lines().filter(|_| words == ["export"]) {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(record["game"], bad, "the same text");
        }
    }
}

#[test]
fn no_path_leads_out_of_the_pages() {
    let folder = TempDir::new().unwrap();
    hostile::ingest(folder.path(), 4);
    std::fs::write(folder.path().join("secret"), "the secret").unwrap();
    let pages = Pages::start(folder.path(), &[]);
    for path in [
        "//",
        "//etc/passwd",
        "/./",
        "/..",
        "/../secret",
        "/..%2fsecret",
        "/%2e%2e/secret",
        "/%2e%2e%2fsecret",
        "/players/../../secret",
        "/players/..%2f..%2fsecret",
        "/players/%00",
        "/players/..%5c..%5csecret",
        "/matches/%2e%2e%2fsecret",
        "/v1/matches/1%00",
        "/rulesets/%252e%252e%252fsecret",
        "/balance/",
        "/balance;x",
        "/BALANCE",
        "/metrics/",
        "/metrics/x",
        "//metrics",
        "/status.json/x",
        "/style-../secret.css",
        "http://example.org/secret",
        "/.git/config",
        "/evenkeel.db",
        "/%ff",
    ] {
        let answer = pages.get(path);
        assert!((400..=404).contains(&answer.status), "{path}: {answer:?}");
        assert!(!answer.body.contains("the secret"), "{path}");
    }
    for bytes in [
        &b"GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n"[..],
        b"GET / HTTP/1.1\r\nHost: x\r\nHost\0: y\r\n\r\n",
        b"GET /x\r\n y HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"\r\n\r\n\r\n\r\nx",
    ] {
        let mut stream = pages.connect();
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said);
        assert!(!said.contains(" 500 "), "{said}");
    }
    assert_eq!(pages.get("/healthz").status, 200);
}

#[test]
fn an_address_that_asks_too_often_is_told_to_wait() {
    let folder = TempDir::new().unwrap();
    let variables = [("EVENKEEL_WEB_REQUESTS_PER_SECOND", "2")];
    let pages = Pages::start(folder.path(), &variables);
    let statuses: Vec<u16> = (0..30).map(|_| pages.get("/healthz").status).collect();
    assert_eq!(statuses[..20], [200; 20]);
    assert!(statuses.contains(&429), "{statuses:?}");
    let began = Instant::now();
    loop {
        let answer = pages.get("/healthz");
        match answer.status {
            200 => break,
            _ => assert_eq!(answer.field("retry-after"), Some("1"), "{answer:?}"),
        }
        assert!(began.elapsed() < HANG);
    }
    let free = [("EVENKEEL_WEB_REQUESTS_PER_SECOND", "0")];
    let other = TempDir::new().unwrap();
    let pages = Pages::start(other.path(), &free);
    assert!((0..600).all(|_| pages.get("/healthz").status == 200));
}

/// The page that costs most.
const PAGE: &str = "/balance?ruleset=baseoa.ctf";

/// Asks for one page again and again on one connection, until `stop`. Adds up the answers.
fn flood(address: SocketAddr, path: &str, stop: &AtomicBool, answers: &AtomicUsize) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").repeat(16);
    while !stop.load(Ordering::Relaxed) {
        let Ok(mut stream) = TcpStream::connect(address) else {
            continue;
        };
        let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
        let mut buffer = vec![0; 64 * 1_024];
        while !stop.load(Ordering::Relaxed) {
            if stream.write_all(request.as_bytes()).is_err() {
                break;
            }
            match stream.read(&mut buffer) {
                Ok(read @ 1..) => {
                    let text = &buffer[..read];
                    let heads = text.windows(9).filter(|part| part == b"HTTP/1.1 ").count();
                    answers.fetch_add(heads, Ordering::Relaxed);
                }
                _ => break,
            }
        }
    }
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_game_server_notices_no_attack_on_the_pages() {
    let folder = TempDir::new().unwrap();
    hostile::ingest_season(folder.path());
    let variables = [
        ("EVENKEEL_WEB_MAX_CONNECTIONS", "40"),
        ("EVENKEEL_WEB_MAX_PER_ADDRESS", "20"),
    ];
    let pages = Pages::start(folder.path(), &variables);
    let (stop, answers) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (address, mut longest) = (pages.address, Duration::ZERO);
    thread::scope(|scope| {
        // The threads end also if this one panics.
        let _stop = StopOnDrop(&stop);
        // Connections that are held open: silent, with half a head, and with a head that never ends.
        let mut held = Vec::new();
        for n in 0..60 {
            let mut stream = pages.connect();
            let part = ["", "GET / HTTP/1.1\r\nHost: x\r\n", "GET / HTTP/1.1\r\nX: "][n % 3];
            let _ = stream.write_all(part.as_bytes());
            held.push(stream);
            if n == 12 {
                for _ in 0..6 {
                    let (stop, answers) = (&stop, &answers);
                    scope.spawn(move || flood(address, PAGE, stop, answers));
                }
            }
        }
        let mut game = pages.daemon.connect();
        let setup = "HELLO ps37\nGAME baseoa.ctf\nJOIN ann\nJOIN bob\nJOIN cid\nJOIN dan\nSTART\n";
        game.get_mut().write_all(setup.as_bytes()).unwrap();
        assert!(line(&mut game).starts_with("HELLO "));
        let began = Instant::now();
        let mut asked = 0;
        while asked < 300 || answers.load(Ordering::Relaxed) < 3_000 {
            assert!(began.elapsed() < HANG, "{asked} {answers:?}");
            let sent = Instant::now();
            let (question, reply) = match asked % 3 {
                0 => ("PLAYER ann\n", "PLAYER ann"),
                1 => ("BALANCE seed=1\n", "BALANCE "),
                _ => ("BOT Sarge\n", "BOT Sarge "),
            };
            game.get_mut().write_all(question.as_bytes()).unwrap();
            let said = line(&mut game);
            assert!(said.starts_with(reply), "{said}");
            if asked % 3 == 1 {
                game.get_mut().write_all(b"PING\n").unwrap();
                while line(&mut game) != "PONG" {}
            }
            longest = longest.max(sent.elapsed());
            asked += 1;
        }
        game.get_mut().write_all(b"SCORE 0\nEND\n").unwrap();
        assert!(line(&mut game).starts_with("END "));
        println!(
            "{asked} questions, the slowest took {longest:?}, while {} answers went to the flood",
            answers.load(Ordering::Relaxed)
        );
        drop(held);
    });
    assert!(longest < Duration::from_secs(2), "{longest:?}");
    // Visitors are served again as soon as the attack is over.
    let began = Instant::now();
    while pages.get("/").status != 200 {
        assert!(began.elapsed() < HANG);
    }
}
