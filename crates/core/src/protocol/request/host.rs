//! The requests of instances. Each verb is read and written only in this file.

use std::collections::BTreeSet;

use super::{ReplyRule, Verb};
use crate::{
    domain::{Ident, MAX_PLAYERS, MAX_TEAMS},
    protocol::{
        Refusal,
        words::{WordWriter, Words, bad, decimal, number},
    },
};

/// The most slots of an instance.
const MAX_SLOTS: u64 = 256;
/// The longest address, in bytes.
const MAX_ADDRESS: usize = 255;
/// The longest word of a list, in bytes.
const MAX_WORD: usize = 64;
/// The most words of a list.
const MAX_WORDS: usize = 128;
/// The largest id of a match.
const MAX_MATCH: u64 = i64::MAX as u64;

/// One command of an instance.
#[derive(Clone, Debug, PartialEq)]
pub enum HostRequest {
    /// States that this game server can host matches.
    Instance {
        /// Where players connect.
        address: String,
        /// The region in which it is.
        region: Option<String>,
        /// How many matches it hosts at once.
        slots: u32,
        /// The modes that it serves; all if there are none.
        modes: BTreeSet<String>,
        /// The maps that it has; all if there are none.
        maps: BTreeSet<String>,
        /// The partition of the queues whose matches it hosts; `None` for the main one.
        partition: Option<String>,
    },
    /// States how busy it is, 0 to 1.
    Load(f64),
    /// It can host the match, and players can connect.
    Ready {
        /// The id of the match.
        id: i64,
        /// Where players connect, if not at the instance's own address.
        address: Option<String>,
    },
    /// Seeks players of the queue for seats of a match in play.
    Backfill {
        /// The id of the match.
        id: i64,
        /// The team, counted from 0.
        team: u8,
        /// Number of seats of the team that are to be filled; 0 to seek nobody any more.
        seats: u32,
    },
    /// It does not host the match.
    Refuse {
        /// The id of the match.
        id: i64,
        /// Why, for the log.
        reason: Ident,
    },
}

impl HostRequest {
    /// Reads the arguments of a verb in upper case; `None` if no instance sends that verb.
    pub(super) fn parse(verb: &[u8], words: &mut Words) -> Result<Option<Self>, Refusal> {
        Ok(Some(match verb {
            b"INSTANCE" => instance(words)?,
            b"LOAD" => {
                let load = decimal(&words.word("the load")?, "the load", 1.0)?;
                match load < 0.0 {
                    true => return Err(bad("the load must be a number from 0 to 1".to_owned())),
                    false => Self::Load(load),
                }
            }
            b"READY" => Self::Ready {
                id: match_id(&words.word("the match")?)?,
                address: match words.is_empty() {
                    true => None,
                    false => Some(address(words)?),
                },
            },
            b"BACKFILL" => Self::Backfill {
                id: match_id(&words.word("the match")?)?,
                team: words.number("the team", 0, MAX_TEAMS as u64 - 1)? as u8,
                seats: words.number("the number of seats", 0, MAX_PLAYERS as u64)? as u32,
            },
            b"REFUSE" => Self::Refuse {
                id: match_id(&words.word("the match")?)?,
                reason: words.whole_rest("the reason")?,
            },
            _ => return Ok(None),
        }))
    }

    /// The verb, as it is sent.
    pub(super) fn verb(&self) -> Verb {
        match self {
            Self::Instance { .. } => Verb::Instance,
            Self::Load(_) => Verb::Load,
            Self::Ready { .. } => Verb::Ready,
            Self::Backfill { .. } => Verb::Backfill,
            Self::Refuse { .. } => Verb::Refuse,
        }
    }

    /// When this request has a reply.
    pub(super) fn reply_rule(&self) -> ReplyRule {
        match self {
            Self::Backfill { .. } => ReplyRule::Always,
            _ => ReplyRule::Never,
        }
    }

    pub(super) fn put_arguments(&self, line: &mut WordWriter<'_>) {
        match self {
            Self::Instance {
                address,
                region,
                slots,
                modes,
                maps,
                partition,
            } => {
                line.plain(address);
                if let Some(region) = region {
                    line.plain(format_args!("region={region}"));
                }
                line.plain(format_args!("slots={slots}"));
                for (key, words) in [("modes", modes), ("maps", maps)] {
                    if !words.is_empty() {
                        let words: Vec<&str> = words.iter().map(String::as_str).collect();
                        line.plain(format_args!("{key}={}", words.join(",")));
                    }
                }
                if let Some(partition) = partition {
                    line.plain(format_args!("partition={partition}"));
                }
            }
            Self::Load(load) => line.decimal(*load),
            Self::Ready { id, address } => {
                line.plain(id);
                if let Some(address) = address {
                    line.plain(address);
                }
            }
            Self::Backfill { id, team, seats } => line.plain(format_args!("{id} {team} {seats}")),
            Self::Refuse { id, reason } => {
                line.plain(id);
                line.word(reason);
            }
        }
    }
}

fn instance(words: &mut Words) -> Result<HostRequest, Refusal> {
    let address = address(words)?;
    let (mut region, mut slots, mut modes, mut maps) = (None, None, None, None);
    let mut partition = None;
    while let Some((key, value)) = words.option()? {
        let fresh = match key.as_str() {
            "region" => region.replace(word(value.text(), "the region")?).is_none(),
            "slots" => {
                let count = number(&value, "slots", 1, MAX_SLOTS)?;
                slots.replace(count as u32).is_none()
            }
            "modes" => modes.replace(list(value.text(), "modes")?).is_none(),
            "maps" => maps.replace(list(value.text(), "maps")?).is_none(),
            "partition" => {
                let word = word(value.text(), "the partition")?;
                partition.replace(word).is_none()
            }
            _ => return Err(bad(format!("unknown option {key}"))),
        };
        super::grammar::once(fresh, &key)?;
    }
    Ok(HostRequest::Instance {
        address,
        region,
        slots: slots.unwrap_or(1),
        modes: modes.unwrap_or_default(),
        maps: maps.unwrap_or_default(),
        partition,
    })
}

/// The id of a match.
pub(in crate::protocol) fn match_id(text: &Ident) -> Result<i64, Refusal> {
    let id = number(text, "the match", 1, MAX_MATCH)?;
    i64::try_from(id).map_err(|_| bad("the match is out of range".to_owned()))
}

/// An address: one word of visible ASCII characters, which players can be sent as it is.
fn address(words: &mut Words) -> Result<String, Refusal> {
    let address = words.word("the address")?;
    let text = address.text();
    match text.len() <= MAX_ADDRESS && is_plain(text) && !text.contains('=') {
        true => Ok(text.to_owned()),
        false => Err(bad(format!(
            "the address must be 1 to {MAX_ADDRESS} visible ASCII characters without quotes, backslashes and ="
        ))),
    }
}

/// Words with commas between them.
fn list(text: &str, what: &str) -> Result<BTreeSet<String>, Refusal> {
    let words: BTreeSet<String> = text
        .split(',')
        .filter(|text| !text.is_empty())
        .map(|text| word(text, what))
        .collect::<Result<_, _>>()?;
    match words.len() <= MAX_WORDS {
        true => Ok(words),
        false => Err(bad(format!("{what} must be at most {MAX_WORDS} words"))),
    }
}

fn word(text: &str, what: &str) -> Result<String, Refusal> {
    let good = !text.is_empty() && text.len() <= MAX_WORD && is_plain(text) && !text.contains(',');
    match good {
        true => Ok(text.to_owned()),
        false => Err(bad(format!(
            "{what} must be made of 1 to {MAX_WORD} visible ASCII characters without quotes, backslashes and commas"
        ))),
    }
}

fn is_plain(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_graphic() && !matches!(b, b'"' | b'\\');
    !text.is_empty() && text.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Request;

    fn read(line: &str) -> Result<HostRequest, String> {
        match Request::parse(line.to_owned().into()) {
            Ok(Some(Request::Host(request))) => Ok(request),
            Ok(other) => Err(format!("{other:?}")),
            Err(refusal) => Err(refusal.text),
        }
    }

    #[test]
    fn what_an_instance_offers() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(
            read("instance 203.0.113.7:27960 maps=b,a,b Region=eu slots=4 partition=eu"),
            Ok(HostRequest::Instance {
                address: "203.0.113.7:27960".to_owned(),
                region: Some("eu".to_owned()),
                slots: 4,
                modes: BTreeSet::new(),
                maps: words(&["a", "b"]),
                partition: Some("eu".to_owned()),
            })
        );
        assert_eq!(read("LOAD 0.25"), Ok(HostRequest::Load(0.25)));
        let id = 7;
        assert_eq!(
            read("READY 7"),
            Ok(HostRequest::Ready { id, address: None })
        );
        let Ok(HostRequest::Refuse { id: 7, reason }) = read("REFUSE 7 map not loaded") else {
            panic!("REFUSE is not read");
        };
        assert_eq!(reason.text(), "map not loaded");
        for bad in [
            "INSTANCE",
            "INSTANCE \"a b\"",
            "INSTANCE region=eu",
            "INSTANCE a slots=0",
            "INSTANCE a slots=257",
            "INSTANCE a slots=1 slots=1",
            "INSTANCE a ports=1",
            "INSTANCE a region=",
            "INSTANCE a partition=",
            "INSTANCE a partition=a partition=b",
            "INSTANCE a maps=\"a b\"",
            "LOAD",
            "LOAD -0.1",
            "LOAD 1.1",
            "READY",
            "READY 0",
            "READY 7 a b",
            "BACKFILL",
            "BACKFILL 7",
            "BACKFILL 7 1",
            "BACKFILL 7 8 1",
            "BACKFILL 7 -1 1",
            "BACKFILL 7 1 999999",
            "BACKFILL 7 1 1 1",
            "REFUSE 7",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        let many: Vec<String> = (0..=MAX_WORDS).map(|n| format!("m{n}")).collect();
        assert!(read(&format!("INSTANCE a maps={}", many.join(","))).is_err());
    }
}
