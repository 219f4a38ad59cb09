//! Points that teams score while a participant is on them, and seats.

use evenkeel_model::{
    Kind, PlayerKey, Timestamp,
    record::{Presence, ScoreEvent, Span},
};

use crate::history::seats::*;

fn stays(id: &str, stays: &[(u8, u64, u64)]) -> Participant {
    let stay = |&(team, from, to)| Presence {
        team,
        span: Span { from, to },
    };
    Participant {
        key: PlayerKey {
            kind: Kind::Human,
            id: id.into(),
        },
        name: id.into(),
        presence: stays.iter().map(stay).collect(),
        points: None,
        kills: 0,
        deaths: 0,
        roles: vec![],
        party: None,
        left: None,
    }
}

fn game(scores: &[f64], participants: Vec<Participant>, events: &[(u64, u8, f64)]) -> MatchRecord {
    let event = |&(at, team, points)| ScoreEvent {
        at,
        team,
        points,
        by: None,
    };
    let record = MatchRecord {
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
        scores: scores.to_vec(),
        outcome: MatchRecord::outcome_of(scores),
        participants,
        events: events.iter().map(event).collect(),
    };
    assert_eq!(record.check(), Ok(()));
    record
}

fn pairs(record: &MatchRecord) -> Vec<(f64, f64)> {
    let points = points(record, Scoring::TeamPoints);
    points.iter().map(|p| (p.scored, p.conceded)).collect()
}

#[test]
fn joins_leaves_and_team_changes_count_by_the_intervals() {
    let record = game(
        &[3.0, 2.0],
        vec![
            stays("all of it", &[(0, 0, 1_000)]),
            stays("late", &[(1, 500, 1_000)]),
            stays("changed", &[(0, 0, 300), (1, 300, 900)]),
            stays("away meanwhile", &[(0, 0, 100), (0, 901, 1_000)]),
        ],
        &[
            (100, 0, 1.0),
            (300, 1, 1.0),
            (600, 0, 1.0),
            (900, 1, 1.0),
            (1_000, 0, 1.0),
        ],
    );
    assert_eq!(
        pairs(&record),
        [(3.0, 2.0), (1.0, 2.0), (2.0, 1.0), (1.0, 0.0)]
    );
}

#[test]
fn untold_points_are_spread_over_the_play_time() {
    let players = || {
        vec![
            stays("all of it", &[(0, 0, 1_000)]),
            stays("a quarter", &[(1, 750, 1_000)]),
        ]
    };
    let log_without_events = game(&[4.0, 8.0], players(), &[]);
    assert_eq!(pairs(&log_without_events), [(4.0, 8.0), (2.0, 1.0)]);
    let half_told = game(&[4.0, 8.0], players(), &[(10, 1, 4.0)]);
    assert_eq!(pairs(&half_told), [(4.0, 8.0), (1.0, 1.0)]);
}

#[test]
fn too_much_told_is_scaled_and_negative_points_count_nothing() {
    let players = || vec![stays("a", &[(0, 0, 1_000)]), stays("b", &[(1, 0, 500)])];
    let twice = game(&[1.0, 0.0], players(), &[(10, 0, 1.0), (900, 0, 1.0)]);
    assert_eq!(pairs(&twice), [(1.0, 0.0), (0.0, 0.5)]);
    let suicides = game(&[-2.0, 3.0], players(), &[(10, 0, -2.0)]);
    assert_eq!(pairs(&suicides), [(0.0, 3.0), (1.5, 0.0)]);
}

#[test]
fn a_bare_victory_is_a_point() {
    let players = vec![stays("a", &[(0, 0, 500)]), stays("b", &[(1, 0, 1_000)])];
    let mut record = game(&[0.0, 0.0], players, &[]);
    assert_eq!(pairs(&record), [(0.0, 0.0), (0.0, 0.0)]);
    record.outcome = Outcome::Won(1);
    assert_eq!(pairs(&record), [(0.0, 0.5), (1.0, 0.0)]);
}

#[test]
fn every_other_team_scores_against() {
    let players = vec![stays("a", &[(0, 0, 1_000)]), stays("c", &[(2, 0, 1_000)])];
    let record = game(
        &[1.0, 2.0, 4.0],
        players,
        &[(1, 0, 1.0), (2, 1, 2.0), (3, 2, 4.0)],
    );
    assert_eq!(pairs(&record), [(1.0, 6.0), (4.0, 3.0)]);
}

#[test]
fn without_teams_frags_and_deaths_count() {
    let mut record = game(&[], vec![stays("a", &[(0, 0, 1_000)])], &[]);
    record.participants[0].kills = 7;
    record.participants[0].deaths = 3;
    let frags = Points {
        scored: 7.0,
        conceded: 3.0,
    };
    assert_eq!(points(&record, Scoring::Frags), [frags]);
}

#[test]
fn early_time_counts_more() {
    let share = |from, to, millis| {
        let span = Span { from, to };
        share(&Presence { team: 0, span }, millis, 1_000)
    };
    assert_eq!(share(0, 1_000, 1_000), 1.0);
    assert!((share(0, 500, 1_000) - 2.0 / 3.0).abs() < 1e-12);
    assert!((share(500, 1_000, 1_000) - 1.0 / 3.0).abs() < 1e-12);
    // The factor does not depend on how far this game exceeded the usual length.
    assert!((share(0, 500, 4_000) / share(500, 1_000, 4_000) - 2.0).abs() < 1e-12);
    assert_eq!(share(0, 0, 0), 1.0);
}

#[test]
fn ranks_share_places() {
    assert_eq!(ranks(&[1.0, 5.0, 1.0, 0.0]), [1, 0, 1, 3]);
}
