use evenkeel_model::{
    MAX_EVENTS, MatchRecord, Outcome, Presence, RecordError, Span, TeamCause, Timestamp, Verdict,
};

use super::*;
use crate::LobbyError;

fn human(id: &str) -> SeatedPlayer<'_> {
    SeatedPlayer {
        kind: Kind::Human,
        id,
        name: None,
        party: None,
    }
}

fn of<'a>(id: &'a str, party: Option<&'a str>) -> SeatedPlayer<'a> {
    SeatedPlayer { party, ..human(id) }
}

fn bot(id: &str) -> SeatedPlayer<'_> {
    SeatedPlayer {
        kind: Kind::Bot,
        ..human(id)
    }
}

fn blank(teams: usize) -> MatchRecord {
    MatchRecord {
        server: "srv".into(),
        start: Timestamp(1_000_000),
        map: "m".into(),
        game_type: "ctf".into(),
        scores: vec![0.0; teams],
        ..MatchRecord::default()
    }
}

fn end(recorder: &mut GameRecorder, verdict: Verdict, now: u64) -> MatchRecord {
    let finished = recorder.end(blank(2), Some(verdict), now).unwrap();
    assert!(!finished.cut);
    finished.record
}

fn stay(team: u8, from: u64, to: u64) -> Presence {
    let span = Span { from, to };
    Presence { team, span }
}

/// A whole game, computed by hand.
#[test]
fn a_game_becomes_a_record() {
    let mut recorder = GameRecorder::default();
    recorder.set_team(&human("ann"), Some(0), 100);
    recorder.set_team(&human("ben"), Some(1), 200);
    recorder.set_team(&human("gone"), Some(1), 300);
    recorder.set_team(&human("gone"), None, 400);
    recorder.start(2, 5_000);
    let (ann, ben) = (recorder.find("ann").unwrap(), recorder.find("ben").unwrap());
    recorder.score(1, 1.0, Some(ben), 6_000);
    recorder.set_team(&bot("Sarge"), Some(0), 7_000);
    let sarge = recorder.find("Sarge").unwrap();
    recorder.kill(ben, sarge, 7_000);
    recorder.kill(ann, sarge, 7_000);
    recorder.kill(ann, ann, 7_000);
    recorder.points(ann, 12.5);
    recorder.death(ben, 7_500);
    recorder.set_team(&human("ben"), Some(0), 8_000);
    recorder.set_team(&human("ben"), None, 9_000);
    recorder.set_team(&human("ben"), Some(1), 10_000);
    recorder.score(0, 3.0, None, 11_000);
    let record = end(&mut recorder, Verdict::Scores, 15_000);

    assert_eq!(record.server, "srv");
    assert_eq!(
        (record.start, record.end),
        (Timestamp(1_005_000), Timestamp(1_015_000))
    );
    assert_eq!(record.scores, [3.0, 1.0]);
    assert_eq!(record.outcome, Outcome::Won(0));
    let [a, b, s] = &record.participants[..] else {
        panic!("{record:?}")
    };
    assert_eq!(a.presence, [stay(0, 0, 10_000)]);
    assert_eq!(
        b.presence,
        [
            stay(1, 0, 3_000),
            stay(0, 3_000, 4_000),
            stay(1, 5_000, 10_000)
        ]
    );
    assert_eq!(s.presence, [stay(0, 2_000, 10_000)]);
    assert_eq!(s.key.kind, Kind::Bot);
    // Killing a team mate or oneself is not a kill; a death can be reported by KILL or by DEATH.
    assert_eq!((a.kills, a.deaths, a.points), (0, 1, Some(12.5)));
    assert_eq!((b.kills, b.deaths, b.points), (1, 1, None));
    assert_eq!((s.kills, s.deaths), (0, 2));
    let events: Vec<_> = (record.events.iter())
        .map(|event| (event.at, event.team, event.points, event.by))
        .collect();
    assert_eq!(events, [(1_000, 1, 1.0, Some(1)), (6_000, 0, 3.0, None)]);
}

#[test]
fn lines_of_one_millisecond_keep_their_order() {
    let mut recorder = GameRecorder::default();
    recorder.set_team(&human("a"), Some(0), 0);
    recorder.set_team(&human("b"), Some(1), 0);
    recorder.start(2, 0);
    let a = recorder.find("a");
    recorder.score(0, 1.0, a, 500);
    recorder.set_team(&human("a"), None, 500);
    recorder.score(1, 1.0, None, 500);
    let record = end(&mut recorder, Verdict::Scores, 500);
    let span = record.participants[0].presence[0].span;
    assert!(span.contains(record.events[0].at));
    assert!(!span.contains(record.events[1].at));
    assert_eq!(record.millis(), 503);
}

#[test]
fn nothing_counts_before_the_start_and_after_the_end() {
    let mut recorder = GameRecorder::default();
    recorder.set_team(&human("a"), Some(0), 0);
    let a = recorder.find("a").unwrap();
    let warm_up = |recorder: &mut GameRecorder| {
        recorder.score(0, 1.0, Some(a), 10);
        recorder.points(a, 5.0);
        recorder.kill(a, a, 10);
        recorder.death(a, 10);
        recorder.clock(1_000, 10);
    };
    warm_up(&mut recorder);
    assert_eq!(
        recorder.end(blank(2), Some(Verdict::Scores), 20),
        Err(LobbyError::NotStarted)
    );
    assert_eq!(recorder.abandoned(blank(2), 20), None);
    recorder.start(2, 100);
    let record = end(&mut recorder, Verdict::Draw, 200);
    assert_eq!(record.outcome, Outcome::Draw);
    assert_eq!(
        (record.scores.as_slice(), record.events.len()),
        ([0.0, 0.0].as_slice(), 0)
    );
    assert_eq!(record.participants[0].points, None);
    assert_eq!(record.participants[0].deaths, 0);
    warm_up(&mut recorder);
    assert_eq!(
        end(&mut recorder, Verdict::Won(0), 999),
        record,
        "END again is the same END"
    );
    assert_eq!(recorder.left(999), None);
    recorder.start(2, 1_000);
    assert_eq!(
        end(&mut recorder, Verdict::Won(1), 2_000).outcome,
        Outcome::Won(1)
    );
}

#[test]
fn what_only_the_record_needed_is_freed() {
    let mut recorder = GameRecorder::default();
    recorder.set_team(&human("a"), Some(0), 0);
    recorder.forget();
    recorder.start(2, 0);
    for n in 0..1_000 {
        recorder.set_team(&human("a"), Some((n % 2) as u8), n);
        recorder.score(0, 1.0, None, n);
    }
    recorder.forget();
    assert!(
        recorder.is_running() && recorder.play.room().0 >= 1_000,
        "not in play"
    );
    end(&mut recorder, Verdict::Scores, 2_000);
    recorder.forget();
    assert_eq!(recorder.play.room(), (0, 0));
    let again = recorder.end(blank(2), Some(Verdict::Scores), 3_000);
    assert_eq!(again, Err(LobbyError::NotStarted));
    recorder.start(2, 4_000);
    recorder.set_team(&human("a"), Some(1), 4_000);
    let record = end(&mut recorder, Verdict::Scores, 5_000);
    assert_eq!(record.participants.len(), 1);
}

#[test]
fn a_game_broken_off_is_abandoned() {
    let mut recorder = GameRecorder::default();
    recorder.set_team(&human("a"), Some(0), 0);
    recorder.start(2, 0);
    recorder.score(0, 2.0, None, 1_000);
    let finished = recorder.abandoned(blank(2), 4_000).unwrap();
    assert_eq!(finished.record.outcome, Outcome::Abandoned);
    assert_eq!(finished.record.millis(), 4_000);
    assert!(recorder.is_running(), "it may be gone on with");
}

#[test]
fn parties_are_numbered_and_one_alone_is_none() {
    let mut recorder = GameRecorder::default();
    let people = [
        ("a", Some("x")),
        ("b", Some("y")),
        ("c", None),
        ("d", Some("z")),
    ];
    for (id, party) in people {
        recorder.set_team(&of(id, party), Some(0), 0);
    }
    recorder.set_team(&of("e", Some("y")), Some(1), 0);
    recorder.set_team(&of("f", Some("x")), None, 0);
    recorder.start(2, 0);
    recorder.set_team(&of("d", Some("y")), Some(1), 10);
    let record = end(&mut recorder, Verdict::Scores, 1_000);
    let parties: Vec<_> = (record.participants.iter())
        .map(|person| (person.key.id.as_str(), person.party))
        .collect();
    let expected = [
        ("a", None),
        ("b", Some(0)),
        ("c", None),
        ("d", Some(0)),
        ("e", Some(0)),
    ];
    assert_eq!(parties, expected);
}

#[test]
fn roles_are_shares_of_the_game_in_which_early_time_counts_more() {
    let commander = RoleName::read("commander");
    let mut recorder = GameRecorder::default();
    recorder.set_team(&human("ann"), Some(0), 0);
    recorder.set_team(&human("ben"), Some(1), 0);
    recorder.set_team(&human("cid"), Some(1), 0);
    recorder.set_role(&human("ann"), commander.as_ref(), 10);
    recorder.start(2, 1_000);
    recorder.set_role(&human("ann"), commander.as_ref(), 20_000); // no change
    recorder.set_role(&human("ann"), None, 51_000);
    recorder.play.tick(50_000); // of two events in one millisecond, the second is later
    recorder.set_role(&human("ben"), commander.as_ref(), 51_000);
    recorder.set_team(&human("ben"), Some(0), 76_000);
    let record = end(&mut recorder, Verdict::Draw, 101_000);
    // Of 100 s with 2^(−2 t/100 s) left: (1 − 1/2)/(3/4) of the first half, and of the second
    // (2^−1 − 2^−1.5)/(3/4) on one team and (2^−1.5 − 2^−2)/(3/4) on the other.
    let part = 0.5_f64.powf(1.5);
    let by_hand = [
        ("ann", 0, 0.5 / 0.75),
        ("ben", 0, (part - 0.25) / 0.75),
        ("ben", 1, (0.5 - part) / 0.75),
    ];
    let roles = record.participants.iter().flat_map(|p| {
        let role = |role: &evenkeel_model::Role| {
            assert_eq!(role.name, "commander");
            (p.key.id.clone(), role.team, role.share)
        };
        p.roles.iter().map(role).collect::<Vec<_>>()
    });
    let roles: Vec<_> = roles.collect();
    assert_eq!(roles.len(), by_hand.len(), "{roles:?}");
    for (role, by_hand) in roles.iter().zip(by_hand) {
        assert_eq!((role.0.as_str(), role.1), (by_hand.0, by_hand.1));
        assert!((role.2 - by_hand.2).abs() < 1e-4, "{role:?} {by_hand:?}");
    }
}

#[test]
fn a_role_while_nobody_is_on_the_other_team_is_none() {
    let commander = RoleName::read("commander");
    let mut recorder = GameRecorder::default();
    recorder.set_team(&human("ann"), Some(0), 0);
    recorder.set_role(&human("ann"), commander.as_ref(), 0);
    recorder.start(2, 1_000);
    assert_eq!(recorder.played(41_000), 0);
    recorder.set_team(&human("ben"), Some(1), 41_000);
    recorder.set_role(&human("ann"), None, 91_000);
    assert_eq!(recorder.played(91_000), 50_000);
    let record = end(&mut recorder, Verdict::Draw, 141_000);
    // The first half of 100 s of play, after 40 s of waiting.
    let role = &record.participants[0].roles[0];
    assert!((role.share - 0.5 / 0.75).abs() < 1e-4, "{role:?}");
    assert_eq!(
        (record.start, record.millis()),
        (Timestamp(1_001_000), 140_000)
    );
    let played = record.played();
    assert_eq!(
        (played.start, played.millis()),
        (Timestamp(1_041_000), 100_000)
    );
}

#[test]
fn a_role_ends_with_leaving_and_more_than_a_record_holds_are_left_out() {
    let mut recorder = GameRecorder::default();
    recorder.set_team(&human("a"), Some(0), 0);
    recorder.set_team(&human("b"), Some(1), 0);
    recorder.set_team(&human("c"), Some(0), 0);
    recorder.start(2, 0);
    for number in 0..40 {
        let role = RoleName::read(&format!("r{number}"));
        recorder.set_role(&human("a"), role.as_ref(), 1_000 * number);
    }
    recorder.leave(&human("a"), LeaveReason::Left, 50_000);
    recorder.set_team(&human("a"), Some(0), 60_000);
    let record = end(&mut recorder, Verdict::Draw, 90_000);
    let roles = &record.participants[0].roles;
    assert_eq!(roles.len(), 16);
    let last = roles.iter().find(|role| role.name == "r39").unwrap();
    let left = |at: f64| (-2.0 * at / 90.0).exp2();
    let by_hand = (left(39.0) - left(50.0)) / 0.75;
    assert!((last.share - by_hand).abs() < 1e-4, "{last:?} {by_hand}");
}

#[test]
fn the_clock_runs_on() {
    let mut recorder = GameRecorder::default();
    recorder.start(2, 1_000);
    assert_eq!(recorder.left(2_000), None);
    recorder.clock(60_000, 2_000);
    assert_eq!(recorder.left(2_000), Some(60_000));
    assert_eq!(recorder.left(42_000), Some(20_000));
    assert_eq!(recorder.left(99_000), Some(0));
    assert_eq!(recorder.elapsed(4_000), 3_000);
}

#[test]
fn a_game_without_teams_has_no_scores() {
    let mut recorder = GameRecorder::default();
    recorder.set_team(&human("a"), Some(0), 0);
    recorder.set_team(&human("b"), Some(0), 0);
    recorder.start(0, 0);
    let (a, b) = (recorder.find("a").unwrap(), recorder.find("b").unwrap());
    recorder.kill(a, b, 500);
    let finished = recorder
        .end(blank(0), Some(Verdict::Scores), 1_000)
        .unwrap();
    assert_eq!(finished.record.outcome, Outcome::Undecided);
    assert_eq!(
        finished.record.participants[0].kills, 1,
        "there are no team mates"
    );
}

#[test]
fn what_no_record_can_hold_is_refused_and_the_game_goes_on() {
    let mut recorder = GameRecorder::default();
    let long = "x".repeat(2_000);
    recorder.set_team(&human(&long), Some(0), 0);
    recorder.start(2, 0);
    let refused = recorder.end(blank(2), Some(Verdict::Scores), 1_000);
    assert!(matches!(
        refused,
        Err(LobbyError::Record(RecordError { .. }))
    ));
    assert!(recorder.is_running());
}

#[test]
fn a_flood_is_cut_and_says_so() {
    let mut recorder = GameRecorder::default();
    recorder.start(2, 0);
    for n in 0..2_000 {
        recorder.set_team(&human(&n.to_string()), Some(0), n);
    }
    let a = human("0");
    for n in 0..210_000 {
        recorder.set_team(&a, Some((n % 2) as u8), 2_000);
        recorder.score(0, 1e6, None, 2_000);
    }
    let (events, _) = recorder.play.room();
    assert!(recorder.play.players().len() <= MAX_PLAYERS && events <= 2 * MAX_EVENTS);
    let finished = recorder
        .end(blank(2), Some(Verdict::Scores), 3_000)
        .unwrap();
    assert!(finished.cut);
    assert_eq!(finished.record.scores, [MAX_POINTS, 0.0]);
}

fn teams(first: f64, one: u32) -> TeamChances {
    TeamChances {
        win: vec![first, 1.0 - first],
        humans: vec![one, 6],
        bots: vec![0, 0],
    }
}

fn sizes(one: u32) -> TeamChances {
    TeamChances {
        win: Vec::new(),
        ..teams(0.5, one)
    }
}

fn change(at: u64) -> TeamChange {
    TeamChange {
        at,
        cause: TeamCause::Move,
        who: Some(1),
        from: Some(0),
        to: Some(1),
        teams: sizes(7),
    }
}

#[test]
fn chances_belong_to_what_came_before_them() {
    let mut history = PredictionHistory::default();
    history.announce(&teams(0.1, 1));
    history.pick(&teams(0.5, 7));
    history.start(Some(sizes(7)));
    assert_eq!(history.announced.started, Some(sizes(7)));
    assert!(history.is_due() && history.summary(true).now.is_none());
    history.announce(&teams(0.6, 7));
    history.announce(&teams(0.9, 7));
    history.change(change(5));
    history.change(change(6));
    history.announce(&teams(0.7, 8));
    let announced = history.recorded(&[None, Some(4)]);
    assert_eq!(announced.picked, Some(teams(0.5, 7)));
    assert_eq!(announced.started, Some(teams(0.6, 7)));
    let changes = announced.changes.iter();
    let changes: Vec<_> = changes.map(|one| (one.who, one.teams.clone())).collect();
    assert_eq!(
        changes,
        [(Some(4), sizes(7)), (Some(4), teams(0.7, 8))],
        "the first one was followed by another before its chances came"
    );
    assert_eq!(history.summary(true).now, Some(teams(0.7, 8)));
    history.start(Some(sizes(7)));
    assert_eq!(
        history.announced.picked, None,
        "it was that of the last match"
    );
    history.pick(&teams(0.4, 7));
    history.start(None);
    assert_eq!(history.recorded(&[]), MatchChances::default(), "no teams");
}

#[test]
fn only_the_first_changes_are_kept() {
    let mut history = PredictionHistory::default();
    history.start(Some(sizes(7)));
    for at in 0..3 * MAX_TEAM_CHANGES as u64 {
        history.change(change(at));
    }
    assert_eq!(history.announced.changes.len(), MAX_TEAM_CHANGES);
    assert!(history.is_sound(2) && !history.is_sound(1));
    assert!(!history.is_due(), "nothing has to be predicted any more");
    assert_eq!(history.summary(true).now, None, "it is not known any more");
}
