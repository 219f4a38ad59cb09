//! The allocator service of Agones: what it is asked for a match, and what its answers mean.
//!
//! Agones keeps game servers in Kubernetes. Its allocator service takes `POST /gameserverallocation` with
//! labels, marks a game server that has them as allocated, and returns its name, its address and its ports.
//! This module writes the requests and reads the answers; it sends nothing. The fields are those of
//! `proto/allocation/allocation.proto` of Agones, as the service writes them in JSON.

use core::net::Ipv6Addr; // the address alone; sockets are in std::net
use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::lifecycle::WantedInstance;
use evenkeel_model::{MatchId, units::Seconds};

/// The path of the service.
pub const PATH: &str = "/gameserverallocation";
/// The longest answer that is read, in bytes.
pub const MAX_ANSWER: usize = 64 * 1_024;

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
fn is_label_value(text: &str) -> bool {
    let end = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_alphanumeric);
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let bytes = text.as_bytes();
    text.len() <= 63 && text.bytes().all(inner) && end(bytes.first()) && end(bytes.last())
}

/// The most regions that a request names.
const MAX_REGIONS: usize = 16;
/// What the names of the annotations begin with.
const PREFIX: &str = "evenkeel";

type Texts = BTreeMap<String, String>;

/// What the allocator service is sent. Agones calls it an AllocationRequest.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AllocationRequest<'a> {
    namespace: &'a str,
    /// The service tries them in this order.
    game_server_selectors: Vec<LabelSelector>,
    metadata: MetaPatch,
}

/// The labels of the game servers that will do.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LabelSelector {
    match_labels: Texts,
}

/// What the game server that is allocated is marked with.
#[derive(Serialize)]
struct MetaPatch {
    annotations: Texts,
}

impl AgonesSettings {
    /// The request for the game server of a match, in JSON. Regions come in the order of their latencies; if
    /// the match has no ceiling, any region comes last.
    ///
    /// # Errors
    /// Fails if the mode or the map of the match cannot be the value of a label, or if no region is near
    /// enough to its players.
    pub fn request(
        &self,
        id: MatchId,
        queue: &str,
        wanted: &WantedInstance,
    ) -> Result<String, String> {
        let body = AllocationRequest {
            namespace: &self.namespace,
            game_server_selectors: self.selectors(wanted)?,
            metadata: MetaPatch {
                annotations: annotations(id, queue, wanted),
            },
        };
        serde_json::to_string(&body).map_err(|error| error.to_string())
    }

    fn selectors(&self, wanted: &WantedInstance) -> Result<Vec<LabelSelector>, String> {
        let mut labels = self.labels.clone();
        let named = [
            (&self.mode_label, &wanted.mode, "mode"),
            (&self.map_label, &wanted.map, "map"),
        ];
        for (label, value, what) in named {
            if let Some(value) = value
                && !label.is_empty()
            {
                if !is_label_value(value) {
                    return Err(format!("the {what} {value:?} cannot be a label's value"));
                }
                labels.insert(label.clone(), value.clone());
            }
        }
        let mut selectors: Vec<LabelSelector> = self
            .regions(wanted)
            .into_iter()
            .map(|region| {
                let mut match_labels = labels.clone();
                match_labels.insert(self.region_label.clone(), region);
                LabelSelector { match_labels }
            })
            .collect();
        match (wanted.ceiling, self.region_label.is_empty()) {
            (Some(_), false) if selectors.is_empty() => {
                return Err("no region is near enough to all players".to_owned());
            }
            (Some(_), false) => {}
            _ => selectors.push(LabelSelector {
                match_labels: labels,
            }),
        }
        Ok(selectors)
    }

    /// The regions that are near enough, the nearest first. Players state their names, so names that cannot
    /// be the value of a label are left out.
    fn regions(&self, wanted: &WantedInstance) -> Vec<String> {
        if self.region_label.is_empty() {
            return Vec::new();
        }
        let near = |latency: f64| wanted.ceiling.is_none_or(|ceiling| latency <= ceiling);
        let mut regions: Vec<(&String, f64)> = wanted
            .latencies
            .iter()
            .map(|(region, latency)| (region, *latency))
            .filter(|(region, latency)| {
                near(*latency) && !region.is_empty() && is_label_value(region)
            })
            .collect();
        regions.sort_by(|one, other| one.1.total_cmp(&other.1).then(one.0.cmp(other.0)));
        let nearest = regions.into_iter().take(MAX_REGIONS);
        nearest.map(|(region, _)| region.clone()).collect()
    }
}

/// What a game server can read about its match in Kubernetes. No passes: everybody who may read the objects
/// of the namespace sees it.
fn annotations(id: MatchId, queue: &str, wanted: &WantedInstance) -> Texts {
    let all = [
        ("match", Some(id.to_string())),
        ("queue", Some(queue.to_owned())),
        ("mode", wanted.mode.clone()),
        ("map", wanted.map.clone()),
    ];
    let annotation = |(name, value): (&str, Option<String>)| {
        let value = value?;
        Some((format!("{PREFIX}/{name}"), value))
    };
    all.into_iter().filter_map(annotation).collect()
}

/// The status with which the service answers that no game server is ready, unless its operators have chosen
/// another one.
const TOO_MANY_REQUESTS: u16 = 429;
/// The code of gRPC for the same, in the body of such an answer.
const RESOURCE_EXHAUSTED: i64 = 8;
/// The longest part of the service's own words that is logged, in characters.
const MAX_WORDS: usize = 200;

/// What has become of a request for the game server of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Allocation {
    /// The service has allocated a game server.
    Done(GameServer),
    /// No game server with the labels is ready.
    NoneFree,
    /// There is no usable answer, for this reason. Perhaps a game server was allocated all the same.
    Failed(String),
}

/// A game server that the service has allocated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameServer {
    /// Its name in Kubernetes, with which it says HELLO.
    pub name: String,
    /// Where players connect, such as `203.0.113.7:7463`.
    pub address: String,
    /// The value of its region's label, if the service returns it.
    pub region: Option<String>,
}

/// What the service answers. Agones calls it an AllocationResponse.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AllocationResponse {
    #[serde(default)]
    game_server_name: String,
    #[serde(default)]
    address: String,
    #[serde(default)]
    ports: Option<Vec<NamedPort>>,
    #[serde(default)]
    metadata: Option<Marks>,
}

/// A port of the game server.
#[derive(Deserialize)]
struct NamedPort {
    #[serde(default)]
    name: String,
    port: i64,
}

/// What the game server is marked with.
#[derive(Deserialize)]
struct Marks {
    #[serde(default)]
    labels: Option<BTreeMap<String, String>>,
}

/// The body of an answer with an error: a status of gRPC in JSON.
#[derive(Deserialize)]
struct GrpcStatus {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
}

impl AgonesSettings {
    /// What an answer with this status and body means.
    pub fn allocation(&self, status: u16, body: &[u8]) -> Allocation {
        if body.len() > MAX_ANSWER {
            return Allocation::Failed(format!("the answer is longer than {MAX_ANSWER} bytes"));
        }
        if status == 200 {
            return match json::<AllocationResponse>(body).and_then(|body| self.game_server(body)) {
                Ok(server) => Allocation::Done(server),
                Err(why) => Allocation::Failed(why),
            };
        }
        let fault = json::<GrpcStatus>(body).ok();
        let is_exhausted = fault
            .as_ref()
            .is_some_and(|fault| fault.code == RESOURCE_EXHAUSTED);
        if status == TOO_MANY_REQUESTS || is_exhausted {
            return Allocation::NoneFree;
        }
        let words = fault.map_or_else(String::new, |fault| plain(&fault.message));
        Allocation::Failed(format!("status {status}: {words}"))
    }

    fn game_server(&self, body: AllocationResponse) -> Result<GameServer, String> {
        let name = body.game_server_name;
        if !is_dns_name(&name, 253) {
            return Err(format!(
                "{:?} is no name of a game server",
                shortened(&name)
            ));
        }
        let ports = body.ports.unwrap_or_default();
        let is_wanted = |port: &&NamedPort| self.port.is_empty() || port.name == self.port;
        let port = ports
            .iter()
            .find(is_wanted)
            .ok_or_else(|| format!("game server {name} has no port {:?}", self.port))?;
        let number = u16::try_from(port.port).ok().filter(|port| *port > 0);
        let number = number.ok_or_else(|| format!("{} is no port", port.port))?;
        let host = host(&body.address).ok_or_else(|| {
            format!(
                "{:?} is no address of a game server",
                shortened(&body.address)
            )
        })?;
        let labels = body.metadata.and_then(|metadata| metadata.labels);
        let region = labels.and_then(|mut labels| labels.remove(&self.region_label));
        Ok(GameServer {
            name,
            address: format!("{host}:{number}"),
            region: region.filter(|region| !region.is_empty() && is_label_value(region)),
        })
    }
}

fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| {
        let at = (error.line(), error.column());
        format!(
            "the answer is not the documented JSON (line {}, column {})",
            at.0, at.1
        )
    })
}

/// A host as players write it before the port; `None` if it is none.
fn host(text: &str) -> Option<String> {
    if let Ok(address) = text.parse::<Ipv6Addr>() {
        return Some(format!("[{address}]"));
    }
    is_dns_name(&text.to_ascii_lowercase(), 253).then(|| text.to_owned())
}

/// The service's words without control characters, shortened.
fn plain(text: &str) -> String {
    let printable = text.chars().filter(|letter| !letter.is_control());
    printable.take(MAX_WORDS).collect()
}

fn shortened(text: &str) -> String {
    text.chars().take(MAX_WORDS).collect()
}

#[cfg(test)]
mod tests;
