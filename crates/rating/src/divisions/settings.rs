//! The settings of divisions, which section `[divisions]` of the configuration contains.

use serde::{Deserialize, Serialize};

use evenkeel_model::units::{Amount, Count, Percentile, PositiveAmount};

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
    pub(super) fn shares_below(&self) -> Vec<f64> {
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
