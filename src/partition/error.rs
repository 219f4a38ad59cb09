//! What this room refuses, and why.

use super::{Engine, Objective};

/// Why a problem, a setting or a forced engine is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// Too few or too many teams.
    #[error("{0} teams: between 2 and {max} are possible", max = super::MAX_TEAMS)]
    Teams(usize),
    /// Too many humans.
    #[error("{0} humans: at most {max} are possible", max = super::MAX_HUMANS)]
    Humans(usize),
    /// A weight that is no finite number of at least zero.
    #[error("the weight of {who} is {weight}: it must be a finite number of at least 0")]
    Weight {
        /// Whose.
        who: String,
        /// The weight given.
        weight: f64,
    },
    /// A handicap that is no finite number.
    #[error("the handicap is {0}: it must be a finite number")]
    Handicap(f64),
    /// What teams should add up to, out of range.
    #[error("what two teams add up to is {0}: it must be a finite number above 0")]
    EvenTotal(f64),
    /// A handicap under an objective that doesn't count it.
    #[error("the objective `{0}` can't count a handicap: only `gap` can")]
    HandicapUncounted(Objective),
    /// Two humans under one key.
    #[error("two humans have the key {0:?}")]
    SameKey(String),
    /// A level whose sizes make no sense.
    #[error(
        "a level for {min} to {max} players with a target of {target}: the minimum may not exceed \
         the maximum, and none may exceed {limit}", limit = super::MAX_PLAYERS
    )]
    Level {
        /// The level's minimum.
        min: usize,
        /// The level's maximum.
        max: usize,
        /// The target.
        target: usize,
    },
    /// A share outside (0, 1].
    #[error("the largest share of the humans on one team is {0}: it must be above 0 and at most 1")]
    Share(f64),
    /// A party, pair or team that doesn't exist.
    #[error("{what} {index} doesn't exist: there are {count}")]
    NoSuch {
        /// `"human"` or `"team"`.
        what: &'static str,
        /// The index given.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A human in two parties, or twice in one.
    #[error("{0} is in a party more than once")]
    TwoParties(String),
    /// A human who avoids themselves.
    #[error("{0} can't avoid being on a team with themselves")]
    AvoidsSelf(String),
    /// A party with members pinned to different teams.
    #[error("{first} and {second} are of one party, but pinned to teams {teams:?}")]
    PinsContradict {
        /// The first member.
        first: String,
        /// The second.
        second: String,
        /// Their teams, counted from 0.
        teams: (usize, usize),
    },
    /// A party that no legal team can hold.
    #[error("a party of {size} is larger than a team: at most {most} humans may be on one")]
    PartyTooLarge {
        /// Its members.
        size: usize,
        /// The most humans that one team may have.
        most: usize,
    },
    /// Pins that leave no legal teams.
    #[error(
        "the pins put {pinned:?} humans on the teams, which no legal split of {humans} can have"
    )]
    PinsTooMany {
        /// Humans pinned to each team.
        pinned: Vec<usize>,
        /// Humans in all.
        humans: usize,
    },
    /// A setting out of its range.
    #[error("the setting {name} must be {wanted}")]
    Setting {
        /// Its name.
        name: &'static str,
        /// Its range.
        wanted: &'static str,
    },
    /// A forced engine that can't do it.
    #[error("the engine `{engine}` can't solve this: {why}")]
    Engine {
        /// The engine.
        engine: Engine,
        /// The reason.
        why: &'static str,
    },
}
