//! How the arguments of the verbs about games are read and written. Most verbs need only what stands in their row.

use super::{Join, Request, Token};
use crate::{
    Refusal,
    words::{
        WordWriter, Words, bad, decimal, match_id, maybe, number, options, set, unknown_option,
        yes_or_no,
    },
};
use evenkeel_model::{
    ident::Ident,
    in_game::Verdict,
    record::{LeaveReason, MAX_PLAYERS, MAX_TEAMS},
    team_names::RoleName,
};

/// The largest `top` of BALANCE.
const MAX_TOP: u64 = 4_096;
/// The longest time in a command, in seconds: a week, which no game lasts.
const MAX_SECONDS: u64 = 7 * 24 * 3_600;
/// The largest number of points in a command, positive or negative. A larger one means that a
/// counter of the game is broken.
const MAX_POINTS: f64 = 1e6;

pub(super) fn hello(words: &mut Words) -> Result<Request, Refusal> {
    let server = words.word("the server's name")?;
    if server.text().contains('\0') {
        return Err(bad("a server's name must not contain NUL".to_owned()));
    }
    let (mut token, mut resume, mut hosts) = (None, None, None);
    let (mut bots, mut offers, mut streaks, mut source) = (None, None, None, None);
    // No other `key=` counts as an option here, because a token may contain a `=`.
    let is_option = ["resume", "bots", "offers", "streaks", "match", "source"]
        .iter()
        .any(|key| words.has_option(key));
    if !words.is_empty() && !is_option {
        token = Some(Token::new(words.word("the token")?.text()));
    }
    options(words, |key, value| match key {
        "resume" => Ok(set(&mut resume, yes_or_no(&value, "resume")?)),
        "bots" => Ok(set(&mut bots, yes_or_no(&value, "bots")?)),
        "offers" => Ok(set(&mut offers, yes_or_no(&value, "offers")?)),
        "streaks" => Ok(set(&mut streaks, yes_or_no(&value, "streaks")?)),
        "match" => Ok(set(&mut hosts, match_id(&value)?)),
        "source" if value.text().is_empty() => Err(bad("source must not be empty".to_owned())),
        "source" => Ok(set(&mut source, value)),
        _ => unknown_option(key),
    })?;
    Ok(Request::Hello {
        server,
        token,
        resume: resume.unwrap_or(false),
        bots,
        offers,
        streaks,
        hosts,
        source,
    })
}

pub(super) fn put_hello(
    line: &mut WordWriter<'_>,
    server: &Ident,
    token: Option<&Token>,
    resume: bool,
    [bots, offers, streaks]: [Option<bool>; 3],
) {
    line.word(server);
    match token {
        // Quoted, because it could be mistaken for an option.
        Some(Token(text)) if text.contains('=') => line.quoted(text),
        Some(Token(text)) => line.word(&Ident::from_text(text)),
        None => {}
    }
    if resume {
        line.plain("resume=yes");
    }
    let word = |yes: bool| if yes { "yes" } else { "no" };
    line.maybe("bots", bots.map(word));
    line.maybe("offers", offers.map(word));
    line.maybe("streaks", streaks.map(word));
}

pub(super) fn map_range(words: &mut Words) -> Result<(u32, u32), Refusal> {
    let min = players(words, "the smallest number of players")?;
    let max = players(words, "the largest number of players")?;
    match min <= max {
        true => Ok((min, max)),
        false => Err(bad(
            "the smallest number of players must not exceed the largest".into(),
        )),
    }
}

pub(super) fn put_map(line: &mut WordWriter<'_>, name: &Ident, range: Option<(u32, u32)>) {
    line.word(name);
    if let Some((min, max)) = range {
        line.plain(min);
        line.plain(max);
    }
}

pub(super) fn join(words: &mut Words) -> Result<Join, Refusal> {
    let mut join = Join::new(words.word("the player")?);
    options(words, |key, value| match key {
        "name" => Ok(set(&mut join.name, value)),
        "party" => Ok(set(&mut join.party, value)),
        "team" => Ok(set(&mut join.team, team_number(&value)?)),
        "pin" if value.text().is_empty() => Ok(set(&mut join.pin, None)),
        "pin" => Ok(set(&mut join.pin, Some(team_number(&value)?))),
        "wish" if value.text().is_empty() => Ok(set(&mut join.wish, None)),
        "wish" => Ok(set(&mut join.wish, Some(team_number(&value)?))),
        "avoid" => {
            let avoid = join.avoid.get_or_insert_default();
            avoid.extend(Some(value).filter(|id| !id.text().is_empty()));
            Ok(true)
        }
        _ => unknown_option(key),
    })?;
    Ok(join)
}

pub(super) fn put_join(line: &mut WordWriter<'_>, join: &Join) {
    line.word(&join.id);
    let texts = [("name", &join.name), ("party", &join.party)];
    for (key, value) in texts {
        if let Some(value) = value {
            line.option(key, value);
        }
    }
    line.maybe("team", join.team);
    for (key, team) in [("pin", join.pin), ("wish", join.wish)] {
        match team {
            Some(Some(team)) => line.plain(format_args!("{key}={team}")),
            Some(None) => line.plain(format_args!("{key}=")),
            None => {}
        }
    }
    match join.avoid.as_deref() {
        Some([]) => line.plain("avoid="),
        Some(ids) => ids.iter().for_each(|id| line.option("avoid", id)),
        None => {}
    }
}

pub(super) fn leave_reason(words: &mut Words) -> Result<LeaveReason, Refusal> {
    let mut reason = None;
    options(words, |key, value| match key {
        "reason" => {
            let read = LeaveReason::read(value.text());
            let read = read.ok_or_else(|| bad("reason must be one word".into()))?;
            Ok(set(&mut reason, read))
        }
        _ => unknown_option(key),
    })?;
    Ok(reason.unwrap_or_default())
}

pub(super) fn put_leave(line: &mut WordWriter<'_>, id: &Ident, reason: LeaveReason) {
    line.word(id);
    if reason != LeaveReason::default() {
        line.plain(format_args!("reason={}", reason.as_str()));
    }
}

pub(super) fn balance(words: &mut Words) -> Result<Request, Refusal> {
    let (mut top, mut seed) = (None, None);
    options(words, |key, value| match key {
        "top" => Ok(set(&mut top, number(&value, "top", 1, MAX_TOP)? as usize)),
        "seed" => Ok(set(&mut seed, number(&value, "seed", 0, u64::MAX)?)),
        _ => unknown_option(key),
    })?;
    Ok(Request::Balance { top, seed })
}

pub(super) fn rebalance(words: &mut Words) -> Result<Request, Refusal> {
    let (mut seed, mut ask) = (None, None);
    options(words, |key, value| match key {
        "seed" => Ok(set(&mut seed, number(&value, "seed", 0, u64::MAX)?)),
        "ask" => Ok(set(&mut ask, yes_or_no(&value, "ask")?)),
        _ => unknown_option(key),
    })?;
    let ask = ask.unwrap_or(true);
    Ok(Request::Rebalance { seed, ask })
}

pub(super) fn put_rebalance(line: &mut WordWriter<'_>, seed: Option<u64>, ask: bool) {
    line.maybe("seed", seed);
    line.maybe("ask", (!ask).then_some("no"));
}

pub(super) fn put_balance(line: &mut WordWriter<'_>, top: Option<usize>, seed: Option<u64>) {
    line.maybe("top", top);
    line.maybe("seed", seed);
}

pub(super) fn role(words: &mut Words) -> Result<RoleName, Refusal> {
    let role = RoleName::read(words.word("the role")?.text());
    role.ok_or_else(|| bad("a role must be one word".into()))
}

/// The arguments of SCORE, which changes a score or states it.
pub(super) fn score(words: &mut Words) -> Result<Request, Refusal> {
    let team = team(words)?;
    if words.has_option("total") {
        let Some((_, points)) = words.option()? else {
            return Err(bad("the score is missing".into()));
        };
        let points = decimal(&points, "the score", MAX_POINTS)?;
        return Ok(Request::Total { team, points });
    }
    Ok(Request::Score {
        team,
        points: maybe(words, points)?.unwrap_or(1.0),
        by: maybe(words, |words| words.word("the player"))?,
    })
}

pub(super) fn put_score(line: &mut WordWriter<'_>, team: u8, points: f64, by: Option<&Ident>) {
    line.plain(team);
    line.decimal(points);
    if let Some(id) = by {
        line.word(id);
    }
}

pub(super) fn verdict(words: &mut Words) -> Result<Verdict, Refusal> {
    if words.is_empty() {
        return Ok(Verdict::Scores);
    }
    let winner = words.word("the winner")?;
    match winner.text().eq_ignore_ascii_case("draw") {
        true => Ok(Verdict::Draw),
        false => Ok(Verdict::Won(team_number(&winner)?)),
    }
}

pub(super) fn put_verdict(line: &mut WordWriter<'_>, verdict: Verdict) {
    match verdict {
        Verdict::Scores => {}
        Verdict::Won(team) => line.plain(team),
        Verdict::Draw => line.plain("draw"),
    }
}

pub(super) fn points(words: &mut Words) -> Result<f64, Refusal> {
    let what = "the number of points";
    decimal(&words.word(what)?, what, MAX_POINTS)
}

pub(super) fn seconds(words: &mut Words) -> Result<u32, Refusal> {
    Ok(words.number("the number of seconds", 0, MAX_SECONDS)? as u32)
}

pub(super) fn players(words: &mut Words, what: &str) -> Result<u32, Refusal> {
    Ok(words.number(what, 0, MAX_PLAYERS as u64)? as u32)
}

pub(super) fn teams(words: &mut Words) -> Result<u8, Refusal> {
    Ok(words.number("the number of teams", 2, MAX_TEAMS as u64)? as u8)
}

pub(super) fn team(words: &mut Words) -> Result<u8, Refusal> {
    team_number(&words.word("the team")?)
}

fn team_number(text: &Ident) -> Result<u8, Refusal> {
    Ok(number(text, "a team", 0, MAX_TEAMS as u64 - 1)? as u8)
}
