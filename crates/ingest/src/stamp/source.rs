//! What a stamp has besides its time: who wrote the line.

use crate::text::skip_blanks;

/// The longest name of a host, a program or a container, in bytes.
const MAX_NAME: usize = 128;

/// What comes after the name of a container, `name-1  | `, as Docker Compose writes it.
pub(super) fn container(line: &[u8]) -> Option<&[u8]> {
    let (name, rest) = word(line)?;
    let rest = skip_blanks(rest);
    let is_name = name.iter().all(is_of_name) && !name.iter().all(u8::is_ascii_digit);
    rest.strip_prefix(b"| ").filter(|_| is_name)
}

/// Whether a line is one of those that journalctl writes about the journal itself.
pub(super) fn is_of_journal(line: &[u8]) -> bool {
    const STARTS: [&[u8]; 5] = [
        b"-- Journal begins",
        b"-- Logs begin",
        b"-- Boot ",
        b"-- Reboot",
        b"-- No entries",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
}

/// Removes `host program[pid]: `, `program[pid]: `, `host program: ` and `stdout F `.
pub(super) fn skip(line: &[u8]) -> &[u8] {
    for stream in [&b"stdout "[..], b"stderr "] {
        if let Some([b'F' | b'P', b' ', rest @ ..]) = line.strip_prefix(stream) {
            return rest;
        }
    }
    let Some((first, rest)) = word(line) else {
        return line;
    };
    if is_program(first, true) {
        return one_blank(rest);
    }
    if !first.iter().all(is_of_name) {
        return line;
    }
    match word(rest.get(1..).unwrap_or_default()) {
        Some((second, rest)) if is_program(second, false) => one_blank(rest),
        _ => line,
    }
}

/// Whether a word is `program[pid]:`, or `program:` if `needs_number` is false.
fn is_program(word: &[u8], needs_number: bool) -> bool {
    let Some(word) = word.strip_suffix(b":") else {
        return false;
    };
    let name = match word.strip_suffix(b"]") {
        Some(inner) => {
            let Some(open) = inner.iter().rposition(|&b| b == b'[') else {
                return false;
            };
            let digits = &inner[open + 1..];
            if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
                return false;
            }
            &inner[..open]
        }
        None if needs_number => return false,
        None => word,
    };
    !name.is_empty() && !name.iter().any(|b| b":\\\"<>".contains(b))
}

/// The first word of a line, and the rest, which begins with a blank.
fn word(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let head = &line[..line.len().min(MAX_NAME)];
    let end = memchr::memchr(b' ', head)?;
    (end > 0).then(|| line.split_at(end))
}

fn is_of_name(b: &u8) -> bool {
    b.is_ascii_alphanumeric() || b"._-".contains(b)
}

fn one_blank(rest: &[u8]) -> &[u8] {
    rest.strip_prefix(b" ").unwrap_or(rest)
}
