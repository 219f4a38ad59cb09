//! Small logs, written for one question each.

use super::FORMAT;
use crate::{LogItem, detect, only_match, read};
use evenkeel_model::{Kind, MatchRecord, Outcome, Participant, fingerprint::Fingerprint};

const TIME: &str = ":time:2026-11-20 15:00:";

/// Lines, each with the second it is written at; an empty one writes no time.
fn log(lines: &[(&str, &str)]) -> String {
    let timed = |(at, line): &(&str, &str)| match *at {
        "" => format!("{line}\n"),
        at => format!("{TIME}{at}\n{line}\n"),
    };
    lines.iter().map(timed).collect()
}

const TWO: [(&str, &str); 5] = [
    ("00", ":gamestart:ctf_m:0.1"),
    ("00", ":join:1:1:bot:^1Ann"),
    ("00", ":team:1:5"),
    ("00", ":join:2:2:192.0.2.1:Bo:b"),
    ("00", ":team:2:14:2"),
];

fn end(
    at: &'static str,
    red: &'static str,
    blue: &'static str,
) -> Vec<(&'static str, &'static str)> {
    vec![
        (at, ":scores:ctf_m:30"),
        (at, ":labels:player:score!!,caps!,kills"),
        (at, ":player:see-labels:7,1,2:30:5:1:^1Ann"),
        (at, ":player:see-labels:-1,0,0:12:14:2:Bo:b"),
        (at, ":labels:teamscores:caps!!,score,,"),
        (at, red),
        (at, blue),
        (at, ":end"),
        (at, ":gameover"),
    ]
}

fn ctf(lines: &[(&'static str, &'static str)], ends: &str) -> MatchRecord {
    let ends = match ends {
        "1:0" => end(
            "30",
            ":teamscores:see-labels:1,9:5",
            ":teamscores:see-labels:0,0:14",
        ),
        _ => end(
            "30",
            ":teamscores:see-labels:2,9:5",
            ":teamscores:see-labels:1,0:14",
        ),
    };
    only_match(&FORMAT, &log(&[&TWO, lines, &ends].concat()))
}

fn stays(p: &Participant) -> Vec<(u8, u64, u64)> {
    let stay =
        |s: &evenkeel_model::record::Presence| (s.team, s.span.from / 1_000, s.span.to / 1_000);
    p.presence.iter().map(stay).collect()
}

#[test]
fn who_comes_back_without_a_line_about_the_team_is_on_that_of_the_scores() {
    let lines = [
        ("10", ":part:2"),
        ("15", ":join:2:2:192.0.2.1:Bo:b"),
        ("20", ":ctf:capture:14:1"),
    ];
    let game = ctf(&lines, "1:0");
    assert_eq!(game.participants.len(), 2);
    assert_eq!(stays(&game.participants[1]), [(1, 0, 10), (1, 15, 30)]);
}

#[test]
fn one_game_of_two() {
    let game = ctf(
        &[
            ("00", ":gameinfo:mutators:LIST:nix:instagib"),
            ("05", ":kill:frag:1:2:type=1"),
            ("06", ":kill:suicide:2:2:type=1"),
            ("07", ":kill:tk:2:1:type=1"),
            ("20", ":ctf:capture:14:1"),
        ],
        "1:0",
    );
    assert_eq!(
        (game.start.to_string().as_str(), game.clock, game.millis()),
        ("2026-11-20T15:00:00Z", None, 30_000)
    );
    assert_eq!(
        (game.game_type.as_str(), game.map.as_str()),
        ("xonotic.ctf", "m")
    );
    assert_eq!(game.mutators, ["instagib", "nix"]);
    assert_eq!(
        (game.outcome, &game.scores[..]),
        (Outcome::Won(0), &[1.0, 0.0][..])
    );
    let [ann, bob] = &game.participants[..] else {
        panic!("{game:?}")
    };
    assert_eq!((ann.key.kind, ann.name.as_str()), (Kind::Bot, "Ann"));
    assert_eq!((ann.kills, ann.deaths, ann.points), (1, 1, Some(7.0)));
    assert_eq!((bob.key.kind, bob.key.id.as_str()), (Kind::Human, "Bo:b"));
    assert_eq!((bob.kills, bob.deaths, bob.points), (0, 2, Some(-1.0)));
    let [capture] = &game.events[..] else {
        panic!("{:?}", game.events)
    };
    assert_eq!(
        (capture.at, capture.team, capture.points, capture.by),
        (20_000, 0, 1.0, Some(0))
    );
}

#[test]
fn captures_that_do_not_explain_the_score_are_no_events() {
    assert!(ctf(&[("20", ":ctf:capture:14:1")], "2:1").events.is_empty());
}

#[test]
fn who_changes_teams_watches_or_leaves() {
    let game = ctf(
        &[
            ("01", ":join:3:3:192.0.2.9:watcher"),
            ("02", ":team:3:-1:4"),
            ("05", ":team:1:14:3"),
            ("10", ":team:2:-1:4"),
            ("15", ":team:2:5:3"),
            ("20", ":part:2"),
        ],
        "1:0",
    );
    let stated: Vec<_> = game
        .participants
        .iter()
        .map(|p| (p.name.as_str(), stays(p)))
        .collect();
    assert_eq!(
        stated,
        [
            ("Ann", vec![(0, 0, 5), (1, 5, 30)]),
            ("Bo:b", vec![(1, 0, 10), (0, 15, 20)])
        ]
    );
}

#[test]
fn who_watches_the_end_has_played_until_then() {
    let watched = ("30", ":player:see-labels:-1,0,0:12:spectator:2:Bo:b");
    let mut lines = [&TWO[..], &[("20", ":team:2:-1:4")]].concat();
    lines.extend(end(
        "30",
        ":teamscores:see-labels:1,9:5",
        ":teamscores:see-labels:0,0:14",
    ));
    let of_bob = lines
        .iter()
        .position(|(_, line)| line.ends_with("14:2:Bo:b"));
    lines[of_bob.unwrap()] = watched;
    let game = only_match(&FORMAT, &log(&lines));
    assert_eq!(stays(&game.participants[1]), [(1, 0, 20)], "Bob has lost");
    // Earlier versions have left him out, and the match is the same to whoever reads the log again.
    let mut before = game.clone();
    (before.logged_as, _) = (None, before.participants.pop());
    assert_eq!(Fingerprint::of(&game), Fingerprint::of(&before));
}

#[test]
fn a_server_without_opponents_may_be_silent_for_hours() {
    let text = log(&[
        &TWO,
        &end(
            "30",
            ":teamscores:see-labels:1,9:5",
            ":teamscores:see-labels:0,0:14",
        )[..],
    ]
    .concat());
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let came = lines
        .iter()
        .position(|line| line.starts_with(":join:2"))
        .unwrap();
    for line in &mut lines[came - 1..] {
        *line = line.replace("2026-11-20 15:", "2026-11-21 05:");
    }
    let game = only_match(&FORMAT, &(lines.join("\n") + "\n")).played();
    let times = [game.start, game.end].map(|at| at.to_string()[..19].to_owned());
    assert_eq!(times, ["2026-11-21T05:00:00", "2026-11-21T05:00:30"]);
}

#[test]
fn a_restart_ends_the_warm_up() {
    let game = ctf(
        &[
            ("05", ":kill:frag:1:2:x"),
            ("10", ":restart"),
            ("20", ":ctf:capture:14:1"),
        ],
        "1:0",
    );
    assert_eq!(game.start.to_string(), "2026-11-20T15:00:10Z");
    assert_eq!((game.millis(), game.participants[0].kills), (20_000, 0));
    assert_eq!(
        (game.events[0].at, stays(&game.participants[0])),
        (10_000, vec![(0, 0, 20)])
    );
}

#[test]
fn scores_of_mid_game_end_nothing() {
    let status = [
        ("10", ":status:ctf_m:10"),
        ("10", ":labels:teamscores:caps!!"),
        ("10", ":teamscores:see-labels:5:14"),
        ("10", ":end"),
    ];
    let game = ctf(
        &[&status[..], &[("20", ":ctf:capture:14:1")]].concat(),
        "1:0",
    );
    assert_eq!((&game.scores[..], game.millis()), (&[1.0, 0.0][..], 30_000));
}

#[test]
fn without_times_the_scores_tell_how_long() {
    let end = end(
        "",
        ":teamscores:see-labels:1,9:5",
        ":teamscores:see-labels:0,0:14",
    );
    let lines: Vec<_> = TWO
        .iter()
        .copied()
        .chain(end)
        .map(|(_, line)| ("", line))
        .collect();
    let twice = [&lines[..], &lines[..]].concat();
    let items = read(&FORMAT, &log(&twice));
    let [LogItem::Match(one), LogItem::Match(two)] = &items[..] else {
        panic!("{items:?}")
    };
    assert_eq!((one.clock, one.start.0, one.millis()), (Some(0), 0, 30_000));
    assert_eq!(
        (two.clock, two.start.0, two.millis()),
        (Some(30_000), 30_000, 30_000)
    );
    let stated: Vec<_> = one.participants.iter().map(stays).collect();
    assert_eq!(stated, [[(0, 0, 30)], [(1, 18, 30)]]);
}

#[test]
fn a_game_without_teams() {
    let game = only_match(
        &FORMAT,
        &log(&[
            ("00", ":gamestart:dm_m:0.1"),
            ("00", ":join:1:1:bot:Ann"),
            ("00", ":join:2:2:192.0.2.1:Bob"),
            ("00", ":join:3:3:192.0.2.2:Cid"),
            ("09", ":scores:dm_m:9"),
            ("09", ":labels:player:score!!"),
            ("09", ":player:see-labels:7:9:-1:1:Ann"),
            ("09", ":player:see-labels:4:9:-1:2:Bob"),
            ("09", ":player:see-labels:0:9:spectator:3:Cid"),
            ("09", ":end"),
        ]),
    );
    assert_eq!(
        (game.outcome, game.has_teams()),
        (Outcome::Undecided, false)
    );
    let stated: Vec<_> = game
        .participants
        .iter()
        .map(|p| (p.name.as_str(), p.points))
        .collect();
    assert_eq!(stated, [("Ann", Some(7.0)), ("Bob", Some(4.0))]);
}

#[test]
fn what_makes_no_record() {
    let reasons = |lines: &[(&str, &str)]| {
        let items = read(&FORMAT, &log(lines));
        let reason = |item: &LogItem| match item {
            LogItem::Skipped { line, reason, .. } => (*line, reason.code()),
            other => panic!("{other:?}"),
        };
        items.iter().map(reason).collect::<Vec<_>>()
    };
    assert_eq!(reasons(&TWO), [(2, "unfinished")]);
    let aborted = [&TWO[..], &[("09", ":gameover"), ("10", ":kill:frag:1:2:x")]].concat();
    assert_eq!(reasons(&aborted), [(2, "aborted")]);
    let next = [&TWO[..], &TWO[..]].concat();
    assert_eq!(reasons(&next), [(2, "unfinished"), (12, "unfinished")]);
    let foreign = [&[("00", ":kill:frag:1:2:x")], &TWO[..]].concat();
    assert_eq!(
        reasons(&foreign),
        [(2, "started-before-log"), (4, "unfinished")]
    );
    let no_score = [&TWO[..], &[("09", ":scores:ctf_m:9"), ("09", ":end")]].concat();
    assert_eq!(reasons(&no_score), [(2, "no-result")]);
}

#[test]
fn it_is_known_by_its_look() {
    let found = |log: &str| detect(log.as_bytes()).map(|format| format.name);
    assert_eq!(found(":logversion:3\n"), Some("xonotic"));
    assert_eq!(found(&log(&TWO)), Some("xonotic"));
    assert_eq!(found(":smile:\n"), None);
}
