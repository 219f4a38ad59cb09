//! Reads the entries of version 0.2.0, whose games go on after an upgrade.
//!
//! They were JSON, except the most frequent events and the reasons: those were [`MARK`], followed by their millisecond
//! and a [`BriefEntry`] in the encoding of postcard.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Deserializer, Map, Value};

use super::{Entry, JournalError, entry::TimedEntry};
use crate::{
    domain::Ident,
    lobby::{Command, LastBalance},
};

/// The first byte of a brief entry. JSON never begins with it.
const MARK: u8 = 0;

/// An event whose players were sent as their texts are, or the reasons for a decision.
#[derive(Deserialize)]
enum BriefEntry<'a> {
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
        lines: Vec<String>,
    },
}

/// The entry at the beginning of these bytes, and the bytes after it.
///
/// # Errors
/// Fails if version 0.2.0 has not written such an entry.
pub(super) fn read(bytes: &[u8]) -> Result<(TimedEntry, &[u8]), JournalError> {
    let read = match bytes.strip_prefix(&[MARK]) {
        Some(brief) => read_brief(brief),
        None => read_json(bytes),
    };
    read.ok_or(JournalError::Unreadable)
}

fn read_brief(bytes: &[u8]) -> Option<(TimedEntry, &[u8])> {
    let ((at, brief), rest) = postcard::take_from_bytes::<(u64, BriefEntry<'_>)>(bytes).ok()?;
    let id = Ident::from_text;
    let command = match brief {
        BriefEntry::Kill { killer, victim } => Command::Kill {
            killer: id(killer),
            victim: id(victim),
        },
        BriefEntry::Score { team, points, by } => Command::Score {
            team,
            points,
            by: by.map(id),
        },
        BriefEntry::Points { id: who, points } => Command::Points {
            id: id(who),
            points,
        },
        BriefEntry::Death { id: who } => Command::Death { id: id(who) },
        BriefEntry::Clock { left } => Command::Clock { left },
        BriefEntry::Reasons { lines } => return Some(((at, Entry::Reasons(lines.into())), rest)),
    };
    Some(((at, Entry::Command(Cow::Owned(command))), rest))
}

fn read_json(bytes: &[u8]) -> Option<(TimedEntry, &[u8])> {
    let mut json = Deserializer::from_slice(bytes).into_iter::<Value>();
    let mut entry = json.next()?.ok()?;
    let rest = bytes.get(json.byte_offset()..)?;
    if let Some(Value::Object(game)) = entry.pointer_mut("/1/snapshot/lobby/game") {
        let recorder = recorder(game.remove("course")?)?;
        game.insert("recorder".to_owned(), recorder);
        let balanced = game.get_mut("balanced")?;
        if !balanced.is_null() {
            *balanced = last_balance(balanced.take())?;
        }
    }
    if let Some(balanced) = entry.pointer_mut("/1/command/balanced") {
        *balanced = last_balance(balanced.get_mut("problem")?.take())?;
    }
    Some((serde_json::from_value(entry).ok()?, rest))
}

/// What was recorded of a game: the part that logs have, too, was not apart.
fn recorder(course: Value) -> Option<Value> {
    let Value::Object(mut recorder) = course else {
        return None;
    };
    let mut play = Map::new();
    for (old, new) in [
        ("next", "next"),
        ("tracks", "players"),
        ("events", "events"),
        ("stays", "spans"),
        ("cut", "cut"),
    ] {
        play.insert(new.to_owned(), recorder.remove(old)?);
    }
    for player in play.get_mut("players")?.as_array_mut()? {
        let player = player.as_object_mut()?;
        let team = player.remove("seat")?;
        player.insert("current".to_owned(), team);
    }
    recorder.insert("play".to_owned(), play.into());
    Some(recorder.into())
}

/// Of the last BALANCE, the whole problem was stored.
fn last_balance(problem: Value) -> Option<Value> {
    let problem = serde_json::from_value(problem).ok()?;
    serde_json::to_value(LastBalance::of(&problem)).ok()
}

#[cfg(test)]
mod tests;
