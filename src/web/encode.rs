//! Texts as parts of addresses and of XML.

use std::fmt::Write;

/// Percent-encodes a text so that it is one part of a path, or a value in a query.
pub(super) fn path_part(text: &str) -> String {
    let mut part = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'~' => part.push(byte.into()),
            // Two dots would lead to another folder.
            b'.' if text != "." && text != ".." => part.push('.'),
            _ => {
                let _ = write!(part, "%{byte:02X}");
            }
        }
    }
    part
}

/// A text without the characters that XML cannot contain.
pub(super) fn without_controls(text: &str) -> String {
    let fits = |c: &char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars().filter(fits).collect()
}

/// Escapes a text for XML, and leaves out the characters that XML cannot contain.
pub(super) fn xml(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in without_controls(text).chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            _ => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_addresses_cannot_leave_their_place() {
        assert_eq!(
            path_part("baseoa.ctf+g_instantgib"),
            "baseoa.ctf%2Bg_instantgib"
        );
        assert_eq!(
            path_part("../a?b#c d\"<é"),
            "..%2Fa%3Fb%23c%20d%22%3C%C3%A9"
        );
        assert_eq!(path_part(".."), "%2E%2E");
        assert_eq!(
            xml("<a href='x'>&\"\u{0}\u{ffff}"),
            "&lt;a href=&#39;x&#39;&gt;&amp;&quot;"
        );
    }
}
