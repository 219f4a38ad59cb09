//! Matches that ask an allocator for their game servers.

use super::*;

fn asking() -> Lifecycle {
    begin(settings(Provider::Agones), queues(), 0)
}

fn pass(life: &mut Lifecycle, millis: i64) {
    let now = life.now();
    life.at(now.plus_millis(millis));
}

#[test]
fn a_match_gets_the_allocated_game_server_and_its_address() {
    let mut one = asking();
    one.joined(offer("idle", "m", 1)).unwrap();
    host(&mut one, 7);
    assert_eq!(take(&mut one).allocate, [7]);
    assert_eq!(sent(&mut one), []);
    assert!(one.answered(7, &done("gs"), 0.0));
    assert_eq!(sent(&mut one), [open("gs", 7)]);
    assert!(one.instances["gs"].away.is_some(), "it has not connected");
    // INSTANCE states what the game server knows itself; players need what the allocator knows.
    one.joined(offer("gs", "10.0.0.7", 1)).unwrap();
    assert_eq!(sent(&mut one), [open("gs", 7)]);
    one.ready("gs", 7, None).unwrap();
    assert_eq!(sent(&mut one), []);
    let called = |ticket: &TicketRecord| ticket.state == State::Called(7);
    assert!(one.tickets.values().all(called));
    let address = |one: &Lifecycle| one.hosted(7).unwrap().address.clone().unwrap();
    assert_eq!(address(&one), "gs.example:7000");
    one.ready("gs", 7, Some("9.9.9.9:1")).unwrap();
    assert_eq!(address(&one), "9.9.9.9:1");
    assert_eq!(one.unused(), 0);
}

#[test]
fn pauses_between_requests_grow_and_end_with_the_wait() {
    let mut one = asking();
    host(&mut one, 7);
    let (mut asked, mut since, mut pauses) = (0, 0, Vec::new());
    for millis in (0i64..).step_by(10) {
        one.at(Timestamp(millis));
        let ready = take(&mut one);
        assert_eq!(ready.send, []);
        if one.hosted(7).unwrap().stage == Stage::Failed {
            assert_eq!(millis, 120_000);
            let expected = [0, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000];
            assert_eq!(pauses[..8], expected);
            assert_eq!(one.queued("q").count(), 4);
            return;
        }
        for id in ready.allocate {
            assert_eq!(id, 7);
            pauses.push(millis - since);
            (asked, since) = (asked + 1, millis);
            let none = match asked % 2 {
                0 => Allocation::NoneFree,
                _ => Allocation::Failed("status 503".to_owned()),
            };
            assert!(!one.answered(7, &none, 1.0));
        }
    }
}

#[test]
fn the_pause_is_spread_at_random() {
    for (jitter, pause) in [(0.0, 250), (0.5, 375), (1.0, 500), (f64::NAN, 500)] {
        let mut one = asking();
        host(&mut one, 7);
        take(&mut one);
        one.answered(7, &Allocation::NoneFree, jitter);
        pass(&mut one, pause - 1);
        assert_eq!(sent(&mut one), []);
        pass(&mut one, 1);
        assert_eq!(take(&mut one).allocate, [7]);
    }
}

#[test]
fn a_game_server_that_never_connects_is_replaced_and_closed_when_it_does() {
    let mut one = asking();
    host(&mut one, 7);
    take(&mut one);
    one.answered(7, &done("late"), 0.0);
    take(&mut one);
    pass(&mut one, 15_000);
    assert_eq!(take(&mut one).allocate, [7]);
    one.answered(7, &done("quick"), 0.0);
    take(&mut one);
    one.joined(offer("late", "m", 1)).unwrap();
    assert_eq!(sent(&mut one), [close("late", 7, Why::Lost)]);
    one.joined(offer("quick", "m", 1)).unwrap();
    assert_eq!(sent(&mut one), [open("quick", 7)]);
}

#[test]
fn a_game_server_that_comes_too_late_is_counted_and_closed() {
    let mut one = asking();
    host(&mut one, 7);
    take(&mut one);
    one.withdraw(7);
    take(&mut one);
    assert!(!one.answered(7, &done("absent"), 0.0));
    one.joined(offer("there", "m", 1)).unwrap();
    assert!(!one.answered(7, &done("there"), 0.0));
    assert_eq!(sent(&mut one), [close("there", 7, Why::Withdrawn)]);
    one.joined(offer("absent", "m", 1)).unwrap();
    assert_eq!(sent(&mut one), [close("absent", 7, Why::Withdrawn)]);
    assert_eq!(one.unused(), 2);
    // What is owed to game servers that never connect does not stay for ever.
    assert!(!one.answered(7, &done("never"), 0.0));
    assert_eq!(one.owed.len(), 1);
    pass(&mut one, KEEP_MILLIS);
    assert!(one.owed.is_empty() && one.hosted(7).is_none());
}

#[test]
fn a_game_server_that_is_taken_is_not_shared() {
    let mut one = asking();
    one.joined(offer("gs", "m", 1)).unwrap();
    for id in [1, 2] {
        host(&mut one, id);
    }
    take(&mut one);
    assert!(one.answered(1, &done("gs"), 0.0));
    assert!(one.answered(1, &done("gs"), 0.0), "the same answer again");
    assert!(!one.answered(2, &done("gs"), 0.0));
    assert_eq!(sent(&mut one), [open("gs", 1), close("gs", 2, Why::Lost)]);
    assert_eq!(one.unused(), 1);
    pass(&mut one, 500);
    assert_eq!(take(&mut one).allocate, [2]);
    assert!(one.answered(2, &done("other"), 0.0));
}

#[test]
fn after_a_restart_a_match_asks_again() {
    let mut one = asking();
    host(&mut one, 7);
    let mut disk = Disk::default();
    disk.write(take(&mut one).write);
    let settings = settings(Provider::Agones);
    let now = Timestamp(5_000);
    let mut one = Lifecycle::restore(settings, queues(), disk.stored(), now, |_| true);
    assert_eq!(take(&mut one).allocate, [7]);
}
