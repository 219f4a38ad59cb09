//! The settings of a webhook, a section `[[webhook]]` of the configuration, with the address of its receiver.

use std::{fmt, fs::File, io::Read, net::IpAddr, path::PathBuf};

use serde::Deserialize;
use ureq::http::Uri;

use super::{DeliveryError, SigningKeys};
use crate::{
    model::units::{Count, Seconds},
    store::HookKind,
};

/// The most webhooks of a configuration.
pub const MAX_HOOKS: usize = 16;
/// The longest name, in bytes.
const MAX_NAME: usize = 32;
/// The largest file of secrets, in bytes.
const MAX_SECRET_FILE: u64 = 4_096;

/// The keys of one `[[webhook]]` section.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhookSettings {
    /// The name in logs and commands. A webhook with another name is another webhook.
    pub name: HookName,
    /// The address that requests are sent to.
    pub url: HookUrl,
    /// The keys by which requests are signed.
    #[serde(default)]
    pub secret: Option<SigningKeys>,
    /// A file with these keys.
    #[serde(default)]
    pub secret_file: Option<PathBuf>,
    /// The kinds of events that are sent.
    #[serde(default = "all_kinds")]
    pub events: Vec<HookKind>,
    /// Whether requests to another machine may go without encryption.
    #[serde(default)]
    pub plain_http: bool,
    /// The longest time of a request.
    #[serde(default = "timeout")]
    pub timeout_seconds: Seconds<1, 60>,
    /// How long an event is kept for a receiver that fails.
    #[serde(default = "keep")]
    pub keep_seconds: Seconds<1, 604_800>,
    /// The most events that wait.
    #[serde(default = "most")]
    pub max_waiting: Count<1, 10_000>,
}

fn all_kinds() -> Vec<HookKind> {
    HookKind::ALL.to_vec()
}

fn timeout() -> Seconds<1, 60> {
    const { Seconds::of(10) }
}

fn keep() -> Seconds<1, 604_800> {
    const { Seconds::of(86_400) }
}

fn most() -> Count<1, 10_000> {
    const { Count::of(10_000) }
}

impl WebhookSettings {
    /// The key that does not fit the others, and why; `None` if all do.
    pub fn fault(&self) -> Option<(&'static str, String)> {
        let is_plain = self.url.is_plain() && !self.url.is_loopback();
        match (&self.secret, &self.secret_file) {
            (None, None) => Some(("secret", "or secret_file is missing".to_owned())),
            (Some(_), Some(_)) => Some(("secret", "must not be beside secret_file".to_owned())),
            _ if self.events.is_empty() => Some(("events", "must not be empty".to_owned())),
            _ if is_plain && !self.plain_http => {
                let why = "must begin with https://, unless the receiver is on this machine or plain_http = true";
                Some(("url", why.to_owned()))
            }
            _ => None,
        }
    }

    /// The keys by which requests are signed, from the configuration or from the file.
    ///
    /// # Errors
    /// Fails if the file cannot be read or contains no secret.
    pub fn keys(&self) -> Result<SigningKeys, DeliveryError> {
        if let Some(keys) = &self.secret {
            return Ok(keys.clone());
        }
        let path = self.secret_file.as_ref();
        let path = path.ok_or_else(|| DeliveryError::NoSecret(self.name.to_string()))?;
        let mut text = String::new();
        let read = File::open(path).and_then(|file| {
            let mut bounded = file.take(MAX_SECRET_FILE);
            bounded.read_to_string(&mut text)
        });
        read.map_err(|source| DeliveryError::SecretFile {
            path: path.clone(),
            source,
        })?;
        SigningKeys::parse(&text).map_err(|why| DeliveryError::BadSecret {
            path: path.clone(),
            why,
        })
    }
}

/// The name of a webhook: 1 to 32 letters, digits, `-` and `_`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct HookName(String);

impl TryFrom<String> for HookName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        match (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(fits) {
            true => Ok(Self(text)),
            false => Err(format!("must be 1 to {MAX_NAME} letters, digits, - and _")),
        }
    }
}

impl fmt::Display for HookName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The longest address, in bytes.
const MAX_URL: usize = 2_048;

/// The address that requests are sent to. Its path and query are not printed: some receivers have
/// their secret there.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct HookUrl {
    text: String,
    /// Scheme, host and port.
    origin: String,
    is_plain: bool,
    is_loopback: bool,
}

impl HookUrl {
    /// The whole address.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether requests are not encrypted.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether the receiver is on this machine.
    pub fn is_loopback(&self) -> bool {
        self.is_loopback
    }
}

impl TryFrom<String> for HookUrl {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.len() > MAX_URL || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("must be at most 2048 characters of ASCII, without spaces");
        }
        let form = "must be an address such as \"https://example.org/evenkeel\"";
        let uri: Uri = text.parse().map_err(|_| form)?;
        let is_plain = match uri.scheme_str() {
            Some("https") => false,
            Some("http") => true,
            _ => return Err(form),
        };
        let authority = uri.authority().ok_or(form)?;
        if authority.as_str().contains('@') {
            return Err("must not contain a user or a password");
        }
        let host = authority.host();
        if host.is_empty() {
            return Err(form);
        }
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        let scheme = if is_plain { "http" } else { "https" };
        Ok(Self {
            origin: format!("{scheme}://{authority}"),
            is_plain,
            is_loopback: host == "localhost" || address.is_ok_and(|ip| ip.is_loopback()),
            text,
        })
    }
}

/// Scheme, host and port.
impl fmt::Display for HookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)
    }
}

impl fmt::Debug for HookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HookUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Result<HookUrl, &'static str> {
        HookUrl::try_from(text.to_owned())
    }

    #[test]
    fn only_the_origin_is_printed() {
        let url = url("https://example.org:8443/hooks/s3cret?key=s3cret").unwrap();
        assert_eq!(url.to_string(), "https://example.org:8443");
        assert!(!format!("{url:?}").contains("s3cret"));
        assert_eq!(
            url.as_str(),
            "https://example.org:8443/hooks/s3cret?key=s3cret"
        );
    }

    #[test]
    fn loopback_is_this_machine_alone() {
        let is = |text: &str| url(text).unwrap().is_loopback();
        for near in [
            "http://127.0.0.1:1/",
            "http://[::1]:9/x",
            "http://localhost",
            "https://127.9.9.9/",
        ] {
            assert!(is(near), "{near}");
        }
        for far in [
            "http://127.0.0.1.example.org/",
            "http://localhost.example.org/",
            "http://10.0.0.1/",
        ] {
            assert!(!is(far), "{far}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let long = format!("https://example.org/{}", "a".repeat(2_048));
        for bad in [
            "",
            "example.org",
            "/path",
            "ftp://example.org/",
            "file:///etc/passwd",
            "https://",
            "https://a:b@example.org/",
            "https://example.org/a b",
            "https://example.org/\n",
            &long,
        ] {
            assert!(url(bad).is_err(), "{bad}");
        }
    }
}
