//! How even the teams are, compared exactly.

use std::cmp::Ordering;

/// The sums of the weakest and the strongest team, in quanta. The greater balance is the more even.
///
/// Comparing the ratios as f64 would make ties of splits that differ and lose the order near 1;
/// both sums are below 2^60, so the cross products are exact in u128.
#[derive(Clone, Copy, Debug)]
pub(super) struct Balance {
    least: u64,
    most: u64,
}

impl Balance {
    /// From every team's sum.
    pub fn of(sums: impl IntoIterator<Item = i64>) -> Self {
        let (mut least, mut most) = (i64::MAX, 0);
        for sum in sums {
            least = least.min(sum);
            most = most.max(sum);
        }
        // Teams of no strength at all are even.
        if most == 0 {
            return Self { least: 1, most: 1 };
        }
        Self {
            least: least.max(0) as u64,
            most: most as u64,
        }
    }

    /// Two teams whose sums add up to `total` and differ by `gap`.
    pub fn of_gap(gap: i64, total: i64) -> Self {
        Self::of([(total - gap) / 2, (total + gap) / 2])
    }

    /// Smaller over larger, 0 to 1.
    pub fn ratio(self) -> f64 {
        self.least as f64 / self.most as f64
    }

    /// The largest gap between two teams adding up to `total` that is at least as even as this:
    /// (t − g)/(t + g) ≥ least/most ⇔ g ≤ t (most − least)/(most + least).
    pub fn largest_gap(self, total: i64) -> i64 {
        let (least, most) = (u128::from(self.least), u128::from(self.most));
        (total as u128 * (most - least) / (most + least)) as i64
    }

    /// The least and the greatest sum of any of `teams` teams adding up to `total` that are at least
    /// as even as this.
    ///
    /// With x the least, the strongest has at least the mean of the others, (t − x)/(k − 1), and
    /// x ≥ r (t − x)/(k − 1) ⇔ x ≥ r t/(k − 1 + r); the greatest likewise.
    pub fn sums(self, total: i64, teams: i64) -> (i64, i64) {
        let (least, most) = (u128::from(self.least), u128::from(self.most));
        let (total, others) = (total as u128, teams as u128 - 1);
        let low = (least * total).div_ceil(others * most + least);
        let high = most * total / (most + others * least);
        (low as i64, high as i64)
    }

    /// The least and the greatest sum of a team beside one with this `sum`, in teams that are at
    /// least as even as this.
    pub fn beside(self, sum: i64) -> (i64, i64) {
        let (least, most, sum) = (u128::from(self.least), u128::from(self.most), sum as u128);
        let high = (sum * most).checked_div(least).unwrap_or(u128::MAX);
        (
            (sum * least).div_ceil(most) as i64,
            high.min(i64::MAX as u128) as i64,
        )
    }

    /// The gap between two teams adding up to `total` that is exactly as even as this, if any is.
    pub fn exact_gap(self, total: i64) -> Option<i64> {
        let gap = self.largest_gap(total);
        let same = (total - gap) % 2 == 0 && Self::of_gap(gap, total) == self;
        same.then_some(gap)
    }
}

impl Ord for Balance {
    fn cmp(&self, other: &Self) -> Ordering {
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
        product(self.least, other.most).cmp(&product(other.least, self.most))
    }
}

impl PartialOrd for Balance {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Balance {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Balance {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_strength_is_even_and_some_against_none_is_not() {
        assert_eq!(Balance::of([0, 0]), Balance::of([7, 7]));
        assert_eq!(Balance::of([0, 0]).ratio(), 1.0);
        assert_eq!(Balance::of([0, 5]).ratio(), 0.0);
        assert!(Balance::of([0, 5]) < Balance::of([1, 5]));
    }

    #[test]
    fn gaps_invert_balances() {
        let balance = Balance::of_gap(10, 110);
        assert_eq!(balance, Balance::of([50, 60]));
        assert_eq!(balance.largest_gap(110), 10);
        assert_eq!(balance.exact_gap(220), Some(20));
        assert_eq!(balance.exact_gap(111), None);
        assert_eq!(balance.exact_gap(0), None);
        assert_eq!(Balance::of([0, 0]).exact_gap(0), Some(0));
    }
}
