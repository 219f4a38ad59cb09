//! Reads one line of a Source or GoldSrc log: what it states of players, and of teams, rounds, maps and the server.

use evenkeel_model::Timestamp;

use crate::{
    event::ClientTeam,
    text::{self, LineResult},
};

/// The content of a line that a record needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SourceEvent<'a> {
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
pub(crate) struct PlayerTag<'a> {
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
pub(crate) enum PlayerAction<'a> {
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
pub(super) fn stamp(line: &[u8]) -> LineResult<(&[u8], &[u8])> {
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
pub(super) fn date(stamp: &[u8]) -> Option<Timestamp> {
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
pub(super) fn read(rest: &[u8]) -> LineResult<SourceEvent<'_>> {
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
pub(super) fn is_beneath(line: &[u8]) -> bool {
    stamp(line).is_ok_and(|(stamp, _)| date(stamp).is_some())
}

/// Whether a line is the name of a team, which Team Fortress 2 writes without a date when a match is
/// about to start.
pub(super) fn is_team_name(line: &[u8]) -> bool {
    line.starts_with(b"Blue Team: ") || line.starts_with(b"Red Team: ")
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

/// `"Red" current score "1" with "9" players`
fn team(rest: &[u8]) -> LineResult<SourceEvent<'_>> {
    let (name, rest) = quoted(rest)?;
    let verb = rest.iter().position(|&b| b == b'"').unwrap_or(rest.len());
    let (verb, rest) = rest.split_at(verb);
    let make: fn(u8, f64) -> SourceEvent<'static> = match verb {
        b" current score " => SourceEvent::Current,
        b" final score " => SourceEvent::Final,
        b" scored " if is_counter_strike(name) => SourceEvent::Tally,
        b" scored " => SourceEvent::Scored,
        b" triggered " => {
            let (what, rest) = quoted(rest)?;
            return Ok(match what {
                b"pointcaptured" => SourceEvent::Point(after(rest, b"(cpname \"")),
                _ if is_counter_strike(name) => round_won(rest),
                _ => SourceEvent::Other,
            });
        }
        _ => return Ok(SourceEvent::Other),
    };
    let ClientTeam::Team(team) = team_of(name) else {
        return Ok(SourceEvent::Other);
    };
    let score = text::real(quoted(rest)?.0);
    Ok(make(team, score.ok_or("the score is not a number")?))
}

/// Whether the team is one of Counter-Strike's sides.
fn is_counter_strike(team: &[u8]) -> bool {
    team == b"CT" || team == b"TERRORIST"
}

/// Reads `(CT "1") (T "0")` after the reason why a round of Counter-Strike was won.
fn round_won(rest: &[u8]) -> SourceEvent<'static> {
    let score = |words: &[u8]| {
        let value = after(rest, words);
        let end = memchr::memchr(b'"', value)?;
        text::real(&value[..end])
    };
    match (score(b"(T \""), score(b"(CT \"")) {
        (Some(t), Some(ct)) => SourceEvent::RoundWon([t, ct]),
        _ => SourceEvent::Other,
    }
}

/// Reads `Game Over: competitive mg_de_cache de_cache score 16:1 after 21 min`.
fn over(rest: &[u8]) -> SourceEvent<'_> {
    const SCORE: &[u8] = b" score ";
    let Some(at) = memchr::memmem::rfind(rest, SCORE) else {
        return SourceEvent::GameOver;
    };
    let map = rest[..at].rsplit(|&b| b == b' ').next().unwrap_or_default();
    let scores = text::number(&rest[at + SCORE.len()..]);
    let second = scores.and_then(|(one, rest)| {
        let (two, _) = text::number(rest.strip_prefix(b":")?)?;
        Some([one as f64, two as f64])
    });
    match second {
        Some(scores) => SourceEvent::Over { map, scores },
        None => SourceEvent::GameOver,
    }
}

fn world<'a>(what: &[u8], rest: &'a [u8]) -> SourceEvent<'a> {
    match what {
        b"Round_Start" => SourceEvent::RoundStart,
        b"Round_Win" | b"Round_Stalemate" | b"Round_End" | b"Mini_Round_Win" => {
            SourceEvent::RoundEnd
        }
        b"Round_Length" | b"Mini_Round_Length" => {
            let seconds = quoted(after(rest, b"(seconds ")).map(|(seconds, _)| text::real(seconds));
            match seconds {
                // The conversion saturates.
                Ok(Some(seconds)) => SourceEvent::RoundLength((seconds * 1_000.0) as u64),
                _ => SourceEvent::Other,
            }
        }
        b"Match_Start" => {
            SourceEvent::MatchStart(quoted(after(rest, b" on ")).map_or(b"", |(map, _)| map))
        }
        b"Match_Reloaded" => SourceEvent::Reloaded,
        b"Warmup_Start" => SourceEvent::WarmUp,
        b"Match_Begins_Now" => SourceEvent::MatchBegins,
        b"Game_Commencing" | b"Warmup_End" => SourceEvent::Restart,
        b"Game_Over" => SourceEvent::GameOver,
        _ if what.starts_with(b"Restart_Round") => SourceEvent::Restart,
        // Nobody has won the round.
        _ if what.ends_with(b"Round_Draw") => round_won(rest),
        _ => SourceEvent::Other,
    }
}

fn map<'a>(rest: &'a [u8], words: &[u8]) -> SourceEvent<'a> {
    let name = rest.strip_prefix(words).map(quoted);
    name.and_then(Result::ok)
        .map_or(SourceEvent::Other, |(name, _)| SourceEvent::Map(name))
}

/// `"name" = "value"` or `"name" "value"`
fn setting<'a>(rest: &'a [u8], between: &[u8]) -> SourceEvent<'a> {
    let Some(rest) = rest.strip_prefix(b"\"") else {
        return SourceEvent::Other;
    };
    let Some(at) = rest.windows(between.len()).position(|w| w == between) else {
        return SourceEvent::Other;
    };
    let value = &rest[at + between.len()..];
    SourceEvent::Setting(&rest[..at], value.strip_suffix(b"\"").unwrap_or(value))
}

/// The last part of `(game "C:\games\tf")`. Counter-Strike 2 writes the folder of its predecessor, but names its logs
/// by the date, as `(file "logs/2026_01_19_191348_000.log")`.
fn folder(rest: &[u8]) -> &[u8] {
    let path = after(rest, b"(game \"");
    let end = path.iter().position(|&b| b == b'"').unwrap_or(path.len());
    let name = path[..end].rsplit(|b| b"/\\".contains(b)).next();
    match name.unwrap_or_default() {
        b"csgo" if is_dated(after(rest, b"(file \"logs/")) => b"cs2",
        name => name,
    }
}

/// Whether the name of a file begins with a date, as `2026_01_19_`.
fn is_dated(name: &[u8]) -> bool {
    let fits = |(byte, form): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        other => byte == other,
    };
    const FORM: &[u8] = b"0000_00_00_";
    name.len() >= FORM.len() && name.iter().zip(FORM).all(fits)
}

#[cfg(test)]
mod tests;
