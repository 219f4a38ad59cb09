//! The settings of the statistics pages.

use std::net::IpAddr;

use serde::{Deserialize, Deserializer, de::Error};

use super::api::WebOrigin;
use crate::model::units::{Count, Seconds};

/// Whether pages show weights as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PageNumbers {
    /// Weights and chances are shown as numbers.
    Number,
    /// Only divisions and results are shown.
    Division,
}

/// The paths that are answered beside the base path.
const BESIDE_PAGES: [&str; 5] = [
    "/healthz",
    "/readyz",
    "/metrics",
    "/status.json",
    "/robots.txt",
];

/// How the pages look, and what they show.
#[derive(Clone, Debug, Deserialize)]
pub struct WebSettings {
    /// The name of the site, in the title of each page.
    pub title: String,
    /// The address of a page about who runs the site; empty for no link.
    #[serde(deserialize_with = "imprint")]
    pub imprint: String,
    /// The address at which visitors find the site, without the base path; `None` if requests state it.
    #[serde(deserialize_with = "origin")]
    pub origin: Option<WebOrigin>,
    /// The path below which the pages are, without a slash at the end; empty for the root.
    #[serde(deserialize_with = "base_path")]
    pub base_path: String,
    /// Whether pages show weights as numbers.
    pub show: PageNumbers,
    /// Whether the page of a player contains the identity.
    pub show_ids: bool,
    /// Reverse proxies: they may open any number of connections.
    pub trusted_proxies: Vec<IpAddr>,
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub limits: WebLimits,
}

/// The limits on the connections of visitors.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct WebLimits {
    /// The most connections at the same time.
    pub max_connections: Count<1, 65_536>,
    /// The most connections from one address that is not a trusted proxy.
    pub max_per_address: Count<1, 65_536>,
    /// How many requests a second one address may make that is not a trusted proxy, and ten times as many at
    /// once; 0 for no limit.
    pub requests_per_second: Count<0, 1_000_000>,
    /// The time limit for the head of a request.
    pub head_seconds: Seconds<1, 60>,
    /// The time limit for a connection, however many requests come on it.
    pub connection_seconds: Seconds<1, 3_600>,
}

impl WebSettings {
    /// Whether pages show weights as numbers.
    pub fn shows_numbers(&self) -> bool {
        self.show == PageNumbers::Number
    }
}

/// A link must not run a script when it is followed.
fn imprint<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    let is_web = text.starts_with("https://") || text.starts_with("http://");
    match is_web || text.is_empty() {
        true => Ok(text),
        false => Err(D::Error::custom(
            "must begin with https:// or http://, or be empty",
        )),
    }
}

fn origin<'de, D: Deserializer<'de>>(from: D) -> Result<Option<WebOrigin>, D::Error> {
    let text = String::deserialize(from)?;
    match text.is_empty() {
        true => Ok(None),
        false => WebOrigin::try_from(text)
            .map(Some)
            .map_err(D::Error::custom),
    }
}

fn base_path<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let begins = text.is_empty() || text.starts_with('/');
    if !begins || text.ends_with('/') || text.contains("//") || !text.chars().all(fits) {
        return Err(D::Error::custom(
            "must be empty, or begin with / and not end with it, and contain only letters, digits, -, _, . and /",
        ));
    }
    let is_step = |part: &str| part == "." || part == "..";
    match BESIDE_PAGES.contains(&text.as_str()) || text.split('/').any(is_step) {
        false => Ok(text),
        true => Err(D::Error::custom(
            "must not be a path that is answered beside the pages, such as /metrics, and not contain . or .. as a part",
        )),
    }
}
