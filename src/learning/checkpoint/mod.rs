//! The learned state in the form in which it is stored: a head with a version and a checksum, and pieces.
//!
//! A checkpoint is derived data. It is discarded if its version differs, if a checksum is wrong, if a piece is missing,
//! or if its bytes do not decode. The caller checks that its matches are those on disk.

mod cut;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    io,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::prediction::Predictions;
use crate::{
    domain::Ruleset,
    history::{Balance, Fold},
    rating::SystemName,
    store::{CheckpointRow, Cursor, NewCheckpoint, PieceHash},
};
use cut::Cutter;

/// The version of the fold, a part of the settings' key. Increase it when the fold changes: every
/// database then derives its weights again.
pub(super) const FOLD_VERSION: u32 = 32;
/// "EVKC" and the version of the layout. Change it when [`Checkpoint`] or a rating system's state changes.
const HEADER: [u8; 8] = *b"EVKC\x00\x00\x00\x0c";
/// Bytes before the encoded head: the header, the version of the fold, the checksum.
const PREFIX: usize = 8 + 4 + 32;

/// What is stored of the learned state as of one match, but for its pieces.
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
    /// The number of pieces of each rating system's fold.
    pub folds: BTreeMap<SystemName, usize>,
    /// The rating system chosen for each ruleset.
    pub chosen: BTreeMap<Ruleset, SystemName>,
    /// How even the rated matches were.
    pub balance: Balance,
    /// Remarks already logged.
    pub warned: BTreeSet<(Ruleset, String)>,
    /// The pieces of all folds, in order.
    #[serde(skip)]
    pub pieces: Vec<PieceHash>,
    /// The length of these pieces together.
    #[serde(skip)]
    pub bytes: i64,
}

impl Checkpoint {
    /// Cuts the state of each fold into pieces, and passes them on, each with its hash. CPU-heavy.
    pub fn cut(
        &mut self,
        folds: &BTreeMap<SystemName, Fold>,
        pass_on: impl FnMut(PieceHash, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut cutter = Cutter::new(pass_on);
        for (system, fold) in folds {
            let before = cutter.pieces.len();
            fold.save(&mut cutter).map_err(io::Error::other)?;
            cutter.finish()?;
            self.folds.insert(*system, cutter.pieces.len() - before);
        }
        (self.pieces, self.bytes) = (cutter.pieces, cutter.bytes);
        Ok(())
    }

    /// What is stored beside the pieces; `None` if it cannot be encoded, which does not happen.
    pub fn stored(&self) -> Option<NewCheckpoint> {
        let row = CheckpointRow {
            matches: self.matches,
            last_match: self.last_match,
            cursor: self.cursor,
            settings: self.key.clone(),
            bytes: self.bytes,
        };
        Some(NewCheckpoint {
            row,
            head: self.seal()?,
            pieces: self.pieces.clone(),
        })
    }

    fn seal(&self) -> Option<Vec<u8>> {
        let mut head = [&HEADER[..], &FOLD_VERSION.to_le_bytes()].concat();
        head.resize(PREFIX, 0);
        let mut head = postcard::to_extend(self, head).ok()?;
        let checksum = checksum(&head[PREFIX..], &self.pieces);
        head[HEADER.len() + 4..PREFIX].copy_from_slice(&checksum);
        Some(head)
    }

    /// Whether it is the checkpoint that a row describes.
    pub fn is_of(&self, row: &CheckpointRow) -> bool {
        let matches = (self.matches, self.last_match) == (row.matches, row.last_match);
        matches && self.key == row.settings && self.cursor == row.cursor
    }

    /// The checkpoint that has this head and these pieces; `None` if they do not belong together.
    pub fn open(head: &[u8], pieces: Vec<PieceHash>) -> Option<Self> {
        let (prefix, state) = head.split_at_checked(PREFIX)?;
        let (header, rest) = prefix.split_at_checked(HEADER.len())?;
        let (fold, sum) = rest.split_at_checked(4)?;
        let known = header == HEADER && fold == FOLD_VERSION.to_le_bytes();
        if !known || sum != checksum(state, &pieces) {
            return None;
        }
        let opened: Self = postcard::from_bytes(state).ok()?;
        let count = opened
            .folds
            .values()
            .try_fold(0_usize, |sum, own| sum.checked_add(*own));
        (count == Some(pieces.len())).then_some(Self { pieces, ..opened })
    }

    /// The pieces of each fold. Never fails for a checkpoint that was [opened](Self::open).
    pub fn pieces_of_folds(&self) -> impl Iterator<Item = (SystemName, &[PieceHash])> {
        let mut rest = self.pieces.as_slice();
        self.folds.iter().map(move |(system, count)| {
            let own;
            (own, rest) = rest.split_at_checked(*count).unwrap_or_default();
            (*system, own)
        })
    }
}

/// Adds these pieces to a state. Returns `false` if one of them is missing, or damaged.
pub(super) fn join(
    state: &mut Vec<u8>,
    wanted: &[PieceHash],
    found: &HashMap<PieceHash, Vec<u8>>,
) -> bool {
    wanted.iter().all(|hash| {
        let piece = found.get(hash);
        let whole = piece.filter(|piece| Sha256::digest(piece)[..] == hash[..]);
        whole.is_some_and(|piece| {
            state.extend_from_slice(piece);
            true
        })
    })
}

/// The checksum of a head without its prefix, and of the hashes of the pieces.
fn checksum(head: &[u8], pieces: &[PieceHash]) -> [u8; 32] {
    let mut sum = Sha256::new_with_prefix(head);
    pieces.iter().for_each(|piece| sum.update(piece));
    sum.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PIECES: [PieceHash; 3] = [[1; 32], [2; 32], [3; 32]];

    fn some() -> Checkpoint {
        Checkpoint {
            key: "key".into(),
            cursor: Cursor::START,
            matches: 3,
            last_match: 4,
            rated: 2,
            predictions: Predictions::default(),
            judged: 0,
            folds: [(SystemName::Joint, 2), (SystemName::Presence, 1)].into(),
            chosen: BTreeMap::new(),
            balance: Balance::default(),
            warned: BTreeSet::new(),
            pieces: PIECES.into(),
            bytes: 9,
        }
    }

    #[test]
    fn what_was_sealed_opens() {
        let sealed = some().seal().unwrap();
        let opened = Checkpoint::open(&sealed, PIECES.into()).unwrap();
        assert_eq!(opened.seal().unwrap(), sealed);
        assert_eq!((opened.matches, opened.last_match), (3, 4));
        let folds: Vec<_> = opened.pieces_of_folds().collect();
        let expected = [
            (SystemName::Joint, &PIECES[..2]),
            (SystemName::Presence, &PIECES[2..]),
        ];
        assert_eq!(folds, expected);
    }

    #[test]
    fn pieces_of_other_checkpoints_are_refused() {
        let sealed = some().seal().unwrap();
        let [a, b, c] = PIECES;
        for other in [vec![a, c, b], vec![a, b], vec![a, b, c, c], vec![a, b, a]] {
            assert!(Checkpoint::open(&sealed, other).is_none());
        }
    }

    #[test]
    fn a_state_lacks_no_piece_and_no_bit() {
        let contents = [&b"one"[..], b"two"].map(<[u8]>::to_vec);
        let hashes = contents.clone().map(|one| Sha256::digest(one).into());
        let found: HashMap<PieceHash, Vec<u8>> = hashes.into_iter().zip(contents).collect();
        let joined = |wanted: &[PieceHash], found| {
            let mut state = Vec::new();
            join(&mut state, wanted, found).then_some(state)
        };
        let [one, two] = hashes;
        let again = joined(&[two, one, two], &found);
        assert_eq!(again.as_deref(), Some(&b"twoonetwo"[..]));
        assert_eq!(joined(&[one, [9; 32]], &found), None);
        let mut damaged = found.clone();
        damaged.insert(two, b"tw0".to_vec());
        assert_eq!(joined(&[one, two], &damaged), None);
    }

    proptest! {
        #[test]
        fn other_bytes_are_refused(
            noise in prop::collection::vec(any::<u8>(), 0..300),
            at in any::<prop::sample::Index>(),
            bit in 0..8_u8,
        ) {
            let sealed = some().seal().unwrap();
            let refused = |head: &[u8]| Checkpoint::open(head, PIECES.into()).is_none();
            prop_assert!(refused(&noise));
            prop_assert!(refused(&sealed[..at.index(sealed.len())]));
            prop_assert!(refused(&[sealed.as_slice(), &noise, &[0]].concat()));
            let mut flipped = sealed;
            let index = at.index(flipped.len());
            flipped[index] ^= 1 << bit;
            prop_assert!(refused(&flipped));
        }
    }
}
