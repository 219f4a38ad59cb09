//! The kinds of lines that no part of the grammar knows.

use super::grammar::{self, Event};
use crate::unknown::kind_of;

/// Events that no record needs: of the server first, then of players.
const NEEDLESS: &[&str] = &[
    "Server cvar",
    "server cvar",
    "Server name",
    "server_message",
    "Server say",
    "rcon from",
    "Rcon",
    "Bad Rcon",
    "[META]",
    "[AMXX]",
    "[SM]",
    "Starting Freeze",
    "MatchStatus",
    "Team playing",
    "ACCOLADE",
    "Molotov projectile",
    "JSON_BEGIN",
    "}}JSON_END",
    "\"",
    "Vote ",
    "Kick",
    "Banid",
    "STEAMAUTH",
    "STEAM USERID",
    "World triggered \"Round_Setup",
    "World triggered \"Round_Overtime",
    "World triggered \"Round_Freeze_End",
    "World triggered \"Mini_Round_S",
    "World triggered \"Game_Paused",
    "World triggered \"Game_Unpaused",
    "World triggered \"Intermission",
    "say",
    "position_report",
    "picked up",
    "purchased",
    "dropped",
    "threw",
    "blinded for",
    "attacked",
    "damaged",
    "assisted killing",
    "flash-assisted killing",
    "killed other",
    "killed",
    "joined team",
    "left buyzone",
    "planted",
    "defused",
    "sv_throw_",
    "triggered \"damage",
    "triggered \"shot_",
    "triggered \"heal",
    "triggered \"kill",
    "triggered \"flagevent",
    "triggered \"Begin_Bomb",
    "triggered \"Bomb_",
    "triggered \"Defused_",
    "triggered \"Dropped_The",
    "triggered \"Got_The",
    "triggered \"Planted_The",
    "triggered \"Spawned_With",
    "triggered \"Touched_A",
    "triggered \"Rescued_A",
    "triggered \"builtobject",
    "triggered \"captureblocked",
    "triggered \"charge",
    "triggered \"domination",
    "triggered \"dropitems",
    "triggered \"empty_uber",
    "triggered \"first_heal",
    "triggered \"gainitem",
    "triggered \"info_player",
    "triggered \"lost_uber",
    "triggered \"medic_death",
    "triggered \"object_",
    "triggered \"player_",
    "triggered \"revenge",
    "triggered \"Sentry_",
    "triggered \"Dispenser_",
    "triggered \"Built_",
    "triggered \"Concussion",
    "triggered \"Detpack",
    "triggered \"Medic_Infection",
    "triggered \"Passed_On",
    "triggered \"Spy_",
    "triggered \"clantag",
    "triggered \"clan_",
];

/// The kind of event of a line that [`grammar`] does not know.
pub(super) fn unknown(line: &[u8]) -> Option<&[u8]> {
    let (_, rest) = grammar::stamp(line).ok()?;
    let event = match grammar::read(rest) {
        Ok(Event::Other) => rest,
        Ok(Event::Player(_, grammar::PlayerAction::Other)) => grammar::after_player(rest)?,
        _ => return None,
    };
    let kind = kind_of(event, NEEDLESS)?;
    // What is triggered is a name in quotes, which belongs to the kind.
    let quoted = event
        .get(kind.len()..)?
        .trim_ascii_start()
        .strip_prefix(b"\"");
    match quoted.and_then(|name| Some((name, memchr::memchr(b'"', name)?))) {
        Some((name, end)) if kind.ends_with(b"triggered") => {
            Some(&event[..event.len() - name.len() + end + 1])
        }
        _ => Some(kind),
    }
}
