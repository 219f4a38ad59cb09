//! Sets of tickets as bits.

use fixedbitset::FixedBitSet;

/// A set of ticket indices, made for those below a fixed number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits(FixedBitSet);

impl Bits {
    /// The empty set of indices below `count`.
    pub(crate) fn empty(count: usize) -> Self {
        Self(FixedBitSet::with_capacity(count))
    }

    /// The set of these indices, each below `count`.
    pub(crate) fn of(indices: &[u32], count: usize) -> Self {
        let mut bits = Self::empty(count);
        indices.iter().for_each(|at| bits.insert(*at));
        bits
    }

    /// The set of all indices below `count`.
    pub(crate) fn full(count: usize) -> Self {
        let mut bits = Self::empty(count);
        bits.0.insert_range(..);
        bits
    }

    pub(crate) fn insert(&mut self, at: u32) {
        self.0.grow_and_insert(at as usize);
    }

    pub(crate) fn remove(&mut self, at: u32) {
        if self.contains(at) {
            self.0.remove(at as usize);
        }
    }

    pub(crate) fn contains(&self, at: u32) -> bool {
        self.0.contains(at as usize)
    }

    /// Number of indices in the set.
    pub(crate) fn len(&self) -> usize {
        self.0.count_ones(..)
    }

    /// Number of indices that are in this and in the other set.
    pub(crate) fn len_with(&self, other: &Self) -> usize {
        self.0.intersection_count(&other.0)
    }

    /// The indices that are in both sets.
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self(&self.0 & &other.0)
    }

    /// Adds the indices of another set.
    pub(crate) fn add(&mut self, other: &Self) {
        self.0.union_with(&other.0);
    }

    /// The indices, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.ones().map(|at| at as u32)
    }
}
