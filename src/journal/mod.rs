//! The form of the journal, from which a game goes on after the daemon was stopped or killed.
//!
//! A journal belongs to one session's game. It begins with a [`Snapshot`] of the game and continues with
//! an [`Entry`] for everything that changed it, collected in frames with a length and a checksum.
//! [`JournaledGame::read`] carries the entries out again. Reading expects the worst of its bytes: a tail
//! that is torn or damaged is cut off, and what is inconsistent is an error, never a panic.
//!
//! This room neither reads nor writes files, and knows no clock.
//!
//! Entry points: [`EntryBuffer`] to write, [`JournaledGame::read`] to read.

mod brief;
mod entry;
mod error;
mod frame;
mod replay;

pub use entry::{EndAnswer, Entry, EntryBuffer, Snapshot};
pub use error::JournalError;
pub use frame::{HEADER, MAX_PAYLOAD};
pub use replay::{JournaledEnd, JournaledGame};
