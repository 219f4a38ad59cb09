//! Instances and hosted matches.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::{
    matchmaking::lifecycle::{
        Change, ExpectedPlayer, Instance, InstanceOffer, Match, Stage, StoredState, Why,
    },
    model::{Timestamp, record::MatchId},
    store::{
        StoreError, as_plain, as_text,
        db::{
            query::{Target, insert, with_given},
            *,
        },
        queues::QueueTables,
    },
};

columns! {
    /// An instance, as pages, `/v1` and commands show it.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct InstanceRow {
        /// The name by which it said HELLO.
        #[serde(serialize_with = "as_plain")]
        pub name: String,
        /// Where players connect; `None` for visitors.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub address: Option<String>,
        /// The region that it states, if any.
        pub region: Option<String>,
        /// How many matches it hosts at once.
        pub slots: i64,
        /// How many of its slots are in use.
        pub used: i64,
        /// How busy it states to be, 0 to 1; `None` for visitors.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub load: Option<f64>,
        /// `connected`, `draining` if it gets no further matches, or `away` once its connection is lost.
        pub state: String,
    }
}

columns! {
    /// A hosted match, as pages, `/v1` and commands show it.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct HostedRow {
        /// The id that the match has from its forming on.
        pub id: i64,
        /// The queue that formed it.
        pub queue: String,
        /// Its state, and since when.
        pub state: String,
        /// When it got this state.
        #[serde(serialize_with = "as_text")]
        pub since: Timestamp,
        /// Why it left its last instance, or has failed; `None` for visitors.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub why: Option<String>,
        /// The instance that hosts it, or did so last.
        pub instance: Option<String>,
        /// How many instances were asked to host it; `None` for visitors.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub tries: Option<i64>,
        /// Number of its players.
        pub players: i64,
        /// How it ended, once its result is on disk, so that the match has a page.
        pub outcome: Option<String>,
    }
}

impl InstanceRow {
    /// The instance for visitors.
    #[must_use]
    pub fn for_visitors(self) -> Self {
        Self {
            address: None,
            load: None,
            ..self
        }
    }
}

impl HostedRow {
    /// The match for visitors.
    #[must_use]
    pub fn for_visitors(self) -> Self {
        Self {
            why: None,
            tries: None,
            ..self
        }
    }
}

/// A queue, as operators see it.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueRow {
    /// The name of its section in the configuration.
    pub name: String,
    /// Tickets of the last day by state: queued, proposed, hosted, matched, cancelled, expired.
    pub tickets: [i64; 6],
    /// Number of players in tickets that wait.
    pub players: i64,
    /// When the oldest ticket that is queued was submitted.
    pub oldest: Option<Timestamp>,
}

/// The hosted matches in play of a partition whose results are on disk.
const RECORDED: &str = "SELECT h.match_id FROM hosted_matches h JOIN matches m ON m.id = h.match_id
                        WHERE h.partition = $1 AND h.state = 'playing'";

/// The queues with tickets, by name. The players of a ticket are a JSON array.
const QUEUES: &str = "SELECT queue,
        count(*) FILTER (WHERE state = 'queued') AS queued,
        count(*) FILTER (WHERE state = 'proposed') AS proposed,
        count(*) FILTER (WHERE state IN ('hosted', 'called')) AS hosted,
        count(*) FILTER (WHERE state = 'matched') AS matched,
        count(*) FILTER (WHERE state = 'cancelled') AS cancelled,
        count(*) FILTER (WHERE state = 'expired') AS expired,
        CAST(coalesce(sum(json_array_length(players)) FILTER (WHERE state IN ('queued', 'proposed')), 0) AS BIGINT)
            AS players_waiting,
        min(submitted_at) FILTER (WHERE state = 'queued') AS oldest
    FROM tickets t GROUP BY queue ORDER BY queue";

impl QueueTables<'_> {
    /// All instances and hosted matches of the partition with this slot; tickets, and what was formed of them, are
    /// left out.
    ///
    /// # Errors
    /// Fails if it contains a value that no version of Evenkeel writes.
    pub async fn hosting(self, partition: i64) -> Result<StoredState, StoreError> {
        let mut tx = self.0.readers.snapshot().await?;
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
        Ok(StoredState {
            offers,
            hosted: matches,
            owed,
            recorded: recorded.fetch_all(&mut tx).await?,
            ..StoredState::default()
        })
    }

    /// The match that an instance hosts as the game with this number.
    pub async fn hosted_by(self, instance: &str, game: i64) -> Result<Option<MatchId>, StoreError> {
        let query = scalar(
            "SELECT match_id FROM hosted_matches
             WHERE game = $1 AND instance = $2 AND state NOT IN ('over', 'failed')",
        );
        let query = query.bind(game).bind(instance);
        query.fetch_optional(&self.0.readers).await
    }

    /// The hosted matches in play of the partition with this slot whose results are on disk.
    pub async fn recorded(self, partition: i64) -> Result<BTreeSet<MatchId>, StoreError> {
        let query = scalar(RECORDED).bind(partition);
        let recorded: Vec<MatchId> = query.fetch_all(&self.0.readers).await?;
        Ok(recorded.into_iter().collect())
    }

    /// The names of the instances that get no further matches.
    pub async fn draining(self) -> Result<BTreeSet<String>, StoreError> {
        let query = scalar("SELECT name FROM instances WHERE draining");
        let names: Vec<String> = query.fetch_all(&self.0.readers).await?;
        Ok(names.into_iter().collect())
    }

    /// Sets whether an instance gets further matches. Returns whether there is such an instance.
    pub async fn set_draining(self, name: &str, drains: bool) -> Result<bool, StoreError> {
        let mut tx = self.0.begin().await?;
        let query = sql("UPDATE instances SET draining = $1 WHERE name = $2");
        let done = query.bind(drains).bind(name).execute(&mut tx).await?;
        tx.commit().await?;
        Ok(done > 0)
    }

    /// The instances by name, at most `limit`.
    pub async fn instance_rows(self, limit: i64) -> Result<Vec<InstanceRow>, StoreError> {
        let query = tuple(
            "SELECT name, address, region, slots, used, load,
                    CASE WHEN away IS NOT NULL THEN 'away' WHEN draining THEN 'draining' ELSE 'connected' END AS state
             FROM instances ORDER BY name LIMIT $1",
        );
        query.bind(limit).fetch_all(&self.0.pages).await
    }

    /// The hosted matches that are kept, the latest first, at most `limit`.
    pub async fn hosted_rows(self, limit: u32) -> Result<Vec<HostedRow>, StoreError> {
        let query = tuple(
            "SELECT h.match_id AS id, h.queue, h.state, h.since, h.why, h.instance, h.tries, m.outcome,
                    (SELECT count(*) FROM formed_seats s WHERE s.match_id = h.match_id) AS players
             FROM hosted_matches h LEFT JOIN matches m ON m.id = h.match_id
             ORDER BY h.match_id DESC LIMIT $1",
        );
        query.bind(limit).fetch_all(&self.0.pages).await
    }

    /// The queues with tickets, by name.
    pub async fn queue_rows(self) -> Result<Vec<QueueRow>, StoreError> {
        let query = sql(QUEUES);
        let rows = query.fetch_all(&self.0.readers).await?;
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

const HOSTED: Target = Target::new(
    "hosted_matches",
    "match_id, queue, state, since, wait_until, instance, address, game, tries, why, passes, passes_until, parted, \
     asked, coming, roster, sent_away, partition",
)
.replacing("match_id");
const INSTANCES: Target = Target::new(
    "instances",
    "name, address, region, slots, modes, maps, load, used, away, heard_at, partition",
)
.replacing("name");
const OWED: Target =
    Target::new("owed_closes", "instance, match_id, why").replacing("instance, match_id");

/// Writes the changes of instances, and of the hosting of matches, in the partition with this slot; any other change is
/// left to [`turn`](super::turn). None changes the same row twice.
pub(super) async fn write(
    tx: &mut PooledConnection,
    changes: &[Change],
    partition: i64,
) -> Result<(), StoreError> {
    let (mut hosted_rows, mut instances) = (Vec::new(), Vec::new());
    let (mut forgotten, mut gone) = (Vec::new(), Vec::new());
    let (mut owed_rows, mut finalised) = (BTreeMap::new(), Vec::new());
    for change in changes {
        match change {
            Change::Hosted(one) => hosted_rows.push(hosted_row(one, partition)?),
            Change::HostingForgotten(id) => forgotten.push(values![id]),
            Change::Instance(one) => instances.push(instance_row(one, partition)?),
            Change::InstanceGone(name) => gone.push(values![name, partition]),
            Change::Owed { instance, id, why } => {
                owed_rows.insert((instance, id), values![instance, id, why.as_str()]);
            }
            Change::Finalised { instance, id } => finalised.push(values![instance, id]),
            _ => {}
        }
    }
    insert(tx, HOSTED, "", hosted_rows.into_iter()).await?;
    let end = "DELETE FROM hosted_matches WHERE match_id IN (SELECT given.match_id FROM {given})";
    with_given(tx, "match_id BIGINT", end, forgotten.into_iter()).await?;
    // Whether an instance drains is the operator's. One that has gone to another partition is left to that one.
    let end = " WHERE instances.partition = excluded.partition OR excluded.away IS NULL";
    insert(tx, INSTANCES, end, instances.into_iter()).await?;
    let end = "DELETE FROM instances WHERE EXISTS
             (SELECT 1 FROM {given} WHERE given.name = instances.name AND given.partition = instances.partition)";
    let columns = "name TEXT, partition BIGINT";
    with_given(tx, columns, end, gone.into_iter()).await?;
    insert(tx, OWED, "", owed_rows.into_values()).await?;
    let end = "DELETE FROM owed_closes WHERE EXISTS
             (SELECT 1 FROM {given} WHERE given.instance = owed_closes.instance AND given.match_id = owed_closes.match_id)";
    let columns = "instance TEXT, match_id BIGINT";
    with_given(tx, columns, end, finalised.into_iter())
        .await
        .map(drop)
}

fn hosted_row(hosted: &Match, partition: i64) -> Result<Vec<SqlValue>, StoreError> {
    let coming = hosted.expected.iter();
    let coming = coming.map(|(player, one)| (player, (one.team, one.until.0, one.ticket)));
    let coming: BTreeMap<&String, (u8, i64, i64)> = coming.collect();
    Ok(values![
        hosted.id,
        &hosted.queue,
        hosted.stage.as_str(),
        hosted.since,
        hosted.wait_until,
        hosted.instance.clone(),
        hosted.address.clone(),
        hosted.game,
        hosted.tries,
        hosted.why.as_str(),
        json(&hosted.passes)?,
        hosted.passes_until,
        hosted.parted,
        json(&hosted.asked)?,
        json(&coming)?,
        hosted.roster.as_ref().map(json).transpose()?,
        json(&hosted.sent_away)?,
        partition,
    ])
}

fn instance_row(instance: &Instance, partition: i64) -> Result<Vec<SqlValue>, StoreError> {
    let offer = &instance.offer;
    Ok(values![
        &offer.name,
        &offer.address,
        offer.region.clone(),
        offer.slots,
        json(&offer.modes)?,
        json(&offer.maps)?,
        instance.load,
        instance.matches.len(),
        instance.away,
        instance.heard,
        partition,
    ])
}

fn json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::BadValue(error.to_string()))
}

fn offer(row: &Row) -> Result<InstanceOffer, StoreError> {
    let words = |name: &str| -> Result<BTreeSet<String>, StoreError> {
        let text: String = row.get(name)?;
        serde_json::from_str(&text).map_err(|_| StoreError::bad(name, &text))
    };
    Ok(InstanceOffer {
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

pub(super) fn hosted(row: &Row) -> Result<Match, StoreError> {
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
    let time = |name: &str| row.get::<Option<Timestamp>>(name);
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
        passes_until: time("passes_until")?,
        parted: time("parted")?,
        asked: parse(row, "asked")?,
        expected: coming.collect(),
        sent_away: parse(row, "sent_away")?,
        roster: has_roster.then(|| parse(row, "roster")).transpose()?,
        ..Match::default()
    })
}
