//! Small logs, written for one question each.

mod clock;
mod half_time;

use super::FORMAT;
use crate::{LogItem, Skip, detect, only_match, read};
use evenkeel_model::{Kind, MatchRecord, Outcome, Participant, fingerprint::Fingerprint};

/// A log of these lines, each at its time. Where a game ends, the log goes on.
fn log(lines: &[(&str, &str)]) -> String {
    let ends = lines.iter().any(|(_, line)| line.starts_with("Exit"));
    let last = lines.last().map_or("", |(at, _)| at);
    let after = ends.then_some((last, "ShutdownGame:"));
    let lines = lines.iter().copied().chain(after);
    lines
        .map(|(at, line)| format!("{at:>6} {line}\n"))
        .collect()
}

const CTF: &str =
    r"InitGame: \mapname\m\gamename\baseoa\g_gametype\4\g_timestamp\2026-11-20 14:54:02";
const TDM: &str = r"InitGame: \mapname\m\gamename\q3ut4\g_gametype\3";
const ROUND: &str = r"InitRound: \mapname\m\gamename\q3ut4\g_gametype\3";
const FFA: &str = r"InitGame: \mapname\m\g_gametype\0";

fn join<'a>(at: &'a str, changed: &'a str, begin: &'a str) -> [(&'a str, &'a str); 2] {
    [(at, changed), (at, begin)]
}

/// Two humans of red and blue who play from the start.
fn two() -> Vec<(&'static str, &'static str)> {
    let a = join(
        "0:00",
        r"ClientUserinfoChanged: 0 n\A\t\1\id\AAAA",
        "ClientBegin: 0",
    );
    let b = join(
        "0:00",
        r"ClientUserinfoChanged: 1 n\^2B\t\2\id\0",
        "ClientBegin: 1",
    );
    [a, b].concat()
}

fn game(init: &'static str, lines: &[(&'static str, &'static str)]) -> MatchRecord {
    let mut all = vec![("0:00", init)];
    all.extend(two());
    all.extend(lines);
    only_match(&FORMAT, &log(&all))
}

fn stays(participant: &Participant) -> Vec<(u8, u64, u64)> {
    let stays = participant.presence.iter();
    stays
        .map(|stay| (stay.team, stay.span.from, stay.span.to))
        .collect()
}

fn skips(log: &str) -> Vec<(u64, &'static str)> {
    let items = read(&FORMAT, log);
    let skips = items.iter().filter_map(|item| match item {
        LogItem::Skipped { line, reason, .. } => Some((*line, reason.code())),
        _ => None,
    });
    skips.collect()
}

#[test]
fn a_game_of_capture_the_flag() {
    let record = game(
        CTF,
        &[
            ("1:00", "Kill: 0 1 10: A killed B by MOD_RAILGUN"),
            ("1:00", "CTF: 0 2 0: A got the BLUE flag!"),
            ("1:01", "CTF: 0 2 1: A captured the BLUE flag!"),
            ("1:02", "Kill: 1022 0 19: <world> killed A by MOD_FALLING"),
            ("2:00", "CTF: 1 1 1: B captured the RED flag!"),
            ("2:00", "CTF: 0 2 1: A captured the BLUE flag!"),
            ("2:00", "Exit: Capturelimit hit."),
            ("2:00", "red:2  blue:1"),
            ("2:00", "score: 17  ping: 40  client: 0 A"),
            ("2:00", "score: 5  ping: 40  client: 1 B"),
            ("2:09", "Kill: 1022 0 20: <world> killed A by MOD_SUICIDE"),
            ("2:10", "ShutdownGame:"),
        ],
    );
    assert_eq!((record.server.as_str(), record.map.as_str()), ("here", "m"));
    assert_eq!(record.game_type, "baseoa.ctf");
    assert_eq!(record.start.to_string(), "2026-11-20T14:54:02Z");
    assert_eq!((record.millis(), record.clock), (120_002, None));
    assert_eq!(
        (&record.scores[..], record.outcome),
        (&[2.0, 1.0][..], Outcome::Won(0))
    );
    let events: Vec<_> = record
        .events
        .iter()
        .map(|e| (e.at, e.team, e.points, e.by))
        .collect();
    assert_eq!(
        events,
        [
            (61_000, 0, 1.0, Some(0)),
            (120_000, 1, 1.0, Some(1)),
            (120_001, 0, 1.0, Some(0))
        ]
    );
    let [a, b] = &record.participants[..] else {
        panic!()
    };
    assert_eq!((a.key.id.as_str(), a.name.as_str()), ("AAAA", "A"));
    assert_eq!(
        (a.key.kind, a.kills, a.deaths, a.points),
        (Kind::Human, 1, 1, Some(17.0))
    );
    assert_eq!(
        (b.key.id.as_str(), b.kills, b.deaths, b.points),
        ("B", 0, 1, Some(5.0))
    );
    assert_eq!(stays(a), [(0, 0, 120_002)]);
    // The last capture counts for whoever was there.
    assert!(
        record
            .participants
            .iter()
            .all(|p| p.presence[0].span.contains(120_001))
    );
}

#[test]
fn comings_goings_and_changes() {
    let record = game(
        CTF,
        &[
            ("0:30", "Kill: 0 0 20: A killed A by MOD_SUICIDE"),
            ("0:30", r"ClientUserinfoChanged: 0 n\A\t\2\id\AAAA"),
            ("0:30", r"ClientUserinfoChanged: 0 n\A\t\2\id\AAAA"),
            ("0:30", "ClientBegin: 0"),
            ("0:40", r"ClientUserinfoChanged: 0 n\A\t\3\id\AAAA"),
            ("0:50", "ClientDisconnect: 0"),
            // Connecting is not playing yet; the same person on another number is the same person.
            ("0:55", r"ClientUserinfoChanged: 5 n\Anna\t\1\id\AAAA"),
            ("0:55", "ClientConnect: 5"),
            ("1:00", "ClientBegin: 5"),
            ("1:30", "CTF: 5 2 1: Anna captured the BLUE flag!"),
            // Another player takes over a number without a line for the first one leaving.
            ("1:40", r"ClientUserinfoChanged: 5 n\C\t\1\id\CCCC"),
            ("1:40", "ClientConnect: 5"),
            ("1:50", "ClientBegin: 5"),
            ("2:00", "Exit: Timelimit hit."),
            ("2:00", "score: 1  ping: 0  client: 5 C"),
        ],
    );
    let by_name = |name: &str| record.participants.iter().find(|p| p.name == name).unwrap();
    assert_eq!(
        stays(by_name("Anna")),
        [(0, 0, 30_000), (1, 30_000, 40_000), (0, 60_000, 100_000)]
    );
    assert_eq!(by_name("Anna").points, None);
    assert_eq!(stays(by_name("C")).last(), Some(&(0, 110_000, 120_000)));
    assert_eq!(by_name("C").points, Some(1.0));
    assert_eq!(
        (record.participants.len(), record.events[0].by),
        (3, Some(0))
    );
    // There is no line with the result, so the captures give the score.
    assert_eq!(record.scores, [1.0, 0.0]);
}

#[test]
fn a_new_name_is_the_same_person_where_the_name_is_all_there_is() {
    let record = game(
        CTF,
        &[
            ("0:10", "Kill: 1 0 10: B killed A by MOD_RAILGUN"),
            ("0:20", r"ClientUserinfoChanged: 1 n\Bea\t\2\id\0"),
            ("0:30", "CTF: 1 1 1: Bea captured the RED flag!"),
            ("1:00", "Exit: Timelimit hit."),
        ],
    );
    let b = &record.participants[1];
    assert_eq!((b.key.id.as_str(), b.kills), ("Bea", 1));
    assert_eq!(stays(b), [(1, 1, 60_000)]);
}

#[test]
fn team_deathmatch_by_its_own_rule_and_by_what_the_log_tells() {
    let kills = [
        ("0:10", "Kill: 0 1 20: A killed B by UT_MOD_G36"),
        ("0:20", "Kill: 1 1 20: B killed B by UT_MOD_HEGRENADE"),
        ("0:30", "Kill: 1022 0 19: <world> killed A by MOD_FALLING"),
        ("0:40", "Kill: 1 1 10: B killed B by MOD_CHANGE_TEAM"),
        ("0:40", r"ClientUserinfoChanged: 1 n\B\t\1"),
        ("0:50", "Kill: 1 0 20: B killed A by UT_MOD_G36"),
    ];
    let exit = [
        ("1:00", "Exit: Timelimit hit."),
        ("1:00", "red:-1  blue:-1"),
    ];
    let record = game(TDM, &[&kills[..], &exit].concat());
    let points: Vec<_> = record
        .events
        .iter()
        .map(|e| (e.team, e.points, e.by))
        .collect();
    assert_eq!(
        points,
        [
            (0, 1.0, Some(0)),
            (1, -1.0, Some(1)),
            (0, -1.0, Some(0)),
            (0, -1.0, Some(1))
        ]
    );
    let [a, b] = &record.participants[..] else {
        panic!()
    };
    assert_eq!((a.kills, a.deaths, b.kills, b.deaths), (1, 2, 0, 3));
    assert_eq!(
        (&record.scores[..], record.outcome),
        (&[-1.0, -1.0][..], Outcome::Draw)
    );

    let events = [
        ("0:10", "Kill: 0 1 20: A killed B by MOD_X"),
        ("0:10", "TeamScore: 1 1: Team 1 now has 1 points"),
        ("0:11", "TeamScore: 1 1: Team 1 now has 1 points"),
        ("0:20", "Kill: 1 1 20: B killed B by MOD_X"),
        ("0:20", "TeamScore: 2 -1: Team 2 now has -1 points"),
        ("0:30", "TeamScore: 2 4: Team 2 now has 4 points"),
        ("1:00", "Exit: Timelimit hit."),
    ];
    let record = game(TDM, &events);
    let points: Vec<_> = record
        .events
        .iter()
        .map(|e| (e.team, e.points, e.by))
        .collect();
    assert_eq!(
        points,
        [(0, 1.0, Some(0)), (1, -1.0, Some(1)), (1, 5.0, Some(1))]
    );
    assert_eq!(record.scores, [1.0, 4.0]);
}

#[test]
fn everyone_for_themselves() {
    let record = only_match(
        &FORMAT,
        &log(&[
            ("5:00", FFA),
            ("5:00", r"ClientUserinfoChanged: 0 n\A\t\0"),
            ("5:00", "ClientBegin: 0"),
            (
                "5:00",
                r"ClientUserinfoChanged: 1 n\Bot\t\0\skill\ 4.00\id\",
            ),
            ("5:00", "ClientBegin: 1"),
            ("5:00", r"ClientUserinfoChanged: 2 n\Watcher\t\3"),
            ("5:00", "ClientBegin: 2"),
            ("5:10", "Kill: 0 1 10: A killed Bot by MOD_RAILGUN"),
            ("6:00", "Exit: Fraglimit hit."),
            ("6:00", "score: -3  ping: 0  client: 1 Bot"),
        ]),
    );
    assert_eq!(
        (record.scores.len(), record.outcome),
        (0, Outcome::Undecided)
    );
    assert_eq!((record.start.0, record.clock), (0, Some(300_000)));
    assert_eq!(record.game_type, "baseq3.ffa");
    let [a, bot] = &record.participants[..] else {
        panic!()
    };
    assert_eq!(
        (a.kills, a.points, &stays(a)[..]),
        (1, None, &[(0, 0, 60_000)][..])
    );
    assert_eq!(
        (bot.key.kind, bot.deaths, bot.points),
        (Kind::Bot, 1, Some(-3.0))
    );
}

#[test]
fn rounds_begin_play_anew_and_clients_stay() {
    let mut lines = vec![("0:00", TDM), ("0:00", "Warmup:")];
    lines.extend(two());
    lines.extend([
        ("0:05", "Kill: 0 1 20: A killed B by X"),
        ("0:30", ROUND),
        ("0:40", "Kill: 1 0 20: B killed A by X"),
        ("1:30", "Exit: Timelimit hit."),
        ("1:30", "red:0  blue:1"),
        ("1:45", ROUND),
        ("1:50", "Kill: 0 1 20: A killed B by X"),
        ("1:55", ROUND),
        ("2:00", "Kill: 0 1 20: A killed B by X"),
        ("2:55", "Exit: Timelimit hit."),
        ("2:55", "red:1  blue:0"),
        ("3:00", "ShutdownGame:"),
        ("0:00", TDM),
        ("0:01", "Warmup:"),
        ("0:02", "ShutdownGame:"),
    ]);
    let items = read(&FORMAT, &log(&lines));
    let [
        LogItem::Match(one),
        LogItem::Match(two),
        LogItem::Skipped { reason, .. },
    ] = &items[..]
    else {
        panic!("{items:?}")
    };
    assert_eq!(
        (one.start.0, one.clock, one.millis()),
        (30_000, Some(30_000), 60_000)
    );
    assert_eq!(
        (two.start.0, two.clock, two.millis()),
        (115_000, Some(115_000), 60_000)
    );
    for game in [one, two] {
        assert_eq!((game.participants.len(), game.events.len()), (2, 1));
        assert!(game.participants.iter().all(|p| p.presence.len() == 1));
    }
    assert_eq!(*reason, Skip::WarmUp);
}

#[test]
fn a_game_that_is_not_known_is_not_guessed() {
    for (init, name) in [
        (
            r"InitGame: \g_gametype\4\mapname\oasis\gamename\etmain\version\ET 2.60b linux-i386",
            "Enemy Territory",
        ),
        (
            r"InitGame: \g_gametype\5\mapname\mp_beach\gamename\main\version\Wolf 1.41 linux-i386",
            "Return to Castle Wolfenstein",
        ),
        (
            r"InitGame: \g_gametype\0\mapname\atcs\gamename\base\version\tremulous 1.1.0",
            "Tremulous",
        ),
        (r"InitGame: \g_gametype\war\gamename\PT6MP", "Call of Duty"),
        (
            r"InitGame: \g_gametype\4\gamename\mymod",
            "the game \"mymod\"",
        ),
    ] {
        let mut lines = vec![("0:00", init)];
        lines.extend(two());
        lines.extend([
            ("5:00", "Kill: 0 1 8: A killed B by MOD_MP40"),
            ("9:00", "Exit: Timelimit hit."),
            ("9:00", "red:412  blue:305"),
            ("9:00", "score: 88  ping: 48  client: 0 A"),
            ("9:00", "score: 70  ping: 48  client: 1 B"),
        ]);
        let items = read(&FORMAT, &log(&lines));
        let reason = Skip::Unsupported(name.to_owned());
        let expected = [LogItem::Skipped {
            line: 1,
            last: 10,
            reason,
        }];
        assert_eq!(items, expected, "{init}");
    }
}

#[test]
fn a_clock_of_seconds_with_tenths() {
    let mut lines = vec![
        (
            "0.0",
            r"InitGame: \g_gametype\4\mapname\q3wcp9\gamename\osp",
        ),
        ("0.0", "ServerTime:\t20200319205438\t20:54:38 (19 Mar 2020)"),
    ];
    lines.extend(two().iter().map(|(_, line)| ("0.1", *line)));
    lines.extend([
        ("65.4", "Kill: 0 1 10: A killed B by MOD_RAILGUN"),
        ("1200.3", "Exit: Timelimit hit."),
        ("1200.3", "red:3  blue:1"),
    ]);
    let text = log(&lines);
    assert_eq!(
        detect(text.as_bytes()).map(|format| format.name),
        Some("idtech3")
    );
    let record = only_match(&FORMAT, &text);
    assert_eq!(record.start.to_string(), "2020-03-19T20:54:38Z");
    assert_eq!((record.millis(), record.clock), (1_200_300, None));
    assert_eq!(record.scores, [3.0, 1.0]);
}

/// The participants of a team game, in which clients join with these lines, as identity, team and kills. The
/// first kills the second, the third the fourth.
fn seats_of(joined: &[&str], later: &[(&'static str, &'static str)]) -> Vec<(String, u8, u32)> {
    let changed: Vec<String> = joined
        .iter()
        .enumerate()
        .map(|(number, info)| format!("ClientUserinfoChanged: {number} {info}"))
        .collect();
    let begun: Vec<String> = (0..joined.len())
        .map(|number| format!("ClientBegin: {number}"))
        .collect();
    let mut lines = vec![("0:00", CTF)];
    for (changed, begun) in changed.iter().zip(&begun) {
        lines.extend(join("0:00", changed, begun));
    }
    lines.extend([
        ("1:00", "Kill: 0 1 10: a killed b by MOD_RAILGUN"),
        ("1:10", "Kill: 2 3 10: c killed d by MOD_RAILGUN"),
    ]);
    lines.extend(later);
    lines.extend([("9:00", "Exit: Timelimit hit."), ("9:00", "red:3  blue:1")]);
    let record = only_match(&FORMAT, &log(&lines));
    let seat = |p: &Participant| (p.key.id.clone(), p.main_team().unwrap(), p.kills);
    record.participants.iter().map(seat).collect()
}

#[test]
fn two_of_one_name_are_two_players_and_the_name_is_nobodys() {
    let seats = |seats: &[(&str, u8, u32)]| -> Vec<(String, u8, u32)> {
        seats
            .iter()
            .map(|&(id, team, kills)| (id.to_owned(), team, kills))
            .collect()
    };
    let others = [r"n\C\t\1\id\CCCC", r"n\D\t\2\id\DDDD"];
    let own = [("CCCC", 0, 1), ("DDDD", 1, 0)];
    let twice = [
        ("name in use twice: Bob #1", 0, 1),
        ("name in use twice: Bob #2", 1, 0),
    ];
    // Two humans, and two bots.
    for kind in ["", r"\skill\ 3.00"] {
        let two = [format!(r"n\Bob\t\1{kind}"), format!(r"n\^1Bob\t\2{kind}")];
        let joined = [&two[0][..], &two[1], others[0], others[1]];
        assert_eq!(
            seats_of(&joined, &[]),
            seats(&[twice, own].concat()),
            "{kind}"
        );
    }
    // One takes the name of the other, who is there.
    let joined = [r"n\Bob\t\1", r"n\Eve\t\2", others[0], others[1]];
    let rename = [("2:00", r"ClientUserinfoChanged: 1 n\Bob\t\2")];
    assert_eq!(seats_of(&joined, &rename), seats(&[twice, own].concat()));
    // One comes after the other has left: this may be one person.
    let joined = [r"n\Bob\t\1", r"n\Eve\t\2"];
    let again = [
        ("2:00", "ClientDisconnect: 0"),
        ("3:00", r"ClientUserinfoChanged: 5 n\Bob\t\1"),
        ("3:00", "ClientBegin: 5"),
    ];
    assert_eq!(
        seats_of(&joined, &again),
        seats(&[("Bob", 0, 1), ("Eve", 1, 0)])
    );
    // A human and a bot, and two with ids, are told apart anyway.
    let joined = [
        r"n\Bob\t\1\id\AAAA",
        r"n\Bob\t\2\skill\ 3.00",
        r"n\Bob\t\1\id\CCCC",
        r"n\D\t\2",
    ];
    let apart = [("AAAA", 0, 1), ("Bob", 1, 0), ("CCCC", 0, 1), ("D", 1, 0)];
    assert_eq!(seats_of(&joined, &[]), seats(&apart));
}

#[test]
fn a_default_name_is_nobodys() {
    let joined = [
        r"n\UnnamedPlayer\t\1",
        r"n\B\t\2",
        r"n\^7\t\1\id\AAAA",
        r"n\Player (2)\t\2\skill\ 1.00",
    ];
    let ids: Vec<String> = seats_of(&joined, &[])
        .into_iter()
        .map(|(id, ..)| id)
        .collect();
    assert_eq!(
        ids,
        [
            "name of nobody: UnnamedPlayer #1",
            "B",
            "AAAA",
            "Player (2)"
        ]
    );
}

#[test]
fn players_who_are_told_apart_change_no_fingerprint() {
    let mut lines = vec![("0:00", r"InitGame: \mapname\m\gamename\baseq3\g_gametype\4")];
    for (changed, begun) in [
        (r"ClientUserinfoChanged: 0 n\Bob\t\1", "ClientBegin: 0"),
        (r"ClientUserinfoChanged: 1 n\Bob\t\1", "ClientBegin: 1"),
        (r"ClientUserinfoChanged: 2 n\C\t\2", "ClientBegin: 2"),
    ] {
        lines.extend(join("0:00", changed, begun));
    }
    lines.extend([
        ("1:00", "Kill: 0 2 10: Bob killed C by MOD_RAILGUN"),
        ("2:00", "Kill: 2 1 10: C killed Bob by MOD_RAILGUN"),
        ("9:00", "Exit: Timelimit hit."),
        ("9:00", "red:3  blue:1"),
    ]);
    let record = only_match(&FORMAT, &log(&lines));
    assert_eq!(record.participants.len(), 3);
    let mut as_one = record.clone();
    let second = as_one.participants.remove(1);
    let first = &mut as_one.participants[0];
    first.key.id = "Bob".to_owned();
    first.deaths += second.deaths;
    assert_eq!(Fingerprint::of(&record), Fingerprint::of(&as_one));
}

#[test]
fn dates_count_from_their_line() {
    let record = only_match(
        &FORMAT,
        &log(&[
            (
                "1:00",
                r"InitGame: \gamename\cpma\g_gametype\0\g_timestamp\2026-1-2 3:4:5",
            ),
            ("1:01", r"ClientUserinfoChanged: 0 n\A\t\0"),
            ("1:01", "ClientBegin: 0"),
            ("1:10", r"InitRound: \gamename\cpma\g_gametype\0"),
            ("2:00", "Exit: Timelimit hit."),
        ]),
    );
    assert_eq!(record.start.to_string(), "2026-01-02T03:04:15Z");
    assert_eq!((record.clock, record.millis()), (None, 50_000));
}

#[test]
fn what_makes_no_record() {
    let began = log(&[("0:00", CTF), ("0:01", "Kill: 0 1 2: a killed b by c")]);
    assert_eq!(skips(&began), [(1, "unfinished")]);
    let exit = log(&[("0:09", "Exit: Timelimit hit.")]);
    // There is no score and no result line: the log may be cut off here.
    assert_eq!(skips(&format!("{began}{exit}")), [(1, "no-result")]);
    assert_eq!(
        skips(&format!("{began}{began}")),
        [(1, "unfinished"), (3, "unfinished")]
    );
    let before = log(&[
        ("9:00", "Kill: 0 1 2: a killed b by c"),
        ("9:09", "Exit: x"),
    ]);
    assert_eq!(skips(&before), [(1, "started-before-log")]);
    assert_eq!(
        skips(&format!("{before}{began}")),
        [(1, "started-before-log"), (4, "unfinished")]
    );
    let days = log(&[("0:00", FFA), ("99999:00", "Exit: x")]);
    assert_eq!(skips(&days), [(1, "impossible")]);
    // The server went down and came up again, and its first lines are missing.
    let crash = format!(
        "{began}{}",
        log(&[("0:00", "Item: 1 x"), ("0:05", "Exit: x")])
    );
    assert_eq!(
        skips(&crash),
        [(1, "unfinished"), (4, "started-before-log")]
    );
    // After an end, noise is no game.
    let noise = log(&[
        ("0:00", FFA),
        ("0:09", "ShutdownGame:"),
        ("0:09", "ClientDisconnect: 1"),
    ]);
    assert_eq!(skips(&noise), [(1, "unfinished")]);
}

#[test]
fn the_end_of_a_log_is_believed_when_all_results_are_told() {
    let mut lines = vec![("0:00", TDM)];
    lines.extend(two());
    lines.extend([
        ("0:30", "Kill: 0 1 20: A killed B by X"),
        ("1:00", "Exit: Timelimit hit."),
        ("1:00", "red:9  blue:3"),
        ("1:00", "score: 9  ping: 1  client: 0 A"),
        ("1:00", "score: 3  ping: 1  client: 1 B"),
    ]);
    let whole = log(&lines).replace("  1:00 ShutdownGame:\n", "");
    let record = only_match(&FORMAT, &whole);
    assert_eq!(record.scores, [9.0, 3.0]);
    for missing in 1..4 {
        let ends: Vec<usize> = whole.match_indices('\n').map(|(at, _)| at + 1).collect();
        let cut = &whole[..ends[ends.len() - 1 - missing]];
        assert_eq!(skips(cut), [(1, "unfinished")], "{cut}");
        // The log goes on: nothing more will come.
        let after = format!("{cut}  1:10 ShutdownGame:\n");
        assert_eq!(read(&FORMAT, &after).len(), 1);
        assert!(matches!(read(&FORMAT, &after)[0], LogItem::Match(_)));
    }
}

#[test]
fn rounds_of_a_log_that_begins_in_the_middle() {
    let round = |strangers: bool| {
        let mut lines = vec![("0:50", "Exit: Timelimit hit."), ("1:00", ROUND)];
        lines.extend(two().into_iter().map(|(_, line)| ("1:01", line)));
        lines.push(("1:10", "Kill: 0 1 20: A killed B by X"));
        if strangers {
            lines.push(("1:11", "Kill: 0 7 20: A killed ClientIdentity by X"));
        }
        lines.extend([("2:00", "Exit: x"), ("2:00", "red:1  blue:0")]);
        read(&FORMAT, &log(&lines))
    };
    // If all players have had a line since, the round is complete.
    assert!(matches!(
        &round(false)[..],
        [LogItem::Skipped { .. }, LogItem::Match(_)]
    ));
    let early = Skip::StartedBeforeLog;
    let last = two().len() as u64 + 6;
    assert_eq!(
        round(true),
        [(1, 1), (2, last)].map(|(line, last)| LogItem::Skipped {
            line,
            last,
            reason: early.clone()
        })
    );
}

#[test]
fn a_malformed_line_is_named_and_the_game_goes_on() {
    let mut lines = log(&[("0:00", CTF)]);
    lines += "garbage\n  0:01 CTF: x\n";
    lines += &log(&two());
    lines += &log(&[
        ("0:02", "NewVerb: 1"),
        ("0:03", "----"),
        ("0:04", "Exit: x"),
        ("0:04", "red:1 blue:0"),
    ]);
    let items = read(&FORMAT, &lines);
    let [
        LogItem::Malformed { line: 2, .. },
        LogItem::Malformed { line: 3, .. },
        LogItem::Match(_),
    ] = items[..]
    else {
        panic!("{items:?}")
    };
}

#[test]
fn detection() {
    let named = |head: &[u8]| detect(head).map(|format| format.name);
    let middle = log(&[
        ("9:00", "Kill: 0 1 2: a killed b by c"),
        ("9:01", "Item: 1 x"),
    ]);
    assert_eq!(named(middle.as_bytes()), Some("idtech3"));
    assert_eq!(
        named(log(&[("0:00", CTF)]).trim_end().as_bytes()),
        Some("idtech3")
    );
    for other in [
        &b""[..],
        b"\n\n",
        b"------\n",
        b"hello\nworld\n",
        b"12:34 lunch\n12:35 Kill time\n",
        b"\x00\x01\x02",
        b"{\"Kill\": 1}\n",
    ] {
        assert_eq!(named(other), None, "{other:?}");
    }
}

/// Urban Terror's team survivor: rounds in which the dead wait, each worth a point.
#[test]
fn a_game_of_rounds_is_one_game() {
    const INIT: &str = r"InitGame: \mapname\m\gamename\q3ut4\g_gametype\4";
    const ROUND: &str = r"InitRound: \mapname\m\gamename\q3ut4\g_gametype\4";
    let rounds = [
        ("0:05", "Warmup:"),
        ("0:10", ROUND),
        ("0:20", "Kill: 0 1 20: A killed B by X"),
        ("0:20", "SurvivorWinner: Red"),
        ("0:30", ROUND),
        ("0:40", "Kill: 1 0 20: B killed A by X"),
        ("0:40", "SurvivorWinner: Blue"),
        ("0:50", ROUND),
        ("1:00", "SurvivorWinner: 0"),
        ("1:10", ROUND),
        ("1:20", "SurvivorWinner: Red"),
        ("1:20", "Exit: Timelimit hit."),
        ("1:20", "red:2  blue:1"),
        ("1:20", "score: 2  ping: 10  client: 0 A"),
        ("1:20", "score: 1  ping: 10  client: 1 B"),
    ];
    let game = game(INIT, &rounds);
    assert_eq!(
        (game.game_type.as_str(), game.millis()),
        ("q3ut4.ts", 70_001)
    );
    let events: Vec<_> = game
        .events
        .iter()
        .map(|e| (e.at, e.team, e.points))
        .collect();
    assert_eq!(
        events,
        [(10_000, 0, 1.0), (30_000, 1, 1.0), (70_000, 0, 1.0)]
    );
    assert_eq!(
        (game.scores, game.participants[0].kills),
        (vec![2.0, 1.0], 1)
    );
}
