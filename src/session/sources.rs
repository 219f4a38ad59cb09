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

/// The connections that have stated where their game server is.
#[derive(Debug, Default)]
pub(super) struct SourceRegistry {
    reporters: Mutex<BTreeMap<String, Reporter>>,
}

/// A connection that reports a game server.
#[derive(Debug)]
struct Reporter {
    /// The number of its session.
    number: u64,
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
struct Reported {
    registry: Arc<SourceRegistry>,
    source: String,
    number: u64,
}

impl Drop for Reported {
    fn drop(&mut self) {
        let mut reporters = self.registry.reporters.lock();
        let own = reporters.get(&self.source);
        if own.is_some_and(|reporter| reporter.number == self.number) {
            reporters.remove(&self.source);
        }
    }
}

/// When a session's last line arrived, and which game server it reports.
#[derive(Debug, Default)]
pub(super) struct OwnSource {
    heard: Arc<AtomicU64>,
    reported: Option<Reported>,
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
        let (key, number) = (place(source, from), self.registration.number());
        let registry = self.sessions.sources.clone();
        let mut reporters = registry.reporters.lock();
        if let Some(other) = reporters.get(&key) {
            let heard = other.heard.load(Ordering::Relaxed);
            let silent = self.sessions.clock.millis().saturating_sub(heard);
            let is_dead = silent >= self.sessions.settings.heartbeat.millis();
            let takes_over = is_dead || (resumes && other.name == name);
            if !takes_over {
                let text = format!(
                    "{:?} at {} reports the game server {source} already: stop one of both",
                    other.name, other.from
                );
                return Err(SessionError::Reported(text));
            }
            other.replaced.cancel();
        }
        let reporter = Reporter {
            number,
            name: name.to_owned(),
            from,
            heard: self.source.heard.clone(),
            replaced: self.replaced(),
        };
        reporters.insert(key.clone(), reporter);
        drop(reporters);
        self.source.reported = Some(Reported {
            registry,
            source: key,
            number,
        });
        Ok(())
    }
}

/// The same text for the same place: a loopback address, and a path, are those of the machine from which the connection
/// comes.
fn place(source: &str, from: IpAddr) -> String {
    let from = from.to_canonical();
    match source.parse::<SocketAddr>() {
        Ok(address) => {
            let ip = address.ip().to_canonical();
            let is_there = ip.is_loopback() || ip.is_unspecified();
            let ip = match (is_there, from.is_loopback()) {
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
}
