//! The bot in `integrations/discord`, against a fake of Discord's gateway and REST interface to which its library is
//! pointed. Needs python3 of version 3.11 or later with the package `discord.py`; the variable
//! `EVENKEEL_DISCORD_PYTHON` names another Python that has it.

use std::{io::Write, path::Path, process::Command};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::process::BINARY;

const BOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/integrations/discord");
const PARTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/discord");

/// A command of Python; `None`, with the reason printed, if the bot cannot run here.
fn python(folder: &Path, script: &str) -> Option<Command> {
    let python = std::env::var("EVENKEEL_DISCORD_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let needed = "import sys, discord, aiohttp; sys.exit(sys.version_info < (3, 11) or discord.version_info < (2, 4))";
    let tried = Command::new(&python).args(["-c", needed]).output();
    if !tried.is_ok_and(|output| output.status.success()) {
        let why = "skipped: python3 3.11 with the package discord.py cannot be run here";
        // `eprintln!` would be captured, and shown only if the test fails.
        let mut stderr = std::io::stderr();
        writeln!(stderr, "{why}").unwrap();
        return None;
    }
    let mut command = Command::new(python);
    command.arg("-B").arg(Path::new(PARTS).join(script));
    command.current_dir(folder);
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    for variable in ["DISCORD_TOKEN", "EVENKEEL_TOKEN"] {
        command.env_remove(variable);
        command.env_remove(format!("{variable}_FILE"));
    }
    Some(command)
}

#[test]
fn hostile_input_neither_pings_nor_passes() {
    let folder = TempDir::new().unwrap();
    let Some(mut checks) = python(folder.path(), "checks.py") else {
        return;
    };
    let output = checks.arg(BOT).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_eq!(output.stdout, b"all checks pass\n");
}

#[test]
fn a_pick_up_night_survives_a_bot_and_a_daemon_that_are_killed() {
    let folder = TempDir::new().unwrap();
    let Some(mut evening) = python(folder.path(), "evening.py") else {
        return;
    };
    let told = played(&folder, evening.arg(BINARY).arg(BOT));
    assert_eq!(told["matches"], 5, "{told}");
    assert!(told["kills"]["bot"].as_u64() >= Some(10), "{told}");
    assert!(told["kills"]["daemon"].as_u64() >= Some(10), "{told}");
    println!("{told}");
}

#[test]
fn what_went_wrong_on_pick_up_nights_goes_right() {
    let folder = TempDir::new().unwrap();
    let Some(mut situations) = python(folder.path(), "situations.py") else {
        return;
    };
    let told = played(&folder, situations.arg(BINARY).arg(BOT));
    let situations = told["situations"].as_array().map(Vec::len);
    assert_eq!(situations, Some(9), "{told}");
}

/// What a script prints once it has played; its errors and the logs if it fails.
fn played(folder: &TempDir, script: &mut Command) -> Value {
    let output = script.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let log =
            |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
        panic!("{errors}\n{}\n{}", log("bot.log"), log("daemon.log"));
    }
    serde_json::from_slice(&output.stdout).unwrap()
}
