//! [`Pages`] in SQL.

mod archived;
mod balance;
pub(in super::super) mod boards;
mod games;
mod matches;
mod present;
mod queues;
mod systems;

use std::collections::BTreeSet;

use async_trait::async_trait;

use super::DbStore;
use crate::{
    domain::{Kind, PlayerKey, Timestamp},
    store::{
        BoardQuery, BoardRow, ChanceStep, Companions, GameOfPerson, HostedLine, InstanceLine,
        MapOfBalance, MatchLine, PageMatch, Pages, PersonRow, PointsInMatch, PresentPlayer,
        QueueHour, RulesetLine, StandingLine, StoreError, SystemsRow, WeekOfBalance,
    },
};

#[async_trait]
impl Pages for DbStore {
    async fn ruleset_lines(&self) -> Result<Vec<RulesetLine>, StoreError> {
        balance::rulesets(&self.pages).await
    }

    async fn latest_matches(
        &self,
        ruleset: Option<&str>,
        limit: i64,
    ) -> Result<Vec<MatchLine>, StoreError> {
        matches::latest(&self.pages, ruleset, limit).await
    }

    async fn match_lines(&self, ids: &[i64]) -> Result<Vec<MatchLine>, StoreError> {
        matches::lines_of(&self.pages, ids).await
    }

    async fn matches_before(
        &self,
        ruleset: Option<&str>,
        id: i64,
        limit: i64,
    ) -> Result<Vec<MatchLine>, StoreError> {
        matches::before(&self.pages, ruleset, id, limit).await
    }

    async fn board(&self, query: BoardQuery<'_>) -> Result<(Vec<BoardRow>, i64), StoreError> {
        boards::board(&self.pages, query).await
    }

    async fn named(
        &self,
        ruleset: &str,
        texts: &BTreeSet<String>,
    ) -> Result<Vec<BoardRow>, StoreError> {
        boards::named(&self.pages, ruleset, texts).await
    }

    async fn person(
        &self,
        text: &str,
        kind: Option<Kind>,
    ) -> Result<Option<PersonRow>, StoreError> {
        boards::person(&self.pages, text, kind).await
    }

    async fn standings_of(&self, person: &PersonRow) -> Result<Vec<StandingLine>, StoreError> {
        boards::standings(&self.pages, person).await
    }

    async fn games_of(&self, person: i64, limit: i64) -> Result<Vec<GameOfPerson>, StoreError> {
        games::games(&self.pages, person, limit).await
    }

    async fn person_number(&self, player: &PlayerKey) -> Result<Option<i64>, StoreError> {
        let query = "SELECT person FROM persons WHERE kind = $1 AND player = $2";
        let query = sqlx::query_scalar(query).bind(player.kind.as_str());
        Ok(query.bind(&player.id).fetch_optional(&self.pages).await?)
    }

    async fn points_in(&self, person: i64, ids: &[i64]) -> Result<Vec<PointsInMatch>, StoreError> {
        games::points(&self.pages, person, ids).await
    }

    async fn companions(
        &self,
        person: i64,
        since: Timestamp,
        fewest: i64,
        limit: usize,
    ) -> Result<Companions, StoreError> {
        games::companions(&self.pages, person, since, fewest, limit).await
    }

    async fn page_match(&self, id: i64) -> Result<Option<PageMatch>, StoreError> {
        matches::page(&self.pages, &self.chunks, id).await
    }

    async fn balance_weeks(&self, ruleset: &str) -> Result<Vec<WeekOfBalance>, StoreError> {
        balance::weeks(&self.pages, ruleset).await
    }

    async fn balance_maps(
        &self,
        ruleset: &str,
        limit: i64,
    ) -> Result<Vec<MapOfBalance>, StoreError> {
        balance::maps(&self.pages, ruleset, limit).await
    }

    async fn balance_gaps(&self, ruleset: &str) -> Result<Vec<(i64, i64)>, StoreError> {
        balance::gaps(&self.pages, ruleset).await
    }

    async fn balance_chances(&self, ruleset: &str) -> Result<Vec<ChanceStep>, StoreError> {
        balance::chances(&self.pages, ruleset).await
    }

    async fn present(
        &self,
        players: &[(PlayerKey, String)],
    ) -> Result<Vec<PresentPlayer>, StoreError> {
        present::present(&self.pages, players).await
    }

    async fn queue_hours(&self, since: i64) -> Result<Vec<QueueHour>, StoreError> {
        queues::hours(&self.pages, since).await
    }

    async fn queue_findings(
        &self,
        queue: &str,
        limit: i64,
    ) -> Result<Vec<Vec<String>>, StoreError> {
        queues::findings(&self.pages, queue, limit).await
    }

    async fn instance_lines(&self, limit: i64) -> Result<Vec<InstanceLine>, StoreError> {
        queues::instances(&self.pages, limit).await
    }

    async fn hosted_lines(&self, limit: i64) -> Result<Vec<HostedLine>, StoreError> {
        queues::hosted(&self.pages, limit).await
    }

    async fn systems_report(&self) -> Result<Option<SystemsRow>, StoreError> {
        systems::report(&self.pages).await
    }

    async fn store_systems_report(&self, row: &SystemsRow) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        systems::store(&mut tx, row).await?;
        // No weights change, so the tasks that wait for commits are not woken.
        tx.commit().await
    }

    async fn set_hidden(&self, player: &PlayerKey, hidden: bool) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let kind = player.kind.as_str();
        let merged = "SELECT into_player FROM merged_players WHERE kind = $1 AND player = $2";
        let merged = sqlx::query_scalar(merged).bind(kind).bind(&player.id);
        let merged: Option<String> = merged.fetch_optional(&mut *tx).await?;
        let mut done = 0;
        for id in [Some(&player.id), merged.as_ref()].into_iter().flatten() {
            let query = match hidden {
                true => sqlx::query(
                    "INSERT INTO hidden_players (kind, player) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                ),
                false => sqlx::query(
                    "DELETE FROM hidden_players WHERE kind = $1 AND (player = $2 OR player IN
                         (SELECT player FROM merged_players WHERE kind = $1 AND into_player = $2))",
                ),
            };
            let query = query.bind(kind).bind(id);
            done += query.execute(&mut *tx).await?.rows_affected();
        }
        self.commit(tx).await?;
        Ok(done > 0)
    }
}
