//! Real processes: a daemon that learns while it runs, is stopped or killed, and databases that
//! cannot be used.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::common::{
    BUSY,
    process::{BINARY, HANG, Process, evenkeel, poll, poll_for, wait},
};
use evenkeel::store::{self, Cursor, StoredMatch};
use tempfile::TempDir;

const CTF: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/openarena/ctf-014.log"
);

#[test]
fn a_running_daemon_sees_what_another_process_ingests() {
    let folder = TempDir::new().unwrap();
    let daemon = Process::start(folder.path());
    assert_eq!(
        daemon.ask("GAME baseoa.ctf\nMEANBOT\n"),
        "MEANBOT 50.000 0\n"
    );
    let ingested = evenkeel(folder.path())
        .args(["ingest", CTF])
        .output()
        .unwrap();
    assert!(ingested.status.success());
    poll_for(Duration::from_secs(1), || {
        let output = daemon.ask("GAME baseoa.ctf\nMEANBOT\n");
        output.ends_with(" 8\n").then_some(()).ok_or(output)
    });
}

#[test]
fn a_database_that_is_taken_away_is_noticed() {
    let folder = TempDir::new().unwrap();
    let mut child = evenkeel(folder.path())
        .args(["serve", "--listen", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let log = BufReader::new(child.stderr.take().unwrap());
    let mut noticed = false;
    for line in log.lines().map(Result::unwrap) {
        if line.contains("listening") {
            fs::remove_file(folder.path().join("evenkeel.db")).unwrap();
        }
        noticed = line.contains("the database file was removed or replaced");
        if noticed {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(noticed);
}

/// Nobody would find a match that is written to a file that is gone, so END says that it is kept.
#[test]
fn no_match_is_written_to_a_database_that_was_taken_away() {
    let folder = TempDir::new().unwrap();
    let mut daemon = Process::start(folder.path());
    assert_eq!(daemon.ask("PING\n"), "PONG\n");
    fs::remove_file(folder.path().join("evenkeel.db")).unwrap();
    let game = "GAME ctf\nMINPLAYERS 0\nJOIN a team=0\nJOIN b team=1\nSTART\nSCORE 0\nEND\n";
    assert_eq!(daemon.ask(game), "ERROR internal kept\n");
    daemon.stop();
    for rest in ["evenkeel.db-wal", "evenkeel.db-shm"] {
        let _ = fs::remove_file(folder.path().join(rest));
    }
    // The match is in the journal, and the next start records it.
    let daemon = Process::start(folder.path());
    poll(|| {
        let mut export = evenkeel(folder.path());
        let output = export.args(["export", "all.jsonl"]).output().unwrap();
        let text = fs::read_to_string(folder.path().join("all.jsonl")).unwrap_or_default();
        let _ = fs::remove_file(folder.path().join("all.jsonl"));
        text.contains("\"ctf\"").then_some(()).ok_or(output)
    });
    drop(daemon);
}

#[test]
fn sigterm_drains_within_five_seconds() {
    for signal in ["-TERM", "-INT"] {
        let folder = TempDir::new().unwrap();
        let mut daemon = Process::start(folder.path());
        let mut idle = TcpStream::connect(daemon.address).unwrap();
        let mut halfway = TcpStream::connect(daemon.address).unwrap();
        halfway.write_all(b"GAME ctf\nPLAY").unwrap();
        assert_eq!(daemon.ask("PING\n"), "PONG\n");
        let began = Instant::now();
        daemon.signal(signal);
        let status = wait(&mut daemon.child);
        assert!(status.success(), "{signal}: {status}");
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "{:?}",
            began.elapsed()
        );
        let mut rest = Vec::new();
        idle.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, b"", "an idle client is only closed");
        assert!(
            !folder.path().join("evenkeel.db-wal").exists(),
            "the database is closed properly"
        );
    }
}

#[test]
fn two_daemons_cannot_have_one_port() {
    let folder = TempDir::new().unwrap();
    let daemon = Process::start(folder.path());
    let address = daemon.address.to_string();
    let second = evenkeel(folder.path())
        .args(["serve", "--listen", &address])
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(1));
    let output = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(
        output.contains(&format!("[server] listen: cannot listen on {address}: ")),
        "{output}"
    );
}

/// A log of `games` small games, two minutes apart.
fn season(games: usize) -> String {
    let mut log = String::new();
    for game in 0..games {
        let (day, hour, minute) = (1 + game / 720, game / 30 % 24, game % 30 * 2);
        let date = format!("2026-01-{day:02} {hour:02}:{minute:02}:00");
        log.push_str(&format!(
            "  0:00 InitGame: \\g_gametype\\4\\mapname\\m\\gamename\\baseoa\\g_timestamp\\{date}\n"
        ));
        for (client, (name, team)) in [("Ann", 1), ("Bob", 1), ("Cid", 2), ("Dan", 2)]
            .iter()
            .enumerate()
        {
            log.push_str(&format!(
                "  0:00 ClientUserinfoChanged: {client} n\\{name}\\t\\{team}\\skill\\ 3.00\\id\\\n  0:00 ClientBegin: {client}\n"
            ));
        }
        let red = game % 4;
        for goal in 0..red {
            log.push_str(&format!(
                "  0:{:02} CTF: 0 2 1: Ann captured the BLUE flag!\n",
                10 + goal
            ));
        }
        log.push_str("  0:40 CTF: 2 1 1: Cid captured the RED flag!\n");
        log.push_str(&format!(
            "  1:50 Exit: Timelimit hit.\n  1:50 red:{red}  blue:1\n  1:55 ShutdownGame:\n"
        ));
    }
    log
}

async fn count(path: &Path) -> i64 {
    let Ok(store) = store::open(path, false, BUSY).await else {
        return 0;
    };
    let count = store
        .matches()
        .extent()
        .await
        .map_or(0, |(matches, _)| matches);
    store.close().await;
    count
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_9_during_ingest_loses_no_committed_match_and_leaves_no_half_one() {
    // A dozen batches, so that a kill after the first is noticed comes before the last.
    const GAMES: usize = 6_000;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("evenkeel.db");
    fs::write(folder.path().join("games.log"), season(GAMES)).unwrap();
    let mut ingest = evenkeel(folder.path())
        .args(["ingest", "games.log"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut committed = 0;
    while committed < 25 {
        assert!(
            ingest.try_wait().unwrap().is_none(),
            "it was over before it could be killed"
        );
        committed = count(&path).await;
    }
    ingest.kill().unwrap();
    ingest.wait().unwrap();

    let store = store::open(&path, false, Duration::from_secs(5))
        .await
        .unwrap();
    let (left, _) = store.matches().extent().await.unwrap();
    assert!(
        left >= committed && left < GAMES as i64,
        "{committed} seen, {left} left"
    );
    let (mut cursor, mut whole) = (Cursor::START, 0);
    loop {
        let (records, next) = store.matches().after(cursor, 500).await.unwrap();
        if records.is_empty() {
            break;
        }
        for StoredMatch { id, record, .. } in records {
            let sum: f64 = record.events.iter().map(|event| event.points).sum();
            assert_eq!(record.participants.len(), 4, "match {id}");
            assert_eq!(sum, record.scores.iter().sum::<f64>(), "match {id}");
            whole += 1;
        }
        cursor = next;
    }
    assert_eq!(whole, left);
    store.close().await;

    // The next run adds the matches that the killed run did not commit; the weights are those of a
    // run that was not killed.
    let again = evenkeel(folder.path())
        .args(["ingest", "games.log"])
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&again.stdout).into_owned();
    assert!(
        output.contains(&format!("duplicates      ┆ {left:>4}")),
        "{output}"
    );
    let list = |db: &str| {
        let args = [
            "weights",
            "--game",
            "baseoa.ctf",
            "--bots",
            "--csv",
            "--db",
            db,
        ];
        evenkeel(folder.path()).args(args).output().unwrap().stdout
    };
    let never_killed = evenkeel(folder.path())
        .args(["ingest", "games.log", "--db", "other.db"])
        .output();
    assert!(never_killed.unwrap().status.success());
    assert_eq!(list("evenkeel.db"), list("other.db"));
    assert!(list("other.db").len() > 100);
}

#[test]
fn a_match_survives_the_process_that_was_killed_after_end() {
    let folder = TempDir::new().unwrap();
    for round in 1..=3 {
        let mut daemon = Process::start(folder.path());
        let stream = TcpStream::connect(daemon.address).unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        let script =
            "HELLO s\nGAME ctf\nJOIN a team=0\nJOIN b team=1\nPLACE a\nSTART\nSCORE 0\nEND\n";
        (&stream).write_all(script.as_bytes()).unwrap();
        let mut lines = BufReader::new(&stream).lines().map(Result::unwrap);
        let end = lines.find(|line| line.starts_with("END ")).unwrap();
        // Killed as soon as END is answered.
        daemon.child.kill().unwrap();
        assert!(end.starts_with(&format!("END {round} ")), "{end}");
        daemon.child.wait().unwrap();

        // The client has the answer, so the next END is that of a later game, of which nothing has
        // arrived.
        let again = Process::start(folder.path());
        for server in ["s", "s", "other"] {
            let output = again.ask(&format!("HELLO {server}\nEND\n"));
            assert!(
                output.ends_with("ERROR no-game send GAME first\n"),
                "{output}"
            );
        }
        let args = ["match", "show", &round.to_string()];
        let shown = evenkeel(folder.path()).args(args).output().unwrap();
        assert!(shown.status.success(), "{shown:?}");
    }
}

#[test]
fn a_decision_is_replayed_from_the_command_line() {
    let folder = TempDir::new().unwrap();
    let daemon = Process::start(folder.path());
    let output = daemon.ask("HELLO s\nGAME ctf\nJOIN a\nJOIN b\nBALANCE seed=3\nJOIN c\nPLACE c\n");
    assert!(output.contains("\nPLACE c "), "{output}");
    daemon.signal("-TERM");
    let mut daemon = daemon;
    assert!(wait(&mut daemon.child).success());
    let replay = |id: &str| {
        let args = ["replay-decision", id];
        let output = evenkeel(folder.path()).args(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    let (code, out, _) = replay("1");
    assert_eq!(code, Some(0));
    assert!(out.starts_with("decision 1: balance of s at 2"), "{out}");
    assert!(
        out.lines()
            .next()
            .unwrap()
            .ends_with(", seed 3: the same answer"),
        "{out}"
    );
    assert!(out.contains("\npicked: "), "{out}");
    let (code, out, _) = replay("2");
    assert_eq!(code, Some(0));
    assert!(out.contains("\nc to team "), "{out}");
    let (code, out, err) = replay("3");
    assert_eq!((code, out.as_str()), (Some(4), ""));
    assert_eq!(
        err,
        "evenkeel: there is no decision 3, or it has been deleted\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_database_is_named() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("evenkeel.db");
    store::open(&path, true, BUSY).await.unwrap().close().await;
    let url = format!("sqlite://{}", path.display());
    let holder = sqlx::SqlitePool::connect(&url).await.unwrap();
    let lock = holder.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let output = evenkeel(folder.path())
        .args(["ingest", CTF])
        .env("EVENKEEL_STORE_BUSY_MS", "0")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(6));
    let output = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.contains("the database is locked by another process"),
        "{output}"
    );
    lock.rollback().await.unwrap();
}

#[test]
fn a_damaged_database_is_named() {
    let folder = TempDir::new().unwrap();
    fs::write(
        folder.path().join("evenkeel.db"),
        "this is not SQLite".repeat(500),
    )
    .unwrap();
    for args in [
        &["serve", "--listen", "127.0.0.1:0"][..],
        &["ingest", CTF],
        &["weights", "--game", "x"],
        &["rebuild"],
    ] {
        let output = evenkeel(folder.path()).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(5), "{args:?}");
        let output = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.contains("evenkeel.db: the database is damaged, or is not an SQLite database"),
            "{output}"
        );
    }
}

#[test]
fn a_read_only_database_is_named() {
    let folder = TempDir::new().unwrap();
    let made = evenkeel(folder.path())
        .args(["ingest", CTF])
        .output()
        .unwrap();
    assert!(made.status.success());
    // Root may write to read-only files, so the test runs as another user, with a copy of the binary.
    let binary = folder.path().join("evenkeel");
    fs::copy(BINARY, &binary).unwrap();
    fs::copy(CTF, folder.path().join("other.log")).unwrap();
    let log = fs::read_to_string(CTF)
        .unwrap()
        .replace("g_timestamp\\2026", "g_timestamp\\2025");
    fs::write(folder.path().join("other.log"), log).unwrap();
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let mode = if path == binary { 0o555 } else { 0o444 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let mut command = Command::new(&binary);
    command
        .args(["ingest", "other.log"])
        .current_dir(folder.path());
    let root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    if root {
        command.uid(65_534).gid(65_534);
    }
    let output = command.output().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(5), "{message}");
    assert!(message.contains("read-only"), "{message}");
}
