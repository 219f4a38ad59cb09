//! Which sums the last atoms can still add to a team.

/// An atom that is not placed yet: its index in the instance, what it counts above bots, and its size.
pub(super) type Free = (usize, i64, usize);

/// The sums and human counts that a team may have, both ends included.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) sums: (i64, i64),
    pub(super) humans: (usize, usize),
}

/// The smallest and the largest sum of a subset of the last atoms, by how many atoms there are and
/// how many humans the subset has.
pub(super) struct ReachableSums {
    sums: Vec<Option<(i64, i64)>>,
    width: usize,
}

impl ReachableSums {
    /// O(atoms × humans).
    pub(super) fn new(free: &[Free], most: usize) -> Self {
        let width = most + 1;
        let mut sums = vec![None; (free.len() + 1) * width];
        sums[free.len() * width] = Some((0, 0));
        for (next, &(_, above_bot, size)) in free.iter().enumerate().rev() {
            for humans in 0..width {
                let without = sums[(next + 1) * width + humans];
                let with = humans
                    .checked_sub(size)
                    .and_then(|rest| sums[(next + 1) * width + rest]);
                let with = with.map(|(least, greatest)| (least + above_bot, greatest + above_bot));
                sums[next * width + humans] = match (without, with) {
                    (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
                    (one, other) => one.or(other),
                };
            }
        }
        Self { sums, width }
    }

    /// Whether a team that counts so much above bots, with these humans, can still come within the range by adding
    /// atoms from `next` on.
    pub(super) fn reaches(&self, next: usize, range: Range, above_bot: i64, humans: usize) -> bool {
        let (fewest, most) = range.humans;
        let Some(room) = most.checked_sub(humans) else {
            return false;
        };
        (fewest.saturating_sub(humans)..=room).any(|more| {
            self.sums[next * self.width + more].is_some_and(|(least, greatest)| {
                above_bot + least <= range.sums.1 && above_bot + greatest >= range.sums.0
            })
        })
    }
}
