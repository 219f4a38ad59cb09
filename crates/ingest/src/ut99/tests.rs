//! Small logs, written for one question each.

use evenkeel_model::{Kind, MatchRecord, Outcome, Participant};

use super::*;
use crate::{LogItem, detect, only_match, read};

const HEAD: [&str; 6] = [
    "0.00\tinfo\tLog_Standard\tUTStats",
    "0.00\tinfo\tAbsolute_Time\t2019.07.08.14.00.00.000.-4.0",
    "0.00\tmap\tName\tCTF-Face.unr",
    "0.00\tgame\tinsta\tFalse",
    "0.00\tgame\tGameClass\tBotpack.CTFGame",
    "0.00\tgame\tTeamGame\tTrue",
];

/// A human of red, a bot of blue.
const TWO: [&str; 9] = [
    "1.00\tplayer\tRename\tAnn\t0",
    "1.00\tplayer\tTeamchange\t0\t0",
    "1.00\tplayer\tConnect\tAnn\t0\tFalse",
    "1.00\tplayer\tIsABot\t0\tFalse",
    "1.00\tplayer\tRename\tBob\t1",
    "1.00\tplayer\tConnect\tBob\t1\tFalse",
    "1.00\tplayer\tTeam\t1\t1",
    "1.00\tplayer\tIsABot\t1\tTrue",
    "10.00\tgame_start",
];

fn end(red: &'static str, blue: &'static str) -> Vec<&'static str> {
    vec![
        "110.50\tgame_end\ttimelimit",
        "110.50\tstat_player\tscore\t0\t7",
        "110.50\tstat_player\tscore\t1\t-1",
        "110.50\t",
        red,
        blue,
    ]
}

fn log(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn ctf(lines: &[&str]) -> MatchRecord {
    let end = end("110.50\tteamscore\t0\t1", "110.50\tteamscore\t1\t0");
    only_match(&FORMAT, &log(&[&HEAD[..], &TWO, lines, &end].concat()))
}

fn stays(p: &Participant) -> Vec<(u8, u64, u64)> {
    let stay =
        |s: &evenkeel_model::record::Presence| (s.team, s.span.from / 1_000, s.span.to / 1_000);
    p.presence.iter().map(stay).collect()
}

#[test]
fn capture_the_flag() {
    let game = ctf(&[
        "20.00\tkill\t0\tEnforcer\t1\tEnforcer\tshot",
        "21.00\tsuicide\t1\tNone\tfell\tSelf",
        "22.00\tteamkill\t1\tx\t0\ty\tz",
        "30.25\tflag_captured\t0\t1",
        "40.00\titem_get\tMiniGun\t0",
    ]);
    assert_eq!(
        (game.start.to_string().as_str(), game.millis(), game.clock),
        ("2019-07-08T18:00:10Z", 100_500, None)
    );
    assert_eq!(
        (game.game_type.as_str(), game.map.as_str()),
        ("Botpack.CTFGame", "CTF-Face")
    );
    assert_eq!(
        (&game.scores[..], game.outcome),
        (&[1.0, 0.0][..], Outcome::Won(0))
    );
    let [ann, bob] = &game.participants[..] else {
        panic!("{game:?}")
    };
    assert_eq!((ann.key.kind, ann.key.id.as_str()), (Kind::Human, "Ann"));
    assert_eq!((bob.key.kind, bob.key.id.as_str()), (Kind::Bot, "Bob"));
    assert_eq!((ann.kills, ann.deaths, ann.points), (1, 1, Some(7.0)));
    assert_eq!((bob.kills, bob.deaths, bob.points), (0, 2, Some(-1.0)));
    let events: Vec<_> = game
        .events
        .iter()
        .map(|e| (e.at, e.team, e.points, e.by))
        .collect();
    assert_eq!(events, [(20_250, 0, 1.0, Some(0))]);
}

#[test]
fn comings_goings_and_a_real_start() {
    let game = ctf(&[
        "20.00\tkill\t0\tEnforcer\t1\tEnforcer\tshot",
        "30.00\tgame\trealstart",
        "40.00\tplayer\tTeamchange\t0\t1",
        "50.00\tplayer\tDisconnect\t0",
        "60.00\tplayer\tConnect\tAnn\t2\tFalse",
        "60.00\tplayer\tTeam\t2\t0",
        "70.00\tplayer\tRename\tEve\t2",
        "110.50\tstat_player\tscore\t2\t4",
    ]);
    assert_eq!(
        (game.start.to_string().as_str(), game.millis()),
        ("2019-07-08T18:00:30Z", 80_500)
    );
    let results: Vec<_> = game
        .participants
        .iter()
        .map(|p| (p.name.as_str(), stays(p), p.kills))
        .collect();
    assert_eq!(
        results,
        [
            ("Ann", vec![(0, 0, 10), (1, 10, 20)], 0),
            ("Bob", vec![(1, 0, 80)], 0),
            ("Eve", vec![(0, 30, 80)], 0)
        ]
    );
}

#[test]
fn team_deathmatch_and_deathmatch() {
    let tdm = ctf(&["20.00\tkill\t0\tEnforcer\t1\tEnforcer\tshot"]);
    assert_eq!((tdm.events.len(), tdm.events[0].team), (1, 0));
    let head = HEAD.map(|line| {
        line.replace("True", "False")
            .replace("CTFGame", "DeathMatchPlus")
    });
    let head: Vec<_> = head.iter().map(String::as_str).collect();
    let end = end("110.50\tx", "110.50\t");
    let game = only_match(&FORMAT, &log(&[&head, &TWO[..], &end].concat()));
    assert_eq!(
        (game.has_teams(), game.outcome),
        (false, Outcome::Undecided)
    );
    assert_eq!(
        game.participants.iter().map(stays).collect::<Vec<_>>(),
        [[(0, 0, 100)]; 2]
    );
}

#[test]
fn mutators_and_settings() {
    let game = ctf(&[
        "20.00\tgame\tGoodMutator\tBotpack.LowGrav",
        "20.00\tgame\tGoodMutator\tBotpack.LowGrav",
        "20.00\tgame\tinsta\tTrue",
        "20.00\tgame\tGameSpeed\t110",
        "20.00\tgame\tJumpMatch\tFalse",
    ]);
    assert_eq!(game.mutators, ["Botpack.LowGrav", "GameSpeed=110", "insta"]);
}

#[test]
fn a_log_without_scores_ends_with_the_log_or_the_next_game() {
    let head = HEAD.map(|line| line.replace("UTStats", "ngLog").replace("True", "False"));
    let head: Vec<_> = head.iter().map(String::as_str).collect();
    let one = log(&[&head, &TWO[..], &["99.00\tgame_end\tfraglimit"]].concat());
    let items = read(&FORMAT, &(one.clone() + &one));
    let games = items.iter().map(|item| match item {
        LogItem::Match(game) => (game.millis(), game.participants.len()),
        other => panic!("{other:?}"),
    });
    assert_eq!(games.collect::<Vec<_>>(), [(89_000, 2), (89_000, 2)]);
}

#[test]
fn what_makes_no_record() {
    let reasons = |lines: &[&str]| {
        let items = read(&FORMAT, &log(lines));
        let reason = |item: &LogItem| match item {
            LogItem::Skipped { line, reason, .. } => (*line, reason.code()),
            other => panic!("{other:?}"),
        };
        items.iter().map(reason).collect::<Vec<_>>()
    };
    assert_eq!(
        reasons(&[&HEAD[..], &TWO[..]].concat()),
        [(1, "unfinished")]
    );
    assert_eq!(reasons(&[&HEAD[..], &TWO[..8]].concat()), [(1, "warm-up")]);
    let quit = [&HEAD[..], &TWO[..], &["99.00\tgame_end\tserverquit"], &HEAD].concat();
    assert_eq!(reasons(&quit), [(1, "aborted"), (17, "warm-up")]);
    let end = end("110.50\tteamscore\t0\t1", "110.50\tx");
    assert_eq!(
        reasons(&[&HEAD[..], &TWO[..], &end].concat()),
        [(1, "unfinished")]
    );
    assert_eq!(
        reasons(&[&HEAD[..], &TWO[..], &end, &HEAD].concat()),
        [(1, "no-result"), (22, "warm-up")]
    );
    assert_eq!(
        reasons(&["5.00\tkill\t0\tx\t1\ty\tz"]),
        [(1, "started-before-log")]
    );
}

#[test]
fn malformed_lines_are_named() {
    let game = log(&[
        &HEAD[..],
        &["nonsense", "1.00\tkill\tx", "1.00\tplayer\tTeam\t0"],
        &TWO[..],
    ]
    .concat());
    let items = read(&FORMAT, &game);
    let lines = items.iter().filter_map(|item| match item {
        LogItem::Malformed { line, .. } => Some(*line),
        _ => None,
    });
    assert_eq!(lines.collect::<Vec<_>>(), [7, 8, 9]);
}

#[test]
fn both_encodings_are_known() {
    let text = log(&[&HEAD[..], &TWO[..]].concat());
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for log in [text.as_bytes(), &wide] {
        assert_eq!(detect(log).map(|format| format.name), Some("ut99"));
    }
}

#[test]
fn teams_that_change_sides_in_assault_are_those_of_the_end() {
    let swap = [
        "60.00\tplayer\tTeamchange\t0\t1",
        "60.50\tplayer\tTeamchange\t1\t0",
    ];
    let end = end("110.50\tteamscore\t0\t0", "110.50\tteamscore\t1\t2");
    let log = log(&[&HEAD[..], &TWO, &swap, &end].concat());
    let game = only_match(&FORMAT, &log.replace("Botpack.CTFGame", "Botpack.Assault"));
    let whole = |team| vec![(team, 0, 100)];
    let both: Vec<_> = game.participants.iter().map(stays).collect();
    assert_eq!(
        (both, game.outcome),
        (vec![whole(1), whole(0)], Outcome::Won(1))
    );
}

#[test]
fn dates_with_their_zone() {
    let parsed = |text: &str| date(text.as_bytes()).map(|at| (at.to_string(), at.0 % 1_000));
    let at = |text: &str, millis| Some((text.to_owned(), millis));
    assert_eq!(
        parsed("2019.07.08.14.16.47.663.-4.0"),
        at("2019-07-08T18:16:47Z", 663)
    );
    assert_eq!(
        parsed("2019.07.08.14.16.47.000.5.5"),
        at("2019-07-08T08:46:47Z", 0)
    );
    assert_eq!(
        parsed("2019.07.08.14.16.47.1"),
        at("2019-07-08T14:16:47Z", 1)
    );
    assert_eq!(
        [
            parsed("2019.07.08"),
            parsed("x"),
            parsed("2019.13.08.1.1.1.1")
        ],
        [None, None, None]
    );
}
