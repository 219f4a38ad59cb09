//! The reports about players' behaviour in memory, so that a round of a queue never waits for the disk.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use parking_lot::RwLock;

use crate::{
    model::{
        Kind, PlayerKey, Timestamp,
        behaviour::{BehaviourDay, BehaviourSettings},
        merge::CountsAs,
        names::ClanTags,
        rulebook::{PatternError, Patterns},
    },
    store::{BehaviourReport, BehaviourRows, Store, StoreError},
};

/// The most reports of one game server in a day. It bounds what a hostile one can write to the disk.
const MOST_REPORTS: u32 = 10_000;
/// The reporter of all connections that are no configured client: they share its limits.
pub const ANYONE: &str = "*";

/// Why a report was not stored.
#[derive(Debug, thiserror::Error)]
pub enum BehaviourError {
    /// The configuration does not let this game server report.
    #[error("this game server may not report behaviour")]
    NotAReporter,
    /// The points of one report are bounded.
    #[error("the points must be from -{0} to {0}")]
    TooManyPoints(f64),
    /// The game server has reported too often today.
    #[error("a game server may send {MOST_REPORTS} reports in a day")]
    TooManyReports,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The reports about all players. Other processes may change them: [`refresh`](Self::refresh) notices it.
pub struct BehaviourBook {
    settings: BehaviourSettings,
    reporters: Patterns,
    tags: ClanTags,
    store: Arc<Store>,
    pages: RwLock<Pages>,
}

/// What is known of the stored reports.
#[derive(Default)]
struct Pages {
    /// The version of the rows; `None` before they were read.
    version: Option<i64>,
    /// The entries of each player, under the identity that the player counts as.
    days: HashMap<String, Vec<BehaviourDay>>,
    /// The identities that count as others.
    counted: CountsAs,
    /// Number of reports of each game server on the day of its last one.
    sent: HashMap<String, (i64, u32)>,
}

impl std::fmt::Debug for BehaviourBook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BehaviourBook").finish_non_exhaustive()
    }
}

impl BehaviourBook {
    /// The reports in a store, which [`refresh`](Self::refresh) reads.
    ///
    /// # Errors
    /// Fails if `reporters` has an invalid pattern.
    pub(super) fn open(
        store: Arc<Store>,
        settings: BehaviourSettings,
        tags: ClanTags,
    ) -> Result<Self, PatternError> {
        Ok(Self {
            reporters: Patterns::new("reporters", &settings.reporters)?,
            settings,
            store,
            pages: RwLock::new(Pages {
                counted: CountsAs::new([], &tags),
                ..Pages::default()
            }),
            tags,
        })
    }

    /// Reads the reports again if they have changed since.
    pub async fn refresh(&self) -> Result<(), StoreError> {
        let known = self.pages.read().version;
        if known.is_some() && known == Some(self.store.behaviour_version().await?) {
            return Ok(());
        }
        let rows = self.store.behaviour().await?;
        let mut pages = self.pages.write();
        // A report of this process may have been added since the rows were read.
        if pages.version.is_none_or(|known| known < rows.version) {
            pages.replace(rows, &self.tags);
        }
        Ok(())
    }

    /// What the reports about a human add up to at this time, −100 to 100; 0 without any.
    pub fn score(&self, player: &str, now: Timestamp) -> f64 {
        let pages = self.pages.read();
        let days = pages.of(player);
        self.settings.score(days, now)
    }

    /// The entries about a human that still count, those of merged identities included.
    pub fn days(&self, player: &str, now: Timestamp) -> Vec<BehaviourDay> {
        let first = self.settings.first_day(now);
        let pages = self.pages.read();
        let days = pages.of(player).iter();
        days.filter(|one| one.day >= first).cloned().collect()
    }

    /// Stores what a game server of this name reports. Its client, or [`ANYONE`], is the report's reporter,
    /// whose limits count. When this returns, the report is on disk.
    ///
    /// # Errors
    /// Fails for each reason of [`BehaviourError`], and changes nothing then.
    pub async fn report(&self, name: &str, report: BehaviourDay) -> Result<(), BehaviourError> {
        if !self.reporters.matches(name) {
            return Err(BehaviourError::NotAReporter);
        }
        let most = self.settings.report_limit.get();
        if !(-most..=most).contains(&report.points) {
            return Err(BehaviourError::TooManyPoints(most));
        }
        if self.pages.read().version.is_none() {
            self.refresh().await?; // which also counts what was reported today
        }
        if !self.pages.write().may_send(&report.reporter, report.day) {
            return Err(BehaviourError::TooManyReports);
        }
        let now = report.at;
        Ok(self.write(&self.of_days(vec![report], now)).await?)
    }

    /// What is to be stored of players who were called to a match and did not come. Once that is done,
    /// [`is_written`](Self::is_written) takes it over.
    pub fn no_shows(&self, players: &[String], now: Timestamp) -> BehaviourReport {
        let players = players.iter();
        let missed = players.map(|player| BehaviourDay::no_show(player, now));
        self.of_days(missed.collect(), now)
    }

    fn of_days(&self, days: Vec<BehaviourDay>, now: Timestamp) -> BehaviourReport {
        BehaviourReport {
            days,
            day_limit: self.settings.day_limit.get(),
            since: self.settings.first_day(now),
        }
    }

    async fn write(&self, report: &BehaviourReport) -> Result<(), StoreError> {
        let version = self.store.report_behaviour(report).await?;
        self.is_written(report, version);
        Ok(())
    }

    /// Takes over reports that were stored, with the version of the reports after that.
    pub fn is_written(&self, report: &BehaviourReport, version: i64) {
        let mut pages = self.pages.write();
        // After any other change, the next refresh reads everything.
        if pages.version.is_some_and(|known| known + 1 == version) {
            pages.version = Some(version);
            for one in &report.days {
                pages.add(one, report.day_limit);
            }
        }
    }
}

impl Pages {
    fn replace(&mut self, rows: BehaviourRows, tags: &ClanTags) {
        let sent = std::mem::take(&mut self.sent);
        let human = |id| PlayerKey {
            kind: Kind::Human,
            id,
        };
        let merged = rows.merged.into_iter();
        let merged = merged.map(|(from, into)| (human(from), human(into)));
        *self = Self {
            version: Some(rows.version),
            counted: CountsAs::new(merged, tags),
            sent,
            ..Self::default()
        };
        let mut stored: HashMap<String, (i64, u32)> = HashMap::new();
        for one in rows.days {
            let (last, count) = stored.entry(one.reporter.clone()).or_default();
            if *last < one.day {
                (*last, *count) = (one.day, 0);
            }
            if *last == one.day {
                *count = count.saturating_add(one.reports);
            }
            let player = self.counts_as(&one.player).into_owned();
            self.days.entry(player).or_default().push(one);
        }
        for (reporter, of_disk) in stored {
            let known = self.sent.entry(reporter).or_default();
            *known = of_disk.max(*known);
        }
    }

    /// The identity that a player counts as.
    fn counts_as<'a>(&'a self, player: &'a str) -> Cow<'a, str> {
        match self.counted.get(Kind::Human, player) {
            Some(Cow::Borrowed(into)) => Cow::Borrowed(&into.id),
            Some(Cow::Owned(into)) => Cow::Owned(into.id),
            None => Cow::Borrowed(player),
        }
    }

    fn of(&self, player: &str) -> &[BehaviourDay] {
        let days = self.days.get(&*self.counts_as(player));
        days.map_or(&[], Vec::as_slice)
    }

    /// Adds a report as the store does.
    fn add(&mut self, report: &BehaviourDay, day_limit: f64) {
        let player = self.counts_as(&report.player).into_owned();
        let days = self.days.entry(player).or_default();
        match days.iter_mut().find(|one| one.is_of(report)) {
            Some(one) => one.add(report, day_limit),
            None => {
                let points = report.points.clamp(-day_limit, day_limit);
                days.push(BehaviourDay {
                    points,
                    ..report.clone()
                });
            }
        }
    }

    /// Counts one more report of a game server, unless it has sent too many today.
    fn may_send(&mut self, reporter: &str, today: i64) -> bool {
        let (last, count) = self.sent.entry(reporter.to_owned()).or_default();
        if *last != today {
            (*last, *count) = (today, 0);
        }
        *count = count.saturating_add(1);
        *count <= MOST_REPORTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_server_has_so_many_reports_in_a_day_over_restarts_too() {
        let mut pages = Pages::default();
        assert!((0..MOST_REPORTS).all(|_| pages.may_send("ctf", 7)));
        assert!(!pages.may_send("ctf", 7) && pages.may_send("dm", 7));
        assert!(pages.may_send("ctf", 8), "the next day");
        let stored = |day: i64, reports| BehaviourDay {
            reports,
            ..BehaviourDay::report("ann", "ctf", -1.0, Timestamp(day * 86_400_000))
        };
        let mut again = Pages::default();
        again.replace(
            BehaviourRows {
                version: 3,
                days: vec![stored(6, 50), stored(7, MOST_REPORTS - 1)],
                merged: Vec::new(),
            },
            &ClanTags::default(),
        );
        assert!(again.may_send("ctf", 7) && !again.may_send("ctf", 7));
        // What was read again does not forget what was sent meanwhile.
        again.replace(BehaviourRows::default(), &ClanTags::default());
        assert!(!again.may_send("ctf", 7));
    }
}
