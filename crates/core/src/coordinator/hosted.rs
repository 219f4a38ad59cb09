//! Hosted matches, the acts that they need, and the changes that are stored.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Instance;
use crate::domain::{MatchId, Timestamp};

/// The state of a hosted match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It waits for a free slot.
    Reserved,
    /// An instance was asked to host it.
    Opening,
    /// The instance can host it, and the players were called.
    Ready,
    /// A connection of the instance has the game, and players arrive.
    Joining,
    /// Play has begun.
    Playing,
    /// END has come. Final.
    Over,
    /// It will not be played, or its game was broken off. Final.
    Failed,
}

impl Stage {
    /// All states, in order.
    pub const ALL: [Self; 7] = [
        Self::Reserved,
        Self::Opening,
        Self::Ready,
        Self::Joining,
        Self::Playing,
        Self::Over,
        Self::Failed,
    ];

    /// The word for it in the database and for operators.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Opening => "opening",
            Self::Ready => "ready",
            Self::Joining => "joining",
            Self::Playing => "playing",
            Self::Over => "over",
            Self::Failed => "failed",
        }
    }

    /// Whether the match never leaves this state.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Over | Self::Failed)
    }

    /// Whether the match is at an instance and START has not come.
    pub fn is_before_start(self) -> bool {
        matches!(self, Self::Opening | Self::Ready | Self::Joining)
    }

    /// Whether the players were called to the instance.
    pub fn is_called(self) -> bool {
        matches!(self, Self::Ready | Self::Joining | Self::Playing)
    }
}

/// Why a match has left an instance, or has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Why {
    /// Nothing has gone wrong.
    #[default]
    None,
    /// The instance refused it.
    Refused,
    /// The instance, or its game, did not answer in time.
    Silent,
    /// The connection of the instance was lost.
    Lost,
    /// No instance was free in time.
    NoInstance,
    /// The game did not begin in time.
    NotStarted,
    /// The game did not end in time.
    TooLong,
    /// The game server began another game instead.
    GivenUp,
    /// The tickets of the match are gone.
    Withdrawn,
}

impl Why {
    /// All reasons.
    pub const ALL: [Self; 9] = [
        Self::None,
        Self::Refused,
        Self::Silent,
        Self::Lost,
        Self::NoInstance,
        Self::NotStarted,
        Self::TooLong,
        Self::GivenUp,
        Self::Withdrawn,
    ];

    /// The word for it, on the wire and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Refused => "refused",
            Self::Silent => "silent",
            Self::Lost => "lost",
            Self::NoInstance => "no-instance",
            Self::NotStarted => "not-started",
            Self::TooLong => "too-long",
            Self::GivenUp => "given-up",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// What a match needs of an instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// The mode of the match, if it has one.
    pub mode: Option<String>,
    /// The map of the match, if it has one.
    pub map: Option<String>,
    /// The worst latency of its players in each region that all of them state.
    pub latencies: BTreeMap<String, f64>,
    /// The worst latency that a player may have. `None` if any latency will do, also an unknown one.
    pub ceiling: Option<f64>,
    /// How long the match waits for an instance, in milliseconds.
    pub wait: i64,
    /// Number of its teams.
    pub teams: u8,
    /// Number of players of a full team.
    pub size: u32,
}

/// A match that is hosted by an instance, or waits for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosted {
    /// The id of the match.
    pub id: MatchId,
    /// The queue that formed it.
    pub queue: String,
    /// The state that the match is in.
    pub stage: Stage,
    /// When it got this state.
    pub since: Timestamp,
    /// Until when it may wait for an instance.
    pub until: Timestamp,
    /// The instance that hosts it, or did so last.
    pub instance: Option<String>,
    /// Where its players connect.
    pub address: Option<String>,
    /// The number of the game in its session.
    pub game: Option<i64>,
    /// How many instances were asked to host it.
    pub tries: u32,
    /// Why it left its last instance, or has failed.
    pub why: Why,
    /// The pass of each player, while passes are valid.
    pub passes: BTreeMap<String, String>,
    /// Until when the passes are valid, once the players were called.
    pub passes_until: Option<Timestamp>,
    /// When its game lost its connection during play; `None` while it has one.
    pub parted: Option<Timestamp>,
    /// The number of seats of each team that players of the queue are to fill, in play.
    pub asked: BTreeMap<u8, u32>,
    /// The players who were sent to the match in play and have not come.
    pub coming: BTreeMap<String, Coming>,
    /// The players on their way whom the game server has sent away: they are not sent to the match again.
    pub sent_away: BTreeSet<String>,
    /// All players of the game with their teams, in play; `None` before the game server has reported them.
    pub roster: Option<Vec<(String, Option<u8>)>>,
    /// A number that changes with the players and with those on their way. Not stored.
    pub version: u64,
    /// The players whom the instance has reported before START. Not stored.
    pub present: BTreeSet<String>,
}

impl Hosted {
    /// A match that waits for an instance from now on, at most until a time.
    pub(super) fn new(id: MatchId, queue: &str, now: Timestamp, until: Timestamp) -> Self {
        Self {
            id,
            queue: queue.to_owned(),
            stage: Stage::Reserved,
            since: now,
            until,
            instance: None,
            address: None,
            game: None,
            tries: 0,
            why: Why::None,
            passes: BTreeMap::new(),
            passes_until: None,
            parted: None,
            asked: BTreeMap::new(),
            coming: BTreeMap::new(),
            sent_away: BTreeSet::new(),
            roster: None,
            version: 0,
            present: BTreeSet::new(),
        }
    }
}

/// A player who was sent to a match in play and has not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coming {
    /// The team with the free seat.
    pub team: u8,
    /// Until when the player may come. While the game has no connection, the player cannot come, and this
    /// time does not count.
    pub until: Timestamp,
    /// The number of the player's ticket, whose players are sent and released together.
    pub ticket: i64,
}

/// What has to be done, after the changes are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Ask the instance to host the match.
    Open {
        /// The name of the instance.
        instance: String,
        /// The id of the match.
        id: MatchId,
    },
    /// Ask the allocator for a game server that can host the match.
    Allocate(MatchId),
    /// Send CLOSE to the instance: it does not host the match any more.
    Close {
        /// The name of the instance.
        instance: String,
        /// The id of the match.
        id: MatchId,
        /// Why it hosts the match no longer.
        why: Why,
    },
    /// Call the players to the instance.
    Call(MatchId),
    /// The players who were called must wait until another instance is found.
    Seek(MatchId),
    /// Play has begun, so the state of the tickets is final.
    Begun(MatchId),
    /// The match failed before its play began: its tickets go back to their queue.
    Requeue(MatchId, Why),
    /// Send the game's connection these players, who are on their way to the match in play.
    Admit(MatchId, Vec<String>),
    /// These players, who were sent to the match in play, have come.
    Came(MatchId, Vec<String>),
    /// These players, who were sent to the match in play, have not come in time.
    NoShow(MatchId, Vec<String>),
    /// These players, who were sent to the match in play, need not come: no seat is free for them any more,
    /// or the game server has sent them away. Their tickets go back.
    Release(MatchId, Vec<String>),
    /// The match in play is over: the tickets of players who have not come yet go back.
    Dismiss(MatchId),
}

/// A change to what is stored. Changes apply in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A match is new or has changed.
    Hosted(Box<Hosted>),
    /// A match is no longer kept.
    Forgotten(MatchId),
    /// An instance is new or has changed. Whether it drains is the operator's to change.
    Instance(Box<Instance>),
    /// An instance is gone.
    Gone(String),
    /// An absent instance must be sent CLOSE for a match when it comes back.
    Owed {
        /// The name of the instance.
        instance: String,
        /// The id of the match.
        id: MatchId,
        /// Why it hosts the match no longer.
        why: Why,
    },
    /// The instance need not be sent that CLOSE any more.
    Settled {
        /// The name of the instance.
        instance: String,
        /// The id of the match.
        id: MatchId,
    },
}
