//! Each step of a hosted match, and each of its time-outs.

use super::*;

/// A match that the instance `a` was asked to host at time 0.
fn opening() -> Lifecycle {
    let mut life = life();
    life.joined(offer("a", "m", 1)).unwrap();
    host(&mut life, 1);
    assert_eq!(sent(&mut life), [open("a", 1)]);
    life
}

/// The same match, in play.
fn playing() -> Lifecycle {
    let mut life = opening();
    life.ready("a", 1, None).unwrap();
    life.opened("a", 1, 77).unwrap();
    life.began("a", 1).unwrap();
    assert_eq!(sent(&mut life), []);
    assert_eq!(state(&life), State::Matched(1));
    life
}

fn pass(life: &mut Lifecycle, seconds: i64) -> Vec<Message> {
    life.at(life.now().plus_millis(seconds * 1_000));
    sent(life)
}

/// Like [`pass`], while the instance sends lines.
fn pass_alive(life: &mut Lifecycle, seconds: i64) -> Vec<Message> {
    let mut acts = Vec::new();
    for _ in 0..seconds {
        acts.extend(pass(life, 1));
        life.alive("a", life.now());
    }
    acts
}

/// The state of the first ticket.
fn state(life: &Lifecycle) -> State {
    life.ticket(1).unwrap().state
}

fn stage(life: &Lifecycle) -> (Stage, Why) {
    let hosted = life.hosted(1).unwrap();
    (hosted.stage, hosted.why)
}

#[test]
fn a_match_goes_through_all_states() {
    let mut life = opening();
    assert_eq!(life.opened("a", 1, 77), Err(HostRefused::NotReady));
    assert_eq!(life.began("a", 1), Err(HostRefused::NotReady));
    assert_eq!(life.ready("b", 1, None), Err(HostRefused::NotYours));
    life.ready("a", 1, Some("m:27961")).unwrap();
    life.ready("a", 1, Some("m:27961")).unwrap();
    assert_eq!(sent(&mut life), []);
    assert_eq!(state(&life), State::Called(1));
    let address = life.hosted(1).unwrap().address.clone();
    assert_eq!(address.as_deref(), Some("m:27961"));
    life.opened("a", 1, 77).unwrap();
    life.began("a", 1).unwrap();
    assert_eq!(sent(&mut life), []);
    assert_eq!(state(&life), State::Matched(1));
    assert_eq!(life.refused("a", 1), Err(HostRefused::NotYours));
    life.ended(1);
    life.ended(1);
    assert_eq!(stage(&life), (Stage::Over, Why::None));
    host(&mut life, 2);
    assert_eq!(sent(&mut life), [open("a", 2)], "the slot is free");
    pass_alive(&mut life, 5);
    pass(&mut life, KEEP_MILLIS / 1_000);
    assert_eq!(life.hosted(1), None);
}

#[test]
fn without_an_instance_the_tickets_go_back() {
    let mut life = life();
    host(&mut life, 1);
    assert_eq!(pass(&mut life, 119), []);
    assert_eq!(pass(&mut life, 1), []);
    assert_eq!(state(&life), State::Queued);
    assert_eq!(stage(&life), (Stage::Failed, Why::NoInstance));
}

#[test]
fn who_refuses_or_does_not_answer_rests_and_another_is_asked() {
    let mut life = opening();
    life.refused("a", 1).unwrap();
    assert_eq!(sent(&mut life), []);
    assert_eq!(pass(&mut life, 9), []);
    assert_eq!(pass(&mut life, 1), [open("a", 1)]);
    let acts = pass_alive(&mut life, 30);
    assert_eq!(acts, [close("a", 1, Why::Silent)]);
    life.joined(offer("b", "n", 1)).unwrap();
    assert_eq!(sent(&mut life), [open("b", 1)]);
    assert_eq!(life.ready("a", 1, None), Err(HostRefused::NotYours));
}

#[test]
fn an_instance_that_dies_before_play_is_replaced() {
    let mut life = opening();
    life.ready("a", 1, None).unwrap();
    life.opened("a", 1, 77).unwrap();
    life.arrived("a", 1, "ann");
    take(&mut life);
    life.lost("a");
    life.parted(1);
    life.joined(offer("b", "n", 1)).unwrap();
    assert_eq!(pass(&mut life, 14), []);
    assert_eq!(life.pass(1, "ann").map(String::as_str), Some("pass"));
    assert_eq!(pass(&mut life, 1), [open("b", 1)]);
    assert_eq!(state(&life), State::Hosted(1));
    // The passes of the other instance are new ones.
    assert_eq!(life.hosted(1).unwrap().passes.len(), 4);
    assert!(life.hosted(1).unwrap().present.is_empty());
    // When it comes back after all, it hears that the match is gone.
    life.joined(offer("a", "m", 1)).unwrap();
    assert_eq!(sent(&mut life), [close("a", 1, Why::Lost)]);
}

#[test]
fn an_instance_that_comes_back_in_time_keeps_its_match() {
    let mut life = opening();
    life.lost("a");
    assert_eq!(pass(&mut life, 14), []);
    life.joined(offer("a", "m", 1)).unwrap();
    assert_eq!(sent(&mut life), [open("a", 1)]);
    life.ready("a", 1, None).unwrap();
    assert_eq!(sent(&mut life), []);
    assert_eq!(state(&life), State::Called(1));
}

#[test]
fn a_quiet_instance_is_lost() {
    let mut life = opening();
    life.ready("a", 1, None).unwrap();
    life.opened("a", 1, 77).unwrap();
    take(&mut life);
    assert_eq!(pass_alive(&mut life, 100), []);
    assert_eq!(pass(&mut life, 30), []);
    assert!(life.instances().all(|one| one.away.is_some()));
    // A line brings it back.
    life.at(life.now().plus_millis(1));
    life.alive("a", life.now());
    assert_eq!(sent(&mut life), [open("a", 1)]);
    assert_eq!(pass(&mut life, 30), []);
    assert_eq!(pass(&mut life, 15), []);
    assert_eq!(state(&life), State::Hosted(1));
    assert_eq!(life.instances().count(), 0);
}

#[test]
fn a_game_that_does_not_begin_gives_the_tickets_back() {
    let mut life = opening();
    life.ready("a", 1, None).unwrap();
    life.opened("a", 1, 77).unwrap();
    take(&mut life);
    life.arrived("a", 1, "ann");
    life.arrived("b", 1, "bob");
    let acts = pass_alive(&mut life, 300);
    assert_eq!(acts, [close("a", 1, Why::NotStarted)]);
    // Of the four, only ann has come.
    let reasons = life.tickets.values().map(|ticket| ticket.reason);
    let (back, gone) = (Reason::Unhosted, Reason::NoShow);
    assert!(reasons.eq([back, gone, gone, gone]));
    let present = &life.hosted(1).unwrap().present;
    assert_eq!(*present, ["ann".to_owned()].into(), "known to the end");
}

#[test]
fn a_game_in_play_may_come_back() {
    let mut life = playing();
    life.lost("a");
    life.parted(1);
    pass(&mut life, 100);
    assert_eq!(stage(&life), (Stage::Playing, Why::None));
    life.joined(offer("a", "m", 1)).unwrap();
    life.opened("a", 1, 77).unwrap();
    host(&mut life, 2);
    assert_eq!(sent(&mut life), [], "its only slot is taken");
    pass_alive(&mut life, 100);
    assert_eq!(stage(&life), (Stage::Playing, Why::None));
    life.parted(1);
    let acts = pass_alive(&mut life, 122);
    assert_eq!(acts, [close("a", 1, Why::Lost)]);
    let failed = life.hosted(2).unwrap();
    assert_eq!((failed.stage, failed.why), (Stage::Failed, Why::NoInstance));
    assert_eq!(stage(&life), (Stage::Failed, Why::Lost));
}

#[test]
fn a_game_in_play_ends_in_the_end() {
    let mut life = playing();
    let acts = pass_alive(&mut life, 14_400);
    assert_eq!(acts, [close("a", 1, Why::TooLong)]);
    let mut life = playing();
    life.gave_up(1);
    assert_eq!(stage(&life), (Stage::Failed, Why::GivenUp));
    assert_eq!(sent(&mut life), []);
}

#[test]
fn passes_expire() {
    let mut life = opening();
    life.ready("a", 1, None).unwrap();
    life.opened("a", 1, 77).unwrap();
    life.began("a", 1).unwrap();
    pass_alive(&mut life, 599);
    assert!(life.pass(1, "ann").is_some());
    pass_alive(&mut life, 1);
    assert_eq!(life.pass(1, "ann"), None);
}

#[test]
fn no_match_goes_round_for_ever() {
    let mut life = life();
    let mut tries = 0;
    host(&mut life, 1);
    for _ in 0..100 {
        life.joined(offer("a", "m", 1)).unwrap();
        let acts = pass(&mut life, 10);
        tries += acts.iter().filter(|act| **act == open("a", 1)).count();
        if life.ready("a", 1, None).is_ok() {
            life.refused("a", 1).unwrap();
        }
    }
    assert_eq!(tries, MAX_TRIES as usize);
    assert_eq!(stage(&life), (Stage::Failed, Why::Refused));
}

#[test]
fn an_instance_that_was_away_hears_of_a_lost_match_after_a_restart_of_the_daemon() {
    let mut life = life();
    let mut disk = Disk::default();
    life.joined(offer("a", "m", 1)).unwrap();
    host(&mut life, 1);
    disk.write(take(&mut life).write);
    life.ready("a", 1, None).unwrap();
    life.lost("a");
    life.joined(offer("b", "n", 1)).unwrap();
    life.at(Timestamp(15_000));
    let ready = take(&mut life);
    assert_eq!(ready.send, [open("b", 1)]);
    disk.write(ready.write);
    assert_eq!(disk.owed[&("a".to_owned(), 1)], Why::Lost);
    let mut restored = disk.restore(queues(), life.now().0);
    restored.joined(offer("a", "m", 1)).unwrap();
    let ready = take(&mut restored);
    assert_eq!(ready.send, [close("a", 1, Why::Lost)]);
    let finalised = Change::Finalised {
        instance: "a".to_owned(),
        id: 1,
    };
    assert!(ready.write.contains(&finalised));
    restored.lost("a");
    restored.joined(offer("a", "m", 1)).unwrap();
    assert_eq!(sent(&mut restored), [], "once");
}

/// A match of two against two in play, and a player of the queue on the way to the seat of who has left.
fn seat_is_sought() -> Lifecycle {
    let mut life = playing();
    life.report_roster("a", 1, roster(&[("bob", 0), ("cid", 1), ("dan", 1)]));
    assert_eq!(life.seek_players("a", 1, 0, 1), Ok(1));
    let eve = submit(&mut life, "eve", &["eve"]);
    fill(&mut life, eve);
    assert_eq!(sent(&mut life), [admit(&["eve"])]);
    life
}

fn roster(players: &[(&str, u8)]) -> Vec<(String, Option<u8>)> {
    let one = |(player, team): &(&str, u8)| ((*player).to_owned(), Some(*team));
    players.iter().map(one).collect()
}

/// Sends a ticket to a seat of team 0.
fn fill(life: &mut Lifecycle, ticket: TicketNumber) {
    let filling = Filling {
        id: 1,
        version: life.hosted(1).unwrap().version,
        seats: vec![(ticket, 0)],
        why: Vec::new(),
    };
    assert!(life.fill(filling, || "secret".to_owned()));
}

fn admit(players: &[&str]) -> Message {
    Message::Admit(1, players.iter().map(|one| (*one).to_owned()).collect())
}

fn release(players: &[&str]) -> Message {
    Message::Dismiss(1, players.iter().map(|one| (*one).to_owned()).collect())
}

fn free(life: &Lifecycle) -> Vec<Vec<usize>> {
    let seeking = life.seeking().into_iter();
    seeking.map(|(_, free)| free).collect()
}

#[test]
fn who_has_left_comes_back_and_the_player_on_the_way_is_released() {
    let mut life = seat_is_sought();
    let back = roster(&[("bob", 0), ("cid", 1), ("dan", 1), ("ann", 0)]);
    life.report_roster("a", 1, back);
    assert_eq!(sent(&mut life), [release(&["eve"])]);
    assert_eq!(life.pass(1, "eve"), None);
    assert!(free(&life).is_empty(), "no seat is sought any more");
    assert_eq!(pass_alive(&mut life, 120), [], "nobody is penalised");
}

#[test]
fn of_two_on_their_way_the_ticket_that_was_sent_last_is_released_as_a_whole() {
    let mut life = playing();
    life.report_roster("a", 1, roster(&[("cid", 1)]));
    assert_eq!(life.seek_players("a", 1, 0, 2), Ok(2));
    let fay = submit(&mut life, "fay", &["fay"]);
    let eve = submit(&mut life, "eve", &["eve"]);
    fill(&mut life, eve);
    pass_alive(&mut life, 1);
    fill(&mut life, fay);
    take(&mut life);
    life.report_roster("a", 1, roster(&[("cid", 1), ("ann", 0)]));
    assert_eq!(sent(&mut life), [release(&["fay"])]);
    let mut life = playing();
    life.report_roster("a", 1, roster(&[("cid", 1)]));
    life.seek_players("a", 1, 0, 2).unwrap();
    let both = submit(&mut life, "both", &["eve", "fay"]);
    fill(&mut life, both);
    take(&mut life);
    life.report_roster("a", 1, roster(&[("cid", 1), ("ann", 0)]));
    assert_eq!(sent(&mut life), [release(&["eve", "fay"])]);
}

#[test]
fn a_game_server_sends_a_player_away_who_is_on_the_way() {
    let mut life = seat_is_sought();
    assert!(!life.send_away("b", 1, "eve"), "not its match");
    assert!(!life.send_away("a", 1, "bob"), "is in the game");
    assert!(life.send_away("a", 1, "eve"));
    assert!(!life.send_away("a", 1, "eve"), "once");
    assert_eq!(sent(&mut life), [release(&["eve"])]);
    assert_eq!(free(&life), [[1, 0]], "the seat is sought again");
    let sent_away = &life.hosted(1).unwrap().sent_away;
    assert_eq!(*sent_away, ["eve".to_owned()].into());
    assert_eq!(pass_alive(&mut life, 120), []);
}

#[test]
fn the_time_to_come_stands_still_while_the_game_has_no_connection() {
    let mut life = seat_is_sought();
    assert_eq!(pass_alive(&mut life, 50), []);
    life.parted(1);
    assert_eq!(pass_alive(&mut life, 100), [], "nobody can come");
    life.opened("a", 1, 77).unwrap();
    assert_eq!(sent(&mut life), [admit(&["eve"])]);
    assert_eq!(pass_alive(&mut life, 59), []);
    let missed = [Message::Dismiss(1, vec!["eve".to_owned()])];
    assert_eq!(pass_alive(&mut life, 1), missed);
    // The same if the machine of the game server is silent, and its connections seem to be open.
    let mut life = seat_is_sought();
    assert_eq!(pass_alive(&mut life, 20), []);
    assert_eq!(pass(&mut life, 44), []);
    life.joined(offer("a", "m", 1)).unwrap();
    assert_eq!(pass_alive(&mut life, 59), []);
    assert_eq!(pass_alive(&mut life, 1), missed);
}

#[test]
fn a_match_that_everybody_has_left_seeks_nobody() {
    let mut life = seat_is_sought();
    life.report_roster("a", 1, Vec::new());
    assert_eq!(sent(&mut life), [release(&["eve"])]);
    assert!(free(&life).is_empty());
    let refused = life.seek_players("a", 1, 0, 1);
    assert_eq!(refused, Err(HostRefused::Deserted));
    assert_eq!(life.seek_players("a", 1, 0, 0), Ok(0));
    life.report_roster("a", 1, roster(&[("bob", 0)]));
    assert_eq!(life.seek_players("a", 1, 0, 1), Ok(1));
    assert_eq!(free(&life), [[1, 0]]);
}
