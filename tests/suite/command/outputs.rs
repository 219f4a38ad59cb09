//! What all commands have in common: `--json` is one value, `--dir` a folder with everything, and `config show` says
//! which values are in force.

use std::{fs, path::Path};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::process;

const CTF: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/openarena/ctf-014.log"
);

fn run_with(folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> (i32, String, String) {
    let mut command = process::evenkeel(folder);
    command.env_remove("EVENKEEL_WEB_LISTEN");
    command.args(args).envs(variables.iter().copied());
    process::printed(command.output().unwrap())
}

fn run(folder: &Path, args: &[&str]) -> (i32, String, String) {
    run_with(folder, args, &[])
}

fn json(folder: &Path, args: &[&str]) -> Value {
    let (code, out, error) = run(folder, &[args, &["--json"]].concat());
    assert_eq!(code, 0, "{args:?}: {error}");
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{args:?}: {error}: {out}"))
}

#[test]
fn json_is_one_value() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let ingested = json(path, &["ingest", CTF]);
    assert!(ingested["games"].as_u64().unwrap() > 0, "{ingested}");
    assert_eq!(
        ingested["rated"],
        ingested["matches"].as_array().unwrap().len()
    );
    let id = ingested["matches"][0].to_string();
    let shown = json(path, &["match", "show", &id]);
    assert_eq!(
        (&shown["id"], &shown["rated"]),
        (&ingested["matches"][0], &true.into())
    );
    assert!(shown["players"].as_array().unwrap().len() > 1, "{shown}");
    let rebuilt = json(path, &["rebuild"]);
    assert_eq!(rebuilt["rated"], ingested["rated"]);
    assert!(
        json(path, &["token", "new"])["hash"]
            .as_str()
            .unwrap()
            .starts_with("sha256:")
    );
    for list in [
        &["hosting", "instances"][..],
        &["hosting", "matches"],
        &["queue", "status"],
        &["webhook", "list"],
        &["match", "list"],
        &["weights"],
    ] {
        assert!(json(path, list).is_array(), "{list:?}");
    }
    fs::write(
        path.join("own.toml"),
        "[queue.duel]\nteams = 2\nsize = 1\nruleset = 'x'\n",
    )
    .unwrap();
    let checked = json(path, &["config", "check", "own.toml"]);
    assert_eq!(checked["valid"], true);
    let queues = json(path, &["queue", "check", "own.toml"]);
    assert_eq!(queues[0]["queue"], "duel");
}

#[test]
fn a_folder_has_everything() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::create_dir(path.join("league")).unwrap();
    let (code, _, error) = run(path, &["ingest", "--dir", "league", CTF]);
    assert_eq!(code, 0, "{error}");
    assert!(path.join("league/evenkeel.db").exists() && !path.join("evenkeel.db").exists());
    assert!(
        run(path, &["match", "list", "--dir", "league"])
            .1
            .contains("baseoa.ctf")
    );
    // Its configuration may name another database.
    fs::write(
        path.join("league/evenkeel.toml"),
        "[store]\ndatabase = 'other.db'\n",
    )
    .unwrap();
    let (code, _, error) = run(path, &["match", "list", "--dir", "league"]);
    assert!(code == 5 && error.contains("league/other.db"), "{error}");
    let (code, _, error) = run(path, &["match", "list", "--dir", "nowhere"]);
    assert_eq!(
        (code, error.as_str()),
        (4, "evenkeel: nowhere: there is no such folder\n")
    );
    let both = [
        "match",
        "list",
        "--dir",
        "league",
        "--config",
        "league/evenkeel.toml",
    ];
    assert_eq!(run(path, &both).0, 2);
}

const CONFIG: &str = "\
[server]
listen = '127.0.0.1:1'

[store]
url = 'postgres://ann:sesame@db.example/league'

[[clients]]
name = 'one'
token = 'sesame-sesame-sesame'
rights = ['ask']
";

#[test]
fn the_configuration_in_force_has_origins_and_no_secrets() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::write(path.join("own.toml"), CONFIG).unwrap();
    let args = [
        "config",
        "show",
        "--changed",
        "--config",
        "own.toml",
        "--web",
        "127.0.0.1:2",
    ];
    let variables = [
        ("EVENKEEL_LIMITS_LINES_BURST", "7"),
        ("EVENKEEL_LISTEN", "127.0.0.1:3"),
    ];
    let (code, text, error) = run_with(path, &args, &variables);
    assert_eq!((code, error.as_str()), (0, ""));
    assert!(text.starts_with("configuration file: own.toml\n"), "{text}");
    let line = |key: &str| {
        let mut lines = text.lines();
        let line = lines.find(|line| line.starts_with(&format!("{key} = ")));
        let words = line
            .unwrap_or_else(|| panic!("{key}: {text}"))
            .split_whitespace();
        words.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        line("server.listen"),
        "server.listen = \"127.0.0.1:3\" # variable EVENKEEL_LISTEN"
    );
    assert_eq!(
        line("web.listen"),
        "web.listen = \"127.0.0.1:2\" # flag --web"
    );
    assert_eq!(
        line("limits.lines_burst"),
        "limits.lines_burst = 7 # variable EVENKEEL_LIMITS_LINES_BURST"
    );
    assert_eq!(
        line("clients[0].token"),
        "clients[0].token = \"(hidden)\" # line 9"
    );
    assert_eq!(
        line("store.url"),
        "store.url = \"postgres://ann@db.example:5432/league\" # line 5"
    );
    assert!(
        !text.contains("sesame") && !text.contains("# default"),
        "{text}"
    );
    let all = json(path, &["config", "show", "--config", "own.toml"]);
    let values = all["values"].as_array().unwrap();
    let of = |key: &str| values.iter().find(|one| one["key"] == key).unwrap();
    assert_eq!(of("server.listen")["from"], "file");
    assert_eq!(of("server.listen")["line"], 2);
    assert_eq!(of("store.database")["from"], "default");
    // Of a mistake, the line is named.
    fs::write(path.join("wrong.toml"), "[server]\nlisten = 7\n").unwrap();
    let (code, _, error) = run(path, &["config", "show", "--config", "wrong.toml"]);
    assert!(
        code == 3 && error.contains("wrong.toml: line 2:"),
        "{error}"
    );
    let (_, flag, _) = run(path, &["config", "show", "--changed", "--db", "x.db"]);
    assert!(
        flag.contains("store.database = \"x.db\"  # flag --db"),
        "{flag}"
    );
}

/// The database says that a player was on the team that they were on for longest, the lower one of two: so does the
/// command.
#[test]
fn who_was_on_two_teams_for_as_long_has_won_as_the_database_says() {
    const LINE: &str = r#"{"evenkeel":1,"start":"2026-11-20T20:00:00Z","end":"2026-11-20T20:20:00Z","game":"ctf","scores":[3,1],"players":[{"id":"ann","stays":[{"team":0,"from":0,"to":600000},{"team":1,"from":600000,"to":1200000}]},{"id":"bob","team":0},{"id":"cid","team":1},{"id":"dan","team":1}]}"#;
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::write(path.join("one.jsonl"), format!("{LINE}\n")).unwrap();
    let (code, _, error) = run(path, &["ingest", "one.jsonl"]);
    assert_eq!(code, 0, "{error}");
    let shown = json(path, &["match", "show", "1"]);
    let players = shown["players"].as_array().unwrap().iter();
    let outcomes: Vec<_> = players
        .map(|one| {
            (
                one["player"]["id"].as_str().unwrap(),
                one["outcome"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("ann", "won"),
        ("bob", "won"),
        ("cid", "lost"),
        ("dan", "lost"),
    ];
    assert_eq!(outcomes, expected);
    let (_, table, _) = run(path, &["match", "show", "1"]);
    let ann = table.lines().find(|line| line.contains("ann")).unwrap();
    assert!(ann.contains(" 0 1 ") && ann.contains(" won "), "{table}");
}
