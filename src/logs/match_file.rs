//! Match records in a temporary file: memory holds one of them at a time.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
};

use crate::model::{Fingerprint, MatchRecord, Timestamp};

/// Match records in a temporary file, which is gone when this value is.
#[derive(Debug)]
pub struct MatchFile {
    file: BufWriter<File>,
    length: u64,
    places: Vec<Place>,
}

/// Where a record is.
#[derive(Debug)]
struct Place {
    end: Timestamp,
    fingerprint: Fingerprint,
    at: u64,
    length: usize,
}

impl MatchFile {
    /// A file without records.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            file: BufWriter::new(tempfile::tempfile()?),
            length: 0,
            places: Vec::new(),
        })
    }

    /// Adds a record after the others.
    pub fn add(&mut self, record: &MatchRecord, fingerprint: Fingerprint) -> io::Result<()> {
        let bytes = postcard::to_stdvec(record).map_err(io::Error::other)?;
        self.file.write_all(&bytes)?;
        self.places.push(Place {
            end: record.end,
            fingerprint,
            at: self.length,
            length: bytes.len(),
        });
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// How many records are before one that ended later.
    pub(super) fn out_of_order(&self) -> usize {
        let pairs = self.places.windows(2);
        pairs.filter(|pair| pair[1].end < pair[0].end).count()
    }

    /// Puts the records into the order in which they are folded, each match once.
    pub(super) fn sort(&mut self) {
        self.places
            .sort_by_key(|place| (place.end, place.fingerprint));
        self.places.dedup_by_key(|place| place.fingerprint);
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// When each match ended.
    pub fn ends(&self) -> impl ExactSizeIterator<Item = Timestamp> {
        self.places.iter().map(|place| place.end)
    }

    /// Reads the records, the first one first. Stops at the first error.
    pub fn read(&mut self) -> io::Result<impl Iterator<Item = io::Result<MatchRecord>>> {
        self.file.flush()?;
        let mut file = BufReader::new(self.file.get_ref());
        file.rewind()?;
        let (mut at, mut bytes) = (0, Vec::new());
        let read = move |place: &Place| {
            // What is next in the file is in the buffer already.
            if place.at != at {
                file.seek(SeekFrom::Start(place.at))?;
            }
            bytes.resize(place.length, 0);
            file.read_exact(&mut bytes)?;
            at = place.at + place.length as u64;
            postcard::from_bytes(&bytes).map_err(io::Error::other)
        };
        Ok(self.places.iter().map(read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_in_order_and_as_they_were_written() {
        let mut file = MatchFile::new().unwrap();
        let record = |end: i64| MatchRecord {
            end: Timestamp(end),
            map: "m".repeat(usize::try_from(end).unwrap_or(0) * 3_000),
            scores: vec![f64::from_bits(0x7ff8_0000_0000_0001), -0.0],
            ..MatchRecord::default()
        };
        let ends = [3, 1, 2, 7, 3, 5];
        for end in ends {
            let print = Fingerprint([u8::try_from(end).unwrap(); 16]);
            file.add(&record(end), print).unwrap();
        }
        assert_eq!((file.len(), file.out_of_order()), (6, 2));
        let read = |file: &mut MatchFile| -> Vec<MatchRecord> {
            file.read().unwrap().map(Result::unwrap).collect()
        };
        let all = read(&mut file);
        assert_eq!(all.iter().map(|one| one.end.0).collect::<Vec<_>>(), ends);
        file.sort();
        for _ in 0..2 {
            let sorted = read(&mut file);
            let ends: Vec<i64> = sorted.iter().map(|one| one.end.0).collect();
            assert_eq!(ends, [1, 2, 3, 5, 7]);
            for one in sorted {
                let bits = one.scores.iter().map(|score| score.to_bits());
                assert!(bits.eq(record(1).scores.iter().map(|score| score.to_bits())));
                assert_eq!(one.map, record(one.end.0).map);
            }
        }
    }
}
