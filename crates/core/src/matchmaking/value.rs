//! The values of attributes, and how they are read from what a client sent.

use super::{AttributeType, MAX_WORD, MAX_WORDS, ticket::Raw};

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

impl AttributeType {
    /// The value that `raw` states; `None` if it is not of this type.
    pub(super) fn read(&self, raw: Raw) -> Option<Value> {
        match (self, raw) {
            (Self::Int { least, most }, raw) => {
                let number = number(raw)?;
                let fits = (f64::from(*least)..=f64::from(*most)).contains(&number);
                (fits && number.fract() == 0.0).then_some(Value::Number(number))
            }
            (Self::Num, raw) => Some(Value::Number(number(raw)?)),
            (Self::Enum(words), Raw::Text(word)) => {
                words.contains(&word).then_some(Value::Word(word))
            }
            (Self::Id, Raw::Text(word)) => is_word(&word).then_some(Value::Word(word)),
            (Self::Set(words), Raw::List(list)) => set(words, list),
            (Self::Set(words), Raw::Text(word)) => set(words, vec![word]),
            (Self::Flag, Raw::Flag(flag)) => Some(Value::Number(f64::from(u8::from(flag)))),
            (Self::Flag, Raw::Text(text)) => match text.as_str() {
                "true" | "yes" | "1" => Some(Value::Number(1.0)),
                "false" | "no" | "0" => Some(Value::Number(0.0)),
                _ => None,
            },
            (Self::Map, Raw::Map(map)) => {
                let sound = |(word, number): (&String, &f64)| is_word(word) && number.is_finite();
                let fits = map.len() <= MAX_WORDS && map.iter().all(sound);
                fits.then(|| Value::Map(map.into_iter().collect()))
            }
            _ => None,
        }
    }
}

/// Whether the text can be a word: neither empty nor long, without spaces or control characters.
pub(super) fn is_word(text: &str) -> bool {
    let plain = |c: char| !c.is_control() && !c.is_whitespace();
    !text.is_empty() && text.len() <= MAX_WORD && text.chars().all(plain)
}

fn number(raw: Raw) -> Option<f64> {
    let number = match raw {
        Raw::Number(number) => number,
        Raw::Text(text) => text.parse().ok()?,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

fn set(allowed: &[String], mut list: Vec<String>) -> Option<Value> {
    let known = |word: &String| allowed.is_empty() && is_word(word) || allowed.contains(word);
    if list.len() > MAX_WORDS || !list.iter().all(known) {
        return None;
    }
    list.sort_unstable();
    list.dedup();
    Some(Value::Set(list))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(declaration: &str, raw: &str) -> Option<Value> {
        let of: AttributeType = declaration.parse().unwrap();
        of.read(serde_json::from_str(raw).unwrap())
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
