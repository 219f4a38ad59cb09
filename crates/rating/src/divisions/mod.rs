//! Divisions: parts of the players of a ruleset, by weight, whose names players are shown instead
//! of a number.
//!
//! A division begins at a percentile of the players' weights. Players who see a number tend to
//! count every point of it; players who see a division try to reach the next one. This room
//! prevents what players usually dislike about divisions:
//!
//! - A player gets a division only when the weight is certain enough (`Settings::is_calibrated`).
//! - A player near a border does not change back and forth: to cross it, the weight must be
//!   [`Settings::hysteresis`] points beyond it, in either direction ([`Borders::division_of`]).
//! - In a small community, the best of five players is not in the highest division at once: the
//!   borders are computed from the weights of the players and of 20 imagined ones
//!   ([`Borders::of`]).
//! - If a player stays away to keep a division, it falls ([`Settings::displayed`]). Only the
//!   displayed division falls. The function takes the time since the last match as an argument, so
//!   that no weight depends on a clock.
//!
//! A player's division changes only with the player's own matches (`Ladder`): after each, the weight is
//! compared with the borders. So a player who looks again next day sees the same division, whatever
//! others have done. The borders are computed again each time the number of matches has grown by a
//! sixteenth, in O(players).
//!
//! Everything here is a pure function of its arguments. The players' divisions are derived data,
//! which the room `history` keeps.

use evenkeel_model::{
    units::{Amount, Count, Percentile, PositiveAmount},
    weight::Rank,
    win_model::UNITS,
};
use serde::{Deserialize, Serialize};

use crate::{Player, player_map::PlayerMap};

/// The number of players who are imagined besides those who have a place, with weights that are spread
/// evenly over [`IMAGINED_WEIGHTS`]. With two dozen real players, these decide about half of the
/// position of a border.
const IMAGINED: usize = 20;
/// The range of the imagined weights. Either end is the weight of a player whose strength is one
/// [`unit`](super::system::Scale) from a newcomer's, which few players of a new community reach.
const IMAGINED_WEIGHTS: (f64, f64) = (50.0 - 50.0 / UNITS, 50.0 + 50.0 / UNITS);
/// The multiple of the calibration matches after which a player gets a division, however large the
/// deviation is. In large teams, the deviation may stay large for ever.
const PATIENCE: u32 = 3;
/// The limit of the hysteresis at a border, as a share of the narrower of the two divisions.
const MOST_OF_A_DIVISION: f64 = 0.25;
/// The share of players beyond each end of the scale of progress, so that one player who is far
/// stronger than all others does not make everybody else's progress small.
const EXTREME: f64 = 0.01;
const MILLIS_A_DAY: f64 = 86_400_000.0;

impl Settings {
    /// Whether a player with this number of rated matches and this deviation of the weight gets a
    /// division.
    pub(crate) fn is_calibrated(&self, games: u32, deviation: f64) -> bool {
        let least = self.calibration_matches.get();
        let known = deviation <= self.calibration_deviation.get();
        games >= least && (known || games >= least.saturating_mul(PATIENCE))
    }

    /// The rank to display for a player whose last match ended `millis_away` milliseconds ago. It
    /// falls with time, and is never above `rank`.
    pub fn displayed(&self, rank: Rank, millis_away: i64) -> Rank {
        let days = millis_away as f64 / MILLIS_A_DAY;
        let beyond = days - f64::from(self.decay_after_days.get());
        match self.decay_days.get() {
            0 => rank,
            per_division => rank.lowered(beyond / f64::from(per_division)),
        }
    }
}

/// The weights at which the divisions of a ruleset begin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Borders {
    /// At least two weights, ascending: first the one below which only the share [`EXTREME`] of
    /// players is, then the first weight of each division but the lowest, and last the one above
    /// which only that share is.
    marks: Vec<f64>,
    hysteresis: f64,
}

impl Borders {
    /// The borders for players with these weights. O(n log n).
    pub fn of(settings: &Settings, weights: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = weights.into_iter().filter(|w| w.is_finite()).collect();
        sorted.extend(imagined_weights());
        sorted.sort_unstable_by(f64::total_cmp);
        let inner = settings.shares_below();
        let (first, last) = (inner.first(), inner.last());
        let lowest = first.map_or(EXTREME, |&share| share.min(EXTREME));
        let highest = last.map_or(1.0 - EXTREME, |&share| share.max(1.0 - EXTREME));
        let shares = [&[lowest], inner.as_slice(), &[highest]].concat();
        let marks = shares.into_iter();
        Self {
            marks: marks.map(|share| quantile(&sorted, share)).collect(),
            hysteresis: settings.hysteresis.get(),
        }
    }

    /// The number of the highest division.
    fn top(&self) -> usize {
        self.marks.len().saturating_sub(2)
    }

    /// How far beyond the lower border of a division a weight must be to cross it, in points.
    fn margin(&self, division: usize) -> f64 {
        let width = |i: usize| match (self.marks.get(i), self.marks.get(i + 1)) {
            (Some(low), Some(high)) => high - low,
            _ => 0.0,
        };
        let narrower = width(division).min(width(division.saturating_sub(1)));
        self.hysteresis.min(MOST_OF_A_DIVISION * narrower)
    }

    /// The weight below which a player leaves this division downwards.
    fn falls_below(&self, division: usize) -> f64 {
        match division {
            0 => f64::NEG_INFINITY,
            _ => self.mark(division) - self.margin(division),
        }
    }

    /// The weight from which on a player leaves this division upwards.
    fn rises_from(&self, division: usize) -> f64 {
        match division >= self.top() {
            true => f64::INFINITY,
            false => self.mark(division + 1) + self.margin(division + 1),
        }
    }

    fn mark(&self, index: usize) -> f64 {
        let last = self.marks.last();
        let mark = self.marks.get(index).or(last);
        mark.copied().unwrap_or(50.0)
    }

    /// The division of a player with this weight, who is in the division `held` already, or in none.
    ///
    /// For the same `held`, a higher weight never gives a lower division. If the weight is within
    /// [`Settings::hysteresis`] of a border, a player who holds either division beside it keeps it.
    pub fn division_of(&self, weight: f64, held: Option<u8>) -> u8 {
        let top = self.top();
        let mut division = match held {
            Some(held) => usize::from(held).min(top),
            None => {
                let begun = (1..=top).take_while(|&i| self.mark(i) <= weight);
                begun.last().unwrap_or(0)
            }
        };
        while held.is_some() && weight >= self.rises_from(division) {
            division += 1;
        }
        while held.is_some() && weight < self.falls_below(division) {
            division -= 1;
        }
        u8::try_from(division).unwrap_or(u8::MAX)
    }

    /// The weights at which the progress in a division is 0 and 1.
    fn span(&self, division: usize) -> (f64, f64) {
        (
            self.falls_below(division).max(self.mark(0)),
            self.rises_from(division).min(self.mark(self.top() + 1)),
        )
    }

    /// The same of each division, the lowest first.
    pub fn spans(&self) -> Vec<(f64, f64)> {
        (0..=self.top())
            .map(|division| self.span(division))
            .collect()
    }

    /// The rank of a player of this division with this weight.
    pub fn rank(&self, division: u8, weight: f64) -> Rank {
        let (low, high) = self.span(usize::from(division));
        let progress = match high > low && weight.is_finite() {
            true => ((weight - low) / (high - low)).clamp(0.0, 1.0),
            false => 0.0,
        };
        Rank { division, progress }
    }
}

/// The weights of the imagined players.
fn imagined_weights() -> impl Iterator<Item = f64> {
    let (low, high) = IMAGINED_WEIGHTS;
    (0..IMAGINED).map(move |i| low + (high - low) * (i as f64 + 0.5) / IMAGINED as f64)
}

/// The number below which this share of the sorted numbers is, interpolated; 50 if there are no
/// numbers.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 50.0;
    };
    let at = share.clamp(0.0, 1.0) * last as f64;
    let below = (at.floor() as usize).min(last);
    let above = (below + 1).min(last);
    sorted[below] + (at - below as f64) * (sorted[above] - sorted[below])
}

/// The most divisions. More would mean nothing, because weights have deviations of several points
/// even after a few hundred matches.
pub const MOST: usize = 32;
/// The longest name, in characters, so that it fits into replies and tables.
const LONGEST_NAME: usize = 32;

/// The name of a division, as players read it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct DivisionName(String);

impl DivisionName {
    /// The name as text, which is never `-` or empty.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for DivisionName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let fits = (1..=LONGEST_NAME).contains(&name.chars().count());
        let plain = !name.chars().any(char::is_control) && name.trim() == name;
        if fits && plain && name != "-" {
            return Ok(Self(name));
        }
        Err(format!(
            "must be 1 to {LONGEST_NAME} characters without blanks at the ends or control characters, and not \"-\""
        ))
    }
}

/// What players are shown of their weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Display {
    /// Only the division and the progress in it.
    #[default]
    Division,
    /// The weight as well.
    Number,
}

/// The divisions, and when a player changes between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The names, from the lowest division to the highest. If the list is empty, there are no
    /// divisions.
    pub names: Vec<DivisionName>,
    /// For each division but the lowest, the percentage of players who are below it, ascending. If
    /// empty, each division gets the same number of players.
    pub percentiles: Vec<Percentile>,
    /// The number of rated matches before a player gets a division.
    pub calibration_matches: Count<0, 1000>,
    /// The largest deviation of a weight, in points, with which a player gets a division.
    pub calibration_deviation: PositiveAmount,
    /// How far beyond a border a weight must be, in points, for the player to cross it.
    pub hysteresis: Amount,
    /// The number of days without a rated match after which the displayed division begins to fall.
    pub decay_after_days: Count<0, 3650>,
    /// The number of further days in which it falls by one division; 0 means that it never falls.
    pub decay_days: Count<0, 3650>,
    /// What players are shown. It has no influence on divisions.
    #[serde(skip_serializing)]
    pub show: Display,
}

impl Settings {
    /// Whether there are any divisions.
    pub fn is_on(&self) -> bool {
        !self.names.is_empty()
    }

    /// Whether players may be shown weights.
    pub fn shows_weights(&self) -> bool {
        self.show == Display::Number
    }

    /// The name of a division; `None` for a number that is too large.
    pub fn name(&self, division: u8) -> Option<&str> {
        let name = self.names.get(usize::from(division));
        name.map(DivisionName::as_str)
    }

    /// For each division but the lowest, the share of players who are below it, 0 to 1.
    fn shares_below(&self) -> Vec<f64> {
        let divisions = self.names.len().max(1);
        match self.percentiles.is_empty() {
            true => (1..divisions)
                .map(|i| i as f64 / divisions as f64)
                .collect(),
            false => self.percentiles.iter().map(|p| p.get() / 100.0).collect(),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            percentiles: Vec::new(),
            calibration_matches: const { Count::of(10) },
            calibration_deviation: const { PositiveAmount::of(7.0) },
            hysteresis: const { Amount::of(0.7) },
            decay_after_days: const { Count::of(30) },
            decay_days: const { Count::of(30) },
            show: Display::default(),
        }
    }
}

/// The borders are computed again when the number of matches has grown by this fraction: one
/// sixteenth.
const GROWTH: u64 = 16;

/// The divisions of the players of one ruleset. Like ratings, they are a function of the matches.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ladder {
    borders: Option<Borders>,
    /// Number of rated matches.
    matches: u64,
    /// The number of matches at which the borders are computed next.
    due: u64,
    held: PlayerMap<u8>,
}

/// The numbers that decide on a player's division.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeasuredPlayer {
    pub player: Player,
    pub weight: f64,
    pub deviation: f64,
    pub games: u32,
}

impl MeasuredPlayer {
    fn is_calibrated(&self, settings: &Settings) -> bool {
        settings.is_calibrated(self.games, self.deviation)
    }
}

impl Ladder {
    /// Gives the players of a match their divisions. `playing` are these players and `placed` all who have a place in the
    /// ruleset, with their weights after the match.
    pub(crate) fn learn(
        &mut self,
        settings: &Settings,
        playing: impl Iterator<Item = MeasuredPlayer>,
        placed: impl FnOnce() -> Vec<MeasuredPlayer>,
    ) {
        self.matches += 1;
        if self.matches >= self.due {
            self.due = self.matches + 1 + self.matches / GROWTH;
            let weights = placed().into_iter().map(|one| one.weight);
            self.borders = Some(Borders::of(settings, weights));
        }
        let Some(borders) = &self.borders else {
            return;
        };
        for measured in playing {
            let held = self.held.get(measured.player).copied();
            if held.is_some() || measured.is_calibrated(settings) {
                let division = borders.division_of(measured.weight, held);
                self.held.set(measured.player, division);
            }
        }
    }

    /// The rank of a player with this weight; `None` while the player is calibrating.
    pub(crate) fn rank(&self, player: Player, weight: f64) -> Option<Rank> {
        let held = self.held.get(player)?;
        Some(self.borders.as_ref()?.rank(*held, weight))
    }

    /// Of each division, the weights at which its progress is 0 and 1.
    pub(crate) fn spans(&self) -> Vec<(f64, f64)> {
        self.borders.as_ref().map_or(Vec::new(), Borders::spans)
    }

    /// The rank that this weight has for a player without a division.
    pub(crate) fn rank_of_weight(&self, weight: f64) -> Option<Rank> {
        let borders = self.borders.as_ref()?;
        Some(borders.rank(borders.division_of(weight, None), weight))
    }
}

#[cfg(test)]
mod tests;
