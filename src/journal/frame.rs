//! Frames: bytes with their length and checksum, so that a torn or damaged tail is recognised.
//!
//! A journal is the [`HEADER`] and then any number of frames:
//!
//! | bytes | content |
//! | --- | --- |
//! | 4 | length of the payload, little-endian, 1 to 32 MiB |
//! | 4 | CRC-32 of the payload, little-endian |
//! | length | the payload |

use flate2::Crc;

use super::JournalError;

/// The first bytes of every journal. The last of them is the version of the format.
pub const HEADER: [u8; 8] = *b"EVKLGAM\x01";

/// The most bytes of a payload. A snapshot of the largest possible game has fewer.
const MAX_PAYLOAD: usize = 32 << 20;

/// Bytes before the payload.
const PREFIX: usize = 8;

/// Collects a payload and makes a frame from it.
#[derive(Debug, Default)]
pub(super) struct FrameBuffer(Vec<u8>);

impl FrameBuffer {
    /// The payload so far, to append to it.
    pub(super) fn payload(&mut self) -> &mut Vec<u8> {
        if self.0.is_empty() {
            self.0.resize(PREFIX, 0);
        }
        &mut self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.len() <= PREFIX
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Completes the frame; `None` if the payload is empty.
    ///
    /// # Errors
    /// Fails if the payload is longer than [`MAX_PAYLOAD`].
    pub(super) fn seal(&mut self) -> Result<Option<&[u8]>, JournalError> {
        if self.is_empty() {
            return Ok(None);
        }
        let (prefix, payload) = self.0.split_at_mut(PREFIX);
        let length = u32::try_from(payload.len()).ok();
        let length = length.filter(|_| payload.len() <= MAX_PAYLOAD);
        let length = length.ok_or(JournalError::Unwritable)?;
        let (first, second) = prefix.split_at_mut(4);
        first.copy_from_slice(&length.to_le_bytes());
        second.copy_from_slice(&checksum(payload).to_le_bytes());
        Ok(Some(&self.0))
    }
}

/// The payloads of a journal, up to the first frame that is torn or damaged.
#[derive(Debug)]
pub(super) struct Frames<'a> {
    rest: &'a [u8],
    valid: usize,
}

impl<'a> Frames<'a> {
    /// # Errors
    /// Fails if the bytes do not begin with the header.
    pub(super) fn read(journal: &'a [u8]) -> Result<Self, JournalError> {
        let rest = journal.strip_prefix(&HEADER);
        Ok(Self {
            rest: rest.ok_or(JournalError::Foreign)?,
            valid: HEADER.len(),
        })
    }

    /// The number of bytes of the journal up to the end of the last undamaged frame that was read.
    pub(super) fn valid(&self) -> usize {
        self.valid
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.rest.split_first_chunk::<4>()?;
        let (sum, rest) = rest.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        if length == 0 || length > MAX_PAYLOAD {
            return None;
        }
        let (payload, rest) = rest.split_at_checked(length)?;
        if checksum(payload) != u32::from_le_bytes(*sum) {
            return None;
        }
        self.rest = rest;
        self.valid += PREFIX + length;
        Some(payload)
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::vec, prelude::*};

    fn journal(payloads: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = HEADER.to_vec();
        let mut buffer = FrameBuffer::default();
        for payload in payloads {
            buffer.payload().extend_from_slice(payload);
            bytes.extend_from_slice(buffer.seal().unwrap().unwrap());
            buffer.clear();
        }
        bytes
    }

    #[test]
    fn nothing_makes_no_frame() {
        let mut buffer = FrameBuffer::default();
        assert_eq!(buffer.seal(), Ok(None));
        buffer.payload();
        assert_eq!(buffer.seal(), Ok(None));
    }

    #[test]
    fn what_is_too_long_is_refused() {
        let mut buffer = FrameBuffer::default();
        buffer.payload().resize(MAX_PAYLOAD + PREFIX + 1, b'x');
        assert_eq!(buffer.seal(), Err(JournalError::Unwritable));
    }

    proptest! {
        #[test]
        fn a_journal_cut_off_anywhere_has_the_frames_before(
            payloads in vec(vec(any::<u8>(), 1..40), 0..8),
            cut in any::<prop::sample::Index>(),
        ) {
            let whole = journal(&payloads);
            let cut = HEADER.len() + cut.index(whole.len() - HEADER.len() + 1);
            let mut frames = Frames::read(&whole[..cut]).unwrap();
            let read: Vec<_> = frames.by_ref().map(<[u8]>::to_vec).collect();
            prop_assert_eq!(&read[..], &payloads[..read.len()]);
            let valid = frames.valid();
            prop_assert!(valid <= cut && journal(&read).len() == valid);
            prop_assert!(read.len() == payloads.len() || journal(&payloads[..=read.len()]).len() > cut);
        }

        #[test]
        fn a_changed_byte_ends_the_journal_there(
            payloads in vec(vec(any::<u8>(), 1..40), 1..8),
            at in any::<prop::sample::Index>(),
            flip in 1u8..,
        ) {
            let mut bytes = journal(&payloads);
            let at = HEADER.len() + at.index(bytes.len() - HEADER.len());
            bytes[at] ^= flip;
            let read: Vec<_> = Frames::read(&bytes).unwrap().map(<[u8]>::to_vec).collect();
            let before = (0..).take_while(|&n| journal(&payloads[..n]).len() <= at).count() - 1;
            prop_assert_eq!(&read[..], &payloads[..before]);
        }

        #[test]
        fn any_bytes_can_be_read(bytes in vec(any::<u8>(), 0..200)) {
            let _ = Frames::read(&bytes).map(Iterator::count);
            let framed = [&HEADER[..], &bytes].concat();
            let mut frames = Frames::read(&framed).unwrap();
            frames.by_ref().for_each(drop);
            prop_assert!(frames.valid() <= framed.len());
        }
    }
}
