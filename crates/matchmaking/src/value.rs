//! The values of attributes, and what a client sends for them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::MAX_WORD;

/// A checked value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number; a flag is 0 or 1.
    Number(f64),
    /// A word of an `enum` or `id`.
    Word(String),
    /// The words of a `set`, without repetitions.
    Set(Vec<String>),
    /// The numbers of a `map num`, each with its word.
    Map(Vec<(String, f64)>),
}

/// A value as a client or a file states it, before the queue has checked it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "an attribute must be true, false, a number, a text, a list of texts, or an object of numbers"
)]
pub enum Raw {
    /// `true` or `false`.
    Flag(bool),
    /// A number, as JSON has it.
    Number(f64),
    /// Text: a word, or any other value as it is written on the wire.
    Text(String),
    /// The words of a set.
    List(Vec<String>),
    /// The numbers of a `map num`.
    Map(BTreeMap<String, f64>),
}

impl Raw {
    /// The words of a set, or the only one of them; `None` if it is no text.
    pub(super) fn words(&self) -> Option<&[String]> {
        match self {
            Self::List(words) => Some(words),
            Self::Text(word) => Some(std::slice::from_ref(word)),
            _ => None,
        }
    }
}

impl Value {
    /// The set of these words.
    pub(super) fn set(words: &[String]) -> Self {
        let mut words = words.to_vec();
        words.sort_unstable();
        words.dedup();
        Self::Set(words)
    }
}

/// Whether the text can be a word: neither empty nor long, without spaces or control characters.
pub(super) fn is_word(text: &str) -> bool {
    let plain = |c: char| !c.is_control() && !c.is_whitespace();
    !text.is_empty() && text.len() <= MAX_WORD && text.chars().all(plain)
}
