//! What clients record over HTTP: matches, each under a key, so that a repetition gets the first answer; pick-up matches,
//! with their state and the matches in which their results are recorded; and the browsers in which somebody has shown a
//! client's token, so that forms may record for the client.

use crate::{
    matchmaking::lifecycle::{
        Pickup, PickupEffect, PickupEvent, PickupRefused, PickupStage, RecordedPickup,
    },
    model::{
        Kind, MatchRecord, PlayerKey, Timestamp, fingerprint::Fingerprint,
        match_chances::MatchChances,
    },
    store::{
        Store, StoreError,
        corrections::{self, remove_from},
        db::*,
        matches::{
            Matches, chances,
            insert::{checked, insert_as},
        },
    },
};

/// A match that a client records, and what the client is answered.
#[derive(Clone, Debug)]
pub struct ReportedMatch {
    /// The record of the match.
    pub record: MatchRecord,
    /// The fingerprint under which it is recorded.
    pub fingerprint: Fingerprint,
    /// What was predicted of its teams.
    pub chances: MatchChances,
    /// The keys that the client has given it.
    pub keys: Vec<Receipt>,
    /// The code of the reason why it is not rated.
    pub unrated: Option<String>,
    /// The number of the decision that picked its teams.
    pub decision: Option<i64>,
}

/// A key of a client, and what the client has sent under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The key.
    pub key: String,
    /// A hash of what was sent.
    pub body: [u8; 32],
}

/// What became of matches that a client has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reported {
    /// All are on disk: the id of each, and why it is not rated. What was sent before has the first answer.
    Recorded(Vec<(i64, Option<String>)>),
    /// None is, because something else was sent under this key before.
    OtherBody(String),
}

impl Matches<'_> {
    /// Writes the matches of a client that it has not sent before, all or none, and notes their keys. They are on
    /// disk, and survive a power cut, when this returns.
    ///
    /// # Errors
    /// Fails if a record fails [`MatchRecord::check`].
    pub async fn record_reported(
        self,
        client: &str,
        now: Timestamp,
        matches: &[ReportedMatch],
    ) -> Result<Reported, StoreError> {
        for one in matches {
            checked(self.0.dialect(), &one.record, one.fingerprint)?;
        }
        let mut tx = self.0.begin_alone().await?;
        let mut recorded = Vec::with_capacity(matches.len());
        for one in matches {
            let (id, unrated) = match first_answer(&mut tx, client, one).await? {
                Answered::Same(id, unrated) => (id, unrated),
                Answered::Never => {
                    let id = insert(&mut tx, client, now, one).await?;
                    (id, one.unrated.clone())
                }
                Answered::Other(key) => {
                    tx.abandon().await?;
                    return Ok(Reported::OtherBody(key));
                }
            };
            for receipt in &one.keys {
                note(&mut tx, (client, now), receipt, (id, unrated.as_deref())).await?;
            }
            recorded.push((id, unrated));
        }
        self.0.commit(tx).await?;
        Ok(Reported::Recorded(recorded))
    }

    /// Whether the client was answered about each of these matches before: it need not be asked again whether it may record
    /// them.
    pub async fn are_answered(
        self,
        client: &str,
        matches: &[ReportedMatch],
    ) -> Result<Vec<bool>, StoreError> {
        if matches.iter().all(|one| one.keys.is_empty()) {
            return Ok(vec![false; matches.len()]);
        }
        let mut tx = self.0.readers.snapshot().await?;
        let mut answered = Vec::with_capacity(matches.len());
        for one in matches {
            let answer = first_answer(&mut tx, client, one).await?;
            answered.push(!matches!(answer, Answered::Never));
        }
        Ok(answered)
    }

    /// How many matches of each human a client has recorded over HTTP that ended in this time; `to` is excluded.
    pub async fn humans_reported(
        self,
        client: &str,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Vec<(PlayerKey, u32)>, StoreError> {
        let query = tuple(
            "SELECT p.player, count(*) FROM matches m
             JOIN match_players p ON p.match_id = m.id AND p.kind = 'human'
             WHERE m.ended_at >= $1 AND m.ended_at < $2 AND m.client = $3 AND m.reported_at IS NOT NULL
             GROUP BY p.player",
        );
        let query = query.bind(from).bind(to).bind(client);
        let humans: Vec<(String, i64)> = query.fetch_all(&self.0.readers).await?;
        let kind = Kind::Human;
        let count = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
        let humans = humans.into_iter();
        Ok(humans
            .map(|(id, number)| (PlayerKey { kind, id }, count(number)))
            .collect())
    }

    /// The client that has recorded a match over HTTP, and when.
    pub async fn reporter_of(self, id: i64) -> Result<Option<(String, Timestamp)>, StoreError> {
        let query = tuple(
            "SELECT client, reported_at FROM matches WHERE id = $1 AND reported_at IS NOT NULL",
        );
        query.bind(id).fetch_optional(&self.0.readers).await
    }

    /// The match that a client has recorded under a key.
    pub async fn match_of_key(self, client: &str, key: &str) -> Result<Option<i64>, StoreError> {
        let query = scalar("SELECT match_id FROM receipts WHERE client = $1 AND key = $2");
        let query = query.bind(client).bind(key);
        query.fetch_optional(&self.0.readers).await
    }

    /// The match whose teams a decision has picked, once it is recorded and unless it is void.
    pub async fn match_of_decision(self, decision: i64) -> Result<Option<i64>, StoreError> {
        let query = scalar(
            "SELECT m.id FROM decisions d JOIN matches m ON m.id = d.match_id
             WHERE d.id = $1 AND m.fingerprint NOT IN (SELECT fingerprint FROM voided_fingerprints)",
        );
        query.bind(decision).fetch_optional(&self.0.readers).await
    }

    /// The latest matches that a client has recorded over HTTP since an instant and that are not void, the last one first.
    pub async fn reported_since(
        self,
        client: &str,
        since: Timestamp,
        limit: i64,
    ) -> Result<Vec<i64>, StoreError> {
        let query = scalar(
            "SELECT id FROM matches WHERE reported_at >= $1 AND client = $2 AND ended_at >= $1
               AND fingerprint NOT IN (SELECT fingerprint FROM voided_fingerprints)
             ORDER BY id DESC LIMIT $3",
        );
        let query = query.bind(since).bind(client).bind(limit);
        query.fetch_all(&self.0.readers).await
    }

    /// Deletes the keys of matches that were recorded before an instant.
    pub async fn drop_receipts(self, before: Timestamp) -> Result<u64, StoreError> {
        let old = "made_at < $1";
        self.0.delete_old("receipts", old, before).await
    }
}

/// What a client was answered that has sent a match before.
enum Answered {
    Never,
    Same(i64, Option<String>),
    /// Something else was sent under this key.
    Other(String),
}

async fn first_answer(
    tx: &mut PooledConnection,
    client: &str,
    one: &ReportedMatch,
) -> Result<Answered, StoreError> {
    let mut found = Answered::Never;
    for receipt in &one.keys {
        let query =
            sql("SELECT body, match_id, unrated FROM receipts WHERE client = $1 AND key = $2");
        let query = query.bind(client).bind(&receipt.key);
        let Some(row) = query.fetch_optional(&mut *tx).await? else {
            continue;
        };
        if row.get::<&[u8]>("body")? != receipt.body {
            return Ok(Answered::Other(receipt.key.clone()));
        }
        found = Answered::Same(row.get("match_id")?, row.get("unrated")?);
    }
    Ok(found)
}

/// Writes a match without its keys. Returns its id.
pub(in crate::store) async fn insert(
    tx: &mut PooledConnection,
    client: &str,
    now: Timestamp,
    one: &ReportedMatch,
) -> Result<i64, StoreError> {
    let mut record = one.record.clone();
    client.clone_into(&mut record.client);
    remove_from(tx, &mut record).await?;
    let recorded = insert_as(tx, &record, one.fingerprint, None).await?;
    chances::insert(tx, recorded, &record, &one.chances).await?;
    let id = recorded.id();
    // Not of a match that another client has brought before.
    let reported = "UPDATE matches SET reported_at = $2
                     WHERE id = $1 AND client = $3 AND reported_at IS NULL";
    let query = sql(reported).bind(id).bind(now).bind(client);
    query.execute(&mut *tx).await?;
    if let Some(decision) = one.decision {
        let tie = "UPDATE decisions SET match_id = $2 WHERE id = $1 AND match_id IS NULL";
        let query = sql(tie).bind(decision).bind(id);
        query.execute(&mut *tx).await?;
        let arm = "UPDATE drawn_arms SET match_id = $2
                   WHERE match_id IS NULL AND game = (SELECT game FROM decisions WHERE id = $1)";
        let query = sql(arm).bind(decision).bind(id);
        query.execute(&mut *tx).await?;
    }
    Ok(id)
}

/// Notes what a client was answered that has sent a match under this key, unless that is known.
async fn note(
    tx: &mut PooledConnection,
    (client, now): (&str, Timestamp),
    receipt: &Receipt,
    (id, unrated): (i64, Option<&str>),
) -> Result<(), StoreError> {
    let note = "INSERT INTO receipts (client, key, body, match_id, unrated, made_at)
                    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
    let query = sql(note).bind(client);
    let query = query.bind(&receipt.key);
    let query = query.bind(&receipt.body[..]).bind(id);
    query.bind(unrated).bind(now).execute(tx).await?;
    Ok(())
}

/// The most pick-up matches of a client that are kept.
const MOST_PICKUPS: i64 = 5_000;
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
        let query = sql(older).bind(&new.client).bind(MOST_PICKUPS);
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
                let id = insert(&mut tx, client, now, result).await?;
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

/// A browser that may record for a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignIn {
    /// A hash of the secret that the browser keeps.
    pub secret: [u8; 32],
    /// The configured name of the client.
    pub client: String,
    /// The [mark](crate::model::access::Secret::mark) of the client's token.
    pub token: [u8; 32],
    /// When the token was shown.
    pub made_at: Timestamp,
}

/// The most sign-ins of a client that are kept.
const MOST_SIGN_INS: i64 = 100;

impl Store {
    /// Writes a sign-in. Of those of its client, only the last 100 are kept.
    pub async fn sign_in(&self, one: &SignIn) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        let query = "INSERT INTO sign_ins (secret, client, token, made_at) VALUES ($1, $2, $3, $4)";
        let query = sql(query).bind(&one.secret[..]).bind(&one.client);
        let query = query.bind(&one.token[..]).bind(one.made_at);
        query.execute(&mut tx).await?;
        let older = "DELETE FROM sign_ins WHERE client = $1 AND secret NOT IN
                         (SELECT secret FROM sign_ins WHERE client = $1 ORDER BY made_at DESC, secret LIMIT $2)";
        let query = sql(older).bind(&one.client).bind(MOST_SIGN_INS);
        query.execute(&mut tx).await?;
        tx.commit().await?;
        Ok(())
    }

    /// The sign-in with this hash of its secret, however old.
    pub async fn signed_in(&self, secret: &[u8; 32]) -> Result<Option<SignIn>, StoreError> {
        let query = "SELECT client, token, made_at FROM sign_ins WHERE secret = $1";
        let query = sql(query).bind(&secret[..]);
        let Some(row) = query.fetch_optional(&self.readers).await? else {
            return Ok(None);
        };
        let (client, made_at) = (row.get("client")?, row.get("made_at")?);
        let token: &[u8] = row.get("token")?;
        Ok(token.try_into().ok().map(|token| SignIn {
            secret: *secret,
            client,
            token,
            made_at,
        }))
    }

    /// Deletes a sign-in.
    pub async fn sign_out(&self, secret: &[u8; 32]) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        let query = sql("DELETE FROM sign_ins WHERE secret = $1");
        query.bind(&secret[..]).execute(&mut tx).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Deletes the sign-ins that were made before an instant.
    pub async fn drop_sign_ins(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.delete_old("sign_ins", "made_at < $1", before).await
    }
}
