//! The time zone in which a log states its dates, where it states none itself.

use jiff::{civil, tz::TimeZone};

use crate::model::Timestamp;

/// A time zone, with the name by which it is chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct LogZone {
    name: String,
    zone: TimeZone,
}

impl Default for LogZone {
    fn default() -> Self {
        Self {
            name: "UTC".to_owned(),
            zone: TimeZone::UTC,
        }
    }
}

impl LogZone {
    /// The time zone of this machine.
    pub fn of_machine() -> Self {
        let zone = TimeZone::system();
        let name = zone.iana_name().unwrap_or("local").to_owned();
        Self { name, zone }
    }

    /// The time zone of this name, such as `Europe/Berlin`, `UTC`, `+10:00` or `local`, which is the machine's.
    ///
    /// # Errors
    /// Returns what is wrong with the name.
    pub fn named(name: &str) -> Result<Self, String> {
        let zone = match name {
            "local" => return Ok(Self::of_machine()),
            "UTC" | "Z" => return Ok(Self::default()),
            _ => of_offset(name).or_else(|| TimeZone::get(name).ok()),
        };
        let wrong = || {
            format!(
                "no time zone is called {name} here: expected a name such as Europe/Berlin, +10:00, UTC or local"
            )
        };
        Ok(Self {
            name: name.to_owned(),
            zone: zone.ok_or_else(wrong)?,
        })
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The instant at which a clock in this time zone shows what `printed` is in UTC. Of an hour that comes twice, the first
    /// one, unless that is before `after` and the second one is not; one that is left out counts as the next one.
    pub(super) fn instant(&self, printed: Timestamp, after: Option<Timestamp>) -> Timestamp {
        let shown = jiff::Timestamp::from_millisecond(printed.0).ok();
        let shown: Option<civil::DateTime> = shown.map(|at| TimeZone::UTC.to_datetime(at));
        let ambiguous = shown.map(|shown| self.zone.to_ambiguous_timestamp(shown));
        let millis = |at: jiff::Timestamp| Timestamp(at.as_millisecond());
        let first = ambiguous.and_then(|at| at.compatible().ok()).map(millis);
        let second = ambiguous.and_then(|at| at.later().ok()).map(millis);
        match (first, second, after) {
            (Some(first), Some(second), Some(after)) if first < after && after <= second => second,
            _ => first.unwrap_or(printed),
        }
    }
}

/// The time zone that is always this far ahead of UTC: `+10`, `-03:30`, `+5:30` or `+1000`.
fn of_offset(name: &str) -> Option<TimeZone> {
    let (sign, rest) = match name.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = match (rest.split_once(':'), rest.len()) {
        (Some((hours, minutes)), _) if minutes.len() == 2 => (hours, minutes),
        (None, 4) => rest.split_at_checked(2)?,
        (None, _) => (rest, "00"),
        _ => return None,
    };
    let number = |digits: &str| {
        let is_plain = matches!(digits.len(), 1 | 2) && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse::<i32>().ok().filter(|_| is_plain)
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let fits = hours <= 14 && minutes < 60;
    let seconds = sign * (hours * 3_600 + minutes * 60);
    let offset = jiff::tz::Offset::from_seconds(seconds).ok();
    offset.filter(|_| fits).map(TimeZone::fixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(zone: &str, printed: &str) -> String {
        let zone = LogZone::named(zone).unwrap();
        zone.instant(Timestamp::parse(printed).unwrap(), None)
            .to_string()
    }

    #[test]
    fn an_hour_that_comes_twice_goes_on_after_what_came_before() {
        let Ok(zone) = LogZone::named("Europe/Berlin") else {
            return; // the machine has no time zones
        };
        let at = |text: &str| Timestamp::parse(text).unwrap();
        for (printed, after, instant) in [
            (
                "2026-10-25T02:20:00",
                "2026-10-25T00:10:00Z",
                "2026-10-25T00:20:00Z",
            ),
            (
                "2026-10-25T02:20:00",
                "2026-10-25T00:25:00Z",
                "2026-10-25T01:20:00Z",
            ),
            (
                "2026-10-25T02:20:00",
                "2026-10-25T09:00:00Z",
                "2026-10-25T00:20:00Z",
            ),
            (
                "2026-10-25T04:00:00",
                "2026-10-25T09:00:00Z",
                "2026-10-25T03:00:00Z",
            ),
            (
                "2026-03-29T02:30:00",
                "2026-03-29T00:00:00Z",
                "2026-03-29T01:30:00Z",
            ),
        ] {
            assert_eq!(zone.instant(at(printed), Some(at(after))), at(instant));
        }
    }

    #[test]
    fn local_times_of_offsets() {
        assert_eq!(
            instant("+10:00", "2026-11-29T15:41:09"),
            "2026-11-29T05:41:09Z"
        );
        assert_eq!(
            instant("-0330", "2026-11-29T23:00:00"),
            "2026-11-30T02:30:00Z"
        );
        assert_eq!(
            instant("+5:30", "2026-11-29T15:41:09"),
            "2026-11-29T10:11:09Z"
        );
        assert_eq!(
            instant("UTC", "2026-11-29T15:41:09"),
            "2026-11-29T15:41:09Z"
        );
    }

    #[test]
    fn names_that_are_no_zone() {
        for wrong in [
            "",
            "+",
            "+25",
            "+10:99",
            "+1:2:3:4:5",
            "+5:3",
            "+:30",
            "+105",
            "Nowhere/Else",
            "+1000000",
        ] {
            assert!(LogZone::named(wrong).is_err(), "{wrong}");
        }
    }
}
