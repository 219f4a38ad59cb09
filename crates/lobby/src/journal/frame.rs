//! Frames: bytes with their length and checksum, so that a torn or damaged tail is recognised.
//!
//! A journal is the [`HEADER`] and then any number of frames:
//!
//! | bytes | content |
//! | --- | --- |
//! | 4 | length of the payload, little-endian, 1 to 32 MiB |
//! | 4 | CRC-32 of the payload, little-endian |
//! | length | the payload |
//!
//! Behind the first frame, there may be a copy of it: zeros up to the next block of the disk, the [mark](COPY), and
//! the same frame again. It is read if the beginning is damaged, and skipped otherwise.

use super::JournalError;

/// The first bytes of every journal. The last of them is the version of the format.
pub const HEADER: [u8; 8] = *b"EVKLGAM\x02";

/// What stands before the copy of the first frame, where a block begins. The last byte is the version, as in
/// [`HEADER`].
const COPY: [u8; 8] = *b"EVKLCPY\x02";
/// The block of a disk that is usually damaged as a whole.
const BLOCK: usize = 4_096;
/// The most marks at which a copy is looked for.
const MOST_MARKS: usize = 4;

/// The most bytes of a payload. A snapshot of the largest possible game has fewer.
const MAX_PAYLOAD: usize = 32 << 20;

/// Bytes before the payload.
pub(super) const PREFIX: usize = 8;

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
        second.copy_from_slice(&crc32fast::hash(payload).to_le_bytes());
        Ok(Some(&self.0))
    }
}

/// The bytes between the first frame of a journal, up to which it has this length, and the copy of that frame.
pub fn before_copy(length: usize) -> Vec<u8> {
    let mut between = vec![0; length.next_multiple_of(BLOCK) - length];
    between.extend_from_slice(&COPY);
    between
}

/// Where the copy of the first frame begins in a journal; `None` if it has no undamaged one.
pub fn copy_of_beginning(journal: &[u8]) -> Option<usize> {
    let marks = (BLOCK..journal.len()).step_by(BLOCK);
    let marks = marks.filter(|at| journal[*at..].starts_with(&COPY));
    let mut copies = marks.take(MOST_MARKS).map(|at| at + COPY.len());
    copies.find(|at| frame_at(journal, *at).is_some())
}

/// The payload of the frame that begins here; `None` if it is torn or damaged.
fn frame_at(journal: &[u8], at: usize) -> Option<&[u8]> {
    let (length, rest) = journal.get(at..)?.split_first_chunk::<4>()?;
    let (sum, rest) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    if length == 0 || length > MAX_PAYLOAD {
        return None;
    }
    let payload = rest.get(..length)?;
    (crc32fast::hash(payload) == u32::from_le_bytes(*sum)).then_some(payload)
}

/// The payloads of a journal, up to the first frame that is torn or damaged.
#[derive(Debug)]
pub(super) struct Frames<'a> {
    journal: &'a [u8],
    /// Where the next frame begins.
    at: usize,
    /// Whether the beginning is damaged, and its copy is read.
    copied: bool,
}

impl<'a> Frames<'a> {
    /// # Errors
    /// Fails if the bytes do not begin with the header, and have no copy of the beginning.
    pub(super) fn read(journal: &'a [u8]) -> Result<Self, JournalError> {
        let known = journal.starts_with(&HEADER);
        let first = HEADER.len();
        if known && frame_at(journal, first).is_some() {
            return Ok(Self {
                journal,
                at: first,
                copied: false,
            });
        }
        // The mark before the copy states the version, too, so that a damaged version is not taken for another one.
        let copy = copy_of_beginning(journal);
        let copied = copy.is_some();
        let at = copy.or(known.then_some(first));
        Ok(Self {
            journal,
            at: at.ok_or(JournalError::Foreign)?,
            copied,
        })
    }

    /// The number of bytes of the journal up to the end of the last undamaged frame that was read.
    pub(super) fn valid(&self) -> usize {
        self.at
    }

    /// Whether the beginning is damaged, and its copy was read instead.
    pub(super) fn is_copied(&self) -> bool {
        self.copied
    }

    /// Where the journal goes on behind the first frame, which ends here: behind its copy if there is one.
    fn behind_copy(&self, end: usize) -> usize {
        let between = before_copy(end);
        let rest = self.journal.get(end..).unwrap_or_default();
        let behind = end + between.len() + (end - HEADER.len());
        let is_copy = rest.starts_with(&between) && behind <= self.journal.len();
        // Damage between the two frames loses nothing.
        let goes_on =
            || frame_at(self.journal, end).is_none() && frame_at(self.journal, behind).is_some();
        match is_copy || goes_on() {
            true => behind,
            false => end,
        }
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let payload = frame_at(self.journal, self.at)?;
        let end = self.at + PREFIX + payload.len();
        self.at = match self.at == HEADER.len() {
            true => self.behind_copy(end),
            false => end,
        };
        Some(payload)
    }
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

    /// A journal whose first frame has a copy.
    fn copied(payloads: &[Vec<u8>]) -> (Vec<u8>, usize) {
        let first = journal(&payloads[..1]);
        let frame = &first[HEADER.len()..];
        let mut bytes = [&first, &before_copy(first.len())[..], frame].concat();
        let copied = bytes.len();
        bytes.extend_from_slice(&journal(&payloads[1..])[HEADER.len()..]);
        (bytes, copied)
    }

    #[test]
    fn a_damaged_block_at_the_beginning_loses_nothing() {
        for length in [1, 40, 4_080, 4_081, 9_000] {
            let payloads = [vec![7; length], vec![8; 3], vec![9; 5_000]];
            let (mut bytes, _) = copied(&payloads);
            let mut frames = Frames::read(&bytes).unwrap();
            assert!(frames.by_ref().eq(&payloads) && !frames.is_copied());
            assert_eq!(frames.valid(), bytes.len());
            bytes[..BLOCK].fill(0xff);
            let mut frames = Frames::read(&bytes).unwrap();
            assert!(frames.by_ref().eq(&payloads) && frames.is_copied());
            assert_eq!(frames.valid(), bytes.len());
        }
    }

    #[test]
    fn many_marks_are_not_all_read() {
        let mut bytes = vec![0; 100 * BLOCK];
        for block in bytes.chunks_mut(BLOCK) {
            block[..COPY.len()].copy_from_slice(&COPY);
        }
        assert_eq!(copy_of_beginning(&bytes), None);
        bytes[..HEADER.len()].copy_from_slice(&HEADER);
        assert_eq!(Frames::read(&bytes).unwrap().count(), 0);
    }

    proptest! {
        #[test]
        fn a_journal_with_a_copy_survives_damage_there_and_being_cut_off(
            payloads in vec(vec(any::<u8>(), 1..40), 1..6),
            cut in any::<prop::sample::Index>(),
            flip in 1u8..,
        ) {
            let (whole, end) = copied(&payloads);
            let at = cut.index(end);
            let mut flipped = whole.clone();
            flipped[at] ^= flip;
            let read: Vec<_> = Frames::read(&flipped).unwrap().map(<[u8]>::to_vec).collect();
            prop_assert_eq!(&read[..], &payloads[..]);
            let first = journal(&payloads[..1]).len();
            let cut = first + cut.index(whole.len() - first + 1);
            let mut frames = Frames::read(&whole[..cut]).unwrap();
            let read: Vec<_> = frames.by_ref().map(<[u8]>::to_vec).collect();
            prop_assert_eq!(&read[..], &payloads[..read.len()]);
            // What is appended behind the valid part is found.
            let appended = journal(&[vec![1, 2, 3]]);
            let longer = [&whole[..frames.valid()], &appended[HEADER.len()..]].concat();
            prop_assert_eq!(Frames::read(&longer).unwrap().count(), read.len() + 1);
        }

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
