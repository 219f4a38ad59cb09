use super::FORMAT;
use crate::{LogItem, Skip, detect, only_match, read};
use evenkeel_model::Outcome;

/// The output of a server, from events with the seconds at which they happen.
fn log(events: &[(u32, &str)]) -> String {
    let line = |(at, text): &(u32, &str)| {
        let source =
            match text.starts_with("maps/") || text.starts_with("cid=") || text.starts_with('\'') {
                true => "server",
                false if text.starts_with("Value") => "Console",
                false => "game",
            };
        let (hour, minute, second) = (20 + at / 3_600, at / 60 % 60, at % 60);
        format!("[2026-11-27 {hour:02}:{minute:02}:{second:02}][{source}]: {text}\n")
    };
    events.iter().map(line).collect()
}

const START: &str = "start match type='CTF' teamplay='1'";

/// A map with four players on two teams, and the start of a match at second 10.
fn opening() -> Vec<(u32, &'static str)> {
    vec![
        (0, "maps/ctf5.map sha256 is a35d"),
        (1, "team_join player='0:ann' team=0"),
        (1, "team_join player='1:bob' team=1"),
        (2, "team_join player='2:cy' team=0"),
        (2, "team_join player='3:dee' team=1"),
        (
            3,
            "kill killer='0:0:ann' victim='1:1:bob' weapon=1 special=0",
        ),
        (10, START),
    ]
}

/// A match with a capture at second 30, and no other event of its own.
fn won() -> Vec<(u32, &'static str)> {
    let mut events = opening();
    events.extend([
        (20, "flag_grab player='0:ann' team=0"),
        (
            25,
            "kill killer='2:0:cy' victim='1:1:bob' weapon=2 special=0",
        ),
        (30, "flag_capture player='0:ann' team=0 time=10.00"),
    ]);
    events
}

#[test]
fn a_match_ends_ten_seconds_before_the_next_one() {
    let mut events = won();
    events.push((40, START));
    let items = read(&FORMAT, &log(&events));
    let LogItem::Match(record) = &items[0] else {
        panic!("{items:?}")
    };
    assert_eq!(items.len(), 1, "the next one has only begun");
    assert_eq!(record.game_type, "teeworlds.ctf");
    assert_eq!(
        (record.map.as_str(), record.scores.as_slice()),
        ("ctf5", &[101.0, 0.0][..])
    );
    assert_eq!(record.outcome, Outcome::Won(0));
    assert_eq!(
        (record.start.to_string(), record.millis() / 1_000),
        ("2026-11-27T20:00:10Z".into(), 20)
    );
    let players: Vec<_> = record
        .participants
        .iter()
        .map(|p| (p.key.id.as_str(), p.kills, p.deaths))
        .collect();
    assert_eq!(
        players,
        [("ann", 0, 0), ("bob", 0, 1), ("cy", 1, 0), ("dee", 0, 0)]
    );
}

#[test]
fn a_match_that_goes_on_until_the_restart_is_broken_off() {
    let mut events = won();
    events.extend([(34, "pickup player='1:bob' item=0"), (40, START)]);
    let items = read(&FORMAT, &log(&events));
    assert!(
        matches!(
            items[..],
            [LogItem::Skipped {
                line: 7,
                reason: Skip::Aborted,
                ..
            }]
        ),
        "{items:?}"
    );
    // An operator restarts a quiet game.
    let mut events = won();
    events.extend([(45, "cid=0 cmd='restart'"), (45, START)]);
    let items = read(&FORMAT, &log(&events));
    assert!(
        matches!(
            items[..],
            [LogItem::Skipped {
                reason: Skip::Aborted,
                ..
            }]
        ),
        "{items:?}"
    );
}

#[test]
fn limits_that_were_asked_for_end_a_match() {
    let asked = [
        (11, "cid=0 cmd='sv_scorelimit'"),
        (11, "Value: 100"),
        (11, "cid=0 cmd='sv_timelimit'"),
        (11, "Value: 0"),
    ];
    let mut events = won();
    events.splice(7..7, asked);
    events.push((33, "team_join player='4:eve' team=-1"));
    let record = only_match(&FORMAT, &log(&events));
    assert_eq!(
        (record.scores.as_slice(), record.millis() / 1_000),
        (&[101.0, 0.0][..], 20)
    );
    // An operator sets the limit in the match.
    let mut events = won();
    events.splice(
        7..7,
        asked.map(|(at, text)| {
            (
                at,
                if text == "Value: 100" {
                    "Value: 0"
                } else {
                    text
                },
            )
        }),
    );
    events.insert(12, (15, "cid=0 cmd='sv_scorelimit 100'"));
    events.push((33, "team_join player='4:eve' team=-1"));
    let record = only_match(&FORMAT, &log(&events));
    assert_eq!(record.scores, [101.0, 0.0]);
    // The limit is higher: the quiet time is no end.
    let mut events = won();
    events.splice(
        7..7,
        asked.map(|(at, text)| {
            (
                at,
                if text == "Value: 100" {
                    "Value: 500"
                } else {
                    text
                },
            )
        }),
    );
    events.push((40, START));
    let items = read(&FORMAT, &log(&events));
    assert!(matches!(items[..], [LogItem::Skipped { .. }]), "{items:?}");
}

#[test]
fn after_a_vote_the_limits_are_not_those_that_were_asked_for() {
    let mut events = opening();
    events.extend([
        (11, "cid=0 cmd='sv_scorelimit'"),
        (11, "Value: 500"),
        (11, "cid=0 cmd='sv_timelimit'"),
        (11, "Value: 20"),
        (20, "flag_grab player='0:ann' team=0"),
        (30, "flag_capture player='0:ann' team=0 time=10.00"),
        (40, START),
    ]);
    assert!(only_skipped(&events), "broken off");
    let vote =
        "'0:ann' voted option 'short' reason='No reason given' cmd='sv_scorelimit 100' force=0";
    events.insert(12, (21, vote));
    let items = read(&FORMAT, &log(&events));
    assert!(matches!(items[0], LogItem::Match(_)), "{items:?}");
}

fn only_skipped(events: &[(u32, &str)]) -> bool {
    let items = read(&FORMAT, &log(events));
    !items.iter().any(|item| matches!(item, LogItem::Match(_)))
}

#[test]
fn the_next_map_ends_a_match_and_begins_none() {
    let mut events = won();
    events.extend([
        (40, "ctf2"),
        (40, "team_join player='0:ann' team=0->1"),
        (40, START),
        (41, "maps/ctf2.map sha256 is a35d"),
        (42, "team_join player='0:ann' team=0"),
    ]);
    let record = only_match(&FORMAT, &log(&events));
    assert_eq!(record.scores, [101.0, 0.0]);
    assert_eq!(record.participants[0].presence.len(), 1);
}

#[test]
fn two_players_of_one_name_are_rated_for_neither() {
    let mut events = won();
    events.insert(8, (21, "team_join player='4:ann' team=1"));
    events.push((40, START));
    let items = read(&FORMAT, &log(&events));
    let LogItem::Match(record) = &items[0] else {
        panic!("{items:?}")
    };
    let stays = |id: &str| {
        let player = record.participants.iter().find(|p| p.key.id == id).unwrap();
        player
            .presence
            .iter()
            .map(|stay| stay.span.to / 1_000)
            .collect::<Vec<_>>()
    };
    assert_eq!(stays("ann"), [11], "only until the other one came");
    assert_eq!(stays("name in use twice: ann (0)"), [20]);
    assert_eq!(stays("name in use twice: ann (4)"), [20]);
}

#[test]
fn a_duel_is_a_match_of_points() {
    let start = "start match type='DM' teamplay='0'";
    let events = [
        (0, "maps/dm1.map sha256 is a35d"),
        (1, "team_join player='0:ann' team=0"),
        (2, start),
        (2, "team_join player='1:bob' team=0"),
        (
            9,
            "kill killer='0:0:ann' victim='1:0:bob' weapon=1 special=0",
        ),
        (19, start),
    ];
    let items = read(&FORMAT, &log(&events));
    let LogItem::Match(record) = &items[0] else {
        panic!("{items:?}")
    };
    assert_eq!(record.game_type, "teeworlds.dm");
    let points: Vec<_> = record.participants.iter().map(|p| p.points).collect();
    assert_eq!(points, [Some(1.0), Some(0.0)]);
}

#[test]
fn a_log_is_recognised_also_beneath_time_stamps() {
    let mut events = won();
    events.push((40, START));
    let plain = log(&events);
    assert_eq!(detect(plain.as_bytes()).unwrap().name, "teeworlds");
    let stamped: String = plain
        .lines()
        .map(|line| format!("Nov 27 20:00:00 host teeworlds-server[12]: {line}\n"))
        .collect();
    assert_eq!(detect(stamped.as_bytes()).unwrap().name, "teeworlds");
    assert_eq!(read(&FORMAT, &stamped).len(), 1);
}

#[test]
fn play_before_the_log_began_is_no_match() {
    let events = [
        (
            1,
            "kill killer='0:0:ann' victim='1:1:bob' weapon=1 special=0",
        ),
        (2, "flag_grab player='0:ann' team=0"),
    ];
    let items = read(&FORMAT, &log(&events));
    assert!(
        matches!(
            items[..],
            [LogItem::Skipped {
                reason: Skip::StartedBeforeLog,
                ..
            }]
        ),
        "{items:?}"
    );
}

#[test]
fn lines_without_a_date_or_of_another_form_are_malformed() {
    let items = read(&FORMAT, "[20:00:00][game]: flag_return\nhello\n");
    assert!(
        items
            .iter()
            .all(|item| matches!(item, LogItem::Malformed { .. }))
    );
    assert_eq!(items.len(), 2);
}
