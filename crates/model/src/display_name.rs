//! Names as people read them: without the codes by which games colour them.

/// The longest name that is shown, in characters.
const SHOWN: usize = 40;
/// What is shown of a name without visible characters.
const NAMELESS: &str = "(no name)";

/// A colour that a code in a name selects, reduced to the eight colours that Quake III has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum NameColour {
    Black,
    Red,
    Green,
    Yellow,
    Blue,
    Cyan,
    Magenta,
    White,
}

impl NameColour {
    const ALL: [Self; 8] = [
        Self::Black,
        Self::Red,
        Self::Green,
        Self::Yellow,
        Self::Blue,
        Self::Cyan,
        Self::Magenta,
        Self::White,
    ];

    /// The colour of a digit, as in `^1`.
    fn of_digit(digit: u32) -> Self {
        Self::ALL[(digit & 7) as usize]
    }

    /// The closest colour of three parts, each 0 to `most`.
    fn of_parts([red, green, blue]: [u32; 3], most: u32) -> Self {
        let bit = |part: u32, bit: usize| if 2 * part > most { bit } else { 0 };
        // The bits in the order of the eight colours: red 1, green 2, and blue 4; yellow is 3, cyan 6.
        let bits = bit(red, 1) | bit(green, 2) | bit(blue, 4);
        [
            Self::Black,
            Self::Red,
            Self::Green,
            Self::Yellow,
            Self::Blue,
            Self::Magenta,
            Self::Cyan,
            Self::White,
        ][bits]
    }
}

/// Splits a name into runs of one colour, `None` before the first code. Understands `^0` to `^9` (id Tech
/// 3, Xonotic), `^xRGB` (Xonotic), and the escape character with three bytes (Unreal). Characters that
/// cannot be seen, or that change the direction of the text around them, are left out, and a long name is
/// cut at 40 characters. The result has at least one visible character.
pub fn coloured_name(name: &str) -> Vec<(Option<NameColour>, String)> {
    let mut runs: Vec<(Option<NameColour>, String)> = vec![(None, String::new())];
    let (mut rest, mut shown) = (name, 0);
    while let Some(c) = rest.chars().next() {
        if let Some((colour, length)) = code(rest) {
            rest = &rest[length..];
            runs.push((Some(colour), String::new()));
            continue;
        }
        rest = &rest[c.len_utf8()..];
        if is_hidden(c) {
            continue;
        }
        let Some((_, text)) = runs.last_mut() else {
            break;
        };
        if shown == SHOWN {
            text.push('…');
            break;
        }
        text.push(c);
        shown += 1;
    }
    runs.retain(|(_, text)| !text.is_empty());
    if runs.iter().all(|(_, text)| text.trim().is_empty()) {
        return vec![(None, NAMELESS.to_owned())];
    }
    runs
}

/// A name without its colours, as [`coloured_name`] shows it.
pub fn plain_name(name: &str) -> String {
    let runs = coloured_name(name);
    runs.into_iter().map(|(_, text)| text).collect()
}

/// The colour of the code at the start of a text, and the length of the code in bytes.
fn code(text: &str) -> Option<(NameColour, usize)> {
    let mut chars = text.chars();
    match chars.next()? {
        '^' => {
            let next = chars.next()?;
            if let Some(digit) = next.to_digit(10) {
                return Some((NameColour::of_digit(digit), 2));
            }
            let mut part = || chars.next()?.to_digit(16);
            let parts = (next == 'x').then(|| Some([part()?, part()?, part()?]))??;
            Some((NameColour::of_parts(parts, 0xf), 5))
        }
        '\u{1b}' => {
            let mut length = 1;
            let mut part = || {
                let c = chars.next()?;
                length += c.len_utf8();
                Some(u32::from(c).min(255))
            };
            let parts = [part()?, part()?, part()?];
            Some((NameColour::of_parts(parts, 255), length))
        }
        _ => None,
    }
}

/// Whether a character cannot be seen, or changes the direction of the text around it.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{17b4}' | '\u{17b5}' | '\u{2800}' | '\u{1d173}'..='\u{1d17a}' | '\u{fffe}' | '\u{ffff}'
            | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' | '\u{300}'..='\u{34e}' | '\u{350}'..='\u{36f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn colours_of_the_games_are_read() {
        use NameColour::{Blue, Cyan, Magenta, Red, Yellow};
        let name = "a^1b^xf0fc^x0FFd\u{1b}\u{ff}\u{ff}\u{1}e^^4f^";
        let runs = coloured_name(name);
        let found: Vec<_> = runs.iter().map(|(c, t)| (*c, t.as_str())).collect();
        let expected = [
            (None, "a"),
            (Some(Red), "b"),
            (Some(Magenta), "c"),
            (Some(Cyan), "d"),
            (Some(Yellow), "e^"),
            (Some(Blue), "f^"),
        ];
        assert_eq!(found, expected);
        assert_eq!(plain_name(name), "abcde^f^");
        assert_eq!(plain_name("^_^ ^x ^xzz"), "^_^ ^x ^xzz");
    }

    #[test]
    fn what_cannot_be_seen_is_left_out() {
        assert_eq!(plain_name("a\u{202e}b\u{0}\u{301}\u{301}c\n"), "abc");
        for name in [
            "",
            " ",
            "^1^2",
            "\u{200b}\u{3164}",
            "\u{2800}\u{17b4}\u{ffff}\u{20d0}",
        ] {
            assert_eq!(plain_name(name), NAMELESS, "{name:?}");
        }
        assert_eq!(plain_name(&"é".repeat(99)).chars().count(), SHOWN + 1);
    }

    proptest! {
        #[test]
        fn any_name_is_short_and_visible(name in any::<String>()) {
            let plain = plain_name(&name);
            prop_assert!(!plain.trim().is_empty() && plain.chars().count() <= SHOWN + 1);
            prop_assert!(!plain.chars().any(is_hidden));
        }
    }
}
