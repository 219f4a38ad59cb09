//! The options with which a sidecar finds Evenkeel's daemon: by the plain address, or by the one for encrypted
//! connections.

use std::{net::SocketAddr, path::PathBuf, str::FromStr};

use clap::Args;

use crate::{
    cli::CliError,
    client::{Trust, drivers::DaemonEndpoint},
    config::{AddressError, parse_address},
};

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
}
