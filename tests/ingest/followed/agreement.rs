//! What the daemon records while a sidecar follows a log is what `ingest` records of it.

use super::{
    daemon::RecordingDaemon,
    evening,
    logs::{self, RecordedLog},
};
use evenkeel::{
    ingest::{self, LogItem},
    model::{Kind, MatchRecord, Participant},
    sidecar::Act,
};

/// By how much a stay may differ, in milliseconds: stamps have whole seconds.
const SECOND: u64 = 1_000;
/// How long after the end of a match of Teeworlds the sidecar knows of it, in milliseconds: no line marks it.
const TEEWORLDS_END: u64 = 2_250;
/// By how much the share of a role may differ: by a second of a short match.
const SHARE: f64 = 0.02;
/// The share of a role that was held for a moment.
const MOMENT: f64 = 0.000_5;

/// What only later lines of a log show, so that a sidecar cannot know it when it happens: the log, what differs, and why.
const LATER: [(&str, &str, &str); 8] = [
    (
        "begin.log",
        "",
        "only the length of the first round shows that it began with the log",
    ),
    (
        "cs2-pending.log",
        "[U:1:11000004]",
        "who comes back has no line about the team before the next kill",
    ),
    (
        "q3-unnamed.log",
        "Sarge",
        "the line protocol has one identity for a human and a bot of one name",
    ),
    (
        "quake3-mixed.log",
        " counts ",
        "in a record without dates, deaths count also while nobody has an opponent",
    ),
    (
        "tf2-highlander-stopwatch.log",
        "[U:1:156038815]",
        "the end of this connection is not in the log: the player comes back five minutes later",
    ),
    (
        "tf2-two-maps-no-map-name.log",
        "2 matches | 0",
        "a match without a map is not followed",
    ),
    (
        "urbanterror-tdm.log",
        "",
        "the halves of a match are not joined",
    ),
    (
        "urt-second-half-alone.log",
        "0 matches | 1",
        "the halves of a match are not joined",
    ),
];

/// The matches that `ingest` finds in a log.
fn ingested(format: &str, log: &[u8]) -> Vec<MatchRecord> {
    let found = evening::items(format, log).into_iter();
    let games = found.filter_map(|item| match item {
        LogItem::Match(game) => Some(*game),
        _ => None,
    });
    games.collect()
}

/// The matches that the daemon records while the log is written.
fn followed(format: &str, log: &[u8]) -> RecordingDaemon {
    let mut daemon = RecordingDaemon::new();
    let mut sidecar = evening::follower(format).unwrap();
    evening::follow(format, log, &mut *sidecar, |now, act| {
        if let Act::Send(request) = act {
            daemon.take(now, request);
        }
    });
    daemon
}

/// A player without the number that makes an identity of nobody's one of its own.
fn who(player: &Participant) -> String {
    let id = &player.key.id;
    let id = match player.key.nobody() {
        Some(_) => id.rsplit_once(' ').map_or(id.as_str(), |(name, _)| name),
        None => id,
    };
    format!("{:?} {id} \"{}\"", player.key.kind, player.name)
}

fn stays(player: &Participant) -> Vec<(u8, u64, u64)> {
    let stays = player.presence.iter();
    let stays = stays.map(|stay| (stay.team, stay.span.from, stay.span.to));
    // Who is away for less than a second has stayed.
    let mut joined: Vec<(u8, u64, u64)> = Vec::new();
    for (team, from, to) in stays.filter(|(_, from, to)| to - from > SECOND) {
        match joined.last_mut() {
            Some((last, _, end)) if *last == team && from <= *end + SECOND => *end = to,
            _ => joined.push((team, from, to)),
        }
    }
    joined
}

/// Whether stays are the same to a second. A match may end later by `lag`, and who was there before the log `named` them was
/// so from the beginning.
fn are_close(
    log: &[(u8, u64, u64)],
    live: &[(u8, u64, u64)],
    lag: u64,
    named: Option<u64>,
) -> bool {
    let near = |a: u64, b: u64| a.abs_diff(b) <= SECOND;
    let began =
        |a: u64, b: u64| near(a, b) || (a == 0 && named.is_some_and(|named| near(named, b)));
    let ended = |a: u64, b: u64| near(a, b) || (a..=a + lag).contains(&b);
    let mut pairs = log.iter().zip(live);
    log.len() == live.len() && pairs.all(|(a, b)| a.0 == b.0 && began(a.1, b.1) && ended(a.2, b.2))
}

fn roles_are_close(one: &Participant, other: &Participant) -> bool {
    let held = |player: &Participant| {
        let roles = player.roles.iter().filter(|role| role.share > MOMENT);
        roles.cloned().collect::<Vec<_>>()
    };
    let (one, other) = (held(one), held(other));
    one.len() == other.len()
        && one.iter().zip(&other).all(|(a, b)| {
            a.name == b.name && a.team == b.team && (a.share - b.share).abs() <= SHARE
        })
}

/// The players of a match who were on a team for longer than a second, in the order of their names.
fn players(game: &MatchRecord) -> Vec<&Participant> {
    let mut players: Vec<_> = game
        .participants
        .iter()
        .filter(|p| !stays(p).is_empty())
        .collect();
    players.sort_by_key(|player| {
        (
            who(player),
            stays(player).first().map(|stay| stay.1 / 5_000),
        )
    });
    players
}

/// What else is known of a log that is compared.
struct Reading<'a> {
    format: &'a str,
    log: &'a [u8],
    /// When play began, in milliseconds since the log began.
    start: u64,
}

impl Reading<'_> {
    /// When a player of Source is first named, in milliseconds since play began.
    fn first_named(&self, player: &Participant) -> Option<u64> {
        let tag = format!("\"{}<", player.name).into_bytes();
        let named = |line: &[u8]| memchr::memmem::find(line, &tag).is_some();
        let at =
            evening::time_of(self.format, self.log, named).filter(|_| self.format == "source")?;
        Some(at.saturating_sub(self.start))
    }

    /// How the match that was followed differs from the one in the log, a line for each difference.
    fn differences(&self, log: &MatchRecord, live: &MatchRecord) -> Vec<String> {
        let mut differ = Vec::new();
        let frame = |game: &MatchRecord| {
            let scores: Vec<f64> = game.scores.clone();
            let (kind, map, mutators) = (&game.game_type, &game.map, &game.mutators);
            format!("{kind} {map} {mutators:?} {scores:?} {:?}", game.outcome)
        };
        if frame(log) != frame(live) {
            differ.push(format!("{} | {}", frame(log), frame(live)));
        }
        let (logged, lived) = (players(log), players(live));
        let names = |players: &[&Participant]| players.iter().map(|p| who(p)).collect::<Vec<_>>();
        let (in_log, in_game) = (names(&logged), names(&lived));
        let only = |one: &[String], other: &[String]| {
            let only = one.iter().filter(|name| !other.contains(name));
            only.cloned().collect::<Vec<_>>()
        };
        differ.extend(
            only(&in_log, &in_game)
                .into_iter()
                .map(|who| format!("{who} is missing")),
        );
        differ.extend(
            only(&in_game, &in_log)
                .into_iter()
                .map(|who| format!("{who} is too many")),
        );
        if in_log == in_game {
            for (log, live) in logged.into_iter().zip(lived) {
                differ.extend(self.player_differs(log, live));
            }
        }
        differ
    }

    fn player_differs(&self, log: &Participant, live: &Participant) -> Vec<String> {
        let mut differ = Vec::new();
        let lag = if self.format == "teeworlds" {
            TEEWORLDS_END
        } else {
            0
        };
        let (a, b) = (stays(log), stays(live));
        if !are_close(&a, &b, lag, None) && !are_close(&a, &b, lag, self.first_named(log)) {
            differ.push(format!("{} stays {a:?} | {b:?}", who(log)));
        }
        let counts = |p: &Participant| (p.kills, p.deaths, p.points);
        if counts(log) != counts(live) {
            differ.push(format!(
                "{} counts {:?} | {:?}",
                who(log),
                counts(log),
                counts(live)
            ));
        }
        if log.key.kind == Kind::Human && !roles_are_close(log, live) {
            differ.push(format!(
                "{} roles {:?} | {:?}",
                who(log),
                log.roles,
                live.roles
            ));
        }
        differ
    }
}

/// How what is recorded of a log differs.
fn compare(log: &RecordedLog) -> Vec<String> {
    let format = ingest::detect(&log.bytes[..log.bytes.len().min(ingest::HEAD)]);
    let Some(format) = format.filter(|format| evening::follower(format.name).is_some()) else {
        return Vec::new();
    };
    let games = ingested(format.name, &log.bytes);
    let daemon = followed(format.name, &log.bytes);
    let mut differ = daemon.refused.clone();
    for ((game, live), &start) in games.iter().zip(&daemon.records).zip(&daemon.starts) {
        let (format, log) = (format.name, &log.bytes[..]);
        let reading = Reading { format, log, start };
        let as_named = reading.differences(game, live);
        // Where the teams change sides, the log shows only at the end which of them it calls the first.
        differ.extend(match format {
            "source" if !as_named.is_empty() => {
                let other = reading.differences(game, &live.clone().with_teams_exchanged());
                if other.len() < as_named.len() {
                    other
                } else {
                    as_named
                }
            }
            _ => as_named,
        });
    }
    if games.len() != daemon.records.len() {
        differ.push(format!(
            "{} matches | {}",
            games.len(),
            daemon.records.len()
        ));
    }
    let known = |text: &str| {
        let mut later = LATER.iter();
        later.any(|(name, what, _)| log.name.ends_with(name) && text.contains(what))
    };
    differ.retain(|text| !known(text));
    differ
        .into_iter()
        .map(|text| format!("  {}: {text}\n", log.name))
        .collect()
}

fn agree(logs: &[RecordedLog]) {
    let differ: String = logs.iter().flat_map(compare).collect();
    assert!(differ.is_empty(), "the log | the sidecar\n{differ}");
}

#[test]
fn of_the_logs_that_come_with_the_project() {
    for folder in ["openarena", "nexuiz", "teeworlds"] {
        agree(&logs::own(folder));
    }
}

#[test]
fn of_openarena() {
    agree(&logs::shared("openarena"));
}

#[test]
fn of_nexuiz() {
    agree(&logs::shared("nexuiz"));
}

#[test]
fn of_source() {
    let logs = logs::shared("source").into_iter();
    agree(&logs.map(RecordedLog::with_map).collect::<Vec<_>>());
}

#[test]
fn of_counter_strike_2() {
    agree(&logs::shared("cs2"));
}

/// A game of one flag, whose log states no result, so that the captures give the score.
const ONE_FLAG: &str = "\
  0:00 InitGame: \\g_gametype\\5\\gamename\\baseoa\\mapname\\oa_bases5
  0:01 ClientConnect: 0
  0:01 ClientUserinfoChanged: 0 n\\ann\\t\\1\\id\\0000000000000000000000000000000A
  0:01 ClientBegin: 0
  0:01 ClientConnect: 1
  0:01 ClientUserinfoChanged: 1 n\\bob\\t\\2\\id\\0000000000000000000000000000000B
  0:01 ClientBegin: 1
  1:10 1FCTF: 1 -1 0: bob got the flag!
  1:20 1FCTF: 1 -1 1: bob captured the flag!
  1:50 1FCTF: -1 -1 2: The flag was returned!
  3:20 1FCTF: 1 -1 1: bob captured the flag!
  5:00 Exit: Timelimit hit.
  5:00 score: 12  ping: 1  client: 1 bob
  5:00 score: 3  ping: 1  client: 0 ann
  5:07 ShutdownGame:
";

#[test]
fn of_captures_of_the_only_flag() {
    let log = ONE_FLAG.as_bytes();
    let (read, sent) = (ingested("idtech3", log), followed("idtech3", log).records);
    let scores = [&read[0], &sent[0]].map(|game| game.scores.clone());
    assert_eq!(scores, [[0.0, 2.0], [0.0, 2.0]]);
}

#[test]
fn of_small_cases() {
    let logs = ["cases", "cases4", "quake3"].map(logs::shared);
    let logs = logs.into_iter().flatten().map(RecordedLog::with_map);
    agree(&logs.collect::<Vec<_>>());
}
