//! Reads the pushes that an instance gets: the other direction of [`HostNotice::lines`].

use super::{
    HostNotice, HostSeat, HostSession, Push, Refusal,
    words::{Words, bad, number},
};

/// The most players of a SESSION that is read.
const MAX_SEATS: u64 = 128;
/// The longest word of a SESSION or a pass that is read, in bytes.
const MAX_TEXT: usize = 255;

/// Collects pushes into whole notices. Holds at most one SESSION whose players are still missing.
#[derive(Debug, Default)]
pub struct HostPushReader {
    session: Option<HostSession>,
    missing: u64,
}

impl HostPushReader {
    /// Takes the next push of a connection. Returns the [`Session`](HostNotice::Session) or
    /// [`Close`](HostNotice::Close) that it completes. Pushes about a match in play, for others than instances,
    /// and of a later version complete nothing.
    ///
    /// # Errors
    /// Fails if the push makes no sense. A SESSION that it belongs to is dropped.
    pub fn push(&mut self, push: &Push) -> Result<Option<HostNotice>, Refusal> {
        let mut words = Words::new(push.text().to_vec().into());
        match words.verb().as_ref() {
            b"SESSION" => {
                self.session = None;
                self.missing = 0;
                let (session, missing) = head(&mut words)?;
                (self.session, self.missing) = (Some(session), missing);
            }
            b"JOIN" => {
                let Some(mut session) = self.session.take() else {
                    return Ok(None);
                };
                session.seats.push(seat(&mut words)?);
                self.missing = self.missing.saturating_sub(1);
                self.session = Some(session);
            }
            b"CLOSE" => {
                let id = words.match_id()?;
                let why = text(&mut words, "the reason")?;
                return Ok(Some(HostNotice::Close { id, why }));
            }
            _ => return Ok(None),
        }
        match self.missing {
            0 => Ok(self.session.take().map(HostNotice::Session)),
            _ => Ok(None),
        }
    }
}

fn head(words: &mut Words) -> Result<(HostSession, u64), Refusal> {
    let session = HostSession {
        id: words.match_id()?,
        queue: text(words, "the queue")?,
        mode: pick(words, "the mode")?,
        map: pick(words, "the map")?,
        seats: Vec::new(),
    };
    let count = number(
        &words.word("the number of players")?,
        "players",
        0,
        MAX_SEATS,
    )?;
    Ok((session, count))
}

/// A word, or nothing for a dash.
fn pick(words: &mut Words, what: &str) -> Result<Option<String>, Refusal> {
    let text = text(words, what)?;
    Ok((text != "-").then_some(text))
}

fn text(words: &mut Words, what: &str) -> Result<String, Refusal> {
    let word = words.word(what)?;
    match word.text().len() <= MAX_TEXT {
        true => Ok(word.text().to_owned()),
        false => Err(bad(format!("{what} is longer than {MAX_TEXT} bytes"))),
    }
}

fn seat(words: &mut Words) -> Result<HostSeat, Refusal> {
    let player = words.word("the player")?.text().to_owned();
    let (mut team, mut pass, mut party) = (None, None, None);
    while let Some((key, value)) = words.option()? {
        match key.as_str() {
            "team" => team = Some(number(&value, "the team", 0, 7)? as u8),
            "pass" if value.text().len() <= MAX_TEXT => pass = Some(value.text().to_owned()),
            "party" => party = Some(value.text().to_owned()),
            // Options of a later version.
            _ => {}
        }
    }
    let pass = pass.filter(|pass| !pass.is_empty());
    Ok(HostSeat {
        player,
        team: team.ok_or_else(|| bad("a player has no team".to_owned()))?,
        pass: pass.ok_or_else(|| bad("a player has no pass".to_owned()))?,
        party,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[String]) -> Vec<Result<Option<HostNotice>, String>> {
        let mut reader = HostPushReader::default();
        let read = |line: &String| {
            let push = reader.push(&Push::new(line.clone()));
            push.map_err(|refusal| refusal.text)
        };
        lines.iter().map(read).collect()
    }

    #[test]
    fn what_is_sent_is_read() {
        let seat = |player: &str, team, party: Option<&str>| HostSeat {
            player: player.to_owned(),
            team,
            pass: format!("{team}c5e"),
            party: party.map(str::to_owned),
        };
        let seats = vec![
            seat("ann", 0, None),
            seat("Boring \"John\"", 1, Some("a b")),
        ];
        let sent = HostNotice::Session(HostSession {
            id: 7,
            queue: "duel".to_owned(),
            mode: Some("ctf".to_owned()),
            map: None,
            seats,
        });
        let read_back = read(&sent.lines());
        assert_eq!(read_back, [Ok(None), Ok(None), Ok(Some(sent))]);
        let why = "lost".to_owned();
        let closed = HostNotice::Close { id: 7, why };
        assert_eq!(read(&closed.lines()), [Ok(Some(closed))]);
    }

    #[test]
    fn nonsense_is_refused_and_the_next_session_is_read() {
        let lines = [
            "SESSION 7 duel - - 1",
            "JOIN ann team=9 pass=x",
            "JOIN ann team=1 pass=x",
            "SESSION 0 duel - - 1",
            "SESSION 7 duel - - 129",
            "JOIN ann team=0",
            "LATER 7",
            "CLOSE x lost",
            "SESSION 8 duel - - 1",
            "JOIN ann team=1 pass=x later=1",
        ];
        let read = read(&lines.map(str::to_owned));
        let good: Vec<bool> = read.iter().map(Result::is_ok).collect();
        let expected = [
            true, false, true, false, false, true, true, false, true, true,
        ];
        assert_eq!(good, expected);
        assert!(matches!(&read[9], Ok(Some(HostNotice::Session(session))) if session.id == 8));
        assert!(read[..9].iter().all(|push| !matches!(push, Ok(Some(_)))));
    }
}
