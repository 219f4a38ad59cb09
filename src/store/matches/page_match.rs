//! What pages show of a match.

use serde::Serialize;

use crate::{
    model::{ChanceSummary, PlayerKey, TeamChange, Timestamp, WeightEntry},
    store::db::columns,
};

/// A change of the score: milliseconds, team, and points.
pub(super) type PageEvent = (i64, u8, f64);

columns! {
    /// A match in a list.
    #[derive(Clone, Debug, PartialEq)]
    pub struct MatchLine {
        /// By which pages and operators name the match.
        pub id: i64,
        /// When play began.
        pub started: Timestamp,
        /// When play ended.
        pub ended: Timestamp,
        /// Whether its length is not known.
        pub untimed: bool,
        /// Name of the map.
        pub map: String,
        /// Name of the game server.
        pub server: String,
        /// The key of the ruleset; `None` before the match has a ruling.
        pub ruleset: Option<String>,
        /// The final score of each team; `None` where it is not known.
        pub scores: Vec<Option<f64>>,
        /// `won`, `draw`, `undecided` or `abandoned`.
        pub outcome: String,
        /// The team that won, if one did.
        pub winner: Option<u8>,
        /// Number of humans who took part.
        pub humans: i64,
        /// Number of bots that took part.
        pub bots: i64,
        /// What was predicted of its teams while it was played.
        pub chances: ChanceSummary,
        /// The forecast: the chance of team 0 with everybody who played, each for as long as they did, as predicted before
        /// the match was learned from.
        pub forecast: Option<f64>,
        /// The code of the reason if the match is not rated.
        pub unrated: Option<String>,
    }
}

/// A stay of a player on a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PageStay {
    /// The team, counted from 0.
    pub team: u8,
    /// Milliseconds from the start of play to the start of the stay.
    pub from: i64,
    /// Milliseconds from the start of play to the end of the stay.
    pub to: i64,
}

/// A player of one match.
#[derive(Clone, Debug, PartialEq)]
pub struct PageSeat {
    /// The number of the seat in the record.
    pub seat: u32,
    /// The identity that the match counts for; it is not for the page.
    pub key: PlayerKey,
    /// The handle; `None` if the player has no page.
    pub handle: Option<String>,
    /// The name in this match; `None` for players who are hidden.
    pub name: Option<String>,
    /// The team that the player was on for longest.
    pub team: Option<u8>,
    /// The player's points on the scoreboard.
    pub points: Option<f64>,
    /// Number of kills.
    pub kills: i64,
    /// Number of deaths.
    pub deaths: i64,
    /// Why the player left before the end.
    pub left: Option<String>,
    /// What the match entered into the player's account.
    pub entry: Option<WeightEntry>,
    /// The stays on teams, in order.
    pub stays: Vec<PageStay>,
}

/// All that is known of one match.
#[derive(Clone, Debug, PartialEq)]
pub struct PageMatch {
    /// The match as lists show it.
    pub line: MatchLine,
    /// The game type as the game names it.
    pub game_type: String,
    /// The league, region or playlist; empty if there is none.
    pub mode: String,
    /// The mutators as the game names them.
    pub mutators: Vec<String>,
    /// The changes of its teams during play.
    pub changes: Vec<TeamChange>,
    /// The players, at most [`Self::MOST_SEATS`].
    pub seats: Vec<PageSeat>,
    /// Changes of the score as milliseconds, team and points, at most [`Self::MOST_EVENTS`].
    pub events: Vec<PageEvent>,
    /// The last stored BALANCE before the match, as JSON.
    pub balance: Option<String>,
}

impl PageMatch {
    /// The most mutators that a page shows.
    pub const MOST_MUTATORS: usize = 32;
    /// The most stays of one player that a page shows.
    pub const MOST_STAYS: usize = 200;
    /// The most players that a page shows.
    pub const MOST_SEATS: usize = 128;
    /// The most changes of the score that a page shows.
    pub const MOST_EVENTS: usize = 4_000;
}
