//! The settings of a webhook: a section `[[webhook]]` of the configuration.

use std::{fmt, fs::File, io::Read, path::PathBuf};

use serde::Deserialize;

use super::{DeliveryError, HookUrl, SigningKeys};
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
