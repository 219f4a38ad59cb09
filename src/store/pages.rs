//! What the statistics pages read. Every list is bounded, and every query uses an index.
//!
//! Rows contain identities only as keys, never as names: a guid that a game has sent as a name is left out.
//! Players who are hidden or were forgotten have no handle and no name.

use async_trait::async_trait;
use serde::Serialize;

use super::StoreError;
use crate::domain::{Kind, PlayerKey, Timestamp};

/// A ruleset with rated matches.
#[derive(Clone, Debug, PartialEq)]
pub struct RulesetLine {
    /// The key of the ruleset.
    pub ruleset: String,
    /// Number of humans with a weight.
    pub humans: i64,
    /// Number of bots with a weight.
    pub bots: i64,
    /// When its last match ended; `None` without any.
    pub last: Option<Timestamp>,
    /// All its matches together.
    pub closeness: Closeness,
}

/// How close some matches were, as sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Closeness {
    /// Number of rated matches.
    pub rated: i64,
    /// Number of rated matches with teams; the other fields count only these.
    pub matches: i64,
    /// Number of draws.
    pub draws: i64,
    /// Sum of the differences between the highest and the lowest score.
    pub gap: f64,
    /// Sum of the lengths of play, in minutes.
    pub minutes: f64,
    /// Number of matches that team 0 won.
    pub first_won: i64,
    /// Number of matches that a team won.
    pub decided: i64,
    /// Number of matches with a prediction and a result.
    pub predicted: i64,
    /// In how many of these the team with the higher chance won.
    pub favoured: i64,
    /// Sum of the squared differences between chance and result.
    pub brier: f64,
}

/// One week of a ruleset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeekOfBalance {
    /// The Monday on which it begins.
    pub begins: Timestamp,
    /// Its matches.
    pub closeness: Closeness,
}

/// One map of a ruleset.
#[derive(Clone, Debug, PartialEq)]
pub struct MapOfBalance {
    /// The name of the map.
    pub map: String,
    /// Its matches.
    pub closeness: Closeness,
}

/// Predictions of similar chances, from the side of the favourite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChanceStep {
    /// Number of matches.
    pub matches: i64,
    /// Mean predicted chance of the favourite.
    pub chance: f64,
    /// The share of matches that the favourite won; a draw is half a win.
    pub won: f64,
}

/// A match in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchLine {
    /// Its id.
    pub id: i64,
    /// When play began.
    pub started: Timestamp,
    /// When play ended.
    pub ended: Timestamp,
    /// Name of the map.
    pub map: String,
    /// Name of the game server.
    pub server: String,
    /// The key of the ruleset; `None` before the match has a ruling.
    pub ruleset: Option<String>,
    /// The final score of each team.
    pub scores: Vec<f64>,
    /// `won`, `draw`, `undecided` or `abandoned`.
    pub outcome: String,
    /// The team that won, if one did.
    pub winner: Option<u8>,
    /// Number of humans who took part.
    pub humans: i64,
    /// Number of bots that took part.
    pub bots: i64,
    /// The chance of team 0 that was predicted when its teams were picked.
    pub told: Option<f64>,
    /// The chance of team 0 by the weights before the match.
    pub forecast: Option<f64>,
    /// The code of the reason if the match is not rated.
    pub unrated: Option<String>,
}

/// Which part of a leaderboard to read.
#[derive(Clone, Copy, Debug)]
pub struct BoardQuery<'a> {
    /// The key of the ruleset.
    pub ruleset: &'a str,
    /// Humans or bots.
    pub kind: Kind,
    /// A part of the name in lower case; empty for all players.
    pub search: &'a str,
    /// How many rows to skip; without a search, how many places.
    pub skip: i64,
    /// The most rows.
    pub limit: i64,
}

/// A line of a leaderboard.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardRow {
    /// The place by weight, from 1.
    pub place: i64,
    /// The handle of the player; `None` if the player has none.
    pub handle: Option<String>,
    /// The name in the player's latest match.
    pub name: String,
    /// The weight, 0 to 100.
    pub weight: f64,
    /// The standard deviation of the weight.
    pub deviation: f64,
    /// Number of rated matches.
    pub games: i64,
    /// The end of the latest of them.
    pub last_seen: Timestamp,
    /// The name of the division as it is displayed now.
    pub division: Option<String>,
}

/// A player who has a page.
#[derive(Clone, Debug, PartialEq)]
pub struct PersonRow {
    /// The number of the person; it may change when weights are derived again.
    pub person: i64,
    /// The identity that the player's matches count for.
    pub key: PlayerKey,
    /// The public handle.
    pub handle: String,
}

/// A player's standing under one ruleset.
#[derive(Clone, Debug, PartialEq)]
pub struct StandingLine {
    /// The key of the ruleset.
    pub ruleset: String,
    /// The number of players of this kind who have a place there.
    pub of: i64,
    /// The player's line in the leaderboard.
    pub row: BoardRow,
}

/// A rated match of one player.
#[derive(Clone, Debug, PartialEq)]
pub struct GameOfPerson {
    /// The id of the match.
    pub id: i64,
    /// When it ended.
    pub ended: Timestamp,
    /// The key of the ruleset.
    pub ruleset: String,
    /// Name of the map.
    pub map: String,
    /// The player's team; `None` without teams.
    pub team: Option<u8>,
    /// 1 if it won, 0.5 for a draw, 0 if it lost; `None` without a result.
    pub result: Option<f64>,
    /// The chance of team 0 by the weights before the match.
    pub forecast: Option<f64>,
    /// The weight after the match, and its deviation.
    pub after: Option<(f64, f64)>,
    /// Points that the player's team scored meanwhile; kills without teams.
    pub points_for: f64,
    /// Points scored against it; deaths without teams.
    pub points_against: f64,
}

/// A player who was in matches with another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Companion {
    /// The handle; `None` if the player has none.
    pub handle: Option<String>,
    /// The kind of the player.
    pub kind: Kind,
    /// The name in the player's latest match.
    pub name: String,
    /// Whether they were on one team.
    pub together: bool,
    /// Number of matches.
    pub games: i64,
    /// How many of these the first player won; a draw is half a win.
    pub won: f64,
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
    /// The identity that the match counts for; it is not for the page.
    pub key: PlayerKey,
    /// The handle; `None` if the player has no page.
    pub handle: Option<String>,
    /// The name in this match; `None` for players who are hidden.
    pub name: Option<String>,
    /// The team that the player was on for longest.
    pub team: Option<u8>,
    /// Points on the scoreboard.
    pub points: Option<f64>,
    /// Number of kills.
    pub kills: i64,
    /// Number of deaths.
    pub deaths: i64,
    /// Why the player left before the end.
    pub left: Option<String>,
    /// The weight after the match, and its deviation.
    pub after: Option<(f64, f64)>,
    /// The stays on teams, in order.
    pub stays: Vec<PageStay>,
}

/// All that is known of one match.
#[derive(Clone, Debug, PartialEq)]
pub struct PageMatch {
    /// Its line in lists.
    pub line: MatchLine,
    /// The game type as the game names it.
    pub game_type: String,
    /// The league, region or playlist; empty if there is none.
    pub mode: String,
    /// The mutators as the game names them.
    pub mutators: Vec<String>,
    /// The players, at most [`Self::MOST_SEATS`].
    pub seats: Vec<PageSeat>,
    /// Changes of the score as milliseconds, team and points, at most [`Self::MOST_EVENTS`].
    pub events: Vec<(i64, u8, f64)>,
    /// The last stored BALANCE before the match, as JSON.
    pub balance: Option<String>,
}

impl PageMatch {
    /// The most players that a page shows.
    pub const MOST_SEATS: i64 = 128;
    /// The most changes of the score that a page shows.
    pub const MOST_EVENTS: i64 = 4_000;
}

/// The reads of statistics pages.
#[async_trait]
pub trait Pages: Send + Sync {
    /// All rulesets with rated matches, those with most matches first, at most 100.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn ruleset_lines(&self) -> Result<Vec<RulesetLine>, StoreError>;

    /// The latest matches of a ruleset, or of all, the last one first.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn latest_matches(
        &self,
        ruleset: Option<&str>,
        limit: i64,
    ) -> Result<Vec<MatchLine>, StoreError>;

    /// A part of a leaderboard, and the last place in it.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn board(&self, query: BoardQuery<'_>) -> Result<(Vec<BoardRow>, i64), StoreError>;

    /// The player with this handle, else with this identity: the human, or the bot if there is no such
    /// human. With a kind, only that. Identities that were merged lead to the player they count as.
    /// `None` for players without a page.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn person(&self, text: &str, kind: Option<Kind>)
    -> Result<Option<PersonRow>, StoreError>;

    /// A player's standings, that with most matches first, at most 50.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn standings_of(&self, person: &PersonRow) -> Result<Vec<StandingLine>, StoreError>;

    /// A player's latest rated matches, the last one first.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn games_of(&self, person: i64, limit: i64) -> Result<Vec<GameOfPerson>, StoreError>;

    /// Who has played with and against a player since a time, those with most matches first, at most
    /// `limit` of each.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn companions(
        &self,
        person: i64,
        since: Timestamp,
        limit: usize,
    ) -> Result<Vec<Companion>, StoreError>;

    /// One match.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn page_match(&self, id: i64) -> Result<Option<PageMatch>, StoreError>;

    /// The weeks of a ruleset, the first one first.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn balance_weeks(&self, ruleset: &str) -> Result<Vec<WeekOfBalance>, StoreError>;

    /// The maps of a ruleset, those with most matches first, at most `limit`.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn balance_maps(
        &self,
        ruleset: &str,
        limit: i64,
    ) -> Result<Vec<MapOfBalance>, StoreError>;

    /// The differences of scores of a ruleset, and the number of matches with each, ascending.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn balance_gaps(&self, ruleset: &str) -> Result<Vec<(i64, i64)>, StoreError>;

    /// The predictions of a ruleset in steps of 5 %, ascending.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn balance_chances(&self, ruleset: &str) -> Result<Vec<ChanceStep>, StoreError>;

    /// Keeps a player off the pages, or shows the player again. Returns whether that changes anything.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn set_hidden(&self, player: &PlayerKey, hidden: bool) -> Result<bool, StoreError>;
}
