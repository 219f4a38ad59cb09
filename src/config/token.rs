//! The tokens of clients, of which only digests are kept.

use serde::{Deserialize, Deserializer, de::Error};

use crate::model::Secret;

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
