//! A disk that has no room for a while: nothing is lost, and recording goes on by itself.

use std::{
    fs::{self, File},
    io::{BufReader, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::Command,
};

use crate::common::process::{Process, ask, evenkeel, poll, run};
use tempfile::{NamedTempFile, TempDir};

/// A file system of a few megabytes in memory, unmounted when this is dropped.
pub struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// `None`, with the reason printed, where mounting is not allowed.
    pub fn mount() -> Option<Self> {
        Self::mounted(&["-t", "tmpfs", "-o", "size=3m", "tmpfs"])
    }

    /// One whose blocks have 1 KiB, in a file of 6 MB.
    pub fn with_small_blocks() -> Option<Self> {
        let image = NamedTempFile::new().unwrap();
        image.as_file().set_len(6 << 20).unwrap();
        let made = Command::new("mke2fs")
            .args([
                "-q",
                "-t",
                "ext4",
                "-b",
                "1024",
                "-m",
                "0",
                "-O",
                "^has_journal",
            ])
            .arg(image.path())
            .output();
        match made {
            Ok(output) if output.status.success() => {}
            other => {
                skip(&format!("mke2fs: {other:?}"));
                return None;
            }
        }
        // The kernel has the file open as long as it is mounted.
        Self::mounted(&["-o", "loop", image.path().to_str().unwrap()])
    }

    fn mounted(words: &[&str]) -> Option<Self> {
        let folder = TempDir::new().unwrap();
        let mounted = Command::new("mount")
            .args(words)
            .arg(folder.path())
            .output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self { folder }),
            Ok(output) => {
                skip(&String::from_utf8_lossy(&output.stderr));
                None
            }
            Err(error) => {
                skip(&error.to_string());
                None
            }
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The file that takes all room.
    pub fn filler(&self) -> PathBuf {
        self.folder.path().join("filler")
    }

    /// Takes all room but this many bytes.
    pub fn fill_up_to(&self, bytes: u64) {
        self.fill();
        let filler = File::options().write(true).open(self.filler()).unwrap();
        let length = filler.metadata().unwrap().len();
        filler.set_len(length.saturating_sub(bytes)).unwrap();
        filler.sync_all().unwrap();
    }

    pub fn fill(&self) {
        let mut filler = File::create(self.filler()).unwrap();
        for size in [4_096, 1] {
            while filler.write(&vec![0; size]).is_ok() {}
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let gone = Command::new("umount")
            .arg("-l")
            .arg(self.folder.path())
            .status();
        assert!(gone.is_ok_and(|status| status.success()));
    }
}

/// `eprintln!` would be captured, and shown only if the test failed.
fn skip(reason: &str) {
    let said = writeln!(std::io::stderr(), "skipped: {}", reason.trim());
    said.unwrap();
}

/// Plays a game, which has a map of its own, up to the answer to END.
fn play(stream: &mut BufReader<TcpStream>, map: usize) -> String {
    let script = format!("GAME ctf\nMAP m{map}\nJOIN a team=0\nJOIN b team=1\nSTART\nSCORE 0\n");
    ask(stream, &format!("{script}END\n"))
}

/// The id in the answer to END.
fn id(answer: &str) -> i64 {
    let mut words = answer.split(' ');
    assert_eq!(words.next(), Some("END"), "{answer}");
    words.next().unwrap().parse().unwrap()
}

/// The maps of all matches on disk, in order of their ids.
fn recorded(folder: &Path) -> Vec<String> {
    let export = evenkeel(folder).arg("export").output().unwrap();
    assert!(export.status.success());
    let lines = String::from_utf8(export.stdout).unwrap();
    let map = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        record["map"].as_str().unwrap().to_owned()
    };
    lines.lines().map(map).collect()
}

/// Takes all room on the disk away, and gives it back.
fn without_room(folder: &Path, daemon: &Process, take: impl Fn(), give: impl Fn()) {
    let mut stream = daemon.connect();
    assert!(ask(&mut stream, "HELLO s\n").starts_with("HELLO "));
    assert_eq!(id(&play(&mut stream, 0)), 1);
    let mut maps = 1;
    for round in 0..3 {
        take();
        // The database may have some room of its own.
        while play(&mut stream, maps) != "ERROR internal kept" {
            maps += 1;
            assert!(maps < 1_000, "there is no end of room");
        }
        maps += 1;
        if round > 0 {
            // The next game has begun before there is room.
            assert_eq!(play(&mut stream, maps), "ERROR internal kept");
            maps += 1;
        }
        assert_eq!(ask(&mut stream, "END\n"), "ERROR internal kept", "again");
        assert_eq!(ask(&mut stream, "PING\n"), "PONG");
        give();
        let kept = id(&ask(&mut stream, "END\n"));
        assert_eq!(kept, maps as i64, "with an id of its own");
        assert_eq!(id(&ask(&mut stream, "END\n")), kept, "and again");
        assert_eq!(id(&play(&mut stream, maps)), kept + 1, "the next game");
        maps += 1;
    }
    // A match that nobody asks for again is written by itself.
    take();
    while play(&mut stream, maps) != "ERROR internal kept" {
        maps += 1;
    }
    maps += 1;
    drop(stream);
    give();
    let written = poll(|| {
        let written = recorded(folder);
        match written.len() == maps {
            true => Ok(written),
            false => Err(format!("{} of {maps}", written.len())),
        }
    });
    let mut all: Vec<_> = (0..maps).map(|map| format!("m{map}")).collect();
    let mut sorted = written.clone();
    all.sort();
    sorted.sort();
    assert_eq!(sorted, all, "each match once");
}

/// The program ends with the code after which systemd starts it again.
#[test]
fn a_full_disk_at_the_start_passes() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    Process::start(disk.path()).stop();
    disk.fill();
    let mut command = evenkeel(disk.path());
    let output = command.args(["serve", "--listen", "127.0.0.1:0"]).output();
    let output = output.unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(6), "{error}");
    assert!(error.contains("full"), "{error}");
    fs::remove_file(disk.filler()).unwrap();
    Process::start(disk.path()).stop();
}

#[test]
fn a_full_disk_stops_recording_only_as_long_as_it_is_full() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let folder = disk.folder.path().to_owned();
    let daemon = Process::start(&folder);
    let give = || fs::remove_file(disk.filler()).unwrap();
    without_room(&folder, &daemon, || disk.fill(), give);
}

#[test]
fn a_limit_on_the_size_of_files_stops_recording_only_as_long_as_it_holds() {
    let folder = TempDir::new().unwrap();
    let daemon = Process::start(folder.path());
    let limit = |limit: &str| {
        let pid = format!("--pid={}", daemon.child.id());
        let limit = format!("--fsize={limit}:unlimited");
        let mut command = Command::new("prlimit");
        command.args([pid, limit]).status()
    };
    match limit("unlimited") {
        Ok(status) if status.success() => {}
        other => return skip(&format!("prlimit: {other:?}")),
    }
    let set = |bytes| assert!(limit(bytes).unwrap().success());
    without_room(folder.path(), &daemon, || set("1"), || set("unlimited"));
}

/// Waits until room is kept for journals.
fn until_reserved(folder: &Path) {
    let reserve = folder.join("evenkeel.games/reserve");
    poll(|| match fs::metadata(&reserve) {
        Ok(found) if found.len() > 0 => Ok(()),
        _ => Err("nothing is in reserve"),
    });
}

#[test]
fn what_is_kept_and_what_begins_on_a_full_disk_survives_a_stop() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let folder = disk.path();
    for signal in ["-TERM", "-KILL"] {
        let mut daemon = Process::start(folder);
        until_reserved(folder);
        let before = recorded(folder).len();
        let mut maps = before;
        let mut streams: Vec<_> = (0..6).map(|_| daemon.connect()).collect();
        for (number, stream) in streams.iter_mut().enumerate() {
            let hello = ask(stream, &format!("HELLO {signal}{number}\n"));
            assert!(hello.starts_with("HELLO "), "{hello}");
        }
        disk.fill();
        for stream in &mut streams {
            // The database may have some room of its own.
            while play(stream, maps) != "ERROR internal kept" {
                maps += 1;
                assert!(maps < 1_000, "there is no end of room");
            }
            maps += 1;
        }
        let mut late = daemon.connect();
        assert!(ask(&mut late, "HELLO late\n").starts_with("HELLO "));
        let begin = "GAME ctf\nMAP late\nJOIN a team=0\nJOIN b team=1\nSTART\nSCORE 0\nPING\n";
        assert_eq!(ask(&mut late, begin), "PONG");
        daemon.signal(signal);
        daemon.child.wait().unwrap();
        drop((streams, late));

        fs::remove_file(disk.filler()).unwrap();
        let mut daemon = Process::start(folder);
        let mut late = daemon.connect();
        let resumed = ask(&mut late, "HELLO late resume=yes\n");
        assert!(resumed.ends_with(" resumed"), "{resumed}");
        assert!(ask(&mut late, "SCORE 0\nEND\n").starts_with("END "));
        poll(|| {
            let found = recorded(folder);
            let all = found.len() > maps;
            all.then_some(())
                .ok_or_else(|| format!("{signal}: {found:?}"))
        });
        let mut all = recorded(folder).split_off(before);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), maps + 1 - before, "each match once");
        daemon.stop();
    }
}

#[test]
fn a_disk_that_may_only_be_read_is_named() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let remount = |how: &str| {
        let mut command = Command::new("mount");
        let mounted = command
            .args(["-o", &format!("remount,{how}")])
            .arg(disk.path());
        assert!(mounted.status().unwrap().success());
    };
    let refused = || {
        remount("ro");
        let (code, _, said) = run(disk.path(), &["serve", "--listen", "127.0.0.1:0"]);
        assert_eq!(code, 5, "{said}");
        let named = "evenkeel.db: the disk is mounted read-only";
        assert!(said.contains(named), "{said}");
        remount("rw");
    };
    refused();
    // With a database that was closed, and with one that has its write-ahead log beside it.
    Process::start(disk.path()).stop();
    refused();
    Process::start(disk.path()).kill();
    assert!(disk.path().join("evenkeel.db-wal").exists());
    refused();
}
