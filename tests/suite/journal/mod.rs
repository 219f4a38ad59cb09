//! The journal of running games: a game goes on after its daemon was stopped or killed.

mod again;
mod groups;
pub(crate) mod lines;
mod offers;
mod power;
mod session;

use std::{
    fs,
    io::{BufReader, Write},
    net::TcpStream,
    path::{Path, PathBuf},
};

use crate::common::{
    kills::kill_again_and_again,
    lock_database,
    process::{Process, ask},
    stored_matches, until,
};
use evenkeel::model::Outcome;
use tempfile::TempDir;

const BEGIN: &str = "GAME ctf\nJOIN a team=0\nJOIN b team=1\nSTART\nSCORE 0\n";

/// A connection that asks for its game, and whether it goes on.
fn resume(daemon: &Process) -> (BufReader<TcpStream>, bool) {
    let mut stream = daemon.connect();
    let hello = ask(&mut stream, "HELLO s resume=yes\n");
    let resumed = hello.ends_with(" resumed");
    assert!(resumed || hello.ends_with(" new"), "{hello}");
    (stream, resumed)
}

/// A connection that names its server, but does not ask for its game.
fn hello(daemon: &Process) -> BufReader<TcpStream> {
    let mut stream = daemon.connect();
    let hello = ask(&mut stream, "HELLO s\n");
    assert!(hello.starts_with("HELLO "), "{hello}");
    stream
}

/// Sends lines without a reply, and waits until the daemon has processed them.
fn tell(stream: &mut BufReader<TcpStream>, lines: &str) {
    assert_eq!(ask(stream, &format!("{lines}PING\n")), "PONG");
}

/// The journals of running games.
pub fn journals(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder.join("evenkeel.games")) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut games: Vec<_> = paths.filter(|path| path.extension().is_some()).collect();
    games.sort();
    games
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_goes_on_after_its_daemon_was_killed_or_stopped() {
    for signal in ["-KILL", "-TERM"] {
        let folder = TempDir::new().unwrap();
        let mut daemon = Process::start(folder.path());
        let (mut stream, resumed) = resume(&daemon);
        assert!(!resumed);
        tell(&mut stream, BEGIN);
        daemon.signal(signal);
        daemon.child.wait().unwrap();

        let daemon = Process::start(folder.path());
        let (mut stream, resumed) = resume(&daemon);
        assert!(resumed, "{signal}");
        tell(&mut stream, "SCORE 1\nSCORE 1\nJOIN c team=0\n");
        let end = ask(&mut stream, "END\n");
        assert!(end.starts_with("END 1 "), "{end}");
        drop(stream);
        let (mut stream, resumed) = resume(&daemon);
        assert!(resumed);
        assert_eq!(ask(&mut stream, "END\n"), end, "said again");
        let [stored] = &stored_matches(folder.path()).await[..] else {
            panic!("one match")
        };
        assert_eq!(stored.record.outcome, Outcome::Won(1));
        assert_eq!(stored.record.scores, [1.0, 2.0]);
        assert_eq!(stored.record.participants.len(), 3);
    }
}

#[test]
fn kills_at_any_moment_lose_nothing() {
    let kills = kill_again_and_again(10);
    assert_eq!(kills.resumed + kills.new, 10, "{kills:?}");
}

/// A database that another process has locked while two games ended, and the daemon that was started after the
/// one that kept their matches was killed.
async fn killed_with_kept_matches() -> (TempDir, Process) {
    let folder = TempDir::new().unwrap();
    let quick = [("EVENKEEL_STORE_BUSY_MS", "20")];
    let mut daemon = Process::start_with(folder.path(), &quick);
    let (mut stream, _) = resume(&daemon);
    tell(&mut stream, BEGIN);
    assert!(ask(&mut stream, "END\n").starts_with("END 1 "));
    let mut other = lock_database(folder.path()).await;
    for map in ["m2", "m3"] {
        tell(
            &mut stream,
            &format!("GAME ctf\nMAP {map}\nJOIN a team=0\nJOIN b team=1\nSTART\nSCORE 1\n"),
        );
        assert_eq!(ask(&mut stream, "END\n"), "ERROR internal kept");
    }
    daemon.kill();
    let free = sqlx::query("ROLLBACK");
    free.execute(&mut other).await.unwrap();
    let daemon = Process::start_with(folder.path(), &quick);
    (folder, daemon)
}

/// Ids and maps of all matches.
async fn maps(folder: &Path) -> Vec<(i64, String)> {
    let found = stored_matches(folder).await.into_iter();
    found.map(|stored| (stored.id, stored.record.map)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_that_was_kept_is_not_the_answer_for_the_next_game() {
    for explicit in [true, false] {
        let (folder, daemon) = killed_with_kept_matches().await;
        // A GAME that was sent after `kept` may never have arrived.
        let mut stream = match explicit {
            true => {
                let (stream, resumed) = resume(&daemon);
                assert!(!resumed, "the client sends everything from GAME on");
                stream
            }
            false => hello(&daemon),
        };
        assert_eq!(ask(&mut stream, "END\n"), "ERROR no-game send GAME first");
        until(async || stored_matches(folder.path()).await.len() == 3).await;
        let expected = [(1, ""), (2, "m2"), (3, "m3")].map(|(id, map)| (id, map.to_owned()));
        assert_eq!(maps(folder.path()).await, expected);
        if explicit {
            until(async || journals(folder.path()).is_empty()).await;
        }
    }
}

/// A match is kept at END and reaches the database; what the client then sent of the next game arrives, and the
/// daemon is killed.
#[tokio::test(flavor = "multi_thread")]
async fn a_kept_match_that_reached_the_database_is_not_the_answer_for_the_next_game() {
    let next = [
        // The GAME that was sent has not arrived.
        ("", "ERROR no-game send GAME first", None),
        ("GAME ctf\nMAP m3\n", "ERROR not-allowed ", None),
        (
            "GAME ctf\nMAP m3\nJOIN a team=0\nJOIN b team=1\nSTART\nSCORE 1\n",
            "END 3 ",
            Some("m3"),
        ),
        ("START\nSCORE 1\n", "END 3 ", Some("m2")),
    ];
    for explicit in [true, false] {
        for (lines, answer, map) in next {
            let folder = TempDir::new().unwrap();
            let quick = [("EVENKEEL_STORE_BUSY_MS", "20")];
            let mut daemon = Process::start_with(folder.path(), &quick);
            let (mut stream, _) = resume(&daemon);
            tell(&mut stream, BEGIN);
            assert!(ask(&mut stream, "END\n").starts_with("END 1 "));
            tell(&mut stream, &BEGIN.replace("ctf\n", "ctf\nMAP m2\n"));
            let mut other = lock_database(folder.path()).await;
            assert_eq!(ask(&mut stream, "END\n"), "ERROR internal kept");
            let free = sqlx::query("ROLLBACK");
            free.execute(&mut other).await.unwrap();
            until(async || stored_matches(folder.path()).await.len() == 2).await;
            tell(&mut stream, lines);
            daemon.kill();

            let daemon = Process::start(folder.path());
            let mut stream = match explicit {
                true => resume(&daemon).0,
                false => hello(&daemon),
            };
            for _ in 0..2 {
                let end = ask(&mut stream, "END\n");
                assert!(end.starts_with(answer), "{end} after {lines}");
            }
            let expected = ["", "m2"].into_iter().chain(map).map(str::to_owned);
            let expected: Vec<_> = (1..).zip(expected).collect();
            assert_eq!(maps(folder.path()).await, expected, "after {lines}");
        }
    }
}

/// END waits for a database that another process has locked, and the daemon is killed before it
/// answers.
#[tokio::test(flavor = "multi_thread")]
async fn an_end_that_was_not_answered_gets_its_own_match() {
    for explicit in [true, false] {
        let folder = TempDir::new().unwrap();
        let slow = [("EVENKEEL_STORE_BUSY_MS", "60000")];
        let mut daemon = Process::start_with(folder.path(), &slow);
        let (mut stream, _) = resume(&daemon);
        tell(&mut stream, BEGIN);
        assert!(ask(&mut stream, "END\n").starts_with("END 1 "));
        tell(&mut stream, &BEGIN.replace("ctf\n", "ctf\nMAP m2\n"));
        let mut other = lock_database(folder.path()).await;
        let length = || {
            let sizes = journals(folder.path()).into_iter();
            sizes
                .map(|path| path.metadata().unwrap().len())
                .sum::<u64>()
        };
        let before = length();
        stream.get_mut().write_all(b"END\n").unwrap();
        until(async || length() > before).await;
        daemon.kill();
        let free = sqlx::query("ROLLBACK");
        free.execute(&mut other).await.unwrap();
        let daemon = Process::start(folder.path());
        let mut stream = match explicit {
            true => {
                let (stream, resumed) = resume(&daemon);
                assert!(resumed);
                stream
            }
            false => hello(&daemon),
        };
        for _ in 0..2 {
            let end = ask(&mut stream, "END\n");
            assert!(end.starts_with("END 2 "), "{end}");
        }
        let expected = [(1, ""), (2, "m2")].map(|(id, map)| (id, map.to_owned()));
        assert_eq!(maps(folder.path()).await, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_that_was_answered_is_not_the_answer_for_the_next_game() {
    let folder = TempDir::new().unwrap();
    let mut daemon = Process::start(folder.path());
    let (mut stream, _) = resume(&daemon);
    tell(&mut stream, BEGIN);
    assert!(ask(&mut stream, "END\n").starts_with("END 1 "));
    // A GAME that is sent now may never arrive.
    daemon.kill();
    let mut daemon = Process::start(folder.path());
    // Without `resume=yes`, the players are still there, and so is the next match.
    let mut stream = hello(&daemon);
    for _ in 0..2 {
        assert_eq!(ask(&mut stream, "END\n"), "ERROR no-game send GAME first");
    }
    tell(&mut stream, "START\n");
    for _ in 0..2 {
        assert!(ask(&mut stream, "END\n").starts_with("END 2 "));
    }
    drop(stream);
    daemon.kill();
    let daemon = Process::start(folder.path());
    let (mut stream, resumed) = resume(&daemon);
    assert!(!resumed, "the client sends everything from GAME on");
    assert_eq!(ask(&mut stream, "END\n"), "ERROR no-game send GAME first");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_resumed_is_recorded_as_abandoned() {
    let folder = TempDir::new().unwrap();
    let mut daemon = Process::start(folder.path());
    // This one has no name.
    let mut nameless = daemon.connect();
    tell(&mut nameless, BEGIN);
    let (mut named, _) = resume(&daemon);
    tell(&mut named, &BEGIN.replace("ctf\n", "ctf\nMAP old\n"));
    daemon.kill();
    // The daemon was away for an hour.
    let lock = folder.path().join("evenkeel.games/lock");
    let alive = i64::from_le_bytes(fs::read(&lock).unwrap().try_into().unwrap());
    fs::write(&lock, (alive - 3_600_000).to_le_bytes()).unwrap();
    let daemon = Process::start(folder.path());
    let (_, resumed) = resume(&daemon);
    assert!(!resumed);
    until(async || stored_matches(folder.path()).await.len() == 2).await;
    let found = stored_matches(folder.path()).await;
    assert!(
        found
            .iter()
            .all(|stored| stored.record.outcome == Outcome::Abandoned)
    );
    let mut names: Vec<_> = found
        .iter()
        .map(|stored| (&*stored.record.server, &*stored.record.map))
        .collect();
    names.sort_unstable();
    assert_eq!(names, [("", ""), ("s", "old")]);
    until(async || journals(folder.path()).is_empty()).await;
}

#[test]
fn a_journal_with_a_damaged_beginning_loses_nothing() {
    let in_header = |bytes: &mut [u8]| bytes[3] ^= 1;
    let in_first_record = |bytes: &mut [u8]| bytes[40] ^= 1;
    let whole_block = |bytes: &mut [u8]| bytes[..4_096].fill(0);
    let damages: [fn(&mut [u8]); 3] = [in_header, in_first_record, whole_block];
    for damage in damages {
        let folder = TempDir::new().unwrap();
        let mut daemon = Process::start(folder.path());
        let (mut stream, _) = resume(&daemon);
        tell(&mut stream, BEGIN);
        tell(&mut stream, "SCORE 1\n");
        daemon.kill();
        let [journal] = &journals(folder.path())[..] else {
            panic!("one journal")
        };
        let mut bytes = fs::read(journal).unwrap();
        damage(&mut bytes);
        fs::write(journal, bytes).unwrap();
        // What is written behind it is read, too.
        let mut daemon = Process::start(folder.path());
        let (mut stream, resumed) = resume(&daemon);
        assert!(resumed);
        tell(&mut stream, "SCORE 1\n");
        daemon.kill();
        let daemon = Process::start(folder.path());
        let (mut stream, resumed) = resume(&daemon);
        assert!(resumed);
        tell(&mut stream, "SCORE 1\n");
        assert!(ask(&mut stream, "END\n").starts_with("END 1 "));
        let found = tokio::runtime::Runtime::new()
            .unwrap()
            .block_on(stored_matches(folder.path()));
        assert_eq!(found[0].record.scores, [1.0, 3.0]);
    }
}

#[test]
fn a_damaged_journal_stops_no_start() {
    let folder = TempDir::new().unwrap();
    let mut daemon = Process::start(folder.path());
    let (mut stream, _) = resume(&daemon);
    tell(&mut stream, BEGIN);
    tell(&mut stream, "SCORE 1\n");
    daemon.kill();
    let [journal] = &journals(folder.path())[..] else {
        panic!("one journal")
    };
    // The power cut has torn the last write.
    let whole = fs::read(journal).unwrap();
    fs::write(journal, &whole[..whole.len() - 3]).unwrap();
    let games = folder.path().join("evenkeel.games");
    fs::write(games.join("7.game"), b"this is no journal").unwrap();
    fs::write(games.join("8.game"), b"").unwrap();
    fs::write(games.join("9.game"), &whole[..40]).unwrap();
    fs::create_dir(games.join("10.game")).unwrap();
    fs::write(
        games.join("18446744073709551615.game"),
        b"EVKLGAM\x02\xff\xff\xff\xff",
    )
    .unwrap();
    fs::write(games.join("lock"), b"x").unwrap();
    let daemon = Process::start(folder.path());
    let (mut stream, resumed) = resume(&daemon);
    assert!(resumed);
    tell(&mut stream, "SCORE 1 5\n");
    assert!(ask(&mut stream, "END\n").starts_with("END 1 "));
}

#[test]
fn without_a_journal_a_killed_game_is_gone_and_says_so() {
    let folder = TempDir::new().unwrap();
    let off = [("EVENKEEL_STORE_JOURNAL", "off")];
    let mut daemon = Process::start_with(folder.path(), &off);
    let (mut stream, _) = resume(&daemon);
    tell(&mut stream, BEGIN);
    daemon.kill();
    let daemon = Process::start_with(folder.path(), &off);
    let (mut stream, resumed) = resume(&daemon);
    assert!(!resumed);
    assert_eq!(ask(&mut stream, "END\n"), "ERROR no-game send GAME first");
    assert!(!folder.path().join("evenkeel.games").exists());
}

#[test]
fn two_daemons_do_not_share_a_journal() {
    let folder = TempDir::new().unwrap();
    let first = Process::start(folder.path());
    let (mut stream, _) = resume(&first);
    tell(&mut stream, BEGIN);
    let second = Process::start(folder.path());
    let (_, resumed) = resume(&second);
    assert!(!resumed, "the game of the first");
    tell(&mut stream, "SCORE 1\n");
    drop(first);
    drop(second);
    let third = Process::start(folder.path());
    assert!(resume(&third).1);
}

#[test]
fn an_end_is_sent_again_without_resume() {
    let folder = TempDir::new().unwrap();
    let mut daemon = Process::start(folder.path());
    let mut stream = daemon.connect();
    assert!(ask(&mut stream, "HELLO s\n").starts_with("HELLO "));
    tell(&mut stream, BEGIN);
    daemon.kill();
    let daemon = Process::start(folder.path());
    let mut stream = daemon.connect();
    assert!(ask(&mut stream, "HELLO s\n").starts_with("HELLO "));
    let end = ask(&mut stream, "END\n");
    assert!(end.starts_with("END "), "{end}");
    assert_eq!(ask(&mut stream, "END\n"), end);
}

/// Of two connections that use one name, the game that began to be journaled last is resumed; the other one is
/// recorded as abandoned, and no END gets its id.
#[tokio::test(flavor = "multi_thread")]
async fn two_connections_of_one_name_do_not_mix_their_games() {
    let folder = TempDir::new().unwrap();
    let mut daemon = Process::start(folder.path());
    let mut streams = Vec::new();
    for map in ["one", "two"] {
        let mut stream = daemon.connect();
        assert!(ask(&mut stream, "HELLO s\n").starts_with("HELLO "));
        tell(
            &mut stream,
            &BEGIN.replace("ctf\n", &format!("ctf\nMAP {map}\n")),
        );
        streams.push(stream);
    }
    tell(&mut streams[0], "SCORE 1\n");
    daemon.kill();
    let daemon = Process::start(folder.path());
    let (mut stream, resumed) = resume(&daemon);
    assert!(resumed);
    let end = ask(&mut stream, "END\n");
    until(async || stored_matches(folder.path()).await.len() == 2).await;
    for stored in stored_matches(folder.path()).await {
        let ended = end.starts_with(&format!("END {} ", stored.id));
        assert_eq!((&*stored.record.map == "two", ended), (ended, ended));
        assert_eq!(stored.record.outcome == Outcome::Abandoned, !ended);
    }
}

#[test]
fn a_journal_of_another_version_is_discarded() {
    let folder = TempDir::new().unwrap();
    let mut daemon = Process::start(folder.path());
    let (mut stream, _) = resume(&daemon);
    tell(&mut stream, BEGIN);
    daemon.kill();
    let [journal] = &journals(folder.path())[..] else {
        panic!("one journal")
    };
    // The version stands in the header, and in the mark before the copy of the beginning.
    let mut bytes = fs::read(journal).unwrap();
    let mark = bytes.windows(7).position(|bytes| bytes == b"EVKLCPY");
    bytes[7] += 1;
    bytes[mark.unwrap() + 7] += 1;
    fs::write(journal, bytes).unwrap();
    let daemon = Process::start(folder.path());
    let (mut stream, resumed) = resume(&daemon);
    assert!(!resumed);
    tell(&mut stream, BEGIN);
    assert!(ask(&mut stream, "END\n").starts_with("END 1 "));
}

#[test]
fn a_folder_that_cannot_be_used_stops_no_start() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("evenkeel.games"), "a file").unwrap();
    let daemon = Process::start(folder.path());
    let (mut stream, _) = resume(&daemon);
    tell(&mut stream, BEGIN);
    assert!(ask(&mut stream, "END\n").starts_with("END 1 "));
}
