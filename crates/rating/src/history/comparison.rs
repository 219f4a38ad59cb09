//! Whether one system predicts better than another beyond chance.

use super::Interval;

/// The fewest matches from which systems are compared. The bootstrap of fewer draws from fewer than
/// eight blocks, and its intervals are too narrow.
pub const FEWEST: usize = 30;

/// How a system predicts beside the one that it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Its log loss is lower, and the interval of the difference does not contain 0.
    Better,
    /// Its log loss is higher, and the interval of the difference does not contain 0.
    Worse,
    /// The interval of the difference contains 0: the difference may be chance.
    Level,
}

impl Comparison {
    pub(super) fn of(difference: Interval) -> Self {
        match difference {
            Interval { high, .. } if high < 0.0 => Self::Better,
            Interval { low, .. } if low > 0.0 => Self::Worse,
            _ => Self::Level,
        }
    }

    /// The word for it, in tables and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Level => "level",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_interval_without_zero_is_beyond_chance() {
        let of = |low, high| Comparison::of(Interval { low, high });
        assert_eq!(of(-0.02, -0.01), Comparison::Better);
        assert_eq!(of(0.01, 0.02), Comparison::Worse);
        for (low, high) in [(-0.01, 0.01), (0.0, 0.01), (-0.01, 0.0), (0.0, 0.0)] {
            assert_eq!(of(low, high), Comparison::Level);
        }
    }
}
