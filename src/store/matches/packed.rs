//! The record of a match as its row has it: a line of the interchange format, compressed.
//!
//! The form is zlib's (RFC 1950): deflated, with a dictionary, and with a checksum of the line. The first bytes name the
//! dictionary by its Adler-32 checksum, so that another one can be added without a change to the rows that exist. A
//! dictionary itself never changes.
//!
//! Rows come from the database, which other programs can write. So the length is bounded, and each fault is an error.

use std::cell::RefCell;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::{
    ingest::{read_record, write_record},
    model::{Fingerprint, MatchRecord},
};

/// What many lines contain, the most frequent last. With it, records of seven games take 111 to 498 bytes each, without it
/// about a hundred more.
const DICTIONARY: &str = concat!(
    r#""clock":,"mode":"","fingerprint":"0123456789abcdef","outcome":"abandoned","outcome":"undecided","outcome":"draw","#,
    r#""roles":[{"role":"commander","team":0,"share":1.0}],"party":1,"left":"other","left":"moved","left":"kicked","#,
    r#""left":"timeout","left":"left"},],"events":[{"at":0,"team":0,"points":1.0,"by":0},"#,
    r#"{"at":0,"team":1,"points":1.0,"by":1},{"at":0,"team":0,"points":-1.0},{"at":"#,
    r#"","bot":true,"stays":[{"team":0,"from":0,"to":600000}],"points":10.0,"kills":1,"deaths":1},{"id":"#,
    r#""","bot":true,"stays":[{"team":1,"from":0,"to":600000},{"team":0,"from":"#,
    r#"{"id":"[U:1:","name":"","stays":[{"team":0,"from":0,"to":900000}],"points":5.0,"kills":2,"deaths":2},"#,
    r#"{"id":"[U:1:","name":"","stays":[{"team":1,"from":0,"to":900000}],"points":-1.0,"kills":3,"deaths":3}]}"#,
    r#"{"evenkeel":1,"server":"","start":"2026-11-20T20:00:00Z","end":"2026-11-20T20:20:00Z","game":"baseoa.ctf","#,
    r#""mode":"","map":"ctf_","mutators":["instagib"],"scores":[3.0,1.0,0.0],"outcome":"won","winner":1,"#,
    r#""players":[{"id":"","scores":[1.0,0.0],"outcome":"won","winner":0,"players":[{"id":"#,
    r#""","stays":[{"team":0,"from":0,"to":1200000}],"kills":0,"deaths":0},{"id":"#,
    r#""","stays":[{"team":1,"from":0,"to":1200000}],"kills":0,"deaths":0},{"id":"#,
    "\"",
);
/// The most bytes of a line. The longest match that a log can contain has 32 MiB.
const MOST_BYTES: usize = 64 << 20;
/// Level 4 is as fast, with a tenth more bytes; level 9 saves a fiftieth.
const LEVEL: Compression = Compression::new(6);

/// The record and its fingerprint as they are stored.
pub(in crate::store) fn pack(record: &MatchRecord, fingerprint: Fingerprint) -> Vec<u8> {
    deflate(write_record(record, fingerprint).as_bytes())
}

/// The record that was stored so. Fails with what is wrong with the bytes; the caller must check the record.
pub(super) fn unpack(packed: &[u8]) -> Result<MatchRecord, String> {
    read_record(&inflate(packed)?).map_err(|why| why.into_owned())
}

thread_local! {
    // A new one clears a quarter of a megabyte, which takes as long as the line itself.
    static STREAM: RefCell<Compress> = RefCell::new(Compress::new(LEVEL, true));
}

fn deflate(line: &[u8]) -> Vec<u8> {
    STREAM.with_borrow_mut(|stream| deflate_with(stream, line))
}

fn deflate_with(stream: &mut Compress, line: &[u8]) -> Vec<u8> {
    stream.reset();
    // It is refused only by a stream that has begun.
    let _ = stream.set_dictionary(DICTIONARY.as_bytes());
    let mut packed = Vec::with_capacity(line.len() / 4 + 64);
    loop {
        let rest = line.get(to_len(stream.total_in())..).unwrap_or_default();
        let done = stream.compress_vec(rest, &mut packed, FlushCompress::Finish);
        match done {
            Ok(Status::StreamEnd) | Err(_) => return packed,
            Ok(_) => packed.reserve(packed.len().max(64)),
        }
    }
}

fn inflate(packed: &[u8]) -> Result<Vec<u8>, String> {
    let mut stream = Decompress::new(true);
    let mut line = Vec::with_capacity(packed.len().saturating_mul(8).min(MOST_BYTES));
    loop {
        let rest = packed.get(to_len(stream.total_in())..).unwrap_or_default();
        let before = (stream.total_in(), stream.total_out());
        match stream.decompress_vec(rest, &mut line, FlushDecompress::Finish) {
            Ok(_) if line.len() > MOST_BYTES => return Err("it is too long".to_owned()),
            Ok(Status::StreamEnd) if to_len(stream.total_in()) == packed.len() => return Ok(line),
            Ok(Status::StreamEnd) => return Err("something follows it".to_owned()),
            Ok(_) if line.len() == line.capacity() => line.reserve(line.len().max(256)),
            Ok(_) if (stream.total_in(), stream.total_out()) == before => {
                return Err("it is cut off".to_owned());
            }
            Ok(_) => {}
            Err(error) if error.needs_dictionary().is_some() => {
                let known = stream.set_dictionary(DICTIONARY.as_bytes());
                known.map_err(|_| "it needs a dictionary that this version does not have")?;
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn to_len(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Outcome;

    #[test]
    fn a_record_is_read_back() {
        let record = MatchRecord {
            game_type: "XGame.xCTFGame".to_owned(),
            scores: vec![3.0, 1.5],
            outcome: Outcome::Won(0),
            ..MatchRecord::default()
        };
        let packed = pack(&record, Fingerprint([7; 16]));
        assert_eq!(unpack(&packed), Ok(record));
        assert!(packed.len() < 80, "{} bytes", packed.len());
    }

    #[test]
    fn damage_is_an_error() {
        let packed = deflate(b"{\"evenkeel\":1,\"players\":[]}");
        for cut in 0..packed.len() {
            assert!(inflate(&packed[..cut]).is_err(), "{cut}");
        }
        for at in 0..packed.len() {
            for bit in 0..8 {
                let mut other = packed.clone();
                other[at] ^= 1 << bit;
                assert!(inflate(&other).is_err(), "byte {at}, bit {bit}");
            }
        }
        let more = [&packed[..], b"x"].concat();
        assert_eq!(inflate(&more), Err("something follows it".to_owned()));
        assert!(inflate(&deflate(&vec![b' '; MOST_BYTES + 1])).is_err());
    }

    #[test]
    fn the_dictionary_stays() {
        let packed = deflate(b"{}");
        // Header, then the checksum of the dictionary.
        assert_eq!(packed[1] & 0x20, 0x20);
        assert_eq!(packed[2..6], 0x9e09_5f0f_u32.to_be_bytes());
    }

    proptest! {
        #[test]
        fn all_bytes_are_read_back(line in prop::collection::vec(any::<u8>(), 0..5_000)) {
            prop_assert_eq!(inflate(&deflate(&line)), Ok(line));
        }

        #[test]
        fn strange_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
            let _ = inflate(&bytes);
        }
    }
}
