//! id Tech 3 (`games.log`): Quake III Arena, OpenArena, Urban Terror and their relatives.
//!
//! A game begins with `InitGame:` or, in Urban Terror, with each `InitRound:`, and ends with `Exit:`.
//! Its results follow `Exit:`, so the match is complete only when the next game begins or the log
//! ends.
//!
//! - `grammar` reads one line.
//! - `setup` reads the settings of a game from its `InitGame:` line, and which game it is.
//! - `clients` holds who is on which client number.
//! - `server` says what the lines mean, for records and for those who follow a running server.
//! - `game` follows one game, and `parser` separates the games of a log and joins the halves of a match.

pub mod clients;
mod game;
pub mod grammar;
mod parser;
pub mod server;
pub mod setup;
#[cfg(test)]
mod tests;

use super::{
    format::{DateZone, Format, mostly},
    lines::MAX_LINE,
};
use crate::format::kind_of;

/// The format's entry in the registry.
pub(super) const FORMAT: Format = Format {
    name: "idtech3",
    detect: |head| mostly(head, grammar::is_known),
    is_beneath: Some(grammar::is_beneath),
    parser: |context| Box::new(parser::IdTech3Parser::new(context)),
    max_line: MAX_LINE,
    unknown,
    finds_repeats: false,
    names_games: true,
    dates: DateZone::OfStamps,
    in_halves: false,
};

/// Whether a line is of this format, but lacks its time, as what a server prints on its console.
pub(super) fn is_without_time(line: &[u8]) -> bool {
    !grammar::has_time(line) && grammar::is_beneath(line)
}

/// Events that no record needs.
const NEEDLESS: [&str; 38] = [
    "-----",
    "Item",
    "tell",
    "say",
    "PlayerScore",
    "Playerstore",
    "Award",
    "CTF",
    "1FCTF",
    "1fCTF",
    "Flag",
    "FlagCaptureTime",
    "TeamScore",
    "SurvivorWinner",
    "ClientSpawn",
    "Info",
    "Session data initialised",
    "Restored player",
    "Challenge",
    "Hit",
    "Assist",
    "Radio",
    "Callvote",
    "Vote",
    "Bomb",
    "Pop!",
    "HotPotato",
    "Freeze",
    "Unfreeze",
    "ThawOut",
    "ClientMelted",
    "ClientJump",
    "ClientSavePosition",
    "ClientLoadPosition",
    "ClientGoto",
    "Account",
    "AccessLevel",
    "Weapon_Stats",
];

/// The kind of event of a line that [`grammar`] does not know.
fn unknown(line: &[u8]) -> Option<&[u8]> {
    match grammar::read(line, true) {
        Ok(Some((_, grammar::IdTech3Event::Other))) => kind_of(grammar::clock(line)?.1, &NEEDLESS),
        _ => None,
    }
}
