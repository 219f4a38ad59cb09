//! Hours of a queue, and what is usual in it.

use crate::pages::queues::*;

#[test]
fn hours_add_up() {
    let hour = |hour, matched, waited, matches| QueueHour {
        queue: "q".into(),
        began: Timestamp(hour * HOUR),
        matched,
        cancelled: 1,
        expired: 0,
        waited,
        longest: waited,
        matches,
        penalty: 0.5 * matches as f64,
        unready: 1,
    };
    let rows = [hour(10, 2, 30_000, 1), hour(12, 0, 0, 0)];
    let now = (QueueNow::default(), 10 + HOURS - 1);
    let line = protocol::reply::QueueLine {
        name: "q".into(),
        tickets: 0,
        players: 0,
        wait: None,
    };
    let summary = QueueSummary::new(line, &rows, now, (0, Vec::new()));
    assert_eq!(summary.hours.len(), HOURS as usize);
    assert_eq!(summary.hours[0].from, Timestamp(10 * HOUR));
    assert_eq!(summary.hours[1].line, QueueTotals::default());
    assert_eq!(summary.day.mean_wait, Some(15.0));
    assert_eq!(summary.day.mean_penalty, Some(0.5));
    assert_eq!((summary.day.matched, summary.day.cancelled), (2, 2));
    assert_eq!(summary.day.unready, 2);
    assert_eq!(summary.hours[2].line.mean_wait, None);
}

#[test]
fn the_cost_of_a_rule_is_read_from_its_lines() {
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    let matches: [Vec<String>; 2] = [
        lines(&[
            "penalty 1.250; no chance is predicted; the oldest ticket waited 3.0 s; seed 1",
            "tier spread: tier ranges from 7 to 9; 1 apart is allowed; violation 1.000, cost 1.250",
            "party: holds",
        ]),
        lines(&["tier spread: tier ranges from 7 to 8; 1 apart is allowed"]),
    ];
    let found = penalty("tier spread", &matches);
    assert_eq!(
        (found.violated, found.mean_cost, found.highest),
        (1, 0.625, 1.25)
    );
    let other = penalty("party", &matches);
    assert_eq!((other.violated, other.mean_cost), (0, 0.0));
}

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
