//! The life of tickets: from SUBMIT until they are in a match, are cancelled or expire.
//!
//! Pure: events and the current time come in; answers and changes come out. [`Life`] contains all
//! tickets and their matches. Each event returns its answer at once and adds what has to be written
//! to the disk to the [changes](Life::take_changes). The caller writes the changes in order and
//! together, and only then sends the answers and the [news](Life::unsent). If the write fails, the
//! caller [restores](Life::restore) the state from the disk, where nothing has changed.
//!
//! This room does not search for matches: `matchmaking` does. [`Life::propose`] forms matches of the
//! proposals that it has found, except those with a ticket that has left the queue since.
//!
//! Invariants: A ticket is in one state, and a final one never changes. No ticket is in two matches,
//! and a match has a ticket with all its players or not at all. A player is in one waiting ticket
//! among the queues of a group. A ticket that goes back keeps its number, which is its place, and
//! the time at which it was submitted.

mod check;
mod ends;
mod error;
mod hosting;
mod index;
mod later;
mod life;
mod matches;
mod record;
mod restore;
#[cfg(test)]
mod tests;
mod waits;

pub use error::TicketRefused;
pub use life::Life;
pub use record::{
    Change, FormedMatch, Proposal, QueueTerms, Reason, SearchedPool, Seat, State, Submission,
    TicketNumber, TicketRecord,
};

/// The most tickets that wait, in all queues together.
pub const MAX_WAITING: usize = 50_000;
/// The most tickets whose final state is kept. If there are more, the oldest are removed early.
pub const MAX_ENDED: usize = 100_000;
/// How long the final state of a ticket is kept, in milliseconds: a day.
pub const KEEP_MILLIS: i64 = 24 * 3_600 * 1_000;
