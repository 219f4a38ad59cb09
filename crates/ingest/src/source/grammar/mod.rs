//! Reads one line of a Source or GoldSrc log.

mod player;
mod world;

use crate::{
    event::ClientTeam,
    text::{self, LineResult},
};
use evenkeel_model::Timestamp;
pub(super) use player::after_player;
use player::{act, who};
use world::{folder, map, over, setting, team, world};

/// The content of a line that a record needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SourceEvent<'a> {
    /// The log begins; the game's folder names the game.
    Started(&'a [u8]),
    /// The log ends.
    Closed,
    /// This map is loaded.
    Map(&'a [u8]),
    /// A server setting and its value.
    Setting(&'a [u8], &'a [u8]),
    /// A player did something.
    Player(PlayerTag<'a>, PlayerAction<'a>),
    /// A round begins.
    RoundStart,
    /// A round ends, won by a team or by none.
    RoundEnd,
    /// The length of the round that has just ended, in milliseconds.
    RoundLength(u64),
    /// Everything played so far does not count.
    Restart,
    /// Like [`SourceEvent::Restart`], in Team Fortress Classic.
    MatchBegins,
    /// Like [`SourceEvent::Restart`], on this map, where it is stated.
    MatchStart(&'a [u8]),
    /// The game continues from an earlier round.
    Reloaded,
    /// Until the match starts, players only warm up.
    WarmUp,
    /// The game is over.
    GameOver,
    /// A game of Counter-Strike is over on this map, with the final scores of its sides.
    Over {
        /// The map on which it was played.
        map: &'a [u8],
        /// The final scores of terrorists and counter-terrorists.
        scores: [f64; 2],
    },
    /// A team's score after a round.
    Current(u8, f64),
    /// A team's final score.
    Final(u8, f64),
    /// A team's final score, in GoldSrc, where it also marks the end.
    Scored(u8, f64),
    /// A side's score in Counter-Strike, which states it after each round and at the end of a map.
    Tally(u8, f64),
    /// A round of Counter-Strike has ended: the scores of terrorists and counter-terrorists.
    RoundWon([f64; 2]),
    /// A control point with this name (and more of the line) was captured.
    Point(&'a [u8]),
    /// Any other line; it does not affect the record.
    Other,
}

/// A player as a line names them: `name<number><authentication id><team>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayerTag<'a> {
    /// The name as the line has it.
    pub name: &'a [u8],
    /// The number of the connection.
    pub(crate) uid: Option<u32>,
    pub(crate) auth: &'a [u8],
    /// The team that the line states.
    pub team: ClientTeam,
}

/// What a player did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlayerAction<'a> {
    /// Connected, which begins a connection.
    Connect,
    /// Entered the game, after connecting or after a map change.
    Enter,
    /// Left the server.
    Leave,
    /// Joined a team, or the spectators.
    Join(ClientTeam),
    /// Took this name.
    Rename(&'a [u8]),
    /// Chose a class, or came into the game with it; `None` without one.
    Class(Option<&'a [u8]>),
    /// Killed another player.
    Kill {
        /// The player who was killed.
        victim: PlayerTag<'a>,
        /// Whether the weapon was a knife.
        knife: bool,
    },
    /// Died by suicide or by the world.
    Die,
    /// Captured a flag, or the object that the map has instead of a flag.
    Capture,
    /// Something that does not affect the record.
    Other,
    /// Something else, in a line whose number is not that of the connection.
    Misnumbered,
}

/// The length of `MM/DD/YYYY - HH:MM:SS`.
const STAMP: usize = 21;

/// Splits a line into its date and the rest. A file has `L MM/DD/YYYY - HH:MM:SS: ` before each event;
/// what a server sends over HTTP has no `L`, and often has milliseconds and ` - ` instead of the last
/// colon.
///
/// # Errors
/// Returns what is wrong with the line.
pub fn stamp(line: &[u8]) -> LineResult<(&[u8], &[u8])> {
    let line = line.strip_prefix(b"L ").unwrap_or(line);
    let known = line.len() > STAMP && &line[10..13] == b" - " && line[2] == b'/';
    if !known {
        return Err("the line does not begin with a date");
    }
    let (stamp, rest) = line.split_at(STAMP);
    let rest = match rest {
        [b'.', a, b, c, rest @ ..] if [a, b, c].iter().all(|b| b.is_ascii_digit()) => rest,
        rest => rest,
    };
    let rest = match rest {
        b":" => Some(&rest[1..]),
        _ => rest.strip_prefix(b": ").or(rest.strip_prefix(b" - ")),
    };
    Ok((stamp, rest.ok_or("the line does not begin with a date")?))
}

/// Reads `MM/DD/YYYY - HH:MM:SS` as UTC: the games do not write their time zone.
pub fn date(stamp: &[u8]) -> Option<Timestamp> {
    let mut parts = stamp
        .split(|b| b"/ -:".contains(b))
        .filter(|p| !p.is_empty());
    let mut next = || parts.next().and_then(text::whole_number);
    let mut small = || next().and_then(|value| i8::try_from(value).ok());
    let (month, day) = (small()?, small()?);
    let year = i16::try_from(next()?).ok()?;
    let mut small = || next().and_then(|value| i8::try_from(value).ok());
    let (hour, minute, second) = (small()?, small()?, small()?);
    Timestamp::from_civil(year, month, day, hour, minute, second)
}

/// Reads the part of a line after the date.
///
/// # Errors
/// Returns what is wrong with the line.
pub fn read(rest: &[u8]) -> LineResult<SourceEvent<'_>> {
    Ok(match rest.first() {
        Some(b'"') => match who(rest) {
            Ok((who, rest)) => SourceEvent::Player(who, act(rest)?),
            Err(_) if is_json(rest) => SourceEvent::Other,
            Err(why) => cvar(rest).ok_or(why)?,
        },
        Some(b'T') if rest.starts_with(b"Team \"") => team(&rest[5..])?,
        Some(b'W') => match rest.strip_prefix(b"World triggered ") {
            Some(rest) => {
                let (what, rest) = quoted(rest)?;
                world(what, rest)
            }
            None => SourceEvent::Other,
        },
        Some(b'G') if rest.starts_with(b"Game Over: ") => over(rest),
        Some(b'L') => match rest {
            _ if rest.starts_with(b"Log file started") => SourceEvent::Started(folder(rest)),
            _ if rest.starts_with(b"Log file closed") => SourceEvent::Closed,
            _ => map(rest, b"Loading map "),
        },
        Some(b'S') => match rest.strip_prefix(b"Server cvar ") {
            Some(rest) => setting(rest, b"\" = \""),
            None => map(rest, b"Started map "),
        },
        Some(b's') => match rest.strip_prefix(b"server_cvar: ") {
            Some(rest) => setting(rest, b"\" \""),
            None => SourceEvent::Other,
        },
        _ => SourceEvent::Other,
    })
}

/// Reads the quoted text at the beginning, and returns it with what follows.
fn quoted(bytes: &[u8]) -> LineResult<(&[u8], &[u8])> {
    let rest = bytes.strip_prefix(b"\"").ok_or("quotes are missing")?;
    let end = rest.iter().position(|&b| b == b'"');
    let end = end.ok_or("the quotes do not end")?;
    Ok((&rest[..end], &rest[end + 1..]))
}

/// Reads `"name" = "value"`, as a dump of the settings has it.
fn cvar(rest: &[u8]) -> Option<SourceEvent<'_>> {
    let (name, value) = quoted(rest).ok()?;
    let value = value.strip_prefix(b" = \"")?.strip_suffix(b"\"")?;
    Some(SourceEvent::Setting(name, value))
}

/// Whether the line is `"key": value` or `"key" : value`, as in the statistics between `JSON_BEGIN{`
/// and `}}JSON_END` that newer games write after a round.
fn is_json(rest: &[u8]) -> bool {
    let value = quoted(rest).map(|(_, value)| text::skip_blanks(value));
    value.is_ok_and(|value| value.starts_with(b":"))
}

fn has(line: &[u8], words: &[u8]) -> bool {
    line.windows(words.len()).any(|window| window == words)
}

fn after<'a>(bytes: &'a [u8], words: &[u8]) -> &'a [u8] {
    let at = bytes
        .windows(words.len())
        .position(|window| window == words);
    at.map_or(&[], |at| &bytes[at + words.len()..])
}

/// Whether a line has this format; `None` for one that any format may have, or that has no date.
pub(super) fn is_known(line: &[u8]) -> Option<bool> {
    if line.is_empty() || is_team_name(line) {
        return None;
    }
    Some(is_beneath(line))
}

/// Whether a line is of this format for certain.
pub fn is_beneath(line: &[u8]) -> bool {
    stamp(line).is_ok_and(|(stamp, _)| date(stamp).is_some())
}

/// Whether a line is the name of a team, which Team Fortress 2 writes without a date when a match is
/// about to start.
pub(super) fn is_team_name(line: &[u8]) -> bool {
    line.starts_with(b"Blue Team: ") || line.starts_with(b"Red Team: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> LineResult<SourceEvent<'_>> {
        read(line.as_bytes())
    }

    #[test]
    fn dates() {
        let (at, rest) = stamp(b"L 03/08/2026 - 01:59:56: x").unwrap();
        let at = date(at).map(|date| date.to_string());
        assert_eq!(at.as_deref(), Some("2026-03-08T01:59:56Z"));
        assert_eq!(rest, b"x");
        for other in [
            "03/08/2026 - 01:59:56: x",
            "03/08/2026 - 01:59:56.123 - x",
            "L 03/08/2026 - 01:59:56.123: x",
        ] {
            let (at, rest) = stamp(other.as_bytes()).unwrap();
            assert_eq!((at, rest), (&b"03/08/2026 - 01:59:56"[..], &b"x"[..]));
        }
        assert_eq!(stamp(b"L 03/08/2026 - 01:59:56:").unwrap().1, b"");
        for wrong in ["", "L 03/08/2026", "L 03/08/2026 - 01:59:5x x", "- -"] {
            assert!(stamp(wrong.as_bytes()).is_err());
        }
        assert_eq!(date(b"13/08/2026 - 01:59:56"), None);
    }

    #[test]
    fn players_are_read_from_the_right() {
        let line = br#""a<1><BOT><Red><7><STEAM_0:1:2><Blue>" say "x""#;
        let (who, _) = who(line).unwrap();
        assert_eq!(who.name, b"a<1><BOT><Red>");
        assert_eq!(
            (who.uid, who.auth, who.team),
            (Some(7), &b"STEAM_0:1:2"[..], ClientTeam::Team(1))
        );
    }

    #[test]
    fn lines_of_real_logs() {
        let who = |name: &'static str, uid, auth: &'static str, team| PlayerTag {
            name: name.as_bytes(),
            uid: Some(uid),
            auth: auth.as_bytes(),
            team,
        };
        let a = who("A", 1, "STEAM_0:0:1", ClientTeam::Team(0));
        let b = who("B", 2, "BOT", ClientTeam::Team(1));
        assert_eq!(
            parsed(r#""A<1><STEAM_0:0:1><Red>" killed "B<2><BOT><Blue>" with "gun" (x "1")"#),
            Ok(SourceEvent::Player(
                a,
                PlayerAction::Kill {
                    victim: b,
                    knife: false
                }
            ))
        );
        assert_eq!(
            parsed(
                r#""A<1><STEAM_0:0:1><Red>" killed "B<2><BOT><Blue>" with "gun" (customkill "feign_death")"#
            ),
            Ok(SourceEvent::Player(a, PlayerAction::Other))
        );
        let acts = [
            (r#"committed suicide with "world" (x)"#, PlayerAction::Die),
            (
                r#"joined team "Spectator""#,
                PlayerAction::Join(ClientTeam::Spectator),
            ),
            (
                r#"joined team "BLUE""#,
                PlayerAction::Join(ClientTeam::Team(1)),
            ),
            (r#"changed name to "C""#, PlayerAction::Rename(b"C")),
            (r#"disconnected (reason "gone")"#, PlayerAction::Leave),
            ("disconnected", PlayerAction::Leave),
            ("entered the game", PlayerAction::Enter),
            (r#"connected, address "192.0.2.1:5""#, PlayerAction::Connect),
            (
                r#"triggered "flagevent" (event "captured") (position "1")"#,
                PlayerAction::Capture,
            ),
            (
                r#"triggered "flagevent" (event "dropped")"#,
                PlayerAction::Other,
            ),
            (r#"triggered "Team 1 dropoff""#, PlayerAction::Capture),
            (r#"say "killed me""#, PlayerAction::Other),
        ];
        for (words, act) in acts {
            let line = format!(r#""A<1><STEAM_0:0:1><Red>" {words}"#);
            assert_eq!(parsed(&line), Ok(SourceEvent::Player(a, act)), "{words}");
        }
        let lines = [
            (
                r#"Team "Red" current score "3" with "9" players"#,
                SourceEvent::Current(0, 3.0),
            ),
            (
                r#"Team "Blue" final score "7" with "9" players"#,
                SourceEvent::Final(1, 7.0),
            ),
            (
                r#"Team "Blue" scored "50" with "4" players"#,
                SourceEvent::Scored(1, 50.0),
            ),
            (
                r#"Team "BLUE" triggered "Intermission_Win_Limit""#,
                SourceEvent::Other,
            ),
            (
                r#"World triggered "Round_Win" (winner "Red")"#,
                SourceEvent::RoundEnd,
            ),
            (
                r#"World triggered "Game_Over" reason "x""#,
                SourceEvent::GameOver,
            ),
            (
                r#"World triggered "Restart_Round_(1_second)""#,
                SourceEvent::Restart,
            ),
            (r#"Loading map "ctf_2fort""#, SourceEvent::Map(b"ctf_2fort")),
            (
                r#"Started map "schtop" (CRC "1")"#,
                SourceEvent::Map(b"schtop"),
            ),
            (
                r#"Log file started (file "x") (game "C:\a\tf") (version "1")"#,
                SourceEvent::Started(b"tf"),
            ),
            (
                r#"Server cvar "sv_gravity" = "800""#,
                SourceEvent::Setting(b"sv_gravity", b"800"),
            ),
            (
                r#"server_cvar: "tf_x" "1""#,
                SourceEvent::Setting(b"tf_x", b"1"),
            ),
            (r#"rcon from "192.0.2.1": command "x""#, SourceEvent::Other),
            ("[META] x", SourceEvent::Other),
            ("", SourceEvent::Other),
        ];
        for (line, event) in lines {
            assert_eq!(parsed(line), Ok(event), "{line}");
        }
        for wrong in [
            r#""A" killed"#,
            r#""A<1><2"#,
            r#""A<x><BOT><Red>" x"#,
            r#"Team "Red" final score "x" with"#,
            r#"World triggered "#,
        ] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
