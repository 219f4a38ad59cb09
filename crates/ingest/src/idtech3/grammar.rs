//! Reads one line of an id Tech 3 log.

use crate::text::{LineResult, number, skip_blanks, whole_number};
use evenkeel_model::Timestamp;

/// Client numbers are below this; no server of this engine has more. `Kill` uses 1022 for the world.
pub const MAX_CLIENTS: usize = 256;

/// The content of a line that a record needs. Client numbers are below [`MAX_CLIENTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdTech3Event<'a> {
    /// A game begins, with these settings: `\key\value…`.
    InitGame(&'a [u8]),
    /// A round begins (Urban Terror), with the settings of its game.
    InitRound(&'a [u8]),
    /// Until the next `InitGame` or `InitRound`, players only warm up.
    Warmup,
    /// The server closes the game, finished or not.
    Shutdown,
    /// The game has been played to its end; its results follow.
    Exit,
    /// A client connects.
    Connect(usize),
    /// A client has come into the game.
    Begin(usize),
    /// A client has left.
    Disconnect(usize),
    /// What the player's own program sends: `\key\value…`.
    Userinfo(usize, &'a [u8]),
    /// A client's name and team as the game has them: `\key\value…`.
    Changed(usize, &'a [u8]),
    /// A player was killed.
    Kill {
        /// The killer's client number; `None` is the world.
        killer: Option<usize>,
        /// The client number of the victim.
        victim: usize,
        /// Whether the victim changed teams, which the game carries out as a death.
        team_change: bool,
    },
    /// A flag was captured.
    Capture {
        /// The client number of the player with the flag; `None` if the line names nobody.
        by: Option<usize>,
        /// The team that owned the flag: 1 is red, 2 is blue; -1 is nobody, where there is only one flag.
        flag: i64,
    },
    /// This team won a round: 0 is red, 1 is blue.
    RoundWon(u8),
    /// A team's new total score; `team` is 1 for red, 2 for blue.
    TeamScore {
        /// 1 is red, 2 is blue.
        team: i64,
        /// The team's score now.
        total: i64,
    },
    /// The final scores of red and blue.
    Result([i64; 2]),
    /// A client's final points.
    Points {
        /// The client number.
        client: usize,
        /// The points on the scoreboard.
        points: i64,
    },
    /// When the game began, by the clock of the server (OSP).
    ServerTime(Timestamp),
    /// A player wrote in the chat: `NAME: TEXT`, in Urban Terror `NUMBER NAME: TEXT`.
    Say(&'a [u8]),
    /// Anything else: games add lines of their own.
    Other,
}

/// Reads a line, and returns its time on the log's clock, in milliseconds, with its event; `None`
/// for a separator. A line without a line end (`whole` is false) counts only if no further bytes
/// could change its meaning.
///
/// # Errors
/// Returns what is wrong with the line.
pub fn read(line: &[u8], whole: bool) -> LineResult<Option<(u64, IdTech3Event<'_>)>> {
    match clock(line) {
        Some((at, rest)) => Ok(Some((at, read_event(rest, whole)?))),
        None if is_separator(line) => Ok(None),
        None => Err("the line does not begin with a time"),
    }
}

/// Reads the part of a line after its time, which is all of it in what a server prints.
///
/// # Errors
/// Returns what is wrong with the line.
pub(super) fn read_event(rest: &[u8], whole: bool) -> LineResult<IdTech3Event<'_>> {
    let Some(colon) = rest.iter().take(MAX_VERB).position(|&b| b == b':') else {
        return Ok(IdTech3Event::Other);
    };
    let (verb, rest) = rest.split_at(colon);
    let event = event(verb, skip_blanks(&rest[1..]))?;
    match event {
        IdTech3Event::Exit
        | IdTech3Event::Shutdown
        | IdTech3Event::Say(_)
        | IdTech3Event::Other => {}
        _ if whole => {}
        _ => return Err("the log ends within this line"),
    }
    Ok(event)
}

fn is_separator(line: &[u8]) -> bool {
    line.iter().all(|&b| b == b'-' || b == b' ')
}

/// The longest verb has this many bytes, with its colon.
const MAX_VERB: usize = 24;

fn event<'a>(verb: &[u8], rest: &'a [u8]) -> LineResult<IdTech3Event<'a>> {
    Ok(match verb {
        b"Item" | b"tell" | b"PlayerScore" | b"Award" => IdTech3Event::Other,
        b"say" | b"sayteam" => IdTech3Event::Say(rest),
        b"ClientUserinfoChanged" => {
            let (client, info) = client(rest)?;
            IdTech3Event::Changed(client, info)
        }
        b"Kill" => kill(rest)?,
        b"CTF" | b"1FCTF" => flag(rest)?,
        b"Flag" => urban_flag(rest)?,
        b"SurvivorWinner" => match rest {
            b"Red" => IdTech3Event::RoundWon(0),
            b"Blue" => IdTech3Event::RoundWon(1),
            _ => IdTech3Event::Other,
        },
        b"TeamScore" => {
            let (team, rest) = field(rest)?;
            let (total, _) = field(rest)?;
            IdTech3Event::TeamScore { team, total }
        }
        b"ClientConnect" => IdTech3Event::Connect(client(rest)?.0),
        b"ClientBegin" => IdTech3Event::Begin(client(rest)?.0),
        b"ClientDisconnect" => IdTech3Event::Disconnect(client(rest)?.0),
        b"ClientUserinfo" => {
            let (client, info) = client(rest)?;
            IdTech3Event::Userinfo(client, info)
        }
        b"InitGame" => IdTech3Event::InitGame(rest),
        b"InitRound" => IdTech3Event::InitRound(rest),
        b"Warmup" => IdTech3Event::Warmup,
        b"ServerTime" => server_time(rest).map_or(IdTech3Event::Other, IdTech3Event::ServerTime),
        b"ShutdownGame" => IdTech3Event::Shutdown,
        b"Exit" => IdTech3Event::Exit,
        b"red" => result(rest)?,
        b"score" => points(rest)?,
        _ => IdTech3Event::Other,
    })
}

/// Whether a line begins with a time.
pub fn has_time(line: &[u8]) -> bool {
    clock(line).is_some()
}

/// From this minute on, the games write no blank after the time: they write the line from the eighth
/// byte on, whatever the time needs.
const NO_BLANK: u64 = 1_000;
/// From this minute on, the line replaces the last digit of the seconds, too.
const NO_LAST_DIGIT: u64 = 10_000;

/// Reads the time `mmm:ss `, `mmmm:ss` or `mmmmm:s` at the start of a line, or OSP's `sss.s `, and returns it
/// in milliseconds with the rest of the line.
pub(super) fn clock(line: &[u8]) -> Option<(u64, &[u8])> {
    let (minutes, rest) = number(skip_blanks(line))?;
    let minutes = u64::try_from(minutes).ok()?;
    if let [b'.', tenth @ b'0'..=b'9', rest @ ..] = rest {
        let at = minutes * 1_000 + u64::from(tenth - b'0') * 100;
        return match rest {
            [b' ', rest @ ..] => Some((at, rest)),
            [] => Some((at, rest)),
            _ => None,
        };
    }
    let [b':', tens @ b'0'..=b'5', rest @ ..] = rest else {
        return None;
    };
    let at = |ones: u8| (minutes * 60 + u64::from(tens - b'0') * 10 + u64::from(ones)) * 1_000;
    match rest {
        [ones @ b'0'..=b'9'] => Some((at(ones - b'0'), &[])),
        [ones @ b'0'..=b'9', b' ', rest @ ..] => Some((at(ones - b'0'), rest)),
        [ones @ b'0'..=b'9', rest @ ..] if (NO_BLANK..NO_LAST_DIGIT).contains(&minutes) => {
            Some((at(ones - b'0'), rest))
        }
        _ if minutes >= NO_LAST_DIGIT => Some((at(0), rest)),
        _ => None,
    }
}

/// Reads a number after blanks.
fn field(bytes: &[u8]) -> LineResult<(i64, &[u8])> {
    number(skip_blanks(bytes)).ok_or("a number is missing")
}

/// Reads a client number, and returns it with the rest of the line.
pub fn client(bytes: &[u8]) -> LineResult<(usize, &[u8])> {
    let (number, rest) = field(bytes)?;
    let client = slot(number).ok_or("there is no such client number")?;
    Ok((client, skip_blanks(rest)))
}

fn slot(number: i64) -> Option<usize> {
    usize::try_from(number).ok().filter(|&n| n < MAX_CLIENTS)
}

/// Reads `k v mod: A killed B by MOD_X`. A killer that is not a client number (1022) is the world.
fn kill(rest: &[u8]) -> LineResult<IdTech3Event<'_>> {
    let (killer, rest) = field(rest)?;
    let (victim, rest) = client(rest)?;
    let killer = slot(killer);
    let own = killer.is_none_or(|killer| killer == victim);
    Ok(IdTech3Event::Kill {
        killer,
        victim,
        team_change: own && rest.ends_with(b"MOD_CHANGE_TEAM"),
    })
}

/// Reads `YYYYMMDDhhmmss` before anything else.
fn server_time(rest: &[u8]) -> Option<Timestamp> {
    let (digits, _) = rest.trim_ascii_start().split_at_checked(14)?;
    let (year, small) = digits.split_at(4);
    let mut small = small.chunks(2).map(whole_number);
    let year = i16::try_from(whole_number(year)?).ok()?;
    let mut next = || i8::try_from(small.next()??).ok();
    Timestamp::from_civil(year, next()?, next()?, next()?, next()?, next()?)
}

/// Reads `c flagteam what: …`; only captures (1) change a score.
fn flag(rest: &[u8]) -> LineResult<IdTech3Event<'_>> {
    let (by, rest) = field(rest)?;
    let (flag, rest) = field(rest)?;
    let (what, _) = field(rest)?;
    Ok(match what {
        1 if [-1, 1, 2].contains(&flag) => IdTech3Event::Capture { by: slot(by), flag },
        _ => IdTech3Event::Other,
    })
}

/// Reads `c what: team_CTF_redflag` (Urban Terror); only captures (2) change a score.
fn urban_flag(rest: &[u8]) -> LineResult<IdTech3Event<'_>> {
    let (by, rest) = field(rest)?;
    let (what, rest) = field(rest)?;
    let flag = match rest {
        b": team_CTF_redflag" => 1,
        b": team_CTF_blueflag" => 2,
        _ => return Ok(IdTech3Event::Other),
    };
    Ok(match what {
        2 => IdTech3Event::Capture { by: slot(by), flag },
        _ => IdTech3Event::Other,
    })
}

/// Reads `red:N  blue:N`.
fn result(rest: &[u8]) -> LineResult<IdTech3Event<'_>> {
    let (red, rest) = field(rest)?;
    let rest = skip_blanks(rest).strip_prefix(b"blue:");
    let (blue, _) = field(rest.ok_or("blue's score is missing")?)?;
    Ok(IdTech3Event::Result([red, blue]))
}

/// Reads `score: S  ping: P  client: C NAME`.
fn points(rest: &[u8]) -> LineResult<IdTech3Event<'_>> {
    let (points, rest) = field(rest)?;
    let rest = skip_blanks(rest).strip_prefix(b"ping:");
    let (_, rest) = field(rest.ok_or("the ping is missing")?)?;
    let rest = skip_blanks(rest).strip_prefix(b"client:");
    let (client, _) = client(rest.ok_or("the client is missing")?)?;
    Ok(IdTech3Event::Points { client, points })
}

/// The pairs of `\key\value\key\value…`, with or without the first backslash.
pub(crate) fn pairs(info: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let info = info.strip_prefix(b"\\").unwrap_or(info);
    let mut parts = info.split(|&b| b == b'\\');
    std::iter::from_fn(move || Some((parts.next()?, parts.next()?)))
}

/// Whether a line has this format; `None` for a line that any format may have.
pub(crate) fn is_known(line: &[u8]) -> Option<bool> {
    if is_separator(line) {
        return None;
    }
    match clock(line) {
        Some((_, rest)) => is_common(rest).then_some(true),
        None => Some(false),
    }
}

/// Whether a line is of this format for certain, with its time or, as a server prints it, without.
pub(crate) fn is_beneath(line: &[u8]) -> bool {
    is_common(clock(line).map_or(line, |(_, rest)| rest))
}

/// Whether a line without its time has a common event.
fn is_common(rest: &[u8]) -> bool {
    const VERBS: [&[u8]; 9] = [
        b"InitGame",
        b"InitRound",
        b"ClientConnect",
        b"ClientBegin",
        b"ClientDisconnect",
        b"ClientUserinfo",
        b"ClientUserinfoChanged",
        b"Kill",
        b"Item",
    ];
    let verb = memchr::memchr(b':', rest).map(|end| &rest[..end]);
    verb.is_some_and(|verb| VERBS.contains(&verb))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> LineResult<Option<(u64, IdTech3Event<'_>)>> {
        read(line.as_bytes(), true)
    }

    #[test]
    fn lines_of_real_logs() {
        let at = |seconds: u64, event| Ok(Some((seconds * 1_000, event)));
        assert_eq!(
            parsed("  3:13 CTF: 6 2 1: Neko captured the BLUE flag!"),
            at(
                193,
                IdTech3Event::Capture {
                    by: Some(6),
                    flag: 2
                }
            )
        );
        for (line, event) in [
            (
                "Flag: 0 2: team_CTF_redflag",
                IdTech3Event::Capture {
                    by: Some(0),
                    flag: 1,
                },
            ),
            ("1FCTF: 5 -1 0: Neko got the flag!", IdTech3Event::Other),
            (
                "1FCTF: 5 -1 1: Neko captured the flag!",
                IdTech3Event::Capture {
                    by: Some(5),
                    flag: -1,
                },
            ),
            ("Flag: 0 0: team_CTF_redflag", IdTech3Event::Other),
            ("Flag Return: RED", IdTech3Event::Other),
            ("SurvivorWinner: Blue", IdTech3Event::RoundWon(1)),
            ("SurvivorWinner: 0", IdTech3Event::Other),
            ("sayteam: a: b: !why", IdTech3Event::Say(b"a: b: !why")),
        ] {
            assert_eq!(parsed(&format!("  3:13 {line}")), at(193, event));
        }
        assert_eq!(
            parsed("  3:13 CTF: -1 2 2: The BLUE flag was returned!"),
            at(193, IdTech3Event::Other)
        );
        assert_eq!(
            parsed(" 54:21 ShutdownGame:"),
            at(3_261, IdTech3Event::Shutdown)
        );
        assert_eq!(
            parsed("100:00 Exit: Timelimit hit."),
            at(6_000, IdTech3Event::Exit)
        );
        assert_eq!(
            parsed("  0:07 red:-1  blue:26"),
            at(7, IdTech3Event::Result([-1, 26]))
        );
        assert_eq!(
            parsed("  3:13 score: -4  ping: 999  client: 12 A: client: 3"),
            at(
                193,
                IdTech3Event::Points {
                    client: 12,
                    points: -4
                }
            )
        );
        assert_eq!(
            parsed(" 20:40 Kill: 1022 2 22: <world> killed A by MOD_TRIGGER_HURT"),
            at(
                1_240,
                IdTech3Event::Kill {
                    killer: None,
                    victim: 2,
                    team_change: false
                }
            )
        );
        assert_eq!(
            parsed("  1:33 Kill: 4 4 10: A killed A by MOD_CHANGE_TEAM"),
            at(
                93,
                IdTech3Event::Kill {
                    killer: Some(4),
                    victim: 4,
                    team_change: true
                }
            )
        );
        assert_eq!(
            parsed("  0:08 Restored player with guid: 6091E"),
            at(8, IdTech3Event::Other)
        );
        assert_eq!(
            parsed("  0:00 -----------------"),
            at(0, IdTech3Event::Other)
        );
        assert_eq!(
            parsed("65.4 Warmup:"),
            Ok(Some((65_400, IdTech3Event::Warmup)))
        );
        assert_eq!(
            parsed("0.0 ServerTime:\t20200319205438\t20:54:38 (19 Mar 2020)"),
            at(
                0,
                IdTech3Event::ServerTime(Timestamp::parse("2020-03-19T20:54:38").unwrap())
            )
        );
        assert_eq!(parsed("-----------------"), Ok(None));
        assert_eq!(parsed(""), Ok(None));
    }

    #[test]
    fn what_is_malformed() {
        for line in [
            " 26  0:00 ------------------------------------------------------------",
            "0:60 Exit: x",
            "0:1 Exit: x",
            "65.45 Exit: x",
            "65. Exit: x",
            "-1:00 Exit: x",
            "12345678901:00 Exit: x",
            "  0:00 Kill: ",
            "  0:00 Kill: 1",
            "  0:00 ClientBegin: 1022",
            "  0:00 ClientBegin: -1",
            "  0:00 red:5",
            "  0:00 score: 5",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }

    #[test]
    fn a_cut_line_is_believed_only_where_nothing_could_follow() {
        assert_eq!(
            read(b"  3:13 red:5  blue:1", false),
            Err("the log ends within this line")
        );
        assert!(matches!(
            read(b"  3:13 Exit: Cap", false),
            Ok(Some((_, IdTech3Event::Exit)))
        ));
        assert!(matches!(
            read(b"  3:13 Exit", false),
            Ok(Some((_, IdTech3Event::Other)))
        ));
    }

    #[test]
    fn settings() {
        let all: Vec<_> = pairs(b"\\a\\1\\b\\\\c\\3\\odd").collect();
        assert_eq!(all, [(&b"a"[..], &b"1"[..]), (b"b", b""), (b"c", b"3")]);
    }
}
