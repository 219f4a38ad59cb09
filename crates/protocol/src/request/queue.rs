//! How the arguments of the verbs of queue clients and of instances are read and written.

use std::collections::BTreeSet;

use evenkeel_model::ident::Ident;

use super::HostRequest;
use crate::{
    Refusal,
    words::{WordWriter, Words, bad, decimal, number, options, set, unknown_option},
};

/// The longest id of a ticket, in bytes.
const MAX_TICKET_ID: usize = 64;

/// An id of a ticket: visible ASCII characters without quotes and backslashes, so that it never
/// needs quotes.
pub(super) fn ticket(words: &mut Words) -> Result<String, Refusal> {
    let ticket = words.word("the ticket")?;
    let text = ticket.text();
    let plain = |b: u8| b.is_ascii_graphic() && !matches!(b, b'"' | b'\\');
    if text.len() <= MAX_TICKET_ID && text.bytes().all(plain) {
        return Ok(text.to_owned());
    }
    Err(bad(format!(
        "the ticket's id must be 1 to {MAX_TICKET_ID} visible ASCII characters without quotes and backslashes"
    )))
}

/// What a player states, to the end of the line.
pub(super) fn stated(words: &mut Words) -> Result<Vec<(String, Ident)>, Refusal> {
    let mut stated = Vec::new();
    while let Some(option) = words.option()? {
        stated.push(option);
    }
    Ok(stated)
}

pub(super) fn put_stated(line: &mut WordWriter<'_>, stated: &[(String, Ident)]) {
    for (name, value) in stated {
        line.option(name, value);
    }
}

/// The most slots of an instance.
const MAX_SLOTS: u64 = 256;
/// The longest address, in bytes.
const MAX_ADDRESS: usize = 255;
/// The longest word of a list, in bytes.
const MAX_WORD: usize = 64;
/// The most words of a list.
const MAX_WORDS: usize = 128;

pub(super) fn instance(words: &mut Words) -> Result<HostRequest, Refusal> {
    let address = address(words)?;
    let (mut region, mut slots, mut modes, mut maps) = (None, None, None, None);
    let mut partition = None;
    options(words, |key, value| {
        let text = value.text();
        match key {
            "region" => Ok(set(&mut region, word(text, "the region")?)),
            "slots" => Ok(set(&mut slots, number(&value, "slots", 1, MAX_SLOTS)?)),
            "modes" => Ok(set(&mut modes, list(text, "modes")?)),
            "maps" => Ok(set(&mut maps, list(text, "maps")?)),
            "partition" => Ok(set(&mut partition, word(text, "the partition")?)),
            _ => unknown_option(key),
        }
    })?;
    Ok(HostRequest::Instance {
        address,
        region,
        slots: slots.map_or(1, |slots| slots as u32),
        modes: modes.unwrap_or_default(),
        maps: maps.unwrap_or_default(),
        partition,
    })
}

/// The options of INSTANCE, with the modes and the maps.
pub(super) fn put_instance(
    line: &mut WordWriter<'_>,
    region: Option<&str>,
    slots: u32,
    lists: [&BTreeSet<String>; 2],
    partition: Option<&str>,
) {
    line.maybe("region", region);
    line.plain(format_args!("slots={slots}"));
    for (key, words) in ["modes", "maps"].into_iter().zip(lists) {
        if !words.is_empty() {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            line.plain(format_args!("{key}={}", words.join(",")));
        }
    }
    line.maybe("partition", partition);
}

pub(super) fn load(words: &mut Words) -> Result<f64, Refusal> {
    let load = decimal(&words.word("the load")?, "the load", 1.0)?;
    match load < 0.0 {
        true => Err(bad("the load must be a number from 0 to 1".to_owned())),
        false => Ok(load),
    }
}

/// An address: one word of visible ASCII characters, which players can be sent as it is.
pub(super) fn address(words: &mut Words) -> Result<String, Refusal> {
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
    use crate::{Request, request::QueueRequest};

    fn read(line: &'static str) -> Result<QueueRequest, String> {
        match Request::parse(line.as_bytes().into()) {
            Ok(Some(Request::Queue(request))) => Ok(request),
            Ok(other) => Err(format!("{other:?}")),
            Err(refusal) => Err(refusal.text),
        }
    }

    #[test]
    fn tickets_have_plain_ids_and_players_any() {
        let request = read("seat \"Boring John\" tier=8 MAPS=a maps=\"b c\" ping.eu=32");
        let Ok(QueueRequest::Seat { player, stated }) = request else {
            panic!("{request:?}");
        };
        assert_eq!(player.text(), "Boring John");
        let stated: Vec<_> = stated
            .iter()
            .map(|(name, value)| (name.as_str(), value.text()))
            .collect();
        assert_eq!(
            stated,
            [
                ("tier", "8"),
                ("maps", "a"),
                ("maps", "b c"),
                ("ping.eu", "32")
            ]
        );
        let accept = QueueRequest::Accept {
            id: 7,
            player: Ident::from_text("ann"),
        };
        assert_eq!(read("ACCEPT 7 ann"), Ok(accept));
        let explain = QueueRequest::Explain("t".to_owned());
        assert_eq!(read("EXPLAIN t"), Ok(explain));
        let last = Request::parse("EXPLAIN".into());
        assert_eq!(last, Ok(Some(Request::Explain)));
        let id = "t".repeat(MAX_TICKET_ID);
        for good in ["t", "a-1:b/c=#", &id] {
            assert!(Request::parse(format!("CANCEL {good}").into()).is_ok());
        }
        for bad in [
            "ENQUEUE q",
            "ENQUEUE q t u",
            "ENQUEUE q \"a b\"",
            "CANCEL t\\u",
            "CANCEL \u{e4}",
            "SEAT",
            "SEAT p tier",
            "SEAT p =8",
            "ACCEPT 0 p",
            "ACCEPT -1 p",
            "ACCEPT 9223372036854775808 p",
            "ACCEPT 7",
            "DECLINE x p",
            "TICKET",
            "EXPLAIN a b",
            "LISTEN now",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    fn read_host(line: &str) -> Result<HostRequest, String> {
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
            read_host("instance 203.0.113.7:27960 maps=b,a,b Region=eu slots=4 partition=eu"),
            Ok(HostRequest::Instance {
                address: "203.0.113.7:27960".to_owned(),
                region: Some("eu".to_owned()),
                slots: 4,
                modes: BTreeSet::new(),
                maps: words(&["a", "b"]),
                partition: Some("eu".to_owned()),
            })
        );
        assert_eq!(read_host("LOAD 0.25"), Ok(HostRequest::Load(0.25)));
        let id = 7;
        assert_eq!(
            read_host("READY 7"),
            Ok(HostRequest::Ready { id, address: None })
        );
        let Ok(HostRequest::Refuse { id: 7, reason }) = read_host("REFUSE 7 map not loaded") else {
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
            assert!(read_host(bad).is_err(), "{bad}");
        }
        let many: Vec<String> = (0..=MAX_WORDS).map(|n| format!("m{n}")).collect();
        assert!(read_host(&format!("INSTANCE a maps={}", many.join(","))).is_err());
    }
}
