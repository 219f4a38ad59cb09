//! Seasons: dates at which every rating moves towards a newcomer's, instead of being reset.

use super::Settings;
use evenkeel_model::Timestamp;

/// The seasons that have not begun yet.
#[derive(Clone, Debug)]
pub(super) struct Season {
    /// In descending order, so that the next one is last.
    starts: Vec<Timestamp>,
    keep: f64,
}

impl Season {
    pub fn new(settings: &Settings) -> Self {
        let mut starts = settings.seasons.clone();
        starts.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            starts,
            keep: settings.season_keeps.get(),
        }
    }

    /// When the next season begins; `None` if no more are configured.
    pub fn next(&self) -> Option<Timestamp> {
        self.starts.last().copied()
    }

    /// The share that players keep, once for each season that began after the `now` of the previous
    /// call, up to and including this `now`.
    pub fn begun_by(&mut self, now: Timestamp) -> Vec<f64> {
        let still = self.starts.partition_point(|start| *start > now);
        let begun = self.starts.split_off(still);
        vec![self.keep; begun.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_model::units::Share;

    #[test]
    fn each_season_begins_once() {
        let settings = Settings {
            seasons: vec![Timestamp(30), Timestamp(10), Timestamp(20)],
            season_keeps: Share::of(0.5),
            ..Settings::default()
        };
        let mut season = Season::new(&settings);
        assert_eq!(season.next(), Some(Timestamp(10)));
        assert!(season.begun_by(Timestamp(9)).is_empty());
        assert_eq!(season.begun_by(Timestamp(20)), [0.5, 0.5]);
        assert!(season.begun_by(Timestamp(29)).is_empty());
        assert_eq!(season.begun_by(Timestamp(99)), [0.5]);
        assert_eq!(season.next(), None);
    }
}
