//! Each step of a hosted match, and each of its time-outs.

use super::*;

/// A match that the instance `a` was asked to host at time 0.
fn opening() -> Coordinator {
    let mut coordinator = coordinator();
    coordinator.joined(offer("a", "m", 1)).unwrap();
    coordinator.host(1, "q", wanted());
    assert_eq!(coordinator.take_acts(), [open("a", 1)]);
    coordinator
}

/// The same match, in play.
fn playing() -> Coordinator {
    let mut coordinator = opening();
    coordinator.ready("a", 1, None).unwrap();
    coordinator.opened("a", 1, 77).unwrap();
    coordinator.began("a", 1).unwrap();
    assert_eq!(coordinator.take_acts(), [Act::Call(1), Act::Begun(1)]);
    coordinator
}

fn pass(coordinator: &mut Coordinator, seconds: i64) -> Vec<Act> {
    coordinator.at(coordinator.now().plus_millis(seconds * 1_000));
    coordinator.take_acts()
}

/// Like [`pass`], while the instance sends lines.
fn pass_alive(coordinator: &mut Coordinator, seconds: i64) -> Vec<Act> {
    let mut acts = Vec::new();
    for _ in 0..seconds {
        acts.extend(pass(coordinator, 1));
        coordinator.alive("a", coordinator.now());
    }
    acts
}

fn stage(coordinator: &Coordinator) -> (Stage, Why) {
    let hosted = coordinator.hosted(1).unwrap();
    (hosted.stage, hosted.why)
}

#[test]
fn a_match_goes_through_all_states() {
    let mut coordinator = opening();
    assert_eq!(coordinator.opened("a", 1, 77), Err(HostRefused::NotReady));
    assert_eq!(coordinator.began("a", 1), Err(HostRefused::NotReady));
    assert_eq!(coordinator.ready("b", 1, None), Err(HostRefused::NotYours));
    coordinator.ready("a", 1, Some("m:27961")).unwrap();
    coordinator.ready("a", 1, Some("m:27961")).unwrap();
    assert_eq!(coordinator.take_acts(), [Act::Call(1)]);
    let address = coordinator.hosted(1).unwrap().address.clone();
    assert_eq!(address.as_deref(), Some("m:27961"));
    coordinator.opened("a", 1, 77).unwrap();
    coordinator.began("a", 1).unwrap();
    assert_eq!(coordinator.take_acts(), [Act::Begun(1)]);
    assert_eq!(coordinator.refused("a", 1), Err(HostRefused::NotYours));
    coordinator.ended(1);
    coordinator.ended(1);
    assert_eq!(stage(&coordinator), (Stage::Over, Why::None));
    coordinator.host(2, "q", wanted());
    assert_eq!(coordinator.take_acts(), [open("a", 2)], "the slot is free");
    pass_alive(&mut coordinator, 5);
    pass(&mut coordinator, KEEP_MILLIS / 1_000);
    assert_eq!(coordinator.hosted(1), None);
}

#[test]
fn without_an_instance_the_tickets_go_back() {
    let mut coordinator = coordinator();
    coordinator.host(1, "q", wanted());
    assert_eq!(pass(&mut coordinator, 119), []);
    let back = [Act::Requeue(1, Why::NoInstance)];
    assert_eq!(pass(&mut coordinator, 1), back);
    assert_eq!(stage(&coordinator), (Stage::Failed, Why::NoInstance));
}

#[test]
fn who_refuses_or_does_not_answer_rests_and_another_is_asked() {
    let mut coordinator = opening();
    coordinator.refused("a", 1).unwrap();
    assert_eq!(coordinator.take_acts(), []);
    assert_eq!(pass(&mut coordinator, 9), []);
    assert_eq!(pass(&mut coordinator, 1), [open("a", 1)]);
    let acts = pass_alive(&mut coordinator, 30);
    assert_eq!(acts, [close("a", 1, Why::Silent)]);
    coordinator.joined(offer("b", "n", 1)).unwrap();
    assert_eq!(coordinator.take_acts(), [open("b", 1)]);
    assert_eq!(coordinator.ready("a", 1, None), Err(HostRefused::NotYours));
}

#[test]
fn an_instance_that_dies_before_play_is_replaced() {
    let mut coordinator = opening();
    coordinator.ready("a", 1, None).unwrap();
    coordinator.opened("a", 1, 77).unwrap();
    coordinator.issue(1, [("ann".to_owned(), "secret".to_owned())].into());
    coordinator.arrived("a", 1, "ann");
    coordinator.take_acts();
    coordinator.lost("a");
    coordinator.parted(1);
    coordinator.joined(offer("b", "n", 1)).unwrap();
    assert_eq!(pass(&mut coordinator, 14), []);
    assert_eq!(coordinator.passes(1).map(|passes| passes.len()), Some(1));
    assert_eq!(pass(&mut coordinator, 1), [Act::Seek(1), open("b", 1)]);
    assert_eq!(coordinator.passes(1).map(|passes| passes.len()), Some(0));
    assert!(coordinator.hosted(1).unwrap().present.is_empty());
    // When it comes back after all, it hears that the match is gone.
    coordinator.joined(offer("a", "m", 1)).unwrap();
    assert_eq!(coordinator.take_acts(), [close("a", 1, Why::Lost)]);
}

#[test]
fn an_instance_that_comes_back_in_time_keeps_its_match() {
    let mut coordinator = opening();
    coordinator.lost("a");
    assert_eq!(pass(&mut coordinator, 14), []);
    coordinator.joined(offer("a", "m", 1)).unwrap();
    assert_eq!(coordinator.take_acts(), [open("a", 1)]);
    coordinator.ready("a", 1, None).unwrap();
    assert_eq!(coordinator.take_acts(), [Act::Call(1)]);
}

#[test]
fn a_quiet_instance_is_lost() {
    let mut coordinator = opening();
    coordinator.ready("a", 1, None).unwrap();
    coordinator.opened("a", 1, 77).unwrap();
    coordinator.take_acts();
    assert_eq!(pass_alive(&mut coordinator, 100), []);
    assert_eq!(pass(&mut coordinator, 30), []);
    assert!(coordinator.instances().all(|one| one.away.is_some()));
    // A line brings it back.
    coordinator.at(coordinator.now().plus_millis(1));
    coordinator.alive("a", coordinator.now());
    assert_eq!(coordinator.take_acts(), [open("a", 1)]);
    assert_eq!(pass(&mut coordinator, 30), []);
    assert_eq!(pass(&mut coordinator, 15), [Act::Seek(1)]);
    assert_eq!(coordinator.instances().count(), 0);
}

#[test]
fn a_game_that_does_not_begin_gives_the_tickets_back() {
    let mut coordinator = opening();
    coordinator.ready("a", 1, None).unwrap();
    coordinator.opened("a", 1, 77).unwrap();
    coordinator.take_acts();
    coordinator.arrived("a", 1, "ann");
    coordinator.arrived("b", 1, "bob");
    let acts = pass_alive(&mut coordinator, 300);
    let last = [
        close("a", 1, Why::NotStarted),
        Act::Requeue(1, Why::NotStarted),
    ];
    assert_eq!(acts, last);
    let present = &coordinator.hosted(1).unwrap().present;
    assert_eq!(*present, ["ann".to_owned()].into(), "known to the end");
}

#[test]
fn a_game_in_play_may_come_back() {
    let mut coordinator = playing();
    coordinator.lost("a");
    coordinator.parted(1);
    pass(&mut coordinator, 100);
    assert_eq!(stage(&coordinator), (Stage::Playing, Why::None));
    coordinator.joined(offer("a", "m", 1)).unwrap();
    coordinator.opened("a", 1, 77).unwrap();
    coordinator.host(2, "q", wanted());
    assert_eq!(coordinator.take_acts(), [], "its only slot is taken");
    pass_alive(&mut coordinator, 100);
    assert_eq!(stage(&coordinator), (Stage::Playing, Why::None));
    coordinator.parted(1);
    let acts = pass_alive(&mut coordinator, 122);
    assert_eq!(acts[0], Act::Requeue(2, Why::NoInstance));
    assert_eq!(acts[1..], [close("a", 1, Why::Lost)]);
    assert_eq!(stage(&coordinator), (Stage::Failed, Why::Lost));
}

#[test]
fn a_game_in_play_ends_in_the_end() {
    let mut coordinator = playing();
    let acts = pass_alive(&mut coordinator, 14_400);
    assert_eq!(acts, [close("a", 1, Why::TooLong)]);
    let mut coordinator = playing();
    coordinator.gave_up(1);
    assert_eq!(stage(&coordinator), (Stage::Failed, Why::GivenUp));
    assert_eq!(coordinator.take_acts(), []);
}

#[test]
fn passes_expire() {
    let mut coordinator = opening();
    coordinator.issue(1, [("ann".to_owned(), "secret".to_owned())].into());
    coordinator.ready("a", 1, None).unwrap();
    coordinator.opened("a", 1, 77).unwrap();
    coordinator.began("a", 1).unwrap();
    pass_alive(&mut coordinator, 599);
    assert!(coordinator.passes(1).is_some());
    pass_alive(&mut coordinator, 1);
    assert_eq!(coordinator.passes(1), None);
}

#[test]
fn no_match_goes_round_for_ever() {
    let mut coordinator = coordinator();
    let mut tries = 0;
    coordinator.host(1, "q", wanted());
    for _ in 0..100 {
        coordinator.joined(offer("a", "m", 1)).unwrap();
        let acts = pass(&mut coordinator, 10);
        tries += acts.iter().filter(|act| **act == open("a", 1)).count();
        if coordinator.ready("a", 1, None).is_ok() {
            coordinator.refused("a", 1).unwrap();
        }
    }
    assert_eq!(tries, MAX_TRIES as usize);
    assert_eq!(stage(&coordinator), (Stage::Failed, Why::Refused));
}

#[test]
fn an_instance_that_was_away_hears_of_a_lost_match_after_a_restart_of_the_daemon() {
    let mut coordinator = opening();
    coordinator.ready("a", 1, None).unwrap();
    coordinator.take_acts();
    coordinator.lost("a");
    coordinator.joined(offer("b", "n", 1)).unwrap();
    assert_eq!(pass(&mut coordinator, 15), [Act::Seek(1), open("b", 1)]);
    let (mut owed, mut matches) = (Vec::new(), Vec::new());
    for change in coordinator.take_changes() {
        match change {
            Change::Owed { instance, id, why } => owed.push((instance, id, why)),
            Change::Hosted(hosted) => matches.push(*hosted),
            _ => {}
        }
    }
    assert_eq!(owed, [("a".to_owned(), 1, Why::Lost)]);
    let now = coordinator.now();
    let settings = CoordinatorSettings::default();
    let mut restored = Coordinator::restore(
        settings,
        Vec::new(),
        matches,
        owed,
        now,
        |_| Some(wanted()),
        |_| false,
    );
    restored.joined(offer("a", "m", 1)).unwrap();
    assert_eq!(restored.take_acts(), [close("a", 1, Why::Lost)]);
    let settled = Change::Settled {
        instance: "a".to_owned(),
        id: 1,
    };
    assert!(restored.take_changes().contains(&settled));
    restored.lost("a");
    restored.joined(offer("a", "m", 1)).unwrap();
    assert_eq!(restored.take_acts(), [], "once");
}

/// A match of two against two in play, and a player of the queue on the way to the seat of who has left.
fn seat_is_sought() -> Coordinator {
    let mut coordinator = playing();
    coordinator.report_roster("a", 1, roster(&[("bob", 0), ("cid", 1), ("dan", 1)]));
    assert_eq!(coordinator.seek_players("a", 1, 0, 1), Ok(1));
    coordinator.call_later(1, vec![newcomer("eve", 5, 0)]);
    assert_eq!(coordinator.take_acts(), [admit(&["eve"])]);
    coordinator
}

fn roster(players: &[(&str, u8)]) -> Vec<(String, Option<u8>)> {
    let one = |(player, team): &(&str, u8)| ((*player).to_owned(), Some(*team));
    players.iter().map(one).collect()
}

fn newcomer(player: &str, ticket: i64, team: u8) -> Newcomer {
    let (player, pass) = (player.to_owned(), "secret".to_owned());
    Newcomer {
        player,
        ticket,
        team,
        pass,
    }
}

fn admit(players: &[&str]) -> Act {
    Act::Admit(1, players.iter().map(|one| (*one).to_owned()).collect())
}

fn release(players: &[&str]) -> Act {
    Act::Release(1, players.iter().map(|one| (*one).to_owned()).collect())
}

fn free(coordinator: &Coordinator) -> Vec<Vec<usize>> {
    let seeking = coordinator.seeking().into_iter();
    seeking.map(|(_, free)| free).collect()
}

#[test]
fn who_has_left_comes_back_and_the_player_on_the_way_is_released() {
    let mut coordinator = seat_is_sought();
    let back = roster(&[("bob", 0), ("cid", 1), ("dan", 1), ("ann", 0)]);
    coordinator.report_roster("a", 1, back);
    assert_eq!(coordinator.take_acts(), [release(&["eve"])]);
    assert_eq!(coordinator.pass(1, "eve"), None);
    assert!(free(&coordinator).is_empty(), "no seat is sought any more");
    assert_eq!(pass_alive(&mut coordinator, 120), [], "nobody is to blame");
}

#[test]
fn of_two_on_their_way_the_ticket_that_was_sent_last_is_released_as_a_whole() {
    let mut coordinator = playing();
    coordinator.report_roster("a", 1, roster(&[("cid", 1)]));
    assert_eq!(coordinator.seek_players("a", 1, 0, 2), Ok(2));
    coordinator.call_later(1, vec![newcomer("eve", 5, 0)]);
    pass_alive(&mut coordinator, 1);
    coordinator.call_later(1, vec![newcomer("fay", 4, 0)]);
    coordinator.take_acts();
    coordinator.report_roster("a", 1, roster(&[("cid", 1), ("ann", 0)]));
    assert_eq!(coordinator.take_acts(), [release(&["fay"])]);
    let mut coordinator = playing();
    coordinator.report_roster("a", 1, roster(&[("cid", 1)]));
    coordinator.seek_players("a", 1, 0, 2).unwrap();
    coordinator.call_later(1, vec![newcomer("eve", 5, 0), newcomer("fay", 5, 0)]);
    coordinator.take_acts();
    coordinator.report_roster("a", 1, roster(&[("cid", 1), ("ann", 0)]));
    assert_eq!(coordinator.take_acts(), [release(&["eve", "fay"])]);
}

#[test]
fn a_game_server_sends_a_player_away_who_is_on_the_way() {
    let mut coordinator = seat_is_sought();
    assert!(!coordinator.send_away("b", 1, "eve"), "not its match");
    assert!(!coordinator.send_away("a", 1, "bob"), "is in the game");
    assert!(coordinator.send_away("a", 1, "eve"));
    assert!(!coordinator.send_away("a", 1, "eve"), "once");
    assert_eq!(coordinator.take_acts(), [release(&["eve"])]);
    assert_eq!(free(&coordinator), [[1, 0]], "the seat is sought again");
    let sent_away = &coordinator.hosted(1).unwrap().sent_away;
    assert_eq!(*sent_away, ["eve".to_owned()].into());
    assert_eq!(pass_alive(&mut coordinator, 120), []);
}

#[test]
fn the_time_to_come_stands_still_while_the_game_has_no_connection() {
    let mut coordinator = seat_is_sought();
    assert_eq!(pass_alive(&mut coordinator, 50), []);
    coordinator.parted(1);
    assert_eq!(pass_alive(&mut coordinator, 100), [], "nobody can come");
    coordinator.opened("a", 1, 77).unwrap();
    assert_eq!(coordinator.take_acts(), [admit(&["eve"])]);
    assert_eq!(pass_alive(&mut coordinator, 59), []);
    let missed = [Act::NoShow(1, vec!["eve".to_owned()])];
    assert_eq!(pass_alive(&mut coordinator, 1), missed);
    // The same if the machine of the game server is silent, and its connections seem to be open.
    let mut coordinator = seat_is_sought();
    assert_eq!(pass_alive(&mut coordinator, 20), []);
    assert_eq!(pass(&mut coordinator, 44), []);
    coordinator.joined(offer("a", "m", 1)).unwrap();
    assert_eq!(pass_alive(&mut coordinator, 59), []);
    assert_eq!(pass_alive(&mut coordinator, 1), missed);
}

#[test]
fn a_match_that_everybody_has_left_seeks_nobody() {
    let mut coordinator = seat_is_sought();
    coordinator.report_roster("a", 1, Vec::new());
    assert_eq!(coordinator.take_acts(), [release(&["eve"])]);
    assert!(free(&coordinator).is_empty());
    let refused = coordinator.seek_players("a", 1, 0, 1);
    assert_eq!(refused, Err(HostRefused::Deserted));
    assert_eq!(coordinator.seek_players("a", 1, 0, 0), Ok(0));
    coordinator.report_roster("a", 1, roster(&[("bob", 0)]));
    assert_eq!(coordinator.seek_players("a", 1, 0, 1), Ok(1));
    assert_eq!(free(&coordinator), [[1, 0]]);
}
