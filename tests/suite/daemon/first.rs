//! Faults at a start that pass by themselves: a first start that was cut off, a disk that fills up, too few open files.

use std::{
    fs::{self, File},
    net::SocketAddr,
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
};

use sqlx::{Connection, SqliteConnection};
use tempfile::{NamedTempFile, TempDir};

use super::disk::SmallDisk;
use crate::common::process::{
    BINARY, Process, ask, connect_to, evenkeel, inside, poll, printed, run,
};

const SERVE: [&str; 3] = ["serve", "--listen", "127.0.0.1:0"];

/// Kills a first start as soon as there is this file.
fn cut_off_at(folder: &Path, name: &str) {
    let mut command = evenkeel(folder);
    let mut child = command.args(SERVE).stderr(Stdio::null()).spawn().unwrap();
    poll(|| {
        let there = folder.join(name).exists();
        there.then_some(()).ok_or(name)
    });
    child.kill().unwrap();
    child.wait().unwrap();
}

/// How a start ends, if it does, or the address at which it serves, and what it has logged.
fn start(folder: &Path) -> (Child, Result<SocketAddr, ExitStatus>, String) {
    // On another disk than the database.
    let log = NamedTempFile::new().unwrap();
    let mut command = evenkeel(folder);
    let stderr = Stdio::from(log.as_file().try_clone().unwrap());
    let mut child = command.args(SERVE).stderr(stderr).spawn().unwrap();
    let said = || fs::read_to_string(log.path()).unwrap();
    let found = poll(|| {
        let ended = child.try_wait().unwrap();
        let said = said();
        let listens = said.split_once("listening address=");
        let address = listens.and_then(|(_, rest)| rest.split_once(' '));
        match (ended, address) {
            (Some(status), _) => Ok(Err(status)),
            (None, Some((address, _))) => Ok(Ok(address.parse().unwrap())),
            (None, None) => Err(said),
        }
    });
    (child, found, said())
}

/// Whether a start was refused because the disk is full. If not, it serves, and is killed.
fn is_refused(folder: &Path, what: &str) -> bool {
    let (mut child, found, said) = start(folder);
    let Err(status) = found else {
        child.kill().unwrap();
        child.wait().unwrap();
        return false;
    };
    assert_eq!(status.signal(), None, "{what}: {said}");
    assert_eq!(status.code(), Some(6), "{what}: {said}");
    assert!(said.contains("the disk is full"), "{what}: {said}");
    true
}

fn serves(disk: &SmallDisk, what: &str) {
    let daemon = Process::start(disk.path());
    assert_eq!(daemon.ask("PING\n"), "PONG\n", "{what}");
}

#[test]
fn a_first_start_that_was_cut_off_is_finished() {
    for name in ["evenkeel.db", "evenkeel.db-wal", "evenkeel.db-lease"] {
        let Some(disk) = SmallDisk::mount() else {
            return;
        };
        cut_off_at(disk.path(), name);
        disk.fill();
        // If it was killed late, it has all room that a start needs.
        is_refused(disk.path(), name);
        fs::remove_file(disk.filler()).unwrap();
        serves(&disk, name);
    }
}

const OURS: &str = "PRAGMA application_id = 0x45564b4c";
const WAL: &str = "PRAGMA journal_mode = WAL";
const MIGRATIONS: &str = "CREATE TABLE _sqlx_migrations (
    version BIGINT PRIMARY KEY, description TEXT NOT NULL,
    installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    success BOOLEAN NOT NULL, checksum BLOB NOT NULL, execution_time BIGINT NOT NULL)";

/// Makes the files of a first start that has executed so much and was killed then.
async fn cut_off_after(done: &[&str], folder: &Path) {
    let elsewhere = TempDir::new().unwrap();
    let path = elsewhere.path().join("evenkeel.db");
    File::create(&path).unwrap();
    let url = format!("sqlite:{}", path.display());
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    for text in done {
        let done = sqlx::query(sqlx::AssertSqlSafe(*text)).execute(&mut connection);
        done.await.unwrap();
    }
    // As they are while the connection is open, and so after a kill.
    for entry in fs::read_dir(elsewhere.path()).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
    }
}

/// The states between the first files, which a kill meets by chance only.
#[tokio::test]
async fn a_database_of_which_only_the_beginning_is_written_is_finished() {
    let states: [&[&str]; 5] = [&[], &[OURS], &[WAL], &[OURS, WAL], &[OURS, WAL, MIGRATIONS]];
    for state in states {
        let Some(disk) = SmallDisk::mount() else {
            return;
        };
        let what = format!("{state:?}");
        cut_off_after(state, disk.path()).await;
        disk.fill();
        assert!(is_refused(disk.path(), &what), "{what}");
        assert!(is_refused(disk.path(), &what), "{what}, again");
        fs::remove_file(disk.filler()).unwrap();
        serves(&disk, &what);
    }
}

#[test]
fn a_restore_that_was_cut_off_stays_an_error() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("evenkeel.db");
    Process::start(folder.path()).stop();
    let (code, _, error) = run(folder.path(), &["backup", "whole.db"]);
    assert_eq!(code, 0, "{error}");
    let whole = fs::read(folder.path().join("whole.db")).unwrap();
    for part in [0, 4_096, whole.len() / 2] {
        for beside in ["evenkeel.db-wal", "evenkeel.db-shm"] {
            let _ = fs::remove_file(folder.path().join(beside));
        }
        fs::write(&path, &whole[..part]).unwrap();
        let (code, _, error) = run(folder.path(), &SERVE);
        assert_eq!(code, 5, "{part} of {} bytes: {error}", whole.len());
    }
    fs::write(&path, &whole).unwrap();
    Process::start(folder.path()).stop();
}

/// Plays a game, up to the answer to END.
const GAME: &str = "GAME ctf\nMINPLAYERS 0\nJOIN a team=0\nJOIN b team=1\nSTART\nSCORE 0\nEND\n";

/// A page of the index of the log has four blocks there, of which SQLite itself takes one.
#[tokio::test]
async fn a_first_start_on_a_disk_of_small_blocks_ends_by_no_signal() {
    let (mut refused, mut served) = (0, 0);
    for kilobytes in (0..=192).step_by(8) {
        let Some(disk) = SmallDisk::with_small_blocks() else {
            return;
        };
        cut_off_after(&[OURS, WAL], disk.path()).await;
        disk.fill_up_to(kilobytes << 10);
        match is_refused(disk.path(), &format!("{kilobytes} KiB")) {
            true => refused += 1,
            false => served += 1,
        }
        fs::remove_file(disk.filler()).unwrap();
        serves(&disk, &format!("after {kilobytes} KiB"));
    }
    assert!(refused > 4, "{refused} refused, {served} served");
}

#[test]
fn a_disk_of_small_blocks_that_fills_up_keeps_all_matches() {
    let Some(disk) = SmallDisk::with_small_blocks() else {
        return;
    };
    let mut daemon = Process::start(disk.path());
    assert!(daemon.ask(&format!("HELLO s\n{GAME}")).contains("END 1 "));
    daemon.kill();
    let (mut kept, mut refused) = (0, 0);
    for kilobytes in (4..=120).step_by(4) {
        disk.fill_up_to(kilobytes << 10);
        match start(disk.path()) {
            (mut child, Ok(address), _) => {
                let mut stream = connect_to(address);
                assert!(ask(&mut stream, "HELLO s\n").starts_with("HELLO "));
                // Kept ones come again at the next start, and there is room for 256.
                for _ in 0..6 {
                    let end = ask(&mut stream, GAME);
                    kept += usize::from(end == "ERROR internal kept");
                    let known = end.starts_with("END ") || end == "ERROR internal kept";
                    assert!(known, "{kilobytes} KiB: {end:?} {:?}", child.try_wait());
                }
                assert_eq!(ask(&mut stream, "PING\n"), "PONG");
                child.kill().unwrap();
                child.wait().unwrap();
            }
            (_, Err(status), said) => {
                refused += 1;
                assert_eq!(status.code(), Some(6), "{kilobytes} KiB: {said}");
            }
        }
        fs::remove_file(disk.filler()).unwrap();
    }
    assert!(kept > 0 && refused > 0, "{kept} kept, {refused} refused");
    serves(&disk, "with room");
}

#[test]
fn too_few_open_files_are_an_error_of_the_configuration_with_the_number() {
    let folder = TempDir::new().unwrap();
    let start = |limit: &str| {
        let script = format!("ulimit -n {limit} && exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script, BINARY]);
        command
    };
    let mut command = inside(folder.path(), start("50"));
    let (code, _, error) = printed(command.args(SERVE).output().unwrap());
    assert_eq!(code, 3, "{error}");
    assert!(error.contains("may have 50 files"), "{error}");
    let (_, needed) = error.split_once("needs ").unwrap();
    let needed = needed.split(' ').next().unwrap();
    // The number is enough, and one less is not.
    let less = (needed.parse::<u32>().unwrap() - 1).to_string();
    let mut command = inside(folder.path(), start(&less));
    assert_eq!(command.args(SERVE).output().unwrap().status.code(), Some(3));
    let daemon = Process::of(folder.path(), start(needed), &SERVE, &[]);
    assert!(daemon.ask(GAME).starts_with("END 1 "));
}
