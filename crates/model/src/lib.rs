#![doc = include_str!("../README.md")]
//!
//! # How it is built
//!
//! The types that all other rooms share: identities, rulesets, the match record, units, and seeded
//! random streams.
//!
//! This room uses no file, socket, clock or database, and decides nothing about teams or weights.
//! Entry point: [`MatchRecord`], the only ground truth.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping

pub mod behaviour;
mod causes;
mod clan_tags;
mod counted;
mod display_name;
mod error;
mod fingerprint;
mod hex;
mod ident;
mod leave;
mod lineup;
mod match_chances;
mod match_id;
mod merge;
mod moves;
mod naming;
mod nobody;
pub mod normal;
mod offers;
mod outlook;
mod point_scale;
mod random;
mod rank;
mod record;
mod recorder;
mod right;
mod role;
mod role_weights;
mod rulebook;
mod ruleset;
mod secret;
mod start_weight;
pub mod steam;
mod streaks;
mod team_book;
mod team_names;
mod time;
pub mod units;
mod verdict;
mod weight_entry;
mod worded;

pub use causes::{Cause, Causes, NEWCOMER};
pub use clan_tags::by_name;
pub use clan_tags::{ClanTagError, ClanTags, is_guid};
pub use counted::{amount, counted};
pub use display_name::{NameColour, coloured_name, plain_name};
pub use error::{PatternError, RecordError};
pub use fingerprint::Fingerprint;
pub use hex::{from_hex, to_hex};
pub use ident::{Ident, Kind, PlayerKey};
pub use ident::{are_mostly_the_same, decode};
pub use leave::LeaveReason;
pub use lineup::LineupPlayer;
pub use match_chances::{
    ChanceSummary, MAX_TEAM_CHANGES, MatchChances, TeamCause, TeamChances, TeamChange, versus,
};
pub use match_id::MatchId;
pub use merge::CountsAs;
pub use moves::Move;
pub use naming::Naming;
pub(crate) use nobody::is_reserved;
pub use nobody::{Nobody, is_default_name};
pub use offers::{MOVE_NOTICE, SwitchAnswer, Withdrawal};
pub use outlook::{
    Company, Crowding, Link, Outlook, SAME_CHANCE, TeamLoad, UNITS, chance_of_weaker,
    evenness_of_chance,
};
pub use point_scale::PointScale;
pub use random::{Stream, StreamPurpose, seeded_hash};
pub use rank::Rank;
pub use record::{
    MAX_EVENTS, MAX_PLAYERS, MAX_ROLES, MAX_STAYS, MAX_TEAMS, MatchRecord, Outcome, Participant,
    Presence, Role, ScoreEvent, Span, UNTIMED_MILLIS, score_text,
};
pub use record::{PlayTime, other_side};
pub use recorder::{MatchRecorder, PlayerTimeline, is_exchange};
pub use right::{Right, Rights};
pub use role::RoleName;
pub use role_weights::RoleWeights;
pub use rulebook::{
    GameTypeLists, MutatorLists, Patterns, Rulebook, RulebookSpec, Scoring, Unknown,
};
pub use ruleset::Ruleset;
pub use secret::Secret;
pub use start_weight::StartWeight;
pub use streaks::{Contest, Streak};
pub use team_book::TeamBook;
pub use team_names::TeamNames;
pub use time::{DAY, Timestamp};
pub use verdict::Verdict;
pub use weight_entry::{WeightCause, WeightEntry};
