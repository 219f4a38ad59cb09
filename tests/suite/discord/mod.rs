//! The example bot in `integrations/discord`, against a fake of Discord's published interface.
//! Needs python3 of version 3.11 or later, and its package `cryptography`.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::process::Process;

const INTEGRATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/integrations");
const PARTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/discord");
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A command of Python; `None`, with the reason printed, if the bot cannot run here.
fn python(folder: &Path, script: &str) -> Option<Command> {
    let needed = "import sys, cryptography; sys.exit(sys.version_info < (3, 11))";
    let tried = Command::new("python3").args(["-c", needed]).output();
    if !tried.is_ok_and(|output| output.status.success()) {
        let why = "skipped: python3 3.11 with the package cryptography cannot be run here";
        // `eprintln!` would be captured, and shown only if the test fails.
        let printed = writeln!(std::io::stderr(), "{why}");
        printed.unwrap();
        return None;
    }
    let mut command = Command::new("python3");
    command
        .arg("-B")
        .arg(Path::new(PARTS).join(script))
        .arg(INTEGRATIONS);
    command
        .current_dir(folder)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    for variable in ["DISCORD_TOKEN", "EVENKEEL_TOKEN", "EVENKEEL_WEBHOOK_SECRET"] {
        command.env_remove(variable);
    }
    Some(command)
}

#[test]
fn hostile_input_neither_pings_nor_passes() {
    let folder = TempDir::new().unwrap();
    let Some(mut checks) = python(folder.path(), "checks.py") else {
        return;
    };
    let output = checks.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_eq!(output.stdout, b"all checks pass\n");
}

/// A port that is free now. The daemon has to come back to the same one.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[test]
fn an_evening_of_two_matches_survives_a_daemon_that_is_killed() {
    let folder = TempDir::new().unwrap();
    let Some(mut command) = python(folder.path(), "evening.py") else {
        return;
    };
    let address = format!("127.0.0.1:{}", free_port());
    command
        .arg(&address)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut evening = command.spawn().unwrap();
    let mut told = evening.stdin.take().unwrap();
    let (mut daemon, mut last): (Option<Process>, _) = (None, String::new());
    for line in BufReader::new(evening.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if let Some(port) = line.strip_prefix("bot ") {
            configure(folder.path(), port);
        } else if line == "kill" {
            daemon.as_mut().unwrap().kill();
        } else {
            last = line;
            continue;
        }
        let variables = [
            ("EVENKEEL_CONFIG", "evenkeel.toml"),
            ("EVENKEEL_LISTEN", &address),
        ];
        daemon = Some(Process::start_at(folder.path(), &variables));
        writeln!(told, "done").unwrap();
    }
    assert!(evening.wait().unwrap().success(), "{last}");
    let counts: Value = serde_json::from_str(&last).unwrap();
    assert_eq!(counts["matches"].as_array().unwrap().len(), 2);
    assert_eq!(counts["messages"], 4, "{counts}");
    // 429, 500, a time-out, and an answer that was lost: each costs one request more. On a busy machine, so do others.
    let requests = counts["requests"].as_u64().unwrap();
    assert!(requests >= 8, "{counts}");
    println!("{counts}");
}

fn configure(folder: &Path, port: &str) {
    let text = format!(
        "[[webhook]]
        name = 'discord'
        url = 'http://127.0.0.1:{port}/evenkeel'
        secret = '{SECRET}'

        [queue.pickup]
        teams = 2
        size = 5
        ruleset = 'baseoa.ctf'

        [queue.pickup.attributes]
        tier = 'int 1..10'
        "
    );
    fs::write(folder.join("evenkeel.toml"), text).unwrap();
}
