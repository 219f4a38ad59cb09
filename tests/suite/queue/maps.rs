//! The maps of two players who queue again and again at one daemon: what they have played is remembered, also
//! after a restart, and their matches can be found again.

use std::{collections::BTreeSet, fs, io::Write, path::Path};

use tempfile::TempDir;

use crate::common::process::{self, Process};

/// Duels in which a map is never played twice in a row.
const DUELS: &str = r#"
[queue.duel]
teams = 2
size = 1
ruleset = "ctf"
host = "none"
repeat_maps = 0

[queue.duel.attributes]
maps = "set"
modes = "set"

[[queue.duel.rule]]
name = "maps"
rule = "common"
of = "maps"
picks = "map"
hard = true

[[queue.duel.rule]]
name = "modes"
rule = "common"
of = "modes"
picks = "mode"
hard = true
"#;

/// Plays matches; returns the id, the mode and the map of each.
fn play(daemon: &Process, numbers: std::ops::Range<usize>) -> Vec<[String; 3]> {
    let mut stream = daemon.connect();
    stream.get_mut().write_all(b"HELLO one\nLISTEN\n").unwrap();
    let mut played = Vec::new();
    for number in numbers {
        let wants = "maps=canal maps=dam maps=well modes=ctf modes=tdm";
        let ticket = |player: &str| {
            format!("ENQUEUE duel {player}{number}\nSEAT {player} {wants}\nSUBMIT\n")
        };
        let lines = ticket("a") + &ticket("b");
        stream.get_mut().write_all(lines.as_bytes()).unwrap();
        let mut told = BTreeSet::new();
        while told.len() < 2 {
            let line = process::line(&mut stream);
            assert!(!line.starts_with("ERROR"), "{line}");
            if let ["*", "MATCHED", id, ticket, mode, map, ..] =
                line.split_whitespace().collect::<Vec<_>>()[..]
            {
                // A listener may be told of an earlier match twice.
                if [format!("a{number}"), format!("b{number}")].contains(&ticket.to_owned())
                    && told.insert(ticket.to_owned())
                    && told.len() == 2
                {
                    played.push([id, mode, map].map(str::to_owned));
                }
            }
        }
    }
    played
}

fn replayed(folder: &Path, id: &str) -> String {
    let run = process::evenkeel(folder)
        .args(["queue", "replay", id, "--config", "evenkeel.toml"])
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn two_players_get_all_maps_and_never_the_one_that_they_just_played() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("evenkeel.toml"), DUELS).unwrap();
    let config = [("EVENKEEL_CONFIG", "evenkeel.toml")];
    let mut played = Vec::new();
    for run in 0..4 {
        let mut daemon = Process::start_with(folder.path(), &config);
        played.extend(play(&daemon, 10 * run..10 * run + 10));
        for [id, mode, map] in played.iter().skip(10 * run + 8) {
            let said = replayed(folder.path(), id);
            let line = format!(r#"{{"map":"{map}","match":{id},"mode":"{mode}","#);
            assert!(
                said.starts_with(&line) && said.contains(": the same teams\n"),
                "{said}"
            );
        }
        match run % 2 {
            0 => daemon.stop(),
            _ => daemon.kill(),
        }
    }
    let maps: Vec<&String> = played.iter().map(|[_, _, map]| map).collect();
    assert!(maps.windows(2).all(|pair| pair[0] != pair[1]), "{maps:?}");
    let maps: BTreeSet<&String> = maps.into_iter().collect();
    let modes: BTreeSet<&String> = played.iter().map(|[_, mode, _]| mode).collect();
    assert_eq!((maps.len(), modes.len()), (3, 2), "{played:?}");
}
