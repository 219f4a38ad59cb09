//! The replies about teams: BALANCE, BOTS, PLACE, ADVANTAGE, REBALANCE and MOVE.

use bytes::{Bytes, BytesMut};

use super::{
    Reply,
    fields::{Parsed, dash_or, decimal, ident, number, put_line, split_first, split_last},
};
use crate::writer::WordWriter;
use evenkeel_model::{Ident, Move, SwitchAnswer, decode};

pub(super) fn put_balance(
    out: &mut BytesMut,
    ratio: f64,
    chance: Option<f64>,
    seed: u64,
    humans: &[(Ident, u8)],
    bots: &[u32],
) {
    let lines = humans.len() + bots.len();
    let chance = chance.map_or_else(|| "-".to_owned(), |chance| format!("{chance:.6}"));
    let head = format_args!("{lines} {ratio:.6} {chance} {seed}");
    put_line(out, "BALANCE", head);
    for (id, team) in humans {
        let mut line = WordWriter::new(out, "TEAM");
        line.plain(team);
        line.raw(id);
        line.end();
    }
    for (team, count) in bots.iter().enumerate() {
        put_line(out, "BOTS", format_args!("{team} {count}"));
    }
}

pub(super) fn parse_balance(rest: &[u8], lines: &[Bytes]) -> Parsed {
    let (_, rest) = split_first(rest);
    let (ratio, rest) = split_first(rest);
    let (chance, seed) = split_first(rest);
    let (mut humans, mut bots) = (Vec::new(), Vec::new());
    for line in lines {
        let (verb, rest) = split_first(line);
        let (team, rest) = split_first(rest);
        match verb {
            b"TEAM" => humans.push((ident(rest)?, number(team)?)),
            b"BOTS" if number::<usize>(team)? == bots.len() => bots.push(number(rest)?),
            _ => return Err("neither the team of a human nor the bots of the next team"),
        }
    }
    Ok(Reply::Balance {
        ratio: decimal(ratio)?,
        chance: dash_or(chance, decimal)?,
        seed: number(seed)?,
        humans,
        bots,
    })
}

pub(super) fn put_bots(out: &mut BytesMut, min_players: u32, bots: &[u32]) {
    let mut line = WordWriter::new(out, "BOTS");
    line.plain(min_players);
    for count in bots {
        line.plain(count);
    }
    line.end();
}

pub(super) fn parse_bots(rest: &[u8]) -> Parsed {
    let mut numbers = rest.split(|&b| b == b' ').map(number);
    let min_players = numbers.next().ok_or("no number")??;
    Ok(Reply::Bots(min_players, numbers.collect::<Parsed<_>>()?))
}

pub(super) fn parse_place(rest: &[u8]) -> Parsed {
    let (rest, ratio) = split_last(rest);
    let (id, team) = split_last(rest);
    Ok(Reply::Place(ident(id)?, number(team)?, decimal(ratio)?))
}

pub(super) fn parse_advantage(rest: &[u8]) -> Parsed {
    let (team, factor) = split_first(rest);
    let factor = decimal(factor)?;
    let team = dash_or(team, number)?;
    Ok(Reply::Advantage(team.map(|team| (team, factor))))
}

pub(super) fn parse_rebalance(rest: &[u8], lines: &[Bytes]) -> Parsed {
    let (_, rest) = split_first(rest);
    let (before, after) = split_first(rest);
    let step = |line: &Bytes| match split_first(line) {
        (b"MOVE", rest) => parse_move(rest),
        _ => Err("not a move"),
    };
    Ok(Reply::Rebalance {
        before: decimal(before)?,
        after: decimal(after)?,
        moves: lines.iter().map(step).collect::<Parsed<_>>()?,
    })
}

/// `<verb> <id> <from> <to>`, with `-` if the human was on no team.
pub(crate) fn put_move(out: &mut BytesMut, verb: &str, Move { id, from, to }: &Move) {
    let mut line = WordWriter::new(out, verb);
    line.raw(id);
    match from {
        Some(from) => line.plain(from),
        None => line.plain('-'),
    }
    line.plain(to);
    line.end();
}

pub(super) fn put_switch(out: &mut BytesMut, id: &Ident, answer: SwitchAnswer) {
    let mut line = WordWriter::new(out, "SWITCH");
    line.raw(id);
    line.plain(answer);
    line.end();
}

pub(super) fn parse_switch(rest: &[u8]) -> Parsed {
    let (id, word) = split_last(rest);
    let answer = SwitchAnswer::parse(&decode(word));
    Ok(Reply::Switch(
        ident(id)?,
        answer.ok_or("an unknown answer")?,
    ))
}

pub(crate) fn parse_move(rest: &[u8]) -> Parsed<Move> {
    let (rest, to) = split_last(rest);
    let (id, from) = split_last(rest);
    Ok(Move {
        id: ident(id)?,
        from: dash_or(from, number)?,
        to: number(to)?,
    })
}
