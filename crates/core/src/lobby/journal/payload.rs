//! Entries as the payload of a frame, in the encoding of postcard.

use super::{Entry, JournalError, entry::TimedEntry, frame::FrameBuffer};

/// Collects entries for one frame.
#[derive(Debug, Default)]
pub struct EntryBuffer(FrameBuffer);

impl EntryBuffer {
    /// Adds an entry for something that happened at `at`, in milliseconds of the session.
    ///
    /// # Errors
    /// Fails if the entry cannot be encoded. The buffer cannot be used after that.
    pub fn push(&mut self, at: u64, entry: &Entry<'_>) -> Result<(), JournalError> {
        let payload = self.0.payload();
        let written = postcard::to_extend(&(at, entry), std::mem::take(payload));
        *payload = written.map_err(|_| JournalError::Unwritable)?;
        Ok(())
    }

    /// Whether nothing was added since the buffer was cleared.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Discards all entries.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The frame of all entries; `None` if there are none.
    ///
    /// # Errors
    /// Fails if the entries do not fit into one frame.
    pub fn frame(&mut self) -> Result<Option<&[u8]>, JournalError> {
        self.0.seal()
    }
}

/// The entries of a frame, each with its millisecond. Ends after the first that cannot be read.
#[derive(Debug)]
pub(super) struct Entries<'a>(&'a [u8]);

impl<'a> Entries<'a> {
    /// The entries that [`EntryBuffer`] has collected in this payload.
    pub(super) fn read(payload: &'a [u8]) -> Self {
        Self(payload)
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<TimedEntry, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = std::mem::take(&mut self.0);
        (!bytes.is_empty()).then(|| {
            let read = postcard::take_from_bytes::<TimedEntry>(bytes);
            match read {
                Ok((entry, rest)) if is_finite(&entry) => {
                    self.0 = rest;
                    Ok(entry)
                }
                _ => Err(JournalError::Unreadable),
            }
        })
    }
}

/// Whether all numbers of an entry are finite, so that no other number gets into a game.
fn is_finite((_, entry): &TimedEntry) -> bool {
    !matches!(entry, Entry::Command(command) if !command.is_finite())
}
