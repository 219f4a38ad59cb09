//! Which configuration a command reads, and what its paths mean; and the configurations of the integrations.

use std::{fs, path::Path, process::Command};

use evenkeel::{config::Config, model::access::Secret};
use tempfile::TempDir;

use crate::common::process::{Process, evenkeel};

const CTF: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/openarena/ctf-014.log"
);

/// Runs a command; returns the exit code, stdout and stderr.
fn output(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names
}

#[test]
fn commands_in_another_folder_use_the_database_of_the_file() {
    let (data, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let file = data.path().join("evenkeel.toml");
    fs::write(&file, "[store]\nbackups = 'old'\n").unwrap();
    let run = |words: &[&str]| {
        let mut command = evenkeel(other.path());
        output(command.args(words).arg("--config").arg(&file))
    };
    let (code, _, err) = run(&["ingest", CTF]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(names(other.path()), [""; 0]);
    assert!(names(data.path()).contains(&"evenkeel.db".to_owned()));
    let (code, out, err) = run(&["weights"]);
    assert_eq!((code, out.contains("baseoa.ctf")), (0, true), "{err}");
    // A path in a flag is relative to the current folder.
    let (code, out, err) = run(&["backup", "b.db"]);
    assert_eq!((code, out.starts_with("b.db: ")), (0, true), "{err}");
    assert_eq!(names(other.path()), ["b.db"]);
    let (code, _, err) = run(&["weights", "--db", "none.db"]);
    assert_eq!(
        (code, err.as_str()),
        (5, "evenkeel: there is no database at none.db\n")
    );
}

#[test]
fn a_database_where_earlier_versions_kept_it_is_not_passed_over() {
    let (etc, data) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let file = etc.path().join("evenkeel.toml");
    fs::write(&file, "").unwrap();
    let made = output(evenkeel(data.path()).args(["ingest", CTF]));
    assert_eq!(made.0, 0, "{}", made.2);
    for words in [&["serve"][..], &["ingest", CTF], &["weights"]] {
        let mut command = evenkeel(data.path());
        let (code, _, err) = output(command.args(words).arg("--config").arg(&file));
        assert_eq!(code, 3, "{err}");
        let database = etc.path().join("evenkeel.db");
        let why = format!(
            "evenkeel: there is no database at {}, but there is one in the current folder, evenkeel.db: ",
            database.display()
        );
        assert!(
            err.starts_with(&why) && err.contains("set [store] database"),
            "{err}"
        );
    }
    assert_eq!(names(etc.path()), ["evenkeel.toml"]);
    let whole = data.path().join("evenkeel.db");
    fs::write(
        &file,
        format!("[store]\ndatabase = '{}'\n", whole.display()),
    )
    .unwrap();
    let mut command = evenkeel(data.path());
    let (code, out, err) = output(command.arg("weights").arg("--config").arg(&file));
    assert_eq!((code, out.contains("baseoa.ctf")), (0, true), "{err}");
}

#[test]
fn the_configuration_of_the_system_is_used_when_nothing_else_is_given() {
    let (etc, here) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let file = etc.path().join("evenkeel.toml");
    fs::write(&file, "").unwrap();
    let run = |words: &[&str], variables: &[(&str, &str)]| {
        let mut command = evenkeel(here.path());
        command.args(words).env("EVENKEEL_SYSTEM_CONFIG", &file);
        output(command.envs(variables.iter().copied()))
    };
    let (code, _, err) = run(&["ingest", CTF], &[]);
    assert_eq!(code, 0, "{err}");
    assert!(names(etc.path()).contains(&"evenkeel.db".to_owned()));
    let (code, out, err) = run(&["weights"], &[]);
    assert_eq!((code, out.contains("baseoa.ctf")), (0, true), "{err}");
    // A database, or another configuration, is given.
    let (_, _, err) = run(&["weights", "--db", "own.db"], &[]);
    assert_eq!(err, "evenkeel: there is no database at own.db\n");
    let (_, _, err) = run(&["weights"], &[("EVENKEEL_DB", "own.db")]);
    assert_eq!(err, "evenkeel: there is no database at own.db\n");
    fs::write(here.path().join("own.toml"), "").unwrap();
    let (_, _, err) = run(&["weights"], &[("EVENKEEL_CONFIG", "own.toml")]);
    assert_eq!(err, "evenkeel: there is no database at evenkeel.db\n");
    assert_eq!(names(here.path()), ["own.toml"]);
    // Its faults are those of a file that is given.
    fs::write(&file, "\n[serve]\n").unwrap();
    for words in [&["weights"][..], &["status"]] {
        let (code, _, err) = run(words, &[]);
        assert_eq!(code, 3);
        assert!(
            err.contains("evenkeel.toml: line 2: unknown section [serve]"),
            "{err}"
        );
    }
    fs::remove_file(&file).unwrap();
    let (_, _, err) = run(&["weights"], &[]);
    assert_eq!(err, "evenkeel: there is no database at evenkeel.db\n");
}

#[test]
fn the_service_of_the_package_keeps_its_data_in_its_state_directory() {
    let text = include_str!("../../../packaging/debian/evenkeel.toml");
    let unit = include_str!("../../../packaging/debian/evenkeel.service");
    let state = unit
        .lines()
        .find_map(|line| line.strip_prefix("WorkingDirectory="));
    let state = Path::new(state.unwrap());
    // A test of the command line shows that this is the folder of the paths in that file.
    assert_eq!(state, Path::new("/var/lib/evenkeel"));
    let config = Config::load_in(state, text, []).unwrap();
    assert_eq!(config.store.database, state.join("evenkeel.db"));
    assert_eq!(config.journal(), Some(state.join("evenkeel.games")));
    assert_eq!(config.backups().unwrap().folder, state.join("backups"));
    assert!(unit.contains("serve --config /etc/evenkeel/evenkeel.toml\n"));
}

/// The texts between the lines that begin and end a block of TOML in a document.
fn toml_blocks(document: &str) -> Vec<&str> {
    let blocks = document.split("```toml\n").skip(1);
    blocks
        .map(|rest| rest.split("```").next().unwrap())
        .collect()
}

#[test]
fn the_bot_of_discord_may_do_what_it_does_as_its_tutorial_configures_it() {
    let folder = TempDir::new().unwrap();
    let blocks = toml_blocks(include_str!("../../../docs/tutorials/pick-up-night.md"));
    assert_eq!(blocks.len(), 1, "the API and the client");
    let zeros = format!("sha256:{}", "0".repeat(64));
    let text = blocks.concat() + "\n[queue.pickup]\nteams = 2\nsize = 1\nruleset = 'x'\n";
    let text = text.replace(&zeros, &Secret::of("a-token-for-the-bot").hash());
    fs::write(folder.path().join("evenkeel.toml"), text).unwrap();
    let daemon = Process::start_with(folder.path(), &[("EVENKEEL_CONFIG", "evenkeel.toml")]);
    let said = daemon.ask(
        "HELLO discord a-token-for-the-bot\nENQUEUE pickup t1\nSEAT discord-1\nSUBMIT\nCANCEL t1\n",
    );
    assert!(said.contains("QUEUED t1"), "{said}");
    assert!(!said.contains("ERROR"), "{said}");
}

#[test]
fn the_example_of_an_instance_uses_the_port_of_the_daemon() {
    let readme = include_str!("../../../integrations/instance/README.md");
    let port = format!(
        "127.0.0.1:{}",
        Config::load("", []).unwrap().server.listen.port()
    );
    let mut addresses = readme.split("127.0.0.1:").skip(1);
    assert!(addresses.all(|rest| port.ends_with(&rest[..4])), "{readme}");
    assert_eq!(readme.matches(&port).count(), 2);
}

/// The configurations that pages tell operators to write.
#[test]
fn the_configurations_of_the_tutorials_are_valid() {
    let small = include_str!("../../../docs/tutorials/small-server.md");
    let two = include_str!("../../../docs/how-to/several-machines.md").replace("\n   ", "\n");
    for (page, text) in [("small", small), ("two", &two)] {
        let blocks = toml_blocks(text).concat();
        assert!(!blocks.is_empty(), "{page}");
        let config = Config::load(&blocks, []);
        assert!(config.is_ok(), "{page}: {:?}", config.err());
    }
}
