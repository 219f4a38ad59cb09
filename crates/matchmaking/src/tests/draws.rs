//! What must hold of every draw of a map, a mode or a band of tiers, whatever the tickets.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::AtomicBool,
};

use proptest::prelude::*;

use super::{maps::checked, plans::Backwards, situations::queue};
use crate::{OneCore, Queue, Ticket, planner::PlanInput, pool::Pool};
use evenkeel_model::random::{Stream, StreamPurpose};

const SMALL: &str = r#"
teams = 2
size = 2
ruleset = "ctf"
[attributes]
tier = "int 1..4"
maps = "set"
modes = "set ctf tdm"
[[rule]]
name = "spread"
rule = "spread"
of = "tier"
at_most = 1
hard = true
[[rule]]
name = "modes"
rule = "common"
of = "modes"
picks = "mode"
hard = true
[[rule]]
name = "maps"
rule = "common"
of = "maps"
picks = "map"
hard = true
"#;

/// A player of [`SMALL`]: the tier, the modes and the maps.
type Player = (u32, Vec<String>, Vec<String>);

/// Random players.
fn players(seed: u64, count: usize) -> Vec<Player> {
    let mut stream = Stream::new(seed, StreamPurpose::Arrivals);
    let mut some = |prefix: &str, of: usize| -> Vec<String> {
        let count = 1 + stream.index(of);
        let own = stream.distinct(count, of as u128);
        own.into_iter()
            .map(|word| format!("{prefix}{word}"))
            .collect()
    };
    let player = |_| {
        let tier = some("", 4).len() as u32;
        let modes = some("", 2).into_iter();
        let modes = modes.map(|mode| ["ctf", "tdm"][usize::from(mode == "1")].to_owned());
        (tier, modes.collect(), some("m", 4))
    };
    (0..count).map(player).collect()
}

/// A ticket for each player, who have all played on these maps lately.
fn tickets(queue: &Queue, players: &[Player], played: &[String]) -> Vec<Ticket> {
    let ticket = |(at, (tier, modes, maps)): (usize, &Player)| {
        let json = format!(
            r#"{{"ticket":"t{at}","players":[{{"id":"p{at}","tier":{tier},"modes":{modes:?},"maps":{maps:?}}}]}}"#
        );
        checked(queue, &json, played)
    };
    players.iter().enumerate().map(ticket).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn the_drawn_combination_holds_as_many_tickets_as_the_best(seed in any::<u64>(), count in 1_usize..60) {
        let queue = queue(SMALL);
        let players = players(seed, count);
        let tickets = tickets(&queue, &players, &[]);
        let pool = Pool::new(&queue, &tickets, None);
        // Each way to choose for the first ticket, by hand: two tiers next to each other, a mode, a map.
        let (tier, modes, maps) = &players[0];
        let mut ways: BTreeMap<(u32, &String, &String), usize> = BTreeMap::new();
        for low in [tier - 1, *tier] {
            for (mode, map) in modes.iter().flat_map(|mode| maps.iter().map(move |map| (mode, map))) {
                let fits = |one: &&Player| {
                    (low..=low + 1).contains(&one.0) && one.1.contains(mode) && one.2.contains(map)
                };
                ways.insert((low, mode, map), players.iter().filter(fits).count());
            }
        }
        let best = *ways.values().max().unwrap();
        let mut first: BTreeSet<Vec<u32>> = BTreeSet::new();
        for random in 0..400 {
            let drawn = pool.combinations(0, &pool.all(), 0.0, random).all;
            prop_assert_eq!(drawn[0].count, best);
            prop_assert_eq!(drawn[0].tickets.len(), best);
            prop_assert!(drawn.is_sorted_by_key(|one| std::cmp::Reverse(one.count)));
            let words = drawn[0].picks.iter().map(|(_, word)| *word);
            first.insert(words.collect());
        }
        // Each of the best is drawn first by some seed; the same mode and map can be best with two bands.
        let best: BTreeSet<_> = ways.iter().filter(|(_, count)| **count == best).collect();
        let best: BTreeSet<_> = best.into_iter().map(|((_, mode, map), _)| (mode, map)).collect();
        prop_assert_eq!(first.len(), best.len());
    }

    /// Whatever is drawn and remembered, each map and mode is one that all players have chosen, and the threads
    /// change nothing.
    #[test]
    fn what_is_drawn_is_shared_by_all(seed in any::<u64>(), count in 4_usize..60, repeat in 0..3) {
        let text = format!("repeat_maps = {}\n{SMALL}", [0.0, 0.1, 1.0][repeat as usize]);
        let queue = queue(&text);
        let players = players(seed, count);
        let tickets = tickets(&queue, &players, &["m0".to_owned()]);
        let played = vec!["m1".to_owned(); 20];
        let input = PlanInput { seed, played: &played, ..PlanInput::new(&queue, &tickets) };
        let plan = input.plan(&OneCore, &AtomicBool::new(false));
        for found in &plan.matches {
            for place in found.teams.iter().flatten() {
                prop_assert!(players[*place].1.contains(&found.picks["mode"]));
                prop_assert!(players[*place].2.contains(&found.picks["map"]));
            }
        }
        let again = input.plan(&Backwards, &AtomicBool::new(false));
        prop_assert_eq!(plan, again);
    }
}
