//! The names of control points, which differ between maps.

use std::collections::BTreeSet;

/// The most names of one game that are kept. A real map has fewer.
const MAX_POINTS: usize = 64;
/// The most bytes of a name that are kept.
const MAX_NAME: usize = 64;

/// The control points that were captured in a game.
#[derive(Debug, Default)]
pub(super) struct ControlPoints(BTreeSet<Vec<u8>>);

impl ControlPoints {
    /// Notes a name, which ends with a quotation mark.
    pub(super) fn note(&mut self, name: &[u8]) {
        let head = &name[..name.len().min(MAX_NAME)];
        let end = memchr::memchr(b'"', head).unwrap_or(head.len());
        let name = &head[..end];
        if self.0.len() < MAX_POINTS && !name.is_empty() && !self.0.contains(name) {
            self.0.insert(name.to_owned());
        }
    }

    /// Takes over the points of the next game, and returns whether it must have been on another map:
    /// points were captured in both games, and none in both.
    pub(super) fn is_other_map(&mut self, next: Self) -> bool {
        if next.0.is_empty() {
            return false;
        }
        let is_other = !self.0.is_empty() && self.0.is_disjoint(&next.0);
        *self = next;
        is_other
    }
}
