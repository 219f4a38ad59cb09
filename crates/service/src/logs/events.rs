//! The events of reading a file, for a caller that shows them.

use std::collections::BTreeMap;

use crate::{
    ingest::{LogItem, Skip},
    model::{MatchRecord, Timestamp, ident::Nobody},
};

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
