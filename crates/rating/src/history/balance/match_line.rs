//! What is kept of a rated match.

use serde::{Deserialize, Serialize};

use super::{
    super::{Played, Ruling},
    Closeness,
};
use evenkeel_model::{Causes, DAY, MatchRecord, Outcome, Timestamp};

/// What is kept of a rated match: 48 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct MatchLine {
    /// The length of play.
    pub minutes: f64,
    /// The difference between the highest and the lowest score; 0 without teams.
    spread: f64,
    /// The forecast that team 0 wins, where there was one.
    chance: Option<f64>,
    pub week: i32,
    /// The number of the map.
    pub map: u32,
    outcome: Outcome,
    pub causes: Option<Causes>,
    /// The number of rated players with a team.
    pub players: u16,
    pub has_teams: bool,
    untimed: bool,
}

const WEEK_MILLIS: i64 = 7 * DAY;
/// From 1969-12-29, the Monday from which weeks are counted, to 1970-01-01.
const BEFORE_1970: i64 = 3 * DAY;

/// The number of the week of an instant. The first and the last week have all that is before and after them.
pub(super) fn week_of(at: Timestamp) -> i32 {
    let week = at.0.saturating_add(BEFORE_1970).div_euclid(WEEK_MILLIS);
    i32::try_from(week).unwrap_or(if week < 0 { i32::MIN } else { i32::MAX })
}

/// The instant at which a week begins.
pub(super) fn start_of_week(week: i32) -> Timestamp {
    Timestamp(i64::from(week) * WEEK_MILLIS - BEFORE_1970)
}

/// The instant at which the week of another one begins.
pub fn begin_of_week(at: Timestamp) -> Timestamp {
    start_of_week(week_of(at))
}

/// What is added up is a multiple of a part of one, a power of two. Then sums are exact, in whatever order they are added
/// up: those of scores up to 2³³, those of minutes up to 2²¹ (100,000 matches of 20 minutes), those of chances up to 2¹⁷
/// (500,000 matches).
const SCORES: f64 = (1_u64 << 20) as f64;
const MINUTES: f64 = (1_u64 << 32) as f64;
const CHANCES: f64 = (1_u64 << 36) as f64;

/// A chance as it is added up.
pub(super) fn exact_chance(chance: f64) -> f64 {
    rounded(chance, CHANCES)
}

/// The closest multiple of one of so many parts of one.
fn rounded(number: f64, parts: f64) -> f64 {
    (number * parts).round() / parts
}

impl MatchLine {
    pub fn new(record: &MatchRecord, ruling: &Ruling, played: &[Played], map: u32) -> Self {
        let of_teams = played.iter().filter(|own| {
            let player = record.participants.get(own.participant);
            record.has_teams() && player.is_some_and(|player| player.main_team().is_some())
        });
        let millis = record.end.0.saturating_sub(record.start.0);
        Self {
            minutes: rounded(millis as f64 / 60_000.0, MINUTES),
            spread: rounded(record.score_gap().unwrap_or(0.0), SCORES),
            chance: ruling.chance,
            week: week_of(record.end),
            map,
            outcome: record.outcome,
            causes: ruling.causes,
            players: u16::try_from(of_teams.count()).unwrap_or(u16::MAX),
            has_teams: record.has_teams(),
            untimed: record.untimed,
        }
    }

    /// The difference between the highest and the lowest score; `None` without teams, and where a team has won with the
    /// same score as all others: then no scores were reported.
    pub fn gap(&self) -> Option<f64> {
        let is_known = self.spread > 0.0 || !matches!(self.outcome, Outcome::Won(_));
        (self.has_teams && is_known).then_some(self.spread)
    }

    /// The square of this difference.
    pub fn square(&self) -> Option<f64> {
        self.gap().map(|gap| rounded(gap * gap, SCORES))
    }

    /// The result for team 0; `None` without one.
    fn won(&self) -> Option<f64> {
        match self.outcome {
            Outcome::Won(team) => Some(f64::from(u8::from(team == 0))),
            Outcome::Draw => Some(0.5),
            Outcome::Undecided | Outcome::Abandoned => None,
        }
    }

    /// The forecast for the favourite, and their result; `None` without both.
    pub fn favourite(&self) -> Option<(f64, f64)> {
        let (chance, won) = self.chance.zip(self.won())?;
        Some(match chance >= 0.5 {
            true => (chance, won),
            false => (1.0 - chance, 1.0 - won),
        })
    }

    /// How close the match was.
    pub fn closeness(&self) -> Closeness {
        let count = |is: bool| i64::from(is);
        let predicted = self.chance.zip(self.won());
        let decided = predicted.filter(|(_, won)| *won != 0.5);
        let is_right = |(chance, won): (f64, f64)| (chance >= 0.5) == (won > 0.5);
        let brier = |(chance, won): (f64, f64)| exact_chance((chance - won) * (chance - won));
        Closeness {
            rated: 1,
            matches: count(self.has_teams),
            draws: count(self.has_teams && self.outcome == Outcome::Draw),
            scored: count(self.gap().is_some()),
            gap: self.gap().unwrap_or(0.0),
            minutes: if self.has_teams { self.minutes } else { 0.0 },
            untimed: count(self.has_teams && self.untimed),
            first_won: count(self.outcome == Outcome::Won(0)),
            decided: count(matches!(self.outcome, Outcome::Won(_))),
            predicted: count(predicted.is_some()),
            predicted_won: count(decided.is_some()),
            favoured: count(decided.is_some_and(is_right)),
            brier: predicted.map_or(0.0, brier),
        }
    }
}
