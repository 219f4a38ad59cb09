//! The replies of a server: one variant of [`Reply`] per kind. Each kind is written and read in this file, in `teams`
//! or in `queue`.
//!
//! Identifiers are written in exactly the bytes that the peer sent, which may contain unquoted blanks. So a line is
//! parsed from both ends, and the identifier is what remains in the middle.

mod queue;
mod reader;
mod teams;

pub(super) use queue::go;
pub use queue::{QueueLine, TicketReply};
pub use reader::{Received, ReplyReader};
pub(super) use teams::{parse_move, put_move};

use std::{fmt::Display, str::FromStr};

use bytes::{Bytes, BytesMut};
use evenkeel_model::{
    ident::{Ident, decode},
    in_game::{Move, SwitchAnswer},
};

use crate::{
    Code, Refusal,
    error::MalformedReply,
    words::{WordWriter, Words},
};

use queue::{calls_after, parse_queues, put_queues};
use teams::{
    parse_advantage, parse_balance, parse_bot, parse_bots, parse_mean_bot, parse_place,
    parse_player, parse_rank, parse_rebalance, parse_switch, put_balance, put_bots, put_rank,
    put_switch, put_weight,
};

/// The version of the protocol that the reply to HELLO names.
pub const VERSION: u32 = 1;

/// One reply, of one or several lines.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A human's weight; `None` if the player is unknown.
    Player(Ident, Option<f64>),
    /// A bot's weight.
    Bot(Ident, f64),
    /// A human's division.
    Rank {
        /// The identity of the human, as it was sent.
        id: Ident,
        /// The name of the division, and the way through it, 0 to 1; `None` while the player is
        /// calibrating.
        division: Option<(String, f64)>,
        /// Number of rated matches in this ruleset.
        games: u32,
        /// The weight; `None` if players are not shown it, or it is unknown.
        weight: Option<f64>,
    },
    /// The mean weight of the known bots, and their number.
    MeanBot(f64, usize),
    /// The reply to HELLO.
    Hello {
        /// Name and version of the program, such as `evenkeel/0.2.0`.
        program: String,
        /// Version of the protocol, now 1.
        protocol: u32,
        /// Whether a game was resumed; `None` if the peer did not ask for that.
        resumed: Option<bool>,
    },
    /// The reply to PING.
    Pong,
    /// The teams that BALANCE chose.
    Balance {
        /// The weight of the weakest team divided by that of the strongest, 0 to 1.
        ratio: f64,
        /// The predicted chance that team 0 wins; `None` if there is no prediction.
        chance: Option<f64>,
        /// The seed that reproduces the pick.
        seed: u64,
        /// Each human's team, in JOIN order.
        humans: Vec<(Ident, u8)>,
        /// The number of bots on each team.
        bots: Vec<u32>,
    },
    /// The value of MINPLAYERS, and the number of bots on each team.
    Bots(u32, Vec<u32>),
    /// The team for a late arrival, and the resulting ratio.
    Place(Ident, u8, f64),
    /// The team that needs an advantage, and the factor; `None` if no team does.
    Advantage(Option<(u8, f64)>),
    /// The moves that REBALANCE advises: the fewest that make the game even.
    Rebalance {
        /// The ratio before the moves, 0 to 1.
        before: f64,
        /// The ratio after the moves, 0 to 1.
        after: f64,
        /// The advised moves, in the order in which to make them.
        moves: Vec<Move>,
    },
    /// The human who died moves to another team now.
    Move(Move),
    /// What becomes of a human who has volunteered.
    Switch(Ident, SwitchAnswer),
    /// The match has been stored.
    End {
        /// The id under which it is stored.
        id: String,
        /// Why the match is not rated, on one line; `None` if it is rated.
        unrated: Option<String>,
    },
    /// The explanation of the last decision, one reason per line.
    Explain(Vec<String>),
    /// The configured queues.
    Queues(Vec<QueueLine>),
    /// The state of a ticket.
    Ticket(TicketReply),
    /// The seats of a team for which players of the queue are sought now.
    Backfill {
        /// The match in play.
        id: i64,
        /// Number of those seats, with those whose players are on their way.
        seats: u32,
    },
    /// The command was refused and changed nothing.
    Error(Refusal),
}

impl Reply {
    /// The reply of this program to HELLO.
    pub fn hello(resumed: Option<bool>) -> Self {
        Self::Hello {
            program: concat!("evenkeel/", env!("CARGO_PKG_VERSION")).to_owned(),
            protocol: VERSION,
            resumed,
        }
    }
}

/// What a part of a reply says, or what is wrong with it.
pub(super) type Parsed<T = Reply> = Result<T, &'static str>;

fn put_line(out: &mut BytesMut, verb: &str, arguments: impl Display) {
    let mut line = WordWriter::new(out, verb);
    line.plain(arguments);
    line.end();
}

/// The first word, and the rest after one blank.
pub(super) fn split_first(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|&b| b == b' ') {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, b""),
    }
}

/// The text before the last word, and the last word.
pub(super) fn split_last(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().rposition(|&b| b == b' ') {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (b"", text),
    }
}

pub(super) fn ident(raw: &[u8]) -> Parsed<Ident> {
    let raw = Bytes::copy_from_slice(raw);
    let ident = Words::new(raw).whole_rest("the identifier");
    ident.map_err(|_| "an identifier is missing")
}

pub(super) fn number<T: FromStr>(word: &[u8]) -> Parsed<T> {
    let text = std::str::from_utf8(word).ok();
    let number = text.and_then(|text| text.parse().ok());
    number.ok_or("not a number in its range")
}

fn decimal(word: &[u8]) -> Parsed<f64> {
    let number = number(word).ok().filter(|number: &f64| number.is_finite());
    number.ok_or("not a decimal")
}

fn dash_or<T>(word: &[u8], read: impl Fn(&[u8]) -> Parsed<T>) -> Parsed<Option<T>> {
    match word {
        b"-" => Ok(None),
        word => read(word).map(Some),
    }
}

/// The most lines that a reply may have. A roster has at most 128 humans, and EXPLAIN has a few
/// lines for each.
const MAX_LINES: usize = 1_024;

impl Reply {
    /// Appends the reply's lines. Weights have three decimal places, ratios and chances six.
    pub fn encode(&self, out: &mut BytesMut) {
        match self {
            Reply::Player(id, weight) => put_weight(out, "PLAYER", id, *weight),
            Reply::Bot(id, weight) => put_weight(out, "BOT", id, Some(*weight)),
            Reply::Rank {
                id,
                division,
                games,
                weight,
            } => put_rank(out, id, division.as_ref(), *games, *weight),
            Reply::MeanBot(weight, count) => {
                put_line(out, "MEANBOT", format_args!("{weight:.3} {count}"));
            }
            Reply::Hello {
                program,
                protocol,
                resumed,
            } => put_hello(out, program, *protocol, *resumed),
            Reply::Pong => WordWriter::new(out, "PONG").end(),
            Reply::Balance {
                ratio,
                chance,
                seed,
                humans,
                bots,
            } => put_balance(out, *ratio, *chance, *seed, humans, bots),
            Reply::Bots(min_players, bots) => put_bots(out, *min_players, bots),
            Reply::Place(id, team, ratio) => {
                let mut line = WordWriter::new(out, "PLACE");
                line.raw(id);
                line.plain(format_args!("{team} {ratio:.6}"));
                line.end();
            }
            Reply::Advantage(None) => put_line(out, "ADVANTAGE", "- 1.000"),
            Reply::Advantage(Some((team, factor))) => {
                put_line(out, "ADVANTAGE", format_args!("{team} {factor:.3}"));
            }
            Reply::Rebalance {
                before,
                after,
                moves,
            } => {
                let lines = moves.len();
                let head = format_args!("{lines} {before:.6} {after:.6}");
                put_line(out, "REBALANCE", head);
                moves.iter().for_each(|step| put_move(out, "MOVE", step));
            }
            Reply::Move(step) => put_move(out, "MOVE", step),
            Reply::Switch(id, answer) => put_switch(out, id, *answer),
            Reply::End { id, unrated } => put_end(out, id, unrated.as_deref()),
            Reply::Explain(reasons) => {
                put_line(out, "EXPLAIN", reasons.len());
                for reason in reasons {
                    put_line(out, "WHY", reason);
                }
            }
            Reply::Queues(queues) => put_queues(out, queues),
            Reply::Ticket(state) => state.encode(out),
            Reply::Backfill { id, seats } => {
                put_line(out, "BACKFILL", format_args!("{id} {seats}"))
            }
            Reply::Error(refusal) => put_line(out, "ERROR", refusal),
        }
    }

    /// The number of lines that follow this first line of a reply.
    ///
    /// # Errors
    /// Fails if the line contains no number, or one above the largest possible.
    pub(crate) fn lines_after(first: &[u8]) -> Result<usize, MalformedReply> {
        let (verb, rest) = split_first(first);
        if verb == b"GO" {
            let left = number(calls_after(rest)).ok();
            return left.filter(|&lines| lines <= MAX_LINES).ok_or_else(|| {
                MalformedReply::new("a call lacks the number of those after it", first)
            });
        }
        if !matches!(verb, b"BALANCE" | b"REBALANCE" | b"EXPLAIN" | b"QUEUES") {
            return Ok(0);
        }
        let lines = number(split_first(rest).0).ok();
        lines.filter(|&lines| lines <= MAX_LINES).ok_or_else(|| {
            MalformedReply::new(
                "the number of lines that a reply announces is missing or too large",
                first,
            )
        })
    }

    /// Parses a reply from all of its lines, without their line ends.
    ///
    /// A server repeats an identifier as it was sent. If that was unquoted and contains blanks, the
    /// short and the long form of PLAYER can be ambiguous (`PLAYER John 1.000`);
    /// [`Request::encode`] therefore quotes such identifiers.
    ///
    /// [`Request::encode`]: crate::Request::encode
    ///
    /// # Errors
    /// Fails if the first line is not that of a reply in this version of the protocol, if its
    /// arguments are wrong, or if the number of lines is not the announced one.
    pub fn parse(lines: &[Bytes]) -> Result<Self, MalformedReply> {
        let Some((first, more)) = lines.split_first() else {
            return Err(MalformedReply::new("a reply has no lines", b""));
        };
        if more.len() != Self::lines_after(first)? {
            return Err(MalformedReply::new("a reply lacks lines", first));
        }
        let (verb, rest) = split_first(first);
        let parsed = match verb {
            b"PLAYER" => parse_player(rest),
            b"BOT" => parse_bot(rest),
            b"RANK" => parse_rank(rest),
            b"MEANBOT" => parse_mean_bot(rest),
            b"HELLO" => parse_hello(rest),
            b"PONG" => Ok(Reply::Pong),
            b"BALANCE" => parse_balance(rest, more),
            b"BOTS" => parse_bots(rest),
            b"PLACE" => parse_place(rest),
            b"ADVANTAGE" => parse_advantage(rest),
            b"REBALANCE" => parse_rebalance(rest, more),
            b"MOVE" => parse_move(rest).map(Reply::Move),
            b"SWITCH" => parse_switch(rest),
            b"END" => parse_end(rest),
            b"EXPLAIN" => parse_explain(more),
            b"QUEUES" => parse_queues(more),
            b"BACKFILL" => parse_backfill(rest),
            b"ERROR" => Ok(parse_error(rest)),
            verb => TicketReply::parse(verb, &first.slice_ref(rest), more)
                .unwrap_or(Err("an unknown reply")),
        };
        parsed.map_err(|problem| MalformedReply::new(problem, first))
    }
}

/// `HELLO <program> protocol/<version> [resumed|new]`
fn put_hello(out: &mut BytesMut, program: &str, protocol: u32, resumed: Option<bool>) {
    let mut line = WordWriter::new(out, "HELLO");
    line.plain(format_args!("{program} protocol/{protocol}"));
    if let Some(resumed) = resumed {
        line.plain(if resumed { "resumed" } else { "new" });
    }
    line.end();
}

fn parse_hello(rest: &[u8]) -> Parsed {
    let (program, rest) = split_first(rest);
    let (protocol, resumed) = split_first(rest);
    let version = protocol.strip_prefix(b"protocol/");
    Ok(Reply::Hello {
        program: decode(program).into_owned(),
        protocol: number(version.ok_or("no protocol version")?)?,
        resumed: match resumed {
            b"" => None,
            b"resumed" => Some(true),
            b"new" => Some(false),
            _ => return Err("neither resumed nor new"),
        },
    })
}

fn put_end(out: &mut BytesMut, id: &str, unrated: Option<&str>) {
    match unrated {
        None => put_line(out, "END", format_args!("{id} recorded")),
        Some(reason) => put_line(out, "END", format_args!("{id} unrated {reason}")),
    }
}

fn parse_end(rest: &[u8]) -> Parsed {
    let (id, rest) = split_first(rest);
    let unrated = match split_first(rest) {
        (b"recorded", b"") => None,
        (b"unrated", reason) => Some(decode(reason).into_owned()),
        _ => return Err("neither recorded nor unrated"),
    };
    let id = decode(id).into_owned();
    Ok(Reply::End { id, unrated })
}

fn parse_explain(lines: &[Bytes]) -> Parsed {
    let reason = |line: &Bytes| match split_first(line) {
        (b"WHY", reason) => Ok(decode(reason).into_owned()),
        _ => Err("not a reason"),
    };
    let reasons = lines.iter().map(reason).collect::<Parsed<_>>()?;
    Ok(Reply::Explain(reasons))
}

fn parse_backfill(rest: &[u8]) -> Parsed {
    let (id, seats) = split_first(rest);
    let (id, seats) = (number(id)?, number(seats)?);
    Ok(Reply::Backfill { id, seats })
}

/// Parses an error. An unknown code is read as [`Code::Internal`], with the code in the text.
fn parse_error(rest: &[u8]) -> Reply {
    let (word, text) = split_first(rest);
    let (code, text) = match Code::parse(&decode(word)) {
        Some(code) => (code, text),
        None => (Code::Internal, rest),
    };
    let text = decode(text).into_owned();
    Reply::Error(Refusal { code, text })
}

#[cfg(test)]
mod tests;
