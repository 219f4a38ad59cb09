//! How match records are written: one by one, or those of the games that end at the same time together.
//!
//! Each game that this process has followed becomes one match. Writes that arrive at the same time are put into one
//! transaction, which waits for the disk once. Games that are new beyond doubt are recorded together, on PostgreSQL with one
//! statement, on SQLite, which needs no network, with one for each table. The others are recorded one by one.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::Arc,
};

use futures_util::FutureExt;
use parking_lot::Mutex;
use tokio::{
    select,
    sync::{Mutex as Turn, oneshot},
};

use crate::{
    model::{MatchRecord, fingerprint::Fingerprint, match_chances::MatchChances, time::DAY},
    store::{
        Backend, HalfRecorded, JoinHalves, Recorded, StoreError,
        corrections::remove_from,
        db::{
            query::{given, with_given},
            *,
        },
        matches::{
            Matches,
            chances::{self, link_formed_matches},
            insert::{
                self, New, checked, head_columns, insert_as, insert_if_new, insert_matches,
                note_game,
            },
            logs,
        },
    },
};

impl Matches<'_> {
    /// Writes a match whole or not at all. It is on disk, and survives a power cut, when this returns.
    ///
    /// # Errors
    /// Fails if the record fails [`MatchRecord::check`].
    pub async fn record(self, record: &MatchRecord) -> Result<Recorded, StoreError> {
        self.record_as(record, Fingerprint::of(record)).await
    }

    /// Like [`record`](Self::record), under a given fingerprint: a match that was changed after it was
    /// first recorded keeps its fingerprint, and is still the same match.
    ///
    /// # Errors
    /// Fails if the record fails [`MatchRecord::check`].
    pub async fn record_as(
        self,
        record: &MatchRecord,
        fingerprint: Fingerprint,
    ) -> Result<Recorded, StoreError> {
        let mut tx = self.0.begin_alone().await?;
        let recorded = insert_if_new(&mut tx, record, fingerprint).await?;
        self.0.commit(tx).await?;
        Ok(recorded)
    }

    /// Writes many matches in one transaction, which waits for the disk only once: all or none of them
    /// are on disk afterwards. The results are in the order of `records`.
    ///
    /// # Errors
    /// If a record fails [`MatchRecord::check`], those before it are on disk and the rest are not. If
    /// the database fails, none is.
    pub async fn record_all(
        self,
        records: &[(MatchRecord, Fingerprint)],
    ) -> Result<Vec<Recorded>, StoreError> {
        let (mut good, mut bad) = (Vec::with_capacity(records.len()), None);
        for (record, fingerprint) in records {
            match checked(self.0.dialect(), record, *fingerprint) {
                Ok(record) => good.push((record, *fingerprint)),
                Err(error) => {
                    bad = Some(error);
                    break;
                }
            }
        }
        let mut tx = self.0.begin_alone().await?;
        let recorded = insert_logged(&mut tx, &good).await?;
        self.0.commit(tx).await?;
        match bad {
            Some(error) => Err(error),
            None => Ok(recorded),
        }
    }

    /// Writes a record with this fingerprint, joined with its other half if that is on disk and the pause between them
    /// is at most `pause` milliseconds. The joined match then stands for both halves: if either is
    /// read again, it is a duplicate.
    ///
    /// # Errors
    /// Fails if the record fails [`MatchRecord::check`].
    pub async fn record_half(
        self,
        record: &MatchRecord,
        fingerprint: Fingerprint,
        pause: i64,
        join: JoinHalves,
    ) -> Result<HalfRecorded, StoreError> {
        let mut tx = self.0.begin_alone().await?;
        let half = logs::insert_half(&mut tx, record, fingerprint, pause, join).await?;
        self.0.commit(tx).await?;
        Ok(half)
    }

    /// Writes the match of a game that this process has followed, and what was predicted of its teams, once for each
    /// number `game`. If
    /// another game on the same server and map, with the same players, began within the same
    /// second, both are kept: the start of this one is then up to a minute later. The game of a hosted
    /// match gets that match's id.
    ///
    /// # Errors
    /// Those of [`record`](Self::record), and [`StoreError::Crowded`].
    pub async fn record_game(
        self,
        record: &MatchRecord,
        chances: &MatchChances,
        game: i64,
    ) -> Result<Recorded, StoreError> {
        checked(self.0.dialect(), record, Fingerprint::of(record))?;
        let own = (record.clone(), chances.clone(), game);
        let again = own.clone();
        let recorded = self
            .0
            .games
            .write(own, |all| self.record_games(all).boxed())
            .await;
        match recorded {
            Some(recorded) => recorded,
            None => self.record_alone(&again).await,
        }
    }
}

/// Writes matches of logs, each unless it is on disk or the line has reported it.
async fn insert_logged(
    tx: &mut PooledConnection,
    records: &[(Cow<'_, MatchRecord>, Fingerprint)],
) -> Result<Vec<Recorded>, StoreError> {
    let all = records.iter().map(|(record, _)| &**record);
    if !logs::any_reported(tx, all).await? {
        return insert_matches(tx, records).await;
    }
    let (mut finalised, mut rest) = (Vec::with_capacity(records.len()), Vec::new());
    for (record, fingerprint) in records {
        let one = logs::settle_logged(tx, record, *fingerprint).await?;
        if one.is_none() {
            rest.push((Cow::Borrowed(&**record), *fingerprint));
        }
        finalised.push(one);
    }
    let mut inserted = insert_matches(tx, &rest).await?.into_iter();
    let each = finalised
        .into_iter()
        .filter_map(|one| one.or_else(|| inserted.next()));
    Ok(each.collect())
}

impl Matches<'_> {
    /// Records one game in a transaction of its own.
    async fn record_alone(self, game: &EndedGame) -> Result<Recorded, StoreError> {
        let mut tx = self.0.begin_alone().await?;
        let recorded = insert_game(&mut tx, game).await?;
        self.0.commit(tx).await?;
        Ok(recorded)
    }

    /// Records games together. A game that must not be recorded has an error of its own, and does not keep the others
    /// out.
    async fn record_games(self, all: Vec<EndedGame>) -> Attempt<Result<Recorded, StoreError>> {
        match self.record_together(&all).await {
            Ok(recorded) => Attempt::Done(recorded),
            Err(error) if error.stops_all_writes() => {
                let error = Arc::new(error);
                Attempt::FailedForAll(Box::new(move || Err(StoreError::Shared(error.clone()))))
            }
            Err(error) if all.len() == 1 => Attempt::Done(vec![Err(error)]),
            Err(error) => {
                let games = all.len();
                tracing::warn!(%error, games, "games cannot be recorded together, trying one by one");
                Attempt::Failed
            }
        }
    }

    async fn record_together(
        self,
        all: &[EndedGame],
    ) -> Result<Vec<Result<Recorded, StoreError>>, StoreError> {
        let (open, mut new) = self.record_new(all).await?;
        // Whatever is not new beyond doubt, in the order of `all`. The number of a game that comes twice belongs to the
        // first; the other one finds it on disk.
        let mut recorded: Vec<_> = all
            .iter()
            .map(|(_, _, game)| new.remove(game).map(|id| Ok(Recorded::New(id))))
            .collect();
        let rest = all.iter().zip(&recorded);
        let rest = rest.filter(|(_, done)| done.is_none());
        let rest: Vec<&EndedGame> = rest.map(|(game, _)| game).collect();
        let tx = match open {
            None if !rest.is_empty() => Some(self.0.begin_alone().await?),
            open => open,
        };
        if let Some(mut tx) = tx {
            let written = insert_games(&mut tx, &rest).await?;
            self.0.commit(tx).await?;
            let open = recorded.iter_mut().filter(|done| done.is_none());
            for (done, own) in open.zip(written) {
                *done = Some(own);
            }
        }
        Ok(recorded.into_iter().flatten().collect())
    }

    /// Records those of these games that are new beyond doubt; on PostgreSQL beside other processes that do the same.
    /// Returns the transaction, if it is still open because it excludes all others, and the ids of the matches by the
    /// numbers of the games.
    async fn record_new(
        self,
        all: &[EndedGame],
    ) -> Result<(Option<Write>, HashMap<i64, i64>), StoreError> {
        let Backend::Postgres(server) = &self.0.backend else {
            let mut tx = self.0.begin_alone().await?;
            let new = insert_new_games(&mut tx, all).await?;
            return Ok((Some(tx), new));
        };
        let mut tx = server.begin_together(&self.0.metrics).await?;
        match insert_new_games(&mut tx, all).await {
            Ok(new) => {
                self.0.commit(tx).await?;
                Ok((None, new))
            }
            // Another process records one of them at this time.
            Err(error) if error.is_conflict() => {
                tx.abandon().await?;
                Ok((None, HashMap::new()))
            }
            Err(error) => Err(error),
        }
    }
}

/// The most games of one server, on one map and with the same players, that may begin within one
/// second.
const MAX_PER_SECOND: usize = 64;

/// Does what [`Matches::record_game`](crate::store::Matches::record_game) does for each of these games, within a transaction
/// that no other process records in. The results are in the order of `all`.
///
/// # Errors
/// Fails if the whole transaction must not be committed. A game that must not be recorded has an error of its own.
async fn insert_games(
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
async fn insert_game(
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
        && let Some(id) = logs::logged(tx, &record).await?
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
     humans BIGINT, bots BIGINT, record BYTEA, too_many_new TEXT, game BIGINT, day_later TEXT";
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
async fn insert_new_games(
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

/// A game that ends: its record, what was predicted of its teams, and its number.
type EndedGame = (MatchRecord, MatchChances, i64);
/// Games that end at the same time.
pub(in crate::store) type EndedGames = GroupCommit<EndedGame, Result<Recorded, StoreError>>;

/// What has become of a transaction for several writes.
pub(in crate::store) enum Attempt<R> {
    /// The result of each write.
    Done(Vec<R>),
    /// It has failed, and each write may succeed alone.
    Failed,
    /// It has failed, and so would all others: this makes the result of each write, also of those that wait.
    FailedForAll(Box<dyn Fn() -> R + Send>),
}

/// The most writes in one transaction.
const MOST: usize = 64;

/// Writes of one kind. Those that arrive while a transaction is under way wait, and go into the next one.
#[derive(Debug)]
pub(in crate::store) struct GroupCommit<T, R> {
    /// The writes that wait, each with the channel for its result.
    waiting: Mutex<Vec<(T, oneshot::Sender<R>)>>,
    /// Held while a transaction is under way.
    turn: Turn<()>,
}

impl<T, R> Default for GroupCommit<T, R> {
    fn default() -> Self {
        Self {
            waiting: Mutex::default(),
            turn: Turn::default(),
        }
    }
}

impl<T, R> GroupCommit<T, R> {
    /// Makes a write, together with those that other callers make at this time. One of the callers makes the
    /// transaction for all of them with its own `write`, which returns the results in the same order.
    ///
    /// Whoever waits while a transaction finds that none can succeed now gets its result at once: otherwise one after
    /// the other would wait as long for the same lock.
    ///
    /// Returns `None` if that transaction fails as a whole, or if the caller that makes it is dropped. As far as is
    /// known, nothing is written then; each caller should make its own write alone.
    pub async fn write<F>(&self, own: T, write: impl Fn(Vec<T>) -> F) -> Option<R>
    where
        F: Future<Output = Attempt<R>>,
    {
        let (answer, mut answered) = oneshot::channel();
        self.waiting.lock().push((own, answer));
        loop {
            // Whoever has an answer leaves, and whoever has made a transaction does not wait for the next one.
            let _turn = select! {
                biased;
                result = &mut answered => return result.ok(),
                turn = self.turn.lock() => turn,
            };
            match answered.try_recv() {
                Ok(result) => return Some(result),
                Err(oneshot::error::TryRecvError::Closed) => return None,
                Err(oneshot::error::TryRecvError::Empty) => {}
            }
            let (all, answers): (Vec<T>, Vec<_>) = {
                let mut waiting = self.waiting.lock();
                let count = waiting.len().min(MOST);
                waiting.drain(..count).unzip()
            };
            match write(all).await {
                Attempt::Done(results) => {
                    for (answer, result) in answers.into_iter().zip(results) {
                        let _ = answer.send(result);
                    }
                }
                Attempt::Failed => {}
                Attempt::FailedForAll(result) => {
                    let waiting = std::mem::take(&mut *self.waiting.lock());
                    let waiting = waiting.into_iter().map(|(_, answer)| answer);
                    for answer in answers.into_iter().chain(waiting) {
                        let _ = answer.send(result());
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::future::join_all;
    use tokio::task::yield_now;

    use super::*;

    /// Writes these numbers at the same time. Returns the result of each, and the numbers of each transaction. A
    /// transaction with a number above 1,000 fails; if it is above 9,000, so would all others.
    async fn written(numbers: impl Iterator<Item = u32>) -> (Vec<Option<u32>>, Vec<Vec<u32>>) {
        let (together, log) = (GroupCommit::default(), Mutex::new(Vec::new()));
        let write = async |all: Vec<u32>| {
            yield_now().await;
            log.lock().push(all.clone());
            match all.iter().max() {
                Some(9_001..) => Attempt::FailedForAll(Box::new(|| 0)),
                Some(1_001..) => Attempt::Failed,
                _ => Attempt::Done(all.iter().map(|number| number + 1).collect()),
            }
        };
        let calls = numbers.map(|number| together.write(number, &write));
        let results = join_all(calls).await;
        (results, log.into_inner())
    }

    #[tokio::test]
    async fn what_comes_meanwhile_is_one_transaction() {
        let (results, log) = written(0..200).await;
        assert!((0..200).all(|n| results[n as usize] == Some(n + 1)));
        let sizes: Vec<usize> = log.iter().map(Vec::len).collect();
        assert_eq!(sizes.iter().sum::<usize>(), 200);
        assert_eq!(sizes.iter().max(), Some(&MOST));
        assert!(sizes.len() <= 5, "{sizes:?}");
    }

    #[tokio::test]
    async fn who_makes_a_transaction_does_not_wait_for_the_next_one() {
        let together = Arc::new(GroupCommit::<u32, u32>::default());
        let write = |number: u32| {
            let together = together.clone();
            // The second transaction never ends.
            let write = async |all: Vec<u32>| match all[0] {
                1 => {
                    yield_now().await;
                    Attempt::Done(all)
                }
                _ => std::future::pending().await,
            };
            tokio::spawn(async move { together.write(number, write).await })
        };
        let (first, second) = (write(1), write(2));
        assert_eq!(first.await.unwrap(), Some(1));
        second.abort();
    }

    #[tokio::test]
    async fn who_was_in_a_transaction_that_failed_learns_it() {
        let (results, _) = written([1, 5_000, 2].into_iter()).await;
        assert_eq!(results[1], None);
        let (alone, _) = written([5_000].into_iter()).await;
        assert_eq!(alone, [None]);
    }

    #[tokio::test]
    async fn when_none_can_succeed_nobody_waits_for_another_try() {
        let (results, log) =
            written((0..200).map(|number| if number == 0 { 9_999 } else { number })).await;
        assert_eq!(results, [Some(0); 200]);
        assert_eq!(log, [[9_999]]);
    }

    #[tokio::test]
    async fn who_goes_away_takes_no_other_along() {
        let together = Arc::new(GroupCommit::<u32, u32>::default());
        let stuck = tokio::spawn({
            let together = together.clone();
            async move { together.write(1, |_| std::future::pending()).await }
        });
        while together.turn.try_lock().is_ok() {
            yield_now().await;
        }
        let other = tokio::spawn({
            let together = together.clone();
            async move { together.write(2, async |all| Attempt::Done(all)).await }
        });
        while together.waiting.lock().is_empty() {
            yield_now().await;
        }
        stuck.abort();
        assert_eq!(other.await.unwrap(), Some(2));
        assert!(stuck.await.unwrap_err().is_cancelled());
    }
}
