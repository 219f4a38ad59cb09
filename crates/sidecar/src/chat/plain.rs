//! Text that is safe in a console command.

/// The longest line that a game shows to a player, in bytes.
pub(super) const MAX_LINE: usize = 110;
/// The longest name in a line, in bytes.
const MAX_NAME: usize = 24;

/// Makes a text safe in a console command. Only ASCII letters and digits, single blanks and
/// `_-.,:()[]+=*#` stay. Everything else becomes `_`: quotes, `;`, line feeds and `//` end an
/// argument or a command, `^` starts a colour code, `$` and `%` are replaced in some games, and `!`
/// starts a command.
pub(super) fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        let stays = c.is_ascii_alphanumeric() || "_-.,:()[]+=*#".contains(c);
        match c {
            ' ' if safe.is_empty() || safe.ends_with(' ') => {}
            ' ' => safe.push(' '),
            _ if stays => safe.push(c),
            _ => safe.push('_'),
        }
    }
    safe.truncate(safe.trim_end().len());
    safe
}

/// A player's name, safe and short. Never empty.
pub(super) fn plain_name(name: &str) -> String {
    let mut safe = plain(name);
    safe.truncate(MAX_NAME);
    safe.truncate(safe.trim_end().len());
    if safe.is_empty() {
        safe.push('_');
    }
    safe
}

/// Cuts a safe text to the length of a line.
pub(super) fn cut(mut text: String) -> String {
    if text.len() > MAX_LINE {
        // A safe text is ASCII, so that it can be cut at any byte.
        text.truncate(text.floor_char_boundary(MAX_LINE - 3));
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_ends_a_command_is_replaced() {
        assert_eq!(
            plain("  a\";quit;\n\r//b  ^1c $x %n !vote\\"),
            "a__quit_____b _1c _x _n _vote_"
        );
        assert_eq!(plain("[clan]joe-2 (x)"), "[clan]joe-2 (x)");
        assert_eq!(plain_name("é"), "_");
        assert_eq!(plain_name("   "), "_");
        assert_eq!(plain_name(&"x ".repeat(60)).len(), 23);
        assert_eq!(cut("y".repeat(200)).len(), MAX_LINE);
    }

    proptest! {
        #[test]
        fn any_text_becomes_one_argument(text in any::<String>()) {
            for safe in [plain(&text), plain_name(&text)] {
                let fits = |b: u8| b.is_ascii_alphanumeric() || b" _-.,:()[]+=*#".contains(&b);
                prop_assert!(safe.bytes().all(fits), "{safe}");
                prop_assert!(!safe.contains("  ") && safe.trim() == safe);
            }
        }
    }
}
