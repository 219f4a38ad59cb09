//! The words every other room speaks: identifiers, rulesets and the match record.
//!
//! Nothing in here knows a file, a socket, a clock or a database, and nothing in here decides
//! anything about teams or strength. Entry point: [`MatchRecord`], the only ground truth.

mod fingerprint;
mod ident;
mod merge;
mod moves;
mod random;
mod record;
mod rulebook;
mod ruleset;
mod time;
pub mod units;
mod verdict;

pub use fingerprint::Fingerprint;
pub(crate) use ident::decode;
pub use ident::{Ident, Kind, PlayerKey, Secret};
pub use moves::Move;
pub use random::{Stream, StreamPurpose, seeded_hash};
pub use record::{
    MAX_TEAMS, MatchRecord, Outcome, Participant, Presence, RecordError, Role, ScoreEvent, Span,
};
pub use rulebook::{PatternError, Patterns, Rulebook, RulebookSpec, Scoring, Unknown};
pub use ruleset::Ruleset;
pub use time::Timestamp;
pub use verdict::Verdict;
