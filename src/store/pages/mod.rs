//! What the statistics pages read. Every list is bounded, and every query uses an index.
//!
//! Rows contain identities only as keys, never as names: a guid that a game has sent as a name is left out.
//! Players who are hidden or were forgotten have no handle and no name.

mod balance;
mod matches;
mod players;
mod queues;

use std::collections::BTreeSet;

use async_trait::async_trait;

use super::StoreError;
use crate::domain::{Kind, PlayerKey, Timestamp};

pub use balance::{ChanceStep, Closeness, MapOfBalance, RulesetLine, WeekOfBalance};
pub use matches::{MatchLine, PageMatch, PageSeat, PageStay};
pub use players::{
    BoardQuery, BoardRow, Companion, Companions, GameOfPerson, PersonRow, PointsInMatch,
    PresentPlayer, StandingLine,
};
pub use queues::{HostedLine, InstanceLine, QueueHour};

/// A comparison of rating systems, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemsRow {
    /// The key of the settings with which it was made.
    pub settings: String,
    /// The number of matches that there were.
    pub matches: i64,
    /// When the comparison was made.
    pub computed_at: Timestamp,
    /// The comparison, as JSON.
    pub report: String,
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

    /// The matches with these ids, in the same order, without those that there are not.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn match_lines(&self, ids: &[i64]) -> Result<Vec<MatchLine>, StoreError>;

    /// The same, from the match on that is next to the one with this id.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn matches_before(
        &self,
        ruleset: Option<&str>,
        id: i64,
        limit: i64,
    ) -> Result<Vec<MatchLine>, StoreError>;

    /// A part of a leaderboard, and the last place in it.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn board(&self, query: BoardQuery<'_>) -> Result<(Vec<BoardRow>, i64), StoreError>;

    /// The humans of a leaderboard whose name is one of these texts, or whose identity or handle is; all in lower case.
    /// At most 500, by place.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn named(
        &self,
        ruleset: &str,
        texts: &BTreeSet<String>,
    ) -> Result<Vec<BoardRow>, StoreError>;

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

    /// The number of the person whose matches count for this identity, also of one who is hidden; `None` without a
    /// rated match.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn person_number(&self, player: &PlayerKey) -> Result<Option<i64>, StoreError>;

    /// A player's points in those of these matches that have any and are not archived, in no particular order.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn points_in(&self, person: i64, ids: &[i64]) -> Result<Vec<PointsInMatch>, StoreError>;

    /// Who has played with and against a player in at least `fewest` matches since a time, those with most matches
    /// first, at most `limit` of each.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn companions(
        &self,
        person: i64,
        since: Timestamp,
        fewest: i64,
        limit: usize,
    ) -> Result<Companions, StoreError>;

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

    /// How pages show players of running games with these identities and names, in the same order.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn present(
        &self,
        players: &[(PlayerKey, String)],
    ) -> Result<Vec<PresentPlayer>, StoreError>;

    /// The hours of all queues from the hour `since` on, by queue and in order.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn queue_hours(&self, since: i64) -> Result<Vec<QueueHour>, StoreError>;

    /// What the rules found in the latest matches of a queue that are final: the lines of each match.
    ///
    /// # Errors
    /// Fails if the database does, or if it contains what no version of Evenkeel writes.
    async fn queue_findings(&self, queue: &str, limit: i64)
    -> Result<Vec<Vec<String>>, StoreError>;

    /// The instances by name, at most `limit`.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn instance_lines(&self, limit: i64) -> Result<Vec<InstanceLine>, StoreError>;

    /// The latest hosted matches, the last one first, at most `limit`.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn hosted_lines(&self, limit: i64) -> Result<Vec<HostedLine>, StoreError>;

    /// The last comparison of rating systems, if there is one.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn systems_report(&self) -> Result<Option<SystemsRow>, StoreError>;

    /// Replaces the last comparison of rating systems.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn store_systems_report(&self, row: &SystemsRow) -> Result<(), StoreError>;

    /// Keeps a player off the pages, or shows the player again. Returns whether that changes anything.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn set_hidden(&self, player: &PlayerKey, hidden: bool) -> Result<bool, StoreError>;
}
