//! The replies about one player: weights, and divisions.

use bytes::{Bytes, BytesMut};

use super::{
    Reply,
    fields::{Parsed, dash_or, decimal, ident, number, split_first, split_last},
};
use crate::{quoted::is_one_quoted_word, words::Words, writer::WordWriter};
use evenkeel_model::Ident;

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
