//! Converts the bytes of one log to items with dates.

use super::LogZone;
use crate::{
    ingest::{Context, Format, LogItem, Reader},
    model::{Fingerprint, MatchRecord, Timestamp},
};

/// A log being read.
///
/// In a log without dates, times count from its beginning. Its matches are held back until that
/// time is set; every match returned has its final dates.
pub struct Reading {
    format: &'static Format,
    /// The name that game types get for the game; empty leaves the log's own.
    game: String,
    reader: Reader,
    /// The time zone of dates that state none.
    zone: LogZone,
    /// When the last match of the log ended, if its dates state no time zone.
    last: Option<Timestamp>,
    begin: Option<Timestamp>,
    undated: Vec<MatchRecord>,
    items: Vec<LogItem>,
}

impl Reading {
    /// Starts to read a log of this format, written by this server. `begin` is when the log began, and
    /// `written` when its file was last written, if known.
    pub fn new(
        format: &'static Format,
        server: &str,
        begin: Option<Timestamp>,
        written: Option<Timestamp>,
    ) -> Self {
        let context = Context {
            server: server.to_owned(),
            verbose: false,
            written,
        };
        Self::with(format, &context, begin)
    }

    /// Like [`Reading::new`], in this context.
    pub(super) fn with(
        format: &'static Format,
        context: &Context,
        begin: Option<Timestamp>,
    ) -> Self {
        Self {
            format,
            game: String::new(),
            reader: Reader::new(format, context),
            zone: LogZone::default(),
            last: None,
            begin,
            undated: Vec::new(),
            items: Vec::new(),
        }
    }

    /// Gives the game this name in the types of all games, unless it is empty.
    #[must_use]
    pub fn of_game(mut self, game: &str) -> Self {
        game.clone_into(&mut self.game);
        self
    }

    /// Lets dates that state no time zone be in this one; otherwise they count as UTC.
    #[must_use]
    pub fn in_zone(mut self, zone: LogZone) -> Self {
        self.zone = zone;
        self
    }

    /// Whether the dates of the log state no time zone.
    pub fn is_local(&self) -> bool {
        self.reader.is_local()
    }

    /// The format of the log.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Takes the next bytes of the log and appends the items that they complete.
    pub fn feed(&mut self, chunk: &[u8], items: &mut Vec<LogItem>) {
        self.reader.feed(chunk, &mut self.items);
        self.date_items(items);
    }

    /// Drops an incomplete last line. The game being read continues in the next file.
    pub fn interrupt(&mut self) {
        self.reader.interrupt();
    }

    /// Whether matches are held back until [`set_begin`](Self::set_begin).
    pub fn needs_begin(&self) -> bool {
        !self.undated.is_empty()
    }

    /// The time that has passed on the log's own clock, in milliseconds.
    pub fn elapsed(&self) -> i64 {
        i64::try_from(self.reader.elapsed()).unwrap_or(0)
    }

    /// Sets the time at which the log began, and appends the matches that were held back for it.
    pub fn set_begin(&mut self, begin: Timestamp, items: &mut Vec<LogItem>) {
        self.begin = Some(begin);
        for record in std::mem::take(&mut self.undated) {
            items.push(dated(record, begin));
        }
    }

    /// Unsets when the log began: later matches are held back until it is set again.
    pub fn forget_begin(&mut self) {
        self.begin = None;
    }

    /// Ends the log and appends the last items. If the time at which the log began is not set, the
    /// log ends at `written`. Returns the time that passed on the log's own clock, in milliseconds.
    pub fn finish(mut self, written: Timestamp, items: &mut Vec<LogItem>) -> i64 {
        let reader = std::mem::replace(
            &mut self.reader,
            Reader::new(self.format, &Context::default()),
        );
        let elapsed = i64::try_from(reader.finish(&mut self.items)).unwrap_or(0);
        self.date_items(items);
        let begin = self.begin.unwrap_or(written.plus_millis(-elapsed));
        self.set_begin(begin, items);
        elapsed
    }

    fn date_items(&mut self, items: &mut Vec<LogItem>) {
        let zone =
            Some(&self.zone).filter(|zone| self.reader.is_local() && **zone != LogZone::default());
        for mut item in self.items.drain(..) {
            if let LogItem::Match(record) = &mut item
                && !self.game.is_empty()
                && self.format.names_games
            {
                record.game_type = renamed(&record.game_type, &self.game);
            }
            match (item, self.begin) {
                (LogItem::Match(record), begin) if record.clock.is_some() => match begin {
                    Some(begin) => items.push(dated(*record, begin)),
                    None => self.undated.push(*record),
                },
                (LogItem::Match(record), _) => items.push(match zone {
                    Some(zone) => moved(*record, zone, &mut self.last),
                    None => LogItem::Match(record),
                }),
                (item, _) => items.push(item),
            }
        }
    }
}

/// The game type with this name for the game, which is the part before the first dot.
fn renamed(game_type: &str, game: &str) -> String {
    match game_type.split_once('.') {
        Some((_, mode)) => format!("{game}.{mode}"),
        None => game.to_owned(),
    }
}

/// A match with the dates that follow from the beginning of its log.
fn dated(mut record: MatchRecord, begin: Timestamp) -> LogItem {
    record.start = record.start.plus_millis(begin.0);
    record.end = record.end.plus_millis(begin.0);
    LogItem::Match(Box::new(record))
}

/// A match with the instants that its dates stand for in a time zone, after the `last` one of its log. It is known by the
/// dates that the log states, so that it is the same match in whatever zone it is read.
fn moved(mut record: MatchRecord, zone: &LogZone, last: &mut Option<Timestamp>) -> LogItem {
    let fingerprint = Fingerprint::of(&record);
    let start = zone.instant(record.start, *last);
    record.end = start.plus_millis(record.end.0.saturating_sub(record.start.0));
    record.start = start;
    *last = Some(record.end);
    LogItem::Exported(Box::new(known(record.played())), fingerprint)
}

/// A record whose fingerprint was taken: it is stored beside it.
fn known(record: MatchRecord) -> MatchRecord {
    MatchRecord {
        logged_as: None,
        ..record
    }
}

/// The match in an item, if it is one, and the fingerprint to record it under. Unless the log names the client that has
/// brought the match, that is whoever reads it.
pub(super) fn into_match(item: LogItem, reader: &str) -> Option<(MatchRecord, Fingerprint)> {
    let (mut record, fingerprint) = match item {
        LogItem::Match(record) => {
            // The match is known by its log, also by what in it was waiting.
            let fingerprint = Fingerprint::of(&record);
            (known(record.played()), fingerprint)
        }
        LogItem::Exported(record, fingerprint) => (*record, fingerprint),
        LogItem::Skipped { .. }
        | LogItem::SharedId { .. }
        | LogItem::Unknown { .. }
        | LogItem::UnknownCount { .. }
        | LogItem::Repeated { .. }
        | LogItem::Malformed { .. } => return None,
    };
    if record.client.is_empty() {
        reader.clone_into(&mut record.client);
    }
    Some((record, fingerprint))
}
