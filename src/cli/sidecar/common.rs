//! The options that the sidecars of several engines share: where the game server and the daemon are, and the chat.
//!
//! A daemon has two addresses, a plain one and one for encrypted connections. A loopback address of a game server
//! gets a mark of its machine, because many machines have the same one.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use clap::Args;
use sha2::{Digest, Sha256};

use super::{ATTEMPTS, parse_seconds};
use crate::{
    cli::CliError,
    client::{
        Trust,
        drivers::{DaemonEndpoint, Password},
    },
    config::{AddressError, parse_address},
    model::text::to_hex,
    sidecar::{
        ChatSettings,
        follower::{CommandTemplate, FollowerSettings},
    },
};

/// The options of every sidecar.
#[derive(Debug, Args)]
pub(super) struct FollowerArgs {
    #[command(flatten)]
    pub(super) server: ServerArgs,
    /// Choose teams when no player has joined or left for this long (0.1 to 60)
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = parse_seconds)]
    settle: Duration,
    /// Pick a team for each bot by its own weight, as for a human
    #[arg(long)]
    treat_bots_as_players: bool,
    /// Move players during play, too: late arrivals, players who die while their team is too
    /// strong, and between two rounds after a streak
    #[arg(long)]
    auto_balance: bool,
    /// Print the console commands without sending them, and report no match to the daemon
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// The console command for bots, in the sidecars that move players by a console command, too.
#[derive(Debug, Args)]
pub(super) struct BotsArgs {
    /// Console command that sets the number of bots, with {count}; without it, bots only change teams
    #[arg(long, value_name = "COMMAND", value_parser = CommandTemplate::of_bots)]
    pub(super) bots_command: Option<CommandTemplate>,
}

impl FollowerArgs {
    /// The settings of the sidecar.
    ///
    /// # Errors
    /// Fails if the file of the token cannot be read.
    pub(super) fn settings(&self) -> Result<FollowerSettings, CliError> {
        Ok(FollowerSettings {
            server: self.server.name(),
            token: self.server.token()?,
            bots_as_players: self.treat_bots_as_players,
            auto_balance: self.auto_balance,
            settle: millis(self.settle),
            attempts: if self.dry_run { 1 } else { ATTEMPTS },
            chat: ChatSettings::default(),
        })
    }
}

/// A time in milliseconds, at most `u64::MAX`.
pub(super) fn millis(time: Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
}

/// Parses the time for which a server waits for players.
pub(super) fn parse_opening(text: &str) -> Result<Duration, String> {
    let seconds = text
        .parse()
        .ok()
        .filter(|s: &f64| (0.0..=600.0).contains(s));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "must be 0 to 600 seconds".to_owned())
}

/// Which commands of players a sidecar answers.
#[derive(Debug, Args)]
pub(super) struct ChatArgs {
    /// Do not answer the commands !teams, !why and !rank in the chat
    #[arg(long, conflicts_with = "vote")]
    no_chat: bool,
    /// Let players vote with !balance: the teams are balanced again, also during play, if more than
    /// PERCENT of the humans on teams agree (50 to 99). With `[rebalance] ask_seconds`, players are
    /// asked first, and volunteer with !switch
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(50..=99))]
    vote: Option<u8>,
}

impl ChatArgs {
    pub(super) fn settings(&self) -> ChatSettings {
        ChatSettings {
            on: !self.no_chat,
            vote: self.vote,
        }
    }
}

/// The scheme of addresses for encrypted connections.
const SCHEME: &str = "tls://";

#[derive(Debug, Args)]
pub(super) struct DaemonArgs {
    /// Address of Evenkeel's daemon; tls://HOST:PORT is one for encrypted connections
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7997")]
    daemon: DaemonAddress,
    /// File (PEM) with the certificates by which the daemon of tls://HOST:PORT is recognised: those of the
    /// authorities that you trust, or the daemon's own
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
}

/// The address of a daemon, as it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
enum DaemonAddress {
    Plain(SocketAddr),
    /// The host, without the brackets of an IPv6 address, and the port.
    Encrypted(String, u16),
}

impl FromStr for DaemonAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some(target) = text.strip_prefix(SCHEME) else {
            return parse_address(text)
                .map(Self::Plain)
                .map_err(|why| match why {
                    AddressError::Form => "expected ADDRESS:PORT or tls://HOST:PORT".to_owned(),
                    AddressError::UnknownHost(_) => why.to_string(),
                });
        };
        let parts = target.rsplit_once(':');
        let (host, port) = parts.ok_or("expected tls://HOST:PORT")?;
        let port = port.parse().ok().filter(|port| *port > 0);
        let inner = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let host = inner.unwrap_or(host);
        match port {
            Some(port) if !host.is_empty() => Ok(Self::Encrypted(host.to_owned(), port)),
            _ => Err("expected tls://HOST:PORT".to_owned()),
        }
    }
}

impl DaemonArgs {
    /// Where the daemon is reached. Reads the certificates.
    ///
    /// # Errors
    /// Fails if the file is missing, unreadable, without a usable certificate, or not needed.
    pub(super) fn endpoint(&self) -> Result<DaemonEndpoint, CliError> {
        let wrong = CliError::input;
        match (&self.daemon, &self.tls_ca) {
            (DaemonAddress::Plain(address), None) => Ok(DaemonEndpoint::Plain(*address)),
            (DaemonAddress::Plain(_), Some(_)) => Err(wrong(
                "--tls-ca is for an encrypted connection: write --daemon tls://HOST:PORT",
            )),
            (DaemonAddress::Encrypted(..), None) => Err(wrong(
                "tls:// needs --tls-ca FILE with the certificates that you trust",
            )),
            (DaemonAddress::Encrypted(host, port), Some(path)) => {
                let pem = std::fs::read(path).map_err(CliError::in_file(path))?;
                let trust = Trust::new(&pem, host);
                let trust = trust
                    .map_err(|error| CliError::input(format!("{}: {error}", path.display())))?;
                Ok(DaemonEndpoint::Encrypted(host.clone(), *port, trust))
            }
        }
    }
}

/// The address of the console. A loopback address gets a mark of this machine after an `@`, so that the daemon can tell two
/// machines behind one address from each other.
pub(super) fn source(console: SocketAddr) -> String {
    let ip = console.ip().to_canonical();
    match ip.is_loopback() || ip.is_unspecified() {
        true => format!("{console}@{}", mark(&machine())),
        false => console.to_string(),
    }
}

/// What tells this machine from others, and on Linux also a container with a network of its own from its machine.
fn machine() -> String {
    let file = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let network = fs::read_link("/proc/self/ns/net").unwrap_or_default();
    let boot = file("/proc/sys/kernel/random/boot_id");
    match boot.trim() {
        // Other systems than Linux.
        "" => {
            let named = ["HOSTNAME", "COMPUTERNAME"].into_iter();
            let name = named.filter_map(|name| std::env::var(name).ok()).next();
            [
                name.unwrap_or_default(),
                file("/etc/hostid"),
                file("/etc/hostname"),
            ]
            .join(" ")
        }
        boot => format!("{boot} {}", network.display()),
    }
}

/// Sixteen hexadecimal digits of a hash, so that the daemon learns nothing about the machine.
fn mark(machine: &str) -> String {
    let hash = Sha256::digest(format!("evenkeel machine {machine}"));
    to_hex(&hash[..8])
}

/// The remote console of a game server, the daemon, and what the game server sends in HELLO.
#[derive(Debug, Args)]
pub(super) struct ServerArgs {
    /// Address of the game server's remote console
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_console)]
    pub(super) rcon: SocketAddr,
    /// File whose first line is the rcon password [default: the variable EVENKEEL_RCON_PASSWORD]
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) daemon: DaemonArgs,
    /// Name of this game server in the daemon [default: the address of its console]
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// File whose first line is this game server's token, if the daemon requires one
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl ServerArgs {
    /// The password of the remote console, from its file or the environment.
    ///
    /// # Errors
    /// Fails if there is none, if its file cannot be read, or if the console cannot take it.
    pub(super) fn password(&self) -> Result<Password, CliError> {
        let password = match &self.password_file {
            Some(file) => secret_in(file)?,
            None => std::env::var("EVENKEEL_RCON_PASSWORD").unwrap_or_default(),
        };
        Password::new(&password).map_err(CliError::input)
    }

    /// The name of the game server in HELLO: the given one, or the address of the console.
    pub(super) fn name(&self) -> String {
        self.server.clone().unwrap_or_else(|| self.rcon.to_string())
    }

    /// The token of the game server; `None` if no file is given.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub(super) fn token(&self) -> Result<Option<String>, CliError> {
        self.token_file.as_deref().map(secret_in).transpose()
    }
}

/// The address of a game server's console. What is wrong says on which ports game servers listen, unless their
/// operators choose others.
fn parse_console(text: &str) -> Result<SocketAddr, String> {
    let usual = "; the usual ports are 27960 (Quake III, OpenArena), 27015 (Source), 26000 (Xonotic, Nexuiz) and that \
                 of ec_port (Teeworlds)";
    parse_with(text, 27960).map_err(|why| why + usual)
}

/// An address and a port. If the port is missing, the text that says so suggests this one.
pub(super) fn parse_with(text: &str, port: u16) -> Result<SocketAddr, String> {
    parse_address(text).map_err(|why| match why {
        AddressError::Form => {
            let whole = format!("{text}:{port}");
            let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
            let example = match parse_address(&whole) {
                Ok(_) if !is_number => whole,
                _ => format!("127.0.0.1:{port}"),
            };
            format!("expected ADDRESS:PORT, such as {example}")
        }
        AddressError::UnknownHost(_) => why.to_string(),
    })
}

/// The first line of a file that contains a secret.
///
/// # Errors
/// Fails if the file cannot be read.
pub(super) fn secret_in(file: &Path) -> Result<String, CliError> {
    let text = std::fs::read_to_string(file).map_err(CliError::in_file(file))?;
    Ok(text.lines().next().unwrap_or("").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_plain_or_encrypted() {
        let encrypted = |host: &str, port| Ok(DaemonAddress::Encrypted(host.to_owned(), port));
        for (text, host, port) in [
            ("tls://evenkeel.example:7999", "evenkeel.example", 7999),
            ("tls://192.0.2.1:1", "192.0.2.1", 1),
            ("tls://[2001:db8::1]:65535", "2001:db8::1", 65_535),
        ] {
            assert_eq!(text.parse(), encrypted(host, port), "{text}");
        }
        let plain = DaemonAddress::Plain("127.0.0.1:7997".parse().unwrap());
        assert_eq!("127.0.0.1:7997".parse(), Ok(plain));
        let named = "localhost:7997".parse::<DaemonAddress>().unwrap();
        assert!(matches!(named, DaemonAddress::Plain(address) if address.ip().is_loopback()));
        for wrong in [
            "",
            "host",
            "host.invalid:1",
            "tls://",
            "tls://host",
            "tls://:1",
            "tls://host:0",
            "tls://host:x",
        ] {
            wrong.parse::<DaemonAddress>().unwrap_err();
        }
    }

    #[test]
    fn only_a_loopback_address_has_a_mark() {
        let of = |text: &str| source(text.parse().unwrap());
        assert_eq!(of("192.0.2.7:27960"), "192.0.2.7:27960");
        for local in ["127.0.0.1:27960", "[::1]:27960", "0.0.0.0:27960"] {
            let marked = of(local);
            let mark = marked.strip_prefix(&format!("{local}@")).unwrap();
            assert!(mark.len() == 16 && mark.bytes().all(|b| b.is_ascii_hexdigit()));
            assert_eq!(
                of(local),
                marked,
                "the same for every process of the machine"
            );
        }
        assert_ne!(mark("one"), mark("two"));
    }

    #[test]
    fn a_console_without_a_port_is_answered_with_that_of_a_game_server() {
        for (text, example) in [
            ("127.0.0.1", "127.0.0.1:27960"),
            ("[::1]", "[::1]:27960"),
            ("localhost", "localhost:27960"),
            ("127.0.0.1:", "127.0.0.1:27960"),
            ("27960", "127.0.0.1:27960"),
            ("", "127.0.0.1:27960"),
        ] {
            let why = parse_console(text).unwrap_err();
            let begin = format!("expected ADDRESS:PORT, such as {example}; ");
            assert!(why.starts_with(&begin), "{text}: {why}");
            assert!(!why.contains("7997"), "{why}");
        }
        assert!(parse_console("127.0.0.1:27015").is_ok());
    }
}
