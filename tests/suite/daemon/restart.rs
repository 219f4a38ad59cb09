//! The first moment of a daemon: nothing is answered with less than it knows a moment later.

use std::{io::Write, net::TcpStream, path::Path, sync::Arc, time::Duration};

use evenkeel::{
    learning::AT_ONCE,
    lobby::Command,
    model::{
        Kind::{self, Bot, Human},
        MatchRecord,
        fingerprint::Fingerprint,
        ident::Ident,
    },
    server::{Service, watch::Monitor},
    session::SessionError,
    store,
    web::{self, Audience, Site},
};
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::common::{
    self, Client, Daemon,
    backends::{chose_postgres, rows},
    checkpoints, config, game,
    http::HttpAnswer,
    restarts, until, weights,
};

/// How long a test waits for a handle on its database that is being closed.
const PATIENCE: Duration = Duration::from_secs(20);

const CONFIG: &str = r#"
[divisions]
names = ["Bronze", "Silver", "Gold"]
calibration_matches = 5

[server]
max_errors = 3

[queue.ranked]
teams = 2
size = 1
ruleset = "ctf"
host = "none"
rule = [{ name = "experience", rule = "range", of = "@games", from = 5, hard = true }]

[queue.newcomers]
teams = 2
size = 1
ruleset = "ctf"
host = "none"
rule = [{ name = "few games", rule = "range", of = "@games", to = 4, hard = true }]
"#;

/// Matches of humans and bots; those with lower numbers are stronger.
fn season(minutes: std::ops::Range<i64>) -> Vec<(MatchRecord, Fingerprint)> {
    let one = |minute: i64| {
        let (two, other) = (minute % 3, minute % 4 == 0);
        let friend = ["b", "c", "d"][two as usize];
        let rival = if other { "c" } else { "e" };
        let rival = if rival == friend { "f" } else { rival };
        let red: &[(Kind, &str)] = &[(Human, "a"), (Human, friend), (Bot, "x")];
        let blue: &[(Kind, &str)] = &[(Human, rival), (Human, "g"), (Bot, "y")];
        let scores = [3.0, if other { 5.0 } else { 1.0 }];
        recorded(game(15 * minute, red, blue, scores))
    };
    minutes.map(one).collect()
}

fn recorded(record: MatchRecord) -> (MatchRecord, Fingerprint) {
    let fingerprint = Fingerprint::of(&record);
    (record, fingerprint)
}

async fn open(path: &Path) -> Service {
    open_with(path, CONFIG).await
}

async fn open_with(path: &Path, toml: &str) -> Service {
    let store = store::open(path, true, PATIENCE).await.unwrap();
    Service::open(store, config(toml).service()).unwrap()
}

/// A database that another version has left: it has derived all weights but those of the last match, in which
/// `new`, and the bot `z`, have played for the first time. This version cannot read its checkpoint.
async fn left_by_another_version() -> TempDir {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let service = open(&path).await;
    service
        .store()
        .matches()
        .record_all(&season(0..60))
        .await
        .unwrap();
    service.learning().refresh().await.unwrap();
    let last = [(Human, "new"), (Bot, "z")];
    let last = recorded(game(
        15 * 60,
        &last,
        &[(Human, "a"), (Bot, "x")],
        [3.0, 2.0],
    ));
    service.store().matches().record_all(&[last]).await.unwrap();
    service.close().await;
    std::fs::remove_dir_all(path.with_extension("learned")).unwrap();
    common::sql(
        &path,
        "UPDATE state SET text = 'another version' WHERE name = 'learned'",
    )
    .await;
    folder
}

/// Questions about everybody whom the stored weights contain, and about nobody in any match.
const KNOWN: &str = "GAME ctf\nPLAYER a\nPLAYER b\nPLAYER g\nPLAYER a\nBOT x\nBOT y\nBOT stranger\nMEANBOT\nRANK a\nRANK g\n\
     RANK stranger\nPLAYER stranger\nGAME ctf\nMUTATOR instagib\nPLAYER a\nPLAYER e\nBOT y\n";

#[tokio::test]
async fn the_weights_in_the_database_are_served_until_the_new_ones_are_derived() {
    let folder = left_by_another_version().await;
    let path = folder.path().join("test.db");
    // What the last version has answered: without the last match.
    let before = TempDir::new().unwrap();
    let old = open(&before.path().join("test.db")).await;
    old.store()
        .matches()
        .record_all(&season(0..60))
        .await
        .unwrap();
    old.learning().refresh().await.unwrap();
    let limits = config(CONFIG).server.limits;
    let old = Daemon::serve(old.into(), before, limits).await;
    let known = old.client().await.talk(KNOWN).await;
    assert!(!known.contains("ERROR"), "{known}");

    let service = open(&path).await;
    service.learning().resume(0).await.unwrap();
    assert!(service.learning().is_deriving() && !service.learning().is_starting());
    let daemon = Daemon::serve(service.into(), folder, limits).await;
    assert_eq!(daemon.client().await.talk(KNOWN).await, known);
    // Those of whom more will be known are not answered for, and so are decisions about them. That is no error of
    // the client, which may make two.
    let mut client = daemon.named("s").await;
    client.tell("GAME ctf\nJOIN a\nJOIN new\n").await;
    let waits = "ERROR overloaded the weights are being derived from the stored matches: try again";
    for question in [
        "PLAYER new",
        "BOT z",
        "RANK new",
        "BALANCE",
        "PLACE a",
        "ADVANTAGE",
        "REBALANCE",
        "PLAYER new",
    ] {
        assert_eq!(
            client.ask(&format!("{question}\n")).await,
            waits,
            "{question}"
        );
    }
    client
        .tell("JOIN a team=0\nJOIN new team=1\nSTART\nDEATH a\n")
        .await;
    // A player who is in no match is not waited for.
    client.tell("LEAVE new\nJOIN stranger\n").await;
    let balance = client.ask("BALANCE seed=1\n").await;
    assert!(
        balance.starts_with("BALANCE 4 ") && balance.ends_with(" - 1"),
        "{balance}"
    );

    daemon.service.learning().refresh().await.unwrap();
    let now = daemon.client().await;
    let now = now
        .talk("GAME ctf\nPLAYER new\nBOT z\nRANK new\nPLAYER a\n")
        .await;
    let lines: Vec<&str> = now.lines().collect();
    assert!(
        lines[0].starts_with("PLAYER new ") && lines[1].starts_with("BOT z "),
        "{now}"
    );
    assert_eq!(lines[2], "RANK new - - 1");
    assert!(!known.contains(lines[3]), "{now}");
    assert!(!daemon.service.learning().is_deriving());
}

/// How even matches were is counted over all of them: before, pages do not say that there are none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_say_that_the_matches_are_being_counted_again() {
    let folder = left_by_another_version().await;
    let service = Arc::new(open(&folder.path().join("test.db")).await);
    service.learning().resume(0).await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let settings = config(CONFIG).web.pages;
    let site = Arc::new(Site::new(service.clone(), settings));
    let (tracker, stop) = (TaskTracker::new(), CancellationToken::new());
    let served = (site, Audience::Visitors);
    let serving = web::run(listener, served, tracker, stop.clone(), Duration::ZERO);
    let serving = tokio::spawn(serving);
    let get_here = move |path: &str| {
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        HttpAnswer::read(stream)
    };
    let get = async |path: &str| {
        let path = path.to_owned();
        let answer = tokio::task::spawn_blocking(move || get_here(&path));
        answer.await.unwrap()
    };
    let said = "The matches are being counted again.";
    for path in ["/balance", "/balance?ruleset=ctf"] {
        let answer = get(path).await;
        assert_eq!(answer.status, 503, "{path}");
        assert!(answer.body.contains(said), "{}", answer.body);
    }
    let map = season(0..1).remove(0).0.map;
    for path in ["/", &format!("/maps/{map}")] {
        let answer = get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.body.contains(said), "{}", answer.body);
        assert!(!answer.body.contains("rated yet"), "{}", answer.body);
    }
    assert!(service.learning().standings().balance().is_none());

    service.learning().refresh().await.unwrap();
    let balance = service.learning().standings().balance().unwrap();
    assert_eq!(balance.rulesets(9)[0].closeness.rated, 61);
    for path in [
        "/balance",
        "/balance?ruleset=ctf",
        "/",
        &format!("/maps/{map}"),
    ] {
        let answer = get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.body.contains(said), "{}", answer.body);
    }

    // The weights of before are served while all matches are counted again after a correction.
    let said = "History was corrected";
    let monitor = Monitor::new(service.clone());
    let mut meanwhile = None;
    let rebuilt = service.learning().rebuild(|_| {
        meanwhile = meanwhile.take().or_else(|| {
            tokio::task::block_in_place(|| {
                let status = Handle::current().block_on(monitor.status());
                Some((get_here("/balance"), status.matches.learning_again))
            })
        });
    });
    rebuilt.await.unwrap();
    let (answer, learning_again) = meanwhile.unwrap();
    assert_eq!(answer.status, 200);
    assert!(answer.body.contains(said), "{}", answer.body);
    assert!(learning_again);
    assert!(!get("/balance").await.body.contains(said));
    assert!(!monitor.status().await.matches.learning_again);
    stop.cancel();
    serving.await.unwrap();
}

#[tokio::test]
async fn a_question_waits_for_weights_that_are_derived_in_time() {
    let folder = left_by_another_version().await;
    let service = open(&folder.path().join("test.db")).await;
    service.learning().resume(0).await.unwrap();
    let daemon = Daemon::serve(service.into(), folder, config(CONFIG).server.limits).await;
    let mut client = daemon.client().await;
    // What needs no weights is answered before, also in the same breath.
    assert_eq!(client.ask("GAME ctf\nPING\nPLAYER new\n").await, "PONG");
    let learning = daemon.service.learning().clone();
    let refreshed = tokio::spawn(async move { learning.refresh().await });
    let answer = client.line().await;
    assert!(
        answer.starts_with("PLAYER new ") && answer.len() > 11,
        "{answer}"
    );
    assert!(refreshed.await.unwrap().unwrap());
}

#[tokio::test]
async fn a_queue_waits_until_it_knows_the_players() {
    let folder = left_by_another_version().await;
    let service = open(&folder.path().join("test.db")).await;
    service.learning().resume(0).await.unwrap();
    let daemon = Daemon::serve(service.into(), folder, config(CONFIG).server.limits).await;
    let mut client = daemon.named("pub").await;
    let mut tickets = 0;
    let mut submit = async |client: &mut Client, queue: &str, player: &str| {
        tickets += 1;
        let lines = common::submit(queue, &format!("t{tickets}"), player);
        client.ask(&lines).await
    };
    let said = submit(&mut client, "ranked", "a").await;
    assert!(said.starts_with("QUEUED t1 "), "{said}");
    let said = submit(&mut client, "newcomers", "g").await;
    assert!(said.ends_with("g needs at most 4 games, has 60"), "{said}");
    let said = submit(&mut client, "newcomers", "stranger").await;
    assert!(said.starts_with("QUEUED t3 "), "{said}");
    for queue in ["ranked", "newcomers"] {
        let said = submit(&mut client, queue, "new").await;
        assert!(said.starts_with("ERROR overloaded "), "{said}");
    }
    daemon.service.learning().refresh().await.unwrap();
    let said = submit(&mut client, "newcomers", "new").await;
    assert!(said.starts_with("QUEUED "), "{said}");
}

/// Who plays while the weights are derived is known or waited for from the end of the match on.
#[tokio::test]
async fn a_player_of_a_match_that_is_recorded_meanwhile_is_waited_for() {
    let folder = left_by_another_version().await;
    let service = open(&folder.path().join("test.db")).await;
    service.learning().resume(0).await.unwrap();
    let ident = Ident::from_text;
    let mut session = service.open_session();
    let begin = session.new_game(&ident("ctf"));
    session.apply(&begin).unwrap();
    assert_eq!(session.player(&ident("guest")).unwrap(), None);
    for (id, team) in [("guest", 0), ("a", 1)] {
        let update = evenkeel::lobby::Update {
            team: Some(team),
            ..Default::default()
        };
        let id = ident(id);
        session.apply(&Command::Join { id, update }).unwrap();
    }
    session.apply(&Command::Start).unwrap();
    let won = evenkeel::model::in_game::Verdict::Won(0);
    session.end(won).await.unwrap();
    let asked = session.player(&ident("guest"));
    assert!(matches!(asked, Err(SessionError::NotReady)), "{asked:?}");
}

/// With other divisions, stored ranks would be shown under wrong names.
#[tokio::test]
async fn stored_ranks_of_other_divisions_are_not_shown() {
    let folder = left_by_another_version().await;
    let other = CONFIG.replace(r#""Bronze", "#, "");
    let service = open_with(&folder.path().join("test.db"), &other).await;
    service.learning().resume(0).await.unwrap();
    let ident = Ident::from_text;
    let mut session = service.open_session();
    let begin = session.new_game(&ident("ctf"));
    session.apply(&begin).unwrap();
    assert!(session.player(&ident("a")).unwrap().is_some());
    let rank = session.rank(&ident("a"));
    assert!(matches!(rank, Err(SessionError::NotReady)), "{rank:?}");
    assert_eq!(session.rank(&ident("stranger")).unwrap().games, 0);
    service.learning().refresh().await.unwrap();
    assert_eq!(session.rank(&ident("a")).unwrap().games, 61);
}

#[tokio::test]
async fn a_first_start_leaves_no_checkpoint_and_the_next_one_knows_everything() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let first = open(&path).await;
    first.learning().resume(AT_ONCE).await.unwrap();
    first.learning().refresh().await.unwrap();
    assert_eq!(checkpoints(&path), [""; 0]);
    first
        .store()
        .matches()
        .record_all(&season(0..40))
        .await
        .unwrap();
    first.learning().refresh().await.unwrap();
    let all = weights(first.store()).await;
    assert_eq!(checkpoints(&path), [""; 0]);
    // Two more matches, of which nothing is derived before the daemon is killed.
    first
        .store()
        .matches()
        .record_all(&season(40..42))
        .await
        .unwrap();
    first.close().await;
    let second = open(&path).await;
    second.learning().resume(AT_ONCE).await.unwrap();
    assert!(!second.learning().is_deriving());
    let ruleset = second.learning().rulebook().ruleset::<&str>("ctf", &[]);
    let view = second.learning().standings().view(&ruleset);
    let known = view.facts("a").unwrap();
    assert_eq!(known.games, 42);
    assert!(all.iter().all(|row| row.weight != known.weight));
    second.learning().rebuild(|_| ()).await.unwrap();
    let view = second.learning().standings().view(&ruleset);
    assert_eq!(view.facts("a"), Some(known), "to the last bit");
}

/// Weights are published before they are written, and what could not be written is not folded again.
#[tokio::test]
async fn weights_follow_the_matches_while_they_cannot_be_written() {
    if chose_postgres() {
        return; // the trigger is for SQLite
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let service = open(&path).await;
    service
        .store()
        .matches()
        .record_all(&season(0..40))
        .await
        .unwrap();
    service.learning().refresh().await.unwrap();
    common::sql(
        &path,
        "CREATE TRIGGER full BEFORE UPDATE ON state WHEN NEW.name = 'learned' BEGIN SELECT RAISE(ABORT, 'full'); END",
    )
    .await;
    let known = || {
        let ruleset = service.learning().rulebook().ruleset::<&str>("ctf", &[]);
        let view = service.learning().standings().view(&ruleset);
        view.facts("a").unwrap()
    };
    let mut before = known();
    for minute in [40, 41] {
        let new = season(minute..minute + 1);
        service.store().matches().record_all(&new).await.unwrap();
        service.learning().refresh().await.unwrap_err();
        let now = known();
        assert_eq!(now.games, before.games + 1);
        assert_ne!(now.weight, before.weight);
        before = now;
    }
    common::sql(&path, "DROP TRIGGER full").await;
    assert!(service.learning().refresh().await.unwrap());
    let rulings: Vec<(i64,)> = rows(&path, "SELECT count(*) FROM rulings").await;
    assert_eq!(rulings, [(42,)]);
    let written = weights(service.store()).await;
    service.learning().rebuild(|_| ()).await.unwrap();
    assert_eq!((weights(service.store()).await, known()), (written, before));
}

/// A task that learns from recorded matches goes on with each one, although no write succeeds.
#[tokio::test]
async fn a_daemon_learns_from_every_match_while_nothing_can_be_derived_on_disk() {
    if chose_postgres() {
        return; // the trigger is for SQLite
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let service = std::sync::Arc::new(open(&path).await);
    common::sql(
        &path,
        "CREATE TRIGGER full BEFORE INSERT ON state WHEN NEW.name = 'learned' BEGIN SELECT RAISE(ABORT, 'full'); END",
    )
    .await;
    let learning = service.learning().clone();
    learning.resume(AT_ONCE).await.unwrap();
    let learns = tokio::spawn(async move { learning.keep_up_to_date().await });
    service
        .store()
        .matches()
        .record_all(&season(0..5))
        .await
        .unwrap();
    until(async || service.learning().metrics().learned().matches == 5).await;
    service
        .store()
        .matches()
        .record_all(&season(5..9))
        .await
        .unwrap();
    until(async || service.learning().metrics().learned().matches == 9).await;
    assert_eq!(
        service.store().learned().derived_from().await.unwrap(),
        None
    );
    learns.abort();
}

#[test]
fn after_each_of_five_kills_the_first_answers_are_complete() {
    let seen = restarts::restart_again_and_again(5);
    println!("{seen:?}");
    assert!(seen.compared > 500, "{seen:?}");
}
