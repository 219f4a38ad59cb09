//! A file of the database that is deleted or replaced while the daemon runs: from then on nothing is acknowledged, and what
//! was acknowledged before is in a new file.

use std::{
    fs,
    io::BufReader,
    net::TcpStream,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use crate::common::{
    http::Pages,
    process::{HANG, Process, ask, evenkeel, poll},
};

const MATCHES: usize = 24;
const RESCUED: &str = "evenkeel.db.rescued-1";

/// Plays a game on a map of its own, up to the answer to END.
fn play(stream: &mut BufReader<TcpStream>, map: usize) -> String {
    let game = format!("GAME ctf\nMAP m{map}\nMINPLAYERS 0\nJOIN a team=0\nJOIN b team=1\nSTART\n");
    ask(stream, &format!("{game}SCORE 0\nEND\n"))
}

fn play_all(daemon: &Process) -> BufReader<TcpStream> {
    let mut stream = daemon.connect();
    assert!(ask(&mut stream, "HELLO s\n").starts_with("HELLO "));
    for map in 0..MATCHES {
        let end = play(&mut stream, map);
        assert!(end.starts_with(&format!("END {} ", map + 1)), "{end}");
    }
    stream
}

/// How many matches there are in the database of this name.
fn matches_in(folder: &Path, name: &str) -> usize {
    let mut command = evenkeel(folder);
    let output = command.args(["export", "--db", name]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout).unwrap().lines().count()
}

/// Puts the new file where the database was, as the log says.
fn put_in_place(folder: &Path) {
    for name in ["evenkeel.db", "evenkeel.db-wal", "evenkeel.db-shm"] {
        let _ = fs::remove_file(folder.join(name));
    }
    fs::rename(folder.join(RESCUED), folder.join("evenkeel.db")).unwrap();
}

fn remove(path: &Path) {
    fs::remove_file(path).unwrap();
}

/// The old file stays somewhere, so that the new one is another.
fn replace(path: &Path) {
    fs::rename(path, path.with_extension("away")).unwrap();
    fs::write(path, "").unwrap();
}

fn is_taken(name: &str, take: fn(&Path)) {
    let folder = TempDir::new().unwrap();
    let mut pages = Pages::start(folder.path(), &[]);
    let mut stream = play_all(&pages.daemon);
    let main = folder.path().join("evenkeel.db");
    take(&folder.path().join(name));
    let before = fs::read(&main).ok();
    assert_eq!(play(&mut stream, MATCHES), "ERROR internal kept", "{name}");

    let mut said = String::new();
    while !said.contains("rescued=") {
        said = pages.daemon.log.recv_timeout(HANG).unwrap();
    }
    let rescued: PathBuf = folder.path().join(RESCUED);
    assert!(said.contains(RESCUED), "{said}");
    let status: serde_json::Value = serde_json::from_str(&pages.get("/status.json").body).unwrap();
    let store = &status["store"];
    assert_eq!(store["in_place"], false, "{status}");
    assert_eq!(store["rescued"], rescued.to_str().unwrap(), "{status}");
    let warnings = status["warnings"].to_string();
    assert!(
        warnings.contains(RESCUED) && warnings.contains(name),
        "{status}"
    );
    assert_eq!(matches_in(folder.path(), RESCUED), MATCHES, "{name}");
    assert_eq!(ask(&mut stream, "END\n"), "ERROR internal kept", "{name}");
    drop(stream);
    pages.daemon.stop();
    assert_eq!(
        fs::read(&main).ok(),
        before,
        "{name}: no checkpoint at the end"
    );

    put_in_place(folder.path());
    let daemon = Process::start(folder.path());
    poll(|| match matches_in(folder.path(), "evenkeel.db") {
        found if found == MATCHES + 1 => Ok(()),
        found => Err(format!("{name}: {found} matches")),
    });
    drop(daemon);
}

#[test]
fn a_log_that_is_deleted_loses_nothing() {
    is_taken("evenkeel.db-wal", remove);
    is_taken("evenkeel.db-wal", replace);
}

#[test]
fn an_index_of_the_log_that_is_deleted_loses_nothing() {
    is_taken("evenkeel.db-shm", remove);
    is_taken("evenkeel.db-shm", replace);
}

#[test]
fn a_database_that_is_deleted_loses_nothing() {
    is_taken("evenkeel.db", remove);
}

/// The daemon looks once more before its end.
#[test]
fn a_log_that_is_deleted_just_before_the_stop_loses_nothing() {
    let folder = TempDir::new().unwrap();
    let mut daemon = Process::start(folder.path());
    drop(play_all(&daemon));
    daemon.signal("-STOP");
    remove(&folder.path().join("evenkeel.db-wal"));
    daemon.signal("-TERM");
    daemon.signal("-CONT");
    assert!(crate::common::process::wait(&mut daemon.child).success());
    assert_eq!(matches_in(folder.path(), RESCUED), MATCHES);
}
