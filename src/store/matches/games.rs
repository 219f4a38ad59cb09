//! Matches of games that this process has followed: each game becomes one match. Those that are new beyond doubt are
//! recorded together, in `new_games`; the others one by one, here.

use super::{
    chances,
    group_commit::EndedGame,
    insert::{insert_as, note_game},
    twins,
};
use crate::{
    model::{Fingerprint, MatchChances, MatchRecord},
    store::{Recorded, StoreError, corrections::forgetting::remove_from, db::*},
};

/// The most games of one server, on one map and with the same players, that may begin within one
/// second.
const MAX_PER_SECOND: usize = 64;

/// Does what [`Matches::record_game`](crate::store::Matches::record_game) does for each of these games, within a transaction
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

/// Does what [`Matches::record_game`](crate::store::Matches::record_game) does, within a
/// transaction. The caller has checked the record.
pub(super) async fn insert_game(
    tx: &mut Connection,
    (record, told, game): &EndedGame,
) -> Result<Recorded, StoreError> {
    let query = scalar("SELECT id FROM matches WHERE game = $1");
    if let Some(id) = query.bind(game).fetch_optional(&mut *tx).await? {
        return Ok(Recorded::Duplicate(id));
    }
    let id = hosted_as(tx, *game).await?;
    // The match is known by the record as it came, also when its log is read.
    let (mut original, mut record) = (record.clone(), record.clone());
    remove_from(tx, &mut record).await?;
    if id.is_none()
        && let Some(id) = twins::logged(tx, &record).await?
    {
        belong(tx, Recorded::Duplicate(id), &record, (told, *game)).await?;
        return Ok(Recorded::Duplicate(id));
    }
    for _ in 0..MAX_PER_SECOND {
        let played = record.clone().played();
        let recorded = insert_as(tx, &played, Fingerprint::of(&original), id).await?;
        let own = match recorded {
            Recorded::New(_) => true,
            Recorded::Duplicate(id) => is_same(tx, id, &played).await?,
        };
        if own {
            belong(tx, recorded, &record, (told, *game)).await?;
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

/// Notes which match a game has become: what was predicted of its teams and its decisions belong to it.
async fn belong(
    tx: &mut Connection,
    recorded: Recorded,
    record: &MatchRecord,
    (told, game): (&MatchChances, i64),
) -> Result<(), StoreError> {
    note_game(tx, game, recorded.id()).await?;
    let told = told.clone().played(record);
    chances::insert(tx, recorded, record, &told).await?;
    Ok(())
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
        "SELECT EXISTS (SELECT 1 FROM matches
                        WHERE id = $1 AND started_at = $2 AND game_type = $3 AND game IS NULL)",
    );
    let query = query.bind(id).bind(record.start).bind(&record.game_type);
    query.fetch_one(tx).await
}
