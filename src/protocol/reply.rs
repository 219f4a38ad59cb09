//! A reply → its bytes.

use std::io::Write;

use bytes::{BufMut, BytesMut};

use super::VERSION;
use crate::domain::{Ident, Move};

/// The code of an error; part of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// No such verb.
    UnknownCommand,
    /// A verb with arguments that aren't its.
    BadArgument,
    /// A line beyond the limit.
    TooLong,
    /// The command needs a GAME first.
    NoGame,
    /// Nobody of that id is in the roster.
    UnknownPlayer,
    /// The roster has no room.
    RosterFull,
    /// This peer may not, or not in this game.
    NotAllowed,
    /// Enough is enough; the connection closes.
    TooManyErrors,
    /// No room or no time left to serve this.
    Overloaded,
    /// Our fault; the log says more.
    Internal,
}

impl Code {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::UnknownCommand => "unknown-command",
            Code::BadArgument => "bad-argument",
            Code::TooLong => "too-long",
            Code::NoGame => "no-game",
            Code::UnknownPlayer => "unknown-player",
            Code::RosterFull => "roster-full",
            Code::NotAllowed => "not-allowed",
            Code::TooManyErrors => "too-many-errors",
            Code::Overloaded => "overloaded",
            Code::Internal => "internal",
        }
    }
}

/// Why a command was refused; it changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// For the machine.
    pub code: Code,
    /// For people; one line.
    pub text: String,
}

/// One reply, of one or several lines.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A human's weight, `None` when nothing is known.
    Player(Ident, Option<f64>),
    /// A bot's weight.
    Bot(Ident, f64),
    /// The mean weight of so many known bots.
    MeanBot(f64, usize),
    /// Who answers; and, where that was asked for, whether a game was gone on with.
    Hello {
        /// Whether one was.
        resumed: Option<bool>,
    },
    /// Here I am.
    Pong,
    /// The teams chosen.
    Balance {
        /// Smaller team over larger, 0 to 1.
        ratio: f64,
        /// The predicted chance that team 0 wins, where one is known.
        chance: Option<f64>,
        /// The seed used.
        seed: u64,
        /// Each human's team, in JOIN order.
        humans: Vec<(Ident, u8)>,
        /// Bots per team.
        bots: Vec<u32>,
    },
    /// The setting of MinPlayers, and bots per team.
    Bots(u32, Vec<u32>),
    /// The side for a late arrival, and the ratio that results.
    Place(Ident, u8, f64),
    /// The team to help, and by what factor; `None` when that is due to nobody.
    Advantage(Option<(u8, f64)>),
    /// The fewest moves that mend the game.
    Rebalance {
        /// The ratio as the game stands.
        before: f64,
        /// The ratio after these moves.
        after: f64,
        /// Who moves where.
        moves: Vec<Move>,
    },
    /// The human who died is on another team from now on.
    Move(Move),
    /// The game over is on disk, under this name.
    End {
        /// What the match is called.
        id: String,
        /// Why it says nothing about anybody's strength, where it doesn't: one line.
        unrated: Option<String>,
    },
    /// Why the last decision was taken, a line each.
    Explain(Vec<String>),
    /// A command was refused.
    Error(Refusal),
}

impl Reply {
    /// Appends the reply's lines. Weights have three places, ratios and chances six.
    pub fn encode(&self, out: &mut BytesMut) {
        match self {
            Reply::Player(id, weight) => weighed(out, b"PLAYER ", id, *weight),
            Reply::Bot(id, weight) => weighed(out, b"BOT ", id, Some(*weight)),
            Reply::MeanBot(weight, count) => line(out, format_args!("MEANBOT {weight:.3} {count}")),
            Reply::Hello { resumed } => {
                let program = env!("CARGO_PKG_VERSION");
                let resumed = match resumed {
                    None => "",
                    Some(true) => " resumed",
                    Some(false) => " new",
                };
                line(
                    out,
                    format_args!("HELLO evenkeel/{program} protocol/{VERSION}{resumed}"),
                );
            }
            Reply::Pong => line(out, format_args!("PONG")),
            Reply::Balance {
                ratio,
                chance,
                seed,
                humans,
                bots,
            } => {
                let lines = humans.len() + bots.len();
                let chance = chance.map_or_else(|| "-".to_owned(), |p| format!("{p:.6}"));
                line(
                    out,
                    format_args!("BALANCE {lines} {ratio:.6} {chance} {seed}"),
                );
                for (id, team) in humans {
                    text(out, format_args!("TEAM {team} "));
                    out.put_slice(id.raw());
                    out.put_u8(b'\n');
                }
                for (team, count) in bots.iter().enumerate() {
                    line(out, format_args!("BOTS {team} {count}"));
                }
            }
            Reply::Bots(min_players, bots) => {
                text(out, format_args!("BOTS {min_players}"));
                for count in bots {
                    text(out, format_args!(" {count}"));
                }
                out.put_u8(b'\n');
            }
            Reply::Place(id, team, ratio) => {
                text(out, format_args!("PLACE "));
                out.put_slice(id.raw());
                line(out, format_args!(" {team} {ratio:.6}"));
            }
            Reply::Advantage(None) => line(out, format_args!("ADVANTAGE - 1.000")),
            Reply::Advantage(Some((team, factor))) => {
                line(out, format_args!("ADVANTAGE {team} {factor:.3}"));
            }
            Reply::Rebalance {
                before,
                after,
                moves,
            } => {
                let lines = moves.len();
                line(
                    out,
                    format_args!("REBALANCE {lines} {before:.6} {after:.6}"),
                );
                moves.iter().for_each(|step| moved(out, step));
            }
            Reply::Move(step) => moved(out, step),
            Reply::End { id, unrated: None } => line(out, format_args!("END {id} recorded")),
            Reply::End {
                id,
                unrated: Some(reason),
            } => line(out, format_args!("END {id} unrated {reason}")),
            Reply::Explain(reasons) => {
                line(out, format_args!("EXPLAIN {}", reasons.len()));
                for reason in reasons {
                    line(out, format_args!("WHY {reason}"));
                }
            }
            Reply::Error(Refusal { code, text }) => {
                line(out, format_args!("ERROR {} {text}", code.as_str()));
            }
        }
    }
}

/// `VERB id [weight]`, the id in the very bytes it came in.
fn weighed(out: &mut BytesMut, verb: &[u8], id: &Ident, weight: Option<f64>) {
    out.put_slice(verb);
    out.put_slice(id.raw());
    if let Some(weight) = weight {
        text(out, format_args!(" {weight:.3}"));
    }
    out.put_u8(b'\n');
}

/// `MOVE id from to`, with `-` for somebody on no team.
fn moved(out: &mut BytesMut, Move { id, from, to }: &Move) {
    text(out, format_args!("MOVE "));
    out.put_slice(id.raw());
    match from {
        Some(from) => line(out, format_args!(" {from} {to}")),
        None => line(out, format_args!(" - {to}")),
    }
}

fn line(out: &mut BytesMut, text_of: std::fmt::Arguments<'_>) {
    text(out, text_of);
    out.put_u8(b'\n');
}

fn text(out: &mut BytesMut, text_of: std::fmt::Arguments<'_>) {
    // Writing to a growing buffer cannot fail.
    let _ = out.writer().write_fmt(text_of);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(reply: &Reply) -> Vec<u8> {
        let mut out = BytesMut::new();
        reply.encode(&mut out);
        out.to_vec()
    }

    #[test]
    fn the_very_bytes_come_back() {
        let id = Ident::new(b"Ren\xe9", b"Ren\xe9");
        assert_eq!(
            bytes(&Reply::Player(id.clone(), Some(50.0))),
            b"PLAYER Ren\xe9 50.000\n"
        );
        assert_eq!(bytes(&Reply::Player(id.clone(), None)), b"PLAYER Ren\xe9\n");
        assert_eq!(bytes(&Reply::Bot(id, 12.3456)), b"BOT Ren\xe9 12.346\n");
    }

    #[test]
    fn a_reply_of_several_lines_says_how_many() {
        let humans = vec![(Ident::from_text("a"), 1), (Ident::from_text("b"), 0)];
        let reply = Reply::Balance {
            ratio: 0.987_654_321,
            chance: None,
            seed: 7,
            humans,
            bots: vec![1, 1],
        };
        let text = String::from_utf8(bytes(&reply)).unwrap();
        assert_eq!(
            text,
            "BALANCE 4 0.987654 - 7\nTEAM 1 a\nTEAM 0 b\nBOTS 0 1\nBOTS 1 1\n"
        );
        assert_eq!(bytes(&Reply::Bots(6, vec![2, 3])), b"BOTS 6 2 3\n");
        assert_eq!(bytes(&Reply::MeanBot(50.0, 0)), b"MEANBOT 50.000 0\n");
    }

    #[test]
    fn decisions_in_a_running_game() {
        let id = Ident::new(b"\"a b\"", b"a b");
        let say = |reply: &Reply| String::from_utf8(bytes(reply)).unwrap();
        assert_eq!(
            say(&Reply::Place(id.clone(), 1, 0.987_654_321)),
            "PLACE \"a b\" 1 0.987654\n"
        );
        assert_eq!(say(&Reply::Advantage(None)), "ADVANTAGE - 1.000\n");
        assert_eq!(
            say(&Reply::Advantage(Some((1, 1.1)))),
            "ADVANTAGE 1 1.100\n"
        );
        let moves = vec![
            Move {
                id: Ident::from_text("new"),
                from: None,
                to: 0,
            },
            Move {
                id,
                from: Some(1),
                to: 0,
            },
        ];
        let died = Reply::Move(moves[1].clone());
        let (before, after) = (0.5, 1.0);
        let reply = Reply::Rebalance {
            before,
            after,
            moves,
        };
        assert_eq!(
            say(&reply),
            "REBALANCE 2 0.500000 1.000000\nMOVE new - 0\nMOVE \"a b\" 1 0\n"
        );
        assert_eq!(say(&died), "MOVE \"a b\" 1 0\n");
    }

    #[test]
    fn the_end_names_the_match_and_whether_it_counts() {
        let end = |unrated: Option<&str>| {
            let id = "00ff".to_owned();
            let unrated = unrated.map(str::to_owned);
            String::from_utf8(bytes(&Reply::End { id, unrated })).unwrap()
        };
        assert_eq!(end(None), "END 00ff recorded\n");
        assert_eq!(end(Some("too short")), "END 00ff unrated too short\n");
    }
}
