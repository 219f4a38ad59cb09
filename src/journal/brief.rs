//! A short form for the most frequent events of a game, and for reasons. As JSON, they would cost a
//! busy server several times as much time.
//!
//! An entry in this form is [`MARK`], followed by its millisecond and its event in the encoding of
//! postcard. All other entries are JSON, which never begins with the mark.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Entry, JournalError, entry::TimedEntry};
use crate::{domain::Ident, lobby::Command};

/// The first byte of an entry in the short form.
const MARK: u8 = 0;

/// An event in play, or the reasons for a decision. An event contains only the texts of its players'
/// ids, so it can be used only if the game server sent the same bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
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

impl<'a> BriefEntry<'a> {
    /// The short form of an entry, if it has one.
    pub(super) fn of(entry: &'a Entry<'_>) -> Option<Self> {
        let command = match entry {
            Entry::Command(command) => &**command,
            Entry::Reasons(lines) => {
                return Some(Self::Reasons {
                    lines: Cow::Borrowed(lines),
                });
            }
            _ => return None,
        };
        Some(match command {
            Command::Kill { killer, victim } => Self::Kill {
                killer: plain(killer)?,
                victim: plain(victim)?,
            },
            Command::Score { team, points, by } => Self::Score {
                team: *team,
                points: *points,
                by: match by {
                    Some(by) => Some(plain(by)?),
                    None => None,
                },
            },
            Command::Points { id, points } => Self::Points {
                id: plain(id)?,
                points: *points,
            },
            Command::Death { id } => Self::Death { id: plain(id)? },
            Command::Clock { left } => Self::Clock { left: *left },
            _ => return None,
        })
    }

    /// Appends this entry; `None` if it cannot be encoded.
    pub(super) fn write(self, at: u64, payload: &mut Vec<u8>) -> Option<()> {
        payload.push(MARK);
        postcard::to_io(&(at, self), payload).ok().map(drop)
    }

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
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn entry(command: Command) -> Entry<'static> {
        Entry::Command(Cow::Owned(command))
    }

    #[test]
    fn a_name_that_was_sent_in_other_bytes_has_no_short_form() {
        let sent = Ident::new(b"\"Ren\xe9\"", b"Ren\xe9");
        assert!(BriefEntry::of(&entry(Command::Death { id: sent })).is_none());
        let id = Ident::from_text("René");
        assert!(BriefEntry::of(&entry(Command::Death { id })).is_some());
        assert!(BriefEntry::of(&entry(Command::Start)).is_none());
    }

    #[test]
    fn reasons_are_read_as_they_were_written() {
        let lines = [
            "team 0: power 27.000".to_owned(),
            "\"René\" stays".to_owned(),
        ];
        for lines in [&lines[..], &[]] {
            let mut bytes = Vec::new();
            let entry = Entry::Reasons(Cow::Borrowed(lines));
            let brief = BriefEntry::of(&entry).unwrap();
            brief.write(3, &mut bytes).unwrap();
            bytes.push(7);
            let ((at, read), rest) = BriefEntry::read(&bytes).unwrap().unwrap();
            assert_eq!((at, rest), (3, &[7][..]));
            assert!(matches!(read, Entry::Reasons(read) if *read == *lines));
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for points in [f64::NAN, f64::INFINITY] {
            let mut bytes = Vec::new();
            let brief = BriefEntry::Points { id: "a", points };
            brief.write(3, &mut bytes).unwrap();
            let read = BriefEntry::read(&bytes).unwrap();
            assert!(matches!(read, Err(JournalError::Unreadable)));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_read(bytes in vec(any::<u8>(), 0..60)) {
            let marked = [&[MARK][..], &bytes].concat();
            prop_assert!(BriefEntry::read(&marked).is_some());
        }
    }
}
