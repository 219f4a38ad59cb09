//! Reads one line of a Source or GoldSrc log.

use crate::{
    domain::Timestamp,
    ingest::{
        team::ClientTeam,
        text::{self, LineResult},
    },
};

/// The content of a line that a record needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Event<'a> {
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
    RoundStart,
    /// A round ends, won by a team or by none.
    RoundEnd,
    /// The length of the round that has just ended, in milliseconds.
    RoundLength(u64),
    /// Everything played so far does not count.
    Restart,
    /// Like [`Event::Restart`], in Team Fortress Classic.
    MatchBegins,
    /// Like [`Event::Restart`], on this map, where it is stated.
    MatchStart(&'a [u8]),
    /// The game continues from an earlier round.
    Reloaded,
    /// Until the match starts, players only warm up.
    WarmUp,
    GameOver,
    /// A game of Counter-Strike is over on this map, with the final scores of its sides.
    Over {
        map: &'a [u8],
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
pub(crate) struct PlayerTag<'a> {
    pub(crate) name: &'a [u8],
    /// The number of the connection.
    pub(crate) uid: Option<u32>,
    pub(crate) auth: &'a [u8],
    pub(crate) team: ClientTeam,
}

/// What a player did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PlayerAction<'a> {
    /// Connected, which begins a connection.
    Connect,
    /// Entered the game, after connecting or after a map change.
    Enter,
    Leave,
    Join(ClientTeam),
    Rename(&'a [u8]),
    Kill {
        victim: PlayerTag<'a>,
        /// Whether the weapon was a knife.
        knife: bool,
    },
    /// Died by suicide or by the world.
    Die,
    /// Captured a flag, or the object that the map has instead of a flag.
    Capture,
    Other,
}

/// The length of `MM/DD/YYYY - HH:MM:SS`.
const STAMP: usize = 21;

/// Splits a line into its date and the rest. A file has `L MM/DD/YYYY - HH:MM:SS: ` before each event;
/// what a server sends over HTTP has no `L`, and often has milliseconds and ` - ` instead of the last
/// colon.
///
/// # Errors
/// Returns what is wrong with the line.
pub(crate) fn stamp(line: &[u8]) -> LineResult<(&[u8], &[u8])> {
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
pub(crate) fn date(stamp: &[u8]) -> Option<Timestamp> {
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
pub(crate) fn read(rest: &[u8]) -> LineResult<Event<'_>> {
    Ok(match rest.first() {
        Some(b'"') => match who(rest) {
            Ok((who, rest)) => Event::Player(who, act(rest)?),
            Err(_) if is_json(rest) => Event::Other,
            Err(why) => cvar(rest).ok_or(why)?,
        },
        Some(b'T') if rest.starts_with(b"Team \"") => team(&rest[5..])?,
        Some(b'W') => match rest.strip_prefix(b"World triggered ") {
            Some(rest) => {
                let (what, rest) = quoted(rest)?;
                world(what, rest)
            }
            None => Event::Other,
        },
        Some(b'G') if rest.starts_with(b"Game Over: ") => over(rest),
        Some(b'L') => match rest {
            _ if rest.starts_with(b"Log file started") => Event::Started(folder(rest)),
            _ if rest.starts_with(b"Log file closed") => Event::Closed,
            _ => map(rest, b"Loading map "),
        },
        Some(b'S') => match rest.strip_prefix(b"Server cvar ") {
            Some(rest) => setting(rest, b"\" = \""),
            None => map(rest, b"Started map "),
        },
        Some(b's') => match rest.strip_prefix(b"server_cvar: ") {
            Some(rest) => setting(rest, b"\" \""),
            None => Event::Other,
        },
        _ => Event::Other,
    })
}

/// Reads the quoted text at the beginning, and returns it with what follows.
fn quoted(bytes: &[u8]) -> LineResult<(&[u8], &[u8])> {
    let rest = bytes.strip_prefix(b"\"").ok_or("quotes are missing")?;
    let end = rest.iter().position(|&b| b == b'"');
    let end = end.ok_or("the quotes do not end")?;
    Ok((&rest[..end], &rest[end + 1..]))
}

/// Reads a quoted player, and returns it with what follows. A name may contain any character, a
/// quotation mark too, so the player ends at the first quotation mark before which the fields, which
/// are read from the right, are complete.
fn who(bytes: &[u8]) -> LineResult<(PlayerTag<'_>, &[u8])> {
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
pub(super) fn after_player(rest: &[u8]) -> Option<&[u8]> {
    let (_, rest) = who(rest).ok()?;
    Some(text::skip_blanks(skip_position(rest)))
}

/// The most quotation marks of a line that may be part of its first player's name.
const MAX_QUOTES: usize = 32;

/// What Counter-Strike writes after a player who changes sides; the player has no team there.
const SWITCHED: &[u8] = b" switched from team <";

/// Reads `name<number><id><team>`, or `name<number><id>` before [`SWITCHED`].
fn tag<'a>(token: &'a [u8], rest: &[u8]) -> LineResult<PlayerTag<'a>> {
    let (token, team) = match rest.starts_with(SWITCHED) {
        true => (token, ClientTeam::Unknown),
        false => {
            let (token, team) = last_field(token)?;
            (token, team_of(team))
        }
    };
    let (token, auth) = last_field(token)?;
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

/// Reads `"name" = "value"`, as a dump of the settings has it.
fn cvar(rest: &[u8]) -> Option<Event<'_>> {
    let (name, value) = quoted(rest).ok()?;
    let value = value.strip_prefix(b" = \"")?.strip_suffix(b"\"")?;
    Some(Event::Setting(name, value))
}

/// Whether the line is `"key": value` or `"key" : value`, as in the statistics between `JSON_BEGIN{`
/// and `}}JSON_END` that newer games write after a round.
fn is_json(rest: &[u8]) -> bool {
    let value = quoted(rest).map(|(_, value)| text::skip_blanks(value));
    value.is_ok_and(|value| value.starts_with(b":"))
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
fn team_of(name: &[u8]) -> ClientTeam {
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

fn act(rest: &[u8]) -> LineResult<PlayerAction<'_>> {
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
        b"changed name to " => PlayerAction::Rename(quoted(rest)?.0),
        b"disconnected" | b"disconnected (reason " => PlayerAction::Leave,
        _ => PlayerAction::Other,
    })
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

fn has(line: &[u8], words: &[u8]) -> bool {
    line.windows(words.len()).any(|window| window == words)
}

/// `"Red" current score "1" with "9" players`
fn team(rest: &[u8]) -> LineResult<Event<'_>> {
    let (name, rest) = quoted(rest)?;
    let verb = rest.iter().position(|&b| b == b'"').unwrap_or(rest.len());
    let (verb, rest) = rest.split_at(verb);
    let make: fn(u8, f64) -> Event<'static> = match verb {
        b" current score " => Event::Current,
        b" final score " => Event::Final,
        b" scored " if is_counter_strike(name) => Event::Tally,
        b" scored " => Event::Scored,
        b" triggered " => {
            let (what, rest) = quoted(rest)?;
            return Ok(match what {
                b"pointcaptured" => Event::Point(after(rest, b"(cpname \"")),
                _ if is_counter_strike(name) => round_won(rest),
                _ => Event::Other,
            });
        }
        _ => return Ok(Event::Other),
    };
    let ClientTeam::Team(team) = team_of(name) else {
        return Ok(Event::Other);
    };
    let score = text::real(quoted(rest)?.0);
    Ok(make(team, score.ok_or("the score is not a number")?))
}

fn after<'a>(bytes: &'a [u8], words: &[u8]) -> &'a [u8] {
    let at = bytes
        .windows(words.len())
        .position(|window| window == words);
    at.map_or(&[], |at| &bytes[at + words.len()..])
}

/// Whether the team is one of Counter-Strike's sides.
fn is_counter_strike(team: &[u8]) -> bool {
    team == b"CT" || team == b"TERRORIST"
}

/// Reads `(CT "1") (T "0")` after the reason why a round of Counter-Strike was won.
fn round_won(rest: &[u8]) -> Event<'static> {
    let score = |words: &[u8]| {
        let value = after(rest, words);
        let end = memchr::memchr(b'"', value)?;
        text::real(&value[..end])
    };
    match (score(b"(T \""), score(b"(CT \"")) {
        (Some(t), Some(ct)) => Event::RoundWon([t, ct]),
        _ => Event::Other,
    }
}

/// Reads `Game Over: competitive mg_de_cache de_cache score 16:1 after 21 min`.
fn over(rest: &[u8]) -> Event<'_> {
    const SCORE: &[u8] = b" score ";
    let Some(at) = memchr::memmem::rfind(rest, SCORE) else {
        return Event::GameOver;
    };
    let map = rest[..at].rsplit(|&b| b == b' ').next().unwrap_or_default();
    let scores = text::number(&rest[at + SCORE.len()..]);
    let second = scores.and_then(|(one, rest)| {
        let (two, _) = text::number(rest.strip_prefix(b":")?)?;
        Some([one as f64, two as f64])
    });
    match second {
        Some(scores) => Event::Over { map, scores },
        None => Event::GameOver,
    }
}

fn world<'a>(what: &[u8], rest: &'a [u8]) -> Event<'a> {
    match what {
        b"Round_Start" => Event::RoundStart,
        b"Round_Win" | b"Round_Stalemate" | b"Round_End" | b"Mini_Round_Win" => Event::RoundEnd,
        b"Round_Length" | b"Mini_Round_Length" => {
            let seconds = quoted(after(rest, b"(seconds ")).map(|(seconds, _)| text::real(seconds));
            match seconds {
                // The conversion saturates.
                Ok(Some(seconds)) => Event::RoundLength((seconds * 1_000.0) as u64),
                _ => Event::Other,
            }
        }
        b"Match_Start" => {
            Event::MatchStart(quoted(after(rest, b" on ")).map_or(b"", |(map, _)| map))
        }
        b"Match_Reloaded" => Event::Reloaded,
        b"Warmup_Start" => Event::WarmUp,
        b"Match_Begins_Now" => Event::MatchBegins,
        b"Game_Commencing" | b"Warmup_End" => Event::Restart,
        b"Game_Over" => Event::GameOver,
        _ if what.starts_with(b"Restart_Round") => Event::Restart,
        // Nobody has won the round.
        _ if what.ends_with(b"Round_Draw") => round_won(rest),
        _ => Event::Other,
    }
}

fn map<'a>(rest: &'a [u8], words: &[u8]) -> Event<'a> {
    let name = rest.strip_prefix(words).map(quoted);
    name.and_then(Result::ok)
        .map_or(Event::Other, |(name, _)| Event::Map(name))
}

/// `"name" = "value"` or `"name" "value"`
fn setting<'a>(rest: &'a [u8], between: &[u8]) -> Event<'a> {
    let Some(rest) = rest.strip_prefix(b"\"") else {
        return Event::Other;
    };
    let Some(at) = rest.windows(between.len()).position(|w| w == between) else {
        return Event::Other;
    };
    let value = &rest[at + between.len()..];
    Event::Setting(&rest[..at], value.strip_suffix(b"\"").unwrap_or(value))
}

/// The last part of `(game "C:\games\tf")`.
fn folder(rest: &[u8]) -> &[u8] {
    let path = after(rest, b"(game \"");
    let end = path.iter().position(|&b| b == b'"').unwrap_or(path.len());
    let name = path[..end].rsplit(|b| b"/\\".contains(b)).next();
    name.unwrap_or_default()
}

/// Whether a line has this format; `None` for one that any format may have, or that has no date.
pub(super) fn is_known(line: &[u8]) -> Option<bool> {
    if line.is_empty() || is_team_name(line) {
        return None;
    }
    Some(is_beneath(line))
}

/// Whether a line is of this format for certain.
pub(crate) fn is_beneath(line: &[u8]) -> bool {
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

    fn parsed(line: &str) -> LineResult<Event<'_>> {
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
            Ok(Event::Player(
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
            Ok(Event::Player(a, PlayerAction::Other))
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
            assert_eq!(parsed(&line), Ok(Event::Player(a, act)), "{words}");
        }
        let lines = [
            (
                r#"Team "Red" current score "3" with "9" players"#,
                Event::Current(0, 3.0),
            ),
            (
                r#"Team "Blue" final score "7" with "9" players"#,
                Event::Final(1, 7.0),
            ),
            (
                r#"Team "Blue" scored "50" with "4" players"#,
                Event::Scored(1, 50.0),
            ),
            (
                r#"Team "BLUE" triggered "Intermission_Win_Limit""#,
                Event::Other,
            ),
            (
                r#"World triggered "Round_Win" (winner "Red")"#,
                Event::RoundEnd,
            ),
            (r#"World triggered "Game_Over" reason "x""#, Event::GameOver),
            (
                r#"World triggered "Restart_Round_(1_second)""#,
                Event::Restart,
            ),
            (r#"Loading map "ctf_2fort""#, Event::Map(b"ctf_2fort")),
            (r#"Started map "schtop" (CRC "1")"#, Event::Map(b"schtop")),
            (
                r#"Log file started (file "x") (game "C:\a\tf") (version "1")"#,
                Event::Started(b"tf"),
            ),
            (
                r#"Server cvar "sv_gravity" = "800""#,
                Event::Setting(b"sv_gravity", b"800"),
            ),
            (r#"server_cvar: "tf_x" "1""#, Event::Setting(b"tf_x", b"1")),
            (r#"rcon from "192.0.2.1": command "x""#, Event::Other),
            ("[META] x", Event::Other),
            ("", Event::Other),
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
