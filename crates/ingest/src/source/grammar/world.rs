//! Reads what a line states of teams, rounds, maps and the server.

use super::{SourceEvent, after, player::team_of, quoted};
use crate::{
    event::ClientTeam,
    text::{self, LineResult},
};

/// `"Red" current score "1" with "9" players`
pub fn team(rest: &[u8]) -> LineResult<SourceEvent<'_>> {
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
pub(super) fn over(rest: &[u8]) -> SourceEvent<'_> {
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

pub(super) fn world<'a>(what: &[u8], rest: &'a [u8]) -> SourceEvent<'a> {
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

pub fn map<'a>(rest: &'a [u8], words: &[u8]) -> SourceEvent<'a> {
    let name = rest.strip_prefix(words).map(quoted);
    name.and_then(Result::ok)
        .map_or(SourceEvent::Other, |(name, _)| SourceEvent::Map(name))
}

/// `"name" = "value"` or `"name" "value"`
pub(super) fn setting<'a>(rest: &'a [u8], between: &[u8]) -> SourceEvent<'a> {
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
pub(super) fn folder(rest: &[u8]) -> &[u8] {
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
