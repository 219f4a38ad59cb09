//! A short form for the most frequent events of a game, and for reasons. As JSON, they would cost a
//! busy server several times as much time.
//!
//! An entry in this form is [`MARK`], followed by its millisecond and its event in the encoding of
//! postcard. All other entries are JSON, which never begins with the mark.

use std::borrow::Cow;

use serde::Deserialize;

use super::{Entry, JournalError, entry::TimedEntry};
use crate::{domain::Ident, lobby::Command};

/// The first byte of an entry in the short form.
const MARK: u8 = 0;

// The positions of the events in `BriefEntry`.
const KILL: u8 = 0;
const SCORE: u8 = 1;
const POINTS: u8 = 2;
const DEATH: u8 = 3;
const CLOCK: u8 = 4;
const REASONS: u8 = 5;

/// An event in play, or the reasons for a decision. An event contains only the texts of its players'
/// ids, so it can be used only if the game server sent the same bytes.
///
/// Entries are read through this type, and written by [`write`].
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
pub(super) enum BriefEntry<'a> {
    Kill {
        killer: &'a str,
        victim: &'a str,
    },
    Score {
        team: u8,
        points: f64,
        by: Option<&'a str>,
    },
    Points {
        id: &'a str,
        points: f64,
    },
    Death {
        id: &'a str,
    },
    Clock {
        left: u64,
    },
    Reasons {
        #[serde(borrow)]
        lines: Cow<'a, [String]>,
    },
}

/// Appends an entry in the short form, and returns whether it has one.
///
/// These are the bytes that postcard makes of [`BriefEntry`], written without going through serde: this runs
/// for every event of every game.
pub(super) fn write(at: u64, entry: &Entry<'_>, payload: &mut Vec<u8>) -> bool {
    match entry {
        Entry::Command(command) => write_command(at, command, payload).is_some(),
        Entry::Reasons(lines) => {
            write_reasons(at, lines, payload);
            true
        }
        _ => false,
    }
}

/// `None` if the command has no short form; nothing is appended then.
fn write_command(at: u64, command: &Command, payload: &mut Vec<u8>) -> Option<()> {
    match command {
        Command::Kill { killer, victim } => {
            let (killer, victim) = (plain(killer)?, plain(victim)?);
            begin(at, KILL, payload);
            text(killer, payload);
            text(victim, payload);
        }
        Command::Score { team, points, by } => {
            let by = match by {
                Some(by) => Some(plain(by)?),
                None => None,
            };
            begin(at, SCORE, payload);
            payload.push(*team);
            payload.extend_from_slice(&points.to_le_bytes());
            payload.push(u8::from(by.is_some()));
            if let Some(by) = by {
                text(by, payload);
            }
        }
        Command::Points { id, points } => {
            let id = plain(id)?;
            begin(at, POINTS, payload);
            text(id, payload);
            payload.extend_from_slice(&points.to_le_bytes());
        }
        Command::Death { id } => {
            let id = plain(id)?;
            begin(at, DEATH, payload);
            text(id, payload);
        }
        Command::Clock { left } => {
            begin(at, CLOCK, payload);
            number(*left, payload);
        }
        _ => return None,
    }
    Some(())
}

fn write_reasons(at: u64, lines: &[String], payload: &mut Vec<u8>) {
    begin(at, REASONS, payload);
    number(lines.len() as u64, payload);
    for line in lines {
        text(line, payload);
    }
}

fn begin(at: u64, variant: u8, payload: &mut Vec<u8>) {
    payload.push(MARK);
    number(at, payload);
    payload.push(variant);
}

/// Appends 7 bits per byte, the lowest first; a byte that another one follows has its highest bit set.
fn number(mut number: u64, payload: &mut Vec<u8>) {
    while number >= 0x80 {
        payload.push(number as u8 | 0x80);
        number >>= 7;
    }
    payload.push(number as u8);
}

/// Appends the length of a text, and its bytes.
fn text(text: &str, payload: &mut Vec<u8>) {
    number(text.len() as u64, payload);
    payload.extend_from_slice(text.as_bytes());
}

impl<'a> BriefEntry<'a> {
    /// The entry at the beginning of these bytes, and the bytes after it; `None` if it is not in
    /// the short form.
    pub(super) fn read<'e>(
        bytes: &'a [u8],
    ) -> Option<Result<(TimedEntry<'e>, &'a [u8]), JournalError>> {
        let bytes = bytes.strip_prefix(&[MARK])?;
        let read = postcard::take_from_bytes::<(u64, BriefEntry<'a>)>(bytes);
        let read = read
            .ok()
            .and_then(|((at, brief), rest)| Some(((at, brief.entry()?), rest)));
        Some(read.ok_or(JournalError::Unreadable))
    }

    /// The entry; `None` if it contains an infinite number or NaN, which JSON cannot express either.
    fn entry<'e>(self) -> Option<Entry<'e>> {
        let number = |number: f64| number.is_finite().then_some(number);
        let command = match self {
            Self::Kill { killer, victim } => Command::Kill {
                killer: Ident::from_text(killer),
                victim: Ident::from_text(victim),
            },
            Self::Score { team, points, by } => Command::Score {
                team,
                points: number(points)?,
                by: by.map(Ident::from_text),
            },
            Self::Points { id, points } => Command::Points {
                id: Ident::from_text(id),
                points: number(points)?,
            },
            Self::Death { id } => Command::Death {
                id: Ident::from_text(id),
            },
            Self::Clock { left } => Command::Clock { left },
            Self::Reasons { lines } => return Some(Entry::Reasons(Cow::Owned(lines.into_owned()))),
        };
        Some(Entry::Command(Cow::Owned(command)))
    }
}

/// The text of an identifier; `None` if the game server sent other bytes than the text.
fn plain(id: &Ident) -> Option<&str> {
    (id.raw() == id.text().as_bytes()).then(|| id.text())
}

#[cfg(test)]
mod tests;
