//! Outcomes, invariants and places of match records.

use super::*;
use crate::Kind;

#[test]
fn the_outcome_follows_from_the_scores() {
    assert_eq!(MatchRecord::outcome_of(&[1.0, 3.0]), Outcome::Won(1));
    assert_eq!(MatchRecord::outcome_of(&[2.0, 2.0]), Outcome::Draw);
    assert_eq!(MatchRecord::outcome_of(&[-1.0, 2.0, 2.0]), Outcome::Draw);
    assert_eq!(MatchRecord::outcome_of(&[]), Outcome::Undecided);
}

#[test]
fn check_names_what_is_wrong() {
    let good = MatchRecord {
        server: String::new(),
        start: Timestamp(0),
        end: Timestamp(1_000),
        clock: None,
        untimed: false,
        client: String::new(),
        unscored: false,
        too_many_new: None,
        logged_as: None,
        map: "m".into(),
        game_type: "ctf".into(),
        mode: String::new(),
        mutators: vec![],
        scores: vec![1.0, 0.0],
        participants: vec![Participant {
            key: PlayerKey {
                kind: Kind::Human,
                id: "a".into(),
            },
            name: "A".into(),
            presence: vec![Presence {
                team: 1,
                span: Span { from: 0, to: 1_000 },
            }],
            points: None,
            kills: 0,
            deaths: 0,
            roles: vec![],
            party: None,
            left: None,
        }],
        events: vec![ScoreEvent {
            at: 5,
            team: 0,
            points: 1.0,
            by: Some(0),
        }],
        outcome: Outcome::Won(0),
    };
    assert_eq!(good.check(), Ok(()));
    type Break = fn(&mut MatchRecord);
    let breaks: [(Break, &str); 8] = [
        (|m| m.end = Timestamp(-1), "it ends before it starts"),
        (|m| m.scores[0] = f64::NAN, "impossible score"),
        (|m| m.outcome = Outcome::Won(2), "the winner does not exist"),
        (
            |m| m.participants.push(m.participants[0].clone()),
            "a participant is listed twice",
        ),
        (
            |m| m.participants[0].presence[0].team = 2,
            "a presence is on no team",
        ),
        (
            |m| m.participants[0].presence[0].span.to = 1_001,
            "a presence is outside the game",
        ),
        (
            |m| {
                m.participants[0].roles = vec![Role {
                    name: "commander".into(),
                    team: 0,
                    share: 1.1,
                }];
            },
            "an impossible role",
        ),
        (
            |m| m.events[0].by = Some(1),
            "a score event's author does not exist",
        ),
    ];
    for (spoil, why) in breaks {
        let mut bad = good.clone();
        spoil(&mut bad);
        assert_eq!(bad.check(), Err(RecordError(why)));
    }
}

#[test]
fn the_main_team_is_that_of_most_time() {
    let player = |stays: &[(u8, u64, u64)]| Participant {
        key: PlayerKey {
            kind: Kind::Human,
            id: "a".into(),
        },
        name: "A".into(),
        presence: stays
            .iter()
            .map(|&(team, from, to)| Presence {
                team,
                span: Span { from, to },
            })
            .collect(),
        points: None,
        kills: 0,
        deaths: 0,
        roles: vec![],
        party: None,
        left: None,
    };
    let of = |stays| {
        let player = player(stays);
        (player.main_team(), player.millis())
    };
    assert_eq!(of(&[]), (None, 0));
    assert_eq!(of(&[(1, 5, 5)]), (Some(1), 0));
    assert_eq!(of(&[(1, 0, 5), (0, 5, 9)]), (Some(1), 9));
    assert_eq!(of(&[(0, 0, 3), (1, 3, 7), (0, 7, 9)]), (Some(0), 9));
    assert_eq!(of(&[(2, 0, 4), (1, 4, 8)]), (Some(1), 8), "the lower one");
}

#[test]
fn reasons_are_read_from_their_words() {
    for reason in LeaveReason::ALL {
        assert_eq!(LeaveReason::parse(reason.as_str()), Some(reason));
        assert_eq!(LeaveReason::read(reason.as_str()), Some(reason));
    }
    assert_eq!(LeaveReason::read("Quit"), Some(LeaveReason::Left));
    assert_eq!(LeaveReason::read("TIMEOUT"), Some(LeaveReason::Timeout));
    assert_eq!(LeaveReason::read("bored"), Some(LeaveReason::Other));
    assert_eq!(LeaveReason::parse("bored"), None);
    let long = "a".repeat(33);
    for none in ["", "no words", "\u{e9}", long.as_str()] {
        assert_eq!(LeaveReason::read(none), None);
    }
}

#[test]
fn a_client_is_one_place_and_of_logs_each_server_is() {
    let place = |client: &str, server: &str| {
        let record = MatchRecord {
            client: client.to_owned(),
            server: server.to_owned(),
            ..MatchRecord::default()
        };
        record.place()
    };
    assert_eq!(place("league", "a"), place("league", "b"));
    assert_ne!(place("league", "a"), place("club", "a"));
    assert_eq!(place("", "a"), None);
    for reader in [INGEST, FOLLOW] {
        assert_eq!(place(reader, "a"), place(INGEST, "a"));
        assert_ne!(place(reader, "a"), place(reader, "b"));
        assert_ne!(place(reader, "league"), place("league", "a"));
        assert_eq!(place(reader, ""), None);
    }
    let untimed = MatchRecord {
        client: "league".to_owned(),
        untimed: true,
        ..MatchRecord::default()
    };
    assert_eq!(untimed.place(), None);
    let row = MatchRecord {
        client: HISTORY.to_owned(),
        server: "a".to_owned(),
        end: Timestamp(UNTIMED_MILLIS as i64),
        ..MatchRecord::default()
    };
    assert_eq!(row.place(), None);
    assert_eq!(
        place(HISTORY, "a"),
        place(INGEST, "a"),
        "who takes that name is no history"
    );
    let undated = |client: &str| MatchRecord {
        client: client.to_owned(),
        server: "a".to_owned(),
        clock: Some(7),
        ..MatchRecord::default()
    };
    assert_eq!(undated(INGEST).place(), None);
    assert_eq!(undated("league").place(), place("league", "a"));
}
