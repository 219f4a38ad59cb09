//! The largest allowed difference of two teams.

use std::{fmt, str::FromStr};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, Visitor},
};

/// The largest allowed difference of two teams' human counts, or no limit: 0 to 1024, or `"off"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxDifference(Option<u32>);

impl MaxDifference {
    /// No limit, `"off"` in the configuration.
    pub const OFF: Self = Self(None);
    const MOST: u32 = 1_024;
    const RANGE: &str = "0 to 1024, or \"off\"";

    /// The limit `limit`, for constants and tests.
    ///
    /// # Panics
    /// Panics if the limit is above 1024; in a `const` block this fails to compile.
    pub const fn of(limit: u32) -> Self {
        assert!(limit <= Self::MOST, "out of range");
        Self(Some(limit))
    }

    /// The limit; `None` for no limit.
    pub fn get(self) -> Option<usize> {
        self.0.map(|limit| limit as usize)
    }
}

impl FromStr for MaxDifference {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(limit) if limit <= Self::MOST => Ok(Self(Some(limit))),
            _ if text == "off" => Ok(Self::OFF),
            _ => Err(format!("must be {}", Self::RANGE)),
        }
    }
}

struct MaxDifferenceVisitor;

impl Visitor<'_> for MaxDifferenceVisitor {
    type Value = MaxDifference;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MaxDifference::RANGE)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<MaxDifference, E> {
        let limit = u32::try_from(value).ok();
        let limit = limit.filter(|limit| *limit <= MaxDifference::MOST);
        limit
            .map(|limit| MaxDifference(Some(limit)))
            .ok_or_else(|| refused(&value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<MaxDifference, E> {
        self.visit_i64(i64::try_from(value).unwrap_or(i64::MAX))
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<MaxDifference, E> {
        match word {
            "off" => Ok(MaxDifference::OFF),
            _ => Err(refused(&format_args!("\"{word}\""))),
        }
    }
}

fn refused<E: Error>(found: &dyn fmt::Display) -> E {
    E::custom(format_args!(
        "must be {}, not {found}",
        MaxDifference::RANGE
    ))
}

impl<'de> Deserialize<'de> for MaxDifference {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(MaxDifferenceVisitor)
    }
}

impl Serialize for MaxDifference {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(limit) => to.serialize_u32(limit),
            None => to.serialize_str("off"),
        }
    }
}
