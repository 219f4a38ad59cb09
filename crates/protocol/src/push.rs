//! Lines that a server sends without a request: about the game of a connection, to queue clients that listen, and to
//! instances. Written and read here, in both directions.

use bytes::{BufMut, Bytes, BytesMut};
use evenkeel_model::{
    ident::{Ident, decode},
    in_game::{Contest, Move, Streak, Withdrawal},
};
use serde::{Deserialize, Serialize};

use crate::{
    Refusal,
    reply::{
        Parsed, TicketReply, go, ident, number, parse_move, put_move, split_first, split_last,
    },
    words::{WordWriter, Words, bad},
};

/// The start of every push. No reply starts with it.
pub(super) const MARK: &[u8] = b"* ";

/// A line that answers no request. A server sends it between replies, never inside one, and only on
/// connections that have requested pushes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Push(Bytes);

impl Push {
    /// A push with this text. It is sent as one line: line ends in it become `?`.
    pub fn new(text: impl Into<Bytes>) -> Self {
        let text = text.into();
        if !text.iter().any(|b| is_line_end(*b)) {
            return Self(text);
        }
        let plain = text.iter().map(|&b| if is_line_end(b) { b'?' } else { b });
        Self(plain.collect())
    }

    /// The text after the `* `.
    pub fn text(&self) -> &[u8] {
        &self.0
    }

    /// Appends the line to `out`.
    pub fn encode(&self, out: &mut BytesMut) {
        out.put_slice(MARK);
        out.put_slice(&self.0);
        out.put_u8(b'\n');
    }

    /// Parses a push; `None` for a line of a reply.
    pub fn parse(line: &Bytes) -> Option<Self> {
        let text = line.strip_prefix(MARK)?;
        Some(Self(line.slice_ref(text)))
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Something that has happened to a ticket. It is sent as one push, or as several in a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Notice {
    /// The ticket's state, as TICKET replies it.
    State(TicketReply),
    /// The ticket is in a match, with these teams.
    Matched {
        /// The match that was formed of it.
        id: i64,
        /// The client's id of the ticket.
        ticket: String,
        /// The mode of the match, if a rule of the queue picks one.
        mode: Option<String>,
        /// The map of the match, if a rule of the queue picks one.
        map: Option<String>,
        /// All players of the match, each with the team, counted from 0.
        seats: Vec<(u8, String)>,
    },
    /// The ticket has left the queue, because the configuration has changed.
    Reconfigured {
        /// The client's id of the ticket.
        ticket: String,
    },
    /// The ticket has gone back to the queue.
    Requeued {
        /// The client's id of the ticket.
        ticket: String,
        /// Why, in one word.
        reason: String,
    },
}

impl Notice {
    /// The texts of the pushes, in the order in which they are sent.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::State(TicketReply::Go { id, address, seats }) => seats
                .iter()
                .map(|(pass, player)| go(*id, address, pass, player))
                .collect(),
            Self::State(state) => vec![state.line()],
            Self::Reconfigured { ticket } => vec![format!("CANCELLED {ticket} reconfigured")],
            Self::Requeued { ticket, reason } => vec![format!("REQUEUED {ticket} {reason}")],
            Self::Matched {
                id,
                ticket,
                mode,
                map,
                seats,
            } => {
                let head = text("MATCHED", |line| {
                    line.plain(format_args!("{id} {ticket}"));
                    put_pick(line, mode.as_deref());
                    put_pick(line, map.as_deref());
                    line.plain(seats.len());
                });
                let team = |(team, player): &(u8, String)| {
                    text("TEAM", |line| {
                        line.plain(format_args!("{id} {team}"));
                        line.word(&Ident::from_text(player));
                    })
                };
                std::iter::once(head)
                    .chain(seats.iter().map(team))
                    .collect()
            }
        }
    }
}

/// What an instance is sent without a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HostNotice {
    /// The instance is asked to host a match.
    Session(HostSession),
    /// The game of a match in play gets these players.
    Admit(Vec<HostSeat>),
    /// These players, whom the game was to get, do not come.
    Dismiss(Vec<String>),
    /// The instance does not host the match any more.
    Close {
        /// The match that it hosts no longer.
        id: i64,
        /// Why, in one word.
        why: String,
    },
}

/// A match that an instance is asked to host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSession {
    /// By which READY, REFUSE and BACKFILL name the match.
    pub id: i64,
    /// The queue that formed it.
    pub queue: String,
    /// The mode of the match, if it has one.
    pub mode: Option<String>,
    /// The map of the match, if it has one.
    pub map: Option<String>,
    /// All players, with their teams and passes.
    pub seats: Vec<HostSeat>,
}

/// A player whom an instance expects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSeat {
    /// The player's identity.
    pub player: String,
    /// The team, counted from 0.
    pub team: u8,
    /// The pass that the player shows; empty if passes are void.
    pub pass: String,
    /// The player's party, if it has other players.
    pub party: Option<String>,
}

impl HostNotice {
    /// The texts of the pushes, in the order in which they are sent.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Admit(seats) => seats.iter().map(join).collect(),
            Self::Dismiss(players) => players
                .iter()
                .map(|player| text("LEAVE", |line| line.word(&Ident::from_text(player))))
                .collect(),
            Self::Close { id, why } => vec![format!("CLOSE {id} {why}")],
            Self::Session(session) => {
                let head = text("SESSION", |line| {
                    line.plain(format_args!("{} {}", session.id, session.queue));
                    put_pick(line, session.mode.as_deref());
                    put_pick(line, session.map.as_deref());
                    line.plain(session.seats.len());
                });
                let seats = session.seats.iter().map(join);
                std::iter::once(head).chain(seats).collect()
            }
        }
    }
}

/// The push about a player whom the instance expects.
fn join(seat: &HostSeat) -> String {
    text("JOIN", |line| {
        line.word(&Ident::from_text(&seat.player));
        line.plain(format_args!("team={} pass={}", seat.team, seat.pass));
        if let Some(party) = &seat.party {
            line.option("party", &Ident::from_text(party));
        }
    })
}

/// A dash stands for no mode or no map.
fn put_pick(line: &mut WordWriter<'_>, pick: Option<&str>) {
    match pick {
        Some(word) => line.word(&Ident::from_text(word)),
        None => line.plain('-'),
    }
}

fn text(verb: &str, put: impl FnOnce(&mut WordWriter<'_>)) -> String {
    let mut out = BytesMut::new();
    put(&mut WordWriter::new(&mut out, verb));
    String::from_utf8_lossy(&out).into_owned()
}

/// What a game server is sent about its game without a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GameNotice {
    /// A move, and the seconds until it is made, unless others volunteer.
    Offer(Move, u32),
    /// This move is made now.
    Move(Move),
    /// This human does not move.
    Withdrawn(Ident, Withdrawal),
    /// One team wins again and again by far.
    Streak(Streak),
}

impl GameNotice {
    /// The line that is sent.
    pub fn push(&self) -> Push {
        let mut out = BytesMut::new();
        match self {
            Self::Offer(step, seconds) => {
                put_move(&mut out, "OFFER", step);
                out.truncate(out.len() - 1);
                out.extend_from_slice(format!(" {seconds}").as_bytes());
            }
            Self::Move(step) => {
                put_move(&mut out, "MOVE", step);
                out.truncate(out.len() - 1);
            }
            Self::Withdrawn(id, why) => {
                let mut line = WordWriter::new(&mut out, "WITHDRAWN");
                line.raw(id);
                line.plain(why);
            }
            Self::Streak(Streak { team, wins, of }) => {
                WordWriter::new(&mut out, "STREAK").plain(format_args!("{team} {wins} {of}"));
            }
        }
        Push::new(out)
    }

    /// Reads a push; `None` for one that is about something else, or of a later version.
    pub fn read(push: &Push) -> Option<Self> {
        let (verb, rest) = split_first(push.text());
        let read = || -> Parsed<Self> {
            match verb {
                b"OFFER" => {
                    let (step, seconds) = split_last(rest);
                    Ok(Self::Offer(parse_move(step)?, number(seconds)?))
                }
                b"MOVE" => Ok(Self::Move(parse_move(rest)?)),
                b"WITHDRAWN" => {
                    let (id, why) = split_last(rest);
                    let why = Withdrawal::parse(&decode(why)).ok_or("an unknown reason")?;
                    Ok(Self::Withdrawn(ident(id)?, why))
                }
                b"STREAK" => {
                    let (team, rest) = split_first(rest);
                    let (wins, of) = split_first(rest);
                    let of = Contest::parse(&decode(of)).ok_or("an unknown contest")?;
                    let (team, wins) = (number(team)?, number(wins)?);
                    Ok(Self::Streak(Streak { team, wins, of }))
                }
                _ => Err("another push"),
            }
        };
        read().ok()
    }
}

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
                let why = bounded_text(&mut words, "the reason")?;
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
        queue: bounded_text(words, "the queue")?,
        mode: pick(words, "the mode")?,
        map: pick(words, "the map")?,
        seats: Vec::new(),
    };
    let count = crate::words::number(
        &words.word("the number of players")?,
        "players",
        0,
        MAX_SEATS,
    )?;
    Ok((session, count))
}

/// A word, or nothing for a dash.
fn pick(words: &mut Words, what: &str) -> Result<Option<String>, Refusal> {
    let text = bounded_text(words, what)?;
    Ok((text != "-").then_some(text))
}

fn bounded_text(words: &mut Words, what: &str) -> Result<String, Refusal> {
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
            "team" => team = Some(crate::words::number(&value, "the team", 0, 7)? as u8),
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

    #[test]
    fn one_push_is_one_line() {
        let mut out = BytesMut::new();
        Push::new("MATCHED 7\r\nPONG").encode(&mut out);
        assert_eq!(&out[..], b"* MATCHED 7??PONG\n");
        let line = out.freeze().slice(..17);
        assert_eq!(Push::parse(&line).unwrap().text(), b"MATCHED 7??PONG");
        assert_eq!(Push::parse(&Bytes::from_static(b"PONG")), None);
    }

    #[test]
    fn a_match_is_sent_with_its_teams() {
        let notice = Notice::Matched {
            id: 7,
            ticket: "t1".to_owned(),
            mode: Some("supremacy".to_owned()),
            map: None,
            seats: vec![(0, "ann".to_owned()), (1, "Boring \"John\"".to_owned())],
        };
        assert_eq!(
            notice.lines(),
            [
                "MATCHED 7 t1 supremacy - 2",
                "TEAM 7 0 ann",
                "TEAM 7 1 \"Boring \\\"John\\\"\""
            ]
        );
        let ticket = "t1".to_owned();
        let reason = "declined".to_owned();
        assert_eq!(
            Notice::Requeued { ticket, reason }.lines(),
            ["REQUEUED t1 declined"]
        );
        let gone = Notice::State(TicketReply::Expired("t1".to_owned()));
        assert_eq!(gone.lines(), ["EXPIRED t1"]);
        let seat = |pass: &str, player: &str| (pass.to_owned(), player.to_owned());
        let go = Notice::State(TicketReply::Go {
            id: 7,
            address: "h:1".to_owned(),
            seats: vec![seat("x", "ann"), seat("y", "Boring John")],
        });
        assert_eq!(go.lines(), ["GO 7 h:1 x ann", "GO 7 h:1 y \"Boring John\""]);
    }

    #[test]
    fn an_instance_is_sent_its_players() {
        let seat = |player: &str, team, party: Option<&str>| HostSeat {
            player: player.to_owned(),
            team,
            pass: "x".to_owned(),
            party: party.map(str::to_owned),
        };
        let session = HostNotice::Session(HostSession {
            id: 7,
            queue: "regular".to_owned(),
            mode: None,
            map: Some("mines".to_owned()),
            seats: vec![seat("ann", 0, Some("3")), seat("Boring John", 1, None)],
        });
        assert_eq!(
            session.lines(),
            [
                "SESSION 7 regular - mines 2",
                "JOIN ann team=0 pass=x party=3",
                "JOIN \"Boring John\" team=1 pass=x"
            ]
        );
        let why = "lost".to_owned();
        let close = HostNotice::Close { id: 7, why };
        assert_eq!(close.lines(), ["CLOSE 7 lost"]);
    }

    #[test]
    fn what_is_sent_is_read() {
        let ids = [
            Ident::from_text("ann"),
            Ident::new(b"\"Ren\xe9 B\"", b"Ren\xe9 B"),
        ];
        for id in ids {
            let step = Move {
                id: id.clone(),
                from: Some(0),
                to: 1,
            };
            let mut notices = vec![GameNotice::Offer(step.clone(), 60), GameNotice::Move(step)];
            let withdrawn = |why| GameNotice::Withdrawn(id.clone(), why);
            notices.extend(Withdrawal::ALL.map(withdrawn));
            for notice in notices {
                let push = notice.push();
                assert_eq!(GameNotice::read(&push), Some(notice), "{push:?}");
            }
        }
        for of in Contest::ALL {
            let streak = GameNotice::Streak(Streak {
                team: 1,
                wins: 3,
                of,
            });
            assert_eq!(GameNotice::read(&streak.push()), Some(streak));
        }
        let offer = GameNotice::Offer(
            Move {
                id: Ident::from_text("ann"),
                from: Some(0),
                to: 1,
            },
            60,
        );
        assert_eq!(offer.push().text(), b"OFFER ann 0 1 60");
    }

    #[test]
    fn nonsense_is_no_notice() {
        for text in [
            "OFFER",
            "OFFER ann 0 1",
            "MOVE ann",
            "WITHDRAWN ann later",
            "MATCHED 7 t - - 2",
            "",
        ] {
            assert_eq!(GameNotice::read(&Push::new(text)), None, "{text}");
        }
    }

    fn read(lines: &[String]) -> Vec<Result<Option<HostNotice>, String>> {
        let mut reader = HostPushReader::default();
        let read = |line: &String| {
            let push = reader.push(&Push::new(line.clone()));
            push.map_err(|refusal| refusal.text)
        };
        lines.iter().map(read).collect()
    }

    #[test]
    fn what_instances_are_sent_is_read() {
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
