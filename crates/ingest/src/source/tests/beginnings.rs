//! Logs that begin in mid-match, or whose matches begin and end in unusual ways. The expected values
//! were worked out by hand from the lines.

use super::super::FORMAT;
use crate::{LogItem, read, same_match::join_halves};

/// What a log contains: of a match the names and scores of ann's and bob's teams, of a game that is
/// skipped the line and the reason. Each line of the script is `seconds event`; `@T name>name` are
/// short for the usual lines:
/// - `rs`, `re`: the start and the end of a round
/// - `kill`: ann, who is on the first side named, kills bob, who is on the other one
/// - `t:ct`: the score of the terrorists and of the counter-terrorists, stated twice
fn lines(script: &str) -> String {
    let mut log = String::new();
    for line in script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let (at, event) = line.split_once(' ').unwrap();
        let at: u32 = at.parse().unwrap();
        for event in words(event) {
            let (h, m, s) = (18 + at / 3_600, at / 60 % 60, at % 60);
            log += &format!("L 01/24/2026 - {h:02}:{m:02}:{s:02}: {event}\n");
        }
    }
    log
}

fn words(event: &str) -> Vec<String> {
    let kill = |ann: &str, bob: &str| {
        vec![format!(
            r#""ann<1><[U:1:1]><{ann}>" killed "bob<2><[U:1:2]><{bob}>" with "awp""#
        )]
    };
    let parts: Vec<&str> = event.split(' ').collect();
    match parts[..] {
        ["rs"] => vec![r#"World triggered "Round_Start""#.into()],
        ["re"] => vec![r#"World triggered "Round_End""#.into()],
        ["kill", ann, bob] => kill(ann, bob),
        ["score", score] => {
            let (t, ct) = score.split_once(':').unwrap();
            vec![
                format!(r#"Team "CT" triggered "SFUI_Notice_CTs_Win" (CT "{ct}") (T "{t}")"#),
                format!(r#"Team "CT" scored "{ct}" with "1" players"#),
                format!(r#"Team "TERRORIST" scored "{t}" with "1" players"#),
            ]
        }
        ["win", team, length] => vec![
            format!(r#"World triggered "Round_Win" (winner "{team}")"#),
            format!(r#"World triggered "Round_Length" (seconds "{length}")"#),
        ],
        ["win", team] => vec![format!(r#"World triggered "Round_Win" (winner "{team}")"#)],
        ["current", score] | ["final", score] => {
            let (red, blue) = score.split_once(':').unwrap();
            let what = parts[0];
            vec![
                format!(r#"Team "Red" {what} score "{red}" with "1" players"#),
                format!(r#"Team "Blue" {what} score "{blue}" with "1" players"#),
            ]
        }
        ["over"] => vec![r#"World triggered "Game_Over" reason "x""#.into()],
        ["roles", ann, bob] => vec![
            format!(r#""ann<1><[U:1:1]><{ann}>" changed role to "scout""#),
            format!(r#""bob<2><[U:1:2]><{bob}>" changed role to "scout""#),
        ],
        _ => vec![event.to_owned()],
    }
}

fn found(script: &str) -> Vec<String> {
    let items = read(&FORMAT, &lines(script));
    let text = |item: &LogItem| match item {
        LogItem::Match(game) => {
            let score = |name: &str| {
                let player = game.participants.iter().find(|p| p.name == name).unwrap();
                let team = player.presence.last().unwrap().team;
                game.scores[usize::from(team)]
            };
            format!("{}:{}", score("ann"), score("bob"))
        }
        LogItem::Skipped { reason, .. } => reason.code().to_owned(),
        other => panic!("{other:?}\n{script}"),
    };
    items.iter().map(text).collect()
}

const BEFORE: [&str; 1] = ["started-before-log"];

/// Two rounds of Counter-Strike with these scores after them.
fn two_rounds(first: &str, second: &str) -> String {
    format!(
        "10 rs\n20 kill TERRORIST CT\n60 score {first}\n60 re\n70 rs\n80 kill TERRORIST CT\n110 score {second}\n110 re\n"
    )
}

const GAME_OVER: &str = "111 Game Over: competitive de_x de_x score 5:2 after 10 min";

#[test]
fn counter_strike_logs_that_begin_in_mid_match() {
    let closed = "140 Log file closed\n";
    let rest = two_rounds("4:2", "5:2");
    let cut: [(&str, String); 9] = [
        ("a round", rest.clone() + GAME_OVER),
        (
            "the name of the log",
            format!(
                "1 Log file started (file \"l\") (game \"csgo\") (version \"1\")\n{rest}{GAME_OVER}"
            ),
        ),
        (
            "the second round of a match",
            two_rounds("1:1", "2:1") + GAME_OVER,
        ),
        ("the end of a round", format!("5 re\n{rest}{GAME_OVER}")),
        (
            "the middle of a round",
            format!("5 kill TERRORIST CT\n6 score 3:2\n6 re\n{rest}{GAME_OVER}"),
        ),
        (
            "half-time",
            format!("1 roles CT TERRORIST\n2 roles TERRORIST CT\n{rest}{GAME_OVER}"),
        ),
        (
            "a round that is begun again",
            format!("2 rs\n{rest}{GAME_OVER}"),
        ),
        (
            "a restored round",
            format!("1 World triggered \"Match_Reloaded\" on \"de_x\"\n{rest}{GAME_OVER}"),
        ),
        ("no line at the end of a match", format!("{rest}{closed}")),
    ];
    for (name, script) in cut {
        assert_eq!(found(&script), BEFORE, "{name}");
    }
    // The scores come before the end of the round alone, as Counter-Strike 2 writes them.
    let plain = lines(&(rest + GAME_OVER));
    let plain: String = plain
        .lines()
        .filter(|line| !line.contains("SFUI"))
        .map(|line| format!("{line}\n"))
        .collect();
    let items = read(&FORMAT, &plain);
    assert!(matches!(items[..], [LogItem::Skipped { .. }]), "{items:?}");
}

#[test]
fn counter_strike_logs_that_begin_before_the_match() {
    let rest =
        two_rounds("1:0", "2:0") + "111 Game Over: competitive de_x de_x score 0:2 after 10 min";
    let late =
        two_rounds("4:2", "5:2") + "111 Game Over: competitive de_x de_x score 2:5 after 10 min";
    let start = "1 World triggered \"Match_Start\" on \"de_x\"";
    let whole: [(&str, String, &str); 7] = [
        ("the first round", rest.clone(), "2:0"),
        (
            "warm-up",
            format!(
                "1 rs\n2 kill TERRORIST CT\n3 score 7:3\n3 re\n4 World triggered \"Warmup_End\"\n5 {}\n{rest}",
                &start[2..]
            ),
            "2:0",
        ),
        (
            "a restart",
            format!(
                "1 rs\n2 kill TERRORIST CT\n3 score 7:3\n3 re\n4 World triggered \"Restart_Round_(1_second)\"\n{rest}"
            ),
            "2:0",
        ),
        (
            "a match that goes on from a score",
            format!("{start}\n{late}"),
            "5:2",
        ),
        ("a map", format!("1 Loading map \"de_x\"\n{late}"), "5:2"),
        (
            "the start of the game",
            format!("1 World triggered \"Game_Commencing\"\n{late}"),
            "5:2",
        ),
        (
            "a drawn round",
            "10 rs\n20 kill TERRORIST CT\n60 score 0:0\n60 re\n".to_owned()
                + &rest
                    .replace("10 rs", "65 rs")
                    .replace("20 kill", "66 kill")
                    .replace("60 ", "69 "),
            "2:0",
        ),
    ];
    for (name, script, expected) in whole {
        assert_eq!(found(&script), [expected], "{name}");
    }
}

#[test]
fn the_whole_log_after_its_end_alone_is_one_match() {
    let start = "1 World triggered \"Match_Start\" on \"de_x\"\n2 rs\n3 kill TERRORIST CT\n4 score 3:2\n4 re\n";
    let rest =
        two_rounds("4:2", "5:2") + "111 Game Over: competitive de_x de_x score 2:5 after 10 min";
    assert_eq!(found(&rest), BEFORE);
    assert_eq!(found(&format!("{start}{rest}")), ["5:2"]);
    // A match that follows one that was cut off is whole.
    let next = format!(
        "{rest}\n200 World triggered \"Match_Start\" on \"de_x\"\n{}",
        shifted(&rest, 200)
    );
    assert_eq!(found(&next), ["started-before-log", "5:2"]);
}

/// The script so many seconds later.
fn shifted(script: &str, by: u32) -> String {
    let line = |line: &str| {
        let (at, event) = line.split_once(' ').unwrap();
        format!("{} {event}\n", at.parse::<u32>().unwrap() + by)
    };
    script.lines().map(line).collect()
}

#[test]
fn a_second_half_without_its_first_is_no_match() {
    // Older versions: the game is restarted at half-time, and ends with its map.
    let first = "10 rs\n20 kill TERRORIST CT\n60 score 4:2\n60 re\n70 rs\n80 kill TERRORIST CT\n110 score 5:2\n110 re\n";
    let second = "\
        200 \"ann<1><[U:1:1]><TERRORIST>\" joined team \"CT\"
        201 \"bob<2><[U:1:2]><CT>\" joined team \"TERRORIST\"
        210 World triggered \"Restart_Round_(1_second)\"
        220 rs\n230 kill CT TERRORIST\n240 score 0:1\n240 re\n250 rs\n260 kill CT TERRORIST\n270 score 1:1\n270 re\n280 Log file closed\n";
    let plain = |script: &str| script.replace("SFUI_Notice_", "");
    assert_eq!(found(&plain(&format!("{first}{second}"))), BEFORE);
    let map = "1 Loading map \"de_x\"\n";
    assert_eq!(found(&plain(&format!("{map}{first}{second}"))), ["6:3"]);
}

#[test]
fn csgo_without_a_line_at_the_end() {
    let map = "1 Loading map \"de_x\"\n";
    let commencing = "2 World triggered \"Game_Commencing\"\n";
    let started = "2 World triggered \"Match_Start\" on \"de_x\"\n";
    let rounds = |first: &str, second: &str| {
        format!(
            "{}110 rs\n",
            two_rounds(first, second).replace("70 rs", "60 rs")
        )
    };
    let closed = "135 Log file closed\n";
    let next_map = "135 Loading map \"de_y\"\n";
    let cases: [(&str, String, &[&str]); 9] = [
        (
            "closed",
            format!("{map}{commencing}{}{closed}", rounds("15:9", "16:9")),
            &["16:9"],
        ),
        (
            "the next map",
            format!("{map}{commencing}{}{next_map}", rounds("15:9", "16:9")),
            &["16:9"],
        ),
        (
            "the next log",
            format!(
                "{map}{commencing}{}135 Log file started (file \"l\") (game \"csgo\") (version \"1\")\n",
                rounds("15:9", "16:9")
            ),
            &["16:9"],
        ),
        (
            "a draw",
            format!("{map}{commencing}{}{closed}", rounds("15:14", "15:15")),
            &["15:15"],
        ),
        (
            "a start that is marked",
            format!("{map}{started}{}{closed}", rounds("15:9", "16:9")),
            &["16:9"],
        ),
        (
            "overtime",
            format!("{map}{started}{}{closed}", rounds("18:17", "19:17")),
            &["19:17"],
        ),
        (
            "a marked start, broken off",
            format!("{map}{started}{}{closed}", rounds("8:4", "9:4")),
            &["aborted"],
        ),
        (
            "broken off in a round",
            format!(
                "{map}{commencing}{}120 kill TERRORIST CT\n{closed}",
                rounds("8:4", "9:4")
            ),
            &["aborted"],
        ),
        (
            "the log goes on",
            format!("{map}{commencing}{}", rounds("15:9", "16:9")),
            &["unfinished"],
        ),
    ];
    for (name, script, expected) in cases {
        assert_eq!(found(&script), expected, "{name}");
    }
}

#[test]
fn tf2_logs_that_begin_in_mid_game() {
    let end = "900 over\n900 final 3:1\n";
    let map = "1 Started map \"koth_x\" (CRC \"1\")\n1 roles Red Blue\n";
    let started = "1 Log file started (file \"l\") (game \"tf\") (version \"1\")\n";
    let cut = [
        format!("{started}{map}800 kill Red Blue\n{end}"),
        format!("{map}{end}"),
        format!("{started}800 kill Red Blue\n{end}"),
        format!("1 roles Red Blue\n800 kill Red Blue\n{end}"),
        // The first round lacks its beginning, and its length does not show it.
        format!("{map}100 kill Red Blue\n300 win Red\n310 rs\n800 win Red\n800 current 3:1\n{end}"),
        format!("{map}100 kill Red Blue\n300 win Red 500.00\n310 rs\n800 win Red 490.0\n{end}"),
        format!(
            "1 roles Red Blue\n100 kill Red Blue\n300 win Red\n310 rs\n800 win Red 490.0\n{end}"
        ),
        format!("{started}1 Loading map \"cp_x\"\n100 win Blue\n310 rs\n800 win Red\n{end}"),
    ];
    for script in cut {
        assert_eq!(found(&script), BEFORE, "{script}");
    }
    let whole = [
        format!("{map}10 rs\n100 kill Red Blue\n800 win Red 790.0\n{end}"),
        format!("{map}10 rs\n100 kill Red Blue\n800 win Red\n{end}"),
        // The length shows that the first round began with the map, or with the log.
        format!("{map}100 kill Red Blue\n301 win Red 300.0\n310 rs\n800 win Red 490.0\n{end}"),
        format!(
            "0 roles Red Blue\n100 kill Red Blue\n300 win Red 300.0\n310 rs\n800 win Red 490.0\n{end}"
        ),
        // Another match follows one whose beginning is missing.
        format!("10 rs\n11 roles Red Blue\n100 kill Red Blue\n800 win Red 790.0\n{end}"),
    ];
    for script in whole {
        assert_eq!(found(&script), ["3:1"], "{script}");
    }
    // Without rounds, the captures explain the score.
    let capture = r#""ann<1><[U:1:1]><Red>" triggered "flagevent" (event "captured")"#;
    let script = format!(
        "1 Started map \"ctf_x\" (CRC \"1\")\n1 roles Red Blue\n50 {capture}\n900 over\n900 final 1:0\n"
    );
    assert_eq!(found(&script), ["1:0"]);
}

/// A map that red wins, with ann on this team.
fn map(at: u32, ann: &str, point: &str, scores: &str) -> String {
    let bob = if ann == "Red" { "Blue" } else { "Red" };
    let who = if ann == "Red" {
        "ann<1><[U:1:1]>"
    } else {
        "bob<2><[U:1:2]>"
    };
    shifted(
        &format!(
            "0 roles {ann} {bob}\n5 rs\n300 Team \"Red\" triggered \"pointcaptured\" (cp \"0\") (cpname \"{point}\") (numcappers \"1\") (player1 \"{who}<Red>\")\n\
             305 win Red 300.0\n305 current {scores}\n310 over\n310 final {scores}\n"
        ),
        at,
    )
}

/// The matches that are left of a log once halves are joined.
fn after_joining(script: &str) -> usize {
    let records: Vec<_> = read(&FORMAT, &lines(script))
        .into_iter()
        .filter_map(|item| match item {
            LogItem::Match(record) => Some(*record),
            _ => None,
        })
        .collect();
    let joined = |pair: &[_]| join_halves(&pair[0], &pair[1]).is_some();
    records.len() - records.windows(2).filter(|pair| joined(pair)).count()
}

#[test]
fn maps_of_a_series_without_names_are_matches_of_their_own() {
    let series = [
        // Sides change or not; the points have other names or the same.
        (map(0, "Red", "a", "4:2") + &map(900, "Blue", "b", "4:2"), 2),
        (map(0, "Red", "a", "4:2") + &map(900, "Red", "b", "4:2"), 2),
        (
            map(0, "Red", "#koth_x", "4:2") + &map(900, "Blue", "#koth_y", "4:2"),
            2,
        ),
        (map(0, "Red", "a", "4:2") + &map(900, "Blue", "a", "4:2"), 2),
        (
            map(0, "Red", "a", "2:0")
                + &map(600, "Blue", "b", "2:0")
                + &map(1_200, "Red", "c", "1:0"),
            3,
        ),
    ];
    for (script, matches) in series {
        assert_eq!(after_joining(&script), matches, "{script}");
    }
    // On one map that the log names, they are halves.
    let named = |at: u32| format!("{at} Loading map \"cp_x\"\n");
    let halves =
        named(0) + &map(1, "Red", "a", "4:2") + &named(900) + &map(901, "Blue", "a", "4:2");
    assert_eq!(after_joining(&halves), 1);
    let others = halves.replacen("cp_x", "cp_y", 1);
    assert_eq!(after_joining(&others), 2);
    // The log names the first map alone, and the points show that the second game was on another one.
    let unnamed = named(0) + &map(1, "Red", "a", "4:2") + &map(901, "Blue", "b", "4:2");
    assert_eq!(after_joining(&unnamed), 2);
    let same = named(0) + &map(1, "Red", "a", "4:2") + &map(901, "Blue", "a", "4:2");
    assert_eq!(after_joining(&same), 1);
}

#[test]
fn stopwatch_whose_final_score_is_lost() {
    let stopwatch = |first: &str, second: &str, last: &str| {
        format!(
            "1 roles Blue Red\n5 rs\n300 win Blue 295.0\n300 current {first}\n305 roles Red Blue\n305 rs\n600 win Red 295.0\n\
             600 current {second}\n605 over\n605 final {last}\n"
        )
    };
    for (first, second, last, expected) in [
        ("0:4", "4:2", "0:0", "4:2"),
        ("0:1", "1:3", "0:0", "1:3"),
        ("0:3", "3:0", "0:0", "3:0"),
        // What the final score states counts.
        ("0:4", "4:2", "4:2", "4:2"),
        ("0:4", "4:2", "1:0", "1:0"),
        ("0:0", "0:0", "0:0", "0:0"),
        // The faster team has won, which the log does not state.
        ("0:4", "4:4", "0:0", "no-result"),
    ] {
        let script = stopwatch(first, second, last);
        assert_eq!(found(&script), [expected], "{first} {second} {last}");
    }
    // The final scores come in the other order, or only one round was played.
    let swapped = stopwatch("0:4", "4:2", "0:0").replace(
        "605 final 0:0",
        "605 Team \"Blue\" final score \"0\" with \"1\" players\n605 Team \"Red\" final score \"0\" with \"1\" players",
    );
    assert_eq!(found(&swapped), ["4:2"]);
    let one =
        "1 roles Blue Red\n5 rs\n300 win Blue 295.0\n300 current 0:4\n605 over\n605 final 0:0\n";
    assert_eq!(found(one), ["4:0"]);
}

#[test]
fn lines_of_two_servers_contradict_each_other() {
    // Two games whose rounds overlap; the second one is of other people.
    let game = |at: u32, names: [&str; 2]| {
        let rounds = "0 roles Red Blue\n5 rs\n100 kill Red Blue\n200 win Red 195.0\n200 current 1:0\n205 rs\n260 kill Red Blue\n\
                      400 win Red 195.0\n400 current 2:0\n410 over\n410 final 2:0\n";
        let rounds = rounds.to_owned();
        let log = lines(&shifted(&rounds, at));
        log.replace("ann<1><[U:1:1]", names[0])
            .replace("bob<2><[U:1:2]", names[1])
    };
    for offset in [20, 50, 100, 150, 190, 230, 300, 390] {
        let one = game(0, ["ann<1><[U:1:1]", "bob<2><[U:1:2]"]);
        let two = game(offset, ["cid<1><[U:1:3]", "dan<2><[U:1:4]"]);
        let mut all: Vec<&str> = one.lines().chain(two.lines()).collect();
        all.sort_by_key(|line| line[..25].to_owned());
        let log = all.join("\n") + "\n";
        let items = read(&FORMAT, &log);
        let impossible = |item: &LogItem| matches!(item, LogItem::Skipped { reason, .. } if reason.code() == "impossible");
        assert!(impossible(&items[0]), "{offset}: {items:?}");
    }
    // A pause makes a round shorter than the time since it began.
    let paused = "0 roles Red Blue\n5 rs\n100 kill Red Blue\n900 win Red 295.0\n900 current 1:0\n910 over\n910 final 1:0\n";
    assert_eq!(found(paused), ["1:0"]);
}

#[test]
fn names_of_teams_without_a_date_are_no_fault() {
    let log = lines(
        "0 roles Red Blue\n5 rs\n100 kill Red Blue\n200 win Red 195.0\n210 over\n210 final 1:0\n",
    );
    let named = log.replacen("\n", "\nBlue Team: BLU\nRed Team: <team> \"x\"\n", 1);
    let items = read(&FORMAT, &named);
    assert!(matches!(items[..], [LogItem::Match(_)]), "{items:?}");
    let malformed = log.replacen("\n", "\nGreen Team: x\n", 1);
    let items = read(&FORMAT, &malformed);
    assert!(
        matches!(
            items[..],
            [LogItem::Malformed { line: 2, .. }, LogItem::Match(_)]
        ),
        "{items:?}"
    );
}

#[test]
fn a_match_is_over_with_its_last_score() {
    // While a log is followed, nothing may come after the score for long.
    let log = lines(
        "0 roles Red Blue\n5 rs\n100 kill Red Blue\n200 win Red 195.0\n210 over\n210 final 1:0\n",
    );
    let mut reader = crate::Reader::new(&FORMAT, &crate::Context::default());
    let mut items = Vec::new();
    reader.feed(log.as_bytes(), &mut items);
    assert!(matches!(items[..], [LogItem::Match(_)]), "{items:?}");
    // Lines may be doubled.
    reader.feed(
        &log.as_bytes()[log.find("L 01/24/2026 - 18:03:30").unwrap()..],
        &mut items,
    );
    reader.finish(&mut items);
    assert_eq!(items.len(), 1);
}
