//! The learned state as a file: a head with a version and a checksum, what tells which matches it was learned from, and the
//! state of each rating system.
//!
//! A checkpoint is derived data. It is ignored if its version or its key differs, if the checksum is wrong, or if its bytes
//! do not decode. The caller compares its matches with those of the database.
//!
//! The folder of the checkpoints of one database.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, File},
    io::{self, BufWriter, ErrorKind, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::learned::{FOLD_VERSION, FoldProgress, Point};
use crate::{
    files::FileMode,
    model::{Rulebook, Ruleset},
    rating::SystemName,
    rating::history::{self, BalanceStatistics, Fold},
};

/// "EVKC" and the version of the layout. Change it when [`CheckpointHead`] or a rating system's state changes.
const HEADER: [u8; 8] = *b"EVKC\x00\x00\x00\x0c";
/// Bytes before the head: the header, the version of the fold, the checksum of all that follows.
const PREFIX: usize = 8 + 4 + 32;

/// What a checkpoint has before the states of its folds. The first two fields are also read by themselves.
#[derive(Serialize, Deserialize)]
struct CheckpointHead {
    /// A hash of the settings and overrides with which it was learned.
    key: String,
    /// How far it was learned.
    at: FoldProgress,
    /// The rating system chosen for each ruleset.
    chosen: BTreeMap<Ruleset, SystemName>,
    /// How even the rated matches were.
    balance: BalanceStatistics,
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
    let head = CheckpointHead {
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
fn write_rest(file: impl Write, head: &CheckpointHead, point: &Point) -> io::Result<[u8; 32]> {
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
pub(super) fn progress(bytes: &[u8], key: &str) -> Option<FoldProgress> {
    let (_, rest) = versioned(bytes)?;
    let ((own, at), _): ((&str, FoldProgress), _) = postcard::take_from_bytes(rest).ok()?;
    (own == key).then_some(at)
}

/// The head, and the states after it, if the checksum is right.
fn open(bytes: &[u8]) -> Option<(CheckpointHead, &[u8])> {
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

/// How the name of a checkpoint ends.
const SUFFIX: &str = ".checkpoint";
/// How the name of a file ends that is being written.
const UNFINISHED: &str = ".unfinished";
/// How many checkpoints of the same settings are kept: if the newest is damaged, or a match comes late, the one before it is
/// used.
const KEPT: usize = 2;
/// How many are kept in all, of daemons with other settings as well.
const MOST: usize = 8;
/// After this time, nobody writes an unfinished file any more.
const ABANDONED: Duration = Duration::from_secs(3_600);

/// Where the daemons of a database keep their checkpoints, each named after its number of matches and its key, which is that
/// of the settings, a hyphen, and that of the overrides. Nothing is lost without them: all matches are learned again.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    path: PathBuf,
    mode: FileMode,
}

impl Folder {
    pub fn new(path: PathBuf, mode: FileMode) -> Self {
        Self { path, mode }
    }

    /// The checkpoints of a key, the one with most matches first.
    pub fn checkpoints(&self, key: &str) -> io::Result<Vec<PathBuf>> {
        let mut files = self.files(|name| is_of(name, key))?;
        files.sort();
        files.reverse();
        Ok(files)
    }

    fn files(&self, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(&wanted) {
                files.push(entry.path());
            }
        }
        Ok(files)
    }

    /// Writes a checkpoint, and deletes older ones.
    pub fn save(&self, key: &str, point: &Point) -> io::Result<()> {
        fs::create_dir_all(&self.path)?;
        let builder = &mut tempfile::Builder::new();
        let mut file = builder.suffix(UNFINISHED).tempfile_in(&self.path)?;
        self.mode.set(file.as_file())?;
        write(file.as_file_mut(), key, point)?;
        file.as_file().sync_all()?;
        let name = format!("{:012}-{key}{SUFFIX}", point.at.matches);
        let written = file.persist(self.path.join(name));
        written.map_err(|error| error.error)?;
        self.tidy(key)
    }

    /// Deletes the checkpoints of other overrides than those of this key, which may contain players who were forgotten since,
    /// all but the newest ones of each settings, and what was left unfinished.
    pub fn tidy(&self, key: &str) -> io::Result<()> {
        let mut files = Vec::new();
        for path in self.files(|name| name.ends_with(SUFFIX) || name.ends_with(UNFINISHED))? {
            match fs::metadata(&path).and_then(|data| data.modified()) {
                Ok(written) => files.push((written, path)),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        files.sort();
        let mut kept: Vec<&str> = Vec::new();
        for (written, path) in files.iter().rev() {
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            let keeps = match settings_of(name, key) {
                Some(settings) => {
                    let of_these = kept.iter().filter(|own| **own == settings).count();
                    kept.push(settings);
                    of_these < KEPT && kept.len() <= MOST
                }
                None if name.ends_with(SUFFIX) => false,
                None => written.elapsed().is_ok_and(|age| age < ABANDONED),
            };
            if !keeps {
                remove(path)?;
            }
        }
        Ok(())
    }
}

/// Whether a file with this name is a checkpoint of the key.
fn is_of(name: &str, key: &str) -> bool {
    key_of(name) == Some(key)
}

/// The key of the settings, if a file with this name is a checkpoint with the overrides of a key.
fn settings_of<'a>(name: &'a str, key: &str) -> Option<&'a str> {
    let (settings, overrides) = key_of(name)?.split_once('-')?;
    let (_, own) = key.split_once('-')?;
    (overrides == own).then_some(settings)
}

fn key_of(name: &str) -> Option<&str> {
    let (_, key) = name.strip_suffix(SUFFIX)?.split_once('-')?;
    Some(key)
}

/// Removes a file, if another process has not done so.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs::File, io::Read};

    use proptest::prelude::*;

    use super::*;

    fn some() -> Point {
        let rulebook = Rulebook::new(&Default::default()).unwrap();
        let fold = |system: SystemName| {
            let mut settings = history::Settings::default();
            settings.rating.system = system.into();
            (system, Fold::new(&rulebook, settings))
        };
        let at = FoldProgress {
            matches: 3,
            last_match: 4,
            sum: u128::MAX,
            ..FoldProgress::default()
        };
        Point {
            at,
            chosen: Arc::default(),
            balance: BalanceStatistics::default(),
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

    fn names(folder: &Folder) -> Vec<String> {
        let files = folder.files(|_| true).unwrap().into_iter();
        let names = files.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// Files whose names are given, each written a minute after the one before it; the last one was written `ago`.
    fn with(names: &[&str], ago: Duration) -> (tempfile::TempDir, Folder) {
        let place = tempfile::tempdir().unwrap();
        for (age, name) in (0..).zip(names.iter().rev()) {
            let file = File::create(place.path().join(name)).unwrap();
            let age = ago + age * Duration::from_secs(60);
            let now = file.metadata().unwrap().modified().unwrap();
            file.set_modified(now - age).unwrap();
        }
        let folder = Folder::new(place.path().to_owned(), FileMode::default());
        (place, folder)
    }

    #[test]
    fn the_newest_of_each_settings_are_kept() {
        let all = [
            "000000000900-a-x.checkpoint",
            "000000000100-b-x.checkpoint",
            "000000000300-a-x.checkpoint",
            "000000000200-b-x.checkpoint",
            "000000000301-a-x.checkpoint",
            "000000000302-a-y.checkpoint",
            "000000000303-a.checkpoint",
            "notes.txt",
        ];
        let (_place, folder) = with(&all, Duration::ZERO);
        folder.tidy("a-x").unwrap();
        let mut kept = [all[1], all[2], all[3], all[4], all[7]];
        kept.sort_unstable();
        assert_eq!(names(&folder), kept);
        let newest = folder.checkpoints("a-x").unwrap();
        assert!(newest[0].ends_with(all[4]) && newest.len() == 2);
    }

    #[test]
    fn there_are_few_however_many_settings_there_are() {
        let all: Vec<String> = (10..22)
            .map(|own| format!("{own:012}-{own}-x.checkpoint"))
            .collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let (_place, folder) = with(&all, Duration::ZERO);
        folder.tidy("21-x").unwrap();
        assert_eq!(names(&folder), all[4..]);
    }

    #[test]
    fn a_file_that_another_daemon_writes_stays_until_it_is_old() {
        for (ago, left) in [(Duration::ZERO, 1), (2 * ABANDONED, 0)] {
            let (_place, folder) = with(&["1.unfinished"], ago);
            folder.tidy("a-x").unwrap();
            assert_eq!(names(&folder).len(), left);
        }
    }
}
