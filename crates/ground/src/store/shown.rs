//! What pages, `/v1` and commands show alike: how a player is named, and how values are written for programs.

use std::fmt::Display;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::{
    model::{Kind, Timestamp, fingerprint::Fingerprint, names::plain_name, text::to_hex},
    store::{
        StoreError,
        db::{At, FromColumn, Row},
    },
};

/// Writes something as its text: a time as in `2026-11-20T15:28:36Z`, a kind as in `human`.
pub fn as_text<T: Display, S: Serializer>(of: &T, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(of)
}

/// Writes something that may be missing as its text, or null.
pub fn as_text_or_null<T: Display, S: Serializer>(
    of: &Option<T>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match of {
        Some(of) => to.collect_str(of),
        None => to.serialize_none(),
    }
}

/// Reads a time that was written as text.
pub fn time_of_text<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(from)?;
    Timestamp::parse(&text).ok_or_else(|| D::Error::custom("no time"))
}

/// Writes a name without its colours; an empty one stays empty.
pub fn as_plain<S: Serializer>(name: &str, to: S) -> Result<S::Ok, S::Error> {
    match name.is_empty() {
        true => to.serialize_str(name),
        false => to.serialize_str(&plain_name(name)),
    }
}

/// Writes a number with three decimals.
pub fn as_thousandths<S: Serializer>(number: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    let rounded = number.map(|number| (number * 1_000.0).round() / 1_000.0);
    rounded.serialize(to)
}

/// A player as others see one. Players who are hidden or were forgotten have no name and no handle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Player {
    /// The public handle; `None` if the player has no page.
    pub handle: Option<String>,
    /// The name without its colours.
    pub name: Option<String>,
    /// Whether the player is a bot.
    pub bot: bool,
    /// The identity; only for operators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The name as the game sent it.
    #[serde(skip)]
    pub raw: String,
}

impl Player {
    /// A player with this name, as the game sent it.
    pub fn new(handle: Option<String>, name: Option<String>, kind: Kind) -> Self {
        Self {
            handle,
            name: name.as_deref().map(plain_name),
            bot: kind == Kind::Bot,
            id: None,
            raw: name.unwrap_or_default(),
        }
    }

    /// Whether nobody has stated a name, of somebody who is shown.
    pub fn is_nameless(&self) -> bool {
        self.name.is_some() && self.raw.is_empty()
    }

    /// Shows the identity to an operator; it is the name of somebody without one.
    pub fn reveal(&mut self, id: &str) {
        if self.is_nameless() {
            self.call(id.to_owned());
        }
        self.id = Some(id.to_owned());
    }

    /// Gives the player this name.
    pub fn call(&mut self, name: String) {
        self.name = Some(plain_name(&name));
        self.raw = name;
    }

    /// The name without its colours.
    pub fn plain(&self) -> &str {
        self.name.as_deref().unwrap_or("a player")
    }
}

/// Bytes, which are hexadecimal as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Bytes(pub Vec<u8>);

impl From<Bytes> for String {
    fn from(bytes: Bytes) -> Self {
        to_hex(&bytes.0)
    }
}

impl TryFrom<String> for Bytes {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let digit = |byte: &u8| char::from(*byte).to_digit(16);
        let pair = |pair: &[u8]| match pair {
            [high, low] => u8::try_from((digit(high)? << 4) | digit(low)?).ok(),
            _ => None,
        };
        let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(pair).collect();
        bytes.map(Self).ok_or("no hexadecimal digits")
    }
}

impl From<Fingerprint> for Bytes {
    fn from(fingerprint: Fingerprint) -> Self {
        Self(fingerprint.0.to_vec())
    }
}

impl FromColumn<'_> for Bytes {
    fn read(row: &Row, at: At<'_>) -> Result<Self, StoreError> {
        Ok(Self(FromColumn::read(row, at)?))
    }
}
