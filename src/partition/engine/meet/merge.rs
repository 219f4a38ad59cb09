//! Two ascending lists made one.

use super::sums::Ways;

/// Some of the ascending lists that are merged, without repetition, and in how many ways each of
/// their numbers comes about.
#[derive(Clone, Copy)]
pub(super) struct View<'a, W> {
    pub sums: &'a [i64],
    pub ways: &'a [W],
}

impl<'a, W> View<'a, W> {
    fn split_at(self, at: usize) -> [Self; 2] {
        let (sums, more_sums) = self.sums.split_at(at);
        let (ways, more_ways) = self.ways.split_at(at);
        [
            Self { sums, ways },
            Self {
                sums: more_sums,
                ways: more_ways,
            },
        ]
    }
}

/// Appends the numbers of `a` and those of `b` moved up by `lift`, ascending, equal ones once.
/// Linear, without a branch that depends on the numbers.
///
/// A merge waits for its own last comparison at every step, so two run side by side: one for what
/// is below the middle of `a`, one for the rest.
pub(super) fn merge<W: Ways>(
    a: View<W>,
    b: View<W>,
    lift: i64,
    sums: &mut Vec<i64>,
    ways: &mut Vec<W>,
) {
    let start = sums.len();
    let end = start + a.sums.len() + b.sums.len();
    sums.resize(end, 0);
    ways.resize(end, W::ONE);
    let middle = a.sums.len() / 2;
    let cut = match a.sums.get(middle) {
        Some(&first) => b.sums.partition_point(|&sum| sum + lift < first),
        None => 0,
    };
    let ([a_low, a_high], [b_low, b_high]) = (a.split_at(middle), b.split_at(cut));
    let (sums_low, sums_high) = sums[start..].split_at_mut(middle + cut);
    let (ways_low, ways_high) = ways[start..].split_at_mut(middle + cut);
    let mut low = Lane::new(a_low, b_low, sums_low, ways_low);
    let mut high = Lane::new(a_high, b_high, sums_high, ways_high);
    while low.both() && high.both() {
        low.step(lift);
        high.step(lift);
    }
    let (low, high) = (low.finish(lift), high.finish(lift));
    if low < middle + cut {
        let moved = start + middle + cut..start + middle + cut + high;
        sums.copy_within(moved.clone(), start + low);
        ways.copy_within(moved, start + low);
    }
    sums.truncate(start + low + high);
    ways.truncate(start + low + high);
}

struct Lane<'a, W> {
    a: View<'a, W>,
    b: View<'a, W>,
    sums: &'a mut [i64],
    ways: &'a mut [W],
    /// How many of each are done.
    i: usize,
    j: usize,
    k: usize,
}

impl<'a, W: Ways> Lane<'a, W> {
    fn new(a: View<'a, W>, b: View<'a, W>, sums: &'a mut [i64], ways: &'a mut [W]) -> Self {
        Self {
            a,
            b,
            sums,
            ways,
            i: 0,
            j: 0,
            k: 0,
        }
    }

    #[inline(always)]
    fn both(&self) -> bool {
        self.i < self.a.sums.len() && self.j < self.b.sums.len()
    }

    #[inline(always)]
    fn step(&mut self, lift: i64) {
        let (x, y) = (self.a.sums[self.i], self.b.sums[self.j] + lift);
        let (mine, theirs) = (x <= y, y <= x);
        self.sums[self.k] = x.min(y);
        self.ways[self.k] = self.a.ways[self.i].either(mine, self.b.ways[self.j], theirs);
        self.i += usize::from(mine);
        self.j += usize::from(theirs);
        self.k += 1;
    }

    /// Does the rest, and says how many there are now.
    fn finish(mut self, lift: i64) -> usize {
        while self.both() {
            self.step(lift);
        }
        let (a, b) = (&self.a.sums[self.i..], &self.b.sums[self.j..]);
        let (sums, ways) = (&mut self.sums[self.k..], &mut self.ways[self.k..]);
        sums[..a.len()].copy_from_slice(a);
        ways[..a.len()].copy_from_slice(&self.a.ways[self.i..]);
        for (to, sum) in sums[a.len()..].iter_mut().zip(b) {
            *to = sum + lift;
        }
        ways[a.len()..a.len() + b.len()].copy_from_slice(&self.b.ways[self.j..]);
        self.k + a.len() + b.len()
    }
}
