//! Parses a line to a request, and writes a request as a line. Each verb is read and written only
//! in this file. A line with too many arguments is refused.

use bytes::{Bytes, BytesMut};

use super::{HostRequest, Join, QueueRequest, Request, Token, host::match_id};
use crate::{
    domain::{Ident, LeaveReason, MAX_PLAYERS, MAX_TEAMS, RoleName, Verdict},
    protocol::{
        Code, Refusal,
        words::{WordWriter, Words, bad, decimal, number},
    },
};

/// The largest `top` of BALANCE.
const MAX_TOP: u64 = 4_096;
/// The longest time in a command, in seconds: a week, which no game lasts.
const MAX_SECONDS: u64 = 7 * 24 * 3_600;
/// The largest number of points in a command, positive or negative. A larger one means that a
/// counter of the game is broken.
const MAX_POINTS: f64 = 1e6;

impl Request {
    /// Reads one line; `None` if it is blank.
    ///
    /// # Errors
    /// `unknown-command` if the first word is no verb, `bad-argument` if its arguments are wrong.
    pub fn parse(line: Bytes) -> Result<Option<Self>, Refusal> {
        let mut words = Words::new(line);
        if words.is_empty() {
            return Ok(None);
        }
        let verb = words.verb();
        let upper = verb.to_ascii_uppercase();
        if let Some(request) = QueueRequest::parse(&upper, &mut words)? {
            words.end()?;
            return Ok(Some(Self::Queue(request)));
        }
        if let Some(request) = HostRequest::parse(&upper, &mut words)? {
            words.end()?;
            return Ok(Some(Self::Host(request)));
        }
        let request = match upper.as_slice() {
            b"GAME" => Self::Game(words.whole_rest("the game type")?),
            b"MUTATOR" => Self::Mutator(words.whole_rest("the mutator")?),
            b"PLAYER" => Self::Player(words.whole_rest("the player")?),
            b"BOT" => Self::Bot(words.whole_rest("the bot")?),
            b"RANK" => Self::Rank(words.word("the player")?),
            b"MEANBOT" => Self::MeanBot,
            b"HELLO" => hello(&mut words)?,
            b"PING" => Self::Ping,
            b"QUIT" => Self::Quit,
            b"MAP" => map(&mut words)?,
            b"TEAMS" => Self::Teams(teams(&mut words)?),
            b"MINPLAYERS" => Self::MinPlayers(players(&mut words, "the number of players")?),
            b"JOIN" => Self::Join(join(&mut words)?),
            b"LEAVE" => leave(&mut words)?,
            b"MOVE" => Self::Move {
                id: words.word("the player")?,
                team: team(&mut words)?,
            },
            b"BOTJOIN" => Self::BotJoin {
                name: words.word("the bot")?,
                team: team(&mut words)?,
            },
            b"BOTLEAVE" => Self::BotLeave(words.word("the bot")?),
            b"BALANCE" => balance(&mut words)?,
            b"BOTS" => Self::Bots,
            b"PLACE" => Self::Place(words.word("the player")?),
            b"ADVANTAGE" => Self::Advantage,
            b"REBALANCE" => rebalance(&mut words)?,
            b"EXPLAIN" => Self::Explain,
            b"PROTECT" => protect(&mut words)?,
            b"ROLE" => role(&mut words)?,
            b"START" => Self::Start,
            b"SCORE" => score(&mut words)?,
            b"POINTS" => {
                let (id, points) = player_and_points(&mut words)?;
                Self::Points { id, points }
            }
            b"BEHAVIOUR" => {
                let (id, points) = player_and_points(&mut words)?;
                Self::Behaviour { id, points }
            }
            b"KILL" => Self::Kill {
                killer: words.word_or_empty("the killer")?,
                victim: words.word_or_empty("the victim")?,
            },
            b"DEATH" => Self::Death(words.word("the player")?),
            b"CLOCK" => Self::Clock(seconds(&mut words)?),
            b"END" => end(&mut words)?,
            _ => return Err(unknown(&verb)),
        };
        words.end()?;
        Ok(Some(request))
    }

    /// Appends the request's line. Identifiers are quoted where they need it.
    ///
    /// [`Request::parse`] reads the same request back if its values are within the protocol's limits:
    /// non-empty identifiers without line feeds, and numbers in the ranges that it accepts.
    pub fn encode(&self, out: &mut BytesMut) {
        let mut line = WordWriter::new(out, self.verb().as_str());
        self.put_arguments(&mut line);
        line.end();
    }

    fn put_arguments(&self, line: &mut WordWriter<'_>) {
        match self {
            Self::MeanBot
            | Self::Ping
            | Self::Quit
            | Self::Bots
            | Self::Advantage
            | Self::Explain
            | Self::Start => {}
            Self::Game(id)
            | Self::Mutator(id)
            | Self::Player(id)
            | Self::Bot(id)
            | Self::Rank(id)
            | Self::BotLeave(id)
            | Self::Place(id)
            | Self::Death(id) => line.word(id),
            Self::Move { id, team } | Self::BotJoin { name: id, team } => {
                line.word(id);
                line.plain(team);
            }
            Self::Leave { id, reason } => put_leave(line, id, *reason),
            Self::Teams(teams) => line.plain(teams),
            Self::MinPlayers(count) | Self::Clock(count) => line.plain(count),
            Self::Points { id, points } | Self::Behaviour { id, points } => {
                line.word(id);
                line.decimal(*points);
            }
            Self::Kill { killer, victim } => {
                line.word(killer);
                line.word(victim);
            }
            Self::Hello {
                server,
                token,
                resume,
                bots,
                hosts,
            } => {
                put_hello(line, server, token.as_ref(), *resume, *bots);
                if let Some(id) = hosts {
                    line.plain(format_args!("match={id}"));
                }
            }
            Self::Map { name, range } => put_map(line, name, *range),
            Self::Join(join) => put_join(line, join),
            Self::Balance { top, seed } => put_balance(line, *top, *seed),
            Self::Rebalance { seed } => put_balance(line, None, *seed),
            Self::Protect { id, seconds } => put_protect(line, id, *seconds),
            Self::Role { id, role } => put_role(line, id, role.as_ref()),
            Self::Total { team, points } => put_total(line, *team, *points),
            Self::Score { team, points, by } => put_score(line, *team, *points, by.as_ref()),
            Self::End(verdict) => put_end(line, *verdict),
            Self::Queue(request) => request.put_arguments(line),
            Self::Host(request) => request.put_arguments(line),
        }
    }
}

fn hello(words: &mut Words) -> Result<Request, Refusal> {
    let server = words.word("the server's name")?;
    if server.text().contains('\0') {
        return Err(bad("a server's name must not contain NUL".to_owned()));
    }
    let (mut token, mut resume, mut bots, mut hosts) = (None, None, None, None);
    // No other `key=` counts as an option here, because a token may contain a `=`.
    let is_option = ["resume", "bots", "match"]
        .iter()
        .any(|key| words.has_option(key));
    if !words.is_empty() && !is_option {
        token = Some(Token::new(words.word("the token")?.text()));
    }
    while let Some((key, value)) = words.option()? {
        let fresh = match key.as_str() {
            "resume" => resume.replace(yes_or_no(&value, "resume")?).is_none(),
            "bots" => bots.replace(yes_or_no(&value, "bots")?).is_none(),
            "match" => hosts.replace(match_id(&value)?).is_none(),
            _ => return Err(bad(format!("unknown option {key}"))),
        };
        once(fresh, &key)?;
    }
    Ok(Request::Hello {
        server,
        token,
        resume: resume.unwrap_or(false),
        bots,
        hosts,
    })
}

fn put_hello(
    line: &mut WordWriter<'_>,
    server: &Ident,
    token: Option<&Token>,
    resume: bool,
    bots: Option<bool>,
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
    if let Some(bots) = bots {
        line.plain(if bots { "bots=yes" } else { "bots=no" });
    }
}

fn map(words: &mut Words) -> Result<Request, Refusal> {
    let name = words.word("the map")?;
    if words.is_empty() {
        return Ok(Request::Map { name, range: None });
    }
    let min = players(words, "the smallest number of players")?;
    let max = players(words, "the largest number of players")?;
    if min > max {
        return Err(bad(
            "the smallest number of players must not exceed the largest".into(),
        ));
    }
    Ok(Request::Map {
        name,
        range: Some((min, max)),
    })
}

fn put_map(line: &mut WordWriter<'_>, name: &Ident, range: Option<(u32, u32)>) {
    line.word(name);
    if let Some((min, max)) = range {
        line.plain(min);
        line.plain(max);
    }
}

fn join(words: &mut Words) -> Result<Join, Refusal> {
    let mut join = Join::new(words.word("the player")?);
    while let Some((key, value)) = words.option()? {
        let fresh = match key.as_str() {
            "name" => join.name.replace(value).is_none(),
            "party" => join.party.replace(value).is_none(),
            "team" => join.team.replace(team_number(&value)?).is_none(),
            "pin" if value.text().is_empty() => join.pin.replace(None).is_none(),
            "pin" => join.pin.replace(Some(team_number(&value)?)).is_none(),
            "avoid" => {
                let avoid = join.avoid.get_or_insert_default();
                avoid.extend(Some(value).filter(|id| !id.text().is_empty()));
                true
            }
            _ => return Err(bad(format!("unknown option {key}"))),
        };
        once(fresh, &key)?;
    }
    Ok(join)
}

fn put_join(line: &mut WordWriter<'_>, join: &Join) {
    line.word(&join.id);
    let texts = [("name", &join.name), ("party", &join.party)];
    for (key, value) in texts {
        if let Some(value) = value {
            line.option(key, value);
        }
    }
    if let Some(team) = join.team {
        line.plain(format_args!("team={team}"));
    }
    match join.pin {
        Some(Some(team)) => line.plain(format_args!("pin={team}")),
        Some(None) => line.plain("pin="),
        None => {}
    }
    match join.avoid.as_deref() {
        Some([]) => line.plain("avoid="),
        Some(ids) => ids.iter().for_each(|id| line.option("avoid", id)),
        None => {}
    }
}

fn leave(words: &mut Words) -> Result<Request, Refusal> {
    let id = words.word("the player")?;
    let mut reason = None;
    while let Some((key, value)) = words.option()? {
        let fresh = match key.as_str() {
            "reason" => {
                let read = LeaveReason::read(value.text());
                let read = read.ok_or_else(|| bad("reason must be one word".into()))?;
                reason.replace(read).is_none()
            }
            _ => return Err(bad(format!("unknown option {key}"))),
        };
        once(fresh, &key)?;
    }
    let reason = reason.unwrap_or_default();
    Ok(Request::Leave { id, reason })
}

fn put_leave(line: &mut WordWriter<'_>, id: &Ident, reason: LeaveReason) {
    line.word(id);
    if reason != LeaveReason::default() {
        line.plain(format_args!("reason={}", reason.as_str()));
    }
}

fn balance(words: &mut Words) -> Result<Request, Refusal> {
    let (mut top, mut seed) = (None, None);
    while let Some((key, value)) = words.option()? {
        let fresh = match key.as_str() {
            "top" => top
                .replace(number(&value, "top", 1, MAX_TOP)? as usize)
                .is_none(),
            "seed" => seed.replace(number(&value, "seed", 0, u64::MAX)?).is_none(),
            _ => return Err(bad(format!("unknown option {key}"))),
        };
        once(fresh, &key)?;
    }
    Ok(Request::Balance { top, seed })
}

fn rebalance(words: &mut Words) -> Result<Request, Refusal> {
    let mut seed = None;
    while let Some((key, value)) = words.option()? {
        let fresh = match key.as_str() {
            "seed" => seed.replace(number(&value, "seed", 0, u64::MAX)?).is_none(),
            _ => return Err(bad(format!("unknown option {key}"))),
        };
        once(fresh, &key)?;
    }
    Ok(Request::Rebalance { seed })
}

/// The options of BALANCE and REBALANCE.
fn put_balance(line: &mut WordWriter<'_>, top: Option<usize>, seed: Option<u64>) {
    if let Some(top) = top {
        line.plain(format_args!("top={top}"));
    }
    if let Some(seed) = seed {
        line.plain(format_args!("seed={seed}"));
    }
}

fn protect(words: &mut Words) -> Result<Request, Refusal> {
    let id = words.word("the player")?;
    let seconds = match words.is_empty() {
        true => None,
        false => Some(seconds(words)?),
    };
    Ok(Request::Protect { id, seconds })
}

fn put_protect(line: &mut WordWriter<'_>, id: &Ident, seconds: Option<u32>) {
    line.word(id);
    if let Some(seconds) = seconds {
        line.plain(seconds);
    }
}

fn role(words: &mut Words) -> Result<Request, Refusal> {
    let id = words.word("the player")?;
    let role = match words.is_empty() {
        true => None,
        false => {
            let role = RoleName::read(words.word("the role")?.text());
            Some(role.ok_or_else(|| bad("a role must be one word".into()))?)
        }
    };
    Ok(Request::Role { id, role })
}

fn put_role(line: &mut WordWriter<'_>, id: &Ident, role: Option<&RoleName>) {
    line.word(id);
    if let Some(role) = role {
        line.plain(role.as_str());
    }
}

fn score(words: &mut Words) -> Result<Request, Refusal> {
    let team = team(words)?;
    if words.has_option("total") {
        return total(words, team);
    }
    let points = match words.is_empty() {
        true => 1.0,
        false => points(words)?,
    };
    let by = match words.is_empty() {
        true => None,
        false => Some(words.word("the player")?),
    };
    Ok(Request::Score { team, points, by })
}

fn total(words: &mut Words, team: u8) -> Result<Request, Refusal> {
    let Some((_, points)) = words.option()? else {
        return Err(bad("the score is missing".into()));
    };
    let points = decimal(&points, "the score", MAX_POINTS)?;
    Ok(Request::Total { team, points })
}

fn put_total(line: &mut WordWriter<'_>, team: u8, points: f64) {
    line.plain(team);
    line.decimal_option("total", points);
}

fn put_score(line: &mut WordWriter<'_>, team: u8, points: f64, by: Option<&Ident>) {
    line.plain(team);
    line.decimal(points);
    if let Some(id) = by {
        line.word(id);
    }
}

fn end(words: &mut Words) -> Result<Request, Refusal> {
    if words.is_empty() {
        return Ok(Request::End(Verdict::Scores));
    }
    let verdict = words.word("the winner")?;
    Ok(Request::End(
        if verdict.text().eq_ignore_ascii_case("draw") {
            Verdict::Draw
        } else {
            Verdict::Won(team_number(&verdict)?)
        },
    ))
}

fn put_end(line: &mut WordWriter<'_>, verdict: Verdict) {
    match verdict {
        Verdict::Scores => {}
        Verdict::Won(team) => line.plain(team),
        Verdict::Draw => line.plain("draw"),
    }
}

/// A player, and points of that player.
fn player_and_points(words: &mut Words) -> Result<(Ident, f64), Refusal> {
    Ok((words.word("the player")?, points(words)?))
}

fn points(words: &mut Words) -> Result<f64, Refusal> {
    let what = "the number of points";
    decimal(&words.word(what)?, what, MAX_POINTS)
}

fn seconds(words: &mut Words) -> Result<u32, Refusal> {
    Ok(words.number("the number of seconds", 0, MAX_SECONDS)? as u32)
}

fn yes_or_no(text: &Ident, what: &str) -> Result<bool, Refusal> {
    match text.text() {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(bad(format!("{what} must be yes or no"))),
    }
}

fn players(words: &mut Words, what: &str) -> Result<u32, Refusal> {
    Ok(words.number(what, 0, MAX_PLAYERS as u64)? as u32)
}

fn teams(words: &mut Words) -> Result<u8, Refusal> {
    Ok(words.number("the number of teams", 2, MAX_TEAMS as u64)? as u8)
}

fn team(words: &mut Words) -> Result<u8, Refusal> {
    team_number(&words.word("the team")?)
}

fn team_number(text: &Ident) -> Result<u8, Refusal> {
    Ok(number(text, "a team", 0, MAX_TEAMS as u64 - 1)? as u8)
}

pub(super) fn once(fresh: bool, key: &str) -> Result<(), Refusal> {
    if fresh {
        Ok(())
    } else {
        Err(bad(format!("{key} is given twice")))
    }
}

/// Refuses an unknown verb. The reply repeats as much of it as a line has room for.
fn unknown(verb: &[u8]) -> Refusal {
    let shown = verb[..verb.len().min(32)].escape_ascii();
    Refusal {
        code: Code::UnknownCommand,
        text: shown.to_string(),
    }
}
