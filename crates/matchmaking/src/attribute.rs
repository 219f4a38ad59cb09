//! Attributes: what a queue lets players state of themselves, the text that declares it, such as `int 1..10 = 10`,
//! and the values that clients send.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

pub use crate::columns::is_known;

/// The longest identifier of a ticket or player, and the longest name of a rule or ruleset, in
/// bytes.
pub const MAX_ID: usize = 128;
/// The longest word of an attribute, in bytes.
pub const MAX_WORD: usize = 64;
/// The most words of a set, a map or an enum.
pub const MAX_WORDS: usize = 128;

/// The type of an attribute's values.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeType {
    /// A whole number in a range: `int 1..10`.
    Int {
        /// The smallest value.
        least: i32,
        /// The largest value.
        most: i32,
    },
    /// Any finite number: `num`.
    Num,
    /// One of the listed words: `enum light medium`.
    Enum(Vec<String>),
    /// Words, of those that are listed if any are: `set`, `set encounter supremacy`.
    Set(Vec<String>),
    /// Any word: `id`.
    Id,
    /// True or false, and false if a player does not state it: `flag`.
    Flag,
    /// A number for each of some words: `map num`.
    Map,
}

/// A declared attribute: its type, and the value of players who do not state one.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The type of its values.
    pub of: AttributeType,
    /// The value of players who do not state it. Without one they must state it, unless the type is
    /// `set`, `flag` or `map num`: those have an empty value.
    pub default: Option<Value>,
}

impl Attribute {
    /// The value of a player who does not state one; `None` if it must be stated.
    pub fn absent(&self) -> Option<Value> {
        let empty = match self.of {
            AttributeType::Set(_) => Some(Value::Set(Vec::new())),
            AttributeType::Flag => Some(Value::Number(0.0)),
            AttributeType::Map => Some(Value::Map(Vec::new())),
            _ => None,
        };
        self.default.clone().or(empty)
    }
}

impl FromStr for Attribute {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (declared, default) = match text.split_once('=') {
            Some((declared, default)) => (declared.trim(), Some(default.trim())),
            None => (text.trim(), None),
        };
        let of = AttributeType::from_str(declared)?;
        let default = default.map(|text| {
            let refused = || format!("has the default {text}, which must be {of}");
            let raw = match of {
                AttributeType::Set(_) => {
                    Raw::List(text.split_whitespace().map(str::to_owned).collect())
                }
                AttributeType::Map => return Err("must not have a default".to_owned()),
                _ => Raw::Text(text.to_owned()),
            };
            of.read(&raw).ok_or_else(refused)
        });
        Ok(Self {
            of,
            default: default.transpose()?,
        })
    }
}

impl FromStr for AttributeType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or("");
        let rest: Vec<&str> = words.collect();
        match (name, rest.as_slice()) {
            ("int", [range]) => int_range(range),
            ("num", []) => Ok(Self::Num),
            ("id", []) => Ok(Self::Id),
            ("flag", []) => Ok(Self::Flag),
            ("map", ["num"]) => Ok(Self::Map),
            ("enum", [_, _, ..]) => word_list(&rest).map(Self::Enum),
            ("set", _) => word_list(&rest).map(Self::Set),
            _ => Err(format!(
                "must be int A..B, num, enum WORD WORD…, set [WORD…], id, flag or map num, not \"{text}\""
            )),
        }
    }
}

fn int_range(range: &str) -> Result<AttributeType, String> {
    let ends = range.split_once("..");
    let ends = ends.and_then(|(least, most)| Some((least.parse().ok()?, most.parse().ok()?)));
    match ends {
        Some((least, most)) if least <= most => Ok(AttributeType::Int { least, most }),
        _ => Err(format!(
            "must have a range of two whole numbers, such as int 1..10, not {range}"
        )),
    }
}

fn word_list(words: &[&str]) -> Result<Vec<String>, String> {
    let list: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    if list.len() > MAX_WORDS || list.iter().any(|word| word.len() > MAX_WORD) {
        return Err(format!(
            "must list at most {MAX_WORDS} words of at most {MAX_WORD} bytes"
        ));
    }
    let repeated = list.iter().enumerate();
    match repeated
        .into_iter()
        .find(|(at, word)| list[..*at].contains(word))
    {
        Some((_, word)) => Err(format!("must not list {word} twice")),
        None => Ok(list),
    }
}

impl fmt::Display for AttributeType {
    /// Writes what a value must be, as messages word it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int { least, most } => write!(f, "a whole number from {least} to {most}"),
            Self::Num => f.write_str("a finite number"),
            Self::Enum(words) => write!(f, "one of: {}", words.join(", ")),
            Self::Set(words) if words.is_empty() => {
                write!(f, "up to {MAX_WORDS} words of at most {MAX_WORD} bytes")
            }
            Self::Set(words) => write!(f, "some of: {}", words.join(", ")),
            Self::Id => write!(f, "a word of at most {MAX_WORD} bytes"),
            Self::Flag => f.write_str("true or false"),
            Self::Map => write!(f, "a finite number for each of up to {MAX_WORDS} words"),
        }
    }
}

impl Attribute {
    /// The text that declares the attribute, as in the configuration.
    pub fn declaration(&self) -> String {
        let of = match &self.of {
            AttributeType::Int { least, most } => format!("int {least}..{most}"),
            AttributeType::Num => "num".to_owned(),
            AttributeType::Enum(words) => format!("enum {}", words.join(" ")),
            AttributeType::Set(words) => format!("set {}", words.join(" ")).trim_end().to_owned(),
            AttributeType::Id => "id".to_owned(),
            AttributeType::Flag => "flag".to_owned(),
            AttributeType::Map => "map num".to_owned(),
        };
        match (&self.default, &self.of) {
            (Some(Value::Number(number)), AttributeType::Flag) => {
                format!("{of} = {}", *number > 0.0)
            }
            (Some(Value::Number(number)), _) => format!("{of} = {number}"),
            (Some(Value::Word(word)), _) => format!("{of} = {word}"),
            (Some(Value::Set(words)), _) => format!("{of} = {}", words.join(" ")),
            (Some(Value::Map(_)) | None, _) => of,
        }
    }
}

impl<'de> Deserialize<'de> for Attribute {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
    }
}

impl Serialize for Attribute {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.declaration())
    }
}

impl AttributeType {
    /// The value that `raw` states; `None` if it is not of this type.
    pub(super) fn read(&self, raw: &Raw) -> Option<Value> {
        match (self, raw) {
            (Self::Int { least, most }, raw) => {
                let number = number(raw)?;
                let fits = (f64::from(*least)..=f64::from(*most)).contains(&number);
                (fits && number.fract() == 0.0).then_some(Value::Number(number))
            }
            (Self::Num, raw) => Some(Value::Number(number(raw)?)),
            (Self::Enum(words), Raw::Text(word)) => {
                words.contains(word).then(|| Value::Word(word.clone()))
            }
            (Self::Id, Raw::Text(word)) => is_word(word).then(|| Value::Word(word.clone())),
            (Self::Set(allowed), raw) => {
                let words = raw.words()?;
                let known =
                    |word: &String| allowed.is_empty() && is_word(word) || allowed.contains(word);
                let fits = words.len() <= MAX_WORDS && words.iter().all(known);
                fits.then(|| Value::set(words))
            }
            (Self::Flag, Raw::Flag(flag)) => Some(Value::Number(f64::from(u8::from(*flag)))),
            (Self::Flag, Raw::Text(text)) => match text.as_str() {
                "true" | "yes" | "1" => Some(Value::Number(1.0)),
                "false" | "no" | "0" => Some(Value::Number(0.0)),
                _ => None,
            },
            (Self::Map, Raw::Map(map)) => {
                let sound = |(word, number): (&String, &f64)| is_word(word) && number.is_finite();
                let fits = map.len() <= MAX_WORDS && map.iter().all(sound);
                fits.then(|| {
                    let entries = map.iter().map(|(word, number)| (word.clone(), *number));
                    Value::Map(entries.collect())
                })
            }
            _ => None,
        }
    }
}

fn number(raw: &Raw) -> Option<f64> {
    let number = match raw {
        Raw::Number(number) => *number,
        Raw::Text(text) => text.parse().ok()?,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

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
    pub(crate) fn words(&self) -> Option<&[String]> {
        match self {
            Self::List(words) => Some(words),
            Self::Text(word) => Some(std::slice::from_ref(word)),
            _ => None,
        }
    }
}

impl Value {
    /// The set of these words.
    pub(crate) fn set(words: &[String]) -> Self {
        let mut words = words.to_vec();
        words.sort_unstable();
        words.dedup();
        Self::Set(words)
    }
}

/// Whether the text can be a word: neither empty nor long, without spaces or control characters.
pub(crate) fn is_word(text: &str) -> bool {
    let plain = |c: char| !c.is_control() && !c.is_whitespace();
    !text.is_empty() && text.len() <= MAX_WORD && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_make_a_round_trip() {
        for text in [
            "int 1..10",
            "int -3..10 = 10",
            "num",
            "num = 0.5",
            "enum light medium",
            "enum light medium = medium",
            "set",
            "set a b",
            "set a b = a b",
            "id",
            "flag",
            "flag = true",
            "map num",
        ] {
            let attribute: Attribute = text.parse().unwrap();
            assert_eq!(attribute.declaration(), text);
        }
    }

    #[test]
    fn a_wrong_declaration_says_what_is_possible() {
        let fault = |text: &str| text.parse::<Attribute>().unwrap_err();
        assert!(fault("integer").starts_with("must be int A..B, num, "));
        assert!(fault("int 1-10").contains("such as int 1..10, not 1-10"));
        assert!(fault("int 10..1").contains("such as int 1..10"));
        assert!(fault("enum one").starts_with("must be int"));
        assert!(fault("enum a b a").contains("must not list a twice"));
        assert!(fault("int 1..10 = 11").contains("a whole number from 1 to 10"));
        assert!(fault("map num = 1").contains("must not have a default"));
        let many: Vec<String> = (0..300).map(|n| n.to_string()).collect();
        assert!(fault(&format!("enum {}", many.join(" "))).contains("at most 128 words"));
    }

    fn read(declaration: &str, raw: &str) -> Option<Value> {
        let of: AttributeType = declaration.parse().unwrap();
        of.read(&serde_json::from_str(raw).unwrap())
    }

    #[test]
    fn only_values_of_the_declared_type_are_read() {
        assert_eq!(read("int 1..10", "8"), Some(Value::Number(8.0)));
        assert_eq!(read("int 1..10", "\"8\""), Some(Value::Number(8.0)));
        assert_eq!(read("flag", "true"), Some(Value::Number(1.0)));
        let set = Value::Set(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(read("set", "[\"b\",\"a\",\"b\"]"), Some(set));
        for (declaration, raw) in [
            ("int 1..10", "8.5"),
            ("int 1..10", "11"),
            ("int 1..10", "\"x\""),
            ("num", "\"NaN\""),
            ("num", "\"inf\""),
            ("num", "[]"),
            ("enum a b", "\"c\""),
            ("id", "\"\""),
            ("id", "\"a b\""),
            ("id", "\"a\\u0007\""),
            ("set a b", "[\"c\"]"),
            ("flag", "\"maybe\""),
            ("map num", "3"),
        ] {
            assert_eq!(read(declaration, raw), None, "{declaration} {raw}");
        }
        let long = format!("\"{}\"", "x".repeat(MAX_WORD + 1));
        assert_eq!(read("id", &long), None);
        let many: Vec<String> = (0..=MAX_WORDS).map(|n| n.to_string()).collect();
        assert_eq!(read("set", &serde_json::to_string(&many).unwrap()), None);
    }
}
