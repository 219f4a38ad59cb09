//! The format of the journal, from which a game is resumed after the daemon was stopped or killed.
//!
//! A journal belongs to one session's game. It begins with a [`JournalSnapshot`] of the game and continues
//! with an [`Entry`] for everything that changed it, collected in frames with a length and a
//! checksum. [`JournaledGame::read`] applies the entries again. Reading does not trust the bytes: a
//! torn or damaged tail is cut off, a damaged beginning is replaced by its copy, and inconsistent content is an error,
//! never a panic. Entries are in the encoding of postcard.
//!
//! This module does not read or write files, and does not use a clock.
//!
//! Entry points: [`EntryBuffer`] to write, [`JournaledGame::read`] to read.

mod entry;
mod error;
mod frame;
mod payload;
mod replay;

pub use entry::{EndAnswer, Entry, HeldGame, JournalSnapshot};
pub use error::JournalError;
pub use frame::{HEADER, before_copy, copy_of_beginning};
pub use payload::EntryBuffer;
pub use replay::{JournaledEnd, JournaledGame};
