#![doc = include_str!("../README.md")]
//!
//! # How it is built
//!
//! Game logs: bytes in, match records out.
//!
//! Each log format is one folder behind one small trait, [`LogParser`](format::LogParser), and one entry in [`FORMATS`].
//! The caller reads a file in chunks of any size and feeds them to a [`Reader`], which returns what the
//! log contains as [`LogItem`]s: finished matches, games that make no match, malformed lines.
//!
//! This room never touches files, the system's clock, databases or random numbers. It never returns a
//! match of a game that has not ended, or a record that fails
//! [`MatchRecord::check`](evenkeel_model::MatchRecord::check). Entry points: [`detect`] and [`Reader`] for records,
//! [`live`] for servers that run.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping
#![warn(unreachable_pub)]

mod clock;
mod event;
pub mod foreign;
pub mod format;
mod idtech3;
pub mod jsonl;
pub mod lines;
pub mod live;
mod record;
pub mod same_match;
mod source;
mod stamp;
mod tabs;
mod teeworlds;
#[cfg(test)]
mod testing;
mod text;
mod ut2004;
mod ut99;
mod xonotic;

pub use event::GameEvent;
pub use format::{Context, Format, LogItem, Reader, Skip};
#[cfg(test)]
use testing::{only_match, read};

/// The number of bytes from a log's beginning that [`detect`] needs. Pass fewer only if the whole
/// log is shorter.
pub const HEAD: usize = 64 * 1024;

/// All formats, in the order in which [`detect`] tries them.
pub static FORMATS: &[Format] = &[
    idtech3::FORMAT,
    ut2004::FORMAT,
    ut99::FORMAT,
    xonotic::FORMAT,
    teeworlds::FORMAT,
    source::FORMAT,
    jsonl::FORMAT,
];

/// Returns the format of this name.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// Returns the format of a log that begins with these bytes, or `None` if it is of no known format.
/// Time stamps that another program wrote before the lines do not matter.
pub fn detect(head: &[u8]) -> Option<&'static Format> {
    let head = lines::decoded(head);
    let found = FORMATS.iter().find(|format| (format.detect)(&head));
    found.or_else(|| beneath_stamps(&head[..head.len().min(HEAD)]))
}

/// The format of which most lines are found beneath time stamps.
fn beneath_stamps(head: &[u8]) -> Option<&'static Format> {
    let count = |format: &'static Format| {
        let lines = stamp::certain_lines(head, format.is_beneath?);
        (lines > 0).then_some((lines, format))
    };
    let all = FORMATS.iter().rev().filter_map(count);
    all.max_by_key(|(lines, _)| *lines)
        .map(|(_, format)| format)
}
