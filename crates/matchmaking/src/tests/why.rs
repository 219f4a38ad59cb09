//! What a ticket that waits is explained, and whether it is true.

use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::situations::{queue, shipped, solos, tank, ticket};
use crate::{
    Effort, Queue, Ticket,
    planner::{Explanation, PlanInput},
};
use evenkeel_model::random::{Stream, StreamPurpose};

/// Why the ticket at this place waits, if all others are free.
fn why(queue: &Queue, tickets: &[Ticket], place: usize) -> Explanation {
    let free: Vec<usize> = (0..tickets.len()).collect();
    // So much that a start tries every combination.
    let input = PlanInput {
        effort: Effort::new(8),
        ..PlanInput::new(queue, tickets)
    };
    input.why(place, &free, &AtomicBool::new(false)).unwrap()
}

#[test]
fn a_platoon_is_told_that_it_needs_its_mirror() {
    let queue = shipped("regular");
    let mut tickets = solos(&queue, 12, 0.0, 8);
    tickets.push(tank(&queue, "t90", 5.0, &[8, 8, 7], ""));
    let lines = why(&queue, &tickets, 12).lines();
    assert_eq!(
        lines[0],
        "held back by platoons mirrored: none of 13 candidates mirrors the ticket"
    );
    assert!(lines[1].starts_with("tickets that each hard rule in turn leaves: tier spread 13, "));
    assert_eq!(
        lines[2],
        "nearest match: teams of 7 and 4 of 7 players, mode encounter, map mines"
    );
    assert_eq!(
        lines[3],
        "missing: a party of 3 with tier 8, 8 and 7, the highest tier 8 on team 1"
    );
    let mirror = tank(&queue, "t91", 1.0, &[8, 7, 8], "");
    tickets.push(mirror);
    let reason = why(&queue, &tickets, 12).reason;
    assert!(
        reason.starts_with(
            "nothing holds it back: the next round forms a match with 9 other tickets"
        ),
        "{reason}"
    );
}

#[test]
fn too_few_players_are_told_how_many_more_and_what_they_are_like() {
    let queue = shipped("regular");
    let mut tickets = solos(&queue, 9, 2.0, 8);
    tickets.push(tank(&queue, "s40", 1.0, &[10], ""));
    tickets.push(tank(&queue, "s41", 1.0, &[8], r#","tier_cap":8"#));
    let lines = why(&queue, &tickets, 0).lines();
    assert_eq!(
        lines,
        [
            "held back by too few candidates: tier spread leaves 10 tickets",
            "tickets that each hard rule in turn leaves: tier spread 10, chosen modes 10, new vehicle 10, loaded maps 10, single control 10",
            "nearest match: teams of 4 and 4 of 7 players, mode encounter, map mines",
            "missing: 3 more players on each team, with tier 7, 8 or 9 (single players), of the same tier on all teams, with encounter in modes, with tier at most 8, with mines in maps",
            "in 18 s: teams of 6 are allowed",
        ]
    );
}

#[test]
fn a_penalty_is_told_with_the_wait_after_which_it_is_accepted() {
    let queue = queue(
        r#"
        teams = 2
        size = 1
        ruleset = "x"
        accept = { start = 0, per_second = 0.5, max = 20 }
        attributes = { level = "int 1..50" }
        rule = [{ name = "near", rule = "spread", of = "level", at_most = 5, relax = [[60, 9]] }]
        "#,
    );
    let at = |id: &str, level: u32, waited: u32| {
        ticket(
            &queue,
            &format!(
                r#"{{"ticket":"{id}","waited":{waited},"players":[{{"id":"{id}","level":{level}}}]}}"#
            ),
        )
    };
    let lines = why(&queue, &[at("a", 10, 4), at("b", 25, 1)], 0).lines();
    assert_eq!(
        lines,
        [
            "held back by near: level ranges from 10 to 25; 5 apart is allowed",
            "nearest match: teams of 1 and 0 of 1 players",
            "missing: 1 more player on team 1",
            "the best match has a penalty of 10.000: accepted in 16 s",
            "in 56 s: near allows 9",
        ]
    );
    let never = why(&queue, &[at("a", 1, 4), at("b", 50, 1)], 0).lines();
    assert!(
        never.contains(
            &"the best match has a penalty of 44.000: never accepted, since at most 20 is"
                .to_owned()
        ),
        "{never:?}"
    );
}

#[test]
fn the_lines_are_bounded() {
    let explanation = Explanation {
        reason: "ä".repeat(5_000),
        candidates: vec![("rule".to_owned(), 1); 64],
        nearest: Some("x".repeat(401)),
        missing: vec!["y".to_owned(); 100],
        later: vec!["z".to_owned(); 100],
    };
    let lines = explanation.lines();
    assert_eq!(lines.len(), 3 + 8 + 4);
    assert!(lines.iter().all(|line| line.chars().count() <= 401));
    assert!(lines[1].ends_with(", and 48 more"));
}

/// A queue in which players differ in what an explanation names.
const NAMED: &str = r#"
teams = 2
size = 3
ruleset = "x"
attributes = { tier = "int 1..6", maps = "set", control = "enum touch mouse", same = "flag" }
rule = [
  { name = "tiers", rule = "spread", of = "tier", at_most = 1, hard = true },
  { name = "same tiers", rule = "mirror", of = "tier", hard = true },
  { name = "parties", rule = "mirror-parties", of = "tier", hard = true },
  { name = "maps", rule = "common", of = "maps", picks = "map", hard = true },
  { name = "control", rule = "alike", of = "control", asked_by = "same", hard = true },
]
"#;

fn drawn(queue: &Queue, number: usize, random: &mut Stream) -> Ticket {
    let tier = 1 + random.index(6);
    let maps = if random.index(3) == 0 {
        r#"["b"]"#
    } else {
        r#"["a","b"]"#
    };
    let control = ["touch", "mouse"][random.index(2)];
    let same = random.index(4) == 0;
    let players = (0..1 + random.index(3) / 2).map(|at| {
        format!(
            r#"{{"id":"p{number}.{at}","tier":{tier},"maps":{maps},"control":"{control}","same":{same}}}"#
        )
    });
    let players: Vec<String> = players.collect();
    let json = format!(
        r#"{{"ticket":"t{number}","waited":{},"players":[{}]}}"#,
        60 - number,
        players.join(",")
    );
    ticket(queue, &json)
}

/// The ticket under another name.
fn twin(of: &Ticket, number: usize) -> Ticket {
    let mut twin = of.clone();
    twin.id = format!("twin{number}");
    for player in &mut twin.players {
        player.id = format!("twin{number}.{}", player.id);
    }
    twin
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// Twins of the ticket's own players, which are what an explanation asks for, give it a match.
    #[test]
    fn what_is_missing_makes_a_match(seed in any::<u64>(), count in 1_usize..12) {
        let queue = queue(NAMED);
        let mut random = Stream::new(seed, StreamPurpose::Arrivals);
        let mut tickets: Vec<Ticket> = (0..count).map(|n| drawn(&queue, n, &mut random)).collect();
        let first = why(&queue, &tickets, 0);
        if first.nearest.is_none() {
            return Ok(());
        }
        prop_assert!(!first.missing.is_empty(), "{first:?}");
        let own = tickets[0].clone();
        if !first.missing[0].contains(" more player") {
            let what = if own.players.len() > 1 { "a party of 2 with" } else { "a player with" };
            prop_assert!(first.missing[0].starts_with(what), "{first:?}");
            tickets.push(twin(&own, 0));
        }
        let single = Ticket { players: own.players[..1].to_vec(), ..own };
        let more = first.missing.iter().find_map(|what| what.split_once(" more player"));
        let more: usize = more.map_or(0, |(more, _)| more.parse().unwrap());
        let each = if first.missing.iter().any(|what| what.contains("on each team")) { 2 } else { 1 };
        for number in 0..more * each {
            tickets.push(twin(&single, 1 + number));
        }
        let then = why(&queue, &tickets, 0);
        prop_assert!(then.reason.starts_with("nothing holds it back"), "{first:?} {then:?}");
    }
}
