//! The pushes about the game of a connection: offers, how they end, and streaks. Written and read here, in both directions.

use bytes::BytesMut;

use super::{
    Push,
    reply::{Parsed, ident, number, parse_move, put_move, split_first, split_last},
    writer::WordWriter,
};
use evenkeel_model::{Contest, Ident, Move, Streak, Withdrawal, decode};

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
