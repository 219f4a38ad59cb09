//! The log of a game server: a file that it writes, the newest file of a folder, the datagrams
//! that it sends, or what its console prints.

use std::{
    fs, io,
    net::{IpAddr, SocketAddr, UdpSocket},
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use super::DriverError;
use crate::{
    ingest::{Framed, Lines, MAX_LINE},
    logs::{Tail, Tailed},
};

/// The most bytes of the log per read.
const CHUNK: usize = 64 * 1024;

/// A log that is read as it grows.
pub struct GameLog {
    origin: DriverLogOrigin,
    /// Whether the path of a file may turn out to be a folder.
    folders: bool,
    lines: Lines,
    /// Whether the operator has been warned that the log cannot be read.
    unreadable: bool,
}

enum DriverLogOrigin {
    File(Tail),
    Folder(NewestFile),
    Datagrams(Datagrams),
    Console,
}

impl GameLog {
    fn new(origin: DriverLogOrigin) -> Self {
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
    pub fn file(path: &Path) -> Result<Self, DriverError> {
        match path.is_dir() {
            true => Err(DriverError::Input(format!(
                "{} is a folder: --log must name the file that the game server writes",
                path.display()
            ))),
            false => Ok(Self::new(DriverLogOrigin::File(Tail::new(path)))),
        }
    }

    /// A file, or the newest `.log` of a folder and those that come after it. Neither need exist yet.
    pub fn file_or_folder(path: &Path) -> Self {
        Self {
            folders: true,
            ..Self::new(DriverLogOrigin::File(Tail::new(path)))
        }
    }

    /// The datagrams that this game server sends to this address.
    ///
    /// # Errors
    /// Fails if the address cannot be listened on.
    pub fn datagrams(
        listen: SocketAddr,
        server: IpAddr,
        secret: Option<String>,
    ) -> io::Result<Self> {
        let datagrams = Datagrams::listen(listen, server, secret)?;
        Ok(Self::new(DriverLogOrigin::Datagrams(datagrams)))
    }

    /// What the game server prints on its remote console, which has the lines.
    pub fn console() -> Self {
        Self::new(DriverLogOrigin::Console)
    }

    /// Whether the lines come from the remote console.
    pub(super) fn is_console(&self) -> bool {
        matches!(self.origin, DriverLogOrigin::Console)
    }

    /// What is followed, and what the operator has to wait for before anything comes from it.
    pub(super) fn describe(&self) -> String {
        match &self.origin {
            DriverLogOrigin::File(tail) if self.folders && tail.path().is_dir() => {
                describe_folder(tail.path())
            }
            DriverLogOrigin::File(tail) => describe_file(tail.path()),
            DriverLogOrigin::Folder(newest) => describe_folder(&newest.folder),
            DriverLogOrigin::Datagrams(datagrams) => match datagrams.address() {
                Ok(address) => format!("waiting for the log on {address}"),
                Err(error) => format!("the log has no address: {error}"),
            },
            DriverLogOrigin::Console => "following what the remote console prints".to_owned(),
        }
    }

    /// Passes every new line to `each`, without its end.
    ///
    /// # Errors
    /// Returns a line for the operator if the log cannot be read, once until it can be read again.
    pub(super) fn read(&mut self, mut each: impl FnMut(&[u8])) -> Result<(), String> {
        if let DriverLogOrigin::File(tail) = &self.origin
            && self.folders
            && tail.id().is_none()
            && tail.path().is_dir()
        {
            let folder = tail.path().to_owned();
            self.origin = DriverLogOrigin::Folder(NewestFile::new(folder));
        }
        let lines = &mut self.lines;
        let (name, done) = match &mut self.origin {
            DriverLogOrigin::File(tail) => (
                tail.path().display().to_string(),
                read_tail(tail, lines, &mut each),
            ),
            DriverLogOrigin::Folder(newest) => (
                newest.folder.display().to_string(),
                newest.read(lines, &mut each),
            ),
            DriverLogOrigin::Datagrams(datagrams) => {
                ("the log's address".to_owned(), datagrams.read(&mut each))
            }
            DriverLogOrigin::Console => return Ok(()),
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

/// How often a folder is searched for a newer log.
const SEARCH: Duration = Duration::from_secs(1);

/// The newest log of a folder, to which a game server adds one for each map or match.
struct NewestFile {
    folder: PathBuf,
    tail: Option<Tail>,
    searched: Option<Instant>,
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

/// The most datagrams that are read at once, so that a flood of them does not keep the sidecar busy.
const DATAGRAMS: usize = 2_000;
/// The start of a datagram that contains a line of the log.
const OUT_OF_BAND: &[u8] = b"\xff\xff\xff\xff";

/// The lines that one game server sends.
struct Datagrams {
    socket: UdpSocket,
    server: IpAddr,
    /// What each datagram must contain before its line, if the server is set to send it.
    secret: Option<String>,
}

impl Datagrams {
    fn listen(listen: SocketAddr, server: IpAddr, secret: Option<String>) -> io::Result<Self> {
        let socket = UdpSocket::bind(listen)?;
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket,
            server,
            secret,
        })
    }

    /// The address on which the datagrams are received.
    fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

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
mod tests;
