//! Unreal Tournament (1999): ngLog, as the game and UTStats write it.
//!
//! A line has fields between tabs: seconds, a kind, and its arguments. A log opens with the settings of
//! its game; play begins with `game_start` (or, in a tournament, again with `realstart`) and ends with
//! `game_end`. UTStats adds each player's score after that. `game` follows one game; `parser` reads
//! lines and separates the games of a log.

mod game;
mod parser;
#[cfg(test)]
mod tests;

use super::{
    format::{Format, mostly},
    lines::MAX_LINE,
    text,
};

/// The format's entry in the registry.
pub(super) const FORMAT: Format = Format {
    name: "ut99",
    detect,
    parser: |context| Box::new(parser::Parser::new(context)),
    max_line: MAX_LINE,
    in_halves: false,
};

fn detect(head: &[u8]) -> bool {
    mostly(head, |line| {
        let Some((_, rest)) = text::seconds(line) else {
            return (!line.is_empty()).then_some(false);
        };
        let kind = rest.split(|&b| b == b'\t').next()?;
        let kinds: [&[u8]; 13] = [
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
        let known = kinds.contains(&kind) || kind.starts_with(b"weap_");
        known.then_some(true)
    })
}
