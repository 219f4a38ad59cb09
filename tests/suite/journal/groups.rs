//! Games that end together are one commit. Here the daemon is killed after that commit, and before it answers END.

use std::{
    fs,
    io::{BufReader, Write},
    net::TcpStream,
    path::Path,
};

use sqlx::{Executor, PgConnection};
use tempfile::TempDir;

use super::journals;
use crate::common::{
    lock_database,
    postgres::Server,
    process::{Process, ask, line},
    stored_matches, until,
};

const SERVERS: usize = 5;
/// Whoever waits for a lock does so until the test gives it.
const PATIENT: (&str, &str) = ("EVENKEEL_STORE_BUSY_MS", "60000");

/// The connection of a game server, and whether its game goes on.
fn connect(daemon: &Process, server: usize) -> (BufReader<TcpStream>, bool) {
    let mut stream = daemon.connect();
    let hello = ask(&mut stream, &format!("HELLO s{server} resume=yes\n"));
    (stream, hello.ends_with(" resumed"))
}

/// Game servers, each with a game in play on a map of its own.
fn play(daemon: &Process) -> Vec<BufReader<TcpStream>> {
    let play = |server: usize| {
        let (mut stream, _) = connect(daemon, server);
        let game = format!(
            "GAME ctf\nMAP m{server}\nJOIN a{server} team=0\nJOIN b{server} team=1\nSTART\nSCORE 0\nPING\n"
        );
        assert_eq!(ask(&mut stream, &game), "PONG");
        stream
    };
    (0..SERVERS).map(play).collect()
}

/// Sends END on these connections, and waits until it is in the journals of their games.
async fn end(folder: &Path, streams: &mut [BufReader<TcpStream>]) {
    let lengths = || -> Vec<u64> {
        let paths = journals(folder).into_iter();
        paths.map(|path| path.metadata().unwrap().len()).collect()
    };
    let before = lengths();
    for stream in &mut *streams {
        stream.get_mut().write_all(b"END\n").unwrap();
    }
    let grown = || before.iter().zip(lengths()).filter(|(old, new)| *old < new);
    until(async || grown().count() == streams.len()).await;
}

/// The answer to END that a game server repeats after the daemon was started again, twice.
fn repeated(daemon: &Process, server: usize) -> String {
    let (mut stream, resumed) = connect(daemon, server);
    assert!(resumed, "s{server}");
    let end = ask(&mut stream, "END\n");
    assert_eq!(ask(&mut stream, "END\n"), end);
    end
}

/// The id of the match in an answer to END.
fn id(end: &str) -> i64 {
    let id = end
        .strip_prefix("END ")
        .and_then(|rest| rest.split(' ').next());
    id.unwrap_or_else(|| panic!("{end}")).parse().unwrap()
}

/// The disk is what the kill leaves: the database with the group, and the journals of before.
#[tokio::test(flavor = "multi_thread")]
async fn sqlite_has_a_group_whose_answers_were_never_sent() {
    let folder = TempDir::new().unwrap();
    let mut daemon = Process::start_with(folder.path(), &[PATIENT]);
    let mut streams = play(&daemon);
    let mut other = lock_database(folder.path()).await;
    end(folder.path(), &mut streams).await;
    let files = journals(folder.path()).into_iter();
    let files: Vec<_> = files.map(|path| (fs::read(&path).unwrap(), path)).collect();
    assert_eq!(files.len(), SERVERS);
    other.execute("ROLLBACK").await.unwrap();
    let ends: Vec<String> = streams.iter_mut().map(line).collect();
    daemon.kill();
    for path in journals(folder.path()) {
        fs::remove_file(path).unwrap();
    }
    for (content, path) in files {
        fs::write(path, content).unwrap();
    }

    let daemon = Process::start(folder.path());
    for (server, end) in ends.iter().enumerate() {
        assert_eq!(repeated(&daemon, server), *end);
    }
    let mut stored: Vec<(String, i64)> = stored_matches(folder.path())
        .await
        .into_iter()
        .map(|stored| (stored.record.map, stored.id))
        .collect();
    stored.sort();
    let expected = ends.iter().enumerate();
    let expected = expected.map(|(server, end)| (format!("m{server}"), id(end)));
    assert_eq!(stored, expected.collect::<Vec<_>>());
}

/// Lets the commit of a match on any map but `m0` wait for a lock, which this connection has. It also has the lock that
/// keeps games from being recorded.
const HOLD: &str = "
    CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON matches DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.map <> 'm0') EXECUTE FUNCTION hold();
    SELECT pg_advisory_lock(7); SELECT pg_advisory_lock(1163283277);";

/// The maps and ids of all matches.
async fn matches(database: &mut PgConnection) -> Vec<(String, i64)> {
    let all = sqlx::query_as("SELECT map, id FROM matches ORDER BY map");
    all.fetch_all(database).await.unwrap()
}

/// How many connections do this for the daemon, and wait for a lock.
async fn waiting(database: &mut PgConnection, doing: &str) -> i64 {
    let query = "SELECT count(*) FROM pg_stat_activity
                 WHERE datname = current_database() AND wait_event = 'advisory' AND query LIKE $1";
    let query = sqlx::query_scalar(query).bind(format!("{doing}%"));
    query.fetch_one(database).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn postgresql_commits_a_group_while_the_daemon_is_killed() {
    let Some(server) = Server::start() else {
        return;
    };
    server.create("league").await;
    let folder = TempDir::new().unwrap();
    let url = server.url("league");
    let variables = [
        ("EVENKEEL_STORE_URL", url.as_str()),
        ("EVENKEEL_STORE_JOURNAL", "evenkeel.games"),
        PATIENT,
    ];
    let mut daemon = Process::start_with(folder.path(), &variables);
    let mut streams = play(&daemon);
    let mut database = server.connect("league").await;
    database.execute(HOLD).await.unwrap();
    let (first, others) = streams.split_at_mut(1);
    end(folder.path(), first).await;
    until(async || waiting(&mut database, "BEGIN").await == 1).await;
    end(folder.path(), others).await; // while the first game waits, they form a group
    database
        .execute("SELECT pg_advisory_unlock(1163283277)")
        .await
        .unwrap();
    assert_eq!(id(&line(&mut first[0])), 1);
    until(async || waiting(&mut database, "COMMIT").await == 1).await;
    daemon.kill();
    assert_eq!(matches(&mut database).await.len(), 1);
    database
        .execute("SELECT pg_advisory_unlock(7)")
        .await
        .unwrap();
    until(async || matches(&mut database).await.len() > 1).await;
    let committed = matches(&mut database).await;

    let daemon = Process::start_with(folder.path(), &variables);
    let mut expected = vec![("m0".to_owned(), 1)];
    for server in 1..SERVERS {
        expected.push((format!("m{server}"), id(&repeated(&daemon, server))));
    }
    assert_eq!(matches(&mut database).await, expected);
    assert!(committed.iter().all(|own| expected.contains(own)));
}
