//! Rows on their way to the database.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
};

use serde::{Serialize, de::DeserializeOwned};

/// The most rows that memory holds.
const IN_MEMORY: usize = 4_096;

/// Rows that wait until they are written. Memory holds the latest ones, and a temporary file those before them, because
/// there may be as many as there are matches or players. The file is gone when this value is.
#[derive(Debug)]
pub struct RowSpool<T> {
    file: Option<File>,
    /// The lengths of the parts in the file, in bytes.
    parts: Vec<usize>,
    latest: Vec<T>,
    /// Whether the file could not be made or written.
    has_failed: bool,
}

impl<T: Clone + Serialize + DeserializeOwned> RowSpool<T> {
    /// Adds a row after the others.
    pub fn push(&mut self, row: T) {
        self.latest.push(row);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.latest.is_empty()
    }

    /// Whether there are at most so many, all of them in memory.
    pub fn is_few(&self, most: usize) -> bool {
        self.parts.is_empty() && self.latest.len() <= most
    }

    /// Those in memory, which are the latest ones.
    pub fn latest(&self) -> &[T] {
        &self.latest
    }

    /// Removes all of them.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Moves the rows from memory to the file if they are many. They stay in memory if there can be no such file.
    pub fn spill(&mut self) {
        if self.latest.len() < IN_MEMORY || self.has_failed {
            return;
        }
        if let Err(error) = self.write() {
            tracing::warn!(%error, "rows stay in memory until they are written: a temporary file failed");
            self.has_failed = true;
        }
    }

    fn write(&mut self) -> io::Result<()> {
        let bytes = postcard::to_stdvec(&self.latest).map_err(io::Error::other)?;
        let file = match self.file.take() {
            Some(file) => file,
            None => tempfile::tempfile()?,
        };
        // Readers have moved on in the file, perhaps not to its end.
        let end: usize = self.parts.iter().sum();
        let file = self.file.insert(file);
        file.seek(SeekFrom::Start(end as u64))?;
        file.write_all(&bytes)?;
        self.parts.push(bytes.len());
        self.latest.clear();
        Ok(())
    }

    /// The rows in parts that fit into memory, the first ones first.
    pub fn parts(&self) -> impl Iterator<Item = io::Result<Cow<'_, [T]>>> {
        let mut at = 0;
        let in_file = self.parts.iter().map(move |&length| {
            let mut file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
            file.seek(SeekFrom::Start(at))?;
            at += length as u64;
            let mut bytes = vec![0; length];
            file.read_exact(&mut bytes)?;
            let part: Vec<T> = postcard::from_bytes(&bytes).map_err(io::Error::other)?;
            Ok(Cow::Owned(part))
        });
        in_file.chain([Ok(Cow::Borrowed(&self.latest[..]))])
    }
}

impl<T> Default for RowSpool<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> From<Vec<T>> for RowSpool<T> {
    fn from(latest: Vec<T>) -> Self {
        Self {
            file: None,
            parts: Vec::new(),
            latest,
            has_failed: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_in_the_file_and_in_memory_are_read_in_their_order_as_often_as_wanted() {
        let row = |number: u64| (number.to_string(), f64::from_bits(number));
        let all: Vec<(String, f64)> = (0..3 * IN_MEMORY as u64 + 3).map(row).collect();
        let read = |spool: &RowSpool<(String, f64)>| -> Vec<(String, f64)> {
            let parts = spool.parts().map(Result::unwrap);
            parts.flat_map(Cow::into_owned).collect()
        };
        let mut spool = RowSpool::default();
        assert!(spool.is_empty());
        for (number, one) in all.iter().enumerate() {
            spool.push(one.clone());
            spool.spill();
            if number == 2 * IN_MEMORY {
                // Who reads some of it, and then adds more, replaces nothing.
                assert_eq!(*spool.parts().next().unwrap().unwrap(), all[..IN_MEMORY]);
                assert_eq!(read(&spool), all[..=number]);
                assert_eq!(*spool.parts().next().unwrap().unwrap(), all[..IN_MEMORY]);
            }
        }
        assert_eq!((spool.parts.len(), spool.latest.len()), (3, 3));
        assert_eq!(read(&spool), all);
        spool.clear();
        assert!(spool.is_empty());
        assert!(spool.parts().all(|part| part.unwrap().is_empty()));
    }

    #[test]
    fn without_a_file_rows_stay_in_memory() {
        let mut spool = RowSpool::from(vec![7; IN_MEMORY]);
        spool.has_failed = true;
        spool.spill();
        assert_eq!(*spool.parts().next().unwrap().unwrap(), [7; IN_MEMORY]);
        assert_eq!(spool.parts().count(), 1);
    }
}
