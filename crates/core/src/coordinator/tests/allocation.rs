//! Which instance gets a match.

use std::collections::BTreeSet;

use super::*;

/// The instance that was asked to host each match, in order.
fn asked(coordinator: &mut Coordinator) -> Vec<String> {
    let acts = coordinator.take_acts().into_iter();
    let opened = acts.filter_map(|act| match act {
        Act::Open { instance, .. } => Some(instance),
        _ => None,
    });
    opened.collect()
}

#[test]
fn the_least_busy_one_then_the_emptiest_machine_then_the_first_name() {
    let mut coordinator = coordinator();
    for (name, machine) in [("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b")] {
        coordinator.joined(offer(name, machine, 2)).unwrap();
    }
    for id in 1..=5 {
        coordinator.host(id, "q", wanted());
    }
    assert_eq!(asked(&mut coordinator), ["a1", "b1", "a2", "b2", "a1"]);
    coordinator.load("b1", 0.9).unwrap();
    coordinator.load("a2", 0.6).unwrap();
    coordinator.host(6, "q", wanted());
    coordinator.host(7, "q", wanted());
    coordinator.host(8, "q", wanted());
    assert_eq!(asked(&mut coordinator), ["b2", "a2", "b1"]);
    // All slots are taken.
    coordinator.host(9, "q", wanted());
    assert_eq!(asked(&mut coordinator), Vec::<String>::new());
    assert_eq!(coordinator.hosted(9).unwrap().stage, Stage::Reserved);
    coordinator.joined(offer("c", "c", 1)).unwrap();
    assert_eq!(asked(&mut coordinator), ["c"]);
}

#[test]
fn the_region_with_the_lowest_worst_latency_under_the_ceiling() {
    let mut coordinator = coordinator();
    for (name, region) in [("e", Some("eu")), ("u", Some("us")), ("x", None)] {
        let region = region.map(str::to_owned);
        let offer = offer(name, name, 8);
        coordinator.joined(Offer { region, ..offer }).unwrap();
    }
    let near = |eu: f64, us: f64, ceiling: Option<f64>| Wanted {
        latencies: [("eu".to_owned(), eu), ("us".to_owned(), us)].into(),
        ceiling,
        ..wanted()
    };
    coordinator.host(1, "q", near(80.0, 40.0, None));
    coordinator.host(2, "q", near(80.0, 140.0, Some(100.0)));
    assert_eq!(asked(&mut coordinator), ["u", "e"]);
    coordinator.host(3, "q", near(180.0, 140.0, Some(100.0)));
    assert_eq!(asked(&mut coordinator), Vec::<String>::new());
    // Nobody states a latency: an unknown one is not under the ceiling.
    let ceiling = Some(100.0);
    coordinator.host(
        4,
        "q",
        Wanted {
            ceiling,
            ..wanted()
        },
    );
    assert_eq!(asked(&mut coordinator), Vec::<String>::new());
    coordinator.host(5, "q", wanted());
    assert_eq!(asked(&mut coordinator), ["x"], "all are equally far");
}

#[test]
fn only_who_has_the_mode_and_the_map_and_does_not_drain() {
    let mut coordinator = coordinator();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let special = Offer {
        modes: words(&["ctf"]),
        maps: words(&["ps37ctf"]),
        ..offer("a", "a", 8)
    };
    coordinator.joined(special).unwrap();
    coordinator.joined(offer("b", "b", 8)).unwrap();
    let game = |mode: Option<&str>, map: Option<&str>| Wanted {
        mode: mode.map(str::to_owned),
        map: map.map(str::to_owned),
        ..wanted()
    };
    assert!(coordinator.drain(&["b".to_owned()].into()));
    assert!(!coordinator.drain(&["b".to_owned()].into()));
    coordinator.host(1, "q", game(Some("ctf"), Some("ps37ctf")));
    coordinator.host(2, "q", game(Some("ctf"), Some("oasago2")));
    coordinator.host(3, "q", game(Some("tdm"), None));
    coordinator.host(4, "q", game(None, None));
    assert_eq!(asked(&mut coordinator), ["a", "a"]);
    assert_eq!(coordinator.hosted(4).unwrap().stage, Stage::Opening);
    coordinator.drain(&BTreeSet::new());
    assert_eq!(asked(&mut coordinator), ["b", "b"]);
}
