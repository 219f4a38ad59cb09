//! Which connection reports which game server. Two sidecars on one game server would move each other's bots, and store
//! each match twice.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::{Session, SessionError};

/// The connections that have stated where their game server is, by the numbers of their sessions.
#[derive(Debug, Default)]
pub(super) struct SourceRegistry {
    reporters: Mutex<BTreeMap<u64, Reporter>>,
}

/// A connection that reports a game server.
#[derive(Debug)]
struct Reporter {
    place: ServerLocation,
    /// The name in its HELLO.
    name: String,
    /// Where it comes from.
    from: IpAddr,
    /// The millisecond of the clock at which its last line arrived.
    heard: Arc<AtomicU64>,
    replaced: CancellationToken,
}

/// The game server that a session reports; dropping it frees the game server for another one.
#[derive(Debug)]
struct ReportedServer {
    registry: Arc<SourceRegistry>,
    number: u64,
}

impl Drop for ReportedServer {
    fn drop(&mut self) {
        self.registry.reporters.lock().remove(&self.number);
    }
}

/// When a session's last line arrived, and which game server it reports.
#[derive(Debug, Default)]
pub(super) struct OwnSource {
    heard: Arc<AtomicU64>,
    reported: Option<ReportedServer>,
}

impl OwnSource {
    /// Frees the game server for another session.
    pub(super) fn end(&mut self) {
        self.reported = None;
    }
}

impl Session {
    /// Notes that a line has arrived.
    pub fn heard(&self) {
        let now = self.sessions.clock.millis();
        self.source.heard.store(now, Ordering::Relaxed);
    }

    /// Notes that this connection, which comes `from` there, reports the game server at `source`. One of the same name
    /// that `resumes` replaces the one before it; so does any other if the one before has been silent for
    /// `[coordinator] heartbeat_seconds`.
    ///
    /// # Errors
    /// Fails if another connection reports this game server.
    pub fn report_source(
        &mut self,
        name: &str,
        source: &str,
        from: IpAddr,
        resumes: bool,
    ) -> Result<(), SessionError> {
        self.heard();
        self.source.end();
        let (place, number) = (ServerLocation::of(source, from), self.registration.number());
        let registry = self.sessions.sources.clone();
        let mut reporters = registry.reporters.lock();
        let now = self.sessions.clock.millis();
        let heartbeat = self.sessions.settings.heartbeat.millis();
        let gives_way = |other: &Reporter| {
            let silent = now.saturating_sub(other.heard.load(Ordering::Relaxed));
            silent >= heartbeat || (resumes && other.name == name)
        };
        let same = |other: &&Reporter| other.place.is(&place);
        if let Some(other) = reporters
            .values()
            .filter(same)
            .find(|other| !gives_way(other))
        {
            let text = format!(
                "{:?} at {} reports the game server {} already: stop one of both",
                other.name,
                other.from,
                marked(source).0
            );
            return Err(SessionError::Reported(text));
        }
        reporters.retain(|_, other| {
            let stays = !other.place.is(&place);
            if !stays {
                other.replaced.cancel();
            }
            stays
        });
        let reporter = Reporter {
            place,
            name: name.to_owned(),
            from,
            heard: self.source.heard.clone(),
            replaced: self.replaced(),
        };
        reporters.insert(number, reporter);
        drop(reporters);
        self.source.reported = Some(ReportedServer { registry, number });
        Ok(())
    }
}

/// Where a game server is.
#[derive(Debug)]
struct ServerLocation {
    /// As others may state it: a loopback address, and a path, are those of the machine from which the connection comes.
    there: String,
    /// As that machine states it, with the mark of the machine, if there is one: several machines may come from one address.
    own: Option<String>,
}

impl ServerLocation {
    fn of(source: &str, from: IpAddr) -> Self {
        let (local, mark) = marked(source);
        let mark = mark.filter(|_| match local.parse::<SocketAddr>() {
            Ok(address) => is_local(address.ip().to_canonical()),
            Err(_) => true,
        });
        // All loopback addresses of a machine are one.
        let local_only = IpAddr::from([127, 0, 0, 1]);
        Self {
            there: place(local, from),
            own: mark.map(|mark| format!("{mark} {}", place(local, local_only))),
        }
    }

    /// Whether both are the same game server.
    fn is(&self, other: &Self) -> bool {
        match (&self.own, &other.own) {
            (Some(own), Some(other)) => own == other,
            _ => self.there == other.there,
        }
    }
}

/// A source, and the mark of its machine after the last `@`: 16 hexadecimal digits.
fn marked(source: &str) -> (&str, Option<&str>) {
    let is_mark = |mark: &str| mark.len() == 16 && mark.bytes().all(|b| b.is_ascii_hexdigit());
    match source.rsplit_once('@') {
        Some((local, mark)) if is_mark(mark) => (local, Some(mark)),
        _ => (source, None),
    }
}

fn is_local(ip: IpAddr) -> bool {
    ip.is_loopback() || ip.is_unspecified()
}

/// The same text for the same place: a loopback address, and a path, are those of the machine from which the connection
/// comes.
fn place(source: &str, from: IpAddr) -> String {
    let from = from.to_canonical();
    match source.parse::<SocketAddr>() {
        Ok(address) => {
            let ip = address.ip().to_canonical();
            let ip = match (is_local(ip), from.is_loopback()) {
                (true, true) => IpAddr::from([127, 0, 0, 1]),
                (true, false) => from,
                (false, _) => ip,
            };
            SocketAddr::new(ip, address.port()).to_string()
        }
        Err(_) => format!("{from} {source}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loopback_address_is_that_of_the_machine_from_which_the_connection_comes() {
        let local: IpAddr = "127.0.0.1".parse().unwrap();
        let mapped: IpAddr = "::ffff:10.0.0.5".parse().unwrap();
        let remote: IpAddr = "10.0.0.5".parse().unwrap();
        for (source, from, other, other_from) in [
            ("127.0.0.1:27960", local, "[::1]:27960", local),
            ("127.0.0.1:27960", remote, "10.0.0.5:27960", local),
            ("127.0.0.1:27960", mapped, "10.0.0.5:27960", remote),
            ("0.0.0.0:1", remote, "10.0.0.5:1", local),
            ("/q3/games.log", mapped, "/q3/games.log", remote),
        ] {
            assert_eq!(place(source, from), place(other, other_from), "{source}");
        }
        for (source, from, other, other_from) in [
            ("127.0.0.1:27960", local, "127.0.0.1:27961", local),
            ("127.0.0.1:27960", local, "127.0.0.1:27960", remote),
            ("/q3/games.log", local, "/q3/games.log", remote),
            ("/q3/games.log", local, "/q3/other.log", local),
        ] {
            assert_ne!(place(source, from), place(other, other_from), "{source}");
        }
    }

    #[test]
    fn machines_behind_one_address_are_told_apart_by_their_marks() {
        let [nat, local]: [IpAddr; 2] = ["192.0.2.1", "127.0.0.1"].map(|ip| ip.parse().unwrap());
        let [one, two] = ["00000000000000aa", "00000000000000bb"];
        let of =
            |source: &str, mark: &str, from| ServerLocation::of(&format!("{source}@{mark}"), from);
        let first = of("127.0.0.1:27960", one, nat);
        assert!(!first.is(&of("127.0.0.1:27960", two, nat)));
        assert!(!first.is(&of("127.0.0.1:27961", one, nat)));
        assert!(first.is(&of("[::1]:27960", one, nat)));
        // On one machine, whichever way its connections come.
        assert!(first.is(&of("127.0.0.1:27960", one, local)));
        // Somebody who states no mark may mean any of them.
        assert!(first.is(&ServerLocation::of("127.0.0.1:27960", nat)));
        assert!(first.is(&ServerLocation::of("192.0.2.1:27960", local)));
        assert!(!of("/q3/games.log", one, nat).is(&of("/q3/games.log", two, nat)));
        // A mark says nothing about an address that is the same everywhere, and what is no mark is part of a path.
        assert!(of("10.0.0.5:1", one, nat).is(&of("10.0.0.5:1", two, local)));
        assert!(ServerLocation::of("/srv/a@b", nat).is(&ServerLocation::of("/srv/a@b", nat)));
        assert!(!ServerLocation::of("/srv/a@b", nat).is(&ServerLocation::of("/srv/a", nat)));
    }
}
