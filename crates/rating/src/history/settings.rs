//! The settings of the fold, among them its seasons, and the weights at which an operator lets players start.

use std::{collections::BTreeMap, sync::Arc};

use evenkeel_model::{PlayerKey, Timestamp, units::Share, weight::StartWeight};
use serde::{Deserialize, Serialize};

use super::{People, Rules};
use crate::{self as rating, Player, Strength, divisions, strength::Scale};

/// How matches become weights. Plain data; the caller checks the ranges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The rating system and its settings.
    #[serde(flatten)]
    pub rating: rating::Settings,
    /// Which matches are rated.
    #[serde(flatten)]
    pub rules: Rules,
    /// Whether the team number stands for a side of the map, which may be easier to win on. Set it
    /// to false if games number their teams at random.
    pub sides: bool,
    /// The instants at which seasons begin.
    #[serde(skip_deserializing)]
    pub seasons: Vec<Timestamp>,
    /// The share of their distance from a newcomer that each player keeps at a new season, 0 to 1.
    #[serde(skip_deserializing, default = "season_keeps")]
    pub season_keeps: Share,
    /// The divisions of the players of a ruleset.
    #[serde(skip_deserializing)]
    pub divisions: divisions::Settings,
}

impl Default for Settings {
    fn default() -> Self {
        rating::Settings::default().into()
    }
}

impl From<rating::Settings> for Settings {
    fn from(rating: rating::Settings) -> Self {
        Self {
            rating,
            rules: Rules::default(),
            sides: true,
            seasons: Vec::new(),
            season_keeps: season_keeps(),
            divisions: divisions::Settings::default(),
        }
    }
}

/// With 0.8, a regular player stays near the top after a new season, but ten games can change that.
fn season_keeps() -> Share {
    const { Share::of(0.8) }
}

/// The seasons that have not begun yet.
#[derive(Clone, Debug)]
pub(super) struct Season {
    /// In descending order, so that the next one is last.
    starts: Vec<Timestamp>,
    keep: f64,
}

impl Season {
    pub(super) fn new(settings: &Settings) -> Self {
        let mut starts = settings.seasons.clone();
        starts.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            starts,
            keep: settings.season_keeps.get(),
        }
    }

    /// When the next season begins; `None` if no more are configured.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.starts.last().copied()
    }

    /// The share that players keep, once for each season that began after the `now` of the previous
    /// call, up to and including this `now`.
    pub(super) fn begun_by(&mut self, now: Timestamp) -> Vec<f64> {
        let still = self.starts.partition_point(|start| *start > now);
        let begun = self.starts.split_off(still);
        vec![self.keep; begun.len()]
    }
}

/// The start weights of players, by key.
#[derive(Clone, Debug, Default)]
pub(super) struct Starts(Arc<BTreeMap<PlayerKey, StartWeight>>);

/// The start weights of players, by number; `people` are all players.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartsByNumber<'a> {
    starts: &'a Starts,
    people: &'a People,
}

impl Starts {
    pub(super) fn new(by_key: BTreeMap<PlayerKey, StartWeight>) -> Self {
        Self(Arc::new(by_key))
    }

    /// The start weights by the numbers of these players.
    pub(super) fn among<'a>(&'a self, people: &'a People) -> StartsByNumber<'a> {
        StartsByNumber {
            starts: self,
            people,
        }
    }
}

impl StartsByNumber<'_> {
    /// The start weight of a player.
    pub(super) fn of(self, player: Player) -> Option<StartWeight> {
        let person = self.people.get(player)?;
        self.starts.0.get(&person.key).copied()
    }
}

/// The prior of a start weight whose strength above a newcomer's is `mean`. With twice the deviation, the first
/// matches move an uncertain one four times as far.
pub(super) fn prior(start: StartWeight, mean: f64, scale: Scale) -> Strength {
    let share = match start.uncertain {
        true => Scale::UNCERTAIN,
        false => Scale::SURE,
    };
    let deviation = share * scale.unit();
    Strength { mean, deviation }
}

#[cfg(test)]
mod tests {
    use evenkeel_model::units::Share;

    use super::*;

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
