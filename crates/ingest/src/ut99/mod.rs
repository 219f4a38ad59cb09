//! Unreal Tournament (1999): ngLog, as the game and UTStats write it.
//!
//! A line has fields between tabs: seconds, a kind, and its arguments. A log opens with the settings of
//! its game; play begins with `game_start` (or, in a tournament, again with `realstart`) and ends with
//! `game_end`. UTStats adds each player's score after that. `game` follows one game; `parser` reads
//! lines and separates the games of a log.

mod date;
mod game;
mod parser;
mod player;
#[cfg(test)]
mod tests;

use super::{
    format::{DateZone, Format, mostly},
    lines::MAX_LINE,
    text,
};

/// The format's entry in the registry.
pub(super) const FORMAT: Format = Format {
    name: "ut99",
    detect,
    is_beneath: None,
    parser: |context| Box::new(parser::Parser::new(context)),
    max_line: MAX_LINE,
    unknown,
    finds_repeats: false,
    names_games: false,
    dates: DateZone::Stated,
    in_halves: false,
};

/// The kinds of lines by which the format is recognised.
const KINDS: [&[u8]; 13] = [
    b"info",
    b"map",
    b"game",
    b"player",
    b"kill",
    b"teamkill",
    b"suicide",
    b"item_get",
    b"game_start",
    b"game_end",
    b"teamscore",
    b"stat_player",
    b"flag_captured",
];

/// Further kinds of lines, which no record needs.
const NEEDLESS: [&[u8]; 17] = [
    b"item_activate",
    b"item_deactivate",
    b"item_destroyed",
    b"item_crush",
    b"spree",
    b"headshot",
    b"typing",
    b"first_blood",
    b"flag_taken",
    b"flag_dropped",
    b"flag_returned",
    b"flag_returned_timeout",
    b"flag_pickedup",
    b"flag_kill",
    b"flag_assist",
    b"assault_obj",
    b"translocate",
];

/// The kind of a line that the parser does not know.
fn unknown(line: &[u8]) -> Option<&[u8]> {
    let (_, rest) = text::seconds(line)?;
    let kind = rest.split(|&b| b == b'\t').next()?;
    let known = KINDS.contains(&kind) || NEEDLESS.contains(&kind) || kind.starts_with(b"weap_");
    (!known && !kind.is_empty()).then_some(kind)
}

fn detect(head: &[u8]) -> bool {
    mostly(head, |line| {
        let Some((_, rest)) = text::seconds(line) else {
            return (!line.is_empty()).then_some(false);
        };
        let kind = rest.split(|&b| b == b'\t').next()?;
        let known = KINDS.contains(&kind) || kind.starts_with(b"weap_");
        known.then_some(true)
    })
}
