//! Small logs, written for one question each.

mod beginnings;
mod counter_strike;
mod identities;
mod rounds;
mod team_fortress;
mod whole_logs;

use super::FORMAT;
use crate::{LogItem, detect, only_match, read};
use evenkeel_model::{Kind, MatchRecord, Outcome, Participant};

/// Lines, each at its second.
fn log(lines: &[(u32, &str)]) -> String {
    let line = |(at, line): &(u32, &str)| {
        format!("L 01/24/2026 - 18:{:02}:{:02}: {line}\n", at / 60, at % 60)
    };
    lines.iter().map(line).collect()
}

const A: &str = r#""Ann<1><STEAM_0:0:1><Red>""#;
const B: &str = r#""Bob<2><BOT><Blue>""#;

fn tf2(lines: &[(u32, String)], finals: (u32, u32)) -> MatchRecord {
    only_match(&FORMAT, &tf2_log(lines, finals))
}

fn tf2_log(lines: &[(u32, String)], (red, blue): (u32, u32)) -> String {
    let mut all = vec![
        (
            0,
            r#"Log file started (file "l") (game "x\tf") (version "1")"#.to_owned(),
        ),
        (0, r#"Loading map "ctf_2fort""#.to_owned()),
        (1, r#""Ann<1><STEAM_0:0:1><>" entered the game"#.to_owned()),
        (
            1,
            r#""Ann<1><STEAM_0:0:1><Unassigned>" joined team "Red""#.to_owned(),
        ),
        (
            1,
            r#""Bob<2><BOT><Unassigned>" joined team "Blue""#.to_owned(),
        ),
        (5, format!(r#"{A} killed {B} with "gun""#)),
        (10, r#"World triggered "Round_Start""#.to_owned()),
    ];
    all.extend_from_slice(lines);
    all.extend([
        (100, r#"World triggered "Game_Over" reason "x""#.to_owned()),
        (
            100,
            format!(r#"Team "Red" final score "{red}" with "1" players"#),
        ),
        (
            100,
            format!(r#"Team "Blue" final score "{blue}" with "1" players"#),
        ),
        (
            101,
            r#"World triggered "Round_Win" (winner "Red")"#.to_owned(),
        ),
        (102, r#"Log file closed"#.to_owned()),
    ]);
    let all: Vec<_> = all.iter().map(|(at, line)| (*at, line.as_str())).collect();
    log(&all)
}

/// A game of Team Fortress Classic.
const TFC: [(u32, &str); 9] = [
    (
        0,
        r#"Log file started (file "l") (game "tfc") (version "1")"#,
    ),
    (0, r#"Started map "well" (CRC "1")"#),
    (1, r#""Ann<1><STEAM_0:0:1><SPECTATOR>" joined team "Red""#),
    (1, r#""Bob<2><STEAM_0:0:2><SPECTATOR>" joined team "Blue""#),
    (9, r#"World triggered "Match_Begins_Now""#),
    (
        9,
        r#""Ann<1><STEAM_0:0:1><Red>" committed suicide with "gun""#,
    ),
    (
        20,
        r#""Ann<1><STEAM_0:0:1><Red>" triggered "Team 1 dropoff""#,
    ),
    (69, r#"Team "Red" scored "10" with "1" players (kills "1")"#),
    (69, r#"Team "Blue" scored "0" with "1" players (kills "1")"#),
];

fn stays(p: &Participant) -> Stays {
    let stay =
        |s: &evenkeel_model::record::Presence| (s.team, s.span.from / 1_000, s.span.to / 1_000);
    p.presence.iter().map(stay).collect()
}

fn reasons(log: &str) -> Vec<(u64, &'static str)> {
    let items = read(&FORMAT, log);
    let reason = |item: &LogItem| match item {
        LogItem::Skipped { line, reason, .. } => (*line, reason.code()),
        other => panic!("{other:?}"),
    };
    items.iter().map(reason).collect()
}

/// The stays of a player: team, and the seconds from and to.
type Stays = Vec<(u8, u64, u64)>;

/// The players of a game, each with the stays.
fn all_stays(game: &MatchRecord) -> Vec<(&str, Stays)> {
    let player = |p: &Participant| stays(p);
    let all = game.participants.iter();
    all.map(|p| (p.name.as_str(), player(p))).collect()
}

fn line(at: u32, line: &str) -> Vec<(u32, String)> {
    vec![(at, line.to_owned())]
}

fn current(at: u32, red: u32, blue: u32) -> Vec<(u32, String)> {
    let score = |team, score| {
        (
            at,
            format!(r#"Team "{team}" current score "{score}" with "1" players"#),
        )
    };
    let won = (
        at,
        r#"World triggered "Round_Win" (winner "Red")"#.to_owned(),
    );
    vec![won, score("Red", red), score("Blue", blue)]
}
