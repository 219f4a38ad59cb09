//! A real OpenArena server, balanced end to end; see `integrations/openarena`. Runs with
//! `EVENKEEL_LIVE=1` if openarena-server is installed, or with `EVENKEEL_LIVE=install`, which
//! installs it from Debian.

use std::{fs, io::Write, path::Path, process::Command};

use tempfile::TempDir;

/// Two matches with random teams and two with Evenkeel's: about two minutes.
#[test]
fn a_real_server_is_balanced_end_to_end() {
    let Some(wish) = std::env::var_os("EVENKEEL_LIVE") else {
        // Written directly, because the output of macros is captured in a passing test.
        let written = writeln!(
            std::io::stderr(),
            "skipped: EVENKEEL_LIVE=1 plays on a real OpenArena server"
        );
        return written.unwrap();
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = TempDir::new().unwrap();
    let kept = folder.path().join("season");
    let mut demo = Command::new(root.join("integrations/openarena/demo.sh"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("EVENKEEL_")) {
        demo.env_remove(name);
    }
    demo.env("EVENKEEL_BIN", env!("CARGO_BIN_EXE_evenkeel"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .args(["--random", "2", "--balanced", "2", "--keep"])
        .arg(&kept);
    if wish == "install" {
        demo.arg("--install");
    }
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

fn open(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
}
