use super::*;
use crate::{Kind, MatchRecord};

fn human(id: &str) -> PlayerKey {
    PlayerKey {
        kind: Kind::Human,
        id: id.to_owned(),
    }
}

fn stay(team: u8, from: u64, to: u64) -> Presence {
    Presence {
        team,
        span: Span { from, to },
    }
}

#[test]
fn a_rejoin_is_one_participant() {
    let mut recorder = MatchRecorder::default();
    let (a, b) = (
        recorder.enter(human("a"), "A".into()),
        recorder.enter(human("b"), "B".into()),
    );
    recorder.set_team(a, Some(0), 0);
    recorder.set_team(b, Some(1), 0);
    recorder.set_team(a, None, 100);
    let again = recorder.enter(human("a"), "A2".into());
    recorder.set_team(again, Some(1), 200);
    recorder.set_team(again, Some(0), 300);
    recorder.count_kill(Some(a), 50);
    recorder.count_kill(Some(again), 250);
    recorder.player(again).points = Some(3.0);
    recorder.score(0, 1.0, Some(again), 350);
    let end = recorder.end(1_000);
    let blank = MatchRecord {
        scores: vec![1.0, 0.0],
        ..MatchRecord::default()
    };
    let (record, seats) = recorder.complete(blank, end);
    assert_eq!(seats, [Some(0), Some(1), Some(0)]);
    let [one, other] = &record.participants[..] else {
        panic!("{record:?}")
    };
    assert_eq!(
        one.presence,
        [stay(0, 0, 100), stay(1, 200, 300), stay(0, 300, 1_000)]
    );
    assert_eq!(
        (one.name.as_str(), one.kills, one.points),
        ("A2", 2, Some(3.0))
    );
    assert_eq!(other.presence, [stay(1, 0, 1_000)]);
    assert_eq!(record.events[0].by, Some(0));
}

#[test]
fn ticks_keep_the_order_of_lines_and_the_end_comes_last() {
    let mut recorder = MatchRecorder::default();
    let at = [5_000, 5_000, 5_000, 4_000, 6_000].map(|millis| recorder.tick(millis));
    assert_eq!(at, [5_000, 5_001, 5_002, 5_003, 6_000]);
    assert_eq!(recorder.end(6_000), 6_001);
}

#[test]
fn a_game_without_end_takes_bounded_memory() {
    let mut recorder = MatchRecorder::default();
    for at in 0..300_000 {
        let visit = recorder.enter(human("a"), String::new());
        recorder.set_team(visit, Some(0), at);
        recorder.score(0, 1.0, None, at);
    }
    assert!(recorder.is_cut());
    assert!(recorder.players.len() <= MAX_TIMELINES && recorder.events.len() <= MAX_EVENTS);
}

#[test]
fn score_changes_are_reconciled_with_the_final_score() {
    let reconciled = |goals: &[u8], scores: &[f64]| {
        let mut recorder = MatchRecorder::default();
        for (at, &team) in goals.iter().enumerate() {
            recorder.score(team, 1.0, None, at as u64);
        }
        recorder.reconcile(scores);
        recorder.sums(scores.len())
    };
    assert_eq!(reconciled(&[0, 1, 0], &[2.0, 1.0]), [2.0, 1.0]);
    assert_eq!(reconciled(&[1, 1], &[0.0, 20.0]), [0.0, 20.0]);
    assert_eq!(reconciled(&[0, 1, 0], &[2.0, 2.0]), [0.0, 0.0]);
    assert_eq!(reconciled(&[0], &[-1.0, 0.0]), [0.0, 0.0]);
    assert_eq!(reconciled(&[], &[0.0, 0.0]), [0.0, 0.0]);
}
