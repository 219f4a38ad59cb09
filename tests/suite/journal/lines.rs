//! A game that goes on after a crash is the same game: the same lines get the same replies from then on.

use std::{fs, io, path::Path, sync::Arc, time::Duration};

use evenkeel::{
    model::Timestamp,
    server::Service,
    session::HandClock,
    store::{self, Cursor, StoredMatch},
};
use proptest::{collection::vec, prelude::*};
use sqlx::{ConnectOptions, Connection, sqlite::SqliteConnectOptions};
use tempfile::TempDir;

use crate::common::{BUSY, Client, Daemon, config, game};

const DATE: Timestamp = Timestamp(1_000_000_000_000);

/// A line, and the milliseconds that pass before it.
type Step = (String, u64);

/// A daemon over this folder, `millis` after the first one was started, and a connection that resumes.
async fn daemon(folder: TempDir, millis: u64) -> (Daemon, Arc<HandClock>, Client, bool) {
    let (daemon, clock) = serve(folder, millis).await;
    let mut client = daemon.client().await;
    let hello = client.ask("HELLO s resume=yes\n").await;
    let resumed = hello.ends_with(" resumed");
    assert!(resumed || hello.ends_with(" new"), "{hello}");
    (daemon, clock, client, resumed)
}

/// A daemon over this folder, `millis` after the first one was started.
pub(crate) async fn serve(folder: TempDir, millis: u64) -> (Daemon, Arc<HandClock>) {
    let config = config(
        "server.max_errors = 100000\nrating.min_seconds = 0\nserver.resume_grace_seconds = 86400\nlobby.wish_seconds = 30",
    );
    let database = folder.path().join("evenkeel.db");
    let store = store::open(&database, true, BUSY).await.unwrap();
    let clock = Arc::new(HandClock::new(DATE.plus_millis(millis as i64)));
    let service = Service::open_with_clock(store, config.service(), clock.clone()).unwrap();
    if millis == 0 {
        known_players(&service).await;
    }
    service.learning().refresh().await.unwrap();
    let games = folder.path().join("games");
    service.sessions().open_journal(&games).await.unwrap();
    let daemon = Daemon::serve(Arc::new(service), folder, config.server.limits).await;
    (daemon, clock)
}

/// Matches from which a, b and c have different weights.
async fn known_players(service: &Service) {
    use evenkeel::model::Kind::Human;
    let sides = [("a", "b", 2.0), ("a", "c", 5.0), ("b", "c", 3.0)];
    for (minute, (one, other, score)) in (0..).step_by(20).zip(sides) {
        let record = game(minute, &[(Human, one)], &[(Human, other)], [score, 1.0]);
        service.store().matches().record(&record).await.unwrap();
    }
}

/// Sends a line, and returns all replies to it.
async fn exchange(daemon: &Daemon, client: &mut Client, line: &str) -> String {
    if line.starts_with("END") {
        // An abandoned game is stored in the background. If it is on disk before END, ids follow from the lines.
        daemon.service.sessions().write_backlog().await.unwrap();
    }
    client.send(&format!("{line}\nPING\n")).await;
    let mut replies = String::new();
    loop {
        let reply = client.line().await;
        assert_ne!(reply, "", "the connection is closed after {line}");
        if reply == "PONG" {
            break;
        }
        replies += &reply;
        replies.push('\n');
    }
    if replies.starts_with("END ") {
        // Weights change in the background, and the next replies depend on them.
        daemon.service.learning().refresh().await.unwrap();
    }
    replies
}

/// What a `kill -9` would leave of the folder now: all files as they are at one moment. The client waits, so that
/// nothing is appended to the journal; the lock keeps the background from writing to the database meanwhile, and
/// so from removing a journal that is not needed any more.
pub(crate) async fn copy(from: &Path) -> TempDir {
    let to = TempDir::new().unwrap();
    let database = SqliteConnectOptions::new().filename(from.join("evenkeel.db"));
    let database = database.busy_timeout(Duration::from_secs(30));
    let mut database = database.connect().await.unwrap();
    let lock = sqlx::query("BEGIN IMMEDIATE");
    lock.execute(&mut database).await.unwrap();
    for file in ["evenkeel.db", "evenkeel.db-wal"] {
        fs::copy(from.join(file), to.path().join(file)).unwrap();
    }
    fs::create_dir(to.path().join("games")).unwrap();
    for entry in fs::read_dir(from.join("games")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        let copied = fs::copy(&path, to.path().join("games").join(name));
        // A journal that a later one replaces is removed once that one has reached the disk.
        let gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        assert!(copied.is_ok() || copied.is_err_and(|error| gone(&error)));
    }
    let free = sqlx::query("ROLLBACK");
    free.execute(&mut database).await.unwrap();
    database.close().await.unwrap();
    to
}

/// All matches, once those that wait in the background are written.
pub(crate) async fn matches(daemon: &Daemon) -> Vec<StoredMatch> {
    daemon.service.sessions().write_backlog().await.unwrap();
    let store = daemon.service.store();
    let (found, _) = store.matches().after(Cursor::START, 1_000).await.unwrap();
    found
}

fn line() -> impl Strategy<Value = String> {
    let id = "[abcdef]";
    let team = 0u8..2;
    prop_oneof![
        2 => "(ctf|ctf|dm)".prop_map(|kind| format!("GAME {kind}")),
        6 => Just("START".to_owned()),
        2 => prop_oneof![Just("END"), Just("END draw"), Just("END 0"), Just("END 1")]
            .prop_map(str::to_owned),
        12 => (id, team.clone()).prop_map(|(id, team)| format!("JOIN {id} team={team}")),
        6 => (id, "( party=[pq]?)?( pin=[01]?)?( avoid=[ab])?( wish=[01]?)?")
            .prop_map(|(id, wishes)| format!("JOIN {id}{wishes}")),
        4 => (id, "( reason=(left|kicked|timeout|moved|bored))?")
            .prop_map(|(id, reason)| format!("LEAVE {id}{reason}")),
        4 => (id, team.clone()).prop_map(|(id, team)| format!("MOVE {id} {team}")),
        3 => ("[xyz]", team.clone()).prop_map(|(bot, team)| format!("BOTJOIN {bot} {team}")),
        1 => "[xyz]".prop_map(|bot| format!("BOTLEAVE {bot}")),
        1 => (id, 0u32..60).prop_map(|(id, left)| format!("PROTECT {id} {left}")),
        1 => id.prop_map(|id| format!("ROLE {id} commander")),
        1 => (2u8..4).prop_map(|teams| format!("TEAMS {teams}")),
        1 => (0u32..9).prop_map(|players| format!("MINPLAYERS {players}")),
        1 => "(MUTATOR [uv]|MAP m|MAP n 2 6)",
        1 => "HELLO s( bots=(yes|no))?",
        6 => (team, 1u8..4, id).prop_map(|(team, points, id)| format!("SCORE {team} {points} {id}")),
        4 => (id, 0u32..60).prop_map(|(id, points)| format!("POINTS {id} {points}")),
        4 => (id, id).prop_map(|(a, b)| format!("KILL {a} {b}")),
        6 => id.prop_map(|id| format!("DEATH {id}")),
        2 => (0u32..900).prop_map(|left| format!("CLOCK {left}")),
        4 => any::<u16>().prop_map(|seed| format!("BALANCE seed={seed}")),
        3 => any::<u16>().prop_map(|seed| format!("REBALANCE seed={seed}")),
        3 => id.prop_map(|id| format!("PLACE {id}")),
        4 => Just("ADVANTAGE".to_owned()),
        2 => Just("BOTS".to_owned()),
        3 => Just("EXPLAIN".to_owned()),
        2 => "(PLAYER [abcdef]|BOT [xyz]|MEANBOT)",
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let passed = prop_oneof![4 => 0u64..500, 2 => 500u64..30_000, 1 => 30_000u64..200_000];
    vec((line(), passed), 30..90)
}

/// The questions that show most of what a game knows.
const QUESTIONS: [&str; 8] = [
    "EXPLAIN",
    "BOTS",
    "ADVANTAGE",
    "EXPLAIN",
    "REBALANCE seed=1",
    "EXPLAIN",
    "BALANCE seed=2",
    "EXPLAIN",
];

/// Plays the steps before the cut, and those after it twice: with the daemon that goes on, and with one that
/// is started from what is on disk at the cut.
async fn play(steps: &[Step], cut: usize) {
    let (first, clock, mut live, _) = daemon(TempDir::new().unwrap(), 0).await;
    let (mut millis, mut over) = (0, false);
    exchange(&first, &mut live, "GAME ctf").await;
    for (line, passed) in &steps[..cut] {
        millis += passed;
        clock.pass(*passed);
        let reply = exchange(&first, &mut live, line).await;
        let begins = line == "START" || line.starts_with("GAME");
        over = reply.starts_with("END ") || over && !(begins && reply.is_empty());
    }
    let (second, other_clock, mut again, resumed) =
        daemon(copy(first.folder.path()).await, millis).await;
    assert_eq!(
        resumed, !over,
        "only a game that is over is not resumed: {cut} of {steps:?}"
    );
    if over {
        return;
    }
    // PLACE draws its seed.
    let after = steps[cut..]
        .iter()
        .filter(|(line, _)| !line.starts_with("PLACE"));
    let after = after.map(|(line, passed)| (&**line, *passed));
    let questions = || QUESTIONS.map(|line| (line, 1));
    for (line, passed) in questions().into_iter().chain(after).chain(questions()) {
        clock.pass(passed);
        other_clock.pass(passed);
        let expected = exchange(&first, &mut live, line).await;
        let reply = exchange(&second, &mut again, line).await;
        assert_eq!(reply, expected, "{line}, {cut} of {steps:?}");
    }
    let (expected, found) = (matches(&first).await, matches(&second).await);
    assert_eq!(found, expected, "the matches of {cut} of {steps:?}");
}

/// Steps a second apart.
fn seconds(lines: &[&str]) -> Vec<Step> {
    lines.iter().map(|line| (line.to_string(), 1_000)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_that_nobody_played_is_not_stored_after_a_crash_either() {
    let nobody = ["START", "GAME ctf"];
    let somebody = [
        "JOIN a team=0",
        "START",
        "SCORE 0 1 a",
        "PLACE b",
        "GAME ctf",
    ];
    let last = [
        "JOIN a team=0",
        "JOIN b team=1",
        "START",
        "SCORE 1 2 b",
        "END",
    ];
    let steps = seconds(&[&nobody[..], &somebody, &last].concat());
    for cut in 0..steps.len() {
        play(&steps, cut).await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 100, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn a_game_that_goes_on_gives_the_same_replies(
        steps in steps(),
        cut in any::<prop::sample::Index>(),
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(play(&steps, cut.index(steps.len())));
    }
}
