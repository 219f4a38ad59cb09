//! How much each part of a game's time counts.

use crate::domain::{MatchRecord, Span};

/// How the time on a team becomes a share of the game.
///
/// Where the record has the times of the points, the score says what each part of the game was worth, and all
/// time counts the same: the score is a Brownian motion (Stern 1994), which drifts as much in the last minute as in the
/// first. Otherwise early time counts more, since many games are decided long before they end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TimeCount {
    /// All time counts the same.
    Evenly,
    /// Early time counts more, by the usual length of such games in milliseconds.
    EarlyMore(u64),
}

impl TimeCount {
    /// How time counts in this game; `usual` is the usual length of such games in milliseconds.
    pub fn of(record: &MatchRecord, usual: u64) -> Self {
        match has_times_of_points(record) {
            true => Self::Evenly,
            false => Self::EarlyMore(usual),
        }
    }

    /// The share of a game of `millis`, 0 to 1.
    pub fn share(self, span: Span, millis: u64) -> f64 {
        match self {
            Self::EarlyMore(usual) => span.early_share(millis, usual),
            Self::Evenly if millis == 0 => 1.0, // all of it is at one time
            Self::Evenly => span.millis() as f64 / millis as f64,
        }
    }
}

/// Whether there were points, and the record has the times of at least nine in ten. Some games take a point from a team
/// whose player leaves, and their logs do not say when.
fn has_times_of_points(record: &MatchRecord) -> bool {
    let mut missing = record.scores.clone();
    for event in &record.events {
        if let Some(missing) = missing.get_mut(usize::from(event.team)) {
            *missing -= event.points;
        }
    }
    let sum = |points: &[f64]| points.iter().map(|points| points.abs()).sum::<f64>();
    let all = sum(&record.scores);
    all > 0.0 && sum(&missing) <= 0.1 * all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Outcome, ScoreEvent, Timestamp};

    fn record(scores: [f64; 2], events: &[(u64, u8)]) -> MatchRecord {
        let event = |&(at, team): &(u64, u8)| ScoreEvent {
            at,
            team,
            points: 1.0,
            by: None,
        };
        MatchRecord {
            server: String::new(),
            start: Timestamp(0),
            end: Timestamp(1_000),
            clock: None,
            map: String::new(),
            game_type: "ctf".into(),
            mode: String::new(),
            mutators: vec![],
            scores: scores.to_vec(),
            outcome: Outcome::Undecided,
            participants: vec![],
            events: events.iter().map(event).collect(),
        }
    }

    #[test]
    fn time_counts_evenly_where_the_times_of_points_are_known() {
        let of = |scores, events: &[(u64, u8)]| TimeCount::of(&record(scores, events), 1_000);
        let early = TimeCount::EarlyMore(1_000);
        assert_eq!(of([2.0, 1.0], &[(1, 0), (2, 1), (3, 0)]), TimeCount::Evenly);
        assert_eq!(of([2.0, 1.0], &[(1, 0), (2, 1)]), early, "one is missing");
        let frags: Vec<(u64, u8)> = (0..11).map(|at| (at, 0)).collect();
        assert_eq!(of([10.0, 0.0], &frags), TimeCount::Evenly, "one too many");
        assert_eq!(of([2.0, 1.0], &[]), early, "only the final score");
        assert_eq!(of([0.0, 0.0], &[]), early, "no points");
        assert_eq!(
            of([0.0, 0.0], &[(1, 7)]),
            early,
            "a team that does not exist"
        );
    }

    #[test]
    fn the_share_of_a_stay() {
        let share = |time: TimeCount, from, to, millis| time.share(Span { from, to }, millis);
        let early = TimeCount::EarlyMore(1_000);
        assert_eq!(share(early, 0, 1_000, 1_000), 1.0);
        assert!((share(early, 0, 500, 1_000) - 2.0 / 3.0).abs() < 1e-12);
        assert!((share(early, 500, 1_000, 1_000) - 1.0 / 3.0).abs() < 1e-12);
        // The factor does not depend on how far this game exceeded the usual length.
        let (first, second) = (share(early, 0, 500, 4_000), share(early, 500, 1_000, 4_000));
        assert!((first / second - 2.0).abs() < 1e-12);
        assert_eq!(share(TimeCount::Evenly, 0, 250, 1_000), 0.25);
        assert_eq!(share(TimeCount::Evenly, 750, 1_000, 1_000), 0.25);
        for time in [early, TimeCount::Evenly] {
            assert_eq!(share(time, 0, 0, 0), 1.0, "no time at all");
        }
    }
}
