//! Addresses with a port, as operators write them: with a number or with the name of a host.

use std::net::{SocketAddr, ToSocketAddrs};

/// Why a text is no address with a port.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It does not look like one.
    #[error("expected ADDRESS:PORT, such as 127.0.0.1:7997")]
    Form,
    /// It names a host that nobody knows.
    #[error("the host name {0} has no known address")]
    UnknownHost(String),
}

/// The address and port in a text such as `127.0.0.1:7997`, `[::1]:7997` or `localhost:7997`. The name of a
/// host is looked up; if it has several addresses, the first IPv4 address counts.
///
/// # Errors
/// Fails if the text has another form, or if the host has no address.
pub fn parse_address(text: &str) -> Result<SocketAddr, AddressError> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let (host, port) = text.rsplit_once(':').ok_or(AddressError::Form)?;
    let port: u16 = port.parse().map_err(|_| AddressError::Form)?;
    // The characters of host names; an IPv6 address must be in brackets.
    let fits = |c: char| c.is_alphanumeric() || ['.', '-', '_'].contains(&c);
    if host.is_empty() || !host.chars().all(fits) {
        return Err(AddressError::Form);
    }
    let unknown = || AddressError::UnknownHost(host.to_owned());
    let found = (host, port).to_socket_addrs().map_err(|_| unknown())?;
    let found: Vec<SocketAddr> = found.collect();
    let v4 = found.iter().find(|address| address.is_ipv4());
    v4.or(found.first()).copied().ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_numbers_or_names() {
        let parse = |text| parse_address(text).map(|address| address.to_string());
        assert_eq!(parse("127.0.0.1:7997"), Ok("127.0.0.1:7997".to_owned()));
        assert_eq!(parse("[::1]:7997"), Ok("[::1]:7997".to_owned()));
        let named = parse_address("localhost:7997").unwrap();
        assert!(named.ip().is_loopback() && named.port() == 7997, "{named}");
        for wrong in [
            "",
            "7997",
            "localhost",
            ":7997",
            "::1:7997",
            "a b:1",
            "localhost:x",
            "localhost:65536",
        ] {
            assert_eq!(parse(wrong), Err(AddressError::Form), "{wrong}");
        }
        // RFC 6761: this name never has an address.
        let unknown = AddressError::UnknownHost("game.invalid".to_owned());
        assert_eq!(parse("game.invalid:1"), Err(unknown));
    }
}
