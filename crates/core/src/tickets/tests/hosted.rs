//! Tickets of a queue whose matches need an instance.

use super::*;
use crate::domain::MatchId;

fn hosted() -> Life {
    let mut queues = queues();
    for (_, terms) in &mut queues {
        terms.hosted = true;
    }
    Life::restore(queues, Vec::new(), Vec::new(), Timestamp(0), |_| true)
}

/// A match of two tickets, one minute after they were submitted.
fn formed(queue: &str) -> Life {
    let mut life = hosted();
    for (id, player) in [("t1", "ann"), ("t2", "bob")] {
        life.submit(submission("me", id, queue, &[player])).unwrap();
    }
    life.at(Timestamp(60_000));
    assert_eq!(life.propose(queue, vec![proposal(&[&[1], &[2]])], 7), 1);
    life
}

fn states(life: &Life) -> Vec<State> {
    let states = [1, 2].map(|number| life.ticket(number).unwrap().state);
    states.into()
}

#[test]
fn a_hosted_ticket_is_done_when_play_begins() {
    let mut life = formed("plain");
    assert_eq!(life.take_unhosted(), [7]);
    assert_eq!(life.take_unhosted(), Vec::<MatchId>::new());
    assert_eq!(states(&life), [State::Hosted(7), State::Hosted(7)]);
    assert_eq!(life.median_wait("plain"), Some(60_000));
    // It neither expires nor can be cancelled, and its player cannot queue again.
    life.at(Timestamp(700_000));
    life.cancel("me", "t1").unwrap();
    assert_eq!(states(&life), [State::Hosted(7), State::Hosted(7)]);
    let again = life.submit(submission("me", "t3", "plain", &["ann"]));
    assert_eq!(again, Err(TicketRefused::InAnother("ann".to_owned())));
    assert_eq!(life.waited(life.ticket(1).unwrap()), 60_000);
    life.called(7);
    assert_eq!(states(&life), [State::Called(7), State::Called(7)]);
    life.sent(1);
    life.begun(7);
    assert_eq!(states(&life), [State::Matched(7), State::Matched(7)]);
    assert_eq!(life.unsent("me"), [2], "who was sent the call knows");
    assert_eq!(life.waiting(), 0);
    life.submit(submission("me", "t3", "plain", &["ann"]))
        .unwrap();
    assert_eq!(life.median_wait("plain"), Some(60_000), "counted once");
}

#[test]
fn without_an_instance_tickets_go_back_with_their_time() {
    let mut life = formed("plain");
    life.called(7);
    life.seek(7);
    assert_eq!(states(&life), [State::Hosted(7), State::Hosted(7)]);
    life.at(Timestamp(100_000));
    life.unhost(7, &Default::default());
    assert_eq!(states(&life), [State::Queued, State::Queued]);
    let ticket = life.ticket(1).unwrap();
    assert_eq!(ticket.reason, Reason::Unhosted);
    assert_eq!(life.waited(ticket), 100_000);
    assert_eq!(life.formed(7), None);
    let again = vec![proposal(&[&[1], &[2]])];
    assert_eq!(life.propose("plain", again, 8), 1);
    assert_eq!(life.hosted(), [8].into());
    // Who has not come to the instance leaves the queue.
    life.unhost(8, &["bob".to_owned()].into());
    assert_eq!(states(&life), [State::Queued, State::Cancelled]);
    assert_eq!(life.ticket(2).unwrap().reason, Reason::NoShow);
}

#[test]
fn after_a_ready_check_an_instance_is_sought() {
    let mut life = formed("checked");
    assert_eq!(life.take_unhosted(), Vec::<MatchId>::new());
    life.accept("me", 7, "ann").unwrap();
    life.accept("me", 7, "bob").unwrap();
    assert_eq!(life.take_unhosted(), [7]);
    assert_eq!(states(&life), [State::Hosted(7), State::Hosted(7)]);
}

#[test]
fn a_hosted_match_survives_a_restart_and_a_new_configuration() {
    let mut life = formed("plain");
    life.called(7);
    let tickets = [1, 2].map(|number| life.ticket(number).unwrap().clone());
    let formed = life.formed(7).unwrap().clone();
    let restore = |matches| Life::restore([], tickets.to_vec(), matches, Timestamp(0), |_| false);
    assert_eq!(
        states(&restore(vec![formed])),
        [State::Called(7), State::Called(7)]
    );
    let lost = restore(Vec::new());
    assert!(
        lost.hosted().is_empty(),
        "a match that is missing is given up"
    );
}
