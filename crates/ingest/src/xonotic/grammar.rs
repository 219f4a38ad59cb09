//! Reads one line of an event log of version 3.

use crate::{
    event::ClientTeam,
    text::{self, LineResult, date_time, name, whole_number},
};
use evenkeel_model::Timestamp;

/// The content of a line that a record needs. `id` is the number that the server gave to a player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum XonoticEvent<'a> {
    /// The time of the lines that follow.
    Time(Timestamp),
    /// A game begins.
    GameStart {
        /// The game type, for example `ctf`.
        kind: &'a [u8],
        /// The map, as the server names it.
        map: &'a [u8],
    },
    /// The active mutators, separated by colons.
    Mutators(&'a [u8]),
    /// A player connected.
    Join {
        /// The player's number.
        id: usize,
        /// The number by which commands name the player.
        slot: Option<u32>,
        /// Whether it is a bot.
        bot: bool,
        /// The name, with colour codes.
        nick: &'a [u8],
    },
    /// A player's new team.
    Team {
        /// The player's number.
        id: usize,
        /// The team, or that the player watches.
        place: ClientTeam,
    },
    /// The player of this number left.
    Part(usize),
    /// A player's new name.
    Name {
        /// The player's number.
        id: usize,
        /// The name, with colour codes.
        nick: &'a [u8],
    },
    /// A player was killed.
    Kill {
        /// Whether the victim was an enemy, and not a team mate or the killer.
        frag: bool,
        /// The killer's number.
        killer: usize,
        /// The victim's number.
        victim: usize,
    },
    /// The player of this number captured a flag.
    Capture(usize),
    /// The map begins again: everything played so far was warm-up.
    Restart,
    /// The game is over, and its final scores follow.
    Scores {
        /// How long the game lasted.
        seconds: Option<f64>,
    },
    /// Scores of a moment in play follow.
    Status,
    /// The meaning of each of a player's scores, separated by commas.
    PlayerLabels(&'a [u8]),
    /// The meaning of each of a team's scores.
    TeamLabels(&'a [u8]),
    /// A player's scores, separated by commas.
    Player {
        /// The player's number.
        id: usize,
        /// The scores, separated by commas.
        scores: &'a [u8],
        /// How long the player took part, in seconds.
        played: Option<f64>,
        /// Whether the player watches.
        watches: bool,
        /// The player's team; `None` without one.
        team: Option<u8>,
    },
    /// A team's scores, separated by commas.
    TeamScores {
        /// The team, counted from 0.
        team: u8,
        /// The scores, separated by commas.
        scores: &'a [u8],
    },
    /// All scores have been written.
    End,
    /// The server ends the game, for whatever reason.
    GameOver,
    /// Any other line; it does not affect the record.
    Other,
}

/// Reads a whole line.
///
/// # Errors
/// Returns what is wrong with the line.
pub(super) fn read(line: &[u8]) -> LineResult<XonoticEvent<'_>> {
    let Some(rest) = line.strip_prefix(b":") else {
        return Err("the line does not begin with a colon");
    };
    let mut fields = LineFields(Some(rest));
    Ok(match fields.next()? {
        b"time" => XonoticEvent::Time(date_time(fields.rest()?).ok_or("the time is not a date")?),
        b"kill" => kill(fields)?,
        b"ctf" => capture(fields)?,
        b"gamestart" => game_start(fields)?,
        b"gameinfo" => match fields.next()? {
            b"mutators" => {
                XonoticEvent::Mutators(fields.rest()?.strip_prefix(b"LIST").unwrap_or(b""))
            }
            _ => XonoticEvent::Other,
        },
        b"join" => join(fields)?,
        b"team" => {
            let (id, team, kind) = (fields.id()?, fields.next()?, fields.next().unwrap_or(b""));
            let place = match team_of(team) {
                Some(team) => ClientTeam::Team(team),
                None if team == b"spectator" || kind == b"4" => ClientTeam::Spectator,
                None => ClientTeam::Free,
            };
            XonoticEvent::Team { id, place }
        }
        b"part" => XonoticEvent::Part(fields.id()?),
        b"name" => XonoticEvent::Name {
            id: fields.id()?,
            nick: fields.rest()?,
        },
        b"restart" => XonoticEvent::Restart,
        b"scores" => {
            let seconds = fields.rest()?.rsplit(|&b| b == b':').next();
            let seconds = seconds.and_then(text::real).filter(|s| *s >= 0.0);
            XonoticEvent::Scores { seconds }
        }
        b"status" => XonoticEvent::Status,
        b"labels" => match fields.next()? {
            b"player" => XonoticEvent::PlayerLabels(fields.rest()?),
            b"teamscores" => XonoticEvent::TeamLabels(fields.rest()?),
            _ => XonoticEvent::Other,
        },
        b"player" => player(fields)?,
        b"teamscores" => {
            let (_labels, scores, team) = (fields.next()?, fields.next()?, fields.next()?);
            match team_of(team) {
                Some(team) if !scores.is_empty() => XonoticEvent::TeamScores { team, scores },
                _ => XonoticEvent::Other,
            }
        }
        b"end" => XonoticEvent::End,
        b"gameover" => XonoticEvent::GameOver,
        _ => XonoticEvent::Other,
    })
}

/// A client that has connected.
fn join(mut fields: LineFields<'_>) -> LineResult<XonoticEvent<'_>> {
    let (id, slot, address) = (fields.id()?, fields.next()?, fields.next()?);
    // An IPv6 address contains colons, as a nick may; it is in brackets.
    let nick = match address.first() {
        Some(b'[') => after(fields.rest()?, b"]:"),
        _ => fields.rest()?,
    };
    Ok(XonoticEvent::Join {
        id,
        slot: whole_number(slot).and_then(|slot| u32::try_from(slot).ok()),
        bot: address == b"bot",
        nick,
    })
}

/// The fields of a line, separated by colons.
struct LineFields<'a>(Option<&'a [u8]>);

impl<'a> LineFields<'a> {
    fn next(&mut self) -> LineResult<&'a [u8]> {
        let rest = self.0.ok_or(MISSING)?;
        let colon = rest.iter().position(|&b| b == b':');
        let (field, rest) = match colon {
            Some(colon) => (&rest[..colon], Some(&rest[colon + 1..])),
            None => (rest, None),
        };
        self.0 = rest;
        Ok(field)
    }

    fn rest(&mut self) -> LineResult<&'a [u8]> {
        self.0.take().ok_or(MISSING)
    }

    fn id(&mut self) -> LineResult<usize> {
        let id = whole_number(self.next()?).and_then(|id| usize::try_from(id).ok());
        id.ok_or("a player's number is missing")
    }
}

const MISSING: &str = "a field is missing";

fn after<'a>(bytes: &'a [u8], what: &[u8]) -> &'a [u8] {
    let at = bytes.windows(what.len()).position(|window| window == what);
    at.map_or(bytes, |at| &bytes[at + what.len()..])
}

/// The team of one of the engine's colours: red, blue, yellow, pink.
fn team_of(colour: &[u8]) -> Option<u8> {
    match colour {
        b"5" => Some(0),
        b"14" => Some(1),
        b"13" => Some(2),
        b"10" => Some(3),
        _ => None,
    }
}

/// Reads `<type>_<map>:<match id>`.
fn game_start(mut fields: LineFields<'_>) -> LineResult<XonoticEvent<'_>> {
    let level = fields.next()?;
    let underscore = level.iter().position(|&b| b == b'_');
    let underscore = underscore.ok_or("the game has no map")?;
    let (kind, map) = (&level[..underscore], &level[underscore + 1..]);
    if kind.is_empty() {
        return Err("the game has no type");
    }
    Ok(XonoticEvent::GameStart { kind, map })
}

/// Reads `how:killer:victim:…`.
fn kill(mut fields: LineFields<'_>) -> LineResult<XonoticEvent<'_>> {
    let (how, killer, victim) = (fields.next()?, fields.id()?, fields.id()?);
    let frag = how == b"frag" && killer != victim;
    Ok(XonoticEvent::Kill {
        frag,
        killer,
        victim,
    })
}

/// Reads `capture:flag:player`; other flag events change no score.
fn capture(mut fields: LineFields<'_>) -> LineResult<XonoticEvent<'_>> {
    if fields.next()? != b"capture" {
        return Ok(XonoticEvent::Other);
    }
    let _flag = fields.next()?;
    Ok(XonoticEvent::Capture(fields.id()?))
}

/// Reads `see-labels:scores:seconds:team:id:nick`.
fn player(mut fields: LineFields<'_>) -> LineResult<XonoticEvent<'_>> {
    let (_labels, scores, played) = (fields.next()?, fields.next()?, fields.next()?);
    let (team, id) = (fields.next()?, fields.id()?);
    Ok(XonoticEvent::Player {
        id,
        scores,
        played: text::real(played).filter(|seconds| *seconds >= 0.0),
        watches: team == b"spectator",
        team: team_of(team),
    })
}

/// The index of the score that decides the game: its label ends with `!!`. With `<!!` the lowest score
/// wins, which a record cannot express, so such a label does not count.
pub(crate) fn deciding(labels: &[u8]) -> Option<usize> {
    let mut labels = labels.split(|&b| b == b',');
    labels.position(|label| label.ends_with(b"!!") && !label.ends_with(b"<!!"))
}

/// The score at this index of a list.
pub(crate) fn score(scores: &[u8], index: usize) -> Option<f64> {
    scores.split(|&b| b == b',').nth(index).and_then(text::real)
}

/// Removes the colour codes from a name: `^7` and `^xF0A`; `^^` stands for a `^`.
pub(super) fn plain(nick: &[u8]) -> String {
    let mut plain = Vec::with_capacity(nick.len());
    let mut rest = nick;
    loop {
        rest = match rest {
            [b'^', b'^', after @ ..] => {
                plain.push(b'^');
                after
            }
            [b'^', b'0'..=b'9', after @ ..] => after,
            [b'^', b'x', r, g, b, after @ ..]
                if [r, g, b].iter().all(|digit| digit.is_ascii_hexdigit()) =>
            {
                after
            }
            [byte, after @ ..] => {
                plain.push(*byte);
                after
            }
            [] => break,
        };
    }
    name(&plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_real_logs() {
        let parsed = |line: &'static str| read(line.as_bytes());
        assert_eq!(
            parsed(":gamestart:ctf_basementctf:0.0.562212"),
            Ok(XonoticEvent::GameStart {
                kind: b"ctf",
                map: b"basementctf"
            })
        );
        let join = |bot, nick: &'static str| {
            let nick = nick.as_bytes();
            let (id, slot) = (3, Some(4));
            Ok(XonoticEvent::Join {
                id,
                slot,
                bot,
                nick,
            })
        };
        assert_eq!(parsed(":join:3:4:bot:Peg:asus"), join(true, "Peg:asus"));
        assert_eq!(parsed(":join:3:4:192.0.2.1:a"), join(false, "a"));
        assert_eq!(parsed(":join:3:4:[2001:db8::1]:a:b"), join(false, "a:b"));
        let team = |place| Ok(XonoticEvent::Team { id: 1, place });
        assert_eq!(parsed(":team:1:14"), team(ClientTeam::Team(1)));
        assert_eq!(parsed(":team:1:-1:4"), team(ClientTeam::Spectator));
        assert_eq!(parsed(":team:1:-1:1"), team(ClientTeam::Free));
        assert_eq!(
            parsed(":player:see-labels:40,1,12:493:14:1:Delirium"),
            Ok(XonoticEvent::Player {
                id: 1,
                scores: b"40,1,12",
                played: Some(493.0),
                watches: false,
                team: Some(1),
            })
        );
        assert_eq!(parsed(":teamscores:see-labels::3"), Ok(XonoticEvent::Other));
        assert_eq!(
            parsed(":teamscores:see-labels:4,183:14"),
            Ok(XonoticEvent::TeamScores {
                team: 1,
                scores: b"4,183"
            })
        );
        assert_eq!(parsed(":ctf:returned:14"), Ok(XonoticEvent::Other));
        assert_eq!(parsed(":ctf:capture:14:3"), Ok(XonoticEvent::Capture(3)));
        assert_eq!(
            parsed(":gameinfo:mutators:LIST"),
            Ok(XonoticEvent::Mutators(b""))
        );
        assert_eq!(
            parsed(":scores:ctf_x:495"),
            Ok(XonoticEvent::Scores {
                seconds: Some(495.0)
            })
        );
        for wrong in [
            "kill",
            ":kill:frag:1",
            ":time:x",
            ":part:-1",
            ":gamestart:x:1",
            ":join:1:1",
        ] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn labels() {
        assert_eq!(deciding(b"score!!,caps!,kills"), Some(0));
        assert_eq!(deciding(b"score,caps!!,"), Some(1));
        assert_eq!((deciding(b""), deciding(b"time<!!,score")), (None, None));
        assert_eq!(score(b"0,4", 1), Some(4.0));
        assert_eq!(score(b"0,4", 2), None);
    }

    #[test]
    fn colours() {
        assert_eq!(plain(b"^1a^xF0Ab^^7^x1^"), "ab^7^x1^");
    }
}
