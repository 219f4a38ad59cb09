//! The coordinator finds an instance for each match that needs one, and follows the match until it ends.
//!
//! Pure: events and the current time come in; acts and changes come out. [`Coordinator`] knows the
//! instances and all hosted matches. An event returns at once; [`Coordinator::take_acts`] returns
//! what has to be done, and [`Coordinator::take_changes`] what has to be written. The caller writes
//! the changes and only then sends what the acts ask for. If it is killed in between, nothing is
//! lost: an instance that comes back is sent its matches again.
//!
//! ```text
//! reserved ─▶ opening ─▶ ready ─▶ joining ─▶ playing ─▶ over
//!     ▲          │         │         │          │
//!     └──────────┴─────────┴─────────┘          ▼      the instance is lost before START: another one
//!     └──────────────────────────────────────▶ failed  no instance is found in time, or the game is lost
//! ```
//!
//! | state | meaning | time-out |
//! | --- | --- | --- |
//! | reserved | waits for a free slot | `host_wait` of the queue: failed |
//! | opening | an instance was asked to host it | `open_seconds`: another instance |
//! | ready | the instance can host it, and the players were called | `open_seconds`: another instance |
//! | joining | a connection has its game, and players arrive | `join_seconds`: failed |
//! | playing | START came | `play_seconds`, or `resume_seconds` without a connection: failed |
//! | over, failed | final | a day: removed |
//!
//! With an allocator ([`Provider::Agones`]), the coordinator does not choose among the instances: a reserved
//! match asks the allocator ([`Act::Allocate`]), whose answer ([`Coordinator::answered`]) names the instance
//! that is asked to host it. All else is the same.
//!
//! A player whom the queue sends to a free seat of a match in play is *on the way* until the game server
//! reports the player. The time for that stands still while the game has no connection. A player for whom no
//! seat is free any more is released: the ticket goes back, and nobody is to blame.
//!
//! Invariants: No instance is asked to host more matches at once than it has slots. At most one instance
//! hosts a match. The tickets of a match that fails before START go back to their queue. A final state
//! never changes.

pub mod agones;
mod allocate;
mod asking;
mod backfill;
mod coming;
mod ends;
mod error;
mod events;
mod hosted;
mod instance;
mod restore;
mod settings;
mod state;
#[cfg(test)]
mod tests;

pub use agones::{AgonesSettings, Allocation, GameServer, Provider};
pub use coming::Newcomer;
pub use error::HostRefused;
pub use hosted::{Act, Change, Coming, Hosted, Stage, Wanted, Why};
pub use instance::{Instance, Offer};
pub use settings::CoordinatorSettings;
pub use state::Coordinator;

/// The most instances at once.
pub const MAX_INSTANCES: usize = 4_096;
/// The most instances that are asked to host one match.
pub const MAX_TRIES: u32 = 8;
/// The most players whom a game server can keep from being sent to one match again.
const MAX_SENT_AWAY: usize = 1_024;
/// How long a match in a final state is kept, in milliseconds: a day.
pub const KEEP_MILLIS: i64 = 24 * 3_600 * 1_000;
