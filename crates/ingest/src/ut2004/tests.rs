//! Small logs, written for one question each.

use super::FORMAT;
use crate::text::seconds;
use crate::{LogItem, detect, only_match, read};
use evenkeel_model::{Kind, MatchRecord, Outcome};

const NG: &str =
    "0|NG|2004-3-9 7:05:1|0|CTF-Face|Face|A B|XGame.xCTFGame|Capture the Flag|Mutators=B.b;A.a;B.b";
const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
const C: &str = "cccccccccccccccccccccccccccccccc";

/// A log of these lines; `|` stands for a tab, and `;` for the bar between mutators.
fn log(lines: &[&str]) -> String {
    let lines = lines
        .iter()
        .map(|line| line.replace('|', "\t").replace(';', "|"));
    lines.map(|line| line + "\n").collect()
}

fn stays(record: &MatchRecord, id: &str) -> Vec<(u8, u64, u64)> {
    let participant = record.participants.iter().find(|p| p.key.id == id).unwrap();
    let stays = participant.presence.iter();
    stays
        .map(|stay| (stay.team, stay.span.from, stay.span.to))
        .collect()
}

fn skips(lines: &[&str]) -> Vec<(u64, &'static str)> {
    let items = read(&FORMAT, &log(lines));
    let skips = items.iter().filter_map(|item| match item {
        LogItem::Skipped { line, reason, .. } => Some((*line, reason.code())),
        _ => None,
    });
    skips.collect()
}

#[test]
fn a_stock_team_game() {
    let (a, b, c) = (
        format!("2|C|0|{A}||"),
        format!("3|C|1|{B}|site name|0123456789abcdef"),
        format!("90|C|4|{C}||"),
    );
    let record = only_match(
        &FORMAT,
        &log(&[
            NG,
            "0|SI|Server|0|||\\GoalScore\\3",
            &a,
            "2|G|NameChange|0|Ann",
            "2|G|TeamChange|0|1",
            &b,
            "3|G|NameChange|1|Bob",
            "3|G|TeamChange|1|0",
            "5|K|0|DamTypeX|1|Rifle",
            "5|S|0|1.00|frag",
            "5|T|1|9|warm_up",
            "10|SG",
            "20|K|0|DamTypeX|1|Rifle",
            "20|S|0|1.00|frag",
            // A bot's own lines are left out, what it does to others is as well.
            "30|S|0|5.00|flag_cap_final",
            "30|T|1|1.00|flag_cap",
            "30|G|flag_captured|0|0",
            "40|T|0|1.00|flag_cap",
            // Bob asks for his own team, and the game puts him on the other.
            "50|G|TeamChange|1|0",
            "60|TK|1|DamTypeX|0|Rifle",
            "60|S|1|-1.00|team_frag",
            "70|D|0",
            &c,
            "90|G|NameChange|4|Cid",
            "90|G|TeamChange|4|0",
            "95|K|-1|Fell|4|None",
            "96|K|4|DamTypeX|4|Rifle",
            "100|T|1|1.00|flag_cap",
            "100|EG|teamscorelimit|1|4",
            "101|K|1|DamTypeX|4|Rifle",
        ]),
    );
    assert_eq!(record.start.to_string(), "2004-03-09T07:05:11Z");
    assert_eq!((record.clock, record.millis()), (None, 90_001));
    assert_eq!(
        (record.map.as_str(), record.game_type.as_str()),
        ("CTF-Face", "XGame.xCTFGame")
    );
    assert_eq!(record.mutators, ["A.a", "B.b"]);
    assert_eq!(
        (&record.scores[..], record.outcome),
        (&[1.0, 2.0][..], Outcome::Won(1))
    );
    let events: Vec<_> = record.events.iter().map(|e| (e.at, e.team, e.by)).collect();
    assert_eq!(
        events,
        [(20_000, 1, Some(0)), (30_000, 0, None), (90_000, 1, None)]
    );
    assert_eq!(stays(&record, A), [(1, 0, 60_000)]);
    assert_eq!(stays(&record, B), [(0, 1, 40_000), (1, 40_000, 90_001)]);
    assert_eq!(stays(&record, C), [(0, 80_000, 90_001)]);
    let tally: Vec<_> = record
        .participants
        .iter()
        .map(|p| (&p.name[..], p.kills, p.deaths, p.points))
        .collect();
    assert_eq!(
        tally,
        // Bob has killed Ann while nobody was on the other team.
        [
            ("Ann", 1, 0, Some(6.0)),
            ("Bob", 0, 1, Some(-1.0)),
            ("Cid", 0, 2, None)
        ]
    );
}

#[test]
fn olstats_tells_of_bots_late_and_of_the_hash_servers_know() {
    let (c, ps) = (
        format!("2.00|C|0|{A}|Site|885e787eb8f08876"),
        format!("2.00|PS|0|192.0.2.1:7777|10000|{B}"),
    );
    let later = (
        format!("90.00|C|7|{C}|Late|885e787eb8f08876"),
        "90.00|G|TeamChange|7|0",
    );
    let record = only_match(
        &FORMAT,
        &log(&[
            "OLStats v3.09 by OverloadUT",
            NG,
            &c,
            &ps,
            "2.00|G|NameChange|0|Ann",
            "2.00|G|TeamChange|0|0",
            "10.50|SG",
            "30.25|C|1|Selig",
            "30.25|G|NameChange|1|[BOT]Selig",
            "30.25|BI|1|4.00",
            "30.25|G|TeamChange|1|1",
            "30.25|K|1|X|0|Y",
            &later.0,
            later.1,
            "99.00|C|8|Kane",
            "99.00|BI|8|4.00",
            "99.00|G|TeamChange|8|0",
            "99.00|K|0|X|8|Y",
            "110.50|EG|timelimit|0|1",
        ]),
    );
    let keys: Vec<_> = record
        .participants
        .iter()
        .map(|p| (p.key.kind, &p.key.id[..], &p.name[..]))
        .collect();
    assert_eq!(
        keys,
        [
            (Kind::Human, B, "Ann"),
            (Kind::Bot, "Selig", "Selig"),
            (Kind::Human, C, "Late"),
            (Kind::Bot, "Kane", "Kane")
        ]
    );
    // A bot was there before its first deed, but not before those with lower numbers.
    assert_eq!(stays(&record, "Selig"), [(1, 0, 100_000)]);
    assert_eq!(stays(&record, "Kane"), [(0, 79_500, 100_000)]);
    // The log states every score, and there is none.
    assert_eq!(
        (&record.scores[..], record.outcome),
        (&[0.0, 0.0][..], Outcome::Draw)
    );
}

#[test]
fn teams_are_known_by_class_or_by_being_told_of() {
    let scores = |class: &str, lines: &[&str]| {
        let ng = format!("0|NG|2004-3-9 7:05:1|0|M|T|A|{class}|Name");
        let mut all = vec![&ng[..], "1|C|0|x", "1|SG"];
        all.extend(lines);
        all.push("9|EG|timelimit");
        only_match(&FORMAT, &log(&all)).scores
    };
    assert!(scores("XGame.xDeathMatch", &["2|T|0|1|x"]).is_empty());
    let joins = "2|G|TeamChange|0|1";
    assert_eq!(scores("XGame.xTeamGame", &[joins]), [0.0, 0.0]);
    assert!(scores("Mod.Unheard", &[]).is_empty());
    assert!(scores("Mod.Unheard", &["2|G|TeamChange|0|255"]).is_empty());
    assert_eq!(scores("Mod.Unheard", &[joins]), [0.0, 0.0]);
    assert_eq!(
        scores("Mod.Unheard", &[joins, "2|T|3|2.5|x"]),
        [0.0, 0.0, 0.0, 2.5]
    );
}

#[test]
fn what_makes_no_record() {
    assert_eq!(skips(&[NG, "1|SG", "2|S|0|1|x"]), [(1, "unfinished")]);
    assert_eq!(skips(&[NG, "2|S|0|1|x"]), [(1, "warm-up")]);
    assert_eq!(skips(&[NG, "2|EG|timelimit"]), [(1, "warm-up")]);
    for reason in ["mapchange", "ServerQuit", ""] {
        assert_eq!(
            skips(&[NG, "1|SG", &format!("2|EG|{reason}")]),
            [(1, "aborted")]
        );
    }
    assert_eq!(
        skips(&["5|K|0|X|1|Y", "6|EG|fraglimit|0"]),
        [(1, "started-before-log")]
    );
    assert_eq!(skips(&["6|EG|fraglimit|0"]), [(1, "started-before-log")]);
    assert_eq!(
        skips(&[NG, "1|SG", NG, "1|SG"]),
        [(1, "unfinished"), (3, "unfinished")]
    );
}

#[test]
fn two_games_of_one_log_and_no_date() {
    let ng = NG.replace("2004-3-9", "soon").replace("0|NG", "3|NG");
    let game = [
        &ng[..],
        "4|C|0|x",
        "4|G|TeamChange|0|1",
        "5|SG",
        "9|EG|timelimit",
    ];
    let items = read(&FORMAT, &log(&[game, game].concat()));
    let starts = items.iter().map(|item| match item {
        LogItem::Match(game) => (game.start.0, game.clock, game.millis()),
        other => panic!("{other:?}"),
    });
    // The clock was set back to 3: the server was started anew three seconds before.
    assert_eq!(
        starts.collect::<Vec<_>>(),
        [(2_000, Some(5_000), 4_000), (11_000, Some(5_000), 4_000)]
    );
}

#[test]
fn malformed_lines_are_named() {
    let lines = [
        NG,
        "garbage",
        "1|K|x",
        "1|T|0|nan|x",
        "1|S|0",
        "2|SG",
        "2|New|verb",
        "",
        "2|C|0|x",
        "2|G|TeamChange|0|1",
        "3|EG|timelimit|0",
    ];
    let items = read(&FORMAT, &log(&lines));
    let lines: Vec<_> = items
        .iter()
        .map(|item| match item {
            LogItem::Malformed { line, .. } => *line,
            LogItem::Match(_) => 0,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(lines, [2, 3, 4, 5, 0]);
}

#[test]
fn an_end_without_its_newline_counts_where_it_cannot_be_another() {
    let ends = |end: &str| {
        let lines = log(&[NG, "1|C|0|x", "1|G|TeamChange|0|1", "1|SG"]) + &end.replace('|', "\t");
        read(&FORMAT, &lines)
            .iter()
            .any(|item| matches!(item, LogItem::Match(_)))
    };
    assert!(ends("9|EG|fraglimit") && ends("9|EG|newreason|0"));
    assert!(!ends("9|EG|map") && !ends("9|EG|mapchange") && !ends("9|EG|") && !ends("9|EG"));
}

#[test]
fn times() {
    assert_eq!(seconds(b"63.65\tEG"), Some((63_650, &b"EG"[..])));
    assert_eq!(seconds(b"63\tEG"), Some((63_000, &b"EG"[..])));
    assert_eq!(seconds(b"1.2345\t"), Some((1_234, &b""[..])));
    for wrong in [
        "",
        "63",
        "63 EG",
        "-1\tEG",
        "x\tEG",
        "1.x\tEG",
        "9999999999\tEG",
    ] {
        assert_eq!(seconds(wrong.as_bytes()), None);
    }
}

#[test]
fn detection() {
    let named = |text: &str| detect(text.as_bytes()).map(|format| format.name);
    assert_eq!(named(&log(&[NG])), Some("ut2004"));
    assert_eq!(named(&log(&["61.20|K|0|X|1|Y"])), Some("ut2004"));
    assert_eq!(
        named("0.00\tinfo\tLog_Standard\tngLog\n0.00\tmap\tName\tx\n"),
        Some("ut99")
    );
    assert_eq!(named("a\tb\tc\n1\t2\t3\n"), None);
}

#[test]
fn teams_that_change_sides_in_assault_keep_their_points() {
    let (a, b) = (format!("2|C|0|{A}||"), format!("3|C|1|{B}||"));
    let lines = [
        "0|NG|2004-3-9 7:05:1|0|AS-Convoy|x|y|UT2k4Assault.ASGameInfo|Assault",
        &a,
        "2|G|TeamChange|0|1",
        &b,
        "3|G|TeamChange|1|0",
        "10|SG",
        "20|S|0|10.00|Objective",
        "20|T|1|1|round",
        "30|G|TeamChange|0|0",
        "31|G|TeamChange|1|1",
        "50|T|0|1|round",
        "60|EG|teamscorelimit|0|1",
    ];
    let record = only_match(&FORMAT, &log(&lines));
    // Ann wins a round on blue, and then one on red, where she is at the end.
    assert_eq!(
        (&record.scores[..], record.outcome),
        (&[2.0, 0.0][..], Outcome::Won(0))
    );
    assert_eq!(stays(&record, A), [(0, 0, 50_000)]);
    // No two lines have the same time, so Bob joins a millisecond after Ann.
    assert_eq!(stays(&record, B), [(1, 1, 50_000)]);
    assert_eq!(record.participants[0].points, Some(10.0));
    // In another game, they would just have changed teams.
    let ctf = lines.map(|line| line.replace("UT2k4Assault.ASGameInfo", "XGame.xCTFGame"));
    let ctf: Vec<&str> = ctf.iter().map(String::as_str).collect();
    assert_eq!(only_match(&FORMAT, &log(&ctf)).scores, [1.0, 1.0]);
}
