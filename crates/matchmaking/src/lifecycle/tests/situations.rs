//! Single situations.

use super::{super::*, *};

/// Submits one ticket with one player, `p` and the id, for each id.
fn submit(life: &mut Lifecycle, queue: &str, ids: &[&str]) -> Vec<TicketNumber> {
    let number = |id: &&str| {
        let player = format!("p{id}");
        life.submit(submission("me", id, queue, &[&player]))
            .unwrap()
    };
    ids.iter().map(number).collect()
}

fn state(life: &Lifecycle, number: TicketNumber) -> State {
    life.ticket(number).unwrap().state
}

#[test]
fn a_ticket_that_is_submitted_again_is_the_same_one() {
    let mut life = life(0);
    let ticket = submission("me", "t", "plain", &["ann", "bob"]);
    let first = life.submit(ticket.clone()).unwrap();
    assert_eq!(life.submit(ticket.clone()), Ok(first));
    let other = submission("me", "t", "plain", &["ann"]);
    assert_eq!(life.submit(other), Err(TicketRefused::OtherContent));
    let moved = submission("me", "t", "checked", &["ann", "bob"]);
    assert_eq!(life.submit(moved), Err(TicketRefused::OtherContent));
    let theirs = submission("you", "t", "plain", &["cid"]);
    assert_ne!(life.submit(theirs).unwrap(), first);
    life.cancel("me", "t").unwrap();
    assert_eq!(life.submit(ticket), Ok(first));
    assert_eq!(state(&life, first), State::Cancelled);
}

#[test]
fn a_player_waits_in_one_ticket_of_a_group() {
    let mut life = life(0);
    life.submit(submission("me", "t", "plain", &["ann"]))
        .unwrap();
    let again = submission("you", "u", "checked", &["bob", "ann"]);
    assert_eq!(
        life.submit(again.clone()),
        Err(TicketRefused::InAnother("ann".to_owned()))
    );
    life.submit(submission("me", "v", "other", &["ann"]))
        .unwrap();
    life.cancel("me", "t").unwrap();
    assert!(life.submit(again).is_ok());
    let nowhere = submission("me", "w", "x", &["cid"]);
    assert_eq!(
        life.submit(nowhere),
        Err(TicketRefused::NoQueue("x".to_owned()))
    );
}

#[test]
fn a_proposal_that_has_lost_a_ticket_is_dropped_and_the_others_stay() {
    let mut life = life(0);
    let t = submit(&mut life, "plain", &["a", "b", "c", "d", "e"]);
    life.cancel("me", "b").unwrap();
    // The youngest first, and one ticket in two proposals: the older proposal gets it.
    let found = vec![
        proposal(&[&[t[3]], &[t[4]]]),
        proposal(&[&[t[0]], &[t[1]]]),
        proposal(&[&[t[2]], &[t[3]]]),
    ];
    assert_eq!(life.propose("plain", found, 7), 1);
    assert_eq!(state(&life, t[0]), State::Queued);
    assert_eq!(state(&life, t[1]), State::Cancelled);
    assert_eq!(state(&life, t[2]), State::Matched(7));
    assert_eq!(state(&life, t[3]), State::Matched(7));
    assert_eq!(state(&life, t[4]), State::Queued);
    let places: Vec<_> = life.queued("plain").map(|ticket| ticket.number).collect();
    assert_eq!(places, [t[0], t[4]]);
    let twice = vec![proposal(&[&[t[0]], &[t[0]]])];
    assert_eq!(life.propose("plain", twice, 8), 0);
    let elsewhere = vec![proposal(&[&[t[0]], &[t[4]]])];
    assert_eq!(life.propose("checked", elsewhere, 8), 0);
}

#[test]
fn who_declines_leaves_and_the_others_keep_place_and_time() {
    let mut life = life(1_000);
    let t = submit(&mut life, "checked", &["a", "b"]);
    life.at(Timestamp(5_000));
    let late = submit(&mut life, "checked", &["c"]);
    assert_eq!(
        life.propose("checked", vec![proposal(&[&[t[0]], &[t[1]]])], 1),
        1
    );
    assert_eq!(life.accept("me", 1, "pa"), Ok(()));
    assert_eq!(life.accept("me", 1, "pa"), Ok(()));
    assert_eq!(life.accept("you", 1, "pb"), Err(TicketRefused::NotInMatch));
    assert_eq!(life.accept("me", 2, "pa"), Err(TicketRefused::NoCheck));
    assert_eq!(life.decline("me", 1, "pb"), Ok(()));
    assert_eq!(state(&life, t[1]), State::Cancelled);
    let back = life.ticket(t[0]).unwrap();
    assert_eq!((back.state, back.reason), (State::Queued, Reason::Declined));
    assert_eq!(back.submitted_at, Timestamp(1_000));
    let places: Vec<_> = life.queued("checked").map(|ticket| ticket.number).collect();
    assert_eq!(places, [t[0], late[0]]);
    assert_eq!(life.accept("me", 1, "pa"), Err(TicketRefused::NoCheck));
}

#[test]
fn a_match_is_final_once_all_have_accepted() {
    let mut life = life(0);
    let t = submit(&mut life, "checked", &["a", "b"]);
    life.propose("checked", vec![proposal(&[&[t[0]], &[t[1]]])], 1);
    life.accept("me", 1, "pa").unwrap();
    assert_eq!(state(&life, t[0]), State::Proposed(1));
    life.accept("me", 1, "pb").unwrap();
    assert_eq!(state(&life, t[0]), State::Matched(1));
    assert_eq!(life.decline("me", 1, "pa"), Err(TicketRefused::NoCheck));
    assert_eq!(life.accept("me", 1, "pa"), Ok(()));
    life.cancel("me", "a").unwrap();
    assert_eq!(state(&life, t[0]), State::Matched(1));
    life.at(Timestamp(40_000));
    assert_eq!(state(&life, t[1]), State::Matched(1));
}

#[test]
fn who_does_not_answer_in_time_leaves() {
    let mut life = life(0);
    let t = submit(&mut life, "checked", &["a", "b"]);
    life.propose("checked", vec![proposal(&[&[t[0]], &[t[1]]])], 1);
    life.accept("me", 1, "pa").unwrap();
    life.at(Timestamp(29_999));
    assert_eq!(state(&life, t[1]), State::Proposed(1));
    life.at(Timestamp(30_000));
    assert_eq!(state(&life, t[1]), State::Cancelled);
    assert_eq!(life.ticket(t[1]).unwrap().reason, Reason::Unanswered);
    assert_eq!(state(&life, t[0]), State::Queued);
}

#[test]
fn cancelling_a_proposed_ticket_sends_the_others_back() {
    let mut life = life(0);
    let t = submit(&mut life, "checked", &["a", "b"]);
    life.propose("checked", vec![proposal(&[&[t[0]], &[t[1]]])], 1);
    life.cancel("me", "a").unwrap();
    assert_eq!(state(&life, t[0]), State::Cancelled);
    let back = life.ticket(t[1]).unwrap();
    assert_eq!(
        (back.state, back.reason),
        (State::Queued, Reason::Cancelled)
    );
}

#[test]
fn a_ticket_expires_but_not_while_it_is_proposed() {
    let mut life = life(0);
    let t = submit(&mut life, "checked", &["a", "b", "c"]);
    life.at(Timestamp(599_999));
    life.propose("checked", vec![proposal(&[&[t[0]], &[t[1]]])], 1);
    life.at(Timestamp(600_000));
    assert_eq!(state(&life, t[2]), State::Expired);
    assert_eq!(state(&life, t[0]), State::Proposed(1));
    life.decline("me", 1, "pa").unwrap();
    assert_eq!(state(&life, t[1]), State::Expired, "its time was over");
}

#[test]
fn a_clock_that_is_set_back_changes_nothing() {
    let mut life = life(100_000);
    let t = submit(&mut life, "plain", &["a"]);
    life.at(Timestamp(150_000));
    life.at(Timestamp(0));
    assert_eq!(life.now(), Timestamp(150_000));
    let mut disk = disk::Disk::default();
    disk.write(changes(&mut life));
    let life = disk.restore(queues(), 0);
    assert_eq!(life.waited(life.ticket(t[0]).unwrap()), 0);
    let life = disk.restore(queues(), 130_000);
    assert_eq!(life.waited(life.ticket(t[0]).unwrap()), 30_000);
}

#[test]
fn a_state_is_kept_for_a_day() {
    let mut life = life(0);
    let t = submit(&mut life, "plain", &["a", "b"]);
    life.propose("plain", vec![proposal(&[&[t[0]], &[t[1]]])], 1);
    assert_eq!(life.unsent("me"), t);
    life.sent(t[0]);
    assert_eq!(life.unsent("me"), [t[1]]);
    life.at(Timestamp(KEEP_MILLIS - 1));
    assert_eq!(life.find("me", "a"), Ok(t[0]));
    assert!(life.formed(1).is_some());
    life.at(Timestamp(KEEP_MILLIS));
    assert_eq!(life.find("me", "a"), Err(TicketRefused::NoTicket));
    assert!(life.formed(1).is_none() && life.unsent("me").is_empty());
}

#[test]
fn tickets_of_a_queue_that_is_gone_leave() {
    let mut life = life(0);
    let t = submit(&mut life, "checked", &["a", "b"]);
    let plain = submit(&mut life, "plain", &["c", "d"]);
    life.propose("checked", vec![proposal(&[&[t[0]], &[t[1]]])], 1);
    let left = queues().into_iter().filter(|(name, _)| name != "checked");
    life.configure(left, |record| record.number != plain[0]);
    for gone in [t[0], t[1], plain[0]] {
        assert_eq!(state(&life, gone), State::Cancelled);
    }
    assert_eq!(life.ticket(t[0]).unwrap().reason, Reason::Reconfigured);
    assert_eq!(state(&life, plain[1]), State::Queued);
}

#[test]
fn the_median_wait_is_that_of_matched_tickets() {
    let mut life = life(0);
    assert_eq!(life.median_wait("plain"), None);
    let a = submit(&mut life, "plain", &["a"]);
    life.at(Timestamp(2_000));
    let b = submit(&mut life, "plain", &["b", "c"]);
    life.at(Timestamp(3_000));
    life.propose("plain", vec![proposal(&[&[a[0], b[0]], &[b[1]]])], 1);
    assert_eq!(life.median_wait("plain"), Some(1_000));
}

#[test]
fn rows_that_were_changed_by_hand_are_mended() {
    let mut life = life(0);
    let t = submit(&mut life, "checked", &["a", "b", "c", "d"]);
    let found = vec![proposal(&[&[t[0]], &[t[1]]]), proposal(&[&[t[2]], &[t[3]]])];
    life.propose("checked", found, 1);
    let mut disk = disk::Disk::default();
    disk.write(changes(&mut life));
    disk.matches.remove(&1);
    disk.tickets.get_mut(&t[3]).unwrap().state = State::Queued;
    let mut life = disk.restore(queues(), 0);
    assert_eq!(state(&life, t[0]), State::Queued);
    assert_eq!(state(&life, t[3]), State::Queued);
    life.at(Timestamp(30_000));
    assert_eq!(state(&life, t[2]), State::Cancelled);
    assert_eq!(state(&life, t[3]), State::Queued);
}
