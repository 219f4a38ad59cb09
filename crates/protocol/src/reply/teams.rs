//! The replies about teams and about one player: BALANCE, BOTS, PLACE, ADVANTAGE, REBALANCE and MOVE; weights, and
//! divisions.

use bytes::{Bytes, BytesMut};
use evenkeel_model::{
    ident::{Ident, decode},
    in_game::{Move, SwitchAnswer},
};

use super::{Parsed, Reply, dash_or, decimal, ident, number, put_line, split_first, split_last};
use crate::words::{WordWriter, Words, is_one_quoted_word};

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

/// `VERB <id> [<weight>]`
pub(super) fn put_weight(out: &mut BytesMut, verb: &str, id: &Ident, weight: Option<f64>) {
    let mut line = WordWriter::new(out, verb);
    line.raw(id);
    if let Some(weight) = weight {
        line.plain(format_args!("{weight:.3}"));
    }
    line.end();
}

pub(super) fn parse_player(rest: &[u8]) -> Parsed {
    let (head, last) = split_last(rest);
    let places = last.iter().rev().position(|&b| b == b'.');
    if head.is_empty() || places != Some(3) || is_one_quoted_word(rest) {
        return Ok(Reply::Player(ident(rest)?, None));
    }
    Ok(match decimal(last) {
        Ok(weight) => Reply::Player(ident(head)?, Some(weight)),
        Err(_) => Reply::Player(ident(rest)?, None),
    })
}

pub(super) fn parse_bot(rest: &[u8]) -> Parsed {
    let (id, weight) = split_last(rest);
    Ok(Reply::Bot(ident(id)?, decimal(weight)?))
}

/// `RANK <id> <division> <progress> <games> [<weight>]`, with `-` for division and progress while the
/// player is calibrating.
pub(super) fn put_rank(
    out: &mut BytesMut,
    id: &Ident,
    division: Option<&(String, f64)>,
    games: u32,
    weight: Option<f64>,
) {
    let mut line = WordWriter::new(out, "RANK");
    line.raw(id);
    match division {
        Some((name, progress)) => {
            line.word(&Ident::from_text(name));
            line.plain(format_args!("{progress:.3}"));
        }
        None => line.plain("- -"),
    }
    line.plain(games);
    if let Some(weight) = weight {
        line.plain(format_args!("{weight:.3}"));
    }
    line.end();
}

pub(super) fn parse_rank(rest: &[u8]) -> Parsed {
    let mut words = Words::new(Bytes::copy_from_slice(rest));
    let mut word = || words.word("").map_err(|_| "an argument is missing");
    let (id, name, progress, games) = (word()?, word()?, word()?, word()?);
    let progress = dash_or(progress.text().as_bytes(), decimal)?;
    let weight = word().ok().map(|weight| decimal(weight.text().as_bytes()));
    words.end().map_err(|_| "too many arguments")?;
    let division = progress.map(|progress| (name.text().to_owned(), progress));
    Ok(Reply::Rank {
        id,
        division,
        games: number(games.text().as_bytes())?,
        weight: weight.transpose()?,
    })
}

pub(super) fn parse_mean_bot(rest: &[u8]) -> Parsed {
    let (weight, count) = split_first(rest);
    Ok(Reply::MeanBot(decimal(weight)?, number(count)?))
}
