//! Instants, as in logs and databases, and pauses that grow after failures.

use std::{fmt, ops::RangeInclusive, time::Duration};

use serde::{Deserialize, Serialize};

/// A day in milliseconds.
pub const DAY: i64 = 86_400_000;

/// Milliseconds since 1970-01-01 00:00 UTC. Logs without a time zone are read as UTC.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Timestamp(pub i64);

/// By how many milliseconds clocks may differ.
const TOLERANCE: i64 = 5 * 60 * 1_000;

impl Timestamp {
    /// The times of the years 0 to 9998: those that every calendar can write with four digits.
    pub const YEARS: RangeInclusive<Self> = Self(-62_167_219_200_000)..=Self(253_370_764_799_999);

    /// The instant of a date and time in UTC; `None` if there is no such date.
    ///
    /// `month` and `day` count from 1; years are 1900 to 9999, which bounds hostile input.
    pub fn from_civil(
        year: i16,
        month: i8,
        day: i8,
        hour: i8,
        minute: i8,
        second: i8,
    ) -> Option<Self> {
        if !(1900..=9999).contains(&year) {
            return None;
        }
        let civil = jiff::civil::DateTime::new(year, month, day, hour, minute, second, 0).ok()?;
        let zoned = jiff::tz::Offset::UTC.to_timestamp(civil).ok()?;
        Some(Self(zoned.as_millisecond()))
    }

    /// Parses a text such as `2026-11-20`, `2026-11-20T15:30:00` (UTC) or
    /// `2026-11-20T15:30:00+01:00`; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let instant = text.parse::<jiff::Timestamp>().ok().or_else(|| {
            let civil: jiff::civil::DateTime = text.parse().ok()?;
            jiff::tz::Offset::UTC.to_timestamp(civil).ok()
        });
        Some(Self(instant?.as_millisecond()))
    }

    /// Whether this is later than `now` by more than clocks differ.
    pub fn is_ahead_of(self, now: Self) -> bool {
        self.0.saturating_sub(now.0) > TOLERANCE
    }

    /// The instant to the millisecond, as text that [`Timestamp::parse`] reads; `None` if it is
    /// outside the calendar's range.
    pub fn exact(self) -> Option<String> {
        let instant = jiff::Timestamp::from_millisecond(self.0).ok()?;
        Some(instant.to_string())
    }

    /// This instant plus `millis`; saturates at the limits of an `i64`.
    pub fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }
}

/// Formats the instant to the second, such as `2026-11-20T15:28:36Z`; outside the calendar's range,
/// as a number of milliseconds.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(instant) => write!(f, "{instant:.0}"),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

/// How long to wait after failures in a row: a first pause, then twice as long each time, up to the longest.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
}

impl Backoff {
    /// Pauses between these two.
    pub const fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest }
    }

    /// The pause after this many failures in a row, counted from 1.
    pub fn after(self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(u32::BITS - 1);
        self.first.saturating_mul(1 << doublings).min(self.longest)
    }

    /// The pause after this many failures, of which `part`, 0 to 1 and drawn at random, shortens it by up to a half: so
    /// many who failed at the same moment do not try again at the same moment.
    pub fn spread(self, failures: u32, part: f64) -> Duration {
        let part = part.clamp(0.0, 1.0);
        // A part that is no number is none.
        let part = if part.is_nan() { 0.0 } else { part };
        self.after(failures).mul_f64(1.0 - 0.5 * part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_civil_date_is_a_time_if_it_exists() {
        let at = Timestamp::from_civil(2026, 11, 20, 15, 28, 36);
        assert_eq!(at, Some(Timestamp(1_795_188_516_000)));
        assert_eq!(
            at.map(|t| t.to_string()).as_deref(),
            Some("2026-11-20T15:28:36Z")
        );
        assert_eq!(Timestamp::from_civil(2026, 2, 30, 0, 0, 0), None);
        assert_eq!(Timestamp::from_civil(1, 1, 1, 0, 0, 0), None);
        assert_eq!(Timestamp::parse("2026-11-20T15:28:36"), at);
        assert_eq!(Timestamp::parse("2026-11-20T16:28:36+01:00"), at);
        assert_eq!(Timestamp::parse("yesterday"), None);
        for at in [0, 1_795_188_516_007, -1, i64::MAX] {
            let text = Timestamp(at).exact();
            let back = text.as_deref().and_then(Timestamp::parse);
            assert_eq!(back, text.is_some().then_some(Timestamp(at)));
        }
    }

    const PAUSES: Backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(30));

    #[test]
    fn a_pause_doubles_up_to_the_longest() {
        let table = [
            (0, 500),
            (1, 500),
            (2, 1_000),
            (6, 16_000),
            (7, 30_000),
            (8, 30_000),
            (u32::MAX, 30_000),
        ];
        for (failures, millis) in table {
            assert_eq!(PAUSES.after(failures).as_millis(), millis, "{failures}");
        }
        let endless = Backoff::new(Duration::MAX, Duration::MAX);
        assert_eq!(endless.after(u32::MAX), Duration::MAX);
    }

    #[test]
    fn chance_shortens_a_pause_by_up_to_a_half() {
        let table = [
            (0.0, 500),
            (0.5, 375),
            (1.0, 250),
            (7.0, 250),
            (-1.0, 500),
            (f64::NAN, 500),
        ];
        for (part, millis) in table {
            assert_eq!(PAUSES.spread(1, part).as_millis(), millis, "{part}");
        }
    }
}
