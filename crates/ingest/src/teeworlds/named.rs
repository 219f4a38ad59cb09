//! The players in a line.

use crate::text::{LineResult, number};

/// A player in a line: the number on the server, and the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    pub(crate) slot: usize,
    pub name: &'a [u8],
}

/// A player in the line of a kill, which states the team, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen<'a> {
    pub(crate) who: Named<'a>,
    /// `None` if the player watches.
    pub team: Option<u8>,
}

/// Reads `NUMBER:`, the number of a player.
pub(super) fn slot(text: &[u8]) -> LineResult<(usize, &[u8])> {
    let (slot, rest) = number(text).ok_or("a player has no number")?;
    let slot = usize::try_from(slot).map_err(|_| "a player's number is negative")?;
    let rest = rest.strip_prefix(b":").ok_or("a player has no number")?;
    Ok((slot, rest))
}

/// A team as the server numbers it: 0, 1, or -1 to watch.
pub fn team(number: i64) -> LineResult<Option<u8>> {
    match number {
        0 => Ok(Some(0)),
        1 => Ok(Some(1)),
        -1 => Ok(None),
        _ => Err("there is no such team"),
    }
}

/// Where `part` first is in `text`.
pub(super) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, part)
}
