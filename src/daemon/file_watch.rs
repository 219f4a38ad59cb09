//! Notices when files change, by looking at their contents at intervals.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    time::Duration,
};

use sha2::{Digest, Sha256};
use tokio::time::sleep;

/// How often the files are looked at. A change counts once two looks in succession have found it, so that a
/// file is not read while it is being written.
const LOOK: Duration = Duration::from_secs(1);
/// The most bytes that are read of a file.
const MOST: u64 = 16 << 20;

/// What a file contains, by its digest; `None` if it cannot be read.
type Contents = BTreeMap<PathBuf, Option<[u8; 32]>>;

/// Files, and what they contained when they were last taken over.
#[derive(Clone, Debug)]
pub struct FileWatch {
    seen: Contents,
}

impl FileWatch {
    /// Watches these files from now on.
    pub fn new(files: impl IntoIterator<Item = PathBuf>) -> Self {
        let files = files.into_iter().map(|path| {
            let contents = contents(&path);
            (path, contents)
        });
        Self {
            seen: files.collect(),
        }
    }

    /// Waits until the contents of a file have changed, and takes them as seen. Cancel safe.
    pub async fn changed(&mut self) {
        let mut before = self.seen.clone();
        loop {
            sleep(LOOK).await;
            let files: Vec<PathBuf> = self.seen.keys().cloned().collect();
            // Fails only if the runtime stops.
            let Ok(now) = tokio::task::spawn_blocking(move || Self::new(files).seen).await else {
                return std::future::pending().await;
            };
            if now != self.seen && now == before {
                self.seen = now;
                return;
            }
            before = now;
        }
    }

    /// Watches these files instead. Those that were watched before count with what was seen of them.
    pub fn replace(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        let mut seen = Self::new(files).seen;
        for (path, contents) in &mut seen {
            if let Some(known) = self.seen.get(path) {
                *contents = *known;
            }
        }
        self.seen = seen;
    }

    /// Takes the present contents as seen, because they are read now.
    pub fn refresh(&mut self) {
        let files: Vec<PathBuf> = self.seen.keys().cloned().collect();
        *self = Self::new(files);
    }
}

fn contents(path: &Path) -> Option<[u8; 32]> {
    let read = || -> io::Result<Vec<u8>> {
        if !fs::metadata(path)?.is_file() {
            return Err(io::ErrorKind::InvalidInput.into()); // a pipe might never end
        }
        let mut bytes = Vec::new();
        File::open(path)?.take(MOST).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    Some(Sha256::digest(read().ok()?).into())
}
