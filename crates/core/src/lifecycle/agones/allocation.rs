//! The answers of the allocator service.

use core::net::Ipv6Addr; // the address alone; sockets are in std::net
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    AgonesSettings, MAX_ANSWER,
    settings::{is_dns_name, is_label_value},
};

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
