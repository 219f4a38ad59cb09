//! Tickets of a queue whose matches need an instance.

use super::*;
use evenkeel_model::MatchId;

/// How long a match waits for an instance, in milliseconds.
const WAIT: i64 = 40_000;

fn hosted_queues() -> Vec<(String, QueueTerms)> {
    let mut queues = queues();
    for (_, terms) in &mut queues {
        (terms.hosted, terms.host_wait) = (true, WAIT);
    }
    queues
}

/// A match of two tickets, one minute after they were submitted.
fn formed(queue: &str) -> Lifecycle {
    let mut life = begin(CoordinatorSettings::default(), hosted_queues(), 0);
    for (id, player) in [("t1", "ann"), ("t2", "bob")] {
        life.submit(submission("me", id, queue, &[player])).unwrap();
    }
    life.at(Timestamp(60_000));
    assert_eq!(life.propose(queue, vec![proposal(&[&[1], &[2]])], 7), 1);
    life
}

/// An instance gets the match, and is ready for it. Returns what is written.
fn call(life: &mut Lifecycle, id: MatchId) -> Vec<Change> {
    let offer = InstanceOffer {
        name: "a".to_owned(),
        slots: 1,
        ..InstanceOffer::default()
    };
    life.joined(offer).unwrap();
    let mut written = changes(life);
    life.ready("a", id, None).unwrap();
    written.extend(changes(life));
    written
}

fn states(life: &Lifecycle) -> Vec<State> {
    let states = [1, 2].map(|number| life.ticket(number).unwrap().state);
    states.into()
}

#[test]
fn a_player_of_a_hosted_match_does_not_wait_in_a_queue_that_gets_into_the_same_group() {
    let mut life = begin(CoordinatorSettings::default(), hosted_queues(), 0);
    for (id, queue, player) in [
        ("t1", "other", "bob"),
        ("t2", "plain", "ann"),
        ("t3", "plain", "bob"),
    ] {
        life.submit(submission("me", id, queue, &[player])).unwrap();
    }
    assert_eq!(life.propose("plain", vec![proposal(&[&[2], &[3]])], 7), 1);
    let together = hosted_queues().into_iter().map(|(name, terms)| {
        let group = "a".to_owned();
        (name, QueueTerms { group, ..terms })
    });
    life.configure(together, |_| true);
    let states = [1, 2, 3].map(|number| life.ticket(number).unwrap().state);
    assert_eq!(
        states,
        [State::Cancelled, State::Hosted(7), State::Hosted(7)]
    );
    let again = life.submit(submission("me", "t4", "other", &["bob"]));
    assert_eq!(again, Err(TicketRefused::InAnother("bob".to_owned())));
}

#[test]
fn a_hosted_ticket_is_done_when_play_begins() {
    let mut life = formed("plain");
    assert_eq!(life.hosted(7).unwrap().stage, Stage::Reserved);
    assert_eq!(states(&life), [State::Hosted(7), State::Hosted(7)]);
    assert_eq!(life.median_wait("plain"), Some(60_000));
    // It neither expires nor can be cancelled, and its player cannot queue again.
    life.at(Timestamp(99_999));
    life.cancel("me", "t1").unwrap();
    assert_eq!(states(&life), [State::Hosted(7), State::Hosted(7)]);
    let again = life.submit(submission("me", "t3", "plain", &["ann"]));
    assert_eq!(again, Err(TicketRefused::InAnother("ann".to_owned())));
    assert_eq!(life.waited(life.ticket(1).unwrap()), 60_000);
    call(&mut life, 7);
    assert_eq!(states(&life), [State::Called(7), State::Called(7)]);
    life.sent(1);
    life.opened("a", 7, 77).unwrap();
    life.began("a", 7).unwrap();
    assert_eq!(states(&life), [State::Matched(7), State::Matched(7)]);
    assert_eq!(life.unsent("me"), [2], "who was sent the call knows");
    assert_eq!(life.waiting(), 0);
    let again = submission("me", "t3", "plain", &["ann"]);
    let refused = Err(TicketRefused::InMatch("ann".to_owned()));
    assert_eq!(life.submit(again.clone()), refused);
    life.ended(7);
    life.submit(again).unwrap();
    assert_eq!(life.median_wait("plain"), Some(60_000), "counted once");
}

#[test]
fn without_an_instance_tickets_go_back_with_their_time() {
    let mut life = formed("plain");
    call(&mut life, 7);
    life.lost("a");
    life.at(Timestamp(75_000));
    assert_eq!(states(&life), [State::Hosted(7), State::Hosted(7)]);
    life.at(Timestamp(75_000 + WAIT));
    assert_eq!(states(&life), [State::Queued, State::Queued]);
    let ticket = life.ticket(1).unwrap();
    assert_eq!(ticket.reason, Reason::Unhosted);
    assert_eq!(life.waited(ticket), 75_000 + WAIT);
    assert_eq!(life.formed(7), None);
    let again = vec![proposal(&[&[1], &[2]])];
    assert_eq!(life.propose("plain", again, 8), 1);
    assert_eq!(states(&life), [State::Hosted(8), State::Hosted(8)]);
    // Who has not come to the instance leaves the queue.
    call(&mut life, 8);
    life.opened("a", 8, 77).unwrap();
    life.arrived("a", 8, "ann");
    for _ in 0..300 {
        life.at(life.now().plus_millis(1_000));
        life.alive("a", life.now());
    }
    assert_eq!(states(&life), [State::Queued, State::Cancelled]);
    assert_eq!(life.ticket(2).unwrap().reason, Reason::NoShow);
    assert_eq!(take(&mut life).no_shows(), ["bob"]);
}

#[test]
fn after_a_ready_check_an_instance_is_sought() {
    let mut life = formed("checked");
    assert_eq!(life.hosted(7), None);
    life.accept("me", 7, "ann").unwrap();
    life.accept("me", 7, "bob").unwrap();
    assert_eq!(life.hosted(7).unwrap().stage, Stage::Reserved);
    assert_eq!(states(&life), [State::Hosted(7), State::Hosted(7)]);
}

#[test]
fn a_hosted_match_survives_a_restart_and_a_new_configuration() {
    let mut life = formed("plain");
    let mut disk = disk::Disk::default();
    disk.write(call(&mut life, 7));
    let restore = |stored| {
        let settings = CoordinatorSettings::default();
        Lifecycle::restore(settings, [], stored, Timestamp(0), |_| false)
    };
    let called = [State::Called(7), State::Called(7)];
    assert_eq!(states(&restore(disk.stored())), called);
    // If rows are missing, the match is given up.
    for (has_formed, has_hosted) in [(false, false), (false, true), (true, false)] {
        let mut stored = disk.stored();
        stored.formed.retain(|_| has_formed);
        stored.hosted.retain(|_| has_hosted);
        let life = restore(stored);
        let left = |state: State| state.is_final() && state.match_id().is_none();
        assert!(states(&life).into_iter().all(left));
        let hosted = life.hosted(7).map(|hosted| hosted.stage);
        assert_eq!(hosted, has_hosted.then_some(Stage::Failed));
    }
}

/// Three queues of different groups, whose matches are hosted; the last has a ready check. Ann and bob wait in all, cid
/// in none but the first.
fn three_groups() -> Lifecycle {
    let queue = |(name, ready_check): (&str, i64)| {
        let terms = QueueTerms {
            ttl: 600_000,
            group: name.to_owned(),
            hosted: true,
            host_wait: WAIT,
            ready_check,
            ..QueueTerms::default()
        };
        (name.to_owned(), terms)
    };
    let queues = [("x", 0), ("y", 0), ("z", 30_000)].map(queue);
    let mut life = begin(CoordinatorSettings::default(), queues.into(), 0);
    for (id, queue, player) in [
        ("1", "x", "ann"),
        ("2", "y", "ann"),
        ("3", "z", "ann"),
        ("4", "y", "bob"),
        ("5", "z", "bob"),
        ("6", "x", "cid"),
    ] {
        life.submit(submission("me", id, queue, &[player])).unwrap();
    }
    life
}

fn free(life: &Lifecycle, queue: &str) -> Vec<TicketNumber> {
    life.searchable(queue).map(|ticket| ticket.number).collect()
}

#[test]
fn a_match_that_is_final_holds_the_other_tickets_of_its_players() {
    let mut life = three_groups();
    assert_eq!(life.propose("x", vec![proposal(&[&[1], &[6]])], 7), 1);
    let begun = |life: &mut Lifecycle| {
        call(life, 7);
        life.opened("a", 7, 77).unwrap();
        life.began("a", 7).unwrap();
    };
    for play in [false, true] {
        if play {
            begun(&mut life);
        }
        assert_eq!((free(&life, "y"), free(&life, "z")), (vec![4], vec![5]));
        let held = life.ticket(2).unwrap();
        assert_eq!(life.held(held), Some(("ann", 7)));
        // A search that had begun before finds them in vain.
        assert_eq!(life.propose("y", vec![proposal(&[&[2], &[4]])], 8), 0);
        assert_eq!(life.propose("z", vec![proposal(&[&[3], &[5]])], 8), 0);
    }
    // So are those of somebody who plays there without a ticket, until the player has left.
    let roster = |players: &[&str]| {
        let on = |player: &&str| ((*player).to_owned(), Some(0));
        players.iter().map(on).collect()
    };
    life.report_roster("a", 7, roster(&["ann", "bob"]));
    assert!(free(&life, "y").is_empty() && free(&life, "z").is_empty());
    life.report_roster("a", 7, roster(&["ann"]));
    assert_eq!((free(&life, "y"), free(&life, "z")), (vec![4], vec![5]));
    life.ended(7);
    assert_eq!(
        (free(&life, "y"), free(&life, "z")),
        (vec![2, 4], vec![3, 5])
    );
    assert_eq!(life.propose("y", vec![proposal(&[&[2], &[4]])], 8), 1);
    // They are free as well when a match falls through.
    assert!(free(&life, "z").is_empty());
    life.at(Timestamp(2 * WAIT));
    assert_eq!(
        (free(&life, "y"), free(&life, "z")),
        (vec![2, 4], vec![3, 5])
    );
}

#[test]
fn a_ready_check_ends_once_another_match_of_a_player_is_final() {
    let mut life = three_groups();
    assert_eq!(life.propose("z", vec![proposal(&[&[3], &[5]])], 7), 1);
    life.accept("me", 7, "ann").unwrap();
    assert_eq!(life.propose("x", vec![proposal(&[&[1], &[6]])], 8), 1);
    let states = [1, 3, 5].map(|number| life.ticket(number).unwrap().state);
    assert_eq!(states, [State::Hosted(8), State::Queued, State::Queued]);
    assert_eq!(life.accept("me", 7, "bob"), Err(TicketRefused::NoCheck));
    assert_eq!(free(&life, "z"), [5]);
    assert_eq!(take(&mut life).no_shows(), [""; 0]);
}

#[test]
fn nobody_is_charged_for_a_match_that_the_daemon_has_sent_them_away_from() {
    // Ann was called to two matches.
    let mut life = three_groups();
    life.propose("x", vec![proposal(&[&[1], &[6]])], 7);
    let mut disk = disk::Disk::default();
    disk.write(call(&mut life, 7));
    life.opened("a", 7, 77).unwrap();
    life.arrived("a", 7, "cid");
    let Lifecycle { index, .. } = &mut life;
    for group in ["x", "y", "z"] {
        index.remove_player(group, "ann", 1);
    }
    life.propose("y", vec![proposal(&[&[2], &[4]])], 8);
    let other = InstanceOffer {
        name: "b".to_owned(),
        slots: 1,
        ..InstanceOffer::default()
    };
    life.joined(other).unwrap();
    changes(&mut life);
    life.ready("b", 8, None).unwrap();
    life.opened("b", 8, 88).unwrap();
    life.began("b", 8).unwrap();
    for _ in 0..400 {
        life.at(life.now().plus_millis(1_000));
        life.alive("a", life.now());
        life.alive("b", life.now());
    }
    let ticket = life.ticket(1).unwrap();
    assert_eq!(
        (ticket.state, ticket.reason),
        (State::Queued, Reason::Unhosted)
    );
    assert_eq!(take(&mut life).no_shows(), [""; 0]);
}
