//! What operators watch of a real daemon: `/metrics`, its status, its logs, and the files for Prometheus and
//! Grafana.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{BufRead, BufReader, Read, Seek, SeekFrom, Write},
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use evenkeel::{
    metrics::{Histogram, SECONDS, SHARES},
    model::Kind,
    server::{
        Service,
        watch::{Monitor, NotReady, Status},
    },
};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{
    self,
    http::Pages,
    process::{HANG, evenkeel, line, poll, run, wait},
};

/// A daemon that has something of everything to count.
const CONFIG: &str = r#"
[web]
requests_per_second = 0

[store]
backups = "backups"

[queue.duel]
teams = 2
size = 1
ruleset = "baseoa.ctf"
host = "none"

[queue.big]
teams = 2
size = 5
ruleset = "baseoa.ctf"

[[follow]]
path = "games.log"

[[webhook]]
name = "nobody"
url = "http://127.0.0.1:9/"
secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
"#;

fn start(folder: &Path, config: &str) -> Pages {
    let path = folder.join("evenkeel.toml");
    fs::write(&path, config).unwrap();
    Pages::start(folder, &[("EVENKEEL_CONFIG", path.to_str().unwrap())])
}

/// The values of `/metrics`, by name and labels.
fn scrape(pages: &Pages) -> BTreeMap<String, f64> {
    let answer = pages.get("/metrics");
    assert_eq!(answer.status, 200, "{}", answer.body);
    values(&answer.body)
}

fn values(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let value = |line: &str| {
        let (name, value) = line.rsplit_once(' ').unwrap();
        (name.to_owned(), value.parse().unwrap())
    };
    lines.map(value).collect()
}

/// Scrapes until these metrics have these values.
fn until(pages: &Pages, expected: &[(&str, f64)]) {
    poll(|| {
        let found = scrape(pages);
        let wrong: Vec<_> = expected
            .iter()
            .map(|(name, value)| (*name, *value, found.get(*name).copied()))
            .filter(|(_, value, found)| *found != Some(*value))
            .collect();
        wrong.is_empty().then_some(()).ok_or(wrong)
    })
}

const GAME: &str = "HELLO ps37\nGAME baseoa.ctf\nJOIN ann\nJOIN \"b\\\"ob}\"\nJOIN cid\nJOIN dan\n\
    PLAYER ann\nplayer ann\nPLAYER zoe\nBOT Sarge\nBALANCE seed=1\nPLACE nobody\nNONSENSE 1\nPLAYER\n\
    KILL world ann\nSTART\nPING\n";

/// Plays a game, of which the counts are known.
fn play(pages: &Pages) {
    let mut game = pages.daemon.connect();
    game.get_mut().write_all(GAME.as_bytes()).unwrap();
    while line(&mut game) != "PONG" {}
    let found = scrape(pages);
    let is = |name: &str, value: f64| assert_eq!(found.get(name), Some(&value), "{name}");
    for (verb, count) in [
        ("HELLO", 1.0),
        ("JOIN", 4.0),
        ("PLAYER", 3.0),
        ("BOT", 1.0),
        ("BALANCE", 1.0),
        ("PLACE", 1.0),
        ("KILL", 1.0),
        ("PING", 1.0),
        ("END", 0.0),
    ] {
        is(
            &format!("evenkeel_requests_total{{verb=\"{verb}\"}}"),
            count,
        );
        let counted = format!("evenkeel_request_seconds_count{{verb=\"{verb}\"}}");
        match count > 0.0 {
            true => is(&counted, count),
            false => assert_eq!(found.get(&counted), None),
        }
    }
    for (code, count) in [
        ("unknown-player", 2.0),
        ("unknown-command", 1.0),
        ("bad-argument", 1.0),
        ("internal", 0.0),
    ] {
        is(&format!("evenkeel_errors_total{{code=\"{code}\"}}"), count);
    }
    is("evenkeel_connections", 1.0);
    is(
        "evenkeel_connections_accepted_total{encryption=\"none\"}",
        1.0,
    );
    is("evenkeel_games_playing", 1.0);
    is("evenkeel_teams_ratio_count", 1.0);
    is("evenkeel_teams_ratio_sum", 1.0);
    is("evenkeel_matches_recorded_total", 0.0);
    is("evenkeel_ready", 1.0);
    let rest = "SCORE 0\nEND\n";
    game.get_mut().write_all(rest.as_bytes()).unwrap();
    let ended = line(&mut game);
    assert!(ended.starts_with("END "), "{ended}");
    let found = scrape(pages);
    for (name, value) in [
        ("evenkeel_games_playing", 0.0),
        ("evenkeel_matches_recorded_total", 1.0),
        ("evenkeel_requests_total{verb=\"END\"}", 1.0),
    ] {
        assert_eq!(found.get(name), Some(&value), "{name}");
    }
    assert!(found["evenkeel_database_write_seconds_count"] >= 1.0);
}

/// Forms one match in a queue, and lets a ticket wait in another one.
fn queue(pages: &Pages) {
    let lines = "HELLO lobby\nENQUEUE duel t1\nSEAT ann2\nSUBMIT\nENQUEUE duel t2\nSEAT bob2\nSUBMIT\n\
        ENQUEUE big t3\nSEAT cid2\nSEAT dan2\nSUBMIT\n";
    let said = pages.daemon.ask(lines);
    assert_eq!(said.matches("QUEUED").count(), 3, "{said}");
}

/// The daemon of [`CONFIG`] after a game, a match of a queue, and with an instance.
fn busy(folder: &Path) -> (Pages, BufReader<std::net::TcpStream>) {
    fs::copy(
        concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fixtures/openarena/ctf-014.log"
        ),
        folder.join("games.log"),
    )
    .unwrap();
    let pages = start(folder, CONFIG);
    play(&pages);
    queue(&pages);
    let mut instance = pages.daemon.connect();
    let lines = "HELLO host\nINSTANCE 203.0.113.7:27960 slots=3\nPING\n";
    instance.get_mut().write_all(lines.as_bytes()).unwrap();
    while line(&mut instance) != "PONG" {}
    (pages, instance)
}

#[test]
fn everything_that_happens_is_counted() {
    let folder = TempDir::new().unwrap();
    let (pages, _instance) = busy(folder.path());
    let name = |name: &str, label: &str| format!("evenkeel_{name}{{{label}}}");
    let duel = |what: &str| name(what, "queue=\"duel\"");
    let big = |what: &str| name(what, "queue=\"big\"");
    let expected = [
        (duel("queue_matches_formed_total"), 1.0),
        (duel("queue_wait_seconds_count"), 2.0),
        (duel("queue_tickets"), 0.0),
        (big("queue_tickets"), 1.0),
        (big("queue_players"), 2.0),
        (name("instances", "state=\"connected\""), 1.0),
        (name("slots", "state=\"free\""), 3.0),
        (name("hosted_matches", "stage=\"reserved\""), 0.0),
        ("evenkeel_followed_logs".to_owned(), 1.0),
        ("evenkeel_followed_matches_total".to_owned(), 1.0),
        ("evenkeel_followed_unread_bytes".to_owned(), 0.0),
        ("evenkeel_matches_learned".to_owned(), 2.0),
        ("evenkeel_ingest_lag_seconds".to_owned(), 0.0),
        ("evenkeel_connections".to_owned(), 1.0),
    ];
    let expected: Vec<_> = expected.iter().map(|(n, v)| (n.as_str(), *v)).collect();
    until(&pages, &expected);
    poll(|| {
        let waiting = scrape(&pages)["evenkeel_webhook_pending{webhook=\"nobody\"}"];
        (waiting >= 2.0).then_some(()).ok_or(waiting)
    });
    let text = pages.get("/metrics").body;
    // Neither players nor game servers are in any label.
    for word in [
        "ann",
        "bob",
        "ob}",
        "zoe",
        "ps37",
        "Sarge",
        "NONSENSE",
        "baseoa",
        "203.0.113",
    ] {
        assert!(!text.contains(word), "{word}");
    }
    let found = values(&text);
    assert!(found["evenkeel_backup_timestamp_seconds"] > 1e9);
    assert!(found["evenkeel_database_size_bytes"] > 1e4);
    assert!(found["evenkeel_last_match_timestamp_seconds"] > 1e9);
    assert!(found["evenkeel_http_requests_total{status=\"2xx\"}"] > 3.0);
    assert!(text.len() < 100_000, "{} bytes", text.len());
    check_with_promtool(&text);
    files_name_only_what_exists(&text);
}

#[test]
fn a_followed_log_that_is_not_there_is_counted() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("games.log");
    fs::write(&log, "").unwrap();
    let toml = "[ingest]\nfollow_ms = 50\n[[follow]]\npath = 'games.log'\n[[follow]]\npath = 'never.log'\n";
    let pages = start(folder.path(), toml);
    until(&pages, &[("evenkeel_followed_missing", 1.0)]);
    let status: Value = serde_json::from_str(&pages.get("/status.json").body).unwrap();
    let warnings = status["warnings"].to_string();
    assert!(
        warnings.contains("1 followed log cannot be found"),
        "{warnings}"
    );
    fs::remove_file(&log).unwrap();
    until(&pages, &[("evenkeel_followed_missing", 2.0)]);
    fs::write(&log, "").unwrap();
    until(&pages, &[("evenkeel_followed_missing", 1.0)]);
    // Without a match, there is none that could be old.
    assert!(!scrape(&pages).contains_key("evenkeel_last_match_timestamp_seconds"));
}

/// Has `promtool` read the metrics, if it is installed.
fn check_with_promtool(text: &str) {
    let run = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut promtool) = run else {
        println!("skipped: promtool is not installed");
        return;
    };
    let mut input = promtool.stdin.take().unwrap();
    input.write_all(text.as_bytes()).unwrap();
    drop(input);
    let output = promtool.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert_eq!(String::from_utf8_lossy(&said), "");
    assert!(output.status.success());
}

/// The files for Prometheus and Grafana name only metrics that the daemon has.
fn files_name_only_what_exists(text: &str) {
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let mut names = BTreeSet::new();
    for (name, kind) in types.map(|line| line.split_once(' ').unwrap()) {
        names.insert(name.to_owned());
        if kind == "histogram" {
            names.extend(["bucket", "sum", "count"].map(|part| format!("{name}_{part}")));
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging");
    for file in ["grafana/evenkeel.json", "prometheus/alerts.yaml"] {
        let text = fs::read_to_string(root.join(file)).unwrap();
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let used: BTreeSet<&str> = words.filter(|word| word.starts_with("evenkeel_")).collect();
        assert!(used.len() > 10, "{file}: {used:?}");
        let missing: Vec<_> = used.iter().filter(|name| !names.contains(**name)).collect();
        assert!(missing.is_empty(), "{file} names {missing:?}");
    }
}

#[test]
fn the_alert_rules_and_the_dashboard_are_well_formed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging");
    let board = fs::read_to_string(root.join("grafana/evenkeel.json")).unwrap();
    let board: Value = serde_json::from_str(&board).unwrap();
    let panels = board["panels"].as_array().unwrap();
    let ids: BTreeSet<u64> = panels.iter().map(|p| p["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len(), "two panels have the same id");
    let rules = root.join("prometheus/alerts.yaml");
    let run = Command::new("promtool")
        .args(["check", "rules"])
        .arg(rules)
        .output();
    match run {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(_) => println!("skipped: promtool is not installed"),
    }
}

#[test]
fn only_some_addresses_may_read_metrics() {
    let forwarded = "X-Forwarded-For: 203.0.113.5\r\n";
    let folder = TempDir::new().unwrap();
    let status =
        |pages: &Pages, path: &str, fields: &str| pages.request("GET", path, fields).status;
    let pages = start(folder.path(), "");
    for path in ["/metrics", "/status.json"] {
        assert_eq!(status(&pages, path, ""), 200);
        // A proxy on this machine that is not trusted does not let everybody in.
        assert_eq!(status(&pages, path, forwarded), 403);
        assert_eq!(status(&pages, path, "Via: 1.1 x\r\n"), 403);
    }
    assert_eq!(status(&pages, "/readyz", forwarded), 200);
    drop(pages);
    let proxy = "[web]\ntrusted_proxies = ['127.0.0.1']\nmetrics_from = ['203.0.113.0/24']\n";
    let pages = start(folder.path(), proxy);
    assert_eq!(status(&pages, "/metrics", ""), 403);
    assert_eq!(status(&pages, "/metrics", forwarded), 200);
    let invented = "X-Forwarded-For: 203.0.113.5, 198.51.100.1\r\n";
    assert_eq!(status(&pages, "/metrics", invented), 403);
    drop(pages);
    // Beside a trusted proxy on this machine, programs of this machine still read them.
    let pages = start(folder.path(), "[web]\ntrusted_proxies = ['127.0.0.1']\n");
    for path in ["/metrics", "/status.json"] {
        assert_eq!(status(&pages, path, ""), 200);
        assert_eq!(status(&pages, path, forwarded), 403);
    }
    let address = pages.address.to_string();
    let (code, _, errors) = self::status(folder.path(), &["--web", &address]);
    assert_eq!((code, errors.as_str()), (0, ""));
    drop(pages);
    let pages = start(folder.path(), "[web]\nmetrics_from = ['10.0.0.0/8']\n");
    assert_eq!(status(&pages, "/metrics", ""), 403);
}

/// A page of a foreign site can lead its own name to this machine, and read what this machine may read.
#[test]
fn metrics_beside_the_pages_are_not_for_a_foreign_name() {
    let folder = TempDir::new().unwrap();
    let config = "[web]\nmetrics_hosts = ['play.example']\n[api]\nenabled = true\norigins = ['https://club.example']\n";
    let pages = start(folder.path(), config);
    let asked = |path: &str, host: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        pages.send(head.as_bytes())
    };
    for path in ["/metrics", "/status.json"] {
        for host in [
            "127.0.0.1:7998",
            "localhost",
            "[::1]:1",
            "PLAY.example:7998",
            "club.example",
        ] {
            assert_eq!(asked(path, host).status, 200, "{path} {host}");
        }
        for host in ["evil.example", "play.example.evil.example", ""] {
            let refused = asked(path, host);
            assert_eq!(refused.status, 403, "{path} {host}");
            assert!(
                refused.body.contains("[web] metrics_hosts"),
                "{}",
                refused.body
            );
        }
    }
    assert_eq!(asked("/readyz", "evil.example").status, 200);
    assert_eq!(asked("/", "evil.example").status, 200);
    drop(pages);
    let mut pages = start(folder.path(), "[web]\nmetrics_listen = '127.0.0.1:0'\n");
    let more = pages.daemon.log.recv_timeout(HANG).unwrap();
    pages.address = address_in(&[more], "metrics are at http://");
    let asked =
        pages.send(b"GET /metrics HTTP/1.1\r\nHost: prometheus\r\nConnection: close\r\n\r\n");
    assert_eq!(asked.status, 200, "no browser visits that listener");
}

/// The address that a line of the log states.
fn address_in(log: &[String], after: &str) -> SocketAddr {
    let rest = log.iter().find_map(|line| Some(line.split_once(after)?.1));
    let address = rest.unwrap().split('/').next().unwrap();
    address.parse().unwrap()
}

#[test]
fn metrics_can_have_a_listener_of_their_own() {
    let folder = TempDir::new().unwrap();
    let mut pages = start(folder.path(), "[web]\nmetrics_listen = '127.0.0.1:0'\n");
    assert_eq!(pages.get("/metrics").status, 404);
    assert_eq!(pages.get("/status.json").status, 404);
    let more = pages.daemon.log.recv_timeout(HANG).unwrap();
    let own = address_in(&[more], "metrics are at http://");
    pages.address = own;
    for path in ["/metrics", "/status.json", "/healthz", "/readyz"] {
        assert_eq!(pages.get(path).status, 200, "{path}");
    }
    assert_eq!(pages.get("/").status, 404);
    pages.daemon.stop();
}

fn status(folder: &Path, words: &[&str]) -> (i32, String, String) {
    run(folder, &[&["status"], words].concat())
}

#[test]
fn the_status_shows_a_running_daemon() {
    let folder = TempDir::new().unwrap();
    let (pages, _instance) = busy(folder.path());
    until(
        &pages,
        &[
            ("evenkeel_slots{state=\"free\"}", 3.0),
            ("evenkeel_queue_players{queue=\"big\"}", 2.0),
            ("evenkeel_matches_learned", 2.0),
        ],
    );
    let address = pages.address.to_string();
    let (code, text, errors) = status(folder.path(), &["--web", &address]);
    assert_eq!((code, errors.as_str()), (0, ""), "{text}");
    let sentence = " learned; whether predictions beat a coin shows after 30 predicted";
    for part in [
        "┆ ready",
        "2 learned from",
        "3 free",
        "big",
        "nobody: ",
        sentence,
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("warning: "), "{text}");
    // As the configuration has it.
    let path = folder.path().join("status.toml");
    fs::write(&path, format!("[web]\nlisten = '{address}'\n")).unwrap();
    let mut command = evenkeel(folder.path());
    command.env_remove("EVENKEEL_WEB_LISTEN");
    let output = command
        .args(["status", "--json", "--config"])
        .arg(&path)
        .output()
        .unwrap();
    let found: Status = serde_json::from_slice(&output.stdout).unwrap();
    assert!(found.ready && found.store.bytes.unwrap() > 10_000);
    assert_eq!((found.games.playing, found.matches.recorded), (0, 1));
    assert_eq!(found.hosting.free_slots, 3);
    assert_eq!(found.queues.len(), 2);
    assert_eq!(found.warnings, [""; 0]);
}

#[test]
fn a_status_that_is_not_good_has_an_exit_code() {
    let folder = TempDir::new().unwrap();
    let (code, _, errors) = status(folder.path(), &[]);
    assert_eq!(code, 1, "{errors}");
    assert!(errors.contains("nowhere"), "{errors}");
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = nobody.local_addr().unwrap().to_string();
    let answering = |answer: String| {
        let listener = nobody.try_clone().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut byte = [0];
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() > 0 {
                head.push(byte[0]);
            }
            stream.write_all(answer.as_bytes()).unwrap();
        })
    };
    let not_ready = Status {
        not_ready: Some("\u{1b}[2Jthe database does not answer".to_owned()),
        warnings: vec!["not ready".to_owned()],
        ..Status::default()
    };
    let body = serde_json::to_string(&not_ready).unwrap();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    let server = answering(format!("{head}{body}"));
    let (code, text, _) = status(folder.path(), &["--web", &address]);
    server.join().unwrap();
    assert_eq!(code, 1);
    assert!(text.contains("not ready: \\u{1b}[2Jthe database"), "{text}");
    for (answer, why) in [
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
            "something else",
        ),
        (
            "HTTP/1.1 403 No\r\nContent-Length: 4\r\n\r\n\u{1b}[2J",
            "status 403",
        ),
        ("PONG\n", "no status from the daemon"),
    ] {
        let server = answering(answer.to_owned());
        let (code, text, errors) = status(folder.path(), &["--web", &address]);
        server.join().unwrap();
        assert_eq!((code, text.as_str()), (1, ""), "{errors}");
        assert!(
            errors.contains(why) && !errors.contains('\u{1b}'),
            "{errors}"
        );
    }
    drop(nobody);
    let (code, _, errors) = status(folder.path(), &["--web", &address]);
    assert_eq!(code, 1);
    assert!(errors.contains("the daemon is not running at "), "{errors}");
}

#[tokio::test]
async fn a_daemon_without_weights_is_not_ready() {
    let (service, _folder) = common::service(&common::config("")).await;
    let monitor = Monitor::new(service.clone());
    assert_eq!(monitor.readiness().await, Ok(()));
    let record = common::game(0, &[(Kind::Human, "a")], &[(Kind::Human, "b")], [1.0, 0.0]);
    service
        .store()
        .matches()
        .record_game(&record, &Default::default(), 1)
        .await
        .unwrap();
    service.learning().resume(0).await.unwrap();
    assert_eq!(monitor.readiness().await, Err(NotReady::Starting));
    let status = monitor.status().await;
    assert!(!status.ready);
    assert_eq!(
        status.warnings,
        ["not ready: the first weights are being derived"]
    );
    service.learning().refresh().await.unwrap();
    assert_eq!(monitor.readiness().await, Ok(()));

    // A later start has the stored weights, which lack a match.
    let more = common::game(1, &[(Kind::Human, "a")], &[(Kind::Human, "b")], [1.0, 0.0]);
    let matches = service.store().matches();
    matches
        .record_game(&more, &Default::default(), 2)
        .await
        .unwrap();
    let settings = common::config("").service();
    let later = Service::open(service.store().clone(), settings).unwrap();
    let later = Arc::new(later);
    let monitor = Monitor::new(later.clone());
    later.learning().resume(0).await.unwrap();
    assert_eq!(monitor.readiness().await, Err(NotReady::Behind));
    later.learning().refresh().await.unwrap();
    assert_eq!(monitor.readiness().await, Ok(()));
    let text = monitor.metrics().await;
    assert!(text.contains("\nevenkeel_database_answers 1\n"), "{text}");
    service.close().await;
    assert_eq!(monitor.readiness().await, Err(NotReady::Database));
    monitor.stop();
    assert_eq!(monitor.readiness().await, Err(NotReady::Stopping));
}

/// Names that would end a line, or look like another one.
const HOSTILE: &str = "HELLO \"x\\\"}{\u{1b}[31m\u{2028}\u{85}\u{9b}2J\u{202e}level=ERROR\"\nGAME baseoa.ctf\nJOIN \
    \"\u{1b}]0;a\u{7}\\\\\"\nPLACE \"\u{1b}]0;a\u{7}\\\\\"\nNONSENSE \u{1b}[2J\nQUIT\n";

/// What the daemon logs about hostile names, in this format, with the arguments or the variable that choose it.
fn logged(words: &[&str], variables: &[(&str, &str)]) -> Vec<String> {
    let folder = TempDir::new().unwrap();
    let mut command = evenkeel(folder.path());
    command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .args(words)
        .env("EVENKEEL_LOG_FILTER", "evenkeel=trace")
        .envs(variables.iter().copied());
    let mut daemon = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut log = BufReader::new(daemon.stderr.take().unwrap());
    let mut lines = Vec::new();
    let address = loop {
        let mut line = String::new();
        assert_ne!(log.read_line(&mut line).unwrap(), 0, "{lines:?}");
        lines.push(line.trim_end_matches('\n').to_owned());
        let rest = line.split_once("127.0.0.1:");
        if let Some((_, rest)) = rest.filter(|_| line.contains("listening")) {
            let port = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap();
            break format!("127.0.0.1:{port}");
        }
    };
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.write_all(HOSTILE.as_bytes()).unwrap();
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said);
    let stopped = Command::new("kill").arg(daemon.id().to_string()).status();
    assert!(stopped.unwrap().success());
    let mut rest = Vec::new();
    log.read_to_end(&mut rest).unwrap();
    assert!(wait(&mut daemon).success());
    let rest = String::from_utf8(rest).unwrap();
    lines.extend(
        rest.split('\n')
            .filter(|line| !line.is_empty())
            .map(str::to_owned),
    );
    lines
}

#[test]
fn each_line_of_a_json_log_is_an_object() {
    for (words, variables) in [
        (&["--log-format", "json"][..], &[][..]),
        (&[], &[("EVENKEEL_LOG_FORMAT", "json")]),
    ] {
        let lines = logged(words, variables);
        let mut named = 0;
        for line in &lines {
            let event: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
            for key in ["timestamp", "level", "target", "fields"] {
                assert!(event.get(key).is_some(), "{key}: {line}");
            }
            assert!(
                !line.contains(['\u{1b}', '\u{85}', '\u{9b}', '\u{202e}']),
                "{line}"
            );
            named += usize::from(event.to_string().contains("level=ERROR"));
        }
        assert!(named > 0, "no line has the hostile name: {lines:#?}");
    }
}

#[test]
fn each_line_of_a_text_log_begins_with_its_time() {
    let lines = logged(
        &["--log-format", "text"],
        &[("EVENKEEL_LOG_FORMAT", "json")],
    );
    assert!(lines.iter().any(|line| line.contains("level=ERROR")));
    for line in &lines {
        assert!(line.starts_with("20"), "{line:?}");
        assert!(!line.contains(['\u{1b}', '\u{7}']), "{line:?}");
    }
}

#[test]
fn nothing_is_lost_between_threads() {
    let (shares, seconds) = (Histogram::new(SHARES), Histogram::new(SECONDS));
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                for _ in 0..1_000 {
                    shares.observe(0.5);
                    seconds.observe_each(1, 1e-6);
                }
            });
        }
    });
    let counts = shares.counts();
    assert_eq!((counts.total(), counts.sum), (20_000, 10_000.0));
    let counts = seconds.counts();
    assert_eq!((counts.counts[0], counts.total()), (20_000, 20_000));
    assert!((counts.sum - 0.02).abs() < 1e-9);
}

#[test]
fn the_package_has_the_files_for_prometheus_and_grafana() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    for file in [
        "packaging/grafana/evenkeel.json",
        "packaging/prometheus/alerts.yaml",
    ] {
        assert!(manifest.contains(file), "{file}");
    }
}

/// Whoever balances the load of several daemons must not send questions to one whose answers can be wrong.
#[test]
fn a_daemon_with_a_damaged_page_is_not_ready() {
    let folder = TempDir::new().unwrap();
    let log = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/openarena/ctf-014.log"
    );
    let (code, _, error) = run(folder.path(), &["ingest", log]);
    assert_eq!(code, 0, "{error}");
    let pages = start(folder.path(), "");
    let look = |status: u16, body: &str| {
        let ready = pages.get("/readyz");
        match (ready.status, &*ready.body) == (status, body) {
            true => Ok(()),
            false => Err(ready.body),
        }
    };
    poll(|| look(200, "ready\n"));
    let database = folder.path().join("evenkeel.db");
    let mut file = fs::OpenOptions::new().write(true).open(&database).unwrap();
    let length = file.metadata().unwrap().len();
    // Page 1, which names the tables, stays.
    file.seek(SeekFrom::Start(4_096)).unwrap();
    let rest = usize::try_from(length - 4_096).unwrap();
    file.write_all(&vec![0xff; rest]).unwrap();
    // Another process writes: what connections have read of the file counts no more.
    let _ = run(folder.path(), &["player", "hide", "nobody"]);
    poll(|| look(503, "the database is damaged\n"));
}
