//! The binary on logs: follows them as a process and in the daemon, and exports and imports
//! matches.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, ChildStderr, Command, Output, Stdio},
};

use tempfile::TempDir;

use crate::common::{append, process::evenkeel};

const CTF: &str = include_str!("../../fixtures/openarena/ctf-014.log");
const OTHER: &str = include_str!("../../fixtures/openarena/ctf-017.log");

fn run(folder: &Path, args: &[&str]) -> Output {
    let output = evenkeel(folder).args(args).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output
}

fn stdout_of(folder: &Path, args: &[&str]) -> String {
    String::from_utf8(run(folder, args).stdout).unwrap()
}

/// A process whose stderr can be searched; killed when dropped.
struct Process {
    child: Child,
    log: BufReader<ChildStderr>,
}

impl Process {
    fn start(folder: &Path, args: &[&str]) -> Self {
        let mut command = evenkeel(folder);
        let mut child = command.args(args).stderr(Stdio::piped()).spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        Self { child, log }
    }

    /// Waits until a line of stderr contains these words.
    fn wait_for(&mut self, words: &str) {
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            assert_ne!(
                self.log.read_line(&mut line).unwrap(),
                0,
                "it has ended without {words}"
            );
        }
    }

    fn terminate(mut self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").arg(id).status().unwrap().success());
        self.wait_for("stopped");
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn rais_games(folder: &Path) -> usize {
    let weights = ["weights", "--game", "baseoa.ctf", "--bots", "--csv"];
    let out = stdout_of(folder, &weights);
    let row = out.lines().find(|line| line.contains(",Rai,"));
    row.map_or(0, |row| row.split(',').nth(5).unwrap().parse().unwrap())
}

#[test]
fn a_game_that_spans_a_rotation_is_complete_after_a_kill() {
    let folder = TempDir::new().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir(&logs).unwrap();
    fs::write(folder.path().join("c.toml"), "ingest.follow_ms = 10\n").unwrap();
    let log = logs.join("games.log");
    let middle = CTF[..CTF.len() / 3].rfind('\n').unwrap() + 1;
    append(&log, &CTF[..middle]);
    let follow = ["follow", "logs", "missing", "--config", "c.toml"];
    let mut process = Process::start(folder.path(), &follow);
    process.wait_for("there is no such file or folder yet");
    drop(process);
    fs::rename(&log, logs.join("games.log.1")).unwrap();
    append(&log, &CTF[middle..]);
    let mut process = Process::start(folder.path(), &follow);
    process.wait_for("a match from a log");
    process.terminate();
    assert_eq!(rais_games(folder.path()), 1);
}

#[test]
fn a_log_is_followed_until_it_is_enough() {
    let folder = TempDir::new().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir(&logs).unwrap();
    fs::write(folder.path().join("c.toml"), "ingest.follow_ms = 10\n").unwrap();
    let log = logs.join("games.log");
    append(&log, CTF);
    let mut process = Process::start(folder.path(), &["follow", "logs", "--config", "c.toml"]);
    process.wait_for("a match from a log");
    let (start, rest) = OTHER.split_at(OTHER.len() / 2 + 7);
    append(&log, start);
    append(&log, rest);
    process.wait_for("a match from a log");
    process.terminate();
    assert_eq!(rais_games(folder.path()), 2);
    // Starting again records nothing twice.
    let mut process = Process::start(folder.path(), &["follow", "logs", "--config", "c.toml"]);
    append(&log, &CTF.replace("2026-11-20", "2026-11-21"));
    process.wait_for("a match from a log");
    process.terminate();
    let matches = stdout_of(folder.path(), &["export"]);
    assert_eq!(matches.lines().count(), 3);
}

/// A log of the program that lies on a full disk must not end it.
#[test]
fn following_goes_on_where_nothing_can_be_logged() {
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        return println!("skipped: there is no /dev/full here");
    };
    let folder = TempDir::new().unwrap();
    append(&folder.path().join("games.log"), CTF);
    fs::write(folder.path().join("c.toml"), "ingest.follow_ms = 10\n").unwrap();
    let mut command = evenkeel(folder.path());
    command.args(["follow", "games.log", "--config", "c.toml"]);
    let mut follow = command.stderr(full).spawn().unwrap();
    let exported = || {
        let output = evenkeel(folder.path()).args(["export"]).output().unwrap();
        output.status.success() && !output.stdout.is_empty()
    };
    while !exported() {
        assert_eq!(follow.try_wait().unwrap(), None, "it has ended");
    }
    let id = follow.id().to_string();
    assert!(Command::new("kill").arg(id).status().unwrap().success());
    assert!(follow.wait().unwrap().success());
}

#[test]
fn the_daemon_follows_what_is_configured() {
    let folder = TempDir::new().unwrap();
    let config = "ingest.follow_ms = 10\nserver.listen = \"127.0.0.1:0\"\ningest.archive = \"kept\"
[[follow]]\npath = \"games.log\"\nserver = \"one\"\n[[follow]]\npath = \"other.log\"\n";
    fs::write(folder.path().join("c.toml"), config).unwrap();
    let mut daemon = Process::start(folder.path(), &["serve", "--config", "c.toml"]);
    daemon.wait_for("listening");
    append(&folder.path().join("games.log"), CTF);
    append(&folder.path().join("other.log"), CTF);
    daemon.wait_for("a match from a log");
    daemon.wait_for("a match from a log");
    daemon.terminate();
    let matches = stdout_of(folder.path(), &["export"]);
    assert_eq!(
        matches
            .lines()
            .filter(|line| line.contains("\"server\":\"one\""))
            .count(),
        1
    );
    let kept: Vec<_> = fs::read_dir(folder.path().join("kept"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let logs = kept.iter().filter(|name| name.ends_with(".log.gz")).count();
    assert_eq!((logs, kept.len()), (2, 4), "{kept:?}");
    // The logs and the database are gone; the archive has the matches.
    for file in ["games.log", "other.log", "evenkeel.db"] {
        fs::remove_file(folder.path().join(file)).unwrap();
    }
    let exported = stdout_of(
        folder.path(),
        &["rebuild", "--from-logs", "--config", "c.toml"],
    );
    assert!(
        exported.starts_with("2 logs read again: 0 matches as they were, 0 removed, 2 added\n"),
        "{exported}"
    );
    assert!(exported.contains("from 2 matches"), "{exported}");
    assert_eq!(stdout_of(folder.path(), &["export"]), matches);
}

#[test]
fn matches_go_out_and_come_in_the_same() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("a.log"), CTF).unwrap();
    fs::write(path("b.log"), OTHER).unwrap();
    run(
        folder.path(),
        &["ingest", "a.log", "b.log", "--server", "one"],
    );
    run(folder.path(), &["export", "all.jsonl"]);
    run(folder.path(), &["ingest", "--db", "other.db", "all.jsonl"]);
    let all = fs::read_to_string(path("all.jsonl")).unwrap();
    assert_eq!(
        stdout_of(folder.path(), &["export", "-", "--db", "other.db"]),
        all
    );
    let weights = |db: &str| {
        stdout_of(
            folder.path(),
            &[
                "weights",
                "--game",
                "baseoa.ctf",
                "--bots",
                "--csv",
                "--db",
                db,
            ],
        )
    };
    assert_eq!(weights("evenkeel.db"), weights("other.db"));
    // The first of the two games ended at 14:59:10.
    let since = stdout_of(folder.path(), &["export", "--since", "2026-11-20T14:59:12"]);
    let until = stdout_of(folder.path(), &["export", "--until", "2026-11-20T14:59:12"]);
    assert_eq!(
        (since.lines().count(), until.lines().count(), until + &since),
        (1, 1, all)
    );
    let missing = evenkeel(folder.path())
        .args(["export", "nowhere/x.jsonl"])
        .output()
        .unwrap();
    assert_eq!(missing.status.code(), Some(4));
    let left: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert!(
        !left
            .iter()
            .any(|name| name.to_string_lossy().starts_with("all.jsonl.")),
        "{left:?}"
    );
}

#[test]
fn without_an_archive_there_is_nothing_to_read_again() {
    let folder = TempDir::new().unwrap();
    let output = evenkeel(folder.path())
        .args(["rebuild", "--from-logs"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&output.stderr).contains("ingest.archive is not set"));
    for (config, wrong) in [
        (
            "[[follow]]\npath = ''\n",
            "follow[0].path must not be empty",
        ),
        (
            "[[follow]]\npath = 'x'\nformat = 'y'\n",
            "follow[0].format must be one of: auto, ",
        ),
        (
            "[[follow]]\npath = 'x'\ncolour = 'y'\n",
            "unknown key colour; the keys are path, format, server",
        ),
        (
            "ingest.follow_ms = 1\n",
            "ingest.follow_ms must be 10 to 60000",
        ),
    ] {
        fs::write(folder.path().join("c.toml"), config).unwrap();
        let output = evenkeel(folder.path())
            .args(["config", "check", "c.toml"])
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code() == Some(3) && err.contains(wrong),
            "{err}"
        );
    }
}
