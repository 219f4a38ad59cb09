//! Finished matches as JSON objects, one a line, in either of two dialects; a file may mix them.
//!
//! # The interchange format, version 1
//!
//! A complete match, as `evenkeel export` writes it. Records of games in any other form can be
//! converted to this format. Keys may come in any order. An object with a key that is not in this
//! list is refused, so that nothing is lost unnoticed.
//!
//! | key | type | meaning | when left out |
//! | --- | --- | --- | --- |
//! | `evenkeel` | 1 | the version of this format | the line is a row of a published history |
//! | `start` | date or number | when play began (after warm-up): `2026-11-20T15:14:28.5Z` (UTC unless it has an offset), or milliseconds since 1970 | required |
//! | `end` | date or number | when play ended | how long it lasted is not known: stays and events then count from the start of a match of 20 minutes |
//! | `game` | text | the game type as the game names it | required |
//! | `server` | text | the game server's name | as given on the command line |
//! | `client` | text | which client has brought the match: a game server, a client over HTTP, or `ingest` or `follow` | the command that reads the line |
//! | `map`, `mode` | text | the map; the league, region or playlist | empty |
//! | `clock` | number | if the log had no dates: its own clock when play began, in milliseconds; `start` is then an estimate | the dates are exact |
//! | `mutators` | list of texts | all active ones | none |
//! | `scores` | list of numbers | the final score of each team, 2 to 8 of them; `null` for each if they are not known | a game without teams |
//! | `outcome` | text | `won`, `draw`, `undecided` or `abandoned` | by the scores |
//! | `winner` | number | the team that won, from 0; only with `won` | by the scores |
//! | `players` | list of objects | the players, one entry per identity | no players |
//! | `events` | list of objects | score changes in time order | unknown |
//! | `fingerprint` | text | 32 hexadecimal digits that identify the match, of which only the time of play is stated; `export` writes them if they cannot be computed from the rest, because a player in it was forgotten or somebody waited for opponents | computed from the rest; time in which a team was empty is left out as waiting |
//!
//! A player:
//!
//! | key | type | meaning | when left out |
//! | --- | --- | --- | --- |
//! | `id` | text | a human's identity, or a bot's name | required |
//! | `bot` | true or false | whether the player is a bot | false |
//! | `name` | text | the last name the player had | the id |
//! | `team` | number | the team the player was on from start to end, from 0; instead of `stays` | `stays` applies |
//! | `stays` | list of objects | `team`, and `from` and `to` in milliseconds since the start of play, in time order | `team` applies; with neither, the player was there from start to end in a game without teams, and never played in one with teams |
//! | `points` | number | scoreboard points at the end | not known |
//! | `kills`, `deaths` | numbers | enemies killed; deaths of whatever cause | 0 |
//! | `roles` | list of objects | special roles, such as commander: `role` (text), `team`, `share` (0 to 1) | none |
//! | `party` | number | the number of the player's party, which only its members share | no party |
//! | `left` | text | why the player left before the end: `left`, `kicked`, `timeout`, `moved` or `other` | the player stayed or came back, or the reason is unknown |
//!
//! An event: `at` (milliseconds since the start of play), `team`, `points` (by how much the score
//! changed), and, if it is known, `by`: the index in `players`, from 0, of the player who caused
//! it.
//!
//! # Published histories
//!
//! The file `history.rs` describes them: team games of which only lineup and outcome are published.
//!
//! # Identical lines
//!
//! A line with the same bytes as an earlier one is reported. It is dropped if it states a time of
//! day, because the same players cannot play two such matches at once. A published history whose
//! times are whole days may well contain two matches with the same players and result, so its
//! identical lines are kept.

mod history;
mod record;

pub use record::{read_record, read_reported, write_record};

use std::{
    borrow::Cow,
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use evenkeel_model::fingerprint::Fingerprint;

use crate::{
    Context, Format, LogItem, Skip,
    format::{DateZone, LogParser, shown},
    lines::LogLine,
};

use history::HistoryClock;

/// The longest line, in bytes: a match with as many players and events as a record may have fits.
const MAX_LINE: usize = 32 * 1024 * 1024;

/// The format's entry in the registry.
pub(super) const FORMAT: Format = Format {
    name: "jsonl",
    detect,
    is_beneath: None,
    parser: |context| Box::new(JsonlParser::new(context)),
    max_line: MAX_LINE,
    unknown: |_| None,
    finds_repeats: true,
    names_games: false,
    dates: DateZone::Stated,
    in_halves: false,
};

fn detect(head: &[u8]) -> bool {
    let is_row = |line: &[u8]| {
        let trimmed = line.trim_ascii();
        let known = || has(trimmed, b"\"teams\":") || is_record(trimmed);
        (!trimmed.is_empty()).then(|| trimmed.starts_with(b"{\"") && known())
    };
    super::format::mostly(head, is_row)
}

/// Whether an object is of the interchange format.
fn is_record(line: &[u8]) -> bool {
    has(line, b"\"evenkeel\":")
}

fn has(line: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(line, word).is_some()
}

struct JsonlParser {
    server: String,
    history: HistoryClock,
    repeats: Repeats,
}

impl JsonlParser {
    fn new(context: &Context) -> Self {
        Self {
            server: context.server.clone(),
            history: HistoryClock::default(),
            repeats: Repeats::default(),
        }
    }

    fn item(&mut self, line: LogLine<'_>) -> Result<LogItem, Cow<'static, str>> {
        let (record, stated, has_stays) = match is_record(line.bytes) {
            true => {
                let (record, stated) = record::read(line.bytes, &self.server)?;
                (record, stated, true)
            }
            false => (self.history.read(line.bytes, &self.server)?, None, false),
        };
        if let Err(why) = record.check() {
            return Ok(LogItem::skipped(line.number, Skip::Impossible(why)));
        }
        let own = Fingerprint::of(&record);
        Ok(match stated {
            Some(stated) => LogItem::Exported(Box::new(record), stated),
            // A share does not say when somebody was there.
            None if !has_stays => LogItem::Exported(Box::new(record), own),
            // The dates were estimated when the match was first stored, and must not change.
            None if record.clock.is_some() => LogItem::Exported(Box::new(record.played()), own),
            None => LogItem::Match(Box::new(record)),
        })
    }
}

impl LogParser for JsonlParser {
    fn line(&mut self, line: LogLine<'_>, items: &mut Vec<LogItem>) {
        if line.bytes.trim_ascii().is_empty() {
            return;
        }
        let line_number = line.number;
        let bytes = line.bytes.trim_ascii();
        if let Some(first) = self.repeats.first(bytes, line_number) {
            let dropped = is_record(bytes) || history::has_time_of_day(bytes);
            items.push(LogItem::Repeated {
                line: line_number,
                first,
                dropped,
            });
            if dropped {
                return;
            }
        }
        items.push(self.item(line).unwrap_or_else(|why| LogItem::Malformed {
            text: shown(line.bytes),
            line: line_number,
            why,
        }));
    }

    fn finish(&mut self, _: &mut Vec<LogItem>) {}

    fn elapsed(&self) -> u64 {
        0 // every match has its dates
    }
}

/// The most lines that are remembered; each takes some 40 bytes. In a file with more lines, only
/// lines within one part of this length are compared.
const MAX_LINES: usize = 1 << 20;

/// The lines of a file so far, each as a hash with its number.
#[derive(Default)]
struct Repeats {
    lines: BTreeMap<u64, u64>,
}

impl Repeats {
    /// Remembers a line, and returns the number of the first line with the same bytes, if there was
    /// one.
    fn first(&mut self, bytes: &[u8], number: u64) -> Option<u64> {
        let mut hash = DefaultHasher::new();
        bytes.hash(&mut hash);
        if self.lines.len() >= MAX_LINES {
            self.lines.clear();
        }
        let first = *self.lines.entry(hash.finish()).or_insert(number);
        (first != number).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_known_by_its_look() {
        assert!(detect(b"{\"t\":1,\"game\":\"g\",\"teams\":[[],[]]}\n"));
        assert!(detect(b"{\"game\":\"g\",\"evenkeel\":1,\"players\":["));
        assert!(!detect(b"{\"t\":1}\n") && !detect(b"  0:00 InitGame: \\x\\y\n"));
    }
}
