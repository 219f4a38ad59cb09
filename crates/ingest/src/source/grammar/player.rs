//! Reads what a line states of players.

use super::{PlayerAction, PlayerTag, after, has, quoted};
use crate::{
    event::ClientTeam,
    text::{self, LineResult},
};

/// Reads a quoted player, and returns it with what follows. A name may contain any character, a
/// quotation mark too, so the player ends at the first quotation mark before which the fields, which
/// are read from the right, are complete.
pub(super) fn who(bytes: &[u8]) -> LineResult<(PlayerTag<'_>, &[u8])> {
    let token = bytes.strip_prefix(b"\"").ok_or("quotes are missing")?;
    let mut why = "the quotes do not end";
    for end in memchr::memchr_iter(b'"', token).take(MAX_QUOTES) {
        let (player, rest) = (&token[..end], &token[end + 1..]);
        match tag(player, rest) {
            Ok(who) => return Ok((who, rest)),
            Err(wrong) => why = wrong,
        }
    }
    Err(why)
}

/// What a line contains after the player it begins with, and the player's position.
pub(in crate::source) fn after_player(rest: &[u8]) -> Option<&[u8]> {
    let (_, rest) = who(rest).ok()?;
    Some(text::skip_blanks(skip_position(rest)))
}

/// The most quotation marks of a line that may be part of its first player's name.
const MAX_QUOTES: usize = 32;

/// What Counter-Strike writes after a player who changes sides; the player has no team there.
const SWITCHED: &[u8] = b" switched from team <";

/// How Counter-Strike 2 names the console of the server, which has neither an id nor a team.
const CONSOLE: &[u8] = b"Console<0>";
/// Its id of a bot that is being removed, or of somebody who goes to the spectators.
const NO_ID: &[u8] = b"<<none>>";

/// Reads `name<number><id><team>`, or `name<number><id>` before [`SWITCHED`].
fn tag<'a>(token: &'a [u8], rest: &[u8]) -> LineResult<PlayerTag<'a>> {
    if token == CONSOLE {
        return Ok(PlayerTag {
            name: b"Console",
            uid: Some(0),
            auth: b"Console",
            team: ClientTeam::Unknown,
        });
    }
    let (token, team) = match rest.starts_with(SWITCHED) {
        true => (token, ClientTeam::Unknown),
        false => {
            let (token, team) = last_field(token)?;
            (token, team_of(team))
        }
    };
    let (token, auth) = match token.strip_suffix(NO_ID) {
        Some(token) => (token, &b"<none>"[..]),
        None => last_field(token)?,
    };
    let (name, uid) = last_field(token)?;
    let number = text::whole_number(uid).and_then(|uid| u32::try_from(uid).ok());
    if number.is_none() && !uid.is_empty() {
        return Err("a player's number is missing");
    }
    Ok(PlayerTag {
        name,
        uid: number,
        auth,
        team,
    })
}

/// Removes a position, ` [x y z]`, which Counter-Strike writes after a player.
fn skip_position(rest: &[u8]) -> &[u8] {
    let at = rest.strip_prefix(b" [");
    let end = at.and_then(|at| Some(&at[memchr::memchr(b']', at)? + 1..]));
    end.unwrap_or(rest)
}

/// Splits off a last `<field>`.
fn last_field(token: &[u8]) -> LineResult<(&[u8], &[u8])> {
    let inner = token.strip_suffix(b">");
    let open = inner.and_then(|inner| inner.iter().rposition(|&b| b == b'<'));
    match (inner, open) {
        (Some(inner), Some(open)) => Ok((&inner[..open], &inner[open + 1..])),
        _ => Err("the player is not written as name<number><id><team>"),
    }
}

/// The team of this name, in any of the games. Team Fortress Classic has maps with four teams.
pub(super) fn team_of(name: &[u8]) -> ClientTeam {
    const TEAMS: [&[&str]; 4] = [
        &["red", "terrorist", "allies", "combine"],
        &["blue", "ct", "axis", "rebels"],
        &["yellow"],
        &["green"],
    ];
    if name.is_empty() {
        return ClientTeam::Unknown;
    }
    let is = |known: &&str| known.as_bytes().eq_ignore_ascii_case(name);
    let index = (0u8..).zip(TEAMS).find(|(_, names)| names.iter().any(is));
    index.map_or(ClientTeam::Spectator, |(index, _)| ClientTeam::Team(index))
}

pub(super) fn act(rest: &[u8]) -> LineResult<PlayerAction<'_>> {
    if let Some(teams) = rest.strip_prefix(SWITCHED) {
        return switched(teams);
    }
    let rest = text::skip_blanks(skip_position(rest));
    let verb = rest.iter().position(|&b| b == b'"').unwrap_or(rest.len());
    let (verb, rest) = rest.split_at(verb);
    Ok(match verb {
        b"triggered " => triggered(rest)?,
        b"killed " => {
            let (victim, rest) = who(rest)?;
            // A spy who pretends to die.
            if has(rest, b"\"feign_death\"") {
                PlayerAction::Other
            } else {
                let knife = has(rest, b"with \"knife");
                PlayerAction::Kill { victim, knife }
            }
        }
        b"committed suicide with " => PlayerAction::Die,
        b"joined team " => match team_of(quoted(rest)?.0) {
            ClientTeam::Unknown => PlayerAction::Other,
            team => PlayerAction::Join(team),
        },
        b"was killed by the bomb." => PlayerAction::Die,
        b"connected, address " => PlayerAction::Connect,
        b"entered the game" => PlayerAction::Enter,
        b"changed role to " | b"spawned as " => PlayerAction::Class(class_of(quoted(rest)?.0)),
        b"changed name to " => PlayerAction::Rename(quoted(rest)?.0),
        b"disconnected" | b"disconnected (reason " => PlayerAction::Leave,
        _ if verb.starts_with(b"money change ") => PlayerAction::Misnumbered,
        _ => PlayerAction::Other,
    })
}

/// The class of this name; `None` for a player who has not chosen one yet.
fn class_of(name: &[u8]) -> Option<&[u8]> {
    let none = name.is_empty() || name.eq_ignore_ascii_case(b"undefined");
    (!none).then_some(name)
}

/// Reads `CT> to <TERRORIST>`.
fn switched(teams: &[u8]) -> LineResult<PlayerAction<'_>> {
    let to = after(teams, b"> to <").strip_suffix(b">");
    let to = to.ok_or("the new team is missing")?;
    Ok(match team_of(to) {
        ClientTeam::Unknown => PlayerAction::Other,
        team => PlayerAction::Join(team),
    })
}

fn triggered(rest: &[u8]) -> LineResult<PlayerAction<'_>> {
    let (what, rest) = quoted(rest)?;
    let captured = match what {
        // The plugin for statistics numbers this player 0.
        b"medic_death" => return Ok(PlayerAction::Misnumbered),
        b"flagevent" => has(rest, b"(event \"captured\")"),
        // The goals of Team Fortress Classic's own maps.
        _ => what.starts_with(b"Team ") && what.ends_with(b" dropoff"),
    };
    Ok(if captured {
        PlayerAction::Capture
    } else {
        PlayerAction::Other
    })
}
