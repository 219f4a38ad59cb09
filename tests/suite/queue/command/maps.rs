//! The maps and modes that `evenkeel queue match` and `evenkeel queue simulate` give.

use std::{collections::BTreeMap, fs};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{WOTB, queue};

const MAPS: [&str; 5] = ["canal", "dam", "mines", "port", "well"];

/// Players of tier 8 for 36 matches, all with the same five maps.
fn tickets(played: &[&str]) -> String {
    let ticket = |number: usize| {
        let kind = ["light", "medium", "heavy", "destroyer"][number % 4];
        let ticket = json!({"ticket": format!("t{number}"), "waited": 0, "players": [{
            "id": format!("p{number}"), "tier": 8, "kind": kind, "vehicle": format!("v{number}"),
            "modes": ["encounter", "supremacy"], "maps": MAPS, "control": "touch", "@maps": played,
        }]});
        format!("{ticket}\n")
    };
    (0..36 * 14).map(ticket).collect()
}

/// How often each map and each mode was picked.
fn counts(matches: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in matches.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        for name in ["map", "mode"] {
            let word = line[name].as_str().expect(matches);
            *counts.entry(word.to_owned()).or_default() += 1;
        }
    }
    counts
}

#[test]
fn matches_of_players_with_the_same_maps_are_on_all_of_them() {
    let folder = TempDir::new().unwrap();
    let run = |played: &[&str], more: &[&str]| {
        fs::write(folder.path().join("t.jsonl"), tickets(played)).unwrap();
        let call = [
            "match", "t.jsonl", "--queue", "regular", "--config", WOTB, "--json",
        ];
        let (code, out, err) = queue(folder.path(), &[&call[..], more].concat());
        assert_eq!((code, err.as_str()), (0, ""));
        assert_eq!(out.lines().count(), 36, "{out}");
        out
    };
    let first = run(&[], &[]);
    let drawn = counts(&first);
    assert_eq!(drawn.len(), 7, "{drawn:?}");
    // Of each map 7 are expected, with a standard deviation of 2.4; of each mode 18 with 3.
    assert!(
        MAPS.iter().all(|map| (2..14).contains(&drawn[*map])),
        "{drawn:?}"
    );
    assert!((9..28).contains(&drawn["encounter"]), "{drawn:?}");
    assert_eq!(
        first,
        run(&[], &["--threads", "3"]),
        "threads change nothing"
    );
    assert_ne!(first, run(&[], &["--seed", "2"]));
    // All have just played on the canal: 1 match there is expected.
    let rare = counts(&run(&["canal"], &[]));
    assert!(*rare.get("canal").unwrap_or(&0) < 5, "{rare:?}");
    let last = ["dam"; 16].join(",");
    let rare = counts(&run(&[], &["--played", &last]));
    assert!(*rare.get("dam").unwrap_or(&0) < 5, "{rare:?}");
}

#[test]
fn a_simulation_prints_how_often_each_map_was_played() {
    let folder = TempDir::new().unwrap();
    // Small teams: few people make many matches.
    let duels = fs::read_to_string(WOTB).unwrap();
    let duels = duels.replace(
        "size = 7\nsmaller = [[20, 6], [30, 5], [45, 3]]\n",
        "size = 1\n",
    );
    assert!(duels.contains("size = 1\n"));
    let forgets = duels.replace("repeat_maps = 0.1", "repeat_maps = 1.0");
    fs::write(folder.path().join("remembers.toml"), duels).unwrap();
    fs::write(folder.path().join("forgets.toml"), forgets).unwrap();
    let run = |config: &str, more: &[&str]| {
        let call = [
            "simulate", "--queue", "regular", "--config", config, "--online", "100",
        ];
        let load = ["--hours", "0.5", "--maps", "4", "--loaded", "1"];
        let (code, out, err) = queue(folder.path(), &[&call[..], &load, more].concat());
        assert_eq!(code, 0, "{err}");
        out
    };
    let again = |config: &str| {
        let report: Value = serde_json::from_str(&run(config, &["--json"])).unwrap();
        let [maps, modes] = report["picks"].as_array().unwrap().as_slice() else {
            panic!("{}", report["picks"]);
        };
        assert_eq!(
            (&maps["pick"], &modes["pick"]),
            (&json!("map"), &json!("mode"))
        );
        let words = maps["words"].as_array().unwrap();
        let matches = words.iter().map(|word| word["matches"].as_u64().unwrap());
        assert_eq!(Some(matches.sum()), report["matches"].as_u64());
        let shares = words.iter().map(|word| word["share"].as_f64().unwrap());
        let shares: Vec<f64> = shares.collect();
        assert!(
            shares.len() == 4 && shares.iter().all(|share| (0.15..0.35).contains(share)),
            "{shares:?}"
        );
        maps["again"].as_f64().unwrap()
    };
    let (remembers, forgets) = (again("remembers.toml"), again("forgets.toml"));
    assert!((0.2..0.3).contains(&forgets), "{forgets}");
    assert!(remembers < forgets - 0.05, "{remembers} and {forgets}");
    let printed = run("remembers.toml", &[]);
    let line = " % of the players had the map of their last match again\n";
    assert!(
        printed.contains(line) && printed.contains("map3"),
        "{printed}"
    );
}
