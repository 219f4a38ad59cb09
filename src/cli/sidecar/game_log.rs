//! The log of a game server: a file that it writes, the newest file of a folder, or the datagrams
//! that it sends.

use std::{
    fs, io,
    net::{IpAddr, SocketAddr, UdpSocket},
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use crate::{
    cli::CliError,
    ingest::{Framed, Lines, MAX_LINE},
    logs::{Tail, Tailed},
};

/// The most bytes of the log per read.
const CHUNK: usize = 64 * 1024;
/// How often a folder is searched for a newer log.
const SEARCH: Duration = Duration::from_secs(1);
/// The most datagrams that are read at once, so that a flood of them does not keep the sidecar busy.
const DATAGRAMS: usize = 2_000;
/// The start of a datagram that contains a line of the log.
const OUT_OF_BAND: &[u8] = b"\xff\xff\xff\xff";

/// A log that is read as it grows.
pub(super) struct GameLog {
    origin: Origin,
    /// Whether the path of a file may turn out to be a folder.
    folders: bool,
    lines: Lines,
    /// Whether the operator has been warned that the log cannot be read.
    unreadable: bool,
}

enum Origin {
    File(Tail),
    Folder(NewestFile),
    Datagrams(Datagrams),
}

/// The newest log of a folder, to which a game server adds one for each map or match.
struct NewestFile {
    folder: PathBuf,
    tail: Option<Tail>,
    searched: Option<Instant>,
}

/// The lines that one game server sends.
struct Datagrams {
    socket: UdpSocket,
    server: IpAddr,
    /// What each datagram must contain before its line, if the server is set to send it.
    secret: Option<String>,
}

impl GameLog {
    fn new(origin: Origin) -> Self {
        Self {
            origin,
            folders: false,
            lines: Lines::new(MAX_LINE),
            unreadable: false,
        }
    }

    /// A file, which need not exist yet.
    ///
    /// # Errors
    /// Fails if the path is that of a folder.
    pub(super) fn file(path: &Path) -> Result<Self, CliError> {
        match path.is_dir() {
            true => Err(CliError::Input(format!(
                "{} is a folder: --log must name the file that the game server writes",
                path.display()
            ))),
            false => Ok(Self::new(Origin::File(Tail::new(path)))),
        }
    }

    /// A file, or the newest `.log` of a folder and those that come after it. Neither need exist yet.
    pub(super) fn file_or_folder(path: &Path) -> Self {
        Self {
            folders: true,
            ..Self::new(Origin::File(Tail::new(path)))
        }
    }

    /// The datagrams that this game server sends to this address.
    ///
    /// # Errors
    /// Fails if the address cannot be listened on.
    pub(super) fn datagrams(
        listen: SocketAddr,
        server: IpAddr,
        secret: Option<String>,
    ) -> io::Result<Self> {
        let socket = UdpSocket::bind(listen)?;
        socket.set_nonblocking(true)?;
        let datagrams = Datagrams {
            socket,
            server,
            secret,
        };
        Ok(Self::new(Origin::Datagrams(datagrams)))
    }

    /// What is followed, and what the operator has to wait for before anything comes from it.
    pub(super) fn describe(&self) -> String {
        match &self.origin {
            Origin::File(tail) if self.folders && tail.path().is_dir() => {
                describe_folder(tail.path())
            }
            Origin::File(tail) => describe_file(tail.path()),
            Origin::Folder(newest) => describe_folder(&newest.folder),
            Origin::Datagrams(datagrams) => match datagrams.socket.local_addr() {
                Ok(address) => format!("waiting for the log on {address}"),
                Err(error) => format!("the log has no address: {error}"),
            },
        }
    }

    /// Passes every new line to `each`, without its end.
    ///
    /// # Errors
    /// Returns a line for the operator if the log cannot be read, once until it can be read again.
    pub(super) fn read(&mut self, mut each: impl FnMut(&[u8])) -> Result<(), String> {
        if let Origin::File(tail) = &self.origin
            && self.folders
            && tail.id().is_none()
            && tail.path().is_dir()
        {
            let folder = tail.path().to_owned();
            self.origin = Origin::Folder(NewestFile::new(folder));
        }
        let lines = &mut self.lines;
        let (name, done) = match &mut self.origin {
            Origin::File(tail) => (
                tail.path().display().to_string(),
                read_tail(tail, lines, &mut each),
            ),
            Origin::Folder(newest) => (
                newest.folder.display().to_string(),
                newest.read(lines, &mut each),
            ),
            Origin::Datagrams(datagrams) => {
                ("the log's address".to_owned(), datagrams.read(&mut each))
            }
        };
        match done {
            Ok(()) => {
                self.unreadable = false;
                Ok(())
            }
            Err(_) if std::mem::replace(&mut self.unreadable, true) => Ok(()),
            Err(error) => Err(format!("cannot read {name}: {error}; trying again")),
        }
    }
}

fn describe_file(path: &Path) -> String {
    let shown = path.display();
    match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            format!("the log {shown} does not exist yet: waiting for the game server to write it")
        }
        Ok(meta) if meta.len() == 0 => format!(
            "following the log {shown}, which is empty: waiting for the game server to write to it"
        ),
        _ => format!("following the log {shown}"),
    }
}

fn describe_folder(folder: &Path) -> String {
    let shown = folder.display();
    match newest_in(folder) {
        Ok(Some(newest)) => format!(
            "following the newest log of the folder {shown}, now {}",
            newest.display()
        ),
        _ => format!(
            "following the folder {shown}, which has no log yet: waiting for the game server to write one"
        ),
    }
}

fn read_tail(tail: &mut Tail, lines: &mut Lines, each: &mut impl FnMut(&[u8])) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        match tail.read(&mut chunk)? {
            Tailed::Bytes(count) => lines.feed(&chunk[..count], |framed| {
                if let Framed::Line(line) = framed {
                    each(line.bytes);
                }
            }),
            Tailed::Fresh | Tailed::Truncated => lines.interrupt(),
            Tailed::Nothing => return Ok(()),
        }
    }
}

impl NewestFile {
    fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            tail: None,
            searched: None,
        }
    }

    fn read(&mut self, lines: &mut Lines, each: &mut impl FnMut(&[u8])) -> io::Result<()> {
        let due = self.searched.is_none_or(|at| at.elapsed() >= SEARCH);
        let newest = match due {
            true => {
                self.searched = Some(Instant::now());
                newest_in(&self.folder)?
            }
            false => None,
        };
        // The server has finished the old file before it began a newer one.
        if let Some(tail) = &mut self.tail {
            read_tail(tail, lines, each)?;
        }
        if let Some(newest) = newest
            && self.tail.as_ref().is_none_or(|tail| tail.path() != newest)
        {
            lines.interrupt();
            read_tail(self.tail.insert(Tail::new(newest)), lines, each)?;
        }
        Ok(())
    }
}

/// The `.log` of a folder that was written last.
fn newest_in(folder: &Path) -> io::Result<Option<PathBuf>> {
    let mut newest: Option<(SystemTime, PathBuf)> = None;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // A file may be removed at any time.
        let Ok(meta) = path.metadata() else { continue };
        let is_log = path.extension().is_some_and(|extension| extension == "log");
        if !is_log || !meta.is_file() || meta.len() == 0 {
            continue;
        }
        let found = (meta.modified()?, path);
        if newest.as_ref().is_none_or(|newest| *newest < found) {
            newest = Some(found);
        }
    }
    Ok(newest.map(|(_, path)| path))
}

impl Datagrams {
    fn read(&self, each: &mut impl FnMut(&[u8])) -> io::Result<()> {
        let mut datagram = vec![0; CHUNK];
        for _ in 0..DATAGRAMS {
            match self.socket.recv_from(&mut datagram) {
                Ok((count, from)) => {
                    let line = line_in(&datagram[..count], self.secret.as_deref());
                    if let Some(line) = line.filter(|_| same_host(from.ip(), self.server)) {
                        each(line);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Whether two addresses are the same, also if one is an IPv4 address that is written as an IPv6 one.
fn same_host(one: IpAddr, other: IpAddr) -> bool {
    one.to_canonical() == other.to_canonical()
}

/// The line in a datagram: after `R`, or after `S` and the secret of `sv_logsecret`. With a secret,
/// only a datagram that contains it counts.
fn line_in<'a>(datagram: &'a [u8], secret: Option<&str>) -> Option<&'a [u8]> {
    let rest = datagram.strip_prefix(OUT_OF_BAND)?;
    let line = match secret {
        None => rest.strip_prefix(b"R")?,
        Some(secret) => rest.strip_prefix(b"S")?.strip_prefix(secret.as_bytes())?,
    };
    let end = line
        .iter()
        .position(|&b| b == 0 || b == b'\n')
        .unwrap_or(line.len());
    Some(line[..end].trim_ascii_end())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

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
        if let Origin::Folder(newest) = &mut log.origin {
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
        assert!(
            refused.ends_with("is a folder: --log must name the file that the game server writes")
        );
    }

    #[test]
    fn what_is_followed_is_described_with_what_is_missing() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("games.log");
        let file = || GameLog::file(&path).unwrap().describe();
        assert!(
            file()
                .ends_with("games.log does not exist yet: waiting for the game server to write it")
        );
        append(&path, "");
        assert!(
            file()
                .ends_with("games.log, which is empty: waiting for the game server to write to it")
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

    #[test]
    fn only_the_game_server_is_listened_to() {
        let here: SocketAddr = "127.0.0.1:0".parse().unwrap();
        for (server, heard) in [("127.0.0.1", 1), ("192.0.2.1", 0), ("::ffff:127.0.0.1", 1)] {
            let mut log = GameLog::datagrams(here, server.parse().unwrap(), None).unwrap();
            let Origin::Datagrams(datagrams) = &log.origin else {
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
}
