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
pub struct Spool<T> {
    file: Option<File>,
    /// The lengths of the parts in the file, in bytes.
    parts: Vec<usize>,
    latest: Vec<T>,
}

impl<T: Clone + Serialize + DeserializeOwned> Spool<T> {
    /// Adds a row after the others.
    pub fn push(&mut self, row: T) {
        self.latest.push(row);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.latest.is_empty()
    }

    /// Removes all of them.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Moves the rows from memory to the file if they are many.
    pub fn spill(&mut self) -> io::Result<()> {
        if self.latest.len() < IN_MEMORY {
            return Ok(());
        }
        let bytes = postcard::to_stdvec(&self.latest).map_err(io::Error::other)?;
        let file = match self.file.take() {
            Some(file) => file,
            None => tempfile::tempfile()?,
        };
        self.file.insert(file).write_all(&bytes)?;
        self.parts.push(bytes.len());
        self.latest.clear();
        Ok(())
    }

    /// The rows in parts that fit into memory, the first ones first. Stops at the first error.
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

impl<T> Default for Spool<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> From<Vec<T>> for Spool<T> {
    fn from(latest: Vec<T>) -> Self {
        Self {
            file: None,
            parts: Vec::new(),
            latest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_in_the_file_and_in_memory_are_read_in_their_order_as_often_as_wanted() {
        let row = |number: u64| (number.to_string(), f64::from_bits(number));
        let all: Vec<(String, f64)> = (0..2 * IN_MEMORY as u64 + 3).map(row).collect();
        let mut spool = Spool::default();
        assert!(spool.is_empty());
        for one in &all {
            spool.push(one.clone());
            spool.spill().unwrap();
        }
        assert_eq!((spool.parts.len(), spool.latest.len()), (2, 3));
        for _ in 0..2 {
            let parts = spool.parts().map(Result::unwrap);
            let read: Vec<(String, f64)> = parts.flat_map(Cow::into_owned).collect();
            assert_eq!(read, all);
        }
        spool.clear();
        assert!(spool.is_empty());
        assert!(spool.parts().all(|part| part.unwrap().is_empty()));
    }
}
