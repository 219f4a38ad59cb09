//! Urban Terror with `g_swaproles`. The expected values were worked out by hand from the lines.

use super::FORMAT;
use crate::{LogItem, only_match, read};
use evenkeel_model::{MatchRecord, Outcome};

const SETTINGS: &str = r"\g_gametype\3\mapname\ut4_elgin\gamename\q3ut4\g_swaproles\1";

/// Lines of the two clients who are on these teams.
fn clients(time: &str, ann: u8, bob: u8) -> String {
    format!(
        "{time} ClientUserinfoChanged: 0 n\\Ann\\t\\{ann}\n{time} ClientUserinfoChanged: 1 n\\Bob\\t\\{bob}\n"
    )
}

/// Ann kills Bob once and Bob kills Ann twice; Ann is on red.
fn first() -> String {
    format!(
        "  0:00 InitGame: {SETTINGS}\n  0:00 Warmup:\n{}  0:01 ClientBegin: 0\n  0:01 ClientBegin: 1\n  0:10 InitRound: {SETTINGS}\n\
         \x20 1:00 Kill: 0 1 19: Ann killed Bob by UT_MOD_LR\n\
         \x20 2:00 Kill: 1 0 19: Bob killed Ann by UT_MOD_LR\n  3:00 Kill: 1 0 19: Bob killed Ann by UT_MOD_LR\n\
         \x20 5:10 Exit: Timelimit hit.\n  5:10 red:1  blue:2\n\
         \x20 5:10 score: 2  ping: 5  client: 1 Bob\n  5:10 score: 1  ping: 5  client: 0 Ann\n",
        clients("  0:01", 1, 2)
    )
}

/// They change sides, and Ann kills Bob three times; with these final scores of red and blue.
fn second(red: i32, blue: i32) -> String {
    let kill = "Kill: 0 1 19: Ann killed Bob by UT_MOD_LR";
    format!(
        "  5:20 InitRound: {SETTINGS}\n{}  5:30 InitRound: {SETTINGS}\n  6:00 {kill}\n  7:00 {kill}\n  8:00 {kill}\n\
         \x20 9:30 Exit: Timelimit hit.\n  9:30 red:{red}  blue:{blue}\n\
         \x20 9:30 score: 4  ping: 5  client: 0 Ann\n  9:30 score: 2  ping: 5  client: 1 Bob\n",
        clients("  5:20", 2, 1)
    )
}

const SHUTDOWN: &str = "  9:40 ShutdownGame:\n";

fn summary(game: &MatchRecord) -> String {
    let scores: Vec<String> = game.scores.iter().map(f64::to_string).collect();
    let mut text = format!("{} {}s", scores.join(":"), game.millis() / 1_000);
    for player in &game.participants {
        let points = player.points.unwrap_or(f64::NAN);
        text += &format!(" | {} {points} {}", player.name, player.kills);
        for stay in &player.presence {
            let [from, to] = [stay.span.from, stay.span.to].map(|at| at / 1_000);
            text += &format!(" {}:{from}-{to}", stay.team);
        }
    }
    text
}

#[test]
fn two_halves_are_one_match_of_the_people() {
    // Ann has 1 in the first half and 3 in the second, Bob 2 and 0. Ann is on blue at the end. The
    // halves last from 0:10 to 5:10 and from 5:30 to 9:30.
    let game = only_match(&FORMAT, &[&first(), &second(0, 3), SHUTDOWN].concat());
    assert_eq!(
        summary(&game),
        "2:4 540s | Ann 4 4 1:0-540 | Bob 2 2 0:0-300 0:300-540"
    );
    assert_eq!(game.outcome, Outcome::Won(1));
    let events: Vec<_> = game.events.iter().map(|e| (e.at / 1_000, e.team)).collect();
    assert_eq!(
        events,
        [(50, 1), (110, 0), (170, 0), (330, 1), (390, 1), (450, 1)]
    );
    // Some versions keep the scores of the first half.
    let kept = only_match(&FORMAT, &[&first(), &second(2, 4), SHUTDOWN].concat());
    assert_eq!(summary(&kept), summary(&game));
}

#[test]
fn a_log_that_ends_before_the_second_half_does_has_no_match() {
    let second = second(0, 3);
    let cut = second.find("  9:30 Exit").unwrap();
    for log in [first(), first() + &second[..cut]] {
        let items = read(&FORMAT, &log);
        assert!(
            matches!(items[..], [LogItem::Skipped { line: 1, .. }]),
            "{items:?}"
        );
    }
}

#[test]
fn the_first_half_stands_if_there_is_no_second_one() {
    let alone = "1:2 300s | Ann 1 1 0:0-300 | Bob 2 2 1:0-300";
    let game = only_match(&FORMAT, &(first() + SHUTDOWN));
    assert_eq!(summary(&game), alone);
    let second = second(0, 3);
    let cut = second.find("  9:30 Exit").unwrap();
    let items = read(&FORMAT, &[&first(), &second[..cut], SHUTDOWN].concat());
    let [LogItem::Match(game), LogItem::Skipped { line: 15, .. }] = &items[..] else {
        panic!("{items:?}")
    };
    assert_eq!(summary(game), alone);
}

#[test]
fn teams_that_did_not_change_sides_play_two_matches() {
    let second = second(3, 0).replace(&clients("  5:20", 2, 1), &clients("  5:20", 1, 2));
    let items = read(&FORMAT, &[&first(), &second, SHUTDOWN].concat());
    let scores = items.iter().map(|item| match item {
        LogItem::Match(game) => game.scores.clone(),
        other => panic!("{other:?}"),
    });
    assert_eq!(scores.collect::<Vec<_>>(), [[1.0, 2.0], [3.0, 0.0]]);
}

/// The reasons for which a log has no match, or the summaries of its matches.
fn found(log: &str) -> Vec<String> {
    let items = read(&FORMAT, log);
    let text = |item: &LogItem| match item {
        LogItem::Match(game) => summary(game),
        LogItem::Skipped { reason, .. } => reason.code().to_owned(),
        other => panic!("{other:?}"),
    };
    items.iter().map(text).collect()
}

/// The second half, in which the clients begin again, as after a change of the map.
fn begun_second() -> String {
    let begin = "  5:20 ClientBegin: 0\n  5:20 ClientBegin: 1\n  5:30 InitRound";
    second(0, 3).replacen("  5:30 InitRound", begin, 1)
}

#[test]
fn a_second_half_alone_is_no_match() {
    let second = begun_second();
    let (first, whole) = (first(), [&first(), &second, SHUTDOWN].concat());
    let from = |line: &str| &first[first.find(line).unwrap()..];
    let cut = [
        ("in the first half", from("  2:00 Kill"), 2),
        ("at its end", from("  5:10 Exit"), 2),
        ("at its score", from("  5:10 red"), 2),
        ("at its last line", from("  5:10 score: 1"), 2),
        ("at half-time", "", 1),
        (
            "with the first half, of unknown players",
            from("  0:10 InitRound"),
            2,
        ),
    ];
    for (name, start, games) in cut {
        for kind in ["\\g_gametype\\3", "\\g_gametype\\7"] {
            let log = [start, &second, SHUTDOWN]
                .concat()
                .replace("\\g_gametype\\3", kind);
            assert_eq!(found(&log), vec!["started-before-log"; games], "{name}");
            // The next match of the log is whole.
            let log = log + &whole.replace("\\g_gametype\\3", kind);
            assert_eq!(found(&log)[games..].len(), 1, "{name}");
            assert_eq!(
                found(&log)[games],
                found(&whole.replace("\\g_gametype\\3", kind))[0],
                "{name}"
            );
        }
        // The log ends with it.
        let log = [start, &second].concat();
        assert_eq!(found(&log), vec!["started-before-log"; games], "{name}");
    }
}

#[test]
fn a_log_that_begins_with_the_first_round_has_the_whole_match() {
    let first = first();
    let from = &first[first.find("  0:01 Client").unwrap()..];
    let log = [from, &second(0, 3), SHUTDOWN].concat();
    assert_eq!(
        found(&log),
        ["2:4 540s | Ann 4 4 1:0-540 | Bob 2 2 0:0-300 0:300-540"]
    );
    // Without the second half, it may be one itself.
    assert_eq!(found(&[from, SHUTDOWN].concat()), ["started-before-log"]);
}

#[test]
fn a_second_half_after_a_first_one_without_a_record_is_no_match() {
    let first = first();
    let lines = first
        .lines()
        .filter(|line| !line.contains("Kill:") && !line.contains("red:"));
    let no_result: String = lines.map(|line| format!("{line}\n")).collect();
    let log = [&no_result, &second(0, 3), SHUTDOWN].concat();
    assert_eq!(found(&log), ["no-result", "started-before-log"]);
}

#[test]
fn a_match_without_a_change_of_sides_does_not_need_its_first_round() {
    let log = [begun_second(), SHUTDOWN.to_owned()].concat();
    let log = log.replace("g_swaproles\\1", "g_swaproles\\0");
    let found = found(&log);
    assert!(found[0].starts_with("0:3 240s | Ann 4 3 1:"), "{found:?}");
    assert_eq!(found.len(), 1);
}
