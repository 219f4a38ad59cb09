//! Which logs are read: cut off, quiet, with lines twice, with another clock, or of no match.

use super::*;

#[test]
fn nobody_plays_while_a_server_without_opponents_is_silent() {
    // Without a line that begins the match, the map does.
    let lines = TFC.iter().filter(|(_, line)| !line.contains("Begins"));
    let text = log(&lines
        .copied()
        .chain([(70, "Log file closed")])
        .collect::<Vec<_>>());
    let plain = only_match(&FORMAT, &text).played();
    let came = text.find(r#"joined team "Blue""#).unwrap();
    let came = text[..came].rfind("L 01").unwrap();
    let late = text[came..].replace("01/24/2026 - 18:", "01/25/2026 - 08:");
    let late = only_match(&FORMAT, &format!("{}{late}", &text[..came])).played();
    assert_eq!(late.start, plain.start.plus_millis(14 * 3_600_000));
    assert_eq!(late.millis(), plain.millis());
}

#[test]
fn what_makes_no_record() {
    // The score of one team is missing.
    assert_eq!(reasons(&log(&TFC[..8])), [(5, "unfinished")]);
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

#[test]
fn a_log_that_begins_with_the_first_round_is_whole() {
    let kill = format!(r#"{A} killed {B} with "gun""#);
    let log_of = |length: &str| {
        let length = format!(r#"World triggered "Round_Length" (seconds "{length}")"#);
        log(&[
            (
                0,
                r#"Log file started (file "l") (game "tf") (version "1")"#,
            ),
            (20, &kill),
            (40, r#"World triggered "Round_Win" (winner "Red")"#),
            (40, &length),
            (40, r#"Team "Red" current score "1" with "1" players"#),
            (40, r#"Team "Blue" current score "0" with "1" players"#),
            (45, r#"World triggered "Round_Start""#),
            (60, r#"World triggered "Game_Over" reason "x""#),
            (60, r#"Team "Red" final score "1" with "1" players"#),
            (60, r#"Team "Blue" final score "0" with "1" players"#),
        ])
    };
    let game = only_match(&FORMAT, &log_of("40.02"));
    assert_eq!((game.millis(), game.participants[0].kills), (60_000, 1));
    assert_eq!(reasons(&log_of("90.02")), [(2, "started-before-log")]);
}

#[test]
fn settings_from_a_dump_and_a_quotation_mark_in_a_name() {
    let start = r#"World triggered "Round_Start""#;
    let lines = [
        (12, "server cvars start".to_owned()),
        (12, r#""mp_friendlyfire" = "1""#.to_owned()),
        (13, start.to_owned()),
        (
            19,
            format!(r#""Q"uo"te<4><STEAM_0:0:4><Blue>" killed {A} with "gun""#),
        ),
    ];
    let game = tf2(&lines, (1, 0));
    assert_eq!(game.mutators, ["mp_friendlyfire"]);
    let quote = game
        .participants
        .iter()
        .find(|p| p.key.id == "STEAM_0:0:4")
        .unwrap();
    assert_eq!((quote.name.as_str(), quote.kills), (r#"Q"uo"te"#, 1));
}

#[test]
fn a_log_without_its_first_line_is_of_the_same_game() {
    let whole = tf2_log(&[], (1, 0));
    let rest = whole.split_once('\n').unwrap().1;
    assert_eq!(only_match(&FORMAT, rest).game_type, "tf.ctf");
}

#[test]
fn a_log_may_end_with_the_final_scores() {
    let whole = tf2_log(&[], (1, 0));
    let at = whole.find("Round_Win").unwrap();
    let cut = &whole[..whole[..at].rfind('\n').unwrap() + 1];
    assert_eq!(only_match(&FORMAT, cut), only_match(&FORMAT, &whole));
}

#[test]
fn a_line_that_is_there_twice_begins_no_other_round() {
    let log = |lines: &[(u32, String)]| tf2_log(lines, (2, 0));
    let start = (35, r#"World triggered "Round_Start""#.to_owned());
    let lines = |starts: usize| {
        [
            current(30, 1, 0),
            vec![start.clone(); starts],
            current(70, 2, 0),
        ]
        .concat()
    };
    let once = log(&lines(1));
    let expected = only_match(&FORMAT, &once);
    assert_eq!(
        (&expected.scores[..], expected.millis()),
        (&[2.0, 0.0][..], 90_000)
    );
    assert_eq!(only_match(&FORMAT, &log(&lines(2))), expected);
    let whole: String = once
        .lines()
        .flat_map(|line| [line, "\n", line, "\n"])
        .collect();
    assert_eq!(only_match(&FORMAT, &whole), expected);
}

#[test]
fn lines_that_are_not_understood_are_shown() {
    let context = crate::Context {
        verbose: true,
        ..crate::Context::default()
    };
    let mut log = tf2_log(&[], (1, 0));
    let odd = [
        r#"World triggered "Robots_Land""#,
        r#"World triggered "Round_Overtime""#,
        r#""Ann<1><STEAM_0:0:1><Red>" danced for 3.5 with "Bob""#,
        r#""Ann<1><STEAM_0:0:1><Red>" say "x""#,
        r#""Ann<1><STEAM_0:0:1><Red>" triggered "red_down""#,
        r#"[TFTrue] The log is on 12"#,
    ];
    for line in odd {
        for _ in 0..4 {
            log += &format!("L 01/24/2026 - 18:10:00: {line}\n");
        }
    }
    let mut items = Vec::new();
    let mut reader = crate::Reader::new(&FORMAT, &context);
    reader.feed(log.as_bytes(), &mut items);
    reader.finish(&mut items);
    let kinds = items.iter().filter_map(|item| match item {
        LogItem::UnknownCount { kind, count } => Some((kind.as_str(), *count)),
        _ => None,
    });
    let expected = [
        ("World triggered \"Robots_Land\"", 4),
        ("[TFTrue] The log is on", 4),
        ("danced for", 4),
        ("triggered \"red_down\"", 4),
    ];
    assert_eq!(kinds.collect::<Vec<_>>(), expected);
    let shown =
        |item: &&LogItem| matches!(item, LogItem::Unknown { text, .. } if text.starts_with("L 01"));
    assert_eq!(items.iter().filter(shown).count(), 12);
}

/// A game of two rounds of 180 seconds, in which the calendar is set by so many seconds in the middle of the first round, as
/// often as `times`.
fn game_with_steps(by: i64, times: u32) -> String {
    let start = evenkeel_model::Timestamp::parse("2026-03-29T01:50:00").unwrap();
    let mut moved = 0;
    let mut text = String::new();
    let mut add = |at: i64, line: &str, moved: i64| {
        let date = start.plus_millis((at + moved) * 1_000).to_string();
        let (year, month, day) = (&date[..4], &date[5..7], &date[8..10]);
        text += &format!("L {month}/{day}/{year} - {}: {line}\n", &date[11..19]);
    };
    add(
        0,
        r#"Log file started (file "l") (game "x\tf") (version "1")"#,
        moved,
    );
    add(0, r#"Loading map "koth_lake""#, moved);
    add(
        1,
        r#""Ann<1><STEAM_0:0:1><Unassigned>" joined team "Red""#,
        moved,
    );
    add(1, r#""Bob<2><BOT><Unassigned>" joined team "Blue""#, moved);
    for (round, (red, blue)) in [(1, 0), (1, 1)].into_iter().enumerate() {
        let began = 10 + 190 * round as i64;
        add(began, r#"World triggered "Round_Start""#, moved);
        for step in 1..8 {
            if round == 0 && u32::try_from(step).is_ok_and(|step| step <= times) {
                moved += by;
            }
            add(
                began + 20 * step,
                &format!(r#"{A} killed {B} with "gun""#),
                moved,
            );
        }
        add(
            began + 180,
            r#"World triggered "Round_Win" (winner "Red")"#,
            moved,
        );
        add(
            began + 180,
            r#"World triggered "Round_Length" (seconds "180.00")"#,
            moved,
        );
        add(
            began + 180,
            &format!(r#"Team "Red" current score "{red}" with "1" players"#),
            moved,
        );
        add(
            began + 180,
            &format!(r#"Team "Blue" current score "{blue}" with "1" players"#),
            moved,
        );
    }
    add(381, r#"World triggered "Game_Over" reason "x""#, moved);
    add(381, r#"Team "Red" final score "1" with "1" players"#, moved);
    add(
        381,
        r#"Team "Blue" final score "1" with "1" players"#,
        moved,
    );
    text
}

#[test]
fn a_calendar_that_is_set_in_a_round_is_no_log_of_two_servers() {
    let plain = only_match(&FORMAT, &game_with_steps(0, 1));
    for by in [3_600, -3_600, -20, -90] {
        let set = only_match(&FORMAT, &game_with_steps(by, 1));
        assert_eq!(
            (set.start, &set.scores),
            (plain.start, &plain.scores),
            "{by}"
        );
        assert_eq!(set.millis(), plain.millis(), "{by}");
        let kills = |record: &MatchRecord| record.participants[0].kills;
        assert_eq!(kills(&set), kills(&plain), "{by}");
    }
    // The clocks of two servers seem to be set again and again.
    assert_eq!(
        reasons(&game_with_steps(-25, 6)).pop().unwrap().1,
        "impossible"
    );
}
