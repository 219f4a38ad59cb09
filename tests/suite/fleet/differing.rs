//! Daemons of one database whose queues differ.

use std::{fs, path::Path};

use sqlx::{Connection, PgConnection};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::LEAGUE;
use crate::common::{
    self,
    postgres::Server,
    process::{Process, poll},
    until,
};

const TRIO: &str = r#"
[queue.trio]
teams = 2
size = 3
ruleset = "baseoa.ctf"
host = "none"
"#;

/// A database, and the folder of daemons with and without the queue `trio`.
struct League {
    folder: TempDir,
    url: String,
    database: PgConnection,
    runtime: Runtime,
}

impl League {
    fn new() -> Option<Self> {
        let server = Server::shared()?;
        let runtime = Runtime::new().unwrap();
        let name = server.unused_name();
        runtime.block_on(server.create(&name));
        let url = server.url(&name);
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("few.toml"), LEAGUE).unwrap();
        fs::write(folder.path().join("more.toml"), LEAGUE.to_owned() + TRIO).unwrap();
        let other = (LEAGUE.to_owned() + TRIO).replace("size = 3", "size = 2");
        fs::write(folder.path().join("other.toml"), other).unwrap();
        let mut league = Self {
            folder,
            database: runtime.block_on(PgConnection::connect(&url)).unwrap(),
            url,
            runtime,
        };
        // Its tables are there from now on.
        league.start("few").stop();
        let free = "UPDATE leases SET settings = NULL, given_back_at = '1970-01-01 00:00:00'";
        let free = sqlx::query(free).execute(&mut league.database);
        league.runtime.block_on(free).unwrap();
        Some(league)
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn start(&self, settings: &str) -> Process {
        let config = format!("{settings}.toml");
        let variables = [
            ("EVENKEEL_CONFIG", &*config),
            ("EVENKEEL_STORE_URL", &*self.url),
            ("EVENKEEL_STORE_JOURNAL", "off"),
        ];
        Process::start_with(self.path(), &variables)
    }

    /// Waits until this answer of the database is true.
    fn wait(&mut self, query: &'static str) {
        let database = &mut self.database;
        self.runtime.block_on(until(async || {
            let answer = sqlx::query_scalar(query).fetch_optional(&mut *database);
            answer.await.unwrap() == Some(true)
        }));
    }

    /// The lease of the queues has ended for longer than it takes any daemon to notice.
    fn has_ended(&mut self) {
        self.wait("SELECT ends_at < clock(-3000) FROM leases WHERE name = 'queues/main'");
    }

    /// The daemon holds the lease of the queues.
    fn runs(&mut self, daemon: &Process) {
        let pid = format!("{}-%", daemon.child.id());
        let database = &mut self.database;
        self.runtime.block_on(until(async || {
            let query = "SELECT EXISTS (SELECT 1 FROM leases WHERE name = 'queues/main'
                             AND ends_at > clock() AND holder LIKE $1)";
            let query = sqlx::query_scalar(query)
                .bind(&pid)
                .fetch_one(&mut *database);
            query.await.unwrap()
        }));
    }

    fn tickets(&mut self) -> Vec<(String, String)> {
        let query = "SELECT ticket, state FROM tickets ORDER BY ticket";
        let query = sqlx::query_as(query).fetch_all(&mut self.database);
        self.runtime.block_on(query).unwrap()
    }
}

fn submit(daemon: &Process, queue: &str, ticket: &str) -> String {
    let said = daemon.ask(&format!(
        "HELLO lobby\n{}",
        common::submit(queue, ticket, &format!("of-{ticket}"))
    ));
    said.lines().last().unwrap_or_default().to_owned()
}

/// The same answer again and again, until it begins like this.
fn answers(mut ask: impl FnMut() -> String, begin: &str) {
    poll(|| {
        let said = ask();
        said.starts_with(begin).then_some(()).ok_or(said)
    })
}

const REFUSED: &str = "ERROR overloaded another daemon runs the queues of this database, with other settings for trio";

#[test]
fn a_queue_that_only_one_daemon_has_is_named() {
    let Some(mut league) = League::new() else {
        return;
    };
    let few = league.start("few");
    league.runs(&few);
    let more = league.start("more");
    answers(|| submit(&more, "trio", "t1"), REFUSED);
    let queued = submit(&more, "quick", "t2");
    assert!(queued.starts_with("QUEUED t2 "), "{queued}");
    // It has all queues of the other one, and so it can go on with them at once.
    drop(few);
    league.runs(&more);
    answers(|| submit(&more, "trio", "t1"), "QUEUED t1 ");
    let tickets = [("t1", "queued"), ("t2", "queued")];
    assert_eq!(
        league.tickets(),
        tickets.map(|(one, two)| (one.into(), two.into()))
    );
}

/// The tickets of a daemon that dies wait for it, as long as the one that is left cannot go on with all of its queues.
fn tickets_wait_for_a_daemon_that_has_their_queue(other: &str) {
    let Some(mut league) = League::new() else {
        return;
    };
    let mut more = league.start("more");
    league.runs(&more);
    let other = league.start(other);
    answers(|| submit(&more, "trio", "t1"), "QUEUED t1 ");
    let queued = [("t1".to_owned(), "queued".to_owned())];
    for _ in 0..2 {
        more.kill();
        league.has_ended();
        assert_eq!(league.tickets(), queued);
        more = league.start("more");
        league.runs(&more);
        assert_eq!(league.tickets(), queued);
    }
    // It does not come back. A minute later, the other one goes on without its queue.
    more.kill();
    league.has_ended();
    let later = "UPDATE leases SET ends_at = clock(-60000) WHERE name = 'queues/main'";
    let later = sqlx::query(later).execute(&mut league.database);
    league.runtime.block_on(later).unwrap();
    league.runs(&other);
    answers(|| submit(&other, "quick", "t2"), "QUEUED t2 ");
    // The former daemon cannot take its queues back now, and says so.
    let more = league.start("more");
    answers(|| submit(&more, "trio", "t3"), REFUSED);
}

#[test]
fn tickets_wait_for_a_daemon_that_has_their_queue_at_all() {
    tickets_wait_for_a_daemon_that_has_their_queue("few");
}

#[test]
fn tickets_wait_for_a_daemon_with_the_same_settings_of_their_queue() {
    tickets_wait_for_a_daemon_that_has_their_queue("other");
}
