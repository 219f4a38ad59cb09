//! Pick-up matches over HTTP: their state, and the matches in which their results are recorded.

use crate::{
    matchmaking::lifecycle::{
        Pickup, PickupEffect, PickupEvent, PickupRefused, PickupStage, RecordedPickup,
    },
    model::Timestamp,
    store::{
        ReportedMatch, Store, StoreError, corrections,
        db::*,
        matches::{insert::checked, receipts},
    },
};

/// The most pick-up matches of a client that are kept.
const MOST: i64 = 5_000;
/// The most that are listed, or that are played at the same time.
const LISTED: i64 = 200;
/// For how many milliseconds a pick-up match without a result keeps its players from beginning another one.
const LONGEST: i64 = 12 * 3_600 * 1_000;

/// A pick-up match of a client.
#[derive(Clone, Debug, PartialEq)]
pub struct PickupRow {
    /// The configured name of the client.
    pub client: String,
    /// The client's own name of the pick-up match.
    pub id: String,
    /// A hash of what was asked.
    pub asked: [u8; 32],
    /// Its state.
    pub pickup: Pickup,
    /// When it was made.
    pub made_at: Timestamp,
    /// When it changed last.
    pub changed_at: Timestamp,
}

/// What became of an event of a pick-up match.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangedPickup {
    /// The client has no such pick-up match.
    None,
    /// It is not possible.
    Refused(PickupRefused),
    /// It is as it is now, on disk; and whether a match was recorded.
    Done(Box<PickupRow>, bool),
}

const COLUMNS: &str = "client, pickup, asked, content, made_at, changed_at";

fn read(row: &Row) -> Result<PickupRow, StoreError> {
    let content: String = row.get("content")?;
    let asked: &[u8] = row.get("asked")?;
    Ok(PickupRow {
        client: row.get("client")?,
        id: row.get("pickup")?,
        asked: asked
            .try_into()
            .map_err(|_| StoreError::bad("asked", "a hash"))?,
        pickup: serde_json::from_str(&content).map_err(|_| StoreError::bad("content", &content))?,
        made_at: row.get("made_at")?,
        changed_at: row.get("changed_at")?,
    })
}

fn content(pickup: &Pickup) -> Result<String, StoreError> {
    serde_json::to_string(pickup).map_err(|error| StoreError::BadValue(error.to_string()))
}

fn find(client: &str, id: &str) -> Query {
    let query = format!("SELECT {COLUMNS} FROM pickups WHERE client = $1 AND pickup = $2");
    sql(query).bind(client).bind(id)
}

impl Store {
    /// A pick-up match of a client.
    pub async fn pickup(&self, client: &str, id: &str) -> Result<Option<PickupRow>, StoreError> {
        let row = find(client, id).fetch_optional(&self.readers).await?;
        row.as_ref().map(read).transpose()
    }

    /// The latest pick-up matches of a client, the latest first: those of a channel, or of all.
    pub async fn pickups(
        &self,
        client: &str,
        channel: Option<&str>,
    ) -> Result<Vec<PickupRow>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS} FROM pickups WHERE client = $1 AND ($2 IS NULL OR channel = $2)
             ORDER BY made_at DESC, pickup DESC LIMIT $3"
        );
        let query = sql(query).bind(client).bind(channel).bind(LISTED);
        let rows = query.fetch_all(&self.readers).await?;
        rows.iter().map(read).collect()
    }

    /// Writes a new pick-up match, and returns it; or the one that its client has of this name. Of those of its client,
    /// only the latest 5,000 are kept.
    pub async fn add_pickup(&self, new: &PickupRow) -> Result<PickupRow, StoreError> {
        let mut tx = self.begin_alone().await?;
        let query = "INSERT INTO pickups (client, pickup, asked, channel, stage, content, made_at, changed_at)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $7) ON CONFLICT DO NOTHING";
        let query = sql(query).bind(&new.client).bind(&new.id);
        let query = query.bind(&new.asked[..]).bind(&new.pickup.channel);
        let query = query.bind(new.pickup.stage.as_str());
        let query = query.bind(content(&new.pickup)?).bind(new.made_at);
        query.execute(&mut tx).await?;
        let older = "DELETE FROM pickups WHERE client = $1 AND made_at <
                         (SELECT made_at FROM pickups WHERE client = $1 ORDER BY made_at DESC LIMIT 1 OFFSET $2)";
        let query = sql(older).bind(&new.client).bind(MOST);
        query.execute(&mut tx).await?;
        let row = find(&new.client, &new.id).fetch_one(&mut tx).await?;
        let row = read(&row)?;
        tx.commit().await?;
        Ok(row)
    }

    /// Applies an event to a pick-up match of a client. If it has a result then, it is recorded as `result`, in the
    /// same transaction.
    ///
    /// # Errors
    /// Fails if the record of the result fails [`MatchRecord::check`](crate::model::MatchRecord::check), or if a result
    /// is to be recorded and there is none.
    pub async fn change_pickup(
        &self,
        client: &str,
        id: &str,
        event: PickupEvent,
        now: Timestamp,
        result: Option<&ReportedMatch>,
    ) -> Result<ChangedPickup, StoreError> {
        if let Some(one) = result {
            checked(self.dialect(), &one.record, one.fingerprint)?;
        }
        let mut tx = self.begin_alone().await?;
        let Some(row) = find(client, id).fetch_optional(&mut tx).await? else {
            tx.abandon().await?;
            return Ok(ChangedPickup::None);
        };
        let mut row = read(&row)?;
        let playing = playing(&mut tx, &row, now).await?;
        let effect = match row.pickup.apply(event, &playing) {
            Ok(effect) => effect,
            Err(refused) => {
                tx.abandon().await?;
                return Ok(ChangedPickup::Refused(refused));
            }
        };
        match (effect, result) {
            (PickupEffect::Same, _) => {
                tx.abandon().await?;
                return Ok(ChangedPickup::Done(Box::new(row), false));
            }
            (PickupEffect::Changed, _) => {}
            (PickupEffect::Void(match_id), _) => {
                if corrections::set_void(&mut tx, match_id, true).await? > 0 {
                    corrections::void_changed(&mut tx, true).await?;
                }
            }
            (PickupEffect::Record, Some(result)) => {
                let id = receipts::insert(&mut tx, client, now, result).await?;
                let unrated = result.unrated.clone();
                row.pickup.recorded = Some(RecordedPickup { id, unrated });
            }
            (PickupEffect::Record, None) => {
                tx.abandon().await?;
                return Err(StoreError::BadValue("a result without a record".to_owned()));
            }
        }
        row.changed_at = now;
        write(&mut tx, &row).await?;
        self.commit(tx).await?;
        Ok(ChangedPickup::Done(
            Box::new(row),
            effect == PickupEffect::Record,
        ))
    }

    /// Deletes the pick-up matches that were made before an instant.
    pub async fn drop_pickups(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.delete_old("pickups", "made_at < $1", before).await
    }
}

/// The other pick-up matches of the client that are played now.
async fn playing(
    tx: &mut PooledConnection,
    of: &PickupRow,
    now: Timestamp,
) -> Result<Vec<Pickup>, StoreError> {
    let query = format!(
        "SELECT {COLUMNS} FROM pickups WHERE client = $1 AND pickup <> $2 AND stage = $3 AND changed_at > $4
         ORDER BY made_at DESC LIMIT $5"
    );
    let query = sql(query).bind(&of.client).bind(&of.id);
    let query = query.bind(PickupStage::Playing.as_str());
    let query = query.bind(now.plus_millis(-LONGEST)).bind(LISTED);
    let rows = query.fetch_all(tx).await?;
    rows.iter()
        .map(|row| read(row).map(|row| row.pickup))
        .collect()
}

async fn write(tx: &mut PooledConnection, row: &PickupRow) -> Result<(), StoreError> {
    let query = "UPDATE pickups SET stage = $3, content = $4, changed_at = $5
                 WHERE client = $1 AND pickup = $2";
    let query = sql(query).bind(&row.client).bind(&row.id);
    let query = query.bind(row.pickup.stage.as_str());
    let query = query.bind(content(&row.pickup)?).bind(row.changed_at);
    query.execute(tx).await?;
    Ok(())
}
