//! One running game: what it is, who plays, on which team, and what follows from that.
//!
//! A lobby is told what happens and never finds anything out by itself: weights come in as numbers
//! ([`Weights`]), time as milliseconds of the session ([`Lobby::at`]), chance as a seed. A command
//! that fails changes nothing.
//!
//! The way through it: `state` holds the game, and `people` says who is in it; a decision takes a [`Snapshot`] of it, which with the
//! settings makes a [`Question`], a pure function of the seed. The answer, with the question, is a
//! [`Decided`] that tells why in lines, and that can be stored and taken again. `course` follows
//! what happens from START to END and makes a match record of it.
//!
//! Entry point: [`Lobby`].

mod advantage;
mod arrivals;
mod autobalance;
mod bots;
mod course;
mod decide;
mod decision;
mod memory;
mod people;
mod place;
mod play;
mod problem;
mod rebalance;
mod roster;
mod snapshot;
mod state;
mod strength;
mod weights;

pub use advantage::{Advantage, AdvantageSettings, Assistance, Help, TeamState};
pub use autobalance::{
    Assessment, AutoBalance, AutoBalanceAnswer, AutoBalanceRules, Calm, Cause, Fate, GapUnit,
    Lopsided, MoveRule, Power, Situation, StayReason,
};
pub use bots::{BotPlan, Fill};
pub use course::{Finished, Frame};
pub use decision::{Decided, Decision, Question};
pub use memory::Conduct;
pub use place::{Place, PlaceSettings, Placement, Prospect, Reason};
pub use problem::Limits;
pub use rebalance::{Advice, Rebalance, RebalanceSettings};
pub use roster::{Bot, Human, Roster, Update};
pub use snapshot::{Held, Person, Robot, Snapshot};
pub use state::{Game, Lobby};
pub use weights::{BotWeight, Weights};

use crate::domain::RecordError;

/// What an admin decides about every lobby.
#[derive(Clone, Debug, PartialEq)]
pub struct LobbySettings {
    /// Most humans, and most bots, of one game.
    pub max_roster: usize,
    /// Players wished for in a game, bots included, where the session has no wish of its own.
    pub min_players: u32,
    /// Fewest and most players of a level that recommends none.
    pub level: (u32, u32),
    /// Whether games are to have bots.
    pub bots: bool,
    /// No bots while fewer humans than this play.
    pub min_humans: u32,
    /// What a party that stands together weighs, as a multiple of its members' sum: for two, three,
    /// …; the last one serves all larger parties, and none at all means 1.
    pub party_multiplier: Vec<f64>,
    /// Late arrivals.
    pub place: PlaceSettings,
    /// Help for the weaker team.
    pub advantage: AdvantageSettings,
    /// The fewest moves.
    pub rebalance: RebalanceSettings,
    /// Moves at death.
    pub auto_balance: AutoBalanceRules,
}

impl Default for LobbySettings {
    /// The UT2004 page's wish for players, and any level.
    fn default() -> Self {
        Self {
            max_roster: 64,
            min_players: 6,
            level: (0, 32),
            bots: true,
            min_humans: 0,
            party_multiplier: Vec::new(),
            place: PlaceSettings::default(),
            advantage: AdvantageSettings::default(),
            rebalance: RebalanceSettings::default(),
            auto_balance: AutoBalanceRules::default(),
        }
    }
}

/// Why a command changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LobbyError {
    /// There is no game yet.
    #[error("send GAME first")]
    NoGame,
    /// Nobody of that id or name takes part.
    #[error("not in the roster")]
    UnknownPlayer,
    /// What many share tells nobody from another.
    #[error("this is nobody's identity; say a name instead")]
    Nobody,
    /// No more room.
    #[error("the roster is full")]
    RosterFull,
    /// The game has fewer teams.
    #[error("there is no team {0}")]
    NoSuchTeam(u8),
    /// So many teams cannot be.
    #[error("the number of teams cannot be {0}")]
    BadTeams(u8),
    /// Somebody would be left on a team that is gone.
    #[error("a player is on a team that would not exist")]
    TeamInUse,
    /// Everyone plays for themselves.
    #[error("this game type has no teams")]
    NoTeams,
    /// Nobody's game has that many mutators.
    #[error("too many mutators")]
    TooManyMutators,
    /// There is no play that could end.
    #[error("send START first")]
    NotStarted,
    /// What was told makes no match record.
    #[error("no match record can be made of this: {0}")]
    Record(#[from] RecordError),
}
