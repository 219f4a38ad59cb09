//! The journal of running games under a clock that the test moves: time without a daemon, sizes, and disks that
//! have no room.

use std::{fs, path::Path, sync::Arc};

use evenkeel::{
    lobby::{Command, Update},
    model::{Outcome, Timestamp, access::Holder, ident::Ident, in_game::Verdict},
    server::Service,
    session::{HandClock, Session},
    store::{self, StoredMatch},
};
use tempfile::TempDir;

use crate::{
    common::{BUSY, config, until},
    daemon::disk::SmallDisk,
    journal::journals,
};

/// A service over the database and the journal of this folder, whose clock shows `minute`.
async fn service(folder: &Path, minute: i64) -> (Arc<Service>, Arc<HandClock>) {
    service_with(folder, &folder.join("evenkeel.games"), minute).await
}

/// The same with another folder for the journal.
async fn service_with(folder: &Path, games: &Path, minute: i64) -> (Arc<Service>, Arc<HandClock>) {
    let clock = Arc::new(HandClock::new(Timestamp(
        1_000_000_000_000 + minute * 60_000,
    )));
    let store = store::open(&folder.join("evenkeel.db"), true, BUSY)
        .await
        .unwrap();
    let settings = config("server.resume_grace_seconds = 600").service();
    let service = Service::open_with_clock(store, settings, clock.clone()).unwrap();
    service.learning().refresh().await.unwrap();
    service.sessions().share_by(Arc::new(client));
    service.sessions().open_journal(games).await.unwrap();
    (Arc::new(service), clock)
}

/// The client that the name of a game server means: what is before a dash.
fn client(server: &str) -> Holder {
    let name = server.split('-').next().unwrap_or_default();
    Holder::Client(name.into())
}

async fn hello(service: &Service) -> (Session, bool) {
    hello_as("s", service).await
}

async fn hello_as(server: &str, service: &Service) -> (Session, bool) {
    let mut session = service.open_session();
    session.belongs_to(client(server));
    let resumed = session.hello(&Ident::from_text(server), true, None).await;
    (session, resumed.unwrap().unwrap())
}

fn begin(session: &mut Session) {
    let game = session.new_game(&Ident::from_text("ctf"));
    session.apply(&game).unwrap();
    for (id, team) in [("a", 0), ("b", 1)] {
        let update = Update {
            team: Some(team),
            ..Update::default()
        };
        let id = Ident::from_text(id);
        session.apply(&Command::Join { id, update }).unwrap();
    }
    session.apply(&Command::Start).unwrap();
}

/// Ends the session and the service as a daemon that stops.
async fn stop(mut session: Session, service: Arc<Service>) {
    session.close(false);
    drop(session);
    service.close().await;
}

const SCORE: Command = Command::Score {
    team: 0,
    points: 1.0,
    by: None,
};

/// Ends the game, and returns its match.
async fn end(service: &Service, session: &mut Session, verdict: Verdict) -> StoredMatch {
    let ended = session.end(verdict).await.unwrap();
    let stored = service.store().matches().match_with_id(ended.id).await;
    stored.unwrap().unwrap()
}

#[tokio::test]
async fn the_time_without_a_daemon_counts() {
    let folder = TempDir::new().unwrap();
    let (first, clock) = service(folder.path(), 0).await;
    let (mut session, _) = hello(&first).await;
    begin(&mut session);
    clock.pass(100_000);
    stop(session, first).await;
    // The next one starts three minutes after the first did, with a clock that begins at 0.
    let (second, clock) = service(folder.path(), 3).await;
    let (mut session, resumed) = hello(&second).await;
    assert!(resumed);
    clock.pass(30_000);
    session.apply(&SCORE).unwrap();
    clock.pass(30_000);
    let stored = end(&second, &mut session, Verdict::Scores).await;
    assert_eq!(stored.record.start, Timestamp(1_000_000_000_000));
    assert_eq!(stored.record.millis(), 240_000);
    assert_eq!(stored.record.events[0].at, 210_000);
}

#[tokio::test]
async fn a_journal_stays_small_and_goes_away() {
    let folder = TempDir::new().unwrap();
    let (first, _) = service(folder.path(), 0).await;
    let (mut session, _) = hello(&first).await;
    begin(&mut session);
    let kill = Command::Kill {
        killer: Ident::from_text("a"),
        victim: Ident::from_text("b"),
    };
    for _ in 0..200 {
        for _ in 0..100 {
            session.apply(&kill).unwrap();
        }
        session.write_journal();
    }
    session.close(false);
    first.sessions().drain().await.unwrap();
    stop(session, first).await;
    let sizes = journals(folder.path()).into_iter();
    let sizes: Vec<u64> = sizes.map(|path| path.metadata().unwrap().len()).collect();
    assert!(sizes.len() == 1 && sizes[0] < 100_000, "{sizes:?}");
    let (second, clock) = service(folder.path(), 1).await;
    let (mut session, resumed) = hello(&second).await;
    assert!(resumed);
    clock.pass(1_000);
    let stored = end(&second, &mut session, Verdict::Draw).await;
    assert_eq!(stored.record.participants[0].kills, 20_000);
    assert_eq!(stored.record.participants[1].deaths, 20_000);
    // Nobody comes back.
    session.close(true);
    clock.pass(600_001);
    let sessions = second.sessions().clone();
    let background = tokio::spawn(async move { sessions.run_background().await });
    until(async || journals(folder.path()).is_empty()).await;
    background.abort();
}

#[tokio::test]
async fn a_clock_that_was_set_back_takes_no_time_away() {
    let folder = TempDir::new().unwrap();
    let (first, clock) = service(folder.path(), 60).await;
    let (mut session, _) = hello(&first).await;
    begin(&mut session);
    clock.pass(100_000);
    session.apply(&SCORE).unwrap();
    stop(session, first).await;
    let (second, clock) = service(folder.path(), 0).await;
    let (mut session, resumed) = hello(&second).await;
    assert!(resumed);
    clock.pass(50_000);
    session.apply(&SCORE).unwrap();
    clock.pass(10_000);
    let stored = end(&second, &mut session, Verdict::Scores).await;
    let at: Vec<_> = stored.record.events.iter().map(|event| event.at).collect();
    assert_eq!(
        (at, stored.record.millis()),
        (vec![100_000, 150_000], 160_000)
    );
}

/// Reports kills until `done`, each with a write to the journal.
fn kills_until(session: &mut Session, mut done: impl FnMut() -> bool) {
    let kill = Command::Kill {
        killer: Ident::from_text("a"),
        victim: Ident::from_text("b"),
    };
    for _ in 0..10_000 {
        session.apply(&kill).unwrap();
        session.write_journal();
        if done() {
            return;
        }
    }
    panic!("it does not happen");
}

#[tokio::test]
async fn a_game_on_a_full_disk_goes_on_and_is_journaled_again_when_there_is_room() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let games = disk.path().join("evenkeel.games");
    let (first, clock) = service_with(folder.path(), &games, 0).await;
    let (mut session, _) = hello(&first).await;
    begin(&mut session);
    session.write_journal();
    assert_eq!(journals(disk.path()).len(), 1);
    disk.fill();
    kills_until(&mut session, || journals(disk.path()).is_empty());
    // The game goes on without a journal. The removed one has left room for a new one.
    session.apply(&SCORE).unwrap();
    session.write_journal();
    assert_eq!(journals(disk.path()).len(), 0, "not at once");
    fs::remove_file(disk.filler()).unwrap();
    clock.pass(10_000);
    session.apply(&SCORE).unwrap();
    session.write_journal();
    assert_eq!(journals(disk.path()).len(), 1);
    stop(session, first).await;

    let (second, _) = service_with(folder.path(), &games, 1).await;
    let (mut session, resumed) = hello(&second).await;
    assert!(resumed);
    let stored = end(&second, &mut session, Verdict::Scores).await;
    assert_eq!(stored.record.scores, [2.0, 0.0]);
    assert_eq!(stored.record.outcome, Outcome::Won(0));
}

#[tokio::test]
async fn a_folder_that_has_gone_costs_the_journal_and_not_the_game() {
    let folder = TempDir::new().unwrap();
    let (first, clock) = service(folder.path(), 0).await;
    let games = folder.path().join("evenkeel.games");
    fs::remove_dir_all(&games).unwrap();
    let (mut session, _) = hello(&first).await;
    begin(&mut session);
    session.write_journal();
    clock.pass(60_000);
    session.apply(&SCORE).unwrap();
    session.write_journal();
    let stored = end(&first, &mut session, Verdict::Scores).await;
    assert_eq!(stored.record.scores, [1.0, 0.0]);
    assert!(!games.exists());
}

#[tokio::test]
async fn three_hundred_games_go_on_after_a_restart() {
    let folder = TempDir::new().unwrap();
    let (first, _) = service(folder.path(), 0).await;
    let mut sessions = Vec::new();
    for server in 0..300 {
        let (mut session, _) = hello_as(&format!("s{server}"), &first).await;
        begin(&mut session);
        session.close(false);
        sessions.push(session);
    }
    drop(sessions);
    first.close().await;
    drop(first);
    let (second, _) = service(folder.path(), 1).await;
    for server in 0..300 {
        let (_, resumed) = hello_as(&format!("s{server}"), &second).await;
        assert!(resumed, "s{server}");
    }
}

#[tokio::test]
async fn the_games_of_all_connections_can_be_parked_at_once() {
    let config = config("[server]\nmax_connections = 320");
    let (service, _folder) = crate::common::service(&config).await;
    let name = |number: usize| Ident::from_text(&format!("server {number}"));
    let mut sessions = Vec::new();
    for number in 0..320 {
        let mut session = service.open_session();
        session.hello(&name(number), false, None).await.unwrap();
        begin(&mut session);
        sessions.push(session);
    }
    drop(sessions);
    assert_eq!(service.sessions().levels().parked, 320);
    for number in 0..320 {
        let mut session = service.open_session();
        let resumed = session.hello(&name(number), true, None).await.unwrap();
        assert_eq!(resumed, Some(true), "{number}");
        session.close(false);
    }
}

/// Opens and closes connections with games of these names.
async fn park(service: &Service, names: impl Iterator<Item = String>) {
    for name in names {
        let (mut session, _) = hello_as(&name, service).await;
        begin(&mut session);
        session.write_journal();
    }
}

fn rogue(numbers: std::ops::Range<usize>) -> impl Iterator<Item = String> {
    numbers.map(|number| format!("rogue-{number}"))
}

#[tokio::test]
async fn one_client_does_not_throw_out_the_parked_game_of_another() {
    let folder = TempDir::new().unwrap();
    let (service, _) = service(folder.path(), 0).await;
    park(&service, ["club".to_owned()].into_iter()).await;
    park(&service, rogue(0..300)).await;
    let sessions = service.sessions();
    assert_eq!(sessions.levels().parked, 256);
    assert_eq!(sessions.metrics().games_given_up(), 45);
    assert!(hello_as("club", &service).await.1);
    // Its own oldest ones are gone.
    assert!(!hello_as("rogue-0", &service).await.1);
    assert!(hello_as("rogue-299", &service).await.1);
}

#[tokio::test]
async fn after_a_restart_a_game_belongs_to_the_client_that_its_server_means() {
    let folder = TempDir::new().unwrap();
    let (first, _) = service(folder.path(), 0).await;
    park(&first, ["club".to_owned()].into_iter()).await;
    park(&first, rogue(0..255)).await;
    first.sessions().drain().await.unwrap();
    first.close().await;
    drop(first);
    let (second, _) = service(folder.path(), 1).await;
    assert_eq!(second.sessions().levels().parked, 256);
    park(&second, rogue(1_000..1_100)).await;
    assert!(hello_as("club", &second).await.1);
    assert_eq!(second.sessions().metrics().games_given_up(), 100);
}
