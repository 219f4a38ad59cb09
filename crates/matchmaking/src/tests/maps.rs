//! Which maps and modes players get.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::AtomicBool,
};

use super::situations::queue;
use crate::{
    KnownAttributes, OneCore, PLAYER_MATCHES, PlanInput, PlannedMatch, Queue, Ticket, TicketSpec,
    pool::Pool,
};

/// Duels on a map and in a mode that both players have chosen.
fn duels(repeat_maps: &str) -> Queue {
    queue(&format!(
        r#"
        teams = 2
        size = 1
        ruleset = "ctf"
        {repeat_maps}
        [attributes]
        maps = "set"
        modes = "set"
        [[rule]]
        name = "maps"
        rule = "common"
        of = "maps"
        picks = "map"
        hard = true
        [[rule]]
        name = "modes"
        rule = "common"
        of = "modes"
        picks = "mode"
        hard = true
        "#
    ))
}

/// A player who has chosen maps and modes, and has played on other maps lately.
fn duellist(queue: &Queue, id: &str, maps: &[&str], played: &[String]) -> Ticket {
    let json = format!(
        r#"{{"ticket":"{id}","players":[{{"id":"{id}","maps":{maps:?},"modes":["ctf","tdm"]}}]}}"#
    );
    checked(queue, &json, played)
}

/// A ticket whose players have played on these maps lately.
pub(super) fn checked(queue: &Queue, json: &str, played: &[String]) -> Ticket {
    let spec: TicketSpec = serde_json::from_str(json).unwrap();
    let known = KnownAttributes {
        maps: played.to_vec(),
        ..KnownAttributes::default()
    };
    queue.ticket(&spec, &mut |_| known.clone()).unwrap()
}

/// The only match of a round.
fn only_match(queue: &Queue, tickets: &[Ticket], played: &[String], seed: u64) -> PlannedMatch {
    let input = PlanInput {
        seed,
        played,
        ..PlanInput::new(queue, tickets)
    };
    let mut plan = input.plan(&OneCore, &AtomicBool::new(false));
    assert_eq!((plan.matches.len(), plan.left.len()), (1, 0), "{plan:?}");
    plan.matches.remove(0)
}

const MAPS: [&str; 3] = ["canal", "dam", "well"];

#[test]
fn two_duellists_get_each_map_in_each_mode_about_as_often() {
    let queue = duels("");
    let tickets = ["a", "b"].map(|id| duellist(&queue, id, &MAPS, &[]));
    let mut counts: BTreeMap<(String, String), u32> = BTreeMap::new();
    for seed in 0..1_200 {
        let found = only_match(&queue, &tickets, &[], seed);
        let pick = |name: &str| found.picks[name].clone();
        *counts.entry((pick("map"), pick("mode"))).or_default() += 1;
    }
    assert_eq!(counts.len(), 6, "{counts:?}");
    // 200 are expected, with a standard deviation of 13.
    assert!(
        counts.values().all(|count| (150..250).contains(count)),
        "{counts:?}"
    );
}

/// The maps of an evening of `matches` matches between two players, who forget nothing.
fn evening(queue: &Queue, maps: &[&str], matches: u64) -> Vec<String> {
    let mut played: Vec<String> = Vec::new();
    for seed in 0..matches {
        let last = &played[..played.len().min(PLAYER_MATCHES)];
        let tickets = ["a", "b"].map(|id| duellist(queue, id, maps, last));
        let found = only_match(queue, &tickets, &played, seed);
        played.insert(0, found.picks["map"].clone());
    }
    played
}

/// The share of matches on the map of the match before, and that of each map.
fn shares(played: &[String]) -> (f64, Vec<f64>) {
    let again = played.windows(2).filter(|pair| pair[0] == pair[1]).count();
    let maps: BTreeSet<&String> = played.iter().collect();
    let share = |count: usize| count as f64 / played.len() as f64;
    let of = |map: &&String| share(played.iter().filter(|one| one == map).count());
    (share(again), maps.iter().map(of).collect())
}

#[test]
fn the_map_that_was_just_played_is_rarer() {
    for (repeat_maps, least, most) in [
        ("", 0.02, 0.12),
        ("repeat_maps = 0", 0.0, 0.0),
        ("repeat_maps = 0.5", 0.14, 0.28),
        ("repeat_maps = 1", 0.28, 0.39),
    ] {
        let (again, maps) = shares(&evening(&duels(repeat_maps), &MAPS, 600));
        assert!((least..=most).contains(&again), "{repeat_maps}: {again}");
        let even = maps.iter().all(|share| (0.27..0.4).contains(share));
        assert!(even && maps.len() == 3, "{repeat_maps}: {maps:?}");
    }
}

#[test]
fn a_map_without_an_alternative_is_played_again() {
    for repeat_maps in ["", "repeat_maps = 0", "repeat_maps = 1"] {
        let played = evening(&duels(repeat_maps), &MAPS[..1], 40);
        assert_eq!(shares(&played), (39.0 / 40.0, vec![1.0]), "{repeat_maps}");
        // Of two maps neither is left out.
        let (_, maps) = shares(&evening(&duels(repeat_maps), &MAPS[..2], 40));
        assert!(
            maps.len() == 2 && maps.iter().all(|share| *share > 0.2),
            "{maps:?}"
        );
    }
}

#[test]
fn how_likely_a_map_is_follows_from_the_last_matches() {
    let queue = duels("repeat_maps = 0.2");
    let played =
        |maps: &[&str]| -> Vec<String> { maps.iter().map(|map| (*map).to_owned()).collect() };
    let old = played(&["a", "b", "c", "d", "e"]);
    let words = ["a", "b", "c", "d", "e", "f"];
    let one = [
        duellist(&queue, "one", &words, &old),
        duellist(&queue, "two", &words, &played(&["f", "a"])),
    ];
    let last = played(&[
        "e", "e", "f", "e", "e", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "b",
    ]);
    let likelihood = |last: &[String], tickets: &[u32]| -> Vec<f64> {
        let mut pool = Pool::new(&queue, &one, None);
        pool.played = last;
        let rule = &queue.rules()[0];
        let shared = rule.rule.words(&pool.people, &[vec![0], vec![1]]);
        assert_eq!(shared.len(), words.len());
        let likely = |word: u32| {
            let likely = pool.likelihood(0, word, tickets.iter().copied());
            assert_eq!(
                pool.likelihood(1, word, tickets.iter().copied()),
                1.0,
                "not a map"
            );
            (
                pool.people.word(word).to_owned(),
                (likely * 1e6).round() / 1e6,
            )
        };
        let by_map: BTreeMap<String, f64> = shared.into_iter().map(likely).collect();
        by_map.into_values().collect()
    };
    assert_eq!(likelihood(&[], &[0]), [0.2, 0.6, 0.8, 0.9, 1.0, 1.0]);
    // The mean of both players: the second has a as the map before the last.
    assert_eq!(likelihood(&[], &[0, 1]), [0.4, 0.8, 0.9, 0.95, 1.0, 0.6]);
    // Of the last 16 matches 11 were on a, 4 on e, 1 on f. The one on b was before.
    assert_eq!(likelihood(&last, &[0]), [0.09, 0.6, 0.8, 0.9, 0.8, 0.95]);
    assert!(queue.remembers_maps() && !duels("repeat_maps = 1").remembers_maps());
}
