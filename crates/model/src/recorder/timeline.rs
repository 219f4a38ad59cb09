//! What one player of a match has done.

use serde::{Deserialize, Serialize};

use crate::{LeaveReason, PlayerKey, Presence, RoleName, Span};

/// What one player has done, from coming to leaving. A player who comes back may go on with the same timeline or begin
/// another one: the record joins those of one identity.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlayerTimeline {
    /// The identity that the match is counted for.
    pub key: PlayerKey,
    /// The name used last.
    pub name: String,
    /// The party that they came with.
    pub party: Option<String>,
    /// The team that they are on, and since when.
    pub current: Option<(u8, u64)>,
    pub(super) stays: Vec<Presence>,
    /// The role that they have, and since when.
    pub role: Option<(RoleName, u64)>,
    /// The roles that they had, with the times, whichever team they were on.
    pub(super) duties: Vec<(RoleName, Span)>,
    /// Their points on the scoreboard, if they are known.
    pub points: Option<f64>,
    pub(super) kills: u32,
    /// The deaths that were counted on their own.
    pub(super) deaths: u32,
    /// How often they were the victim of a kill. Whether deaths are counted on their own, too, depends on the game.
    pub(super) killed: u32,
    /// Why they left, unless they have come back.
    pub left: Option<LeaveReason>,
}

impl PlayerTimeline {
    pub(super) fn new(key: PlayerKey, name: String) -> Self {
        Self {
            key,
            name,
            party: None,
            current: None,
            stays: Vec::new(),
            role: None,
            duties: Vec::new(),
            points: None,
            kills: 0,
            deaths: 0,
            killed: 0,
            left: None,
        }
    }

    /// The team that they are on.
    pub fn team(&self) -> Option<u8> {
        self.current.map(|(team, _)| team)
    }

    /// Forgets all time on teams: the player only watched.
    pub fn forget_stays(&mut self) {
        self.current = None;
        self.stays.clear();
    }

    /// Forgets the stay that goes on: the player has only watched since it began.
    pub fn forget_current(&mut self) {
        self.current = None;
    }
}
