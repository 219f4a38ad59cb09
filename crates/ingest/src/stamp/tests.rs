//! Lines with time stamps before them. The expected dates were worked out by hand.

use super::*;
use crate::{Context, FORMATS, Format, LogItem, Reader, by_name, detect};

/// A date with its milliseconds, where it has any.
fn exact(at: Timestamp) -> String {
    match at.0 % 1_000 {
        0 => at.to_string(),
        millis => format!("{}.{millis:03}Z", at.to_string().trim_end_matches('Z')),
    }
}

/// The date of a stamp and the line beneath it.
fn parts(line: &str) -> Option<(String, &str)> {
    let (time, rest) = split(line.as_bytes())?;
    let time = match time {
        StampTime::Date(at) | StampTime::Local(at) => exact(at),
        StampTime::Yearless(day) => exact(day.in_year(2024).unwrap())[5..].to_owned(),
        StampTime::Passed(millis) => format!("{millis}"),
        StampTime::Unknown => String::new(),
    };
    Some((time, std::str::from_utf8(rest).unwrap()))
}

const BENEATH: [&str; 7] = [
    "  0:00 InitGame: \\mapname\\q3dm17",
    " 12:34 Kill: 0 1 10: ann killed bob by MOD_RAILGUN",
    "1101:28ClientConnect: 0",
    "InitGame: \\mapname\\q3dm17",
    ":gamestart:ctf_dance:1",
    "L 11/20/2026 - 12:34:56: World triggered \"Round_Start\"",
    "CTF: 0 2 1: ann captured the BLUE flag!",
];

#[test]
fn forms_of_stamps() {
    let noon = "2026-11-20T12:34:56";
    let forms = [
        // docker logs -t, kubectl logs --timestamps
        ("2026-11-20T12:34:56.123456789Z ", format!("{noon}.123Z")),
        ("2026-11-20T12:34:56Z ", format!("{noon}Z")),
        ("2026-11-20T14:04:56.5+01:30 ", format!("{noon}.500Z")),
        // docker compose logs -t, and without dates
        (
            "oa-server-1  | 2026-11-20T12:34:56.1Z ",
            format!("{noon}.100Z"),
        ),
        ("oa-server-1  | ", String::new()),
        // The files of containerd
        (
            "2026-11-20T12:34:56.123456789Z stdout F ",
            format!("{noon}.123Z"),
        ),
        // journalctl -o short, short-precise, short-iso, short-iso-precise, short-full, short-unix,
        // short-monotonic
        (
            "Nov 20 12:34:56 game1 oa_ded[4711]: ",
            "11-20T12:34:56Z".to_owned(),
        ),
        (
            "Nov  3 12:34:56.654321 game1 oa_ded[4711]: ",
            "11-03T12:34:56.654Z".to_owned(),
        ),
        (
            "2026-11-20T13:34:56+0100 game1 oa_ded[4711]: ",
            format!("{noon}Z"),
        ),
        (
            "2026-11-20T13:34:56+01:00 game1 oa_ded[4711]: ",
            format!("{noon}Z"),
        ),
        (
            "2026-11-20T07:34:56.000001-0500 game1 q3[1]: ",
            format!("{noon}Z"),
        ),
        (
            "Fri 2026-11-20 12:34:56 UTC game1 oa_ded[4711]: ",
            format!("{noon}Z"),
        ),
        (
            "1795178096.123456 game1 oa_ded[4711]: ",
            format!("{noon}.123Z"),
        ),
        ("[ 1234.567890] game1 oa_ded[4711]: ", "1234567".to_owned()),
        // journalctl --no-hostname, syslog without a number
        (
            "Nov 20 12:34:56 oa_ded[4711]: ",
            "11-20T12:34:56Z".to_owned(),
        ),
        (
            "Nov 20 12:34:56 game1 oa_ded: ",
            "11-20T12:34:56Z".to_owned(),
        ),
        // Scripts: seconds since 1970, ts, gawk's strftime, Python
        ("1795178096|", format!("{noon}Z")),
        ("1795178096 | ", format!("{noon}Z")),
        ("1795178096 ", format!("{noon}Z")),
        ("1795178096: ", format!("{noon}Z")),
        ("1795178096.5|", format!("{noon}.500Z")),
        ("1795178096123|", format!("{noon}.123Z")),
        ("1795178096123456 ", format!("{noon}.123Z")),
        ("1795178096123456789 ", format!("{noon}.123Z")),
        ("[1795178096] ", format!("{noon}Z")),
        ("Nov 20 12:34:56 ", "11-20T12:34:56Z".to_owned()),
        ("Nov 20 2026 12:34:56 ", format!("{noon}Z")),
        ("Fri Nov 20 12:34:56 2026 ", format!("{noon}Z")),
        ("Fri Nov 20 12:34:56 UTC 2026: ", format!("{noon}Z")),
        ("Fri Nov 20 13:34:56 +0100 2026 ", format!("{noon}Z")),
        ("[2026-11-20 12:34:56] ", format!("{noon}Z")),
        ("[2026-11-20 12:34:56 UTC] ", format!("{noon}Z")),
        ("2026-11-20 12:34:56 ", format!("{noon}Z")),
        ("2026-11-20 12:34:56,789 ", format!("{noon}.789Z")),
        ("2026/11/20 12:34:56 ", format!("{noon}Z")),
        ("2026-11-20 12:34:56 - ", format!("{noon}Z")),
        ("2026-11-20 12:34:56\t", format!("{noon}Z")),
        ("12:34:56 ", "45296000".to_owned()),
        ("[12:34:56] ", "45296000".to_owned()),
    ];
    for (stamp, date) in forms {
        for line in BENEATH {
            let stamped = format!("{stamp}{line}");
            assert_eq!(parts(&stamped), Some((date.clone(), line)), "{stamped}");
        }
    }
}

#[test]
fn what_is_no_stamp() {
    for line in BENEATH.into_iter().chain([
        "",
        "------",
        "10000:0InitGame: x",
        "0.00\tNG\t2017-6-29 21:22:7\t0\tCTF-Face",
        "11/20/2026 - 12:34:56.789 - World triggered \"Round_Start\"",
        "{\"evenkeel\":1}",
        "2026-13-20T12:34:56Z x",
        "2026-11-20T25:34:56Z x",
        "Foo 20 12:34:56 x",
        "Feb 30 12:34:56 x",
        "12345678 x",
        "[x] y",
        "[1.2",
        "Fri",
        "Nov",
        "é",
    ]) {
        assert_eq!(parts(line), None, "{line}");
    }
}

fn read(format: &Format, log: &str, written: Option<Timestamp>) -> Vec<LogItem> {
    let context = Context {
        server: "here".to_owned(),
        written,
        ..Context::default()
    };
    let mut items = Vec::new();
    let mut reader = Reader::new(format, &context);
    for chunk in log.as_bytes().chunks(100) {
        reader.feed(chunk, &mut items);
    }
    reader.finish(&mut items);
    items
}

/// A short game of capture the flag, with the seconds at which its lines were written.
const GAME: [(u32, &str); 13] = [
    (
        0,
        r"  0:00 InitGame: \g_gametype\4\gamename\baseoa\mapname\oasago2",
    ),
    (1, r"  0:01 ClientConnect: 0"),
    (1, r"  0:01 ClientUserinfoChanged: 0 n\ann\t\1"),
    (1, r"  0:01 ClientBegin: 0"),
    (1, r"  0:01 ClientConnect: 1"),
    (1, r"  0:01 ClientUserinfoChanged: 1 n\bob\t\2"),
    (1, r"  0:01 ClientBegin: 1"),
    (30, r"  0:30 Kill: 0 1 10: ann killed bob by MOD_RAILGUN"),
    (40, r"  0:40 CTF: 0 2 1: ann captured the BLUE flag!"),
    (50, r"  0:50 Exit: Timelimit hit."),
    (50, r"  0:50 red:1  blue:0"),
    (50, r"  0:50 score: 5  ping: 40  client: 0 ann"),
    (50, r"  0:50 score: 1  ping: 40  client: 1 bob"),
];

/// The game with a stamp before each line; `clock` says whether its lines have their own times.
fn stamped(stamp: impl Fn(u32) -> String, clock: bool) -> String {
    let line = |(at, line): &(u32, &str)| {
        let line = if clock { line } else { &line[7..] };
        format!("{}{line}\n", stamp(*at))
    };
    GAME.iter().map(line).collect()
}

/// When the only match of a log began, how long it lasted, and its result.
fn only_match(log: &str, written: Option<&str>) -> String {
    let format = detect(log.as_bytes()).unwrap_or_else(|| panic!("{log}"));
    let written = written.map(|text| Timestamp::parse(text).unwrap());
    let items = read(format, log, written);
    let [LogItem::Match(game)] = &items[..] else {
        panic!("{items:?}\n{log}")
    };
    let start = match game.clock {
        None => game.start.to_string(),
        Some(clock) => format!("clock {clock}"),
    };
    format!(
        "{start} {}s {:?} {}",
        game.millis() / 1_000,
        game.scores,
        game.participants[0].kills
    )
}

#[test]
fn a_stamped_log_is_dated_by_its_stamps() {
    let expected = "2026-11-20T12:00:00Z 50s [1.0, 0.0] 1";
    for clock in [true, false] {
        let forms: [fn(u32) -> String; 6] = [
            |at| format!("2026-11-20T12:00:{at:02}.000000001Z "),
            |at| format!("Nov 20 12:00:{at:02} host oa_ded[1]: "),
            |at| format!("2026-11-20T13:00:{at:02}+0100 host oa_ded[1]: "),
            |at| format!("{}|", 1_795_176_000 + at),
            |at| format!("server-1  | 2026-11-20T12:00:{at:02}Z "),
            |at| format!("[2026-11-20 12:00:{at:02}] "),
        ];
        for form in forms {
            let log = stamped(form, clock);
            assert_eq!(only_match(&log, Some("2026-12-01")), expected, "{log}");
            // What journald writes at the beginning, and what a server prints besides.
            let log = format!(
                "-- Journal begins at Thu 2026-11-19 --\n{}Hitch warning\n{log}",
                form(0)
            );
            assert_eq!(only_match(&log, Some("2026-12-01")), expected, "{log}");
        }
    }
}

#[test]
fn a_log_without_years_is_of_the_year_of_its_file() {
    let log = stamped(|at| format!("Nov 20 12:00:{at:02} "), true);
    let match_ = |written| only_match(&log, written);
    let rest = "50s [1.0, 0.0] 1";
    assert_eq!(
        match_(Some("2026-11-20")),
        format!("2026-11-20T12:00:00Z {rest}")
    );
    assert_eq!(
        match_(Some("2026-11-18")),
        format!("2025-11-20T12:00:00Z {rest}")
    );
    assert_eq!(match_(None), format!("clock 0 {rest}"));
    // Over the end of the year.
    let log = stamped(
        |at| match at {
            0 | 1 => format!("Dec 31 23:59:{:02} ", 50 + at),
            _ => format!("Jan  1 00:00:{:02} ", at - 10),
        },
        false,
    );
    assert_eq!(
        only_match(&log, Some("2027-02-01")),
        format!("2026-12-31T23:59:50Z {rest}")
    );
    // The last 29th of February.
    let log = stamped(|at| format!("Feb 29 12:00:{at:02} "), true);
    assert_eq!(
        only_match(&log, Some("2027-02-01")),
        format!("2024-02-29T12:00:00Z {rest}")
    );
}

#[test]
fn a_log_with_dates_of_its_own_is_the_same_with_stamps() {
    let source = [
        r#"L 01/24/2026 - 18:00:00: World triggered "Round_Start""#,
        r#"L 01/24/2026 - 18:00:05: "ann<1><[U:1:1]><Red>" killed "bob<2><[U:1:2]><Blue>" with "scattergun""#,
        r#"L 01/24/2026 - 18:01:00: World triggered "Round_Win" (winner "Red")"#,
        r#"L 01/24/2026 - 18:01:00: World triggered "Game_Over" reason "x""#,
        r#"L 01/24/2026 - 18:01:00: Team "Red" final score "1" with "1" players"#,
        r#"L 01/24/2026 - 18:01:00: Team "Blue" final score "0" with "1" players"#,
    ];
    let xonotic = include_str!("../../../../tests/fixtures/nexuiz/ctf-01.log");
    let mut openarena = stamped(|_| String::new(), true);
    openarena = openarena.replace(r"\mapname", r"\g_timestamp\2026-11-20 12:00:00\mapname");
    for plain in [source.join("\n") + "\n", xonotic.to_owned(), openarena] {
        let format = detect(plain.as_bytes()).unwrap();
        let expected = read(format, &plain, None);
        assert!(
            expected
                .iter()
                .any(|item| matches!(item, LogItem::Match(_)))
        );
        for stamp in [
            "2030-01-02T03:04:05.123456789Z ",
            "Jan  2 03:04:05 host a[1]: ",
            "game-1 | ",
        ] {
            let log: String = plain
                .lines()
                .map(|line| format!("{stamp}{line}\n"))
                .collect();
            assert_eq!(detect(log.as_bytes()).map(|f| f.name), Some(format.name));
            assert_eq!(read(format, &log, None), expected, "{stamp}");
        }
    }
}

#[test]
fn an_event_log_without_dates_has_those_of_its_stamps() {
    let log = include_str!("../../../../tests/fixtures/nexuiz/ctf-01.log");
    let bare: String = log
        .lines()
        .filter(|line| !line.starts_with(":time:"))
        .enumerate()
        .map(|(at, line)| format!("{} {line}\n", 1_795_176_000 + at / 10))
        .collect();
    let items = read(by_name("xonotic").unwrap(), &bare, None);
    let [LogItem::Match(game), ..] = &items[..] else {
        panic!("{items:?}")
    };
    assert_eq!(
        (game.clock, &game.start.to_string()[..16]),
        (None, "2026-11-20T12:00")
    );
}

#[test]
fn a_stamped_log_that_is_read_in_mid_game_or_goes_on_in_another_file() {
    let log = stamped(|at| format!("{}|", 1_795_176_000 + at), true);
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    // The next file may have stamps of another form, or none.
    let rest: String = lines[8..]
        .iter()
        .map(|line| line.split_once('|').unwrap().1)
        .collect();
    let format = by_name("idtech3").unwrap();
    let mut items = Vec::new();
    let mut reader = Reader::new(format, &Context::default());
    reader.feed(lines[..8].concat().as_bytes(), &mut items);
    reader.interrupt();
    reader.feed(rest.as_bytes(), &mut items);
    reader.finish(&mut items);
    assert!(matches!(&items[..], [LogItem::Match(_)]), "{items:?}");
}

#[test]
fn detection_does_not_take_other_texts_for_logs() {
    for text in [
        "2026-11-20T12:00:00Z started\n2026-11-20T12:00:01Z stopped\n",
        "1795176000|a|b\n1795176001|c|d\n",
        "Nov 20 12:00:00 host sshd[1]: Accepted publickey for ann\n",
        "a | b\nc | d\n",
    ] {
        assert_eq!(
            detect(text.as_bytes()).map(|format| format.name),
            None,
            "{text}"
        );
    }
    let few = format!(
        "{}1795176000|  0:00 InitGame: \\x\\y\n",
        "a line\n".repeat(9)
    );
    assert!(detect(few.as_bytes()).is_none(), "most lines have no stamp");
    assert!(
        FORMATS
            .iter()
            .filter(|format| format.is_beneath.is_some())
            .count()
            == 4
    );
}

proptest::proptest! {
    #[test]
    fn any_bytes(line in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..60)) {
        if let Some((_, rest)) = split(&line) {
            proptest::prop_assert!(rest.len() <= line.len());
        }
    }

    #[test]
    fn any_digits(line in "[0-9TZ:. +|\\[\\]-]{0,40}") {
        split(line.as_bytes());
    }
}
