//! Values other than numbers: words, dates, patterns, lists, addresses, tokens. Each is checked while it is read, so
//! that the fault has a line.
//!
//! An address has a port, and a number or the name of a host. Of the tokens of clients, only digests are kept.

use std::{
    fmt,
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    path::PathBuf,
    str::FromStr,
};

use ipnet::{IpNet, Ipv4Net};
use serde::{Deserialize, Deserializer, de::Error};
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

use crate::{
    logs::{self, LogZone},
    model::{Secret, Timestamp},
    store::postgres::PostgresUrl,
};

/// Why a table is refused that has a blank key.
pub(super) const NO_NAME: &str = "must not have an empty name";
/// Why a path is refused that has become another one: `"C:\new"` has a line break.
const ESCAPED: &str =
    "must not contain control characters: between double quotes, write \\\\ for \\";
/// The value that lets the program choose.
const AUTO: &str = "auto";

/// The value of `format` in a `[[follow]]` section.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum FormatChoice {
    /// `"auto"`: the format is detected from the log's first lines.
    #[default]
    Auto,
    /// The name of a format.
    Always(String),
}

impl FormatChoice {
    /// The name of the format; `None` if it is detected.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Auto => None,
            Self::Always(name) => Some(name),
        }
    }
}

impl TryFrom<String> for FormatChoice {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        if word == AUTO {
            return Ok(Self::Auto);
        }
        if logs::format_of(&word).is_some() {
            return Ok(Self::Always(word));
        }
        let known = logs::format_names().join(", ");
        Err(format!("must be one of: {AUTO}, {known}, not \"{word}\""))
    }
}

/// The value of `[web] listen`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum WebAddress {
    /// `"off"`: there are no pages.
    Off,
    /// The address and port of the pages.
    At(SocketAddr),
}

impl TryFrom<String> for WebAddress {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let expected = "must be \"off\", or an address and a port such as \"127.0.0.1:7998\"";
        text.parse().map_err(|why| wrong_address(why, expected))
    }
}

impl fmt::Display for WebAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::At(address) => address.fmt(f),
        }
    }
}

impl FromStr for WebAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "off" => Ok(Self::Off),
            _ => parse_address(text).map(Self::At),
        }
    }
}

/// Why an address in the file is refused; `expected` describes its form.
fn wrong_address(why: AddressError, expected: &str) -> String {
    match why {
        AddressError::Form => expected.to_owned(),
        AddressError::UnknownHost(_) => why.to_string(),
    }
}

/// Deserialises an address and port.
pub(super) fn address<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    let expected = "must be an address and a port such as \"127.0.0.1:7997\"";
    let text = String::deserialize(from)?;
    parse_address(&text).map_err(|why| D::Error::custom(wrong_address(why, expected)))
}

/// A date such as `2026-11-20` or `2026-11-20T15:30:00`, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Date(pub Timestamp);

impl TryFrom<String> for Date {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let expected = "must be a date such as \"2026-11-20\" or \"2026-11-20T15:30:00\"";
        Timestamp::parse(&text).map(Self).ok_or(expected)
    }
}

/// Text that is not empty or blank.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct FilledText(String);

impl TryFrom<String> for FilledText {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.trim().is_empty() {
            return Err("must not be empty");
        }
        Ok(Self(text))
    }
}

/// Where running games are journaled.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum JournalChoice {
    /// In a folder beside the database.
    Auto,
    /// Nowhere.
    Off,
    /// In this folder.
    Folder(PathBuf),
}

impl TryFrom<String> for JournalChoice {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.as_str() {
            "" => Err("must not be empty"),
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Off),
            path if path.contains(char::is_control) => Err(ESCAPED),
            _ => Ok(Self::Folder(text.into())),
        }
    }
}

/// The value of `backups` in section `[store]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum FolderChoice {
    /// Nowhere.
    Off,
    /// In this folder.
    In(PathBuf),
}

impl TryFrom<String> for FolderChoice {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.as_str() {
            "" => Err("must not be empty"),
            "off" => Ok(Self::Off),
            path if path.contains(char::is_control) => Err(ESCAPED),
            _ => Ok(Self::In(text.into())),
        }
    }
}

/// Deserialises a path that is not empty.
pub(super) fn path<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    let text = FilledText::deserialize(from)?.0;
    match text.contains(char::is_control) {
        true => Err(D::Error::custom(ESCAPED)),
        false => Ok(text.into()),
    }
}

/// Deserialises the path of an SQLite file.
pub(super) fn file<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    let path = path(from)?;
    match not_a_file(&path.to_string_lossy()) {
        Some(why) => Err(D::Error::custom(why)),
        None => Ok(path),
    }
}

/// Why a text names no SQLite file but the address of a database, as a predicate.
pub fn not_a_file(text: &str) -> Option<&'static str> {
    let (scheme, _) = text.split_once("://")?;
    Some(match scheme {
        "postgres" | "postgresql" => {
            "is the path of an SQLite file: for a PostgreSQL database use store.url"
        }
        _ => "is the path of an SQLite file, without ://",
    })
}

/// Deserialises the address of a PostgreSQL database; empty for none.
pub(super) fn server_url<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<PostgresUrl>, D::Error> {
    let text = String::deserialize(from)?;
    match text.is_empty() {
        true => Ok(None),
        false => PostgresUrl::parse(&text)
            .map(Some)
            .map_err(D::Error::custom),
    }
}

/// Deserialises the name of a game.
pub(super) fn game<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    match crate::logs::is_game_name(&text) {
        true => Ok(text),
        false => Err(D::Error::custom("must be letters, digits, - and _")),
    }
}

/// Deserialises the time zone of a log.
pub(super) fn time_zone<'de, D: Deserializer<'de>>(from: D) -> Result<Option<LogZone>, D::Error> {
    let name = String::deserialize(from)?;
    LogZone::named(&name).map(Some).map_err(D::Error::custom)
}

/// Deserialises a filter of log events, in the syntax of `EnvFilter`.
pub(super) fn filter<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    match (EnvFilter::try_new(&text), silent(&text)) {
        (Err(error), _) => Err(D::Error::custom(format_args!("is not a filter: {error}"))),
        (Ok(_), Some(why)) => Err(D::Error::custom(why)),
        (Ok(_), None) => Ok(text),
    }
}

/// Why a filter would let nothing of the daemon through without saying so. A word that is no level counts as the name of
/// a module, of which then everything is logged, and nothing of all others.
fn silent(filter: &str) -> Option<String> {
    const LEVELS: &str = "off, error, warn, info, debug or trace";
    let own = env!("CARGO_PKG_NAME");
    let parts = || filter.split(',').map(str::trim);
    let alone = |part: &&str| !part.is_empty() && !part.contains(['=', '[', ':']);
    let is_level = |part: &str| !part.is_empty() && part.parse::<LevelFilter>().is_ok();
    if parts().all(str::is_empty) {
        return Some(format!("must be a level ({LEVELS})"));
    }
    if let Some(word) = parts()
        .filter(alone)
        .find(|part| !is_level(part) && *part != own)
    {
        return Some(format!("must be a level ({LEVELS}), not {word}"));
    }
    let reaches = |part: &str| is_level(part) || part.starts_with(own) || part.starts_with('[');
    (!parts().any(reaches)).then(|| {
        format!("must begin with a level for everything else ({LEVELS}), as in \"info,{filter}\"")
    })
}

/// Deserialises an address and port, or an empty text.
pub(super) fn optional_address<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<SocketAddr>, D::Error> {
    let text = String::deserialize(from)?;
    if text.is_empty() {
        return Ok(None);
    }
    let expected = "must be empty, or an address and port such as \"0.0.0.0:7999\"";
    let address = parse_address(&text).map(Some);
    address.map_err(|why| D::Error::custom(wrong_address(why, expected)))
}

/// An IPv4 network that is written as a part of IPv6, as the IPv4 network: addresses are compared as IPv4.
fn as_v4(network: IpNet) -> IpNet {
    let IpNet::V6(v6) = network else {
        return network;
    };
    let prefix = v6.prefix_len().checked_sub(96);
    let address = v6.addr().to_ipv4_mapped();
    let v4 = address
        .zip(prefix)
        .and_then(|(address, prefix)| Ipv4Net::new(address, prefix).ok());
    v4.map_or(network, IpNet::V4)
}

/// Deserialises networks, such as `10.0.0.0/8`, or single addresses.
pub(super) fn networks<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<IpNet>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    let network = |text: &String| {
        let single = || text.parse::<IpAddr>().ok().map(IpNet::from);
        let network = text.parse().ok().or_else(single);
        network.map(as_v4).ok_or_else(|| {
            D::Error::custom(format_args!(
                "must be networks such as \"10.0.0.0/8\", or addresses, not \"{text}\""
            ))
        })
    };
    texts.iter().map(network).collect()
}

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

/// The token of a client, or its hash. Only the digest is kept, and no error contains the value, so that
/// nothing can print it.
#[derive(Clone, Debug)]
pub struct ConfiguredToken {
    /// What proves the client's identity.
    pub secret: Secret,
    /// Whether the token is so short that it can be guessed.
    pub can_be_guessed: bool,
}

impl<'de> Deserialize<'de> for ConfiguredToken {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match toml::Value::deserialize(from)? {
            toml::Value::String(text) => Self::of(&text).map_err(D::Error::custom),
            _ => Err(D::Error::custom("must be text in quotes")),
        }
    }
}

impl ConfiguredToken {
    /// The token of this text.
    pub(super) fn of(text: &str) -> Result<Self, &'static str> {
        if text.trim().is_empty() {
            return Err("must not be empty");
        }
        let why = "must be a token, or a hash as `evenkeel token` prints it";
        let secret = Secret::configured(text).ok_or(why)?;
        let can_be_guessed = Secret::can_be_guessed(text);
        Ok(Self {
            secret,
            can_be_guessed,
        })
    }
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
