//! The settings of the allocator: the section `[coordinator.agones]` of the configuration.

use std::{collections::BTreeMap, path::PathBuf};

use serde::Deserialize;

use crate::domain::units::Seconds;

/// Where the instances come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Every game server that sends INSTANCE may be asked to host a match.
    #[default]
    Instances,
    /// The allocator service of Agones chooses the game server of each match.
    Agones,
}

/// How the allocator service is reached, and which game servers are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgonesSettings {
    /// The address of the service, such as `https://203.0.113.9:443`.
    pub url: String,
    /// The namespace of Kubernetes that contains the game servers.
    pub namespace: String,
    /// The file with the daemon's own certificate, in PEM.
    pub client_cert: PathBuf,
    /// The file with the private key of that certificate, in PEM.
    pub client_key: PathBuf,
    /// The file with the certificates by which the service is recognised, in PEM.
    pub ca: PathBuf,
    /// How long a request may take.
    pub timeout_seconds: Seconds<1, 60>,
    /// The name of the port at which players connect; the first port if it is empty.
    pub port: String,
    /// The label whose value must be the mode of the match; none if it is empty.
    pub mode_label: String,
    /// The label whose value must be the map of the match; none if it is empty.
    pub map_label: String,
    /// The label whose value is the region of a game server; none if it is empty.
    pub region_label: String,
    /// Labels that a game server must have.
    pub labels: BTreeMap<String, String>,
}

impl Default for AgonesSettings {
    fn default() -> Self {
        Self {
            url: String::new(),
            namespace: "default".to_owned(),
            client_cert: PathBuf::new(),
            client_key: PathBuf::new(),
            ca: PathBuf::new(),
            timeout_seconds: const { Seconds::of(10) },
            port: String::new(),
            mode_label: String::new(),
            map_label: String::new(),
            region_label: String::new(),
            labels: BTreeMap::new(),
        }
    }
}

impl AgonesSettings {
    /// The first key with which the allocator cannot be used, and why, as a predicate.
    pub fn fault(&self) -> Option<(String, &'static str)> {
        let named = |key: &str, why| Some((key.to_owned(), why));
        if !is_https(&self.url) {
            return named("url", "must be like \"https://203.0.113.9:443\"");
        }
        if !is_dns_name(&self.namespace, 63) {
            return named("namespace", "must be the name of a namespace");
        }
        let files = [
            ("client_cert", &self.client_cert),
            ("client_key", &self.client_key),
            ("ca", &self.ca),
        ];
        if let Some((key, _)) = files.iter().find(|(_, path)| path.as_os_str().is_empty()) {
            return named(key, "must be the path of a file");
        }
        let labels = [
            ("mode_label", &self.mode_label),
            ("map_label", &self.map_label),
            ("region_label", &self.region_label),
        ];
        let bad = |(_, name): &&(&str, &String)| !name.is_empty() && !is_label_name(name);
        if let Some((key, _)) = labels.iter().find(bad) {
            return named(key, "must be the name of a label");
        }
        let mut labels = self.labels.iter();
        let (name, _) =
            labels.find(|(name, value)| !is_label_name(name) || !is_label_value(value))?;
        named(
            &format!("labels.{name}"),
            "must be a label of Kubernetes, such as \"agones.dev/fleet\" = \"arena\"",
        )
    }
}

/// Whether it is an address with `https`, a host, and no user, query or fragment.
fn is_https(url: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"@?#\\\"<>".contains(&byte);
    let rest = url.strip_prefix("https://");
    rest.is_some_and(|rest| {
        !rest.is_empty() && !rest.starts_with([':', '/']) && rest.bytes().all(plain)
    })
}

/// Whether it is a name of small letters, digits, `-` and `.`, with at most `most` bytes.
pub(super) fn is_dns_name(text: &str, most: usize) -> bool {
    let part = |part: &str| {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !part.is_empty()
            && !part.starts_with('-')
            && !part.ends_with('-')
            && part.bytes().all(inner)
    };
    text.len() <= most && text.split('.').all(part)
}

/// Whether Kubernetes accepts it as the name of a label: `name` or `prefix/name`.
fn is_label_name(text: &str) -> bool {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    let prefix = prefix.is_none_or(|prefix| is_dns_name(prefix, 253));
    prefix && !name.is_empty() && is_label_value(name)
}

/// Whether Kubernetes accepts it as the value of a label: at most 63 letters, digits, `-`, `_` and `.`, with
/// a letter or a digit at both ends.
pub(super) fn is_label_value(text: &str) -> bool {
    let end = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_alphanumeric);
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let bytes = text.as_bytes();
    text.len() <= 63 && text.bytes().all(inner) && end(bytes.first()) && end(bytes.last())
}
