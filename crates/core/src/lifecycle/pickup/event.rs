//! What happens to a pick-up match, what follows from it, and why it is not possible.

use thiserror::Error;

use super::{Picked, PickupStage, Said};

/// What happens to a pick-up match.
#[derive(Clone, Debug, PartialEq)]
pub enum PickupEvent {
    /// Somebody who has seen the teams of a place wants others.
    Again {
        /// The place.
        seen: u32,
        /// The others.
        picked: Picked,
    },
    /// The teams of this place begin to play.
    Start {
        /// The place.
        place: u32,
    },
    /// Somebody says what came of it.
    Say(Said),
    /// Its players were moved to where they belong while it is so far.
    Moved {
        /// How far.
        stage: PickupStage,
    },
}

/// What has to be done besides storing the pick-up match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickupEffect {
    /// Nothing: it is as it was.
    Same,
    /// Nothing else.
    Changed,
    /// Its result is to be recorded.
    Record,
    /// The match with this number is to be left out of the ratings.
    Void(i64),
}

/// Why an event is not possible. The event has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PickupRefused {
    /// Only players and organisers may say what came of it.
    #[error("{0} does not play in this match")]
    NotInIt(String),
    /// There is no such team.
    #[error("there is no team {0}")]
    NoTeam(u8),
    /// It has not begun.
    #[error("the match has not begun")]
    NotBegun,
    /// There are other teams by now.
    #[error("there are other teams by now")]
    OtherTeams,
    /// Only before it begins.
    #[error("the match has begun")]
    HasBegun,
    /// It has a result, which only an organiser changes.
    #[error("the match is recorded with another result: an organiser can make it void")]
    IsRecorded,
    /// It does not count any more.
    #[error("the match is void")]
    IsVoid,
    /// Somebody plays in another pick-up match.
    #[error("{0} plays in another match, which has no result yet")]
    Busy(String),
}
