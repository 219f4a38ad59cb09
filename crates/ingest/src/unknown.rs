//! Lines whose events a parser does not know, for `--verbose`.
//!
//! A parser ignores events that no record needs. Here is, for each format, which of those are known to
//! be needless; any other may be what a log has and this program does not understand.

use std::collections::BTreeMap;

use super::{
    item::{LogItem, shown},
    lines::LogLine,
};

/// The most lines of one kind that are shown.
const SHOWN: u64 = 3;
/// The most kinds that are counted apart; further ones count as one.
const MAX_KINDS: usize = 100;
/// What the further kinds are called.
const OTHERS: &str = "others";

/// Counts the lines of one log that were not understood, by kind.
pub(super) struct UnknownLines {
    /// [`Format::unknown`](super::Format::unknown).
    kind_of: fn(&[u8]) -> Option<&[u8]>,
    counts: BTreeMap<String, u64>,
}

impl UnknownLines {
    /// Counts lines whose kinds this function returns.
    pub(super) fn new(kind_of: fn(&[u8]) -> Option<&[u8]>) -> Self {
        Self {
            kind_of,
            counts: BTreeMap::new(),
        }
    }

    /// Counts a line if it was not understood, and appends it to the items if it is one of the first
    /// of its kind.
    pub(super) fn note(&mut self, line: LogLine<'_>, items: &mut Vec<LogItem>) {
        let Some(kind) = (self.kind_of)(line.bytes).map(shown) else {
            return;
        };
        let kind = match self.counts.len() < MAX_KINDS || self.counts.contains_key(&kind) {
            true => kind,
            false => OTHERS.to_owned(),
        };
        let count = self.counts.entry(kind.clone()).or_default();
        *count += 1;
        if *count <= SHOWN {
            items.push(LogItem::Unknown {
                line: line.number,
                kind,
                text: shown(line.bytes),
            });
        }
    }

    /// Appends the kinds of which more lines were found than appended.
    pub(super) fn finish(&mut self, items: &mut Vec<LogItem>) {
        for (kind, count) in std::mem::take(&mut self.counts) {
            if count > SHOWN {
                items.push(LogItem::UnknownCount { kind, count });
            }
        }
    }
}

/// The kind of an event: its words up to the first value. `None` if it begins with one of `known`.
pub(super) fn kind_of<'a>(event: &'a [u8], known: &[&str]) -> Option<&'a [u8]> {
    if event.is_empty()
        || known
            .iter()
            .any(|known| event.starts_with(known.as_bytes()))
    {
        return None;
    }
    let is_value = |b: &u8| b.is_ascii_digit() || b"\"[(<:$\t".contains(b);
    let end = event.iter().skip(1).position(is_value);
    let kind = end.map_or(event, |end| &event[..=end]);
    Some(kind.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_the_words_before_the_first_value() {
        let kind = |event: &'static str| kind_of(event.as_bytes(), &["say", "threw "]);
        assert_eq!(kind("blinded for 0.13 by \"x\""), Some(&b"blinded for"[..]));
        assert_eq!(kind("[META] (debug:1) x"), Some(&b"[META]"[..]));
        assert_eq!(
            (kind("say \"x\""), kind("threw decoy [1 2]"), kind("")),
            (None, None, None)
        );
    }

    #[test]
    fn a_hostile_log_has_a_bounded_number_of_items() {
        let mut lines = UnknownLines::new(|line| Some(line));
        let mut items = Vec::new();
        for number in 0..10_000u32 {
            let kind: String = number
                .to_string()
                .bytes()
                .map(|b| char::from(b + 50))
                .collect();
            let line = LogLine {
                number: 1,
                bytes: kind.as_bytes(),
                whole: true,
                stamp: None,
            };
            lines.note(line, &mut items);
        }
        lines.finish(&mut items);
        assert!(
            items.len() <= (MAX_KINDS + 1) * (SHOWN as usize + 1),
            "{}",
            items.len()
        );
        let last = LogItem::UnknownCount {
            kind: OTHERS.to_owned(),
            count: 10_000 - MAX_KINDS as u64,
        };
        assert!(items.contains(&last));
    }
}
