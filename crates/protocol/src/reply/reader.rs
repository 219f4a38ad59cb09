//! Collects the lines of a server into replies and pushes.

use bytes::Bytes;

use super::Reply;
use crate::{Push, error::MalformedReply};

/// Something that a server has sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Received {
    /// A whole reply. Replies come in the order of their requests.
    Reply(Reply),
    /// A line that answers no request.
    Push(Push),
}

/// Collects the lines of replies. Holds at most one unfinished reply, whose number of lines is
/// bounded; the [`Framer`] bounds their length.
///
/// [`Framer`]: crate::Framer
#[derive(Debug, Default)]
pub struct ReplyReader {
    lines: Vec<Bytes>,
    /// How many lines the unfinished reply still needs.
    missing: usize,
}

impl ReplyReader {
    /// Takes the next line. Returns what the line completes, or `None` if the reply has more lines.
    ///
    /// # Errors
    /// Fails if the reply that the line completes or starts is malformed. The next line starts a
    /// new one.
    pub fn line(&mut self, line: Bytes) -> Result<Option<Received>, MalformedReply> {
        if let Some(push) = Push::parse(&line) {
            return Ok(Some(Received::Push(push)));
        }
        self.missing = match self.lines.as_slice() {
            [] => Reply::lines_after(&line)?,
            _ => self.missing - 1,
        };
        self.lines.push(line);
        if self.missing > 0 {
            return Ok(None);
        }
        let reply = Reply::parse(&self.lines);
        self.lines.clear();
        reply.map(|reply| Some(Received::Reply(reply)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Vec<Result<Received, String>> {
        let mut reader = ReplyReader::default();
        let lines = text
            .lines()
            .map(|line| Bytes::copy_from_slice(line.as_bytes()));
        lines
            .filter_map(|line| {
                reader
                    .line(line)
                    .map_err(|error| error.to_string())
                    .transpose()
            })
            .collect()
    }

    #[test]
    fn replies_of_several_lines_between_others() {
        let text =
            "PONG\nEXPLAIN 2\nWHY PONG\nWHY MOVE x 0 1\nEXPLAIN 0\nREBALANCE 0 1.0 1.0\nPONG";
        let received = read(text);
        assert_eq!(received.len(), 5);
        let reasons = vec!["PONG".to_owned(), "MOVE x 0 1".to_owned()];
        assert_eq!(received[1], Ok(Received::Reply(Reply::Explain(reasons))));
        assert_eq!(received[4], Ok(Received::Reply(Reply::Pong)));
    }

    #[test]
    fn pushes_are_no_part_of_a_reply() {
        let received = read("* MATCHED 7\nEXPLAIN 1\n* GO 7\nWHY x");
        let push = |text: &'static str| Ok(Received::Push(Push::new(text)));
        assert_eq!(received[..2], [push("MATCHED 7"), push("GO 7")]);
        let reply = Reply::Explain(vec!["x".to_owned()]);
        assert_eq!(received[2..], [Ok(Received::Reply(reply))]);
    }

    #[test]
    fn after_nonsense_the_next_line_begins_a_reply() {
        let received = read("NONSENSE\nBALANCE many\nEXPLAIN 1\nPONG\nPONG");
        let good: Vec<_> = received.iter().map(Result::is_ok).collect();
        assert_eq!(good, [false, false, false, true]);
    }

    proptest! {
        #[test]
        fn any_lines_are_borne(lines in proptest::collection::vec(
            prop_oneof![
                "(BALANCE|TEAM|BOTS|MOVE|PLACE|REBALANCE|END|EXPLAIN|WHY|ERROR|HELLO|PLAYER|\\*)( [0-9ab.\"-]{1,4}){0,4}"
                    .prop_map(String::into_bytes),
                any::<Vec<u8>>(),
            ],
            0..40,
        )) {
            let mut reader = ReplyReader::default();
            for line in lines {
                let _ = reader.line(line.into());
            }
        }
    }
}
