//! Cuts a learned state into pieces.
//!
//! Where a cut is depends on the bytes before it alone (a gear hash; Xia et al., FastCDC, 2016): two states that differ
//! in a few places have most pieces in common, also where numbers got longer.

use std::io;

use sha2::{Digest, Sha256};

use crate::store::PieceHash;

/// The least and the most bytes of a piece; the last one of a state may be shorter.
const LEAST: usize = 16 << 10;
const MOST: usize = 128 << 10;
/// A cut is where these bits of the hash are 0. With 15 bits, a piece has 48 KiB on average.
const CUT: u64 = 0x7fff << 49;

/// A random number for each value of a byte.
static GEAR: [u64; 256] = gear();

const fn gear() -> [u64; 256] {
    let mut gear = [0; 256];
    let mut at = 0;
    while at < 256 {
        // The numbers of SplitMix64 (Steele et al., 2014).
        let mut z = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        gear[at] = z ^ (z >> 31);
        at += 1;
    }
    gear
}

/// The length of the first piece of at least [`MOST`] bytes, or of all that are left.
fn first(bytes: &[u8]) -> usize {
    let mut hash = 0_u64;
    let end = bytes.len().min(MOST);
    for at in LEAST.min(end)..end {
        hash = (hash << 1).wrapping_add(GEAR[usize::from(bytes[at])]);
        if hash & CUT == 0 {
            return at + 1;
        }
    }
    end
}

/// Cuts what is written to it, and passes each piece on with its hash.
pub struct Cutter<F> {
    rest: Vec<u8>,
    /// The hashes of the pieces so far.
    pub pieces: Vec<PieceHash>,
    /// The bytes in them.
    pub bytes: i64,
    pass_on: F,
}

impl<F: FnMut(PieceHash, &[u8]) -> io::Result<()>> Cutter<F> {
    pub fn new(pass_on: F) -> Self {
        Self {
            rest: Vec::with_capacity(2 * MOST),
            pieces: Vec::new(),
            bytes: 0,
            pass_on,
        }
    }

    /// Cuts off what is left: the next piece begins with what is written next.
    pub fn finish(&mut self) -> io::Result<()> {
        while !self.rest.is_empty() {
            self.cut()?;
        }
        Ok(())
    }

    fn cut(&mut self) -> io::Result<()> {
        let length = first(&self.rest);
        let hash = Sha256::digest(&self.rest[..length]).into();
        (self.pass_on)(hash, &self.rest[..length])?;
        self.pieces.push(hash);
        self.bytes += i64::try_from(length).unwrap_or(0);
        self.rest.drain(..length);
        Ok(())
    }
}

impl<F: FnMut(PieceHash, &[u8]) -> io::Result<()>> io::Write for Cutter<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        while self.rest.len() >= MOST {
            self.cut()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, io::Write};

    use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};

    use super::*;

    fn cut(bytes: &[u8], step: usize) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        let mut cutter = Cutter::new(|hash: PieceHash, piece: &[u8]| {
            assert_eq!(hash[..], Sha256::digest(piece)[..]);
            all.push(piece.to_vec());
            Ok(())
        });
        for part in bytes.chunks(step) {
            cutter.write_all(part).unwrap();
        }
        cutter.finish().unwrap();
        let count = cutter.pieces.len();
        assert_eq!(count, all.len());
        all
    }

    #[test]
    fn the_pieces_are_the_state_and_most_stay_when_it_changes() {
        let mut state = vec![0; 3_000_000];
        ChaCha8Rng::seed_from_u64(1).fill_bytes(&mut state);
        state[500_000..900_000].fill(7); // nothing to tell a place by
        let pieces = cut(&state, 1_000);
        assert_eq!(pieces.concat(), state);
        assert_eq!(cut(&state, 7), pieces);
        assert!((30..80).contains(&pieces.len()), "{}", pieces.len());
        let (last, others) = pieces.split_last().unwrap();
        assert!(others.iter().all(|one| (LEAST..=MOST).contains(&one.len())));
        assert!(last.len() <= MOST);
        state.insert(1_000_000, 3);
        state[2_000_000] ^= 1;
        let before: HashSet<&Vec<u8>> = pieces.iter().collect();
        let after = cut(&state, 1_000);
        let new = after.iter().filter(|piece| !before.contains(piece)).count();
        assert!((1..=4).contains(&new), "{new}");
        assert!(cut(&[], 1).is_empty());
    }
}
