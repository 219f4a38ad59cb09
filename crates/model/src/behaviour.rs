//! How reports about players' behaviour add up: each is bounded, and counts less as time passes.
//!
//! The sum is the attribute `@behaviour` of queues. What is stored is one [`BehaviourDay`] for each
//! player, reporter and day, so that a game server that reports all day takes no more room than one that
//! reports once.

use serde::{Deserialize, Serialize};

use super::{
    Timestamp,
    units::{BehaviourPoints, Count},
};

/// The highest number that `@behaviour` can have; the lowest is its negative.
pub const MOST: f64 = 100.0;
/// The half-lives after which a report counts less than a thousandth, and is deleted.
const HALF_LIVES: u32 = 10;
/// The milliseconds of a day.
const DAY: i64 = 86_400_000;

/// How reports count: the section `[behaviour]` of the configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BehaviourSettings {
    /// Which game servers may report, as patterns of their names.
    pub reporters: Vec<String>,
    /// The most points of one report, in either direction.
    pub report_limit: BehaviourPoints,
    /// The most that the reports of one game server about one player change in a day.
    pub day_limit: BehaviourPoints,
    /// The most that the reports of one game server about one player add up to.
    pub server_limit: BehaviourPoints,
    /// The time after which a report counts half.
    pub half_life_days: Count<1, 365>,
    /// How many points a player loses who is called to a match and does not come.
    pub no_show: BehaviourPoints,
}

impl Default for BehaviourSettings {
    fn default() -> Self {
        Self {
            reporters: vec!["*".to_owned()],
            report_limit: const { BehaviourPoints::of(5.0) },
            day_limit: const { BehaviourPoints::of(10.0) },
            server_limit: const { BehaviourPoints::of(30.0) },
            half_life_days: const { Count::of(14) },
            no_show: const { BehaviourPoints::of(5.0) },
        }
    }
}

/// What one reporter has reported about one player in one day.
#[derive(Clone, Debug, PartialEq)]
pub struct BehaviourDay {
    /// The identity of the human.
    pub player: String,
    /// The client that reports; empty for the daemon itself, which counts no-shows.
    pub reporter: String,
    /// The day, counted from 1970-01-01 UTC.
    pub day: i64,
    /// When the last of these reports came.
    pub at: Timestamp,
    /// The sum of the reported points, within the limit of a day.
    pub points: f64,
    /// Number of reports.
    pub reports: u32,
    /// How often the player was called to a match and did not come.
    pub no_shows: u32,
}

impl BehaviourDay {
    /// One report of these points.
    pub fn report(player: &str, reporter: &str, points: f64, at: Timestamp) -> Self {
        Self {
            player: player.to_owned(),
            reporter: reporter.to_owned(),
            day: day(at),
            at,
            points,
            reports: 1,
            no_shows: 0,
        }
    }

    /// A player who was called to a match and did not come.
    pub fn no_show(player: &str, at: Timestamp) -> Self {
        Self {
            reports: 0,
            no_shows: 1,
            ..Self::report(player, "", 0.0, at)
        }
    }

    /// Whether both belong into one entry.
    pub fn is_of(&self, other: &Self) -> bool {
        self.player == other.player && self.reporter == other.reporter && self.day == other.day
    }

    /// Adds what was reported later on the same day.
    pub fn add(&mut self, later: &Self, day_limit: f64) {
        self.at = self.at.max(later.at);
        self.points = (self.points + later.points).clamp(-day_limit, day_limit);
        self.reports = self.reports.saturating_add(later.reports);
        self.no_shows = self.no_shows.saturating_add(later.no_shows);
    }
}

/// The day of an instant, counted from 1970-01-01 UTC.
pub fn day(at: Timestamp) -> i64 {
    at.0.div_euclid(DAY)
}

impl BehaviourSettings {
    /// The first day whose reports still count.
    pub fn first_day(&self, now: Timestamp) -> i64 {
        day(now) - i64::from(self.half_life_days.get() * HALF_LIVES)
    }

    /// What all reports about one player add up to, −100 to 100; 0 without any.
    ///
    /// Each entry is halved in each half-life since its last report. What one game server has reported
    /// adds up to at most `server_limit`, so that no server can shut out a player alone.
    pub fn score<'a>(
        &self,
        days: impl IntoIterator<Item = &'a BehaviourDay>,
        now: Timestamp,
    ) -> f64 {
        let first = self.first_day(now);
        let mut servers: Vec<(&str, f64)> = Vec::new();
        let mut own = 0.0;
        for one in days.into_iter().filter(|one| one.day >= first) {
            let counts = self.remains(one.at, now);
            own -= f64::from(one.no_shows) * self.no_show.get() * counts;
            match servers.iter_mut().find(|(name, _)| *name == one.reporter) {
                Some((_, sum)) => *sum += one.points * counts,
                None => servers.push((&one.reporter, one.points * counts)),
            }
        }
        let limit = self.server_limit.get();
        let reported: f64 = servers
            .iter()
            .map(|(_, sum)| sum.clamp(-limit, limit))
            .sum();
        (own + reported).clamp(-MOST, MOST)
    }

    /// How much of a report is left, 0 to 1. A report of the future counts in full.
    fn remains(&self, at: Timestamp, now: Timestamp) -> f64 {
        let half_life = f64::from(self.half_life_days.get()) * DAY as f64;
        let age = now.0.saturating_sub(at.0).max(0) as f64;
        libm::exp2(-age / half_life)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000 * DAY + 5);

    fn ago(days: i64) -> Timestamp {
        NOW.plus_millis(-days * DAY)
    }

    fn score(days: &[BehaviourDay]) -> f64 {
        BehaviourSettings::default().score(days, NOW)
    }

    #[test]
    fn a_report_counts_half_after_each_half_life_and_is_gone_after_ten() {
        assert_eq!(score(&[]), 0.0);
        let report = |at| BehaviourDay::report("ann", "ctf", -4.0, at);
        assert_eq!(score(&[report(NOW)]), -4.0);
        assert_eq!(score(&[report(ago(14))]), -2.0);
        assert_eq!(score(&[report(ago(28)), report(ago(14))]), -3.0);
        assert_eq!(score(&[report(ago(141))]), 0.0);
        // A clock that was set back makes no report count more than in full.
        assert_eq!(score(&[report(ago(-3))]), -4.0);
        assert_eq!(score(&[report(Timestamp(i64::MAX))]), -4.0);
        assert_eq!(score(&[report(Timestamp(i64::MIN))]), 0.0);
    }

    #[test]
    fn one_hostile_server_reaches_its_limit_and_several_the_bounds() {
        let server = |name: &str, points: f64| {
            let of_day = |day| BehaviourDay::report("ann", name, points, ago(day));
            (0..10).map(of_day).collect::<Vec<_>>()
        };
        assert_eq!(score(&server("evil", -10.0)), -30.0);
        let mut both = server("evil", -10.0);
        both.extend(server("kind", 1.0));
        let kind = score(&server("kind", 1.0));
        assert!((score(&both) - (kind - 30.0)).abs() < 1e-9);
        let many: Vec<_> = (0..50)
            .flat_map(|n| server(&n.to_string(), -10.0))
            .collect();
        assert_eq!(score(&many), -MOST);
    }

    #[test]
    fn a_day_adds_up_within_its_limit() {
        let mut one = BehaviourDay::report("ann", "ctf", -4.0, ago(1));
        let more = BehaviourDay::report("ann", "ctf", -4.0, ago(1).plus_millis(1));
        assert!(one.is_of(&more));
        one.add(&more, 10.0);
        one.add(&more, 10.0);
        assert_eq!((one.points, one.reports, one.at), (-10.0, 3, more.at));
        one.add(&BehaviourDay::report("ann", "ctf", 5.0, ago(1)), 10.0);
        assert_eq!((one.points, one.reports), (-5.0, 4));
    }

    #[test]
    fn no_shows_count_as_the_operator_says() {
        let twice = [
            BehaviourDay::no_show("ann", NOW),
            BehaviourDay::no_show("ann", ago(14)),
        ];
        assert_eq!(score(&twice), -7.5);
        let settings = BehaviourSettings {
            no_show: BehaviourPoints::of(0.0),
            ..BehaviourSettings::default()
        };
        assert_eq!(settings.score(&twice, NOW), 0.0);
    }
}
