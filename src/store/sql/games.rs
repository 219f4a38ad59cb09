//! Matches of games that this process has followed: each game becomes one match.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use super::{
    chances,
    forgotten::remove_from,
    insert::{self, checked, insert_as},
    played::count_predictions,
    rows::{Target, insert as insert_rows},
};
use crate::{
    domain::{Fingerprint, MatchRecord},
    store::{Recorded, StoreError, db::*, group_commit::EndedGame},
};

/// The most games of one server, on one map and with the same players, that may begin within one
/// second.
const MAX_PER_SECOND: usize = 64;

/// Which match a game has become.
const MATCH_GAMES: Target = Target::new("match_games", "game, match_id");

/// Records those of these games that are new beyond doubt, with one statement of PostgreSQL and, if the queue expects the
/// results of matches, some more. Returns the ids of their matches by the numbers of the games. Many processes may do
/// this at the same time.
///
/// # Errors
/// Fails, among others, if another process records one of the games at this time.
pub(super) async fn insert_new_games(
    tx: &mut Connection,
    all: &[EndedGame],
) -> Result<HashMap<i64, i64>, StoreError> {
    let mut numbers = HashSet::with_capacity(all.len());
    let mut heads = Vec::with_capacity(all.len());
    let mut records: HashMap<i64, Cow<'_, MatchRecord>> = HashMap::with_capacity(all.len());
    let mut told = Vec::with_capacity(all.len());
    for (record, chances, game) in all {
        let fingerprint = Fingerprint::of(record);
        if let Ok(record) = checked(tx.dialect(), record, fingerprint)
            && numbers.insert(*game)
        {
            let mut head = insert::head(fingerprint, &record);
            head.push(game.into());
            heads.push(head);
            records.insert(*game, record);
            told.push((*game, chances));
        }
    }
    let parts: Vec<insert::New<'_>> = records.iter().map(|(game, own)| (*game, &**own)).collect();
    let query = sql(include_str!("record_games.sql"))
        .bind(insert::GAMES.json(heads.into_iter())?)
        .bind(insert::MUTATORS.json(insert::mutators(&parts))?)
        .bind(insert::TEAMS.json(insert::scores(&parts))?)
        .bind(insert::PARTICIPANTS.json(insert::participants(&parts))?)
        .bind(insert::ROLES.json(insert::roles(&parts))?)
        .bind(chances::STEPS.json(chances::rows(&told))?);
    let rows = query.fetch_all(&mut *tx).await?;
    let (mut ids, mut expects) = (HashMap::with_capacity(rows.len()), false);
    for row in &rows {
        ids.insert(row.get("game")?, row.get("id")?);
        expects |= row.get::<bool>("expects")?;
    }
    if expects {
        let new: Vec<insert::New<'_>> = ids
            .iter()
            .filter_map(|(game, id)| Some((*id, &**records.get(game)?)))
            .collect();
        count_predictions(tx, &new).await?;
    }
    Ok(ids)
}

/// Does what [`Store::record_game`](crate::store::Store::record_game) does for each of these games, within a transaction
/// that no other process records in. The results are in the order of `all`.
///
/// # Errors
/// Fails if the whole transaction must not be committed. A game that must not be recorded has an error of its own.
pub(super) async fn insert_games(
    tx: &mut Connection,
    all: &[&EndedGame],
) -> Result<Vec<Result<Recorded, StoreError>>, StoreError> {
    let mut recorded = Vec::with_capacity(all.len());
    for game in all {
        match insert_game(tx, game).await {
            Err(error) if !error.is_of_record() => return Err(error),
            own => recorded.push(own),
        }
    }
    Ok(recorded)
}

/// Does what [`Store::record_game`](crate::store::Store::record_game) does, within a
/// transaction. The caller has checked the record.
pub(super) async fn insert_game(
    tx: &mut Connection,
    (record, told, game): &EndedGame,
) -> Result<Recorded, StoreError> {
    let query = scalar("SELECT match_id FROM match_games WHERE game = $1");
    if let Some(id) = query.bind(game).fetch_optional(&mut *tx).await? {
        return Ok(Recorded::Duplicate(id));
    }
    let id = hosted_as(tx, *game).await?;
    // The match is known by the record as it came, also when its log is read.
    let (mut original, mut record) = (record.clone(), record.clone());
    remove_from(tx, &mut record).await?;
    for _ in 0..MAX_PER_SECOND {
        let recorded = insert_as(tx, &record, Fingerprint::of(&original), id).await?;
        let own = match recorded {
            Recorded::New(_) => true,
            Recorded::Duplicate(id) => is_same(tx, id, &record).await?,
        };
        if own {
            let row = values![game, recorded.id()];
            insert_rows(tx, MATCH_GAMES, "", [row].into_iter()).await?;
            chances::insert(tx, recorded, &record, told).await?;
            let decided = sql("UPDATE decisions SET match_id = $2 WHERE game = $1");
            let decided = decided.bind(game).bind(recorded.id());
            decided.execute(&mut *tx).await?;
            return Ok(recorded);
        }
        for one in [&mut original, &mut record] {
            one.start = one.start.plus_millis(1_000);
            one.end = one.end.plus_millis(1_000);
        }
    }
    Err(StoreError::Crowded {
        server: record.server,
    })
}

/// The id of the hosted match whose game has this number, unless a match has that id already.
async fn hosted_as(tx: &mut Connection, game: i64) -> Result<Option<i64>, StoreError> {
    let query = scalar(
        "SELECT h.match_id FROM hosted_matches h
         WHERE h.game = $1 AND NOT EXISTS (SELECT 1 FROM matches m WHERE m.id = h.match_id)",
    );
    query.bind(game).fetch_optional(tx).await
}

/// Whether the match with this id is that of `record`: it began at the same millisecond, has the
/// same game type, and does not belong to another game.
async fn is_same(tx: &mut Connection, id: i64, record: &MatchRecord) -> Result<bool, StoreError> {
    let query = scalar(
        "SELECT EXISTS (SELECT 1 FROM matches WHERE id = $1 AND started_at = $2 AND game_type = $3)
            AND NOT EXISTS (SELECT 1 FROM match_games WHERE match_id = $1)",
    );
    let query = query.bind(id).bind(record.start.0).bind(&record.game_type);
    query.fetch_one(tx).await
}
