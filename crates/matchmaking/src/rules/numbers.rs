//! What numbers of players add up to, exactly in any order.

use serde::Deserialize;

use super::compare::Comparison;

/// Sums are counted in this part of 1, in whole numbers, so that they are exact in any order.
const PARTS: f64 = 4096.0;

/// A number in whole parts. Numbers beyond 10^12 count as that.
pub(super) fn parts(number: f64) -> i64 {
    (number.clamp(-1e12, 1e12) * PARTS).round() as i64
}

/// What the numbers of some players add up to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub players: usize,
    /// The sum, in parts.
    pub sum: i64,
    pub least: f64,
    pub most: f64,
}

impl Numbers {
    pub const NONE: Self = Self {
        players: 0,
        sum: 0,
        least: f64::INFINITY,
        most: f64::NEG_INFINITY,
    };

    pub fn and(self, other: Self) -> Self {
        Self {
            players: self.players + other.players,
            sum: self.sum + other.sum,
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }
}

/// The number of a team that is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Statistic {
    #[default]
    Sum,
    Mean,
    #[serde(rename = "max")]
    Highest,
    /// The largest number minus the smallest, which only `spread` compares.
    #[serde(skip)]
    Span,
}

impl Statistic {
    /// That of no players is 0.
    pub fn of(self, numbers: Numbers) -> f64 {
        let sum = numbers.sum as f64 / PARTS;
        match self {
            Self::Sum => sum,
            Self::Mean => sum / numbers.players.max(1) as f64,
            _ if numbers.players == 0 => 0.0,
            Self::Highest => parts(numbers.most) as f64 / PARTS,
            Self::Span => numbers.most - numbers.least,
        }
    }

    /// A span is compared with the limit, the others with each other.
    pub fn comparison(self, limit: f64) -> Comparison<f64> {
        match self {
            Self::Span => Comparison::Each {
                least: 0.0,
                most: limit,
            },
            Self::Sum | Self::Mean | Self::Highest => Comparison::Differ(limit),
        }
    }
}
