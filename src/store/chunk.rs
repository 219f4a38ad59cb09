//! A chunk of archived matches: lines of JSON, compressed with gzip.
//!
//! Chunks come from the database, which other programs can write. So each length is bounded, and each fault is an
//! error: a sentence about the chunk.

use std::{
    collections::HashMap,
    io::{Read, Write},
    sync::Arc,
};

use flate2::{Compression, bufread::GzDecoder, write::GzEncoder};
use memchr::{memchr_iter, memmem};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use super::Stored;
use crate::{
    domain::{Fingerprint, MatchRecord, PlayerKey},
    ingest::{read_record, write_record},
};

/// The most matches in a chunk.
pub const MOST_IN_CHUNK: usize = 1_000;
/// A chunk that has this many bytes before compression is full: it gets no more matches.
pub(super) const FULL_BYTES: usize = 8 << 20;
/// The most bytes of a chunk before compression, so that a hostile chunk cannot use up the memory. The longest match
/// that a log can contain has 32 MiB.
pub(super) const MOST_BYTES: usize = 64 << 20;
/// The most chunks that are kept in memory. Together they have at most [`MOST_BYTES`].
const CACHED: usize = 4;

/// The SHA-256 hash of a chunk's content, as it is stored: compressed.
pub(super) type ChunkHash = [u8; 32];

/// Computes the hash of a stored content.
pub(super) fn hash(content: &[u8]) -> ChunkHash {
    Sha256::digest(content).into()
}

/// Returns the line that stands for a match in a chunk. The line is read back and compared: `None` if the match cannot
/// be stored without loss, is too long, or is not valid.
pub(super) fn line(stored: &Stored) -> Option<String> {
    let line = write_record(&stored.record, stored.fingerprint);
    let (record, fingerprint) = read_record(line.as_bytes()).ok()?;
    let is_same = record == stored.record && fingerprint == stored.fingerprint;
    let is_same = is_same && record.check().is_ok();
    (is_same && line.len() < MOST_BYTES).then_some(line)
}

/// Compresses lines, each of which ends with a line feed.
pub(super) fn pack(lines: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(lines)?;
    gzip.finish()
}

/// The lines of a chunk.
#[derive(Debug)]
pub(super) struct Chunk {
    text: Vec<u8>,
    /// The position of the line feed that ends each line.
    ends: Vec<usize>,
}

impl Chunk {
    /// Reads a stored chunk. Fails unless its content has this hash, and this length in bytes before compression.
    pub fn unpack(content: &[u8], expected: &[u8], length: i64) -> Result<Self, String> {
        if hash(content)[..] != *expected {
            return Err("its content does not have the hash that is stated".to_owned());
        }
        let length = usize::try_from(length).ok();
        let length = length.filter(|length| *length <= MOST_BYTES);
        let length = length.ok_or("it states an impossible length")?;
        let mut text = Vec::new();
        let read = GzDecoder::new(content)
            .take(length as u64 + 1)
            .read_to_end(&mut text);
        read.map_err(|error| error.to_string())?;
        if text.len() != length {
            return Err("it does not have the length that is stated".to_owned());
        }
        Self::new(text)
    }

    /// Makes a chunk of these lines. Fails if there are too many, or if the last one has no line feed.
    pub fn new(text: Vec<u8>) -> Result<Self, String> {
        let ends: Vec<usize> = memchr_iter(b'\n', &text).take(MOST_IN_CHUNK + 1).collect();
        let end = ends.last().map_or(0, |end| end + 1);
        match ends.len() <= MOST_IN_CHUNK && end == text.len() {
            true => Ok(Self { text, ends }),
            false => Err("it has too many lines, or an unfinished one".to_owned()),
        }
    }

    /// All lines, as they are before compression.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// A line without its line feed. Empty if there is no such line, or if its match was removed.
    pub fn line(&self, number: i64) -> &[u8] {
        let line = || {
            let number = usize::try_from(number).ok()?;
            let end = *self.ends.get(number)?;
            let start = match number.checked_sub(1) {
                Some(before) => self.ends.get(before)? + 1,
                None => 0,
            };
            self.text.get(start..end)
        };
        line().unwrap_or_default()
    }

    /// Reads the match of a line. Fails if the line is empty or damaged.
    pub fn read(&self, number: i64) -> Result<(MatchRecord, Fingerprint), String> {
        let line = self.line(number);
        if line.is_empty() {
            return Err(format!("line {number} has no match"));
        }
        read_record(line).map_err(|why| format!("line {number}: {why}"))
    }

    /// The numbers of the lines that contain a match.
    pub fn lines(&self) -> impl Iterator<Item = i64> {
        let numbers = (0_i64..).zip(&self.ends).map(|(number, _)| number);
        numbers.filter(|number| !self.line(*number).is_empty())
    }

    /// The numbers of the lines that may contain one of these players. No line that contains one is left out.
    pub fn lines_with(&self, players: &[PlayerKey]) -> Vec<i64> {
        let part = |player: &PlayerKey| {
            let id = serde_json::to_string(&player.id).unwrap_or_default();
            format!("\"id\":{id}").into_bytes()
        };
        let parts: Vec<Vec<u8>> = players.iter().map(part).collect();
        let finders: Vec<_> = parts.iter().map(memmem::Finder::new).collect();
        if !finders.iter().any(|part| part.find(&self.text).is_some()) {
            return Vec::new();
        }
        let has = |number: &i64| {
            let line = self.line(*number);
            finders.iter().any(|part| part.find(line).is_some())
        };
        self.lines().filter(has).collect()
    }

    /// The same chunk with other lines, by number. An empty line replaces a match that is removed, so that the other
    /// lines keep their numbers.
    pub fn with(&self, other: &HashMap<i64, String>) -> Result<Self, String> {
        let mut text = Vec::with_capacity(self.text.len());
        for (number, _) in (0_i64..).zip(&self.ends) {
            match other.get(&number) {
                Some(line) => text.extend(line.as_bytes()),
                None => text.extend(self.line(number)),
            }
            text.push(b'\n');
        }
        Self::new(text)
    }
}

/// The chunks that were used last, by their number and hash.
#[derive(Clone, Debug, Default)]
pub(super) struct ChunkCache(Arc<Mutex<Vec<CachedChunk>>>);

#[derive(Debug)]
struct CachedChunk {
    chunk: i64,
    hash: Vec<u8>,
    content: Arc<Chunk>,
}

impl ChunkCache {
    /// The chunk with this number and hash.
    pub fn get(&self, chunk: i64, hash: &[u8]) -> Option<Arc<Chunk>> {
        let mut cached = self.0.lock();
        let is_it = |one: &CachedChunk| one.chunk == chunk && one.hash == hash;
        let place = cached.iter().position(is_it)?;
        let found = cached.remove(place);
        let content = found.content.clone();
        cached.push(found);
        Some(content)
    }

    /// Adds a chunk. Drops other contents of the same chunk; if there are too many chunks, also those that were not
    /// used for the longest time.
    pub fn put(&self, chunk: i64, hash: Vec<u8>, content: Arc<Chunk>) {
        let mut cached = self.0.lock();
        cached.retain(|one| one.chunk != chunk);
        let new = CachedChunk {
            chunk,
            hash,
            content,
        };
        cached.push(new);
        let bytes = |cached: &[CachedChunk]| -> usize {
            let texts = cached.iter().map(|one| one.content.text.len());
            texts.sum()
        };
        while cached.len() > CACHED || (cached.len() > 1 && bytes(&cached) > MOST_BYTES) {
            cached.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Kind;

    fn chunk(text: &str) -> Chunk {
        Chunk::new(text.as_bytes().to_vec()).unwrap()
    }

    fn player(id: &str) -> PlayerKey {
        let (kind, id) = (Kind::Human, id.to_owned());
        PlayerKey { kind, id }
    }

    #[test]
    fn lines_keep_their_numbers_when_one_is_removed() {
        let three = chunk("{a}\n{b}\n{c}\n");
        let other = HashMap::from([(1, String::new()), (2, "{longer}".to_owned())]);
        let two = three.with(&other).unwrap();
        assert_eq!(two.text(), b"{a}\n\n{longer}\n");
        assert_eq!(two.lines().collect::<Vec<_>>(), [0, 2]);
        assert_eq!((two.line(0), two.line(2)), (&b"{a}"[..], &b"{longer}"[..]));
        for number in [1, 3, -1, i64::MAX, i64::MIN] {
            assert_eq!(two.line(number), b"", "{number}");
            assert!(two.read(number).is_err());
        }
        assert_eq!(chunk("").lines().count(), 0);
    }

    #[test]
    fn what_is_packed_is_unpacked_and_nothing_else() {
        let text = b"{a}\n{b}\n";
        let content = pack(text).unwrap();
        let read = Chunk::unpack(&content, &hash(&content), 8).unwrap();
        assert_eq!(read.text(), text);
        for length in [7, 9, 0, -1, i64::MAX, i64::MIN] {
            assert!(Chunk::unpack(&content, &hash(&content), length).is_err());
        }
        for cut in 0..content.len() {
            let part = &content[..cut];
            assert!(Chunk::unpack(part, &hash(&content), 8).is_err());
            assert!(Chunk::unpack(part, &hash(part), 8).is_err(), "{cut}");
        }
        assert!(Chunk::unpack(&content, b"", 8).is_err());
    }

    #[test]
    fn players_are_found_by_their_identity() {
        let text = chunk(concat!(
            "{\"players\":[{\"id\":\"ann\"},{\"id\":\"a\\\"b\",\"name\":\"bob\"}]}\n",
            "{\"players\":[{\"id\":\"ann2\",\"name\":\"ann\"}]}\n",
        ));
        let with = |ids: &[&str]| {
            let players: Vec<PlayerKey> = ids.iter().map(|id| player(id)).collect();
            text.lines_with(&players)
        };
        assert_eq!(with(&["ann"]), [0]);
        assert_eq!(with(&["a\"b"]), [0]);
        assert_eq!(with(&["nobody", "ann2", "ann"]), [0, 1]);
        assert!(with(&["bob"]).is_empty());
        assert!(with(&[]).is_empty());
    }

    #[test]
    fn the_cache_is_bounded_and_knows_only_one_content_of_a_chunk() {
        let cache = ChunkCache::default();
        let put = |number, hash: &[u8], bytes: usize| {
            let content = Arc::new(chunk(&"\n".repeat(bytes)));
            cache.put(number, hash.to_vec(), content);
        };
        for number in 0..10 {
            put(number, b"one", 1);
            assert!(cache.get(0, b"one").is_some() || number > 0);
        }
        let known = |number| cache.get(number, b"one").is_some();
        let count = (0..10).filter(|number| known(*number)).count();
        assert_eq!(count, CACHED);
        put(9, b"two", 2);
        assert!(cache.get(9, b"one").is_none() && cache.get(9, b"two").is_some());
        let long = Arc::new(chunk(&format!("{}\n", "x".repeat(MOST_BYTES - 1))));
        cache.put(10, b"one".to_vec(), long);
        assert_eq!(cache.0.lock().len(), 1, "together they have too many bytes");
    }
}
