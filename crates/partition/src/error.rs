//! The errors of this room.

use super::{Engine, Objective};

/// Why a problem or a forced engine is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// The number of teams is out of its range.
    #[error("{0} teams: between 2 and {max} are possible", max = super::MAX_TEAMS)]
    Teams(usize),
    /// There are too many humans to search all splits of.
    #[error("{0} humans: at most {max} are possible", max = super::MAX_HUMANS)]
    Humans(usize),
    /// A weight is negative, infinite or NaN.
    #[error("the weight of {who} is {weight}: it must be a finite number of at least 0")]
    Weight {
        /// The key of the human, or "the mean bot".
        who: String,
        /// The weight given.
        weight: f64,
    },
    /// The handicap is infinite or NaN.
    #[error("the handicap is {0}: it must be a finite number")]
    Handicap(f64),
    /// [`ProblemSpec::even_total`](super::ProblemSpec::even_total) is infinite, NaN, 0 or negative.
    #[error("the sum of two average teams is {0}: it must be a finite number above 0")]
    EvenTotal(f64),
    /// There are bots on teams that do not exist, or too many, or their weights are no weights.
    #[error(
        "the bots that are there must be on teams that exist, and have finite weights of at least 0"
    )]
    Bots,
    /// The strengths are not one finite number for each player, or their outlook is not sound.
    #[error("there must be one finite strength for each player")]
    Strengths,
    /// [`ProblemSpec::doubt`](super::ProblemSpec::doubt) is out of its range.
    #[error("chances cannot count as equal within that distance: it must be 0 to 0.5")]
    Doubt,
    /// The problem has a handicap, and the objective cannot count one.
    #[error("the objective `{0}` cannot count a handicap; `chance` can")]
    HandicapUncounted(Objective),
    /// Two humans have the same key.
    #[error("two humans have the key {0:?}")]
    SameKey(String),
    /// The limits of a map's players contradict each other, or exceed the largest number.
    #[error(
        "a map for {min} to {max} players with a target of {wish}: the minimum may not exceed \
         the maximum, and none may exceed {limit}", limit = evenkeel_model::MAX_PLAYERS
    )]
    Level {
        /// The fewest players of the map.
        min: usize,
        /// The most players of the map.
        max: usize,
        /// The number of players that the server wants.
        wish: usize,
    },
    /// The largest share is not above 0 and at most 1.
    #[error("the largest share of the humans on one team is {0}: it must be above 0 and at most 1")]
    Share(f64),
    /// An index of a human or a team is out of range.
    #[error("{what} {index} does not exist: there are {count}")]
    NoSuch {
        /// What the index counts: `"human"` or `"team"`.
        what: &'static str,
        /// The index that is out of range.
        index: usize,
        /// The number of humans or teams.
        count: usize,
    },
    /// A human is in two parties, or twice in one.
    #[error("{0} is in a party more than once")]
    TwoParties(String),
    /// A human is to avoid themselves.
    #[error("{0} cannot avoid being on a team with themselves")]
    AvoidsSelf(String),
    /// Two members of a party are pinned to different teams.
    #[error("{first} and {second} are in one party, but pinned to teams {teams:?}")]
    PinsContradict {
        /// Key of the first member.
        first: String,
        /// Key of the second member.
        second: String,
        /// Their teams, counted from 0.
        teams: (u8, u8),
    },
    /// A party has more members than any legal team.
    #[error("a party of {size} is larger than a team: at most {most} humans may be on one")]
    PartyTooLarge {
        /// Number of its members.
        size: usize,
        /// The most humans that a legal team can have.
        most: usize,
    },
    /// No legal split has all the pins.
    #[error(
        "the pins put {pinned:?} humans on the teams, which no legal split of {humans} can have"
    )]
    PinsTooMany {
        /// Number of humans pinned to each team.
        pinned: Vec<usize>,
        /// Number of humans in the problem.
        humans: usize,
    },
    /// The forced engine cannot solve this problem.
    #[error("the engine `{engine}` cannot solve this: {why}")]
    Engine {
        /// The engine that the settings force.
        engine: Engine,
        /// What prevents it.
        why: &'static str,
    },
}
