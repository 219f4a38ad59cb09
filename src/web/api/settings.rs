//! The settings of `/v1`.

use serde::Deserialize;

/// Whether programs may ask and report over HTTP, and from which web sites.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiSettings {
    /// Whether there is `/v1` beside the pages.
    pub enabled: bool,
    /// Whether everybody may pick teams, without a token.
    pub visitors: bool,
    /// The web sites whose pages may send what changes something, and the addresses of this site itself.
    pub origins: Vec<WebOrigin>,
}

/// A web site, as browsers name it: `https://club.example`, with a port unless it is the usual one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct WebOrigin(String);

impl TryFrom<String> for WebOrigin {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let host = |scheme: &str| text.strip_prefix(scheme);
        let host = host("https://").or_else(|| host("http://"));
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.:[]".contains(c);
        match host.is_some_and(|host| !host.is_empty() && host.chars().all(fits)) {
            true => Ok(Self(text)),
            false => Err(
                "must be addresses such as \"https://club.example\", in lower case and without a path",
            ),
        }
    }
}

impl WebOrigin {
    /// The address as a browser sends it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The host, and the port if it is stated.
    pub(super) fn authority(&self) -> &str {
        self.0.split_once("://").map_or("", |(_, host)| host)
    }
}
