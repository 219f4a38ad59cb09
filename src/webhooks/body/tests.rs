//! Tests of the JSON of events.

use serde_json::{Value, json};

use super::*;
use crate::{
    model::{PlayerKey, Presence, Span, TeamChances},
    store::HookKind,
};

fn event(kind: HookKind) -> HookEvent {
    HookEvent {
        number: 7,
        id: "evt_1".to_owned(),
        kind: Some(kind),
        match_id: 42,
        at: Timestamp(1_700_000_000_123),
        address: Some("play.example:27960".to_owned()),
    }
}

fn participant(name: &str, stays: &[(u8, u64, u64)]) -> Participant {
    let stay = |&(team, from, to): &(u8, u64, u64)| Presence {
        team,
        span: Span { from, to },
    };
    Participant {
        key: PlayerKey {
            kind: Kind::Human,
            id: name.into(),
        },
        name: name.into(),
        presence: stays.iter().map(stay).collect(),
        points: Some(3.0),
        kills: 2,
        deaths: 1,
        roles: vec![],
        party: None,
        left: None,
    }
}

fn record(scores: &[f64], participants: Vec<Participant>) -> MatchRecord {
    MatchRecord {
        server: "s".into(),
        start: Timestamp(1_700_000_000_000),
        end: Timestamp(1_700_000_600_000),
        clock: None,
        untimed: false,
        client: String::new(),
        unscored: false,
        logged_as: None,
        map: "m".into(),
        game_type: "ctf".into(),
        mode: String::new(),
        mutators: vec!["low".into()],
        scores: scores.to_vec(),
        participants,
        events: vec![],
        outcome: MatchRecord::outcome_of(scores),
    }
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn recorded(record: MatchRecord) -> HookReport {
    HookReport::Recorded(Box::new(RecordedReport {
        queue: Some("duel".to_owned()),
        chances: ChanceSummary {
            started: Some(TeamChances {
                win: vec![0.25, 0.75],
                humans: vec![1, 2],
                bots: vec![0, 0],
            }),
            ..ChanceSummary::default()
        },
        record,
    }))
}

#[test]
fn scores_that_are_not_known_are_null() {
    let people = || {
        vec![
            participant("ann", &[(0, 0, 600_000)]),
            participant("bob", &[(1, 0, 600_000)]),
        ]
    };
    for (outcome, closeness) in [
        (Outcome::Won(1), Value::Null),
        (Outcome::Draw, 1.0.into()),
        (Outcome::Undecided, Value::Null),
    ] {
        let record = MatchRecord {
            unscored: true,
            outcome,
            ..record(&[0.0, 0.0], people())
        };
        let whole = read(&body(&event(HookKind::Recorded), &recorded(record)));
        let data = &whole["data"];
        assert_eq!(data["closeness"], closeness, "{outcome:?}");
        for team in 0..2 {
            assert_eq!(data["teams"][team]["score"], Value::Null, "{outcome:?}");
        }
    }
}

#[test]
fn a_recorded_match_has_its_teams_scores_chances_and_closeness() {
    let people = vec![
        participant("ann", &[(0, 0, 400_000), (1, 400_000, 600_000)]),
        participant("bob", &[(1, 0, 600_000)]),
        participant("eve", &[]),
    ];
    let report = recorded(record(&[2.0, 4.0], people));
    let whole = read(&body(&event(HookKind::Recorded), &report));
    assert_eq!(whole["type"], "match.recorded");
    assert_eq!(whole["version"], 1);
    assert_eq!(whole["timestamp"], "2023-11-14T22:13:20.123Z");
    let data = &whole["data"];
    assert_eq!(data["match"], 42);
    assert_eq!(
        (&data["outcome"], &data["winner"]),
        (&"won".into(), &1.into())
    );
    assert_eq!(data["closeness"], 0.5);
    let started = json!({"win": [0.25, 0.75], "humans": [1, 2], "bots": [0, 0]});
    assert_eq!(data["chances"], json!({"picked": null, "started": started}));
    assert_eq!(data["teams"][0]["score"], 2.0);
    assert_eq!(data["teams"][0]["players"][0]["player"], "ann");
    assert_eq!(data["teams"][0]["players"][0]["seconds"], 600);
    assert_eq!(data["teams"][1]["players"].as_array().unwrap().len(), 1);
    assert!(
        data.get("address").is_none(),
        "only where a match is hosted"
    );
}

#[test]
fn a_hosted_match_has_the_address_and_the_teams() {
    let seat = |player: &str| FormedSeat {
        player: player.to_owned(),
        client: Some("bot".to_owned()),
        ticket: Some("t1".to_owned()),
    };
    let formed = FormedReport {
        queue: "duel".to_owned(),
        map: Some("q3dm6".to_owned()),
        teams: vec![vec![seat("ann")], vec![seat("a\"b\n")]],
        ..FormedReport::default()
    };
    let whole = read(&body(
        &event(HookKind::Hosted),
        &HookReport::Hosted(formed.clone()),
    ));
    assert_eq!(whole["data"]["address"], "play.example:27960");
    assert_eq!(whole["data"]["teams"][1]["players"][0]["player"], "a\"b\n");
    let whole = read(&body(&event(HookKind::Formed), &HookReport::Formed(formed)));
    assert!(whole["data"].get("address").is_none());
    assert_eq!(whole["data"]["mode"], Value::Null);
}

#[test]
fn what_a_match_does_not_have_is_null_in_every_event() {
    let bare = MatchRecord {
        map: String::new(),
        ..record(&[1.0, 0.0], vec![])
    };
    for (kind, report) in [
        (HookKind::Recorded, recorded(bare)),
        (
            HookKind::Formed,
            HookReport::Formed(FormedReport::default()),
        ),
    ] {
        let whole = read(&body(&event(kind), &report));
        for key in ["map", "mode"] {
            assert_eq!(whole["data"][key], Value::Null, "{key} of {kind:?}");
        }
    }
}

#[test]
fn a_body_is_bounded() {
    let people = (0..1_024).map(|n| participant(&format!("{n:0>200}"), &[(0, 0, 1)]));
    let mut large = record(&[1.0, 0.0], people.collect());
    large.mutators = (0..256).map(|n| format!("{n:0>255}")).collect();
    let text = body(&event(HookKind::Recorded), &recorded(large));
    assert!(text.len() <= MAX_BODY, "{}", text.len());
    assert_eq!(read(&text)["data"]["players_left_out"], true);
    assert_eq!(read(&text)["data"]["teams"][0]["score"], 1.0);
}

#[test]
fn closeness_compares_the_two_best() {
    let of = |scores: &[f64]| closeness(&record(scores, vec![]));
    assert_eq!(of(&[3.0, 3.0]), Some(1.0));
    assert_eq!(of(&[0.0, 0.0]), Some(1.0));
    assert_eq!(of(&[0.0, 5.0]), Some(0.0));
    assert_eq!(of(&[1.0, 4.0, 2.0]), Some(0.5));
    assert_eq!(of(&[-1.0, 4.0]), None);
    assert_eq!(of(&[]), None);
    let mut left = record(&[1.0, 0.0], vec![]);
    left.outcome = Outcome::Abandoned;
    assert_eq!(closeness(&left), None);
}
