//! Who is who: `player find`, names and handles where commands take an identity, and `match list`.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::process::run;

/// Two matches of three players whose names are not their identities, and one of a fourth; two are called bob.
fn league() -> TempDir {
    let folder = TempDir::new().unwrap();
    let names = [("g1", "^1B^7ob"), ("g2", "Ann%"), ("g3", "bob")];
    let players = |team: fn(usize) -> usize| -> Vec<Value> {
        let all = names.iter().enumerate();
        let one = |(seat, &(id, name)): (usize, &(&str, &str))| json!({"id": id, "name": name, "team": team(seat)});
        all.map(one).collect()
    };
    let lines = [
        json!({"evenkeel": 1, "start": "2026-11-20T15:00:00Z", "end": "2026-11-20T15:12:30Z",
               "game": "ctf", "map": "one", "scores": [5, 3], "players": players(|seat| seat % 2)}),
        json!({"evenkeel": 1, "start": "2026-11-20T16:00:00Z", "end": "2026-11-20T16:10:00Z",
               "game": "tdm", "map": "two", "scores": [1, 3], "players": players(|seat| seat / 2)}),
        json!({"evenkeel": 1, "start": "2026-11-20T14:00:00Z", "end": "2026-11-20T14:10:00Z",
               "game": "ctf", "map": "one", "scores": [2, 0],
               "players": [{"id": "g4", "name": "zed", "team": 0}, {"id": "g1", "name": "^1B^7ob", "team": 1}]}),
    ];
    let text = lines.map(|line| format!("{line}\n")).concat();
    fs::write(folder.path().join("matches.jsonl"), text).unwrap();
    let (code, _, error) = run(folder.path(), &["ingest", "matches.jsonl"]);
    assert_eq!(code, 0, "{error}");
    folder
}

fn json_of(folder: &Path, args: &[&str]) -> Vec<Value> {
    let (code, out, error) = run(folder, &[args, &["--json"]].concat());
    assert_eq!(code, 0, "{error}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn players_are_found_by_parts_of_names_and_identities() {
    let folder = league();
    let ids = |text: &str| -> Vec<Value> {
        let found = json_of(folder.path(), &["player", "find", text]);
        found
            .iter()
            .map(|one| one["player"]["id"].clone())
            .collect()
    };
    assert_eq!(ids("BO"), ["g1", "g3"], "colours and case do not matter");
    assert_eq!(ids("g2"), ["g2"]);
    assert_eq!(ids("%"), ["g2"], "no pattern");
    assert_eq!(ids("zoe"), [] as [&str; 0]);
    assert_eq!(ids("zed"), ["g4"]);
    let (_, out, _) = run(folder.path(), &["player", "find", "ann"]);
    assert!(
        out.contains("Ann%") && out.contains("2026-11-20T16:10:00Z"),
        "{out}"
    );
    let (code, out, _) = run(folder.path(), &["player", "find", "zoe"]);
    assert_eq!(
        (code, &*out),
        (0, "no player has \"zoe\" in a name or identity\n")
    );
    // Former names, and identities that were merged, lead to the player.
    assert_eq!(run(folder.path(), &["player", "merge", "zed", "g2"]).0, 0);
    assert_eq!((ids("zed"), ids("g4")), (ids("g2"), ids("g2")));
    assert_eq!(ids("zed"), ["g2"]);
}

#[test]
fn a_name_or_handle_is_as_good_as_an_identity_where_it_is_unique() {
    let folder = league();
    let shown = |text: &str| run(folder.path(), &["player", "show", text]);
    let (code, out, error) = shown("ann%");
    assert!(code == 0 && out.starts_with("human g2\n"), "{out}{error}");
    let found = json_of(folder.path(), &["player", "find", "ann"]);
    let (code, out, error) = shown(found[0]["player"]["handle"].as_str().unwrap());
    assert!(code == 0 && out.starts_with("human g2\n"), "{out}{error}");
    let (code, _, error) = shown("Bob");
    assert_eq!(code, 4);
    assert!(
        error.contains("2 players are called Bob: give one of the identities g1, g3"),
        "{error}"
    );
    // What a command changes is that player's, too.
    assert_eq!(
        run(folder.path(), &["player", "pin-weight", "Ann%", "70"]).0,
        0
    );
    assert!(
        run(folder.path(), &["player", "show", "g2"])
            .1
            .contains("70")
    );
    assert_eq!(run(folder.path(), &["player", "forget", "Ann%"]).0, 0);
    assert_eq!(run(folder.path(), &["player", "show", "g2"]).0, 4);
    assert_eq!(shown("nobody").0, 4);
}

#[test]
fn the_latest_matches_are_listed() {
    let folder = league();
    let listed = json_of(folder.path(), &["match", "list"]);
    let ids: Vec<i64> = listed
        .iter()
        .map(|one| one["id"].as_i64().unwrap())
        .collect();
    assert_eq!(ids, [2, 1, 3]);
    assert_eq!(listed[0]["scores"], json!([1.0, 3.0]));
    let of = |words: &[&str]| -> Vec<i64> {
        let listed = json_of(folder.path(), &[&["match", "list"], words].concat());
        listed
            .iter()
            .map(|one| one["id"].as_i64().unwrap())
            .collect()
    };
    assert_eq!(of(&["--player", "zed"]), [3]);
    assert_eq!(of(&["--player", "g1"]), [2, 1, 3]);
    assert_eq!(of(&["--player", "g1", "--limit", "2"]), [2, 1]);
    assert_eq!(of(&["--player", "g1", "--game", "ctf"]), [1, 3]);
    assert_eq!(of(&["--player", "nobody"]), [] as [i64; 0]);
    // Matches are made void by the name of a player, too.
    let (code, out, _) = run(folder.path(), &["match", "void", "--player", "zed"]);
    assert_eq!((code, out.as_str()), (0, "1 match is void\n"));
    assert_eq!(run(folder.path(), &["match", "unvoid", "3"]).0, 0);
    let ctf = json_of(folder.path(), &["match", "list", "--game", "ctf"]);
    assert_eq!((ctf.len(), &ctf[0]["map"]), (2, &json!("one")));
    assert_eq!(
        json_of(folder.path(), &["match", "list", "--limit", "1"]).len(),
        1
    );
    let (_, out, _) = run(folder.path(), &["match", "list"]);
    assert!(
        out.contains("2026-11-20T16:10:00Z") && out.contains("1:3"),
        "{out}"
    );
    let (_, out, _) = run(folder.path(), &["match", "list", "--game", "duel"]);
    assert_eq!(out, "there is no match of duel\n");
    assert_eq!(run(folder.path(), &["match", "list", "--limit", "0"]).0, 2);
}
