//! Tickets of a queue whose matches need an instance.

use super::*;
use crate::domain::MatchId;

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
    let offer = Offer {
        name: "a".to_owned(),
        slots: 1,
        ..Offer::default()
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
