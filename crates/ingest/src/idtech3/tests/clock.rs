//! The clock of a server that runs for long: from 1,000 minutes on, there is no blank after it.

use super::FORMAT;
use crate::{LogItem, detect, only_match, read};

/// The time as the games write it: seven bytes, which the line replaces from the eighth on.
fn fixed(seconds: u32) -> String {
    let mut time = format!("{:3}:{:02} ", seconds / 60, seconds % 60);
    time.truncate(7);
    time
}

/// The time as later games write it, with its blank.
fn spaced(seconds: u32) -> String {
    format!("{:3}:{:02} ", seconds / 60, seconds % 60)
}

/// A game of two minutes whose beginning is at this second; the time of every line is a multiple of ten
/// seconds.
fn game(began: u32, time: fn(u32) -> String) -> String {
    let lines = [
        (
            0,
            r"InitGame: \g_gametype\4\gamename\baseoa\mapname\oasago2",
        ),
        (0, "ClientConnect: 0"),
        (
            0,
            r"ClientUserinfoChanged: 0 n\ann\t\1\id\00000000000000000000000000000001",
        ),
        (0, "ClientBegin: 0"),
        (0, "ClientConnect: 1"),
        (
            0,
            r"ClientUserinfoChanged: 1 n\bob\t\2\id\00000000000000000000000000000002",
        ),
        (0, "ClientBegin: 1"),
        (30, "Kill: 0 1 10: ann killed bob by MOD_RAILGUN"),
        (
            40,
            "------------------------------------------------------------",
        ),
        (50, "CTF: 0 2 1: ann captured the BLUE flag!"),
        (60, "say: ann: 10:00 is the time"),
        (120, "Exit: Timelimit hit."),
        (120, "red:1  blue:0"),
        (120, "score: 20  ping: 40  client: 0 ann"),
        (120, "score: 3  ping: 40  client: 1 bob"),
        (130, "ShutdownGame:"),
    ];
    let lines = lines.iter();
    lines
        .map(|(at, line)| format!("{}{line}\n", time(began + at)))
        .collect()
}

#[test]
fn a_game_is_the_same_at_any_time_of_the_clock() {
    let minute = |minute: u32| minute * 60;
    let expected = only_match(&FORMAT, &game(0, fixed));
    for began in [
        minute(9),
        minute(99) + 50,
        minute(998),
        // The clock passes 1,000 minutes.
        minute(998) + 10,
        minute(999) + 10,
        minute(1_000),
        minute(1_101) + 20,
        minute(9_998),
        // It passes 10,000 minutes.
        minute(9_999),
        minute(9_999) + 50,
        minute(10_000),
        minute(12_345) + 50,
        // The last minute that the engine can count to.
        minute(35_790),
    ] {
        for time in [fixed, spaced] {
            let log = game(began, time);
            let format = detect(log.as_bytes()).unwrap_or_else(|| panic!("{log}"));
            assert_eq!(format.name, "idtech3");
            let mut found = only_match(&FORMAT, &log);
            assert_eq!(found.clock, Some(u64::from(began) * 1_000), "{log}");
            (found.clock, found.start, found.end) = (expected.clock, expected.start, expected.end);
            assert_eq!(found, expected, "{log}");
        }
    }
}

#[test]
fn a_long_log_has_all_of_its_games() {
    // Without an interruption from the first minute on, and over a restart of the server.
    for time in [fixed, spaced] {
        let days = (0..12_000)
            .step_by(500)
            .map(|minute| game(minute * 60, time));
        let log = days.collect::<String>() + &game(0, time);
        let items = read(&FORMAT, &log);
        assert_eq!(items.len(), 25);
        assert!(
            items.iter().all(|item| matches!(item, LogItem::Match(_))),
            "{items:?}"
        );
    }
}

#[test]
fn what_is_no_time() {
    // A blank is missing only where the time needs its place.
    for line in [
        "  0:00InitGame: x",
        " 999:59Exit: x",
        "1000:7Exit: x",
        "1000:60Exit: x",
        "10000:Exit: x",
    ] {
        let items = read(&FORMAT, &format!("{line}\n"));
        assert!(
            matches!(items[..], [LogItem::Malformed { .. }]),
            "{line}: {items:?}"
        );
    }
}
