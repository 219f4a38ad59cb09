//! How even the teams are, compared exactly.

use std::cmp::Ordering;

/// The sums of the weakest and the strongest team, in quanta. The greater value is the more even.
///
/// Comparing ratios as f64 would make splits tie that differ, and lose the order near 1. Both sums
/// are below 2^62, so the cross products are exact in i128.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evenness {
    /// The smaller sum; negative only if a gap exceeds the total that it is compared with.
    least: i64,
    /// The larger sum, above 0.
    most: i64,
}

/// The largest sum and the largest gap that the grid lets occur.
pub(super) const MOST: i64 = 1 << 59;

impl Evenness {
    /// The evenness of teams with these sums.
    pub(crate) fn of(sums: impl IntoIterator<Item = i64>) -> Self {
        let (mut least, mut most) = (i64::MAX, 0);
        for sum in sums {
            least = least.min(sum);
            most = most.max(sum);
        }
        // Teams without any strength are even.
        if most == 0 {
            return Self { least: 1, most: 1 };
        }
        let least = least.max(0);
        Self { least, most }
    }

    /// The evenness of two teams whose sums add up to `total` and differ by `gap`. Both sums are
    /// doubled, so that they are whole numbers. Two teams without strength are even.
    pub(crate) fn of_gap(gap: i64, total: i64) -> Self {
        let total = total.max(1);
        Self {
            least: total - gap,
            most: total + gap,
        }
    }

    /// The smaller sum divided by the larger, 0 to 1. With [`Measure::Ratio`] this is the ratio.
    pub(crate) fn evenness(self) -> f64 {
        self.least.max(0) as f64 / self.most as f64
    }

    /// The largest gap between two teams adding up to `total` that is at least as even as this:
    /// (t − g)/(t + g) ≥ least/most ⇔ g ≤ t (most − least)/(most + least).
    pub(crate) fn largest_gap(self, total: i64) -> i64 {
        let (least, most) = (i128::from(self.least), i128::from(self.most));
        (i128::from(total) * (most - least) / (most + least)) as i64
    }

    /// The smallest and the largest sum that one of `teams` teams can have if they add up to
    /// `total` and are at least this even.
    ///
    /// Let x be the smallest sum and r the evenness. The strongest team has at least the mean of
    /// the others, (t − x)/(k − 1), so x ≥ r (t − x)/(k − 1) ⇔ x ≥ r t/(k − 1 + r). The largest sum
    /// follows in the same way. Sums below 0 count as 0, so that nothing is excluded where r or t is 0 or less.
    fn sums(self, total: i64, teams: i64) -> (i64, i64) {
        if self.least <= 0 || total <= 0 {
            return (-MOST, MOST);
        }
        let (least, most) = (self.least as u128, self.most as u128);
        let (total, others) = (total as u128, teams as u128 - 1);
        let low = (least * total).div_ceil(others * most + least);
        let high = most * total / (most + others * least);
        (low as i64, high as i64)
    }

    /// The smallest and the largest sum that a team can have next to one with this `sum`, if the
    /// teams are at least this even. Beside a team without strength, only others without strength are even.
    fn beside(self, sum: i64) -> (i64, i64) {
        if self.least <= 0 {
            return (-MOST, MOST);
        }
        if sum <= 0 {
            return (-MOST, 0);
        }
        let (least, most, sum) = (self.least as u128, self.most as u128, sum as u128);
        let high = sum * most / least;
        (
            (sum * least).div_ceil(most) as i64,
            high.min(MOST as u128) as i64,
        )
    }

    /// The gap between two teams adding up to `total` that is exactly this even; `None` if it is
    /// not a whole number.
    pub(crate) fn exact_gap(self, total: i64) -> Option<i64> {
        let gap = self.largest_gap(total);
        (Self::of_gap(gap, total) == self).then_some(gap)
    }
}

impl Ord for Evenness {
    fn cmp(&self, other: &Self) -> Ordering {
        let product = |a: i64, b: i64| i128::from(a) * i128::from(b);
        product(self.least, other.most).cmp(&product(other.least, self.most))
    }
}

impl PartialOrd for Evenness {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Evenness {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Evenness {}

/// How to compare teams: an objective, and the numbers it needs.
///
/// With [`Gap`](Self::Gap), the evenness of teams with a gap g between the strongest and the
/// weakest is (t − g)/(t + g) for a fixed total t. A smaller gap is then always more even, whatever
/// the sums are, and the same engines serve both objectives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Measure {
    /// The ratio of the sums.
    Ratio,
    /// The gap between the sums, relative to the sum of two average teams, which is above 0.
    Gap(i64),
}

impl Measure {
    /// The evenness of teams with these sums.
    pub(crate) fn of(self, sums: impl IntoIterator<Item = i64>) -> Evenness {
        let Self::Gap(total) = self else {
            return Evenness::of(sums);
        };
        let widen = |(least, most): (i64, i64), sum: i64| (least.min(sum), most.max(sum));
        let (least, most) = sums.into_iter().fold((i64::MAX, i64::MIN), widen);
        Evenness::of_gap(most - least, total)
    }

    /// The total that a gap is relative to, for two teams that add up to `total`.
    pub(crate) fn total(self, total: i64) -> i64 {
        match self {
            Self::Ratio => total,
            Self::Gap(total) => total,
        }
    }

    /// The evenness of teams that are `slack` millionths from even. With a million or more, any
    /// teams are even enough.
    pub(crate) fn goal(self, slack: u64) -> Evenness {
        let slack = slack.min(1_000_000) as i64;
        match self {
            Self::Ratio => Evenness::of([1_000_000 - slack, 1_000_000]),
            Self::Gap(total) if slack == 1_000_000 => Evenness::of_gap(MOST, total),
            Self::Gap(total) => {
                let gap = i128::from(total) * i128::from(slack) / 2_000_000;
                Evenness::of_gap(gap as i64, total)
            }
        }
    }

    /// The smallest and the largest sum that one of `teams` teams can have if they add up to
    /// `total` and are at least as even as `at`.
    ///
    /// By the gap g: if x is the smallest sum, the others are at most x + g, so t ≤ x + (k − 1)(x +
    /// g); the largest likewise.
    pub(crate) fn sums(self, at: Evenness, total: i64, teams: i64) -> (i64, i64) {
        let Self::Gap(scale) = self else {
            return at.sums(total, teams);
        };
        let (total, teams) = (i128::from(total), i128::from(teams));
        let spread = (teams - 1) * i128::from(at.largest_gap(scale));
        let low = -(spread - total).div_euclid(teams);
        let high = (total + spread).div_euclid(teams);
        let most = i128::from(MOST);
        (low.max(-most) as i64, high.min(most) as i64)
    }

    /// The smallest and the largest sum that a team can have next to one with this `sum`, if the
    /// teams are at least as even as `at`.
    pub(crate) fn beside(self, at: Evenness, sum: i64) -> (i64, i64) {
        let Self::Gap(scale) = self else {
            return at.beside(sum);
        };
        let gap = at.largest_gap(scale);
        (sum - gap, sum + gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_strength_is_even_and_some_against_none_is_not() {
        assert_eq!(Evenness::of([0, 0]), Evenness::of([7, 7]));
        assert_eq!(Evenness::of([0, 0]).evenness(), 1.0);
        assert_eq!(Evenness::of([0, 5]).evenness(), 0.0);
        assert!(Evenness::of([0, 5]) < Evenness::of([1, 5]));
    }

    /// Where more bots play than are counted on, a team's sum can be below 0.
    #[test]
    fn a_range_excludes_no_team_that_is_even_enough() {
        let sums = [-3i64, -1, 0, 1, 2, 5];
        for one in sums {
            for other in sums {
                for third in sums {
                    let teams = [one, other, third];
                    let even = Evenness::of(teams);
                    let (low, high) = even.sums(teams.iter().sum(), 3);
                    let (least, most) = even.beside(one);
                    for sum in teams {
                        assert!((low..=high).contains(&sum), "{teams:?}");
                        assert!((least..=most).contains(&sum), "{teams:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn gaps_invert_balances() {
        let balance = Evenness::of_gap(10, 110);
        assert_eq!(balance, Evenness::of([50, 60]));
        assert_eq!(balance.largest_gap(110), 10);
        assert_eq!(balance.exact_gap(220), Some(20));
        assert_eq!(balance.exact_gap(111), None);
        assert_eq!(balance.exact_gap(0), None);
        assert_eq!(Evenness::of([0, 0]).exact_gap(0), Some(0));
    }

    #[test]
    fn gaps_compare_whatever_the_teams_add_up_to() {
        let gap = Measure::Gap(20);
        assert_eq!(gap.of([7, 4, 5]), gap.of([-1, 1, 2]));
        assert!(gap.of([0, 2]) > gap.of([100, 103]));
        // Even with a gap above the total.
        assert!(gap.of([0, 41]) < gap.of([-40, 0]) && gap.of([0, 40]).evenness() == 0.0);
        assert!(gap.goal(1_000_000) < gap.of([-9, 1 << 50]));
        // Three teams that add up to 30 with a gap of 3: at least 8 (8, 11, 11), at most 12 (12, 9,
        // 9).
        assert_eq!(gap.sums(gap.of([0, 3]), 30, 3), (8, 12));
        assert_eq!(gap.beside(gap.of([0, 3]), 8), (5, 11));
    }
}
