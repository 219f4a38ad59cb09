//! The life of tickets and of the matches formed of them, from SUBMIT to the END of a hosted match.
//!
//! Pure: events and the current time come in, and [`Effects`] come out. [`Lifecycle`] contains all tickets, their
//! matches and the instances that host these. An event returns its answer at once;
//! [`take_effects`](Lifecycle::take_effects) then returns what has to be stored, and what has to be sent once it is. If the
//! daemon is killed in between, nothing is lost: clients are sent the state of their tickets, and instances their
//! matches, again. If the write fails, the caller [restores](Lifecycle::restore) the state from what is stored, where
//! nothing has changed.
//!
//! ```
//! use std::sync::Arc;
//! use evenkeel_matchmaking::lifecycle::{Lifecycle, Proposal, QueueTerms, State, Submission};
//! use evenkeel_model::Timestamp;
//!
//! let duel = QueueTerms { ttl: 600_000, ..QueueTerms::default() };
//! let queues = [("duel".to_owned(), duel)];
//! let (settings, stored) = Default::default();
//! let mut life = Lifecycle::restore(settings, queues, stored, Timestamp(0), |_| true);
//! for player in ["ann", "bob"] {
//!     life.submit(Submission {
//!         owner: "lobby".to_owned(),
//!         id: format!("ticket of {player}"),
//!         queue: "duel".to_owned(),
//!         players: vec![player.to_owned()],
//!         spec: Arc::default(),
//!     })?;
//! }
//! // A search has found a match of the two.
//! let proposal = Proposal { teams: vec![vec![1], vec![2]], size: 1, ..Proposal::default() };
//! life.propose("duel", vec![proposal], 7);
//! let effects = life.take_effects(false, || "secret".to_owned());
//! // First store `effects.write`: each ticket and its player, the match, and then the new state of each ticket and the
//! // player, who has left the queue. Then tell the client.
//! assert_eq!(effects.write.len(), 9);
//! assert_eq!(life.unsent("lobby"), [1, 2]);
//! assert_eq!(life.ticket(1).map(|ticket| ticket.state), Some(State::Matched(7)));
//! # Ok::<(), evenkeel_matchmaking::lifecycle::TicketRefused>(())
//! ```
//!
//! This room does not search for matches: `matchmaking` does. [`Lifecycle::propose`] forms matches of the proposals
//! that it has found, except those with a ticket that has left the queue since. A match is proposed to its players if
//! its queue has a ready check; then it is formed, and final if its queue needs no instance. Otherwise:
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
//! With an allocator ([`Provider::Agones`]), the daemon does not choose among the instances: a reserved
//! match asks the allocator ([`Effects::allocate`]), whose answer ([`Lifecycle::answered`]) names the instance
//! that is asked to host it. All else is the same.
//!
//! A player whom the queue sends to a free seat of a match in play is *expected* until the game server
//! reports the player. The time for that stands still while the game has no connection. A player for whom no
//! seat is free any more is released: the ticket goes back, and nobody is penalised.
//!
//! A [pick-up match](Pickup) needs no queue and no instance: its players say themselves who has won.
//!
//! Invariants: A ticket is in one state, which follows from that of its match, and a final one never changes. No ticket
//! is in two matches, and a match has a ticket with all its players or not at all. Among the queues of a group, a player is
//! in at most one ticket that has not ended. Among all groups, a player is called to at most one match: a match that
//! is final holds the player's other tickets (`tickets.rs`). A ticket that goes back keeps its number, which is its place, and the time at
//! which it was submitted. No instance is asked to host more matches at once than it has slots. At most one instance
//! hosts a match. If a match fails before START, its tickets go back to their queue, except those of players who did not
//! come. A final state of a match never changes either.

pub mod agones;
mod effects;
mod hosting;
mod join;
mod pickup;
mod record;
mod restore;
mod state;
mod tables;
#[cfg(test)]
mod tests;
mod tickets;

pub use agones::{AgonesSettings, Allocation, GameServer, Provider};
pub use effects::{Change, Effects, Happened, Message};
pub use join::Filling;
pub use pickup::{
    Pickup, PickupEffect, PickupEvent, PickupOutcome, PickupRefused, PickupStage, PickupTeams,
    RecordedPickup, Said,
};
pub use record::{
    ExpectedPlayer, Instance, InstanceOffer, Match, MatchSeat, Proposal, QueueTerms, QueuedPlayer,
    Reason, SearchedPool, Stage, State, Submission, TicketNumber, TicketRecord, WantedInstance,
    Why,
};
pub use restore::StoredState;
pub use state::Lifecycle;

use evenkeel_model::units::{Seconds, UpToADay};
use serde::{Deserialize, Serialize};

/// The most tickets that have not ended, in all queues together.
pub const MAX_WAITING: usize = 50_000;
/// The most tickets whose final state is kept. If there are more, the oldest are removed early.
pub(crate) const MAX_ENDED: usize = 100_000;
/// The most instances at once.
pub(crate) const MAX_INSTANCES: usize = 4_096;
/// The most instances that are asked to host one match.
pub(crate) const MAX_TRIES: u32 = 8;
/// The most players whom a game server can keep from being sent to one match again.
const MAX_SENT_AWAY: usize = 1_024;
/// How long the final state of a ticket or a hosted match is kept, in milliseconds: a day.
pub(crate) const KEEP_MILLIS: i64 = 24 * 3_600 * 1_000;

/// Why an event of a client was refused. It has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum TicketRefused {
    /// The name has a ticket of this id, with other content.
    #[error("there is another ticket with this id")]
    OtherContent,
    /// No queue of this name is configured.
    #[error("there is no queue {0}")]
    NoQueue(String),
    /// The client holds too many of the tickets that wait.
    #[error(
        "{held} tickets of yours wait, and there is room for {free} more of all clients: one client has at most nine \
         times the room that is free; submit again when some of yours have ended"
    )]
    Full {
        /// Number of tickets that the client has.
        held: usize,
        /// Number of tickets for which there is room.
        free: usize,
    },
    /// A player of the ticket is in another one that waits.
    #[error("{0} is in another ticket")]
    InAnother(String),
    /// A player of the ticket is in a hosted match that is being played.
    #[error("{0} is in a match that is being played")]
    InMatch(String),
    /// The name has no ticket of this id, or its state is no longer kept.
    #[error("there is no such ticket")]
    NoTicket,
    /// No match with this id waits to be accepted.
    #[error("no such match waits to be accepted")]
    NoCheck,
    /// The player is in no ticket of the match that belongs to the name.
    #[error("the player is in no ticket of yours in this match")]
    NotInMatch,
}

/// Why an event of an instance was refused. It has changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum HostRefused {
    /// There are as many instances as the daemon allows.
    #[error("there are too many instances")]
    TooMany,
    /// The instance hosts no such match, or hosts it no longer.
    #[error("this instance does not host this match")]
    NotYours,
    /// The instance has not sent READY for this match.
    #[error("send READY for this match first")]
    NotReady,
    /// Players for free seats are sought only during play.
    #[error("send START before BACKFILL")]
    NotPlaying,
    /// The match has no such team.
    #[error("the match has no such team")]
    NoTeam,
    /// Nobody is in the match any more with whom a player of the queue could play.
    #[error("everybody has left the match: send END, and its slot is free for another one")]
    Deserted,
    /// The queue was removed from the configuration while the match is played.
    #[error("the configuration no longer has the queue of this match")]
    NoQueue,
    /// The queue does not give away free seats.
    #[error("the queue of this match has backfill = false")]
    NoBackfill,
}

/// Where instances come from, and how long each step of a hosted match may take.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoordinatorSettings {
    /// Where the instances come from.
    pub provider: Provider,
    /// How the allocator is asked, if instances come from one.
    pub agones: AgonesSettings,
    /// The longest time between two lines of an instance.
    pub heartbeat_seconds: Seconds<1, 3_600>,
    /// How long an instance that is lost may take to come back before its matches go to others.
    pub return_seconds: UpToADay,
    /// The longest time from SESSION to READY, and from READY to the connection with the game.
    pub open_seconds: Seconds<1, 3_600>,
    /// The longest time from the connection with the game to START.
    pub join_seconds: Seconds<1, 86_400>,
    /// The longest time from START to END.
    pub play_seconds: Seconds<1, 604_800>,
    /// How long a pass is valid after GO.
    pub pass_seconds: Seconds<1, 86_400>,
    /// How long a player who was sent to a match in play may take to come.
    pub backfill_seconds: Seconds<1, 3_600>,
    /// How long an instance gets no match after it has refused one or has not answered.
    pub rest_seconds: UpToADay,
    /// How long a game in play may be without a connection: what `[server] resume_grace_seconds` is.
    #[serde(skip, default = "resume_grace")]
    pub resume_grace: UpToADay,
}

fn resume_grace() -> UpToADay {
    const { Seconds::of(120) }
}

impl CoordinatorSettings {
    /// How long a game in play may be without a connection, in milliseconds: a little longer than its
    /// session keeps it.
    fn resume_millis(&self) -> i64 {
        millis(self.resume_grace).saturating_add(2_000)
    }
}

impl Default for CoordinatorSettings {
    fn default() -> Self {
        Self {
            provider: Provider::Instances,
            agones: AgonesSettings::default(),
            heartbeat_seconds: const { Seconds::of(30) },
            return_seconds: const { Seconds::of(15) },
            open_seconds: const { Seconds::of(30) },
            join_seconds: const { Seconds::of(300) },
            play_seconds: const { Seconds::of(14_400) },
            pass_seconds: const { Seconds::of(600) },
            backfill_seconds: const { Seconds::of(60) },
            rest_seconds: const { Seconds::of(10) },
            resume_grace: resume_grace(),
        }
    }
}

/// A number of seconds in milliseconds.
fn millis<const MIN: u32, const MAX: u32>(seconds: Seconds<MIN, MAX>) -> i64 {
    i64::from(seconds.get()) * 1_000
}
