//! Small logs, written for one question each.

use super::FORMAT;
use crate::domain::{Kind, MatchRecord, Outcome, Participant};
use crate::ingest::{LogItem, detect, only_match, read};

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

fn stays(p: &Participant) -> Vec<(u8, u64, u64)> {
    let stay = |s: &crate::domain::Presence| (s.team, s.span.from / 1_000, s.span.to / 1_000);
    p.presence.iter().map(stay).collect()
}

fn reasons(log: &str) -> Vec<(u64, &'static str)> {
    let items = read(&FORMAT, log);
    let reason = |item: &LogItem| match item {
        LogItem::Skipped { line, reason } => (*line, reason.code()),
        other => panic!("{other:?}"),
    };
    items.iter().map(reason).collect()
}

#[test]
fn a_game_with_captures() {
    let capture = format!(r#"{A} triggered "flagevent" (event "captured") (position "1 2 3")"#);
    let kill = format!(r#"{A} killed {B} with "gun" (x "1")"#);
    let game = tf2(
        &[
            (20, kill.clone()),
            (20, kill.clone()),
            (30, kill),
            (40, format!(r#"{B} committed suicide with "world""#)),
            (50, capture.clone()),
            (50, capture.clone()),
            (60, capture),
        ],
        (2, 0),
    );
    assert_eq!(
        (game.game_type.as_str(), game.map.as_str()),
        ("tf.ctf", "ctf_2fort")
    );
    assert_eq!(
        (game.start.to_string().as_str(), game.millis(), game.clock),
        ("2026-01-24T18:00:10Z", 90_000, None)
    );
    assert_eq!(
        (&game.scores[..], game.outcome),
        (&[2.0, 0.0][..], Outcome::Won(0))
    );
    let [ann, bob] = &game.participants[..] else {
        panic!("{game:?}")
    };
    assert_eq!(
        (ann.key.kind, ann.key.id.as_str()),
        (Kind::Human, "STEAM_0:0:1")
    );
    assert_eq!((bob.key.kind, bob.key.id.as_str()), (Kind::Bot, "Bob"));
    assert_eq!((ann.kills, ann.deaths, bob.kills, bob.deaths), (2, 0, 0, 3));
    let events: Vec<_> = game
        .events
        .iter()
        .map(|e| (e.at, e.team, e.points, e.by))
        .collect();
    assert_eq!(
        events,
        [(40_000, 0, 1.0, Some(0)), (50_000, 0, 1.0, Some(0))]
    );
}

#[test]
fn rounds_tell_the_score_where_captures_do_not() {
    let round = |at, red: u32, blue: u32| {
        [
            (at, r#"World triggered "Round_Win" (winner "x")"#.to_owned()),
            (
                at,
                format!(r#"Team "Red" current score "{red}" with "1" players"#),
            ),
            (
                at,
                format!(r#"Team "Blue" current score "{blue}" with "1" players"#),
            ),
            (at + 5, r#"World triggered "Round_Start""#.to_owned()),
        ]
    };
    let rounds = [round(20, 0, 1), round(40, 1, 1), round(60, 1, 2)].concat();
    let game = tf2(&rounds, (1, 2));
    let events: Vec<_> = game
        .events
        .iter()
        .map(|e| (e.at / 1_000, e.team, e.points))
        .collect();
    assert_eq!(events, [(10, 1, 1.0), (30, 0, 1.0), (50, 1, 1.0)]);
    assert_eq!(stays(&game.participants[0]), [(0, 0, 90)]);
}

#[test]
fn a_round_that_no_end_precedes_begins_anew() {
    let kill = format!(r#"{A} killed {B} with "gun""#);
    let game = tf2(
        &[
            (20, kill),
            (40, r#"World triggered "Round_Start""#.to_owned()),
        ],
        (1, 0),
    );
    assert_eq!((game.millis(), game.participants[0].kills), (60_000, 0));
    assert_eq!(stays(&game.participants[0]), [(0, 0, 60)]);
}

#[test]
fn comings_and_goings() {
    let game = tf2(
        &[
            (
                20,
                r#""Ann<1><STEAM_0:0:1><Red>" disconnected (reason "x")"#.to_owned(),
            ),
            (30, r#""Ann<3><STEAM_0:0:1><>" entered the game"#.to_owned()),
            (
                30,
                r#""Ann<3><STEAM_0:0:1><Unassigned>" joined team "Blue""#.to_owned(),
            ),
            (
                30,
                r#""Ann<3><STEAM_0:0:1><Unassigned>" committed suicide with "world""#.to_owned(),
            ),
            (
                40,
                r#""Ann<3><STEAM_0:0:1><Blue>" changed name to "Eve""#.to_owned(),
            ),
            (
                50,
                r#""Old<4><STEAM_0:0:4><Red>" say "I was always here""#.to_owned(),
            ),
            (60, r#""Cam<5><HLTV><Red>" say "I am nobody""#.to_owned()),
            (
                70,
                r#""Old<4><STEAM_0:0:4><Blue>" say "moved without a word""#.to_owned(),
            ),
        ],
        (1, 0),
    );
    let stays: Vec<_> = game
        .participants
        .iter()
        .map(|p| (p.name.as_str(), stays(p)))
        .collect();
    assert_eq!(
        stays,
        [
            ("Eve", vec![(0, 0, 10), (1, 20, 90)]),
            ("Bob", vec![(1, 0, 90)]),
            ("Old", vec![(0, 0, 60), (1, 60, 90)]),
        ]
    );
}

#[test]
fn settings_that_change_play() {
    let cvar = |line: &str| (5, line.to_owned());
    let start = (10, r#"World triggered "Round_Start""#.to_owned());
    let game = tf2(
        &[
            cvar(r#"server_cvar: "tf_weapon_criticals" "0""#),
            cvar(r#"server_cvar: "sv_gravity" "800""#),
            cvar(r#"Server cvar "mp_friendlyfire" = "1""#),
            cvar(r#"server_cvar: "sv_tags" "x""#),
            start,
        ],
        (1, 0),
    );
    assert_eq!(game.mutators, ["mp_friendlyfire", "tf_weapon_criticals=0"]);
}

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

#[test]
fn team_fortress_classic() {
    let game = only_match(
        &FORMAT,
        &log(&[&TFC[..], &[(70, "Log file closed")]].concat()),
    );
    assert_eq!((game.game_type.as_str(), game.millis()), ("tfc", 60_000));
    assert_eq!(
        (&game.scores[..], game.participants[0].deaths),
        (&[10.0, 0.0][..], 0)
    );
    let [capture] = &game.events[..] else {
        panic!("{:?}", game.events)
    };
    assert_eq!(
        (capture.at, capture.team, capture.points),
        (11_000, 0, 10.0)
    );
}

#[test]
fn what_makes_no_record() {
    // The log states all scores, and more lines could follow.
    assert_eq!(reasons(&log(&TFC)), [(5, "unfinished")]);
    assert_eq!(reasons(&log(&TFC[..7])), [(5, "unfinished")]);
    let closed = |lines: &[(u32, &'static str)]| log(&[lines, &[(90, "Log file closed")]].concat());
    assert_eq!(reasons(&closed(&TFC[..7])), [(5, "aborted")]);
    assert_eq!(reasons(&closed(&TFC[..8])), [(5, "no-result")]);
    // The end of a game, and with it the beginning of the next.
    let whole = tf2_log(&[], (1, 0));
    let from_start = &whole[whole.find("Round_Start").unwrap()..];
    let lines = from_start.split_once('\n').unwrap().1;
    let kill = log(&[(20, &format!(r#"{A} killed {B} with "gun""#))]);
    assert_eq!(
        reasons(&format!("{kill}{lines}")),
        [(1, "started-before-log")]
    );
    assert_eq!(reasons(&log(&TFC[..2])), []);
}

#[test]
fn it_is_known_by_its_look() {
    assert_eq!(
        detect(log(&TFC).as_bytes()).map(|format| format.name),
        Some("source")
    );
}
