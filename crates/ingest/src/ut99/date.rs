//! The dates of UT99.

use crate::text;
use evenkeel_model::Timestamp;

/// Reads `2019.07.08.14.16.47.663.-4.0`: local time to the millisecond, and the number of hours by
/// which it is ahead of UTC.
pub fn date(text: &[u8]) -> Option<Timestamp> {
    let mut parts = text.splitn(8, |&b| b == b'.');
    let mut next = || parts.next().and_then(text::whole_number);
    let year = i16::try_from(next()?).ok()?;
    let mut small = || next().and_then(|value| i8::try_from(value).ok());
    let (month, day, hour, minute, second) = (small()?, small()?, small()?, small()?, small()?);
    let millis = next()?;
    let zone = parts.next().and_then(text::real).unwrap_or(0.0);
    let zone = if zone.abs() <= 14.0 { zone } else { 0.0 };
    let local = Timestamp::from_civil(year, month, day, hour, minute, second)?;
    Some(local.plus_millis(millis - (zone * 3_600_000.0) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_with_their_zone() {
        let parsed = |text: &str| date(text.as_bytes()).map(|at| (at.to_string(), at.0 % 1_000));
        let at = |text: &str, millis| Some((text.to_owned(), millis));
        assert_eq!(
            parsed("2019.07.08.14.16.47.663.-4.0"),
            at("2019-07-08T18:16:47Z", 663)
        );
        assert_eq!(
            parsed("2019.07.08.14.16.47.000.5.5"),
            at("2019-07-08T08:46:47Z", 0)
        );
        assert_eq!(
            parsed("2019.07.08.14.16.47.1"),
            at("2019-07-08T14:16:47Z", 1)
        );
        assert_eq!(
            [
                parsed("2019.07.08"),
                parsed("x"),
                parsed("2019.13.08.1.1.1.1")
            ],
            [None, None, None]
        );
    }
}
