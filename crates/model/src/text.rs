//! How numbers of things, bytes, and enums of words are written as text.

use std::fmt::Display;

/// A number and what it counts: "1 bot", "2 bots", "2 matches". `thing` is a word with a regular plural.
pub fn counted<N: Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    let plural = match thing.ends_with("ch") {
        _ if number == N::from(1) => "",
        true => "es",
        false => "s",
    };
    format!("{number} {thing}{plural}")
}

/// An amount, of at least 0, with up to three decimals; below 1 with as many as five significant digits need.
pub fn amount(number: f64) -> String {
    let small = 0.0 < number && number < 1.0;
    let digits = match small {
        true => 4.0 - libm::floor(libm::log10(number)),
        false => 3.0,
    };
    let text = format!("{number:.0$}", digits as usize);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Two digits for each byte, in lower case.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of as many pairs of digits, in any case; `None` for any other text.
pub fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// Defines an enum each of whose variants has one word, or one text: in files, on the line and for people.
#[macro_export]
macro_rules! worded {
    (
        $(#[$about:meta])*
        $visible:vis enum $name:ident {
            $( $(#[$about_variant:meta])* $variant:ident = $word:literal, )+
        }
    ) => {
        $(#[$about])*
        $visible enum $name {
            $( $(#[$about_variant])* $variant, )+
        }

        impl $name {
            /// All of them, in the order of their declaration.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The word or text.
            pub fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $word, )+
                }
            }

            /// The one with this word.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.as_str() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_any_size_are_told_apart() {
        let told = [
            0.0,
            9.0,
            42.125,
            0.1,
            0.0625,
            0.000_123_456,
            1500.0,
            0.1 + 0.2,
        ]
        .map(amount);
        let by_hand = [
            "0",
            "9",
            "42.125",
            "0.1",
            "0.0625",
            "0.00012346",
            "1500",
            "0.3",
        ];
        assert_eq!(told, by_hand);
    }

    #[test]
    fn one_is_no_plural() {
        let bots = |n: usize| counted(n, "bot");
        assert_eq!([bots(0), bots(1), bots(2)], ["0 bots", "1 bot", "2 bots"]);
        assert_eq!(
            [counted(1_u64, "match"), counted(2_u64, "match")],
            ["1 match", "2 matches"]
        );
    }

    #[test]
    fn digits_come_back_as_bytes_and_nothing_else_does() {
        assert_eq!(to_hex(&[0, 10, 250]), "000afa");
        assert_eq!(from_hex("000aFA"), Some([0, 10, 250]));
        for text in ["", "000af", "000afa0", "+00afa", "000a f", "0\u{e9}0af"] {
            assert_eq!(from_hex::<3>(text), None, "{text}");
        }
    }
}
