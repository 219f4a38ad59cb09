//! What becomes of a followed file: its bytes go into the archive, its matches into the database.

use std::{io, time::SystemTime};

use super::{FollowStage, FollowedFile};
use crate::{
    ingest::{LogItem, Skip},
    logs::{
        LogError, LogOrigin, events::nobodies, folder::successor, follow::requests::Requests,
        reading::into_match, timestamp,
    },
    model::MatchRecord,
};

/// The client of the matches that are read from followed logs.
const FOLLOW: &str = "follow";

impl FollowedFile {
    /// Archives the part that was read, if there is an archive, and records its matches before that.
    pub fn archive(&mut self, requests: &Requests) -> Result<(), LogError> {
        self.record(requests)?;
        let Some(spool) = self.spool.take() else {
            return Ok(());
        };
        let ids = std::mem::take(&mut self.ids);
        if self.format.is_none() || spool.is_empty() {
            return Ok(());
        }
        let written = self.tail.written().map_or(self.written, timestamp);
        let archived = spool
            .commit(written)
            .map_err(LogError::file(self.tail.path()))?;
        requests.link(archived, ids)
    }

    /// Compresses bytes for the archive. If that fails, reading continues without the archive until
    /// the next start.
    pub(super) fn spool(&mut self, bytes: &[u8]) {
        let Some(archive) = &self.archive else {
            return;
        };
        let spooled = match &mut self.spool {
            Some(spool) => spool.write(bytes),
            None => archive.begin(self.origin()).and_then(|mut spool| {
                spool.write(bytes)?;
                self.spool = Some(spool);
                Ok(())
            }),
        };
        self.check_spool(spooled);
    }

    fn check_spool(&mut self, spooled: io::Result<()>) {
        if let Err(error) = spooled {
            let path = self.tail.path().display();
            tracing::warn!(log = %path, %error, "cannot archive a log; following it without archiving it");
            (self.archive, self.spool) = (None, None);
        }
    }

    fn origin(&self) -> LogOrigin {
        LogOrigin {
            server: self.follow.server.clone(),
            client: FOLLOW.to_owned(),
            game: self.follow.game.clone(),
            format: self.follow.format.map(|format| format.name.to_owned()),
            time_zone: Some(self.follow.zone().name().to_owned()),
            began: None,
        }
    }

    /// Sends a request to record the matches found so far. Those that cannot be recorded stay in
    /// `matches`.
    pub(super) fn record(&mut self, requests: &Requests) -> Result<(), LogError> {
        self.take_items();
        let Some(format) = self.format.filter(|_| !self.matches.is_empty()) else {
            return Ok(());
        };
        // Flush first, so that the log of a recorded match is in the archive even if this process
        // is killed.
        if let Some(spool) = &mut self.spool {
            let flushed = spool.flush();
            self.check_spool(flushed);
        }
        let matches = std::mem::take(&mut self.matches);
        let recording = requests.record(self.tail.path(), format, matches)?;
        self.ids
            .extend(recording.recorded.iter().map(|one| one.id()));
        self.matches = recording.left;
        recording.error.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Moves the matches among the items found so far to `matches`.
    pub(super) fn take_items(&mut self) {
        for item in std::mem::take(&mut self.items) {
            self.log_item(&item);
            let found = into_match(item, FOLLOW);
            if let Some((record, _)) = &found {
                self.check_dates(record);
            }
            self.matches.extend(found);
        }
    }

    /// Says once in which time zone the dates of the log count if it states none, and warns once of a match that would have
    /// ended in the future.
    fn check_dates(&mut self, record: &MatchRecord) {
        let is_local = match &self.stage {
            FollowStage::Reading(reading) => reading.is_local() && record.clock.is_none(),
            _ => false,
        };
        let path = self.tail.path().display();
        if is_local && self.follow.zone.is_none() && !std::mem::replace(&mut self.told_zone, true) {
            tracing::info!(log = %path, zone = self.follow.zone().name(), "the dates of the log state no time zone and count in the one of this machine; time_zone in its [[follow]] section sets another");
        }
        let now = timestamp(SystemTime::now());
        if record.end.is_ahead_of(now) && !std::mem::replace(&mut self.told_future, true) {
            let minutes = record.end.0.saturating_sub(now.0) / 60_000;
            tracing::warn!(log = %path, minutes, zone = self.follow.zone().name(), "a match of the log ended in the future: the log is in another time zone, which time_zone in its [[follow]] section sets (--time-zone of ingest and follow)");
        }
    }

    /// Logs an item that is not a match.
    fn log_item(&self, item: &LogItem) {
        let path = self.tail.path().display();
        match item {
            LogItem::Repeated {
                line,
                first,
                dropped,
            } => {
                tracing::debug!(log = %path, line, first, dropped, "the line is the same as an earlier one");
            }
            LogItem::Malformed { line, why, text } => {
                tracing::debug!(log = %path, line, why = %why, text, "malformed line");
            }
            LogItem::SharedId { line, id, players } => {
                tracing::info!(log = %path, line, id, players, "several players have one id; their names are their ids in this match");
            }
            LogItem::Skipped {
                line,
                last,
                reason: Skip::Unfinished,
            } if successor(self.tail.path()).is_some() => {
                tracing::debug!(log = %path, line, last, "a game goes on in the next log");
            }
            LogItem::Skipped { line, last, reason } => {
                tracing::info!(log = %path, line, last, %reason, "skipped a game");
            }
            LogItem::Match(record) | LogItem::Exported(record, _) => {
                for ((id, why), players) in nobodies(record) {
                    tracing::info!(log = %path, id, ?why, players, "an identity is nobody's in a match, which does not count for who had it");
                }
            }
            LogItem::Unknown { .. } | LogItem::UnknownCount { .. } => {}
        }
    }
}
