//! Words of a line to the daemon.

/// A name told beside an identity is cut to so many bytes, so that a line stays below 1,024.
const MAX_NAME: usize = 128;

/// One argument, in quotes where it needs them. What no line may hold becomes a `?`.
pub(super) fn word(text: &str) -> String {
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && c != '"' && c != '\\';
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push('?'),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A name to go by, as one argument.
pub(super) fn name(text: &str) -> String {
    word(&text[..text.floor_char_boundary(MAX_NAME.min(text.len()))])
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::protocol::Request;

    #[test]
    fn quotes_where_needed() {
        assert_eq!(word("Sarge"), "Sarge");
        assert_eq!(word("Boring John"), "\"Boring John\"");
        assert_eq!(word("a\"b\\c;d\n"), "\"a\\\"b\\\\c;d?\"");
        assert_eq!(word(""), "\"\"");
        assert_eq!(name(&"é".repeat(100)), "é".repeat(64));
    }

    proptest! {
        #[test]
        fn the_daemon_reads_what_was_meant(id in "[^\\s\\p{C}](\\PC{0,40}[^\\s\\p{C}])?", called in "\\PC{0,200}") {
            let line = format!("JOIN {} name={} team=1", word(&id), name(&called));
            prop_assert!(line.len() < 1_024);
            let Ok(Some(Request::Join(join))) = Request::parse(Bytes::from(line)) else {
                return Err(TestCaseError::fail("not a JOIN"));
            };
            prop_assert_eq!(join.id.text(), id);
            prop_assert_eq!(join.team, Some(1));
        }
    }
}
