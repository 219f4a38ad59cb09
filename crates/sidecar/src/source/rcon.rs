//! The packets of Source's remote console.
//!
//! A packet consists of its size, an id and a type, each a little-endian number of four bytes, and of a
//! text that ends with two zero bytes. The size is the number of bytes that follow it. The server may
//! split an answer into several packets. To find the last one, the client sends an empty request after
//! each command: its answer comes after all packets of the command's answer.

use thiserror::Error;

/// The shortest packet after its size, in bytes: id, type and two zeros.
const SHORTEST: usize = 10;
/// The longest packet after its size, in bytes. Servers send at most 4,096, and some a few more.
const LONGEST: usize = 8_192;
/// The longest text of a request, in bytes.
pub(crate) const MAX_REQUEST: usize = 4_000;

/// The type of a request to log in.
const AUTH: i32 = 3;
/// The type of a command, and of the answer to a login.
const COMMAND: i32 = 2;
/// The type of an answer. As a request it is empty, and the server sends it back.
const ANSWER: i32 = 0;
/// The id of the answer to a login with a wrong password.
const REFUSED: i32 = -1;

/// What a client sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent<'a> {
    /// Logs in with a password.
    Login(&'a str),
    /// Executes a console command.
    Command(&'a str),
    /// Does nothing; its answer follows those to the requests before.
    End,
}

/// What a server answers, with the id of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceAnswer {
    /// The login was accepted, or refused.
    Login(bool),
    /// A part of the text that a command printed, or the answer to [`Sent::End`].
    Text(i32, Vec<u8>),
}

/// A packet that does not follow the protocol. The connection cannot be used any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PacketError {
    /// The size is out of bounds.
    #[error("a packet of {0} bytes")]
    Size(i32),
    /// The type is none that a server sends.
    #[error("a packet of the unknown type {0}")]
    Type(i32),
}

/// Appends a request to `packets`. Zeros in the text would end it early, and are left out; it is cut
/// at `MAX_REQUEST` bytes.
pub fn encode(id: i32, sent: Sent<'_>, packets: &mut Vec<u8>) {
    let (kind, text) = match sent {
        Sent::Login(password) => (AUTH, password),
        Sent::Command(command) => (COMMAND, command),
        Sent::End => (ANSWER, ""),
    };
    let text: Vec<u8> = text.bytes().filter(|&b| b != 0).take(MAX_REQUEST).collect();
    let size = i32::try_from(text.len() + SHORTEST).unwrap_or(i32::MAX);
    for number in [size, id, kind] {
        packets.extend(number.to_le_bytes());
    }
    packets.extend(text);
    packets.extend([0, 0]);
}

/// Splits what a server sends into answers. Holds at most one packet.
#[derive(Debug, Default)]
pub struct AnswerReader(Vec<u8>);

impl AnswerReader {
    /// Takes the next bytes, and appends the answers that they complete.
    ///
    /// # Errors
    /// Fails if a packet does not follow the protocol.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        answers: &mut Vec<SourceAnswer>,
    ) -> Result<(), PacketError> {
        self.0.extend_from_slice(bytes);
        let mut read = 0;
        while let Some((size, rest)) = number(&self.0[read..]) {
            let length = usize::try_from(size)
                .ok()
                .filter(|length| (SHORTEST..=LONGEST).contains(length))
                .ok_or(PacketError::Size(size))?;
            let Some(packet) = rest.get(..length) else {
                break;
            };
            answers.push(answer(packet)?);
            read += 4 + length;
        }
        self.0.drain(..read);
        Ok(())
    }
}

/// Reads one packet after its size.
fn answer(packet: &[u8]) -> Result<SourceAnswer, PacketError> {
    let (Some((id, rest)), size) = (number(packet), packet.len()) else {
        return Err(PacketError::Size(0));
    };
    let Some((kind, text)) = number(rest) else {
        return Err(PacketError::Size(i32::try_from(size).unwrap_or(i32::MAX)));
    };
    let end = memchr::memchr(0, text).unwrap_or(text.len());
    match kind {
        COMMAND => Ok(SourceAnswer::Login(id != REFUSED)),
        ANSWER => Ok(SourceAnswer::Text(id, text[..end].to_owned())),
        other => Err(PacketError::Type(other)),
    }
}

/// Reads the number at the beginning.
fn number(bytes: &[u8]) -> Option<(i32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    Some((i32::from_le_bytes(*number), rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packet(id: i32, kind: i32, text: &[u8]) -> Vec<u8> {
        let size = i32::try_from(text.len() + SHORTEST).unwrap();
        let numbers = [size, id, kind].map(i32::to_le_bytes).concat();
        [&numbers[..], text, &[0, 0]].concat()
    }

    fn read(bytes: &[u8], chunk: usize) -> Result<Vec<SourceAnswer>, PacketError> {
        let (mut reader, mut answers) = (AnswerReader::default(), Vec::new());
        for chunk in bytes.chunks(chunk) {
            reader.feed(chunk, &mut answers)?;
            assert!(reader.0.len() <= LONGEST + 4 + chunk.len());
        }
        Ok(answers)
    }

    #[test]
    fn requests_have_the_published_form() {
        let mut packets = Vec::new();
        encode(7, Sent::Login("ab"), &mut packets);
        assert_eq!(packets, b"\x0c\0\0\0\x07\0\0\0\x03\0\0\0ab\0\0");
        packets.clear();
        encode(8, Sent::Command("a\0b"), &mut packets);
        assert_eq!(packets, b"\x0c\0\0\0\x08\0\0\0\x02\0\0\0ab\0\0");
        packets.clear();
        encode(9, Sent::End, &mut packets);
        assert_eq!(packets, b"\x0a\0\0\0\x09\0\0\0\0\0\0\0\0\0");
        packets.clear();
        encode(1, Sent::Command(&"x".repeat(9_999)), &mut packets);
        assert_eq!(packets.len(), MAX_REQUEST + SHORTEST + 4);
    }

    #[test]
    fn answers_in_pieces() {
        let all = [
            packet(1, 0, b""),
            packet(1, 2, b""),
            packet(2, 0, b"one"),
            packet(2, 0, b"two"),
            packet(3, 0, b"\0\x01\0\0"),
            packet(-1, 2, b""),
        ]
        .concat();
        let text = |id, text: &[u8]| SourceAnswer::Text(id, text.to_owned());
        let expected = vec![
            text(1, b""),
            SourceAnswer::Login(true),
            text(2, b"one"),
            text(2, b"two"),
            text(3, b""),
            SourceAnswer::Login(false),
        ];
        for chunk in [1, 3, 4, 17, 1_000] {
            assert_eq!(read(&all, chunk), Ok(expected.clone()));
        }
    }

    #[test]
    fn hostile_sizes_and_types() {
        for size in [i32::MIN, -1, 0, 9, 8_193, i32::MAX] {
            let bytes = [&size.to_le_bytes()[..], &[0; 40]].concat();
            assert_eq!(read(&bytes, 5), Err(PacketError::Size(size)));
        }
        assert_eq!(read(&packet(1, 5, b""), 9), Err(PacketError::Type(5)));
        // The rest of an announced packet never comes.
        assert_eq!(read(&8_192i32.to_le_bytes(), 4), Ok(vec![]));
        let long = packet(1, 0, &[b'x'; LONGEST - SHORTEST]);
        assert_eq!(read(&long, 700).unwrap().len(), 1);
    }

    proptest! {
        #[test]
        fn any_bytes_are_borne(bytes in any::<Vec<u8>>(), chunk in 1usize..9) {
            let one = read(&bytes, chunk);
            prop_assert_eq!(one, read(&bytes, 1));
        }

        #[test]
        fn a_server_reads_what_is_sent(id in 0..i32::MAX, text in "[^\\x00]{0,60}") {
            let mut packets = Vec::new();
            encode(id, Sent::Command(&text), &mut packets);
            // The server's answer to a login has the type of a command.
            packets[8] = 0;
            prop_assert_eq!(read(&packets, 7), Ok(vec![SourceAnswer::Text(id, text.into_bytes())]));
        }
    }
}
