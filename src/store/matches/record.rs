//! How match records are written.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use futures_util::FutureExt;

use super::{
    Matches,
    games::{self, insert_new_games},
    group_commit::{Attempt, EndedGame},
    halves,
    insert::{checked, insert_if_new, insert_matches},
};
use crate::{
    model::{Fingerprint, MatchChances, MatchRecord},
    store::{Backend, HalfRecorded, JoinHalves, Recorded, StoreError, db::*},
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
        let half = halves::insert_half(&mut tx, record, fingerprint, pause, join).await?;
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
    if !halves::any_reported(tx, all).await? {
        return insert_matches(tx, records).await;
    }
    let (mut finalised, mut rest) = (Vec::with_capacity(records.len()), Vec::new());
    for (record, fingerprint) in records {
        let one = halves::settle_logged(tx, record, *fingerprint).await?;
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
        let recorded = games::insert_game(&mut tx, game).await?;
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
            let written = games::insert_games(&mut tx, &rest).await?;
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
