//! Identical lines of one file.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

/// The most lines that are remembered; each takes some 40 bytes. In a file with more lines, only
/// lines within one part of this length are compared.
const MAX_LINES: usize = 1 << 20;

/// The lines of a file so far, each as a hash with its number.
#[derive(Default)]
pub(super) struct Repeats {
    lines: BTreeMap<u64, u64>,
}

impl Repeats {
    /// Remembers a line, and returns the number of the first line with the same bytes, if there was
    /// one.
    pub(super) fn first(&mut self, bytes: &[u8], number: u64) -> Option<u64> {
        let mut hash = DefaultHasher::new();
        bytes.hash(&mut hash);
        if self.lines.len() >= MAX_LINES {
            self.lines.clear();
        }
        let first = *self.lines.entry(hash.finish()).or_insert(number);
        (first != number).then_some(first)
    }
}
