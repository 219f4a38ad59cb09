//! What is sent to webhooks: events as JSON, their signature, and when a failed request is repeated.
//!
//! A webhook is an address to which the daemon sends a request for each event: a match was formed by a
//! queue, is hosted, or was recorded. The signature follows Standard Webhooks 1.0.0
//! (<https://www.standardwebhooks.com>), so that the libraries of that project verify it.
//!
//! This room sends nothing and reads no clock: the time and random numbers are arguments. It never
//! puts a player's pass into an event.
//!
//! Entry points: [`body`], [`SigningKeys::sign`], [`verdict`], [`delay`].

mod body;
mod event;
mod retry;
mod signature;

pub use body::{MAX_BODY, body, closeness};
pub use event::{FormedReport, FormedSeat, HookEvent, HookKind, HookReport, RecordedReport};
pub use retry::{HookAnswer, HookVerdict, LONGEST_DELAY, delay, verdict};
pub use signature::SigningKeys;
