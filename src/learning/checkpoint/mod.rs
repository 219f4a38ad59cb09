//! The learned state as a file: a head with a version and a checksum, what tells which matches it was learned from, and the
//! state of each rating system.
//!
//! A checkpoint is derived data. It is ignored if its version or its key differs, if the checksum is wrong, or if its bytes
//! do not decode. The caller compares its matches with those of the database.

mod folder;

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufWriter, Seek, SeekFrom, Write},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{
    keys::FOLD_VERSION,
    learned::{Point, Progress},
};
use crate::{
    model::{Rulebook, Ruleset},
    rating::SystemName,
    rating::history::{self, Balance, Fold},
};

pub(super) use folder::Folder;

/// "EVKC" and the version of the layout. Change it when [`Head`] or a rating system's state changes.
const HEADER: [u8; 8] = *b"EVKC\x00\x00\x00\x0c";
/// Bytes before the head: the header, the version of the fold, the checksum of all that follows.
const PREFIX: usize = 8 + 4 + 32;

/// What a checkpoint has before the states of its folds. The first two fields are also read by themselves.
#[derive(Serialize, Deserialize)]
struct Head {
    /// A hash of the settings and overrides with which it was learned.
    key: String,
    /// How far it was learned.
    at: Progress,
    /// The rating system chosen for each ruleset.
    chosen: BTreeMap<Ruleset, SystemName>,
    /// How even the rated matches were.
    balance: Balance,
    /// The length of each rating system's state, which follow in this order.
    folds: BTreeMap<SystemName, u64>,
}

/// Writes a state that was learned with the settings and overrides of `key`.
pub(super) fn write(file: &mut File, key: &str, point: &Point) -> io::Result<()> {
    let states = |point: &Point| -> io::Result<BTreeMap<SystemName, u64>> {
        let folds = point.folds.iter();
        folds
            .map(|(name, fold)| Ok((*name, length(fold)?)))
            .collect()
    };
    let head = Head {
        key: key.to_owned(),
        at: point.at.clone(),
        chosen: (*point.chosen).clone(),
        balance: point.balance.clone(),
        folds: states(point)?,
    };
    file.write_all(&HEADER)?;
    file.write_all(&FOLD_VERSION.to_le_bytes())?;
    file.write_all(&[0; 32])?;
    let sum = write_rest(&mut *file, &head, point)?;
    file.seek(SeekFrom::Start(PREFIX as u64 - 32))?;
    file.write_all(&sum)
}

/// Writes what follows the prefix, and returns its checksum.
fn write_rest(file: impl Write, head: &Head, point: &Point) -> io::Result<[u8; 32]> {
    let mut rest = Summed {
        to: BufWriter::new(file),
        sum: Sha256::new(),
    };
    postcard::to_io(head, &mut rest).map_err(io::Error::other)?;
    for fold in point.folds.values() {
        fold.save(&mut rest).map_err(io::Error::other)?;
    }
    rest.flush()?;
    Ok(rest.sum.finalize().into())
}

/// The number of bytes of a fold's state.
fn length(fold: &Fold) -> io::Result<u64> {
    /// Counts what is written to it.
    struct Count(u64);
    impl Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    fold.save(&mut count).map_err(io::Error::other)?;
    Ok(count.0)
}

/// Passes on what is written to it, and hashes it.
struct Summed<W> {
    to: W,
    sum: Sha256,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Reads the content of a file, and restores each fold by the rulebook and the settings; `None` if it has another key, is
/// damaged, or of another version.
pub(super) fn read(
    bytes: &[u8],
    key: &str,
    rulebook: &Rulebook,
    settings: &history::Settings,
) -> Option<Point> {
    let (head, mut rest) = open(bytes)?;
    let mut folds = BTreeMap::new();
    for (system, length) in &head.folds {
        let state;
        (state, rest) = rest.split_at_checked(usize::try_from(*length).ok()?)?;
        let mut own = settings.clone();
        own.rating.system = (*system).into();
        folds.insert(*system, Fold::restore(rulebook, own, state).ok()?);
    }
    (rest.is_empty() && head.key == key).then(|| Point {
        at: head.at,
        chosen: Arc::new(head.chosen),
        balance: head.balance,
        folds,
    })
}

/// How far the state of a file was learned, without a look at the checksum, so that its matches can be compared with those
/// of the database meanwhile; `None` if it has another key, or is of another version.
pub(super) fn progress(bytes: &[u8], key: &str) -> Option<Progress> {
    let (_, rest) = versioned(bytes)?;
    let ((own, at), _): ((&str, Progress), _) = postcard::take_from_bytes(rest).ok()?;
    (own == key).then_some(at)
}

/// The head, and the states after it, if the checksum is right.
fn open(bytes: &[u8]) -> Option<(Head, &[u8])> {
    let (sum, rest) = versioned(bytes)?;
    if sum != &Sha256::digest(rest)[..] {
        return None;
    }
    postcard::take_from_bytes(rest).ok()
}

/// The checksum, and what follows it, if the version is the present one.
fn versioned(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (prefix, rest) = bytes.split_at_checked(PREFIX)?;
    let (header, versioned) = prefix.split_at_checked(HEADER.len())?;
    let (fold, sum) = versioned.split_at_checked(4)?;
    let known = header == HEADER && fold == FOLD_VERSION.to_le_bytes();
    known.then_some((sum, rest))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use proptest::prelude::*;

    fn some() -> Point {
        let rulebook = Rulebook::new(&Default::default()).unwrap();
        let fold = |system: SystemName| {
            let mut settings = history::Settings::default();
            settings.rating.system = system.into();
            (system, Fold::new(&rulebook, settings))
        };
        let at = Progress {
            matches: 3,
            last_match: 4,
            sum: u128::MAX,
            ..Progress::default()
        };
        Point {
            at,
            chosen: Arc::default(),
            balance: Balance::default(),
            folds: [SystemName::Joint, SystemName::Presence].map(fold).into(),
        }
    }

    fn written() -> Vec<u8> {
        let mut file = tempfile::tempfile().unwrap();
        write(&mut file, "key", &some()).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn read_with(key: &str, bytes: &[u8]) -> Option<Point> {
        let rulebook = Rulebook::new(&Default::default()).unwrap();
        read(bytes, key, &rulebook, &history::Settings::default())
    }

    #[test]
    fn what_was_written_is_read_with_the_same_key() {
        let written = written();
        let point = read_with("key", &written).unwrap();
        assert_eq!(point.at, some().at);
        assert_eq!(progress(&written, "key"), Some(some().at));
        assert!(point.folds.keys().eq(some().folds.keys()));
        assert!(read_with("other", &written).is_none());
        assert_eq!(progress(&written, "other"), None);
    }

    proptest! {
        #[test]
        fn other_bytes_are_refused(
            noise in prop::collection::vec(any::<u8>(), 0..300),
            at in any::<prop::sample::Index>(),
            bit in 0..8_u8,
        ) {
            let written = written();
            let refused = |bytes: &[u8]| read_with("key", bytes).is_none();
            prop_assert!(refused(&noise));
            prop_assert!(progress(&noise, "key").is_none());
            prop_assert!(refused(&written[..at.index(written.len())]));
            prop_assert!(refused(&[written.as_slice(), &noise, &[0]].concat()));
            let mut flipped = written;
            let index = at.index(flipped.len());
            flipped[index] ^= 1 << bit;
            prop_assert!(refused(&flipped));
        }
    }
}
