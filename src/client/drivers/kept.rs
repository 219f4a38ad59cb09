//! The file with the match that a killed agent leaves to the next one.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use super::DriverError;
use crate::sidecar::agent::AgentMatch;

/// The longest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The file. It contains the passes of the players, so only its owner can read it.
pub struct KeptMatch {
    path: PathBuf,
}

impl KeptMatch {
    /// The file at this path, which need not exist.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// The match in the file, if there is one.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or contains something else.
    pub(super) fn read(&self) -> Result<Option<AgentMatch>, DriverError> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(|source| self.error(source))?,
        };
        let mut text = Vec::new();
        let read = file.take(MAX_FILE).read_to_end(&mut text);
        read.map_err(|source| self.error(source))?;
        let kept = serde_json::from_slice(&text);
        Ok(Some(kept.map_err(|error| self.error(error.into()))?))
    }

    /// Writes the match, or removes the file. It is on the disk when this returns.
    ///
    /// # Errors
    /// Fails if the file cannot be written or removed.
    pub(super) fn keep(&self, kept: Option<&AgentMatch>) -> Result<(), DriverError> {
        let done = match kept {
            Some(kept) => match serde_json::to_vec(kept) {
                Ok(text) => self.write(&text),
                Err(error) => Err(error.into()),
            },
            None => fs::remove_file(&self.path),
        };
        match done {
            Err(error) if kept.is_none() && error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done.map_err(|source| self.error(source)),
        }
    }

    /// Writes a temporary file and renames it, so that the next agent never reads half of it.
    fn write(&self, text: &[u8]) -> io::Result<()> {
        let fresh = temporary(&self.path);
        let _ = fs::remove_file(&fresh);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&fresh)?;
        file.write_all(text)?;
        file.sync_all()?;
        drop(file);
        fs::rename(&fresh, &self.path)
    }

    fn error(&self, source: io::Error) -> DriverError {
        let path = self.path.clone();
        DriverError::File { path, source }
    }
}

fn temporary(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    path.with_file_name(name)
}
