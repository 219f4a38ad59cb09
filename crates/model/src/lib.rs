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

mod access;
pub mod behaviour;
mod fingerprint;
mod ident;
mod in_game;
mod match_chances;
mod merge;
mod names;
pub mod normal;
mod random;
mod record;
mod recorder;
mod rulebook;
pub mod steam;
mod team_names;
mod text;
mod time;
pub mod units;
mod weight;
mod win_model;

pub use access::{Right, Rights, Secret};
pub use fingerprint::Fingerprint;
pub(crate) use ident::is_reserved;
pub use ident::{Ident, Kind, Nobody, PlayerKey, are_mostly_the_same, decode, is_default_name};
pub use in_game::{Contest, MOVE_NOTICE, Move, Streak, SwitchAnswer, Verdict, Withdrawal};
pub use match_chances::{
    Cause, Causes, ChanceSummary, MAX_TEAM_CHANGES, MatchChances, NEWCOMER, TeamCause, TeamChances,
    TeamChange, versus,
};
pub use merge::CountsAs;
pub use names::{ClanTagError, ClanTags, NameColour, by_name, coloured_name, is_guid, plain_name};
pub use random::{Stream, StreamPurpose, seeded_hash};
pub use record::{
    LeaveReason, MAX_EVENTS, MAX_PLAYERS, MAX_ROLES, MAX_STAYS, MAX_TEAMS, MatchId, MatchRecord,
    Outcome, Participant, PlayTime, Presence, RecordError, Role, ScoreEvent, Span, UNTIMED_MILLIS,
    other_side, score_text,
};
pub use recorder::{MatchRecorder, PlayerTimeline, is_exchange};
pub use rulebook::{
    GameTypeLists, MutatorLists, PatternError, Patterns, Rulebook, RulebookSpec, Ruleset, Scoring,
    TeamBook, Unknown,
};
pub use team_names::{Naming, RoleName, TeamNames};
pub use text::{amount, counted, from_hex, to_hex};
pub use time::{DAY, Timestamp};
pub use weight::{PointScale, Rank, RoleWeights, StartWeight, WeightCause, WeightEntry};
pub use win_model::{
    Company, Crowding, LineupPlayer, Link, SAME_CHANCE, TeamLoad, UNITS, WinModel,
    chance_of_weaker, evenness_of_chance,
};
