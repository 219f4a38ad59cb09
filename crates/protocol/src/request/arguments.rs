//! How the arguments of the verbs are read and written: those about games, then those of queue clients and of instances. Most
//! verbs need only what stands in their row.

use std::collections::BTreeSet;

use evenkeel_model::{
    ident::Ident,
    in_game::Verdict,
    record::{LeaveReason, MAX_PLAYERS, MAX_TEAMS},
    team_names::RoleName,
};

use super::{HostRequest, Join, Request, Token};
use crate::{
    Refusal,
    words::{
        WordWriter, Words, bad, decimal, match_id, maybe, number, options, set, unknown_option,
        yes_or_no,
    },
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

/// The longest id of a ticket, in bytes.
const MAX_TICKET_ID: usize = 64;

/// An id of a ticket: visible ASCII characters without quotes and backslashes, so that it never
/// needs quotes.
pub(super) fn ticket(words: &mut Words) -> Result<String, Refusal> {
    let ticket = words.word("the ticket")?;
    let text = ticket.text();
    let plain = |b: u8| b.is_ascii_graphic() && !matches!(b, b'"' | b'\\');
    if text.len() <= MAX_TICKET_ID && text.bytes().all(plain) {
        return Ok(text.to_owned());
    }
    Err(bad(format!(
        "the ticket's id must be 1 to {MAX_TICKET_ID} visible ASCII characters without quotes and backslashes"
    )))
}

/// What a player states, to the end of the line.
pub(super) fn stated(words: &mut Words) -> Result<Vec<(String, Ident)>, Refusal> {
    let mut stated = Vec::new();
    while let Some(option) = words.option()? {
        stated.push(option);
    }
    Ok(stated)
}

pub(super) fn put_stated(line: &mut WordWriter<'_>, stated: &[(String, Ident)]) {
    for (name, value) in stated {
        line.option(name, value);
    }
}

/// The most slots of an instance.
const MAX_SLOTS: u64 = 256;
/// The longest address, in bytes.
const MAX_ADDRESS: usize = 255;
/// The longest word of a list, in bytes.
const MAX_WORD: usize = 64;
/// The most words of a list.
const MAX_WORDS: usize = 128;

pub(super) fn instance(words: &mut Words) -> Result<HostRequest, Refusal> {
    let address = address(words)?;
    let (mut region, mut slots, mut modes, mut maps) = (None, None, None, None);
    let mut partition = None;
    options(words, |key, value| {
        let text = value.text();
        match key {
            "region" => Ok(set(&mut region, word(text, "the region")?)),
            "slots" => Ok(set(&mut slots, number(&value, "slots", 1, MAX_SLOTS)?)),
            "modes" => Ok(set(&mut modes, list(text, "modes")?)),
            "maps" => Ok(set(&mut maps, list(text, "maps")?)),
            "partition" => Ok(set(&mut partition, word(text, "the partition")?)),
            _ => unknown_option(key),
        }
    })?;
    Ok(HostRequest::Instance {
        address,
        region,
        slots: slots.map_or(1, |slots| slots as u32),
        modes: modes.unwrap_or_default(),
        maps: maps.unwrap_or_default(),
        partition,
    })
}

/// The options of INSTANCE, with the modes and the maps.
pub(super) fn put_instance(
    line: &mut WordWriter<'_>,
    region: Option<&str>,
    slots: u32,
    lists: [&BTreeSet<String>; 2],
    partition: Option<&str>,
) {
    line.maybe("region", region);
    line.plain(format_args!("slots={slots}"));
    for (key, words) in ["modes", "maps"].into_iter().zip(lists) {
        if !words.is_empty() {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            line.plain(format_args!("{key}={}", words.join(",")));
        }
    }
    line.maybe("partition", partition);
}

pub(super) fn load(words: &mut Words) -> Result<f64, Refusal> {
    let load = decimal(&words.word("the load")?, "the load", 1.0)?;
    match load < 0.0 {
        true => Err(bad("the load must be a number from 0 to 1".to_owned())),
        false => Ok(load),
    }
}

/// An address: one word of visible ASCII characters, which players can be sent as it is.
pub(super) fn address(words: &mut Words) -> Result<String, Refusal> {
    let address = words.word("the address")?;
    let text = address.text();
    match text.len() <= MAX_ADDRESS && is_plain(text) && !text.contains('=') {
        true => Ok(text.to_owned()),
        false => Err(bad(format!(
            "the address must be 1 to {MAX_ADDRESS} visible ASCII characters without quotes, backslashes and ="
        ))),
    }
}

/// Words with commas between them.
fn list(text: &str, what: &str) -> Result<BTreeSet<String>, Refusal> {
    let words: BTreeSet<String> = text
        .split(',')
        .filter(|text| !text.is_empty())
        .map(|text| word(text, what))
        .collect::<Result<_, _>>()?;
    match words.len() <= MAX_WORDS {
        true => Ok(words),
        false => Err(bad(format!("{what} must be at most {MAX_WORDS} words"))),
    }
}

fn word(text: &str, what: &str) -> Result<String, Refusal> {
    let good = !text.is_empty() && text.len() <= MAX_WORD && is_plain(text) && !text.contains(',');
    match good {
        true => Ok(text.to_owned()),
        false => Err(bad(format!(
            "{what} must be made of 1 to {MAX_WORD} visible ASCII characters without quotes, backslashes and commas"
        ))),
    }
}

fn is_plain(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_graphic() && !matches!(b, b'"' | b'\\');
    !text.is_empty() && text.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Request, request::QueueRequest};

    fn read(line: &'static str) -> Result<QueueRequest, String> {
        match Request::parse(line.as_bytes().into()) {
            Ok(Some(Request::Queue(request))) => Ok(request),
            Ok(other) => Err(format!("{other:?}")),
            Err(refusal) => Err(refusal.text),
        }
    }

    #[test]
    fn tickets_have_plain_ids_and_players_any() {
        let request = read("seat \"Boring John\" tier=8 MAPS=a maps=\"b c\" ping.eu=32");
        let Ok(QueueRequest::Seat { player, stated }) = request else {
            panic!("{request:?}");
        };
        assert_eq!(player.text(), "Boring John");
        let stated: Vec<_> = stated
            .iter()
            .map(|(name, value)| (name.as_str(), value.text()))
            .collect();
        assert_eq!(
            stated,
            [
                ("tier", "8"),
                ("maps", "a"),
                ("maps", "b c"),
                ("ping.eu", "32")
            ]
        );
        let accept = QueueRequest::Accept {
            id: 7,
            player: Ident::from_text("ann"),
        };
        assert_eq!(read("ACCEPT 7 ann"), Ok(accept));
        let explain = QueueRequest::Explain("t".to_owned());
        assert_eq!(read("EXPLAIN t"), Ok(explain));
        let last = Request::parse("EXPLAIN".into());
        assert_eq!(last, Ok(Some(Request::Explain)));
        let id = "t".repeat(MAX_TICKET_ID);
        for good in ["t", "a-1:b/c=#", &id] {
            assert!(Request::parse(format!("CANCEL {good}").into()).is_ok());
        }
        for bad in [
            "ENQUEUE q",
            "ENQUEUE q t u",
            "ENQUEUE q \"a b\"",
            "CANCEL t\\u",
            "CANCEL \u{e4}",
            "SEAT",
            "SEAT p tier",
            "SEAT p =8",
            "ACCEPT 0 p",
            "ACCEPT -1 p",
            "ACCEPT 9223372036854775808 p",
            "ACCEPT 7",
            "DECLINE x p",
            "TICKET",
            "EXPLAIN a b",
            "LISTEN now",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    fn read_host(line: &str) -> Result<HostRequest, String> {
        match Request::parse(line.to_owned().into()) {
            Ok(Some(Request::Host(request))) => Ok(request),
            Ok(other) => Err(format!("{other:?}")),
            Err(refusal) => Err(refusal.text),
        }
    }

    #[test]
    fn what_an_instance_offers() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(
            read_host("instance 203.0.113.7:27960 maps=b,a,b Region=eu slots=4 partition=eu"),
            Ok(HostRequest::Instance {
                address: "203.0.113.7:27960".to_owned(),
                region: Some("eu".to_owned()),
                slots: 4,
                modes: BTreeSet::new(),
                maps: words(&["a", "b"]),
                partition: Some("eu".to_owned()),
            })
        );
        assert_eq!(read_host("LOAD 0.25"), Ok(HostRequest::Load(0.25)));
        let id = 7;
        assert_eq!(
            read_host("READY 7"),
            Ok(HostRequest::Ready { id, address: None })
        );
        let Ok(HostRequest::Refuse { id: 7, reason }) = read_host("REFUSE 7 map not loaded") else {
            panic!("REFUSE is not read");
        };
        assert_eq!(reason.text(), "map not loaded");
        for bad in [
            "INSTANCE",
            "INSTANCE \"a b\"",
            "INSTANCE region=eu",
            "INSTANCE a slots=0",
            "INSTANCE a slots=257",
            "INSTANCE a slots=1 slots=1",
            "INSTANCE a ports=1",
            "INSTANCE a region=",
            "INSTANCE a partition=",
            "INSTANCE a partition=a partition=b",
            "INSTANCE a maps=\"a b\"",
            "LOAD",
            "LOAD -0.1",
            "LOAD 1.1",
            "READY",
            "READY 0",
            "READY 7 a b",
            "BACKFILL",
            "BACKFILL 7",
            "BACKFILL 7 1",
            "BACKFILL 7 8 1",
            "BACKFILL 7 -1 1",
            "BACKFILL 7 1 999999",
            "BACKFILL 7 1 1 1",
            "REFUSE 7",
        ] {
            assert!(read_host(bad).is_err(), "{bad}");
        }
        let many: Vec<String> = (0..=MAX_WORDS).map(|n| format!("m{n}")).collect();
        assert!(read_host(&format!("INSTANCE a maps={}", many.join(","))).is_err());
    }
}
