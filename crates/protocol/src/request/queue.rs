//! How the arguments of the queue clients' verbs are read and written.

use crate::{
    Refusal,
    words::{Words, bad},
    writer::WordWriter,
};
use evenkeel_model::Ident;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{QueueRequest, Request};

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
}
