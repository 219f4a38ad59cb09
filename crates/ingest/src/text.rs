//! Names, numbers and dates, from bytes that may be anything.

pub(crate) use evenkeel_model::names::by_name as weak_identity;
use evenkeel_model::{Kind, PlayerKey, Timestamp, ident::decode};

/// A parsed part of a line, or what is wrong with the line.
pub(super) type LineResult<T> = Result<T, &'static str>;

/// Why the last line of a log that was cut off, or is still being written, is malformed.
pub(super) const CUT_LINE: &str = "the log ends within this line";
/// Why a line without a time is malformed, in formats in which each line has one.
pub(super) const NO_TIME: &str = "the line does not begin with a time";

/// The longest name, in bytes of UTF-8; longer names are cut.
const MAX_NAME: usize = 256;

/// Decodes a name, and removes the white space around it.
pub(crate) fn name(bytes: &[u8]) -> String {
    let text = decode(bytes);
    let text = text.trim();
    let end = text.floor_char_boundary(text.len().min(MAX_NAME));
    text[..end].trim_end().to_owned()
}

/// Like [`name`], or `unnamed` where that is empty.
pub(super) fn name_or(bytes: &[u8], unnamed: &str) -> String {
    match name(bytes) {
        name if name.is_empty() => unnamed.to_owned(),
        name => name,
    }
}

/// Whether an identity is but the name, which anybody may take.
pub fn is_by_name(key: &PlayerKey, name: &str) -> bool {
    *key == key_by_name(key.kind == Kind::Bot, name.to_owned())
}

/// The key of a player who has no identity but the name.
pub fn key_by_name(bot: bool, name: String) -> PlayerKey {
    match bot {
        true => PlayerKey {
            kind: Kind::Bot,
            id: name,
        },
        false => PlayerKey {
            kind: Kind::Human,
            id: weak_identity(&name),
        },
    }
}

/// Reads a number of decimal digits, with or without a minus, and returns it with what follows.
pub(crate) fn number(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let (negative, digits) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, bytes),
    };
    let count = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    // Nine digits are more than any count in a log has, and cannot overflow.
    if count == 0 || count > 9 {
        return None;
    }
    let (digits, rest) = digits.split_at(count);
    let value = digits
        .iter()
        .fold(0i64, |value, digit| value * 10 + i64::from(digit - b'0'));
    Some((if negative { -value } else { value }, rest))
}

/// Reads a field that is a whole number and nothing else.
pub(super) fn whole_number(bytes: &[u8]) -> Option<i64> {
    number(bytes).and_then(|(value, rest)| rest.is_empty().then_some(value))
}

/// Reads the number at the beginning of a setting, or 0 where there is none, like C's `atoi`, by which
/// the games read their settings.
pub(super) fn atoi(bytes: &[u8]) -> i64 {
    let bytes = bytes.trim_ascii_start();
    let bytes = bytes.strip_prefix(b"+").unwrap_or(bytes);
    number(bytes).map_or(0, |(value, _)| value)
}

/// Reads a field that is a finite number.
pub(super) fn real(bytes: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(bytes).ok()?;
    text.trim()
        .parse()
        .ok()
        .filter(|value: &f64| value.is_finite())
}

/// Removes leading blanks.
pub(super) fn skip_blanks(bytes: &[u8]) -> &[u8] {
    let blanks = bytes.iter().take_while(|&&b| b == b' ').count();
    &bytes[blanks..]
}

/// Reads the seconds before a line, with or without decimals, and returns them in milliseconds with the
/// rest after the tab.
pub(super) fn seconds(line: &[u8]) -> Option<(u64, &[u8])> {
    let (whole, rest) = number(line)?;
    let whole = u64::try_from(whole).ok()?;
    let (mut millis, mut rest) = (whole * 1_000, rest);
    if let [b'.', after @ ..] = rest {
        let count = after.iter().take_while(|b| b.is_ascii_digit()).count();
        let (decimals, after) = after.split_at(count);
        for (digit, worth) in decimals.iter().zip([100, 10, 1]) {
            millis += u64::from(digit - b'0') * worth;
        }
        rest = after;
    }
    match rest {
        [b'\t', rest @ ..] => Some((millis, rest)),
        _ => None,
    }
}

/// Reads `2026-11-20 14:54:02`, also with single digits (`2017-6-29 21:22:7`), as UTC: the games do not
/// write their time zone.
pub(super) fn date_time(bytes: &[u8]) -> Option<Timestamp> {
    let mut parts = bytes.trim_ascii().split(|b| b"-: ".contains(b));
    let mut next = || parts.next().and_then(whole_number);
    let year = i16::try_from(next()?).ok()?;
    let mut small = || next().and_then(|value| i8::try_from(value).ok());
    let (month, day, hour, minute, second) = (small()?, small()?, small()?, small()?, small()?);
    if parts.next().is_some() {
        return None;
    }
    Timestamp::from_civil(year, month, day, hour, minute, second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(number(b"-12 x"), Some((-12, &b" x"[..])));
        assert_eq!(number(b"1234567890"), None);
        assert_eq!(number(b"-"), None);
        assert_eq!(whole_number(b"7a"), None);
        assert_eq!(
            [atoi(b" 4 "), atoi(b"= 0"), atoi(b""), atoi(b"+3")],
            [4, 0, 0, 3]
        );
        assert_eq!(real(b"1.50"), Some(1.5));
        assert_eq!([real(b"inf"), real(b"nan"), real(b"\xff")], [None; 3]);
    }

    #[test]
    fn dates() {
        let parsed = |text: &str| date_time(text.as_bytes()).map(|at| at.to_string());
        assert_eq!(
            parsed("2026-11-20 14:54:02").as_deref(),
            Some("2026-11-20T14:54:02Z")
        );
        assert_eq!(
            parsed("2017-6-29 21:22:7").as_deref(),
            Some("2017-06-29T21:22:07Z")
        );
        for wrong in [
            "",
            "2017-6-29",
            "2017-13-1 0:0:0",
            "2017-6-29 1:2:3 4",
            "a-b-c d:e:f",
        ] {
            assert_eq!(parsed(wrong), None);
        }
    }

    #[test]
    fn names_are_bounded() {
        assert_eq!(name(b"  Ren\xe9 "), "René");
        assert_eq!(
            name(&[0x80; 9_999]).len(),
            255,
            "three bytes each, and no half one"
        );
        assert_eq!(name("é".repeat(200).as_bytes()), "é".repeat(128));
        assert_eq!(weak_identity("6091E25264DBF07E"), "name:6091E25264DBF07E");
        assert_eq!(weak_identity("Deadbeef"), "Deadbeef");
        assert_eq!(weak_identity("[U:1:12]"), "name:[U:1:12]");
        assert_eq!(
            weak_identity("name in use twice: a"),
            "name:name in use twice: a"
        );
    }
}
