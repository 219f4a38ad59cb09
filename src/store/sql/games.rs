//! Matches of games that this process has followed: each game becomes one match.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use super::{
    chances,
    forgotten::{is_any_since, remove_from},
    insert::{NewMatch, checked, id_of, insert_as, insert_new, known_all},
    rows::{Target, insert},
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

/// A game that is new beyond doubt: neither it nor its match is on disk, and nobody in it was forgotten.
struct NewGame<'a> {
    game: &'a EndedGame,
    fingerprint: Fingerprint,
    /// As this database can store it.
    record: Cow<'a, MatchRecord>,
    /// The id of the hosted match that it is.
    id: Option<i64>,
}

/// Does what [`Store::record_game`](crate::store::Store::record_game) does for each of these games, within a transaction
/// and with about as many statements as for one. The results are in the order of `all`.
///
/// # Errors
/// Fails if the whole transaction must not be committed. A game that must not be recorded has an error of its own.
pub(super) async fn insert_games(
    tx: &mut Connection,
    all: &[EndedGame],
) -> Result<Vec<Result<Recorded, StoreError>>, StoreError> {
    let new = match tx.dialect() {
        Dialect::Postgres => new_games(tx, all).await?,
        // Without a network, statements that are prepared already cost less than one for just this number of rows.
        Dialect::Sqlite => Vec::new(),
    };
    let matches = new.iter().map(|one| NewMatch {
        fingerprint: one.fingerprint,
        record: &one.record,
        id: one.id,
    });
    let written = insert_new(tx, &matches.collect::<Vec<_>>()).await?;
    let mut ids: HashMap<i64, i64> = HashMap::with_capacity(new.len());
    let mut told = Vec::with_capacity(new.len());
    for one in &new {
        let id = id_of(&written, one.fingerprint)?;
        let (_, chances, game) = one.game;
        ids.insert(*game, id);
        told.push((id, chances));
    }
    let games = ids.iter().map(|(game, id)| values![game, id]);
    insert(tx, MATCH_GAMES, "", games).await?;
    chances::insert_all(tx, &told).await?;
    let mut recorded = Vec::with_capacity(all.len());
    for game in all {
        // The number of a game that comes twice belongs to the first; the other one finds it on disk.
        let own = match ids.remove(&game.2) {
            Some(id) => Ok(Recorded::New(id)),
            None => insert_game(tx, game).await,
        };
        match own {
            Err(error) if !error.is_of_record() => return Err(error),
            own => recorded.push(own),
        }
    }
    Ok(recorded)
}

/// Those of these games that are new beyond doubt.
async fn new_games<'a>(
    tx: &mut Connection,
    all: &'a [EndedGame],
) -> Result<Vec<NewGame<'a>>, StoreError> {
    let first_start = all.iter().map(|(record, _, _)| record.start).min();
    let Some(first_start) = first_start else {
        return Ok(Vec::new());
    };
    if is_any_since(tx, first_start).await? {
        return Ok(Vec::new());
    }
    let (mut taken, hosted) = numbers(tx, all).await?;
    let prints: Vec<Fingerprint> = all.iter().map(|game| Fingerprint::of(&game.0)).collect();
    let mut known: HashSet<Fingerprint> = {
        let known = known_all(tx, &prints).await?;
        known.into_keys().collect()
    };
    let mut new = Vec::with_capacity(all.len());
    for (game, fingerprint) in all.iter().zip(prints) {
        let Ok(record) = checked(tx.dialect(), &game.0, fingerprint) else {
            continue;
        };
        if taken.insert(game.2) && known.insert(fingerprint) {
            new.push(NewGame {
                game,
                fingerprint,
                record,
                id: hosted.get(&game.2).copied(),
            });
        }
    }
    Ok(new)
}

/// The numbers among those of these games that a recorded match has, and the ids of the hosted matches whose games have
/// the others.
async fn numbers(
    tx: &mut Connection,
    all: &[EndedGame],
) -> Result<(HashSet<i64>, HashMap<i64, i64>), StoreError> {
    let games = || all.iter().map(|(_, _, game)| game);
    let mut query = Sql::new("SELECT game FROM match_games WHERE game IN ");
    query.list(games());
    let taken: Vec<i64> = query.build_scalar().fetch_all(&mut *tx).await?;
    let mut query = Sql::new(
        "SELECT h.game, h.match_id FROM hosted_matches h
         WHERE NOT EXISTS (SELECT 1 FROM matches m WHERE m.id = h.match_id) AND h.game IN ",
    );
    query.list(games());
    let hosted: Vec<(i64, i64)> = query.build_tuple().fetch_all(tx).await?;
    Ok((taken.into_iter().collect(), hosted.into_iter().collect()))
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
            insert(tx, MATCH_GAMES, "", [row].into_iter()).await?;
            chances::insert(tx, recorded, &record, told).await?;
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
