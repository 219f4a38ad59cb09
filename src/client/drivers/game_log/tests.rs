//! Logs that grow, turn up later, or come as datagrams.

use std::{
    fs,
    io::Write,
    net::{SocketAddr, UdpSocket},
    time::{Duration, SystemTime},
};

use tempfile::TempDir;

use super::*;

fn all(log: &mut GameLog) -> Vec<String> {
    let mut lines = Vec::new();
    log.read(|line| lines.push(String::from_utf8_lossy(line).into_owned()))
        .unwrap();
    lines
}

fn append(path: &Path, text: &str) {
    let mut options = fs::File::options();
    let mut file = options.append(true).create(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Lets the folder be searched at the next read.
fn search(log: &mut GameLog) {
    if let DriverLogOrigin::Folder(newest) = &mut log.origin {
        newest.searched = None;
    }
}

#[test]
fn the_newest_log_of_a_folder_is_followed() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str| folder.path().join(name);
    let mut log = GameLog::file_or_folder(folder.path());
    assert_eq!(all(&mut log), [""; 0]);
    let old = SystemTime::now() - Duration::from_secs(100);
    append(&file("b.log"), "old\n");
    let handle = fs::File::options().write(true).open(file("b.log")).unwrap();
    handle.set_modified(old).unwrap();
    append(&file("a.log"), "one\ntw");
    append(&file("c.txt"), "no log\n");
    append(&file("d.log"), "");
    search(&mut log);
    assert_eq!(all(&mut log), ["one"]);
    append(&file("a.log"), "o\n");
    assert_eq!(all(&mut log), ["two"]);
    // The rest of the old file comes first.
    append(&file("a.log"), "three\nfo");
    let handle = fs::File::options().write(true).open(file("a.log")).unwrap();
    handle.set_modified(old).unwrap();
    append(&file("d.log"), "next\n");
    search(&mut log);
    assert_eq!(all(&mut log), ["three", "next"]);
}

#[test]
fn a_folder_may_be_made_later() {
    let folder = TempDir::new().unwrap();
    let later = folder.path().join("data");
    let mut log = GameLog::file_or_folder(&later);
    assert_eq!(all(&mut log), [""; 0]);
    fs::create_dir(&later).unwrap();
    append(&later.join("a.log"), "one\n");
    assert_eq!(all(&mut log), ["one"]);
    let refused = GameLog::file(folder.path()).err().unwrap().to_string();
    assert!(refused.ends_with("is a folder: --log must name the file that the game server writes"));
}

#[test]
fn what_is_followed_is_described_with_what_is_missing() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("games.log");
    let file = || GameLog::file(&path).unwrap().describe();
    assert!(
        file().ends_with("games.log does not exist yet: waiting for the game server to write it")
    );
    append(&path, "");
    assert!(
        file().ends_with("games.log, which is empty: waiting for the game server to write to it")
    );
    let of_folder = || GameLog::file_or_folder(folder.path()).describe();
    assert!(
        of_folder().contains("which has no log yet"),
        "{}",
        of_folder()
    );
    append(&path, "one\n");
    assert_eq!(file(), format!("following the log {}", path.display()));
    assert!(of_folder().ends_with("games.log"), "{}", of_folder());
    let here = "127.0.0.1:0".parse().unwrap();
    let datagrams = GameLog::datagrams(here, "127.0.0.1".parse().unwrap(), None).unwrap();
    assert!(
        datagrams
            .describe()
            .starts_with("waiting for the log on 127.0.0.1:")
    );
}

#[test]
fn a_folder_that_cannot_be_read_is_reported_once() {
    let folder = TempDir::new().unwrap();
    let mut log = GameLog::file_or_folder(folder.path());
    assert_eq!(all(&mut log), [""; 0]);
    drop(folder);
    search(&mut log);
    assert!(log.read(|_| {}).is_err());
    search(&mut log);
    assert!(log.read(|_| {}).is_ok());
}

#[test]
fn only_the_game_server_is_listened_to() {
    let here: SocketAddr = "127.0.0.1:0".parse().unwrap();
    for (server, heard) in [("127.0.0.1", 1), ("192.0.2.1", 0), ("::ffff:127.0.0.1", 1)] {
        let mut log = GameLog::datagrams(here, server.parse().unwrap(), None).unwrap();
        let DriverLogOrigin::Datagrams(datagrams) = &log.origin else {
            unreachable!()
        };
        let to = datagrams.socket.local_addr().unwrap();
        datagrams.socket.set_nonblocking(false).unwrap();
        let game = UdpSocket::bind(here).unwrap();
        game.send_to(b"\xff\xff\xff\xffRL 01\n\0", to).unwrap();
        // The datagram is there once it can be looked at.
        datagrams.socket.peek_from(&mut [0; 4]).unwrap();
        datagrams.socket.set_nonblocking(true).unwrap();
        assert_eq!(all(&mut log).len(), heard, "{server}");
    }
}

#[test]
fn lines_in_datagrams() {
    let line = |datagram: &'static [u8], secret| line_in(datagram, secret);
    assert_eq!(line(b"\xff\xff\xff\xffRL 01\n\0", None), Some(&b"L 01"[..]));
    assert_eq!(
        line(b"\xff\xff\xff\xffS123L 01\r\n\0\0", Some("123")),
        Some(&b"L 01"[..])
    );
    for (wrong, secret) in [
        (&b""[..], None),
        (b"\xff\xff\xff", None),
        (b"\xff\xff\xff\xffL 01", None),
        (b"\xff\xff\xff\xffRL 01", Some("123")),
        (b"\xff\xff\xff\xffS12", Some("123")),
        (b"\xff\xff\xff\xffS124L 01", Some("123")),
        (b"\xff\xff\xff\xffS123L 01", None),
    ] {
        assert_eq!(line(wrong, secret), None, "{wrong:?}");
    }
}
