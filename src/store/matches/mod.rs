//! The matches: how they are recorded, read in order, and listed.
//!
//! Each is written whole or not at all, and only an operator changes it afterwards.

pub(in crate::store) mod chances;
pub(in crate::store) mod filtered;
pub(in crate::store) mod games;
pub(in crate::store) mod group_commit;
pub(in crate::store) mod halves;
pub(in crate::store) mod insert;
pub(in crate::store) mod lately;
pub(in crate::store) mod latest;
pub(in crate::store) mod logs;
pub(in crate::store) mod new_games;
pub(in crate::store) mod numbers;
pub(in crate::store) mod of_person;
pub(in crate::store) mod packed;
pub(in crate::store) mod page_match;
pub(in crate::store) mod played;
pub(in crate::store) mod players;
pub(in crate::store) mod present;
pub(in crate::store) mod read_matches;
pub(in crate::store) mod receipts;
pub(in crate::store) mod record;
pub(in crate::store) mod rows;
pub(in crate::store) mod shared;
pub(in crate::store) mod twins;

use super::Store;

/// The matches.
#[derive(Clone, Copy, Debug)]
pub struct Matches<'a>(&'a Store);

impl Store {
    /// The matches.
    pub fn matches(&self) -> Matches<'_> {
        Matches(self)
    }
}
