//! Situations as an organiser or a player would describe them.

use std::sync::atomic::AtomicBool;

use crate::{Effort, KnownAttributes, OneCore, Plan, Queue, Ticket, TicketSpec, plan};

const WOTB: &str = include_str!("../../../../config/queues/wotb.toml");

pub(super) fn shipped(name: &str) -> Queue {
    let table: toml::Table = WOTB.parse().unwrap();
    let settings = table["queue"][name].clone().try_into().unwrap();
    Queue::new(name, settings).unwrap()
}

pub(super) fn queue(text: &str) -> Queue {
    Queue::new("x", toml::from_str(text).unwrap()).unwrap()
}

pub(super) fn ticket(queue: &Queue, json: &str) -> Ticket {
    let spec: TicketSpec = serde_json::from_str(json).unwrap();
    queue
        .ticket(&spec, &mut |_| KnownAttributes::default())
        .unwrap()
}

fn planned(queue: &Queue, tickets: &[Ticket]) -> Plan {
    plan(
        queue,
        tickets,
        1,
        Effort::default(),
        &OneCore,
        &AtomicBool::new(false),
    )
}

/// A ticket of the regular queue: players with these tiers and anything else that JSON adds.
pub(super) fn tank(queue: &Queue, id: &str, waited: f64, tiers: &[u32], more: &str) -> Ticket {
    let players = tiers.iter().enumerate().map(|(at, tier)| {
        // Different vehicles of four kinds, so that only the tiers matter.
        let number: usize = id.trim_start_matches(char::is_alphabetic).parse().unwrap();
        let kind = ["light", "medium", "heavy", "destroyer"][(number + at) % 4];
        format!(
            r#"{{"id":"{id}.{at}","tier":{tier},"kind":"{kind}","vehicle":"{id}{at}","modes":["encounter"],"maps":["mines"],"control":"touch"{more}}}"#
        )
    });
    let players: Vec<String> = players.collect();
    let json = format!(
        r#"{{"ticket":"{id}","waited":{waited},"players":[{}]}}"#,
        players.join(",")
    );
    ticket(queue, &json)
}

pub(super) fn solos(queue: &Queue, count: usize, waited: f64, tier: u32) -> Vec<Ticket> {
    (0..count)
        .map(|at| tank(queue, &format!("s{at}"), waited, &[tier], ""))
        .collect()
}

#[test]
fn fourteen_players_of_one_tier_play_at_once() {
    let queue = shipped("regular");
    let tickets = solos(&queue, 14, 0.0, 8);
    let plan = planned(&queue, &tickets);
    assert_eq!((plan.matches.len(), plan.left.len()), (1, 0), "{plan:?}");
    let found = &plan.matches[0];
    assert_eq!((found.size, found.penalty), (7, 0.0));
    let reports = queue.explain(&tickets, found);
    assert_eq!(reports.len(), 11);
    assert_eq!(
        reports[1].sentence,
        "tier ranges from 8 to 8; 1 apart is allowed"
    );
    assert_eq!(found.picks["mode"], "encounter");
    assert_eq!(found.picks["map"], "mines");
}

#[test]
fn two_friends_are_on_one_team() {
    let queue = shipped("regular");
    let mut tickets = solos(&queue, 10, 0.0, 8);
    tickets.push(tank(&queue, "f10", 5.0, &[8, 8], ""));
    tickets.push(tank(&queue, "f20", 1.0, &[8, 8], ""));
    let plan = planned(&queue, &tickets);
    assert_eq!((plan.matches.len(), plan.left.len()), (1, 0), "{plan:?}");
    let teams = &plan.matches[0].teams;
    let team_of = |ticket| teams.iter().position(|team| team.contains(&ticket));
    assert_ne!(
        team_of(10),
        team_of(11),
        "their mirror is on the other team"
    );
}

#[test]
fn thirteen_people_at_night_play_six_against_six_once_they_have_waited() {
    let queue = shipped("regular");
    let early = planned(&queue, &solos(&queue, 13, 19.0, 8));
    assert!(early.matches.is_empty());
    assert!(
        early.left[0].reason.starts_with("too few candidates"),
        "{early:?}"
    );
    let late = planned(&queue, &solos(&queue, 13, 20.0, 8));
    assert_eq!((late.matches.len(), late.left.len()), (1, 1), "{late:?}");
    assert_eq!(late.matches[0].size, 6);
}

#[test]
fn a_low_platoon_without_a_mirror_waits_and_reads_why() {
    let queue = shipped("regular");
    let mut tickets = solos(&queue, 40, 1.0, 8);
    tickets.push(tank(&queue, "low100", 9.0, &[2, 2, 2], ""));
    tickets.extend((200..215).map(|at| tank(&queue, &format!("t{at}"), 1.0, &[2], "")));
    let plan = planned(&queue, &tickets);
    assert_eq!(plan.matches.len(), 3);
    let low = plan.left.iter().find(|left| left.ticket == 40).unwrap();
    let reason = "platoons mirrored: none of 16 candidates mirrors the ticket";
    assert_eq!(low.reason, reason);
    let spread = low
        .candidates
        .iter()
        .find(|(rule, _)| rule == "tier spread");
    assert_eq!(spread.map(|(_, count)| *count), Some(16));
}

#[test]
fn the_oldest_ticket_is_not_passed_over() {
    let queue = shipped("regular");
    // The oldest plays tier 6, of which there are just enough; all others would play without it.
    let mut tickets = solos(&queue, 60, 1.0, 7);
    tickets.push(tank(&queue, "old100", 30.0, &[6], ""));
    tickets.push(tank(&queue, "new101", 0.5, &[6], ""));
    let plan = planned(&queue, &tickets);
    assert!(
        plan.matches[0]
            .teams
            .iter()
            .flatten()
            .any(|ticket| *ticket == 60),
        "{plan:?}"
    );
    assert_eq!(plan.matches[0].waited, 30.0);
}

#[test]
fn a_touch_player_who_asks_for_it_meets_no_mouse() {
    let queue = shipped("regular");
    let mut tickets = solos(&queue, 13, 1.0, 8);
    tickets.push(tank(
        &queue,
        "asks100",
        5.0,
        &[8],
        r#","same_control":true"#,
    ));
    let all_touch = planned(&queue, &tickets);
    assert_eq!(all_touch.matches.len(), 1);
    tickets[0] = ticket(
        &queue,
        r#"{"ticket":"mouse","players":[{"id":"m","tier":8,"kind":"light","vehicle":"x","modes":["encounter"],"maps":["mines"],"control":"mouse"}]}"#,
    );
    let one_mouse = planned(&queue, &tickets);
    assert!(one_mouse.matches.is_empty());
}

#[test]
fn a_new_vehicle_meets_no_higher_tier() {
    let queue = shipped("regular");
    let mut tickets = solos(&queue, 30, 1.0, 8);
    tickets.extend((100..113).map(|at| tank(&queue, &format!("t{at}"), 1.0, &[7], "")));
    tickets.push(tank(&queue, "new113", 5.0, &[7], r#","tier_cap":7"#));
    let plan = planned(&queue, &tickets);
    let with = plan
        .matches
        .iter()
        .find(|found| found.teams.iter().flatten().any(|t| *t == 43));
    let tiers = with
        .unwrap()
        .teams
        .iter()
        .flatten()
        .map(|t| format!("{:?}", tickets[*t].players[0].values[5]));
    let tiers: Vec<String> = tiers.collect();
    assert!(!tiers.iter().any(|value| value.contains("8")), "{tiers:?}");
}

#[test]
fn a_pick_up_game_is_even_by_weight() {
    let queue = queue("teams = 2\nsize = 5\nruleset = 'pickup'");
    let weights = [90.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 50.0];
    let ticket = |(at, weight): (usize, &f64)| {
        let spec = TicketSpec {
            ticket: format!("t{at}"),
            waited: 1.0,
            players: vec![crate::PlayerSpec {
                id: format!("p{at}"),
                ..Default::default()
            }],
        };
        let known = |_: &str| KnownAttributes {
            numbers: [("@weight".to_owned(), *weight)].into(),
            ..KnownAttributes::default()
        };
        queue.ticket(&spec, &mut { known }).unwrap()
    };
    let tickets: Vec<Ticket> = weights.iter().enumerate().map(ticket).collect();
    let plan = planned(&queue, &tickets);
    let sum = |team: &Vec<usize>| team.iter().map(|ticket| weights[*ticket]).sum::<f64>();
    let sums: Vec<f64> = plan.matches[0].teams.iter().map(sum).collect();
    assert_eq!(sums, [250.0, 250.0], "{plan:?}");
}

#[test]
fn players_who_avoid_each_other_are_not_on_one_team() {
    let text = r#"
        teams = 2
        size = 2
        ruleset = "x"
        attributes = { avoid = "set" }
        rule = [{ name = "avoid", rule = "apart", of = "avoid", side = "with", hard = true }]
    "#;
    let queue = queue(text);
    let player = |id: &str, avoid: &str| {
        ticket(
            &queue,
            &format!(r#"{{"ticket":"{id}","players":[{{"id":"{id}","avoid":[{avoid}]}}]}}"#),
        )
    };
    let tickets = [
        player("a", r#""b""#),
        player("b", ""),
        player("c", ""),
        player("d", r#""a""#),
    ];
    let plan = planned(&queue, &tickets);
    assert_eq!(
        plan.matches[0].teams,
        [vec![0, 2], vec![1, 3]],
        "a is with c alone"
    );
}

#[test]
fn every_team_gets_a_medic_even_if_the_medics_came_last() {
    let text = r#"
        teams = 2
        size = 3
        ruleset = "x"
        attributes = { role = "enum medic soldier" }
        rule = [{ name = "medic", rule = "has", of = "role", value = "medic", at_least = 1, at_most = 1, hard = true }]
    "#;
    let queue = queue(text);
    let player = |at: usize| {
        let role = if at < 30 { "soldier" } else { "medic" };
        let waited = 100 - at;
        ticket(
            &queue,
            &format!(
                r#"{{"ticket":"t{at}","waited":{waited},"players":[{{"id":"p{at}","role":"{role}"}}]}}"#
            ),
        )
    };
    let tickets: Vec<Ticket> = (0..32).map(player).collect();
    let plan = planned(&queue, &tickets);
    assert_eq!(plan.matches.len(), 1);
    let found = &plan.matches[0];
    assert!(
        found
            .teams
            .iter()
            .all(|team| team.iter().filter(|t| **t >= 30).count() == 1),
        "{plan:?}"
    );
    assert!(
        found.teams.iter().flatten().any(|t| *t == 0),
        "the oldest plays"
    );
}
