//! A daemon that is killed again and again at any moment, and a client that believes only what it was told.
#![allow(
    clippy::disallowed_methods,
    reason = "when a process is killed is measured in real time"
)]

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use evenkeel::store::{self, Cursor, StoredMatch};
use tempfile::TempDir;

use super::{
    draw::Draw,
    process::{HANG, Process},
};

/// What happened in all rounds.
#[derive(Debug, Default)]
pub struct Kills {
    pub resumed: usize,
    pub new: usize,
    /// ENDs that were sent and not answered before the kill.
    pub unanswered: usize,
    /// How many of those got their match's id afterwards.
    pub confirmed: usize,
    /// How many of those were told that there is no game, because their answer was on its way.
    pub on_their_way: usize,
    /// How many of those were told that there is no game, or that play had not begun, because nothing had arrived.
    pub refused: usize,
}

/// A game as its client knows it. Each has a map of its own, by which it is found.
#[derive(Debug, Default)]
struct Game {
    map: String,
    /// Lines that a reply followed, and lines that were sent.
    confirmed: usize,
    sent: usize,
    /// The id that END was answered with.
    id: Option<i64>,
    /// The daemon was killed while the answer to END was on its way: the match must be on disk.
    on_its_way: bool,
}

/// The lines of a game before END: a beginning, then a score each.
fn lines(map: &str) -> Vec<String> {
    let begin = [
        "GAME ctf".to_owned(),
        format!("MAP {map}"),
        "JOIN a team=0".to_owned(),
        "JOIN b team=1".to_owned(),
        "START".to_owned(),
    ];
    let scores = (0..SCORES).map(|_| "SCORE 0".to_owned());
    begin.into_iter().chain(scores).collect()
}

/// Lines up to START.
const BEGIN: usize = 5;
const SCORES: usize = 12;

/// Kills a daemon so many times, and checks after each kill and at the end that nothing is lost, doubled or
/// confused. Odd rounds wait for the reply to each line; even ones send the whole game at once, or all but
/// a few lines.
pub fn kill_again_and_again(kills: usize) -> Kills {
    let folder = TempDir::new().unwrap();
    let mut said = Kills::default();
    let mut games: Vec<Game> = Vec::new();
    let mut daemon = start(folder.path());
    let mut draw = Draw(kills as u64);
    for round in 0..kills {
        let map = format!("m{round}");
        let mut stream = daemon.connect();
        let resume = ask(&mut stream, "HELLO s resume=yes\n").unwrap();
        assert!(resume.starts_with("HELLO "), "{resume}");
        let mut game = Game {
            map,
            ..Game::default()
        };
        // Some kills come while the game is played, and some only after END.
        let patience = Duration::from_micros(draw.below(14_000) as u64);
        let pid = daemon.child.id().to_string();
        let killer = std::thread::spawn(move || {
            let began = Instant::now();
            while began.elapsed() < patience {
                std::hint::spin_loop();
            }
            Command::new("kill").args(["-9", &pid]).status().unwrap();
        });
        let end_sent = play(&mut stream, &mut game, round % 2 == 1);
        killer.join().unwrap();
        daemon.kill();
        daemon = start(folder.path());
        after_the_kill(&daemon, &mut game, end_sent, &mut said);
        games.push(game);
    }
    daemon.stop();
    check(folder.path(), &games);
    said
}

fn start(folder: &Path) -> Process {
    Process::start_with(folder, &[("EVENKEEL_RATING_MIN_SECONDS", "0")])
}

/// Plays a game until the connection breaks. Returns whether END was sent.
fn play(stream: &mut BufReader<TcpStream>, game: &mut Game, waits: bool) -> bool {
    let lines = lines(&game.map);
    if waits {
        for line in &lines {
            game.sent += 1;
            if ask(stream, &format!("{line}\nPING\n")).as_deref() != Some("PONG") {
                return false;
            }
            game.confirmed += 1;
        }
        game.id = ask(stream, "END\n").map(|answer| id(&answer));
    } else {
        let all = lines.join("\n") + "\nEND\n";
        game.sent = lines.len();
        let sent = stream.get_mut().write_all(all.as_bytes());
        game.id = sent.ok().and_then(|()| line(stream)).map(|end| id(&end));
        if game.id.is_some() {
            game.confirmed = lines.len();
        }
    }
    true
}

/// Goes on with the game as a client would.
fn after_the_kill(daemon: &Process, game: &mut Game, end_sent: bool, said: &mut Kills) {
    let mut stream = daemon.connect();
    let hello = ask(&mut stream, "HELLO s resume=yes\n").unwrap();
    let resumed = hello.ends_with(" resumed");
    assert!(resumed || hello.ends_with(" new"), "{hello}");
    match resumed {
        true => said.resumed += 1,
        false => said.new += 1,
    }
    if let Some(id) = game.id {
        // END was answered: it has this answer or none.
        let again = ask(&mut stream, "END\n").unwrap();
        let same = again.starts_with(&format!("END {id} ")) || again.starts_with("ERROR no-game ");
        assert!(same, "{again} in {game:?}");
        return;
    }
    assert!(
        resumed || game.confirmed == 0 || end_sent,
        "a game that a reply followed is resumed: {game:?}"
    );
    if end_sent {
        said.unanswered += 1;
        let again = ask(&mut stream, "END\n").unwrap();
        if again.starts_with("END ") {
            said.confirmed += 1;
            game.id = Some(id(&again));
            return;
        }
        let none = again.starts_with("ERROR no-game ");
        game.on_its_way = none && game.confirmed > 0;
        match game.on_its_way {
            true => said.on_their_way += 1,
            false => said.refused += 1,
        }
        let begun = again.starts_with("ERROR not-allowed ") && game.confirmed > 0;
        assert!(
            !begun && (none || again.starts_with("ERROR not-allowed ")),
            "{again} in {game:?}"
        );
        return;
    }
    // The rest of the game, and its end. The line at which the daemon was killed may have arrived.
    let lines = lines(&game.map);
    if game.confirmed < BEGIN {
        // Whatever has arrived of it is given up.
        assert_eq!(
            ask(&mut stream, "GAME idle\nPING\n").as_deref(),
            Some("PONG")
        );
        return;
    }
    for line in &lines[game.sent..] {
        assert_eq!(
            ask(&mut stream, &format!("{line}\nPING\n")).as_deref(),
            Some("PONG")
        );
    }
    let end = ask(&mut stream, "END\n").unwrap();
    game.id = Some(id(&end));
    assert_eq!(ask(&mut stream, "END\n"), Some(end), "and again");
}

/// Every game is on disk once at most, under the id that its client was given, with at least what a reply
/// followed.
fn check(folder: &Path, games: &[Game]) {
    let mut stored: BTreeMap<String, Vec<StoredMatch>> = BTreeMap::new();
    for found in matches(folder) {
        let map = found.record.map.clone();
        stored.entry(map).or_default().push(found);
    }
    for game in games {
        let found = stored.remove(&game.map).unwrap_or_default();
        assert!(found.len() <= 1, "{game:?} is there {} times", found.len());
        assert!(!game.on_its_way || found.len() == 1, "{game:?} is lost");
        let Some(id) = game.id else {
            continue;
        };
        assert_eq!(found[0].id, id, "{game:?}");
        let score = found[0].record.scores[0] as usize;
        // Of the line at which the daemon was killed, nobody knows whether it arrived.
        let missing = SCORES - score;
        let whole = game.confirmed == BEGIN + SCORES;
        assert!(missing <= usize::from(!whole), "{missing} of {game:?}");
    }
    assert!(stored.is_empty(), "{stored:?}");
}

fn matches(folder: &Path) -> Vec<StoredMatch> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let path = folder.join("evenkeel.db");
        let store = store::open(&path, false, HANG).await.unwrap();
        let (found, _) = store.matches().after(Cursor::START, 10_000).await.unwrap();
        store.close().await;
        found
    })
}

/// Sends text, and returns the next line; `None` if the connection broke.
fn ask(stream: &mut BufReader<TcpStream>, text: &str) -> Option<String> {
    stream.get_mut().write_all(text.as_bytes()).ok()?;
    line(stream)
}

fn line(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let began = Instant::now();
    let mut line = String::new();
    let read = stream.read_line(&mut line);
    assert!(began.elapsed() < HANG, "no reply");
    read.ok().filter(|_| line.ends_with('\n'))?;
    Some(line.trim_end_matches('\n').to_owned())
}

fn id(answer: &str) -> i64 {
    let rest = answer.strip_prefix("END ");
    let id = rest.and_then(|rest| rest.split(' ').next()?.parse().ok());
    id.unwrap_or_else(|| panic!("{answer}"))
}
