//! What is usual in a queue at each hour of the week.

use maud::{Markup, html};
use serde::Serialize;

use super::{HOUR, wait_of};
use crate::{
    model::Timestamp,
    store::QueueHour,
    web::{
        pages::parts::PageTable,
        words::{self, known},
    },
};

/// The hours of a week.
const WEEK: i64 = 168;
/// From how many weeks it is computed.
pub(super) const WEEKS: i64 = 4;
/// The days, from Monday on.
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// The hour of the week, counted from Monday, at the beginning of 1970, which was a Thursday.
const THURSDAY: i64 = 72;

/// What is usual in one hour of the week, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct UsualHour {
    /// The hour of the week, from 0, Monday at midnight.
    hour: i64,
    /// The mean number of matches.
    matches: f64,
    /// The mean wait of the matched tickets, in seconds.
    wait: Option<f64>,
}

/// What is usual in each hour of the week.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct UsualWeek(Vec<UsualHour>);

impl UsualWeek {
    /// The means over the last weeks before the hour `now`, at most [`WEEKS`]; `hours` has those that are known. Empty
    /// before a queue was used for a day.
    pub(super) fn of(hours: &[QueueHour], now: i64) -> Self {
        let past = || {
            hours
                .iter()
                .filter(|own| (now - WEEKS * WEEK..now).contains(&own.number()))
        };
        let Some(first) = past()
            .map(QueueHour::number)
            .min()
            .filter(|first| now - first >= 24)
        else {
            return Self(Vec::new());
        };
        let usual = (0..WEEK).filter_map(|hour| {
            // How often this hour of the week has come since the queue was used first.
            let times = (first..now)
                .filter(|own| hour_of_week(*own) == hour)
                .count();
            let own = || past().filter(|own| hour_of_week(own.number()) == hour);
            let matched = own().map(|own| own.matched).sum();
            let waited: i64 = own().map(|own| own.waited).sum();
            let matches: i64 = own().map(|own| own.matches).sum();
            (times > 0).then(|| UsualHour {
                hour,
                matches: words::rounded(matches as f64 / times as f64, 2),
                wait: words::mean(waited as f64 / 1_000.0, matched)
                    .map(|wait| words::rounded(wait, 1)),
            })
        });
        Self(usual.collect())
    }

    fn at(&self, hour: i64) -> Option<UsualHour> {
        self.0.iter().copied().find(|own| own.hour == hour)
    }

    /// What to expect in the hour after `now`, and a table of the whole week.
    pub(super) fn body(&self, queue: &str, now: Timestamp) -> Markup {
        if self.0.is_empty() {
            return html! {};
        }
        let next = self.at(hour_of_week(now.0.div_euclid(HOUR) + 1));
        let hours: Vec<i64> = (0..24).collect();
        let mut table = PageTable::of(&format!("Usual week of {queue}", queue = queue), &hours)
            .name("Hour", |hour| format!("{hour:02}"));
        for (day, name) in (0..).zip(DAYS) {
            table = table.num(name, move |hour| {
                known(
                    self.at(day * 24 + hour).map(|own| own.matches),
                    words::number,
                )
            });
        }
        html! {
            @if let Some(next) = next {
                p {
                    (mark!("In the next hour, {0} matches are usual{1}.",
                        { (words::number(next.matches)) },
                        { @if let Some(wait) = next.wait { (mark!(", after waits of {0}", { (wait_of(wait)) })) } }
                    ))
                }
            }
            details {
                summary { "Matches in each hour of the week" }
                (table)
                p.note { "The mean of the last four weeks at most, by the hour in UTC. A dash \
         is an hour that has not come yet." }
            }
        }
    }
}

/// The hour of the week, from Monday at midnight, of an hour since 1970.
fn hour_of_week(hour: i64) -> i64 {
    (hour + THURSDAY).rem_euclid(WEEK)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hour(hour: i64, matches: i64) -> QueueHour {
        QueueHour {
            queue: "q".into(),
            began: Timestamp(hour * HOUR),
            matched: 2 * matches,
            cancelled: 0,
            expired: 0,
            waited: 60_000 * matches,
            longest: 0,
            matches,
            penalty: 0.0,
            unready: 0,
        }
    }

    #[test]
    fn an_hour_of_the_week_is_counted_from_monday() {
        // 2026-11-23 was a Monday.
        let monday = 1_795_392_000_000 / HOUR;
        assert_eq!(hour_of_week(monday), 0);
        assert_eq!(hour_of_week(monday - 1), 167);
    }

    #[test]
    fn hours_without_matches_count_too() {
        let now = 100 * WEEK;
        let hours = [hour(now - 2 * WEEK, 4), hour(now - 1, 3), hour(now, 50)];
        let week = UsualWeek::of(&hours, now);
        assert_eq!(week.0.len(), WEEK as usize);
        let same = week.at(hour_of_week(now)).unwrap();
        assert_eq!(
            (same.matches, same.wait),
            (2.0, Some(30.0)),
            "four in two weeks"
        );
        let last = week.at(hour_of_week(now - 1)).unwrap();
        assert_eq!(last.matches, 1.5);
        let quiet = week.at(hour_of_week(now + 5)).unwrap();
        assert_eq!((quiet.matches, quiet.wait), (0.0, None));
        assert!(
            UsualWeek::of(&[hour(now - 3, 1)], now).0.is_empty(),
            "of three hours"
        );
    }
}
