//! Which instance gets a match.

use std::collections::BTreeSet;

use super::*;
use crate::Latency;

/// The instance that was asked to host each match, in order.
fn asked(life: &mut Lifecycle) -> Vec<String> {
    let opened = sent(life).into_iter().filter_map(|message| match message {
        Message::Open { instance, .. } => Some(instance),
        _ => None,
    });
    opened.collect()
}

#[test]
fn the_least_busy_one_then_the_emptiest_machine_then_the_first_name() {
    let mut life = life();
    for (name, machine) in [("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b")] {
        life.joined(offer(name, machine, 2)).unwrap();
    }
    for id in 1..=5 {
        host(&mut life, id);
    }
    assert_eq!(asked(&mut life), ["a1", "b1", "a2", "b2", "a1"]);
    life.load("b1", 0.9).unwrap();
    life.load("a2", 0.6).unwrap();
    host(&mut life, 6);
    host(&mut life, 7);
    host(&mut life, 8);
    assert_eq!(asked(&mut life), ["b2", "a2", "b1"]);
    // All slots are taken.
    host(&mut life, 9);
    assert_eq!(asked(&mut life), Vec::<String>::new());
    assert_eq!(life.hosted(9).unwrap().stage, Stage::Reserved);
    life.joined(offer("c", "c", 1)).unwrap();
    assert_eq!(asked(&mut life), ["c"]);
}

#[test]
fn the_region_with_the_lowest_worst_latency_under_the_ceiling() {
    let mut life = life();
    for (name, region) in [("e", Some("eu")), ("u", Some("us")), ("x", None)] {
        let region = region.map(str::to_owned);
        let offer = offer(name, name, 8);
        life.joined(InstanceOffer { region, ..offer }).unwrap();
    }
    // As its tickets state it, and its queue limits it.
    let near = |life: &mut Lifecycle, id, latencies: &[(&str, f64)], ceiling: Option<f64>| {
        host(life, id);
        let latencies = latencies
            .iter()
            .map(|(region, worst)| ((*region).to_owned(), *worst));
        let wanted = &mut life.matches.get_mut(id).unwrap().wanted;
        (wanted.latencies, wanted.ceiling) = (latencies.collect(), ceiling);
    };
    near(&mut life, 1, &[("eu", 80.0), ("us", 40.0)], None);
    near(&mut life, 2, &[("eu", 80.0), ("us", 140.0)], Some(100.0));
    assert_eq!(asked(&mut life), ["u", "e"]);
    near(&mut life, 3, &[("eu", 180.0), ("us", 140.0)], Some(100.0));
    assert_eq!(asked(&mut life), Vec::<String>::new());
    // Nobody states a latency: an unknown one is not under the ceiling.
    near(&mut life, 4, &[], Some(100.0));
    assert_eq!(asked(&mut life), Vec::<String>::new());
    host(&mut life, 5);
    assert_eq!(asked(&mut life), ["x"], "all are equally far");
}

#[test]
fn only_who_has_the_mode_and_the_map_and_does_not_drain() {
    let mut life = life();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let special = InstanceOffer {
        modes: words(&["ctf"]),
        maps: words(&["ps37ctf"]),
        ..offer("a", "a", 8)
    };
    life.joined(special).unwrap();
    life.joined(offer("b", "b", 8)).unwrap();
    let game = |mode: Option<&str>, map: Option<&str>| Proposal {
        mode: mode.map(str::to_owned),
        map: map.map(str::to_owned),
        ..Proposal::default()
    };
    assert!(life.drain(&["b".to_owned()].into()));
    assert!(!life.drain(&["b".to_owned()].into()));
    host_as(&mut life, 1, game(Some("ctf"), Some("ps37ctf")));
    host_as(&mut life, 2, game(Some("ctf"), Some("oasago2")));
    host_as(&mut life, 3, game(Some("tdm"), None));
    host_as(&mut life, 4, game(None, None));
    assert_eq!(asked(&mut life), ["a", "a"]);
    assert_eq!(life.hosted(4).unwrap().stage, Stage::Opening);
    life.drain(&BTreeSet::new());
    assert_eq!(asked(&mut life), ["b", "b"]);
}

#[test]
fn the_latency_of_a_match_is_the_worst_one_of_its_players_where_all_state_one() {
    let mut queues = queues();
    queues[0].1.latency = Some(Latency {
        of: "ping".to_owned(),
        at_most: None,
    });
    let mut life = begin(CoordinatorSettings::default(), queues, 0);
    for (number, ping) in [r#"{"eu":20,"us":90}"#, r#"{"eu":40,"asia":10}"#]
        .iter()
        .enumerate()
    {
        let id = format!("t{number}");
        let content =
            format!(r#"{{"ticket":"{id}","players":[{{"id":"p{number}","ping":{ping}}}]}}"#);
        let ticket = Submission {
            owner: "me".to_owned(),
            players: vec![format!("p{number}")],
            queue: "q".to_owned(),
            id,
            spec: serde_json::from_str(&content).unwrap(),
        };
        life.submit(ticket).unwrap();
    }
    let proposal = Proposal {
        teams: vec![vec![1], vec![2]],
        size: 1,
        ..Proposal::default()
    };
    life.propose("q", vec![proposal], 1);
    let wanted = &life.hosted(1).unwrap().wanted;
    assert_eq!(wanted.latencies, [("eu".to_owned(), 40.0)].into());
    assert_eq!((wanted.size, wanted.teams, wanted.wait), (1, 2, 120_000));
}
