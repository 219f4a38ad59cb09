//! What the commands say when they cannot do what was asked: what is wrong, and what to do.

use std::{
    fs,
    io::Write,
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
};

use evenkeel::model::access::Secret;
use tempfile::TempDir;

use crate::common::{
    self,
    http::Pages,
    process::{BINARY, Process, evenkeel},
};

const CTF: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/openarena/ctf-014.log"
);

/// What a command has printed, and its exit code.
struct Said {
    code: i32,
    out: String,
    err: String,
}

fn run_command(command: &mut Command, stdin: &str) -> Said {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that reads nothing may have ended.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said {
        code: output.status.code().unwrap(),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

fn run(folder: &Path, words: &[&str]) -> Said {
    run_command(evenkeel(folder).args(words), "")
}

/// The words with which a command fails, after "evenkeel: "; checks the exit code.
#[track_caller]
fn failure(folder: &Path, words: &[&str], code: i32) -> String {
    let said = run(folder, words);
    assert_eq!((said.code, said.out.as_str()), (code, ""), "{}", said.err);
    let line = said.err.trim_end();
    line.strip_prefix("evenkeel: ").unwrap_or(line).to_owned()
}

/// A folder with a database of one match.
fn played() -> TempDir {
    let folder = TempDir::new().unwrap();
    let said = run(folder.path(), &["ingest", CTF]);
    assert_eq!(said.code, 0, "{}", said.err);
    folder
}

#[test]
fn a_configuration_file_that_cannot_be_read() {
    let folder = played();
    let with = |file: &str| failure(folder.path(), &["weights", "--config", file], 3);
    assert_eq!(with("nope.toml"), "configuration file nope.toml: not found");
    assert_eq!(
        with("evenkeel.db"),
        "configuration file evenkeel.db: is not a text file"
    );
    assert_eq!(with("."), "configuration file .: is a folder, not a file");
}

#[test]
fn addresses_are_explained_and_names_are_looked_up() {
    let folder = TempDir::new().unwrap();
    let listen = |address: &str| failure(folder.path(), &["serve", "--listen", address], 2);
    let why = listen("7997");
    assert!(
        why.contains(
            "'7997' for '--listen <ADDRESS:PORT>': expected ADDRESS:PORT, such as 127.0.0.1:7997"
        ),
        "{why}"
    );
    let why = listen("game.invalid:7997");
    assert!(
        why.contains("the host name game.invalid has no known address"),
        "{why}"
    );
    let daemon = Process::run(folder.path(), &["serve", "--listen", "localhost:0"], &[]);
    assert!(daemon.address.ip().is_loopback());
    let sidecar = [
        "sidecar",
        "idtech3",
        "--log",
        "x",
        "--rcon",
        "game.invalid:1",
    ];
    let why = failure(folder.path(), &sidecar, 2);
    assert!(
        why.contains("'--rcon <ADDRESS:PORT>': the host name game.invalid has no known address"),
        "{why}"
    );
}

#[test]
fn a_busy_port_of_the_pages_is_named_before_anything_is_served() {
    let folder = TempDir::new().unwrap();
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = busy.local_addr().unwrap().to_string();
    let words = ["serve", "--listen", "127.0.0.1:0", "--web", &address];
    let said = run(folder.path(), &words);
    let why = format!("[web] listen: cannot listen on {address}: Address already in use");
    assert_eq!(said.code, 1);
    assert!(said.err.contains(&why), "{}", said.err);
    assert!(!said.err.contains("listening address="), "{}", said.err);
}

/// A file that belongs to somebody else, or that its owner may not open.
#[cfg(unix)]
#[test]
fn a_database_of_another_user_is_named_with_its_owner() {
    use std::os::unix::{fs::PermissionsExt, process::CommandExt};

    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let folder = played();
    let binary = folder.path().join("evenkeel");
    fs::copy(BINARY, &binary).unwrap();
    mode(&binary, 0o555);
    mode(&folder.path().join("evenkeel.db"), 0o000);
    mode(folder.path(), 0o755);
    let id = |what: &str| {
        let output = Command::new("id").arg(what).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let mut command = Command::new(&binary);
    command
        .args(["weights", "--db", "evenkeel.db"])
        .current_dir(folder.path());
    if id("-u") == "0" {
        // Root may open everything.
        command.uid(65_534).gid(65_534);
    }
    let said = run_command(&mut command, "");
    assert_eq!(said.code, 5, "{}", said.err);
    let owner = format!("it belongs to the user {}", id("-un"));
    assert_eq!(
        said.err,
        format!("evenkeel: evenkeel.db: permission denied; {owner}\n")
    );
}

#[tokio::test]
async fn a_database_that_cannot_be_used_is_explained_without_codes() {
    let folder = played();
    fs::write(
        folder.path().join("notes.txt"),
        "not a database. ".repeat(100),
    )
    .unwrap();
    assert_eq!(
        failure(folder.path(), &["weights", "--db", "notes.txt"], 5),
        "notes.txt: the database is damaged, or is not an SQLite database"
    );
    assert_eq!(
        failure(folder.path(), &["ingest", CTF, "--db", "no/such.db"], 5),
        "no/such.db: the folder no does not exist"
    );
    let newer =
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (9999, 'later', 1, x'00', 0)";
    common::sql(&folder.path().join("evenkeel.db"), newer).await;
    let why = failure(folder.path(), &["weights"], 5);
    assert!(
        why.starts_with(
            "evenkeel.db was written by a newer Evenkeel: it has migration 9999, and this version, "
        ),
        "{why}"
    );
    assert!(
        why.ends_with(
            "Use the newer version, or restore a backup that was made before the upgrade"
        ),
        "{why}"
    );
}

#[test]
fn a_status_without_a_daemon_or_at_another_port() {
    let folder = TempDir::new().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    assert_eq!(
        failure(folder.path(), &["status", "--web", &address], 1),
        format!("the daemon is not running at {address}, or has no pages there: see [web] listen")
    );
    let pages = Pages::start(folder.path(), &[]);
    let game_port = pages.daemon.address.to_string();
    assert_eq!(
        failure(folder.path(), &["status", "--web", &game_port], 1),
        format!(
            "no status from the daemon at {game_port}: this is not the port of the pages, which is [web] listen"
        )
    );
}

#[test]
fn a_backup_replaces_no_file() {
    let folder = played();
    fs::write(folder.path().join("new.db"), "precious").unwrap();
    assert_eq!(
        failure(folder.path(), &["backup", "new.db"], 4),
        "new.db exists; choose another name"
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("new.db")).unwrap(),
        "precious"
    );
}

#[test]
fn matches_are_named_by_number_or_by_player() {
    let folder = played();
    for db in [None, Some("evenkeel.db")] {
        let mut command = evenkeel(folder.path());
        command.args(["match", "void"]);
        command.envs(db.map(|db| ("EVENKEEL_DB", db)));
        let said = run_command(&mut command, "");
        assert_eq!(
            (said.code, said.err.as_str()),
            (
                2,
                "evenkeel: which matches? Give their numbers, --player and the identity of a player, or --client and its name\n"
            )
        );
    }
    for words in [["match", "void", "abc"], ["match", "show", "0"]] {
        let why = failure(folder.path(), &words, 2);
        assert!(why.contains("': expected the number of a match"), "{why}");
    }
}

#[test]
fn a_player_whom_nobody_knows_is_not_changed_by_a_slip() {
    let folder = played();
    let player = |words: &[&str]| failure(folder.path(), &[&["player"][..], words].concat(), 4);
    let bot =
        "no stored match has a human with the identity Sarge, but there is a bot Sarge: add --bot";
    assert_eq!(player(&["show", "Sarge"]), bot);
    let add_new = "for a player who has not played yet, add --new";
    assert_eq!(
        player(&["pin-weight", "Sarge", "60"]),
        format!("{bot}; {add_new}")
    );
    let nobody = "no stored match has a bot with the identity Sage";
    assert_eq!(player(&["show", "Sage", "--bot"]), nobody);
    let nobody = format!("{nobody}; {add_new}");
    assert_eq!(player(&["pin-weight", "Sage", "60", "--bot"]), nobody);
    assert_eq!(player(&["merge", "Sage", "Sarge", "--bot"]), nobody);
    assert_eq!(player(&["merge", "Sarge", "Sage", "--bot"]), nobody);
    for words in [
        &["pin-weight", "Sage", "60", "--bot", "--new"][..],
        &["pin-weight", "Sage", "off", "--bot"],
        &["merge", "Sage", "Sarge", "--bot", "--new"],
    ] {
        let said = run(folder.path(), &[&["player"][..], words].concat());
        assert_eq!(said.code, 0, "{}", said.err);
    }
}

#[test]
fn a_token_that_can_be_guessed_is_named() {
    let folder = TempDir::new().unwrap();
    let said = run_command(evenkeel(folder.path()).args(["token", "hash"]), "short\n");
    assert_eq!(
        (said.code, said.out),
        (0, format!("{}\n", Secret::of("short").hash()))
    );
    assert!(
        said.err
            .starts_with("warning: this token is short and can be guessed")
    );
    let long = "a long random string";
    let said = run_command(evenkeel(folder.path()).args(["token", "hash"]), long);
    assert_eq!(said.err, "");
    let text = "[[clients]]\nname = 'ctf-1'\ntoken = 'abc'\nrights = ['ask']\n";
    fs::write(folder.path().join("own.toml"), text).unwrap();
    let said = run(folder.path(), &["config", "check", "own.toml"]);
    assert_eq!(
        said.out,
        "own.toml: valid\nwarning: the token of client ctf-1 is short and can be guessed: `evenkeel token new` \
         draws a long one\n"
    );
}

#[test]
fn a_short_name_of_a_game_stands_for_no_other_game() {
    let folder = played();
    let said = run(folder.path(), &["weights", "--game", "ctf"]);
    assert_eq!(
        said.out,
        "no humans have a weight under ctf\n  ruleset with weights: baseoa.ctf\n"
    );
}

#[test]
fn tables_without_rows_are_a_sentence() {
    let folder = played();
    let out = |words: &[&str]| run(folder.path(), words).out;
    let none = "no queue is configured: see [queue] in the manual\n";
    assert_eq!(out(&["queue", "status"]), none);
    assert_eq!(
        out(&["hosting", "instances"]),
        format!("no instance has connected, and {none}")
    );
    assert_eq!(
        out(&["hosting", "matches"]),
        format!("no instance has hosted a match in the last day, and {none}")
    );
    assert_eq!(out(&["hosting", "instances", "--json"]), "[]\n");
    for gone in ["instances", "hosted", "instance"] {
        assert_eq!(run(folder.path(), &[gone]).code, 2, "{gone}");
    }
    let queue = "[queue.duel]\nteams = 2\nsize = 1\nruleset = 'x'\n";
    fs::write(folder.path().join("own.toml"), queue).unwrap();
    assert_eq!(
        out(&["queue", "status", "--config", "own.toml"]),
        "nobody has been in a queue in the last day\n"
    );
}

#[test]
fn an_evaluation_says_what_it_counts() {
    let folder = TempDir::new().unwrap();
    let row = |n: u32, y: &str| {
        format!(
            "{{\"t\":{},\"game\":\"x\",\"teams\":[[\"a\",\"b\"],[\"c\",\"d\"]],\"y\":{y}}}\n",
            n * 9_000
        )
    };
    let history: String = (0..40)
        .map(|n| row(n, if n % 2 == 0 { "1" } else { "0" }))
        .collect();
    fs::write(folder.path().join("past.jsonl"), history).unwrap();
    let said = run(folder.path(), &["evaluate", "past.jsonl"]);
    let first = said.out.lines().next().unwrap();
    assert_eq!(
        first,
        "past.jsonl: 40 matches, all rated; predicted: 32, those after the first 20 % that had a winner"
    );
}

/// The first lines of a sidecar, up to one that begins so.
fn sidecar(folder: &Path, words: &[&str], last: &str) -> Vec<String> {
    let mut command = evenkeel(folder);
    command.arg("sidecar").args(words);
    let mut process = crate::sidecar::Process::start(&mut command);
    process.wait_for(last);
    process.seen.clone()
}

#[test]
fn every_sidecar_says_what_it_follows_and_what_it_waits_for() {
    let folder = TempDir::new().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let last =
        format!("no connection to the daemon at {address}: cannot connect: Connection refused");
    let rest = ["--rcon", "127.0.0.1:9", "--dry-run", "--daemon", &address];
    let lines = |words: &[&str]| {
        let mut seen = sidecar(folder.path(), &[words, &rest[..]].concat(), &last);
        assert_eq!(seen.pop().map(|line| line.starts_with(&last)), Some(true));
        assert_eq!(
            seen.pop(),
            Some(format!("waiting for the daemon at {address}"))
        );
        assert_eq!(
            seen.pop().as_deref(),
            Some("a dry run: commands for the game server are printed, and not sent")
        );
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen.remove(0)
    };
    let none = "the log none.log does not exist yet: waiting for the game server to write it";
    for engine in ["idtech3", "source", "xonotic"] {
        assert_eq!(lines(&[engine, "--log", "none.log"]), none, "{engine}");
    }
    fs::create_dir(folder.path().join("logs")).unwrap();
    assert_eq!(
        lines(&["source", "--log", "logs"]),
        "following the folder logs, which has no log yet: waiting for the game server to write one"
    );
    fs::write(folder.path().join("logs/games.log"), "").unwrap();
    assert_eq!(
        lines(&["idtech3", "--log", "logs/games.log"]),
        "following the log logs/games.log, which is empty: waiting for the game server to write to it"
    );
    fs::write(folder.path().join("logs/games.log"), "\n").unwrap();
    assert_eq!(
        lines(&["xonotic", "--log", "logs"]),
        "following the newest log of the folder logs, now logs/games.log"
    );
    let heard = lines(&["source", "--log-udp", "127.0.0.1:0"]);
    assert!(
        heard.starts_with("waiting for the log on 127.0.0.1:"),
        "{heard}"
    );
    // What can never become right ends at once.
    let words = [&["sidecar", "idtech3", "--log", "logs"][..], &rest[..]].concat();
    assert_eq!(
        failure(folder.path(), &words, 4),
        "logs is a folder: --log must name the file that the game server writes"
    );
    let agent = [
        "hosting",
        "idtech3",
        "--log",
        "logs",
        "--rcon",
        "127.0.0.1:9",
    ];
    assert_eq!(
        failure(folder.path(), &agent, 4),
        "logs is a folder: --log must name the file that the game server writes"
    );
}

#[test]
fn a_transfer_whose_output_nobody_reads_is_finished() {
    let folder = played();
    // Once it has moved, nothing opens it by mistake.
    let old = run(
        folder.path(),
        &["weights", "--game", "baseoa.ctf", "--bots", "--csv"],
    );
    let mut command = evenkeel(folder.path());
    command.args(["migrate-store", "evenkeel.db", "new.db"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), err.as_str()), (Some(0), ""));
    let new = [
        "weights",
        "--game",
        "baseoa.ctf",
        "--bots",
        "--csv",
        "--db",
        "new.db",
    ];
    let new = run(folder.path(), &new);
    assert_eq!((new.code, new.out), (0, old.out), "{}", new.err);
}

#[test]
fn a_folder_is_a_folder_and_a_file_is_a_file() {
    let folder = played();
    let path = folder.path();
    fs::write(path.join("own.toml"), "").unwrap();
    let why = failure(path, &["weights", "--dir", "own.toml"], 4);
    assert_eq!(
        why,
        "own.toml: --dir takes a folder; for a file use --config own.toml"
    );
    let why = failure(path, &["backup", "no/such/copy.db"], 4);
    assert_eq!(why, "no/such: there is no such folder");
    let why = failure(path, &["weights", "--db", "postgres://a@b/c"], 3);
    assert_eq!(
        why,
        "--db is the path of an SQLite file: for a PostgreSQL database use store.url"
    );
}

#[test]
fn a_command_that_only_reads_makes_no_database() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("evenkeel.db"), "").unwrap();
    for words in [
        &["weights"][..],
        &["match", "list"],
        &["export"],
        &["rebuild"],
    ] {
        let why = failure(folder.path(), words, 5);
        assert_eq!(why, "there is no database at evenkeel.db", "{words:?}");
    }
    let left = fs::read_dir(folder.path()).unwrap().count();
    let length = fs::metadata(folder.path().join("evenkeel.db"))
        .unwrap()
        .len();
    assert_eq!((left, length), (1, 0));
}

#[test]
fn weights_say_who_has_some() {
    let folder = played();
    let said = run(folder.path(), &["weights", "--game", "baseoa.ctf"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let first = said.out.lines().next().unwrap();
    assert!(first.ends_with(" bots have: add --bots"), "{first}");
    let bots = run(
        folder.path(),
        &["weights", "--game", "baseoa.ctf", "--bots"],
    );
    assert!(bots.out.lines().count() > 3, "{}", bots.out);
    let none = run(folder.path(), &["weights", "--game", "nothing"]);
    assert!(
        none.out
            .starts_with("no humans have a weight under nothing\n"),
        "{}",
        none.out
    );
}

#[test]
fn standard_input_is_read() {
    let folder = TempDir::new().unwrap();
    let log = fs::read_to_string(CTF).unwrap();
    let said = run_command(
        evenkeel(folder.path()).args(["ingest", "-", "--json"]),
        &log,
    );
    assert_eq!(said.code, 0, "{}", said.err);
    let alone = TempDir::new().unwrap();
    let file = run(alone.path(), &["ingest", CTF, "--json"]);
    assert_eq!(said.out, file.out);
    let said = run_command(evenkeel(folder.path()).args(["ingest", "-"]), "nonsense\n");
    assert_eq!(said.code, 4);
    assert!(
        said.err.contains("not a log of any known format"),
        "{}",
        said.err
    );
}

/// What a command writes keeps the kind, the mode and the links of what is there.
#[cfg(unix)]
#[test]
fn an_export_replaces_content_and_nothing_else() {
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
    let folder = played();
    let path = |name: &str| folder.path().join(name);
    let exported = run(folder.path(), &["export"]).out;
    fs::write(path("old.jsonl"), "old").unwrap();
    fs::set_permissions(path("old.jsonl"), fs::Permissions::from_mode(0o604)).unwrap();
    symlink("old.jsonl", path("link.jsonl")).unwrap();
    let before = fs::metadata(path("old.jsonl")).unwrap();
    let said = run(folder.path(), &["export", "link.jsonl"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let after = fs::metadata(path("old.jsonl")).unwrap();
    assert!(path("link.jsonl").is_symlink());
    assert_eq!(fs::read_to_string(path("old.jsonl")).unwrap(), exported);
    assert_eq!(
        (after.mode(), after.uid(), after.gid()),
        (before.mode(), before.uid(), before.gid())
    );
    let said = run(folder.path(), &["export", "/dev/null"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(
        fs::metadata("/dev/null")
            .unwrap()
            .file_type()
            .is_char_device()
    );
    let made = Command::new("mkfifo").arg(path("pipe")).status().unwrap();
    assert!(made.success());
    let pipe = path("pipe");
    let reader = std::thread::spawn(move || fs::read_to_string(pipe).unwrap());
    let said = run(folder.path(), &["export", "pipe"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(reader.join().unwrap(), exported);
    assert!(fs::metadata(path("pipe")).unwrap().file_type().is_fifo());
    let said = run(folder.path(), &["export", "/dev/stdout"]);
    assert_eq!((said.code, said.out), (0, exported));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert!(!left.iter().any(|one| {
        one.as_ref()
            .unwrap()
            .path()
            .to_string_lossy()
            .contains("jsonl.")
    }));
}

#[test]
fn a_match_in_the_future_is_of_another_zone_only_if_its_dates_state_none() {
    let folder = TempDir::new().unwrap();
    let line = r#"{"evenkeel":1,"start":"2999-11-20T15:00:00Z","end":"2999-11-20T15:10:00Z","game":"g","scores":[1,0],
        "players":[{"id":"a","team":0},{"id":"b","team":1}]}"#;
    fs::write(folder.path().join("f.jsonl"), line.replace('\n', "")).unwrap();
    let said = run(folder.path(), &["ingest", "f.jsonl"]).err;
    assert!(
        said.contains("in the future: its date, or the clock"),
        "{said}"
    );
}

#[test]
fn nothing_is_written_over_a_database_nor_followed_that_is_no_file() {
    let folder = played();
    let path = folder.path();
    let said = failure(path, &["export", "evenkeel.db"], 4);
    assert_eq!(
        said,
        "evenkeel.db: it is a database, and is not overwritten"
    );
    assert_eq!(run(path, &["match", "show", "1"]).code, 0);
    let dates = ["--since", "2026-11-21", "--until", "2026-11-20"];
    let said = failure(path, &[&["export", "x.jsonl"], &dates[..]].concat(), 4);
    assert_eq!(said, "--since must be before --until");
    assert!(!path.join("x.jsonl").exists());
    let said = failure(path, &["follow", "-"], 4);
    assert!(said.contains("evenkeel ingest -"), "{said}");
}

#[test]
fn a_followed_file_that_is_no_log_is_named() {
    let folder = TempDir::new().unwrap();
    fs::write(
        folder.path().join("notes.txt"),
        "Dear diary,\ntoday we played.\n",
    )
    .unwrap();
    let log = process_log(
        folder.path(),
        &["follow", "notes.txt"],
        "not a log of any known format so far",
    );
    assert!(
        log.contains("notes.txt") && log.contains("Dear diary"),
        "{log}"
    );
}

/// The line with these words that a command logs; the command is ended then.
fn process_log(folder: &Path, words: &[&str], wanted: &str) -> String {
    use std::io::{BufRead, BufReader};
    let mut child = evenkeel(folder)
        .args(words)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = lines
        .map_while(Result::ok)
        .find(|line| line.contains(wanted));
    child.kill().unwrap();
    child.wait().unwrap();
    line.unwrap()
}

#[test]
fn a_second_daemon_and_the_status_say_which_daemon_and_database_they_mean() {
    let folder = played();
    let first = Pages::start(folder.path(), &[]);
    let second = Pages::start(folder.path(), &[]);
    let wanted = "another daemon uses this database file";
    let mut logged = second.log.iter().cloned().chain(second.daemon.log.iter());
    let line = logged.find(|line| line.contains(wanted)).unwrap();
    for part in [
        "serves game servers",
        "the queues",
        "the journal of running games",
    ] {
        assert!(line.contains(part), "{line}");
    }
    assert!(!first.log.iter().any(|line| line.contains(wanted)));
    for pages in [&first, &second] {
        let address = pages.address.to_string();
        let said = run(folder.path(), &["status", "--web", &address]);
        assert!(
            said.out.contains(&format!(" at {address} ")),
            "{}",
            said.out
        );
        let path = folder.path().join("evenkeel.db");
        assert!(said.out.contains(&*path.to_string_lossy()), "{}", said.out);
    }
}

#[test]
fn help_fits_the_terminal() {
    let folder = TempDir::new().unwrap();
    let help = |columns: &str| {
        let mut command = evenkeel(folder.path());
        let said = run_command(
            command.env("COLUMNS", columns).args(["serve", "--help"]),
            "",
        );
        let longest = said.out.lines().map(|line| line.chars().count()).max();
        longest.unwrap()
    };
    assert!(help("60") <= 60 && help("80") <= 80 && help("400") <= 100);
    assert!(help("80") > 60);
}
