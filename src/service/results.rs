//! How games end: by END, by the next GAME, or with the connection.
//!
//! A game whose connection ended waits for its server to come back, for the grace that is
//! configured. One that goes no further is kept as abandoned, which is never rated.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    Service, ServiceError, Session,
    table::{Table, draw_game},
};
use crate::{
    domain::{MatchRecord, Outcome, Timestamp, Verdict},
    history,
    lobby::{Finished, LobbyError},
    store::Recorded,
};

/// Games of different servers that wait at once; the one that has waited longest gives way.
const MAX_WAITING: usize = 256;
/// Games of one server, on one map and with the same people, that may begin within one second.
const MAX_PER_SECOND: usize = 64;

/// What END is answered: the match is on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Under this id.
    pub id: i64,
    /// Why it is not rated, where it isn't.
    pub unrated: Option<&'static str>,
}

/// Games whose connection has ended, by server, and since when, in milliseconds of the clock.
#[derive(Debug, Default)]
pub(super) struct Waiting(Mutex<BTreeMap<String, (u64, Table)>>);

impl Waiting {
    /// Leaves a game here. What it pushes out is returned, with its server.
    fn put(&self, server: &str, table: Table, now: u64) -> Vec<(String, Table)> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = Vec::new();
        if let Some((_, other)) = waiting.insert(server.to_owned(), (now, table)) {
            out.push((server.to_owned(), other));
        }
        if waiting.len() > MAX_WAITING {
            let oldest = waiting.iter().min_by_key(|(_, (since, _))| *since);
            let oldest = oldest.map(|(server, _)| server.clone());
            out.extend(oldest.and_then(|server| {
                let (_, table) = waiting.remove(&server)?;
                Some((server, table))
            }));
        }
        out
    }

    /// The game of this server, unless it has waited since before `earliest`.
    fn take(&self, server: &str, earliest: u64) -> Option<Table> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, _) = waiting.get(server)?;
        if *since < earliest {
            return None;
        }
        waiting.remove(server).map(|(_, table)| table)
    }

    /// All games that have waited since before `earliest`.
    fn expired(&self, earliest: u64) -> Vec<(String, Table)> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let late = waiting.extract_if(.., |_, (since, _)| *since < earliest);
        late.map(|(server, (_, table))| (server, table)).collect()
    }
}

impl Session {
    /// The game is over and on disk. Said again, on this connection or on the next one of the same
    /// server, it is answered the same.
    ///
    /// # Errors
    /// No game, no such team, play has not begun, what was told makes no record, or the database's:
    /// then it can be said again.
    pub async fn end(&mut self, verdict: Verdict) -> Result<Ended, ServiceError> {
        let server = self.server.clone();
        if self.lobby().game().is_err() {
            // Perhaps the daemon was gone, too, before its answer arrived.
            return match server {
                Some(server) => self.service.ended_lately(&server).await,
                None => Err(LobbyError::NoGame.into()),
            };
        }
        if let Some(ended) = &self.table.ended {
            return Ok(ended.clone()); // said again
        }
        let frame = self.table.frame(server.as_deref());
        let before = self.table.lobby.clone();
        let finished = self.lobby().end(verdict, &frame)?;
        let ended = match self.service.keep(finished).await {
            Ok(ended) => ended,
            Err(error) => {
                // A command that failed changed nothing: the game goes on, and can end otherwise.
                self.table.lobby = before;
                return Err(error);
            }
        };
        tracing::info!(
            match_id = ended.id,
            server = server.as_deref().unwrap_or(""),
            unrated = ended.unrated.unwrap_or("no"),
            "a game has ended"
        );
        self.service.journal.became(self.table.game, ended.id);
        self.table.game = draw_game();
        self.table.ended = Some(ended.clone());
        if let Err(error) = self.service.write_down().await {
            tracing::warn!(%error, "the decisions of a game are not written yet");
        }
        Ok(ended)
    }

    /// The connection is gone. The game waits for the next one, if the server has a name and the
    /// daemon goes on.
    pub fn close(&mut self, goes_on: bool) {
        let table = std::mem::replace(&mut self.table, Table::new(&self.service));
        self.leave_table(table, goes_on);
        self.presence.end();
    }

    fn leave_table(&self, table: Table, goes_on: bool) {
        if table.lobby.game().is_err() {
            return;
        }
        match &self.server {
            Some(server) if goes_on => {
                let now = self.service.clock.millis();
                for (server, table) in self.service.waiting.put(server, table, now) {
                    self.service.give_up(&table, Some(&server));
                }
            }
            server => self.service.give_up(&table, server.as_deref()),
        }
    }

    /// Goes on with the game that this server's last connection left. Whether there was one.
    pub(super) fn take_up(&mut self) -> bool {
        let Some(server) = &self.server else {
            return false;
        };
        let earliest = self.service.resumable_since();
        let Some(table) = self.service.waiting.take(server, earliest) else {
            return false;
        };
        tracing::info!(server, "a game goes on after its connection ended");
        self.table = table;
        true
    }

    /// What was running gives way to a new game.
    pub(super) fn give_way(&mut self) {
        let server = self.server.as_deref();
        let left = server.and_then(|server| self.service.waiting.take(server, 0));
        for table in left.iter().chain([&self.table]) {
            self.service.give_up(table, server);
        }
    }
}

impl Service {
    /// Games that have waited longer than the grace are kept as abandoned.
    pub(super) fn sweep(&self) {
        for (server, table) in self.waiting.expired(self.resumable_since()) {
            self.give_up(&table, Some(&server));
        }
    }

    /// The daemon stops: no game waits any longer, and all that is to be written is.
    ///
    /// # Errors
    /// The database's.
    pub async fn settle(self: &Arc<Self>) -> Result<(), ServiceError> {
        for (server, table) in self.waiting.expired(u64::MAX) {
            self.give_up(&table, Some(&server));
        }
        self.write_down().await
    }

    /// Notes a game that goes no further, to be written soon.
    fn give_up(&self, table: &Table, server: Option<&str>) {
        if let Some(finished) = table.abandoned(server) {
            self.journal.abandon(finished.record, table.game);
        }
    }

    /// Writes a finished game, and has it learned from.
    pub(super) async fn keep(&self, finished: Finished) -> Result<Ended, ServiceError> {
        let mut record = finished.record;
        if finished.cut {
            // Part of it is missing: no rating can be made of that.
            record.outcome = Outcome::Abandoned;
        }
        let rules = &self.settings.history.rules;
        let unrated = history::unrated(&record, &self.rulebook, rules);
        let id = self.put(record).await?;
        self.journal.learn();
        Ok(Ended {
            id,
            unrated: unrated.map(|why| why.as_str()),
        })
    }

    /// Puts a match on disk, once: the same server, instant of START and game type is the same game.
    /// Another game that a fingerprint cannot tell from it, since it began within the same second,
    /// is put a second later.
    pub(super) async fn put(&self, mut record: MatchRecord) -> Result<i64, ServiceError> {
        for _ in 0..MAX_PER_SECOND {
            let id = match self.store.record(&record).await? {
                Recorded::New(id) => return Ok(id),
                Recorded::Duplicate(id) => id,
            };
            let known = self.store.start_of(id).await?;
            if known.is_some_and(|known| known == (record.start, record.game_type.clone())) {
                return Ok(id);
            }
            record.start = record.start.plus_millis(1_000);
            record.end = record.end.plus_millis(1_000);
        }
        Err(ServiceError::NotAllowed("too many games within a second"))
    }

    /// The game that END was last said of by this server, if that is not long ago.
    async fn ended_lately(&self, server: &str) -> Result<Ended, ServiceError> {
        let grace = i64::try_from(self.settings.resume_grace).unwrap_or(i64::MAX);
        let since = Timestamp(self.clock.now().0.saturating_sub(grace));
        let last = self.store.last_of(server, since).await?;
        let stored = last.ok_or(LobbyError::NoGame)?;
        if stored.record.outcome == Outcome::Abandoned {
            return Err(LobbyError::NoGame.into());
        }
        let rules = &self.settings.history.rules;
        let unrated = history::unrated(&stored.record, &self.rulebook, rules);
        Ok(Ended {
            id: stored.id,
            unrated: unrated.map(|why| why.as_str()),
        })
    }

    /// The millisecond before which a game left has waited too long.
    fn resumable_since(&self) -> u64 {
        let grace = self.settings.resume_grace;
        self.clock.millis().saturating_sub(grace)
    }
}

/// However a session ends, its game is kept.
impl Drop for Session {
    fn drop(&mut self) {
        self.close(false);
    }
}
