//! Matches of games that this process has followed: each game becomes one match. Those that are new beyond doubt are
//! recorded together, on PostgreSQL with one statement, on SQLite, which needs no network, with one for each table. The
//! others are recorded one by one.

use std::collections::{HashMap, HashSet};

use super::{
    chances,
    group_commit::EndedGame,
    halves,
    insert::{self, New, checked, head_columns, insert_as, note_game},
    played::link_formed_matches,
};
use crate::{
    model::{DAY, Fingerprint, MatchChances, MatchRecord},
    store::{
        Recorded, StoreError,
        corrections::remove_from,
        db::*,
        sql::rows::{given, with_given},
    },
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
    tx: &mut PooledConnection,
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
    tx: &mut PooledConnection,
    (record, announced, game): &EndedGame,
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
        && let Some(id) = halves::logged(tx, &record).await?
    {
        belong(tx, Recorded::Duplicate(id), &record, (announced, *game)).await?;
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
            belong(tx, recorded, &record, (announced, *game)).await?;
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
    tx: &mut PooledConnection,
    recorded: Recorded,
    record: &MatchRecord,
    (announced, game): (&MatchChances, i64),
) -> Result<(), StoreError> {
    note_game(tx, game, recorded.id()).await?;
    let announced = announced.clone().played(record);
    chances::insert(tx, recorded, record, &announced).await?;
    Ok(())
}

/// The id of the hosted match whose game has this number, unless a match has that id already.
async fn hosted_as(tx: &mut PooledConnection, game: i64) -> Result<Option<i64>, StoreError> {
    let query = scalar(
        "SELECT h.match_id FROM hosted_matches h
         WHERE h.game = $1 AND NOT EXISTS (SELECT 1 FROM matches m WHERE m.id = h.match_id)",
    );
    query.bind(game).fetch_optional(tx).await
}

/// Whether the match with this id is that of `record`: it began at the same millisecond, has the
/// same game type, and does not belong to another game.
async fn is_same(
    tx: &mut PooledConnection,
    id: i64,
    record: &MatchRecord,
) -> Result<bool, StoreError> {
    let query = scalar(
        "SELECT EXISTS (SELECT 1 FROM matches
                        WHERE id = $1 AND started_at = $2 AND game_type = $3 AND game IS NULL)",
    );
    let query = query.bind(id).bind(record.start).bind(&record.game_type);
    query.fetch_one(tx).await
}

/// The columns of a game that is given to a statement.
const GAMES: &str = "fingerprint BYTEA, started_at TEXT, ended_at TEXT, untimed BOOLEAN, server TEXT, client TEXT, map TEXT,
     game_type TEXT, mutators TEXT, mode TEXT, outcome TEXT, winner BIGINT, scores TEXT, gap DOUBLE PRECISION,
     humans BIGINT, bots BIGINT, record BYTEA, game BIGINT, day_later TEXT";
const HEADS: &str = concat!(
    "INSERT INTO matches (id, game, ",
    head_columns!(),
    ") SELECT hosted, game, ",
    head_columns!(),
    " FROM (",
    include_str!("new_games.sql"),
    ") AS games WHERE true ON CONFLICT DO NOTHING RETURNING id, fingerprint"
);
const DECIDED: &str =
    "UPDATE decisions SET match_id = given.match_id FROM {given} WHERE decisions.game = given.game";

/// A game that may be new.
struct CandidateGame {
    fingerprint: Fingerprint,
    record: MatchRecord,
    chances: MatchChances,
    game: i64,
}

/// Records those of these games that are new beyond doubt. Returns the ids of their matches by the numbers of the games.
/// On PostgreSQL, many processes may do this at the same time.
///
/// # Errors
/// Fails, among others, if another process records one of the games at this time.
pub(super) async fn insert_new_games(
    tx: &mut PooledConnection,
    all: &[EndedGame],
) -> Result<HashMap<i64, i64>, StoreError> {
    let games = candidates(tx.dialect(), all);
    let (ids, expects) = match tx.dialect() {
        Dialect::Sqlite => (insert_by_table(tx, &games).await?, true),
        Dialect::Postgres => insert_at_once(tx, &games).await?,
    };
    if expects {
        link_formed_matches(tx, &numbered(&games, |game| ids.get(&game.game).copied())).await?;
    }
    Ok(ids)
}

/// The games that may be stored, each number and each match once.
fn candidates(dialect: Dialect, all: &[EndedGame]) -> Vec<CandidateGame> {
    let (mut numbers, mut prints) = (HashSet::new(), HashSet::new());
    let mut games = Vec::with_capacity(all.len());
    for (record, chances, game) in all {
        // Like a log, the game is known by all of it, also by what was waiting.
        let (fingerprint, game) = (Fingerprint::of(record), *game);
        if let Ok(record) = checked(dialect, record, fingerprint)
            && numbers.insert(game)
            && prints.insert(fingerprint)
        {
            games.push(CandidateGame {
                fingerprint,
                chances: chances.clone().played(&record),
                record: record.into_owned().played(),
                game,
            });
        }
    }
    games
}

/// The records of games, each with a number; without those that have none.
fn numbered<'a>(
    games: &'a [CandidateGame],
    number: impl Fn(&CandidateGame) -> Option<i64>,
) -> Vec<New<'a>> {
    let numbered = games.iter();
    numbered
        .filter_map(|game| Some((number(game)?, &game.record)))
        .collect()
}

/// The rows of [`GAMES`].
fn heads(games: &[CandidateGame]) -> Vec<Vec<SqlValue>> {
    let head = |game: &CandidateGame| {
        let mut row = insert::head(game.fingerprint, &game.record);
        row.push(game.game.into());
        row.push(game.record.end.plus_millis(DAY).into());
        row
    };
    games.iter().map(head).collect()
}

async fn insert_by_table(
    tx: &mut PooledConnection,
    games: &[CandidateGame],
) -> Result<HashMap<i64, i64>, StoreError> {
    let mut new: HashMap<Fingerprint, i64> = HashMap::with_capacity(games.len());
    for row in with_given(tx, GAMES, HEADS, heads(games).into_iter()).await? {
        new.insert(row.get("fingerprint")?, row.get("id")?);
    }
    let id = |game: &CandidateGame| new.get(&game.fingerprint).copied();
    insert::insert_players(tx, &numbered(games, id)).await?;
    let announced = games
        .iter()
        .filter_map(|game| Some((id(game)?, &game.chances)));
    let announced: Vec<(i64, &MatchChances)> = announced.collect();
    chances::insert_new(tx, &announced).await?;
    let ids = games.iter().filter_map(|one| Some((one.game, id(one)?)));
    let ids: HashMap<i64, i64> = ids.collect();
    let rows = ids.iter().map(|(game, id)| values![game, id]);
    with_given(tx, "game BIGINT, match_id BIGINT", DECIDED, rows).await?;
    Ok(ids)
}

/// Also returns whether the queue expects the result of any match.
async fn insert_at_once(
    tx: &mut PooledConnection,
    games: &[CandidateGame],
) -> Result<(HashMap<i64, i64>, bool), StoreError> {
    let new = numbered(games, |game| Some(game.game));
    let announced = games.iter().map(|one| (one.game, &one.chances));
    let announced: Vec<(i64, &MatchChances)> = announced.collect();
    let text =
        include_str!("record_games.sql").replace("{new_games}", include_str!("new_games.sql"));
    let query = given(tx.dialect(), GAMES, &text, heads(games))?
        .bind(insert::PLAYERS.json(insert::players(&new))?)
        .bind(chances::STEPS.json(chances::rows(&announced))?);
    let (mut ids, mut expects) = (HashMap::with_capacity(games.len()), false);
    for row in query.fetch_all(tx).await? {
        ids.insert(row.get("game")?, row.get("id")?);
        expects |= row.get::<bool>("expects")?;
    }
    Ok((ids, expects))
}
