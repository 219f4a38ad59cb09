//! Sets of tickets as bits.

/// A set of ticket indices below a fixed number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// The empty set of indices below `count`.
    pub fn empty(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    /// The set of these indices, each below `count`.
    pub fn of(indices: &[u32], count: usize) -> Self {
        let mut bits = Self::empty(count);
        indices.iter().for_each(|at| bits.insert(*at));
        bits
    }

    /// The set of all indices below `count`.
    pub fn full(count: usize) -> Self {
        let mut bits = Self(vec![u64::MAX; count.div_ceil(64)]);
        if let (Some(last), used @ 1..) = (bits.0.last_mut(), count % 64) {
            *last = (1 << used) - 1;
        }
        bits
    }

    pub fn insert(&mut self, at: u32) {
        if let Some(word) = self.0.get_mut(at as usize / 64) {
            *word |= 1 << (at % 64);
        }
    }

    pub fn remove(&mut self, at: u32) {
        if let Some(word) = self.0.get_mut(at as usize / 64) {
            *word &= !(1 << (at % 64));
        }
    }

    pub fn contains(&self, at: u32) -> bool {
        let word = self.0.get(at as usize / 64);
        word.is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    /// Number of indices in the set.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Number of indices that are in this and in the other set.
    pub fn len_with(&self, other: &Self) -> usize {
        let words = self.0.iter().zip(&other.0);
        words
            .map(|(one, other)| (one & other).count_ones() as usize)
            .sum()
    }

    /// The indices that are in both sets.
    pub fn and(&self, other: &Self) -> Self {
        Self(
            self.0
                .iter()
                .zip(&other.0)
                .map(|(one, other)| one & other)
                .collect(),
        )
    }

    /// Adds the indices of another set.
    pub fn add(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    /// The indices, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let words = self.0.iter().enumerate();
        words.flat_map(|(at, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                rest &= rest.wrapping_sub(1);
                (bit < 64).then_some(at as u32 * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_a_set() {
        for count in [0, 1, 63, 64, 65, 200] {
            let full = Bits::full(count);
            assert_eq!(full.len(), count);
            assert!(full.iter().eq(0..count as u32));
        }
        let mut bits = Bits::empty(130);
        for at in [0, 63, 64, 129, 500] {
            bits.insert(at);
        }
        bits.remove(63);
        assert!(bits.iter().eq([0, 64, 129]));
        assert!(bits.contains(64) && !bits.contains(63) && !bits.contains(500));
        let mut other = Bits::empty(130);
        other.insert(64);
        assert_eq!((bits.len_with(&other), bits.and(&other)), (1, other));
    }
}
