//! Times of day in tables: texts in UTC such as `2026-11-20 15:28:36`, with milliseconds if there are any. They sort as the
//! times do, and both databases compute with them.

use std::fmt::Write as _;

use crate::model::Timestamp;

/// The text of a time. What is earlier or later than any that can be written becomes the first or the last one: conditions
/// such as "before" then still hold.
pub(super) fn text(at: Timestamp) -> String {
    let at = at.clamp(*Timestamp::YEARS.start(), *Timestamp::YEARS.end());
    let mut text = String::with_capacity(23);
    if let Ok(instant) = jiff::Timestamp::from_millisecond(at.0) {
        let civil = jiff::tz::Offset::UTC.to_datetime(instant);
        let (date, time) = (civil.date(), civil.time());
        let (year, month, day) = (date.year(), date.month(), date.day());
        let (hour, minute, second) = (time.hour(), time.minute(), time.second());
        let written = write!(
            text,
            "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"
        );
        let millis = time.millisecond();
        let fraction = match millis {
            0 => Ok(()),
            _ => write!(text, ".{millis:03}"),
        };
        debug_assert!(written.and(fraction).is_ok(), "a string can grow");
    }
    text
}

/// The time of a text in this form; `None` for any other text.
pub(super) fn read(text: &str) -> Option<Timestamp> {
    let is_digit = |at: usize, byte: u8| match at {
        4 | 7 => byte == b'-',
        10 => byte == b' ',
        13 | 16 => byte == b':',
        19 => byte == b'.',
        _ => byte.is_ascii_digit(),
    };
    let bytes = text.as_bytes();
    let has_form = bytes
        .iter()
        .enumerate()
        .all(|(at, byte)| is_digit(at, *byte));
    if !has_form || !matches!(bytes.len(), 19 | 23) {
        return None;
    }
    let civil: jiff::civil::DateTime = text.parse().ok()?;
    let instant = jiff::tz::Offset::UTC.to_timestamp(civil).ok()?;
    Some(Timestamp(instant.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RANGE: (i64, i64) = (Timestamp::YEARS.start().0, Timestamp::YEARS.end().0);

    #[test]
    fn a_time_is_a_text_to_the_millisecond() {
        for (at, expected) in [
            (0, "1970-01-01 00:00:00"),
            (1_795_188_516_000, "2026-11-20 15:28:36"),
            (1_795_188_516_007, "2026-11-20 15:28:36.007"),
            (-1, "1969-12-31 23:59:59.999"),
            (RANGE.0, "0000-01-01 00:00:00"),
            (RANGE.1, "9998-12-31 23:59:59.999"),
        ] {
            assert_eq!(text(Timestamp(at)), expected);
            assert_eq!(read(expected), Some(Timestamp(at)));
        }
        assert_eq!(text(Timestamp(i64::MIN)), "0000-01-01 00:00:00");
        assert_eq!(text(Timestamp(i64::MAX)), "9998-12-31 23:59:59.999");
        for other in [
            "",
            "2026-11-20",
            "2026-11-20T15:28:36",
            "2026-11-20 15:28:36.7",
            "2026-11-20 15:28:36Z",
            "2026-11-31 15:28:36",
            "1795188516000",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn texts_sort_as_the_times_do(one in RANGE.0..=RANGE.1, more in 0..5_000_i64) {
            let other = (one + more).min(RANGE.1);
            let [first, second] = [one, other].map(|at| text(Timestamp(at)));
            prop_assert_eq!(first.cmp(&second), one.cmp(&other));
            prop_assert_eq!(read(&first), Some(Timestamp(one)));
        }
    }
}
