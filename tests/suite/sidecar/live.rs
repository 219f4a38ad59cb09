//! A real OpenArena server, balanced end to end; see `integrations/openarena`. Runs with
//! `EVENKEEL_LIVE=1` if openarena-server is installed (and for real clients, openarena and xvfb), or
//! with `EVENKEEL_LIVE=install`, which installs them from Debian. And real servers of Teeworlds and
//! Nexuiz, if teeworlds-server and nexuiz-server are installed; see `integrations/teeworlds` and
//! `integrations/nexuiz`.

use std::{ffi::OsString, fs, io::Write, path::Path, process::Command};

use tempfile::TempDir;

/// What `EVENKEEL_LIVE` is; without it, reports that the test is skipped.
fn wish() -> Option<OsString> {
    let wish = std::env::var_os("EVENKEEL_LIVE");
    if wish.is_none() {
        // Written directly, because the output of macros is captured in a passing test.
        let text = b"skipped: EVENKEEL_LIVE=1 plays on a real game server\n";
        std::io::stderr().write_all(text).unwrap();
    }
    wish
}

/// A script of the integration, with this program and without settings from outside.
fn script(name: &str, wish: &OsString) -> Command {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("integrations/openarena");
    let mut script = Command::new(folder.join(name));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("EVENKEEL_")) {
        script.env_remove(name);
    }
    script
        .env("EVENKEEL_BIN", env!("CARGO_BIN_EXE_evenkeel"))
        .env("EVENKEEL_SYSTEM_CONFIG", "")
        .env("PYTHONDONTWRITEBYTECODE", "1");
    if wish == "install" {
        script.arg("--install");
    }
    script
}

/// Four real clients and three bots: a warm-up, a late arrival, a player who leaves, commands in
/// the chat, and a vote. About a minute.
#[test]
fn real_clients_are_placed_moved_and_answered() {
    let Some(wish) = wish() else { return };
    let output = script("live.sh", &wish).output().unwrap();
    let transcript = String::from_utf8_lossy(&output.stdout);
    let log = String::from_utf8_lossy(&output.stderr);
    std::io::stderr().write_all(&output.stdout).unwrap();
    assert!(output.status.success(), "{log}");
    assert_eq!(transcript.matches(" proved: ").count(), 8);
}

/// Players are asked before one of them is moved: nobody wants to go, and later somebody does. About two minutes.
#[test]
fn real_clients_are_asked_refuse_volunteer_and_are_moved() {
    let Some(wish) = wish() else { return };
    let output = script("live.sh", &wish).arg("--asked").output().unwrap();
    let transcript = String::from_utf8_lossy(&output.stdout);
    let log = String::from_utf8_lossy(&output.stderr);
    std::io::stderr().write_all(&output.stdout).unwrap();
    assert!(output.status.success(), "{log}");
    assert!(transcript.matches(" proved: ").count() >= 6, "{transcript}");
}

/// Two matches of a queue in a row on a server that the agent starts, with real clients; the daemon and
/// the agent are killed. About three minutes.
#[test]
fn an_agent_hosts_two_matches_in_a_row() {
    let Some(wish) = wish() else { return };
    let output = script("live.sh", &wish).arg("--hosted").output().unwrap();
    let transcript = String::from_utf8_lossy(&output.stdout);
    let log = String::from_utf8_lossy(&output.stderr);
    std::io::stderr().write_all(&output.stdout).unwrap();
    assert!(output.status.success(), "{log}");
    assert_eq!(transcript.matches(" proved: ").count(), 7);
}

/// Two matches with random teams and two with Evenkeel's: about two minutes.
#[test]
fn a_real_server_is_balanced_end_to_end() {
    let Some(wish) = wish() else { return };
    let folder = TempDir::new().unwrap();
    let kept = folder.path().join("season");
    let mut demo = script("demo.sh", &wish);
    demo.args(["--random", "2", "--balanced", "2", "--keep"])
        .arg(&kept);
    // The game server, which does not run as root, must be able to enter its own folder.
    open(folder.path());
    let output = demo.output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("| games | 2 | 2 |"), "{table}{log}");
    for line in fs::read_to_string(kept.join("results.jsonl"))
        .unwrap()
        .lines()
    {
        let game: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(game["told"], "recorded", "{line}");
        for team in game["teams"].as_array().unwrap() {
            assert_eq!(team.as_array().unwrap().len(), 4, "{line}");
        }
    }
    // The daemon's matches must agree with the log.
    let weights = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
        command.current_dir(&kept).args(arguments);
        command.env("EVENKEEL_SYSTEM_CONFIG", "");
        command.output().unwrap()
    };
    let log = kept.join("openarena/baseoa/games.log");
    let ingested = weights(&["ingest", "--db", "again.db", log.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&ingested.stdout).into_owned();
    assert!(ingested.status.success(), "{text}");
    let recorded = text
        .lines()
        .find(|line| line.contains("rated"))
        .unwrap()
        .to_owned();
    assert!(recorded.contains(" 4 "), "{text}");
}

/// Plays the story of an integration on a game server whose program is this one, and returns the transcript; `None` if
/// it is not installed.
fn story(file: &str, program: &str) -> Option<String> {
    wish()?;
    if !Path::new(program).exists() {
        let text = format!("skipped: {program} is not installed\n");
        std::io::stderr().write_all(text.as_bytes()).unwrap();
        return None;
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let mut script = Command::new("python3");
    script
        .arg(file)
        .args(["--evenkeel", env!("CARGO_BIN_EXE_evenkeel")]);
    script.env("EVENKEEL_SYSTEM_CONFIG", "");
    let output = script.env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    std::io::stderr().write_all(&output.stdout).unwrap();
    assert!(output.status.success(), "{log}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Twelve players on a real Teeworlds server: a warm-up, a late arrival, a match until its end, and the next ones after
/// `kill -9` of daemon and sidecar. About two and a half minutes.
#[test]
fn twelve_players_of_teeworlds_are_placed_moved_and_recorded() {
    let program = "/usr/games/teeworlds-server";
    if let Some(transcript) = story("integrations/teeworlds/live.py", program) {
        assert_eq!(transcript.matches(" proved: ").count(), 9);
    }
}

/// Last team standing and a duel on real Teeworlds servers. About two minutes.
#[test]
fn rounds_and_a_duel_of_teeworlds_are_recorded() {
    let program = "/usr/games/teeworlds-server";
    if let Some(transcript) = story("integrations/teeworlds/kinds.py", program) {
        assert_eq!(transcript.matches(" proved: ").count(), 2);
    }
}

/// Two matches of a queue in a row on a Teeworlds server that the agent starts; the daemon and the agent are killed. About
/// two minutes.
#[test]
fn an_agent_of_teeworlds_hosts_two_matches_in_a_row() {
    let program = "/usr/games/teeworlds-server";
    if let Some(transcript) = story("integrations/teeworlds/hosted.py", program) {
        assert_eq!(transcript.matches(" proved: ").count(), 7);
    }
}

/// Eight bots on a real Nexuiz server, by the sidecar for Xonotic: three matches, and `kill -9` of daemon and sidecar. About
/// two minutes.
#[test]
fn eight_bots_of_nexuiz_are_moved_and_recorded() {
    let program = "/usr/games/nexuiz-server";
    if let Some(transcript) = story("integrations/nexuiz/live.py", program) {
        assert_eq!(transcript.matches(" proved: ").count(), 4);
    }
}

fn open(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The tutorial, word by word: an evening with bots, shortened to one match. Three minutes, or more. The tests above
/// install what it needs.
#[test]
fn the_first_evening_is_as_the_tutorial_tells_it() {
    if wish().is_none() || !Path::new("/usr/games/openarena-server").exists() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("integrations/openarena");
    let mut script = Command::new("python3");
    script.arg(folder.join("evening.py"));
    script.args(["--evenkeel", env!("CARGO_BIN_EXE_evenkeel")]);
    let output = script.env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let log = String::from_utf8_lossy(&output.stderr);
    std::io::stderr().write_all(&output.stdout).unwrap();
    assert!(output.status.success(), "{log}");
    assert!(said.ends_with("everything on the page happened\n"));
}
