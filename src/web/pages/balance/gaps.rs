//! The number of matches by the difference of their scores.

use serde::Serialize;

/// The most bars in the plot of differences.
const BARS: i64 = 14;

/// Matches whose scores differ by `from` to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct GapBar {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) matches: i64,
}

/// Bars of equal width over the differences. The last one has all differences from 19 of 20 on, so that a
/// few large ones do not make all others narrow.
pub(super) fn gap_bars(gaps: &[(i64, i64)]) -> Vec<GapBar> {
    let all: i64 = gaps.iter().map(|(_, matches)| matches).sum();
    let (mut seen, mut usual) = (0, 0);
    for (gap, matches) in gaps {
        usual = *gap;
        seen += matches;
        if seen * 20 >= all * 19 {
            break;
        }
    }
    let width = usual.max(0) / (BARS - 1) + 1;
    let count = usual / width + 1;
    let bar = |from, to| GapBar {
        from,
        to,
        matches: 0,
    };
    let bars = (0..count).map(|at| bar(at * width, (at + 1) * width - 1));
    let mut bars: Vec<GapBar> = bars.collect();
    let largest = gaps.last().map_or(0, |(gap, _)| *gap);
    if gaps.is_empty() {
        return Vec::new();
    }
    if let Some(end) = bars.last().map(|last| last.to)
        && largest > end
    {
        bars.push(bar(end + 1, largest));
    }
    for (gap, matches) in gaps {
        let at = usize::try_from(gap / width)
            .unwrap_or(0)
            .min(bars.len() - 1);
        bars[at].matches += matches;
    }
    bars
}

impl GapBar {
    /// What stands below the bar.
    pub(super) fn name(&self, is_last: bool) -> String {
        match (self.from == self.to, is_last && self.to > self.from) {
            (true, _) => self.from.to_string(),
            (false, true) => format!("{}+", self.from),
            (false, false) => format!("{}–{}", self.from, self.to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_match_is_in_one_bar() {
        let lists: [&[(i64, i64)]; 5] = [
            &[(0, 3)],
            &[(0, 10), (1, 20), (2, 5), (5, 1)],
            &[(0, 1), (40, 50), (99, 40), (1_000_000, 1)],
            &[(i64::MAX / 2, 1)],
            &[],
        ];
        for gaps in lists {
            let bars = gap_bars(gaps);
            assert!(bars.len() as i64 <= BARS + 1, "{bars:?}");
            let all = |list: &mut dyn Iterator<Item = i64>| list.sum::<i64>();
            assert_eq!(
                all(&mut bars.iter().map(|bar| bar.matches)),
                all(&mut gaps.iter().map(|(_, matches)| *matches)),
            );
            assert!(bars.windows(2).all(|pair| pair[0].to + 1 == pair[1].from));
        }
        let bars = gap_bars(&[(0, 10), (1, 20), (2, 5), (5, 1)]);
        let names: Vec<_> = (0..bars.len())
            .map(|at| bars[at].name(at + 1 == bars.len()))
            .collect();
        assert_eq!(names, ["0", "1", "2", "3+"]);
    }
}
