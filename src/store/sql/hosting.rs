//! Instances and hosted matches.

use std::collections::{BTreeMap, BTreeSet};

use super::Store;
use crate::{
    domain::{MatchId, Timestamp},
    lifecycle::{Change, ExpectedPlayer, Instance, Match, Offer, Stage, Stored, Why},
    store::{HostedRow, InstanceRow, QueueRow, StoreError, db::*},
};

/// The hosted matches in play of a partition whose results are on disk.
const RECORDED: &str = "SELECT h.match_id FROM hosted_matches h JOIN matches m ON m.id = h.match_id
                        WHERE h.partition = $1 AND h.state = 'playing'";

impl Store {
    /// All instances and hosted matches of the partition with this slot; tickets, and what was formed of them, are
    /// left out.
    ///
    /// # Errors
    /// Fails if it contains a value that no version of Evenkeel writes.
    pub async fn hosting(&self, partition: i64) -> Result<Stored, StoreError> {
        let mut tx = self.readers.snapshot().await?;
        let query = sql("SELECT * FROM instances WHERE partition = $1 ORDER BY name");
        let rows = query.bind(partition).fetch_all(&mut tx).await?;
        let offers = rows.iter().map(offer).collect::<Result<_, _>>()?;
        let query = sql("SELECT * FROM hosted_matches WHERE partition = $1 ORDER BY match_id");
        let rows = query.bind(partition).fetch_all(&mut tx).await?;
        let matches = rows.iter().map(hosted).collect::<Result<_, _>>()?;
        let query = sql(
            "SELECT o.* FROM owed_closes o JOIN hosted_matches h ON h.match_id = o.match_id
             WHERE h.partition = $1 ORDER BY o.instance, o.match_id",
        );
        let rows = query.bind(partition).fetch_all(&mut tx).await?;
        let owed = rows.iter().map(owed).collect::<Result<_, _>>()?;
        let recorded = scalar(RECORDED).bind(partition);
        Ok(Stored {
            offers,
            hosted: matches,
            owed,
            recorded: recorded.fetch_all(&mut tx).await?,
            ..Stored::default()
        })
    }

    /// The match that an instance hosts as the game with this number.
    pub async fn hosted_by(
        &self,
        instance: &str,
        game: i64,
    ) -> Result<Option<MatchId>, StoreError> {
        let query = scalar(
            "SELECT match_id FROM hosted_matches
             WHERE game = $1 AND instance = $2 AND state NOT IN ('over', 'failed')",
        );
        let query = query.bind(game).bind(instance);
        query.fetch_optional(&self.readers).await
    }

    /// The hosted matches in play of the partition with this slot whose results are on disk.
    pub async fn recorded(&self, partition: i64) -> Result<BTreeSet<MatchId>, StoreError> {
        let query = scalar(RECORDED).bind(partition);
        let recorded: Vec<MatchId> = query.fetch_all(&self.readers).await?;
        Ok(recorded.into_iter().collect())
    }

    /// The names of the instances that get no further matches.
    pub async fn draining(&self) -> Result<BTreeSet<String>, StoreError> {
        let query = scalar("SELECT name FROM instances WHERE draining");
        let names: Vec<String> = query.fetch_all(&self.readers).await?;
        Ok(names.into_iter().collect())
    }

    /// Sets whether an instance gets further matches. Returns whether there is such an instance.
    pub async fn set_draining(&self, name: &str, drains: bool) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let query = sql("UPDATE instances SET draining = $1 WHERE name = $2");
        let done = query.bind(drains).bind(name).execute(&mut tx).await?;
        tx.commit().await?;
        Ok(done > 0)
    }

    /// All instances, by name.
    pub async fn instance_rows(&self) -> Result<Vec<InstanceRow>, StoreError> {
        let query = tuple(
            "SELECT name, address, region, slots, used, load, away, draining AS drains FROM instances ORDER BY name",
        );
        query.fetch_all(&self.readers).await
    }

    /// The hosted matches that are kept, the latest first, at most `limit`.
    pub async fn hosted_rows(&self, limit: u32) -> Result<Vec<HostedRow>, StoreError> {
        let query = tuple(
            "SELECT h.match_id AS id, h.queue, h.state, h.since, h.why, h.instance, h.tries, m.outcome,
                    (SELECT count(*) FROM formed_seats s WHERE s.match_id = h.match_id) AS players
             FROM hosted_matches h LEFT JOIN matches m ON m.id = h.match_id
             ORDER BY h.match_id DESC LIMIT $1",
        );
        query.bind(limit).fetch_all(&self.readers).await
    }

    /// The queues with tickets, by name.
    pub async fn queue_rows(&self) -> Result<Vec<QueueRow>, StoreError> {
        let query = sql("SELECT q.*, (SELECT min(submitted_at) FROM tickets t
                           WHERE t.queue = q.queue AND t.state = 'queued') AS oldest
             FROM queue_report q ORDER BY queue");
        let rows = query.fetch_all(&self.readers).await?;
        let read = |row: &Row| {
            let count = |name: &str| row.get::<i64>(name);
            Ok(QueueRow {
                name: row.get("queue")?,
                tickets: [
                    count("queued")?,
                    count("proposed")?,
                    count("hosted")?,
                    count("matched")?,
                    count("cancelled")?,
                    count("expired")?,
                ],
                players: count("players_waiting")?,
                oldest: row.get("oldest")?,
            })
        };
        rows.iter().map(read).collect()
    }
}

/// Applies a change of instances or of the hosting of matches in the partition with this slot; any other change is
/// left to [`tickets`](super::tickets).
pub(super) async fn apply(
    tx: &mut Connection,
    change: &Change,
    partition: i64,
) -> Result<(), StoreError> {
    let query = match change {
        Change::Hosted(hosted) => return put_hosted(tx, hosted, partition).await,
        Change::Instance(instance) => return put_instance(tx, instance, partition).await,
        Change::HostingForgotten(id) => {
            sql("DELETE FROM hosted_matches WHERE match_id = $1").bind(id)
        }
        Change::InstanceGone(name) => {
            sql("DELETE FROM instances WHERE name = $1 AND partition = $2")
                .bind(name)
                .bind(partition)
        }
        Change::Owed { instance, id, why } => sql(
            "INSERT INTO owed_closes (instance, match_id, why) VALUES ($1, $2, $3)
                 ON CONFLICT (instance, match_id) DO UPDATE SET why = excluded.why",
        )
        .bind(instance)
        .bind(id)
        .bind(why.as_str()),
        Change::Settled { instance, id } => {
            sql("DELETE FROM owed_closes WHERE instance = $1 AND match_id = $2")
                .bind(instance)
                .bind(id)
        }
        _ => return Ok(()),
    };
    query.execute(tx).await?;
    Ok(())
}

async fn put_hosted(tx: &mut Connection, hosted: &Match, partition: i64) -> Result<(), StoreError> {
    let coming = hosted.expected.iter();
    let coming = coming.map(|(player, one)| (player, (one.team, one.until.0, one.ticket)));
    let coming: BTreeMap<&String, (u8, i64, i64)> = coming.collect();
    sql(
        "INSERT INTO hosted_matches
             (match_id, queue, state, since, wait_until, instance, address, game, tries, why, passes,
              passes_until, parted, asked, coming, roster, sent_away, partition)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
         ON CONFLICT (match_id) DO UPDATE SET
             queue = excluded.queue, state = excluded.state, since = excluded.since,
             wait_until = excluded.wait_until, instance = excluded.instance,
             address = excluded.address, game = excluded.game, tries = excluded.tries,
             why = excluded.why, passes = excluded.passes, passes_until = excluded.passes_until,
             parted = excluded.parted, asked = excluded.asked, coming = excluded.coming,
             roster = excluded.roster, sent_away = excluded.sent_away",
    )
    .bind(hosted.id)
    .bind(&hosted.queue)
    .bind(hosted.stage.as_str())
    .bind(hosted.since.0)
    .bind(hosted.wait_until.0)
    .bind(&hosted.instance)
    .bind(&hosted.address)
    .bind(hosted.game)
    .bind(i64::from(hosted.tries))
    .bind(hosted.why.as_str())
    .bind(json(&hosted.passes)?)
    .bind(hosted.passes_until.map(|until| until.0))
    .bind(hosted.parted.map(|at| at.0))
    .bind(json(&hosted.asked)?)
    .bind(json(&coming)?)
    .bind(hosted.roster.as_ref().map(json).transpose()?)
    .bind(json(&hosted.sent_away)?)
    .bind(partition)
    .execute(tx)
    .await?;
    Ok(())
}

/// Writes everything but whether it drains, which is the operator's. An instance that has gone to another
/// partition is left to that one.
async fn put_instance(
    tx: &mut Connection,
    instance: &Instance,
    partition: i64,
) -> Result<(), StoreError> {
    let offer = &instance.offer;
    sql(
        "INSERT INTO instances (name, address, region, slots, modes, maps, load, used, away, heard_at, partition)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
         ON CONFLICT (name) DO UPDATE SET
             address = excluded.address, region = excluded.region, slots = excluded.slots,
             modes = excluded.modes, maps = excluded.maps, load = excluded.load, used = excluded.used,
             away = excluded.away, heard_at = excluded.heard_at, partition = excluded.partition
         WHERE instances.partition = excluded.partition OR excluded.away IS NULL",
    )
    .bind(&offer.name)
    .bind(&offer.address)
    .bind(&offer.region)
    .bind(i64::from(offer.slots))
    .bind(json(&offer.modes)?)
    .bind(json(&offer.maps)?)
    .bind(instance.load)
    .bind(i64::try_from(instance.matches.len()).unwrap_or(i64::MAX))
    .bind(instance.away.map(|at| at.0))
    .bind(instance.heard.0)
    .bind(partition)
    .execute(tx)
    .await?;
    Ok(())
}

fn json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::BadValue(error.to_string()))
}

fn offer(row: &Row) -> Result<Offer, StoreError> {
    let words = |name: &str| -> Result<BTreeSet<String>, StoreError> {
        let text: String = row.get(name)?;
        serde_json::from_str(&text).map_err(|_| StoreError::bad(name, &text))
    };
    Ok(Offer {
        name: row.get("name")?,
        address: row.get("address")?,
        region: row.get("region")?,
        slots: row.get("slots")?,
        modes: words("modes")?,
        maps: words("maps")?,
        partition: None,
    })
}

fn why(row: &Row) -> Result<Why, StoreError> {
    let word: String = row.get("why")?;
    let known = Why::ALL.into_iter().find(|one| one.as_str() == word);
    known.ok_or_else(|| StoreError::bad("why", &word))
}

fn owed(row: &Row) -> Result<(String, MatchId, Why), StoreError> {
    Ok((row.get("instance")?, row.get("match_id")?, why(row)?))
}

/// A column with JSON, whose value an error does not show.
fn parse<T: serde::de::DeserializeOwned>(row: &Row, column: &str) -> Result<T, StoreError> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|_| StoreError::BadValue(column.to_owned()))
}

fn hosted(row: &Row) -> Result<Match, StoreError> {
    let state: String = row.get("state")?;
    let stage = Stage::HOSTED.into_iter().find(|one| one.as_str() == state);
    let coming: BTreeMap<String, (u8, i64, i64)> = parse(row, "coming")?;
    let coming = coming.into_iter().map(|(player, (team, until, ticket))| {
        let until = Timestamp(until);
        (
            player,
            ExpectedPlayer {
                team,
                until,
                ticket,
            },
        )
    });
    let has_roster = row.get::<Option<&str>>("roster")?.is_some();
    let time = |name: &str| row.get::<Option<i64>>(name);
    Ok(Match {
        id: row.get("match_id")?,
        queue: row.get("queue")?,
        stage: stage.ok_or_else(|| StoreError::bad("state", &state))?,
        since: row.get("since")?,
        wait_until: row.get("wait_until")?,
        instance: row.get("instance")?,
        address: row.get("address")?,
        game: row.get("game")?,
        tries: row.get("tries")?,
        why: why(row)?,
        passes: parse(row, "passes")?,
        passes_until: time("passes_until")?.map(Timestamp),
        parted: time("parted")?.map(Timestamp),
        asked: parse(row, "asked")?,
        expected: coming.collect(),
        sent_away: parse(row, "sent_away")?,
        roster: has_roster.then(|| parse(row, "roster")).transpose()?,
        ..Match::default()
    })
}
