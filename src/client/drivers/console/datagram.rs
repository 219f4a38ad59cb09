//! The datagrams of id Tech 3 servers outside a client's connection.

/// The start of every such datagram.
pub(super) const OUT_OF_BAND: &[u8] = b"\xff\xff\xff\xff";
/// The longest datagram that is read, in bytes. Servers split longer answers.
pub(super) const MAX_DATAGRAM: usize = 2_048;
/// What precedes the text in each datagram of the server.
const PRINT: &[u8] = b"print\n";

/// The text of a datagram of the game server.
pub(super) fn text_in(datagram: &[u8]) -> Option<&[u8]> {
    datagram.strip_prefix(OUT_OF_BAND)?.strip_prefix(PRINT)
}
