//! Converts the bytes of one log to items with dates, and tells a caller that shows progress what was noticed meanwhile.
//! Dates that state no time zone are in the one that the caller names, or count as UTC.

use std::collections::BTreeMap;

use jiff::{civil, tz::TimeZone};

use crate::{
    ingest::{Context, Format, LogItem, Reader, Skip},
    model::{MatchRecord, Timestamp, fingerprint::Fingerprint, ident::Nobody},
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

/// A time zone, with the name by which it is chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct LogZone {
    name: String,
    zone: TimeZone,
}

impl Default for LogZone {
    fn default() -> Self {
        Self {
            name: "UTC".to_owned(),
            zone: TimeZone::UTC,
        }
    }
}

impl LogZone {
    /// The time zone of this machine.
    pub fn of_machine() -> Self {
        let zone = TimeZone::system();
        let name = zone.iana_name().unwrap_or("local").to_owned();
        Self { name, zone }
    }

    /// The time zone of this name, such as `Europe/Berlin`, `UTC`, `+10:00` or `local`, which is the machine's.
    ///
    /// # Errors
    /// Returns what is wrong with the name.
    pub fn named(name: &str) -> Result<Self, String> {
        let zone = match name {
            "local" => return Ok(Self::of_machine()),
            "UTC" | "Z" => return Ok(Self::default()),
            _ => of_offset(name).or_else(|| TimeZone::get(name).ok()),
        };
        let wrong = || {
            format!(
                "no time zone is called {name} here: expected a name such as Europe/Berlin, +10:00, UTC or local"
            )
        };
        Ok(Self {
            name: name.to_owned(),
            zone: zone.ok_or_else(wrong)?,
        })
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The instant at which a clock in this time zone shows what `printed` is in UTC. Of an hour that comes twice, the first
    /// one, unless that is before `after` and the second one is not; one that is left out counts as the next one.
    pub(super) fn instant(&self, printed: Timestamp, after: Option<Timestamp>) -> Timestamp {
        let shown = jiff::Timestamp::from_millisecond(printed.0).ok();
        let shown: Option<civil::DateTime> = shown.map(|at| TimeZone::UTC.to_datetime(at));
        let ambiguous = shown.map(|shown| self.zone.to_ambiguous_timestamp(shown));
        let millis = |at: jiff::Timestamp| Timestamp(at.as_millisecond());
        let first = ambiguous.and_then(|at| at.compatible().ok()).map(millis);
        let second = ambiguous.and_then(|at| at.later().ok()).map(millis);
        match (first, second, after) {
            (Some(first), Some(second), Some(after)) if first < after && after <= second => second,
            _ => first.unwrap_or(printed),
        }
    }
}

/// The time zone that is always this far ahead of UTC: `+10`, `-03:30`, `+5:30` or `+1000`.
fn of_offset(name: &str) -> Option<TimeZone> {
    let (sign, rest) = match name.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = match (rest.split_once(':'), rest.len()) {
        (Some((hours, minutes)), _) if minutes.len() == 2 => (hours, minutes),
        (None, 4) => rest.split_at_checked(2)?,
        (None, _) => (rest, "00"),
        _ => return None,
    };
    let number = |digits: &str| {
        let is_plain = matches!(digits.len(), 1 | 2) && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse::<i32>().ok().filter(|_| is_plain)
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let fits = hours <= 14 && minutes < 60;
    let seconds = sign * (hours * 3_600 + minutes * 60);
    let offset = jiff::tz::Offset::from_seconds(seconds).ok();
    offset.filter(|_| fits).map(TimeZone::fixed)
}

/// The most malformed lines of a file that are reported one by one, and the most identical ones.
const MAX_REPORTED: u64 = 10;

/// An event while a file is read, for a caller that shows progress.
#[derive(Debug)]
pub enum IngestEvent<'a> {
    /// This many bytes of the file have been read.
    Bytes(u64),
    /// A line does not follow the format.
    Malformed {
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        why: &'a str,
        /// The beginning of the line, readable on a terminal.
        text: &'a str,
    },
    /// This many more lines do not follow the format.
    MoreMalformed(u64),
    /// A line has the same bytes as an earlier one.
    Repeated {
        /// The number of the line, from 1.
        line: u64,
        /// The number of the earlier line.
        first: u64,
        /// Whether the line is dropped.
        dropped: bool,
    },
    /// This many more lines have the same bytes as an earlier one.
    MoreRepeated(u64),
    /// This many matches come after one that ended later. Only
    /// [`read_matches`](super::read_matches) reports this; it sorts the matches.
    OutOfOrder(u64),
    /// A line follows the format, but its event is not known.
    Unknown {
        /// The number of the line, from 1.
        line: u64,
        /// The kind of event.
        kind: &'a str,
        /// The beginning of the line, readable on a terminal.
        text: &'a str,
    },
    /// So many lines have events of this kind, which is not known.
    UnknownCount {
        /// The kind of event.
        kind: &'a str,
        /// The number of its lines, with those that were reported one by one.
        count: u64,
    },
    /// Several players of a match had the same id at the same time; they have their names for ids.
    SharedId {
        /// The line on which the game begins.
        line: u64,
        /// The id.
        id: &'a str,
        /// How many players had it.
        players: usize,
    },
    /// A game makes no match.
    Skipped {
        /// The line on which the game begins.
        line: u64,
        /// The last line of the game.
        last: u64,
        /// Why it makes no match.
        reason: &'a Skip,
    },
    /// In a match, an identity was nobody's: the players who had it are not rated.
    Nobody {
        /// When the match began.
        start: Timestamp,
        /// The identity as the log has it.
        id: &'a str,
        /// Why it is nobody's.
        why: Nobody,
        /// How many players had it.
        players: usize,
    },
    /// This many more times an identity was nobody's.
    MoreNobody(u64),
    /// The dates of this log and of further ones state no time zone, and none was given: they count as UTC.
    NoZone,
    /// A match would end in the future.
    InFuture {
        /// When the match began.
        start: Timestamp,
        /// How many minutes from now it would end.
        minutes: i64,
        /// Whether the log states its dates without their time zone.
        is_local: bool,
    },
    /// No game was found in the file, which has the format of this name.
    NoGame(&'static str),
    /// This many more games are of a game that is not supported.
    MoreUnsupported(u64),
}

/// Reports the lines of one file that make no match: the first ones one by one, the rest as a number.
#[derive(Default)]
pub(super) struct LineReports {
    /// Whether all malformed lines are reported one by one.
    verbose: bool,
    /// Number of malformed lines so far.
    pub(super) malformed: u64,
    repeated: u64,
    nobody: u64,
    /// The game of the last games that are not supported.
    unsupported: Option<String>,
    /// Number of games that are not supported and were not reported one by one.
    more_unsupported: u64,
}

impl LineReports {
    /// Reports for one file; with `verbose`, all malformed lines one by one.
    pub(super) fn new(verbose: bool) -> Self {
        Self {
            verbose,
            ..Self::default()
        }
    }

    /// Reports an item that is not a match, up to [`MAX_REPORTED`] of each kind.
    pub(super) fn item(&mut self, item: &LogItem, on_event: &mut impl FnMut(IngestEvent<'_>)) {
        match *item {
            LogItem::Malformed {
                line,
                ref why,
                ref text,
            } => {
                self.malformed += 1;
                if self.verbose || self.malformed <= MAX_REPORTED {
                    on_event(IngestEvent::Malformed { line, why, text });
                }
            }
            LogItem::SharedId {
                line,
                ref id,
                players,
            } => on_event(IngestEvent::SharedId { line, id, players }),
            LogItem::Repeated {
                line,
                first,
                dropped,
            } => {
                self.repeated += 1;
                if self.repeated <= MAX_REPORTED {
                    on_event(IngestEvent::Repeated {
                        line,
                        first,
                        dropped,
                    });
                }
            }
            LogItem::Skipped {
                line,
                last,
                ref reason,
            } => {
                if self.is_news(reason) {
                    on_event(IngestEvent::Skipped { line, last, reason });
                }
            }
            LogItem::Unknown {
                line,
                ref kind,
                ref text,
            } => on_event(IngestEvent::Unknown { line, kind, text }),
            LogItem::UnknownCount { ref kind, count } => {
                on_event(IngestEvent::UnknownCount { kind, count });
            }
            LogItem::Match(ref record) | LogItem::Exported(ref record, _) => {
                self.nobody(record, on_event);
            }
        }
    }

    /// Reports the identities that are nobody's in a match.
    fn nobody(&mut self, record: &MatchRecord, on_event: &mut impl FnMut(IngestEvent<'_>)) {
        for ((id, why), players) in nobodies(record) {
            self.nobody += 1;
            if self.nobody <= MAX_REPORTED {
                on_event(IngestEvent::Nobody {
                    start: record.start,
                    id: &id,
                    why,
                    players,
                });
            }
        }
    }

    /// Whether a skipped game is reported on its own: of a log of a game that is not supported, the first
    /// one says it all.
    fn is_news(&mut self, reason: &Skip) -> bool {
        let Skip::Unsupported(game) = reason else {
            return true;
        };
        let known = self.unsupported.as_ref() == Some(game);
        match known {
            true => self.more_unsupported += 1,
            false => self.unsupported = Some(game.clone()),
        }
        !known
    }

    /// Reports, at the end of the file, how many lines were not reported one by one.
    pub(super) fn finish(&self, on_event: &mut impl FnMut(IngestEvent<'_>)) {
        if self.malformed > MAX_REPORTED && !self.verbose {
            on_event(IngestEvent::MoreMalformed(self.malformed - MAX_REPORTED));
        }
        if self.repeated > MAX_REPORTED {
            on_event(IngestEvent::MoreRepeated(self.repeated - MAX_REPORTED));
        }
        if self.nobody > MAX_REPORTED {
            on_event(IngestEvent::MoreNobody(self.nobody - MAX_REPORTED));
        }
        if self.more_unsupported > 0 {
            on_event(IngestEvent::MoreUnsupported(self.more_unsupported));
        }
    }
}

/// The identities that are nobody's in a match, as its log has them, and how many players had each.
pub(super) fn nobodies(record: &MatchRecord) -> BTreeMap<(String, Nobody), usize> {
    let mut all = BTreeMap::new();
    for participant in &record.participants {
        if let (Some(why), Some(own)) = (participant.key.nobody(), participant.key.unsplit()) {
            *all.entry((own.id, why)).or_default() += 1;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(zone: &str, printed: &str) -> String {
        let zone = LogZone::named(zone).unwrap();
        zone.instant(Timestamp::parse(printed).unwrap(), None)
            .to_string()
    }

    #[test]
    fn an_hour_that_comes_twice_goes_on_after_what_came_before() {
        let Ok(zone) = LogZone::named("Europe/Berlin") else {
            return; // the machine has no time zones
        };
        let at = |text: &str| Timestamp::parse(text).unwrap();
        for (printed, after, instant) in [
            (
                "2026-10-25T02:20:00",
                "2026-10-25T00:10:00Z",
                "2026-10-25T00:20:00Z",
            ),
            (
                "2026-10-25T02:20:00",
                "2026-10-25T00:25:00Z",
                "2026-10-25T01:20:00Z",
            ),
            (
                "2026-10-25T02:20:00",
                "2026-10-25T09:00:00Z",
                "2026-10-25T00:20:00Z",
            ),
            (
                "2026-10-25T04:00:00",
                "2026-10-25T09:00:00Z",
                "2026-10-25T03:00:00Z",
            ),
            (
                "2026-03-29T02:30:00",
                "2026-03-29T00:00:00Z",
                "2026-03-29T01:30:00Z",
            ),
        ] {
            assert_eq!(zone.instant(at(printed), Some(at(after))), at(instant));
        }
    }

    #[test]
    fn local_times_of_offsets() {
        assert_eq!(
            instant("+10:00", "2026-11-29T15:41:09"),
            "2026-11-29T05:41:09Z"
        );
        assert_eq!(
            instant("-0330", "2026-11-29T23:00:00"),
            "2026-11-30T02:30:00Z"
        );
        assert_eq!(
            instant("+5:30", "2026-11-29T15:41:09"),
            "2026-11-29T10:11:09Z"
        );
        assert_eq!(
            instant("UTC", "2026-11-29T15:41:09"),
            "2026-11-29T15:41:09Z"
        );
    }

    #[test]
    fn names_that_are_no_zone() {
        for wrong in [
            "",
            "+",
            "+25",
            "+10:99",
            "+1:2:3:4:5",
            "+5:3",
            "+:30",
            "+105",
            "Nowhere/Else",
            "+1000000",
        ] {
            assert!(LogZone::named(wrong).is_err(), "{wrong}");
        }
    }
}
