//! The learned state as bytes for the store: a version, a checksum, and the state that a restart
//! continues from.
//!
//! A checkpoint is derived data. It is discarded if its version differs, if its checksum is wrong
//! or if its bytes do not decode. The caller checks that its matches are those on disk.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::prediction::Predictions;
use crate::{
    domain::Ruleset,
    rating::{Blob, SystemName},
    store::{CheckpointRow, Cursor},
};

/// The version of the fold, a part of the settings' key. Increase it when the fold changes: every
/// database then derives its weights again.
pub(super) const FOLD_VERSION: u32 = 26;
/// "EVKC" and the version of the layout. Change it when [`Checkpoint`] or a rating system's state changes.
const HEADER: [u8; 8] = *b"EVKC\x00\x00\x00\x07";
/// Bytes before the encoded state: the header, the version of the fold, the checksum.
const PREFIX: usize = 8 + 4 + 32;
/// Larger states are not stored: writing them would take longer than folding the matches again.
const LARGEST: usize = 256 << 20;

/// The learned state as of one match.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Checkpoint {
    /// The key of the settings and overrides that it was learned with.
    pub key: String,
    /// The position after the last match folded.
    pub cursor: Cursor,
    /// Number of matches folded, rated or not.
    pub matches: i64,
    /// The highest id among them.
    pub last_match: i64,
    /// How many of the folded matches are rated.
    pub rated: u64,
    /// How good the predictions for them were.
    pub predictions: Predictions,
    /// The number of matches on which the rating systems were last compared.
    pub judged: usize,
    /// The state of each rating system's fold.
    pub folds: BTreeMap<SystemName, Blob>,
    /// The rating system chosen for each ruleset.
    pub chosen: BTreeMap<Ruleset, SystemName>,
    /// Remarks already logged.
    pub warned: BTreeSet<(Ruleset, String)>,
}

impl Checkpoint {
    /// The row to store, with its bytes; `None` if they would be larger than [`LARGEST`]. Logs that.
    pub fn row(&self) -> Option<(CheckpointRow, Vec<u8>)> {
        let Some(state) = self.seal() else {
            tracing::warn!("cannot write a checkpoint: the learned state is too large");
            return None;
        };
        let row = CheckpointRow {
            matches: self.matches,
            last_match: self.last_match,
            cursor: self.cursor,
            settings: self.key.clone(),
            bytes: i64::try_from(state.len()).unwrap_or(i64::MAX),
        };
        Some((row, state))
    }

    /// The bytes to store; `None` if they would be larger than [`LARGEST`].
    fn seal(&self) -> Option<Vec<u8>> {
        let folds: usize = self.folds.values().map(|fold| fold.0.len()).sum();
        let mut bytes = Vec::with_capacity(PREFIX + folds + folds / 64);
        bytes.extend_from_slice(&HEADER);
        bytes.extend_from_slice(&FOLD_VERSION.to_le_bytes());
        bytes.resize(PREFIX, 0);
        let mut bytes = postcard::to_extend(self, bytes).ok()?;
        if bytes.len() > PREFIX + LARGEST {
            return None;
        }
        let checksum = Sha256::digest(&bytes[PREFIX..]);
        bytes[HEADER.len() + 4..PREFIX].copy_from_slice(&checksum);
        Some(bytes)
    }

    /// Whether it is the checkpoint that a row describes.
    pub fn is_of(&self, row: &CheckpointRow) -> bool {
        let matches = (self.matches, self.last_match) == (row.matches, row.last_match);
        matches && self.key == row.settings && self.cursor == row.cursor
    }

    /// The checkpoint that [`seal`](Self::seal) wrote; `None` for any other bytes.
    pub fn open(bytes: &[u8]) -> Option<Self> {
        let (prefix, state) = bytes.split_at_checked(PREFIX)?;
        let (header, rest) = prefix.split_at_checked(HEADER.len())?;
        let (fold, checksum) = rest.split_at_checked(4)?;
        let known = header == HEADER && fold == FOLD_VERSION.to_le_bytes();
        if !known || checksum != Sha256::digest(state).as_slice() {
            return None;
        }
        postcard::from_bytes(state).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn some() -> Checkpoint {
        Checkpoint {
            key: "key".into(),
            cursor: Cursor::START,
            matches: 3,
            last_match: 4,
            rated: 2,
            predictions: Predictions::default(),
            judged: 0,
            folds: [(SystemName::Joint, Blob(vec![1, 2, 3]))].into(),
            chosen: BTreeMap::new(),
            warned: BTreeSet::new(),
        }
    }

    #[test]
    fn what_was_sealed_opens() {
        let sealed = some().seal().unwrap();
        let opened = Checkpoint::open(&sealed).unwrap();
        assert_eq!(opened.seal().unwrap(), sealed);
        assert_eq!((opened.matches, opened.last_match), (3, 4));
    }

    proptest! {
        #[test]
        fn other_bytes_are_refused(
            noise in prop::collection::vec(any::<u8>(), 0..300),
            at in any::<prop::sample::Index>(),
            bit in 0..8_u8,
        ) {
            let sealed = some().seal().unwrap();
            prop_assert!(Checkpoint::open(&noise).is_none());
            prop_assert!(Checkpoint::open(&sealed[..at.index(sealed.len())]).is_none());
            prop_assert!(Checkpoint::open(&[sealed.as_slice(), &noise, &[0]].concat()).is_none());
            let mut flipped = sealed;
            let index = at.index(flipped.len());
            flipped[index] ^= 1 << bit;
            prop_assert!(Checkpoint::open(&flipped).is_none());
        }
    }
}
