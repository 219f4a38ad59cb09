//! Walks two pointers through two ascending lists.

/// The range of sums that are wanted, both ends included; empty if `most` is below `least`.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub least: i64,
    pub most: i64,
}

impl Window {
    /// The sums for which `|start + 2 sum| ≤ gap`.
    pub fn new(start: i64, gap: i64) -> Self {
        Self {
            least: -(gap + start).div_euclid(2),
            most: (gap - start).div_euclid(2),
        }
    }
}

/// Walks the low list upwards and the high list downwards, past all pairs whose sum is within a
/// window, which may narrow on the way. O(both lists).
///
/// Each step depends on the comparison before it, so two walks, through the two halves of the low
/// list, take little more time side by side than one alone.
pub(super) struct Walk<'a> {
    low: [&'a [i64]; 2],
    high: &'a [i64],
    /// The next index in each part of the low list.
    i: [usize; 2],
    /// For each part, how many numbers of the high list are left.
    j: [usize; 2],
}

impl<'a> Walk<'a> {
    pub fn new(low: &'a [i64], high: &'a [i64], window: Window) -> Self {
        // Skip numbers that are too small or too large with any partner.
        let (Some(first), Some(last)) = (high.first(), high.last()) else {
            return Self {
                low: [&[]; 2],
                high,
                i: [0; 2],
                j: [0; 2],
            };
        };
        let start = low.partition_point(|sum| sum + last < window.least);
        let low = &low[start..];
        let low = &low[..low.partition_point(|sum| sum + first <= window.most)];
        let (one, other) = low.split_at(low.len() / 2);
        // A number that is too large for the first of a part is too large for all of it.
        let left = |part: &[i64]| match part.first() {
            Some(first) => high.partition_point(|sum| first + sum <= window.most),
            None => 0,
        };
        Self {
            low: [one, other],
            high,
            i: [0; 2],
            j: [left(one), left(other)],
        }
    }

    /// Advances to the next number of the low list that has partners within the window. Returns it
    /// with the high list up to its largest partner.
    // Not inlined, so that the loop's variables stay in registers.
    #[inline(never)]
    pub fn next(&mut self, window: Window) -> Option<(i64, &'a [i64])> {
        let (Window { least, most }, high) = (window, self.high);
        let width = u64::try_from(most - least).ok()?;
        // One comparison instead of two: smaller numbers wrap around to large ones.
        let within = |sum: i64| sum.wrapping_sub(least) as u64 <= width;
        let [low_a, low_b] = self.low;
        let ([mut i_a, mut i_b], [mut j_a, mut j_b]) = (self.i, self.j);
        let (mut hit_a, mut hit_b) = (false, false);
        while i_a < low_a.len() && j_a > 0 && i_b < low_b.len() && j_b > 0 {
            let sum_a = low_a[i_a] + high[j_a - 1];
            let sum_b = low_b[i_b] + high[j_b - 1];
            (hit_a, hit_b) = (within(sum_a), within(sum_b));
            if hit_a || hit_b {
                break;
            }
            i_a += usize::from(sum_a <= most);
            j_a -= usize::from(sum_a > most);
            i_b += usize::from(sum_b <= most);
            j_b -= usize::from(sum_b > most);
        }
        let alone = |low: &[i64], i: &mut usize, j: &mut usize, hit: &mut bool| {
            while *i < low.len() && *j > 0 {
                let sum = low[*i] + high[*j - 1];
                if within(sum) {
                    *hit = true;
                    break;
                }
                *i += usize::from(sum <= most);
                *j -= usize::from(sum > most);
            }
        };
        if !hit_a && !hit_b {
            alone(low_a, &mut i_a, &mut j_a, &mut hit_a);
        }
        if !hit_a && !hit_b {
            alone(low_b, &mut i_b, &mut j_b, &mut hit_b);
        }
        // Return one of two hits; the next call finds the other again.
        let found = match (hit_a, hit_b) {
            (true, _) => {
                i_a += 1;
                Some((low_a[i_a - 1], &high[..j_a]))
            }
            (_, true) => {
                i_b += 1;
                Some((low_b[i_b - 1], &high[..j_b]))
            }
            _ => None,
        };
        (self.i, self.j) = ([i_a, i_b], [j_a, j_b]);
        found
    }
}
