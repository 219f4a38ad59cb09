//! Who may read the files that the daemon makes, whatever the umask.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use crate::common::process::{BINARY, Process, ask, configured, poll, run};

const LOG: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/openarena/ctf-014.log"
);

/// Everything below a folder that is a file, with its mode.
fn modes(folder: &Path) -> BTreeMap<PathBuf, u32> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        // SQLite and the daemon remove files meanwhile.
        let Ok((path, data)) = entry.and_then(|entry| Ok((entry.path(), entry.metadata()?))) else {
            continue;
        };
        match data.is_dir() {
            true => found.extend(modes(&path)),
            false => {
                found.insert(path, data.permissions().mode() & 0o777);
            }
        }
    }
    found
}

/// A shell sets the umask, and becomes the daemon.
fn start(folder: &Path, umask: &str) -> Process {
    let script = format!("umask {umask} && exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, BINARY]);
    Process::of(
        folder,
        command,
        &["serve", "--listen", "127.0.0.1:0"],
        &[("EVENKEEL_CONFIG", "evenkeel.toml")],
    )
}

/// What the daemon makes while a game runs, and after it was stopped.
fn made(umask: &str, mode: &str) -> (TempDir, BTreeMap<PathBuf, u32>) {
    let folder = configured(&format!(
        "[store]\nfile_mode = {mode:?}\nbackups = \"kept\"\n[ingest]\narchive = \"logs\"\n"
    ));
    let toml = folder.path().join("evenkeel.toml");
    let mut daemon = start(folder.path(), umask);
    let mut stream = daemon.connect();
    assert!(ask(&mut stream, "HELLO s\n").starts_with("HELLO "));
    assert_eq!(
        ask(
            &mut stream,
            "GAME ctf\nJOIN a team=0\nSTART\nSCORE 0\nPING\n"
        ),
        "PONG"
    );
    let (code, _, error) = run(folder.path(), &["ingest", LOG, "--dir", "."]);
    assert_eq!(code, 0, "{error}");
    let wanted = [
        "evenkeel.db",
        "-wal",
        "-shm",
        "-lease",
        ".game",
        "/lock",
        "/reserve",
        ".gz",
        ".json",
        "Z.db",
    ];
    let mut all = poll(|| {
        let found = modes(folder.path());
        let has = |end: &&&str| {
            found
                .keys()
                .any(|path| path.to_str().unwrap().ends_with(**end))
        };
        match wanted.iter().all(|end| has(&end)) {
            true => Ok(found),
            false => Err(found),
        }
    });
    daemon.stop();
    let (code, _, error) = run(folder.path(), &["backup", "own.db", "--dir", "."]);
    assert_eq!(code, 0, "{error}");
    all.extend(modes(folder.path()));
    assert!(
        all.keys()
            .any(|path| path.extension().is_some_and(|end| end == "checkpoint"))
    );
    all.remove(&toml);
    (folder, all)
}

#[test]
fn new_files_are_for_the_daemon_alone_whatever_the_umask() {
    for (umask, mode, expected) in [
        ("022", "0600", 0o600),
        ("0", "0600", 0o600),
        ("077", "0640", 0o640),
    ] {
        let (_folder, made) = made(umask, mode);
        for (path, found) in made {
            assert_eq!(found, expected, "{umask}: {} has {found:o}", path.display());
        }
    }
}

#[test]
fn an_old_file_keeps_its_mode_and_the_daemon_warns_of_it() {
    let folder = TempDir::new().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    Process::start(folder.path()).stop();
    let path = folder.path().join("evenkeel.db");
    let warned = |daemon: &Process| {
        assert_eq!(ask(&mut daemon.connect(), "PING\n"), "PONG");
        daemon
            .before
            .contains("every user of this machine may read")
    };
    assert!(!warned(&Process::start(folder.path())));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let mut daemon = Process::start(folder.path());
    assert!(warned(&daemon), "{}", daemon.before);
    daemon.stop();
    assert_eq!(modes(folder.path())[&path], 0o644);
}
