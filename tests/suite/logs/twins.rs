//! A match that both a game server's line and its log report is one.

use std::{path::Path, sync::Arc};

use evenkeel::{
    logs::{Ingest, IngestEvent},
    model::{Outcome, Timestamp},
    session::HandClock,
};

use super::{stored, write};
use crate::common::{Client, Daemon, backends::rows};

const PEOPLE: [&str; 4] = ["ann", "bob", "cid", "dan"];

fn id(name: &str) -> String {
    let digits: String = name.bytes().map(|b| format!("{b:02x}")).collect();
    format!("{digits:0>32}")
}

fn joins() -> String {
    let join =
        |(at, name): (usize, &&str)| format!("JOIN {} name={name} team={}\n", id(name), at % 2);
    PEOPLE.iter().enumerate().map(join).collect()
}

/// A match of five minutes that red wins by one capture, as OpenArena logs it.
fn log(people: [&str; 4], map: &str) -> String {
    let mut text = format!("  0:00 InitGame: \\g_gametype\\4\\gamename\\baseoa\\mapname\\{map}\n");
    for (at, name) in people.iter().enumerate() {
        let (team, id) = (at % 2 + 1, id(name));
        text += &format!(
            "  0:00 ClientUserinfoChanged: {at} n\\{name}\\t\\{team}\\id\\{id}\n  0:00 ClientBegin: {at}\n"
        );
    }
    text += "  1:00 Kill: 0 1 1: ann killed bob by MOD_SHOTGUN\n  2:00 CTF: 0 2 1: ann captured the flag\n";
    text += "  5:00 Exit: Timelimit hit.\n  5:00 red:1  blue:0\n";
    for (at, name) in people.iter().enumerate() {
        text += &format!("  5:00 score: {}  ping: 0  client: {at} {name}\n", 5 - at);
    }
    text + "  5:01 ShutdownGame:\n"
}

/// A daemon, a game server that reports to it, and its log.
struct Evening {
    daemon: Daemon,
    clock: Arc<HandClock>,
    client: Client,
}

impl Evening {
    async fn new() -> Self {
        let (daemon, clock) = Daemon::start_by_hand("").await;
        let client = daemon.named("s").await;
        Self {
            daemon,
            clock,
            client,
        }
    }

    /// A match that lasts so long. Returns when it began.
    async fn play(&mut self, millis: u64) -> Timestamp {
        let began = self.daemon.service.sessions().clock().now();
        self.client
            .tell(&format!(
                "GAME baseoa.ctf\nMINPLAYERS 0\nMAP field\n{}",
                joins()
            ))
            .await;
        self.client.ask("BALANCE seed=1\n").await;
        self.client.lines(6).await;
        self.client.tell(&format!("{}START\n", joins())).await;
        self.clock.pass(millis);
        began
    }

    /// Reads a log that begins then. Returns the numbers of new matches and of those that are stored already.
    async fn ingest(&self, text: &str, server: &str, date: Timestamp) -> (usize, u64) {
        let file = self.daemon.folder.path().join("games.log");
        write(&file, text);
        let mut ingest = Ingest::new(self.daemon.service.store());
        (ingest.server, ingest.date) = (server.to_owned(), Some(date));
        let read = ingest
            .file(Path::new(&file), &mut |_: IngestEvent<'_>| {})
            .await;
        read.unwrap();
        self.daemon.service.learning().refresh().await.unwrap();
        (ingest.counts.recorded.len(), ingest.counts.duplicates)
    }

    /// The match of each decision.
    async fn decided(&self) -> Vec<Option<i64>> {
        self.daemon
            .service
            .sessions()
            .write_backlog()
            .await
            .unwrap();
        let sql = "SELECT match_id FROM decisions ORDER BY id";
        let found: Vec<(Option<i64>,)> =
            rows(&self.daemon.folder.path().join("test.db"), sql).await;
        found.into_iter().map(|(id,)| id).collect()
    }
}

#[tokio::test]
async fn the_log_of_a_reported_match_adds_none() {
    let mut evening = Evening::new().await;
    let began = evening.play(300_000).await;
    assert_eq!(evening.client.ask("SCORE 0\nEND\n").await, "END 1 recorded");
    // The log has no dates: its times are guessed.
    let (text, about) = (log(PEOPLE, "field"), began.plus_millis(-40_000));
    for server in ["", "s"] {
        assert_eq!(evening.ingest(&text, server, about).await, (0, 1));
    }
    assert_eq!(stored(&evening.daemon.service).await.len(), 1);
    assert_eq!(evening.decided().await, [Some(1)]);
}

#[tokio::test]
async fn other_people_another_map_time_or_server_are_another_match() {
    let mut evening = Evening::new().await;
    let began = evening.play(300_000).await;
    evening.client.ask("SCORE 0\nEND\n").await;
    let same = log(PEOPLE, "field");
    let others = log(["eve", "fay", "gus", "hal"], "field");
    for (text, server, date) in [
        (&same, "", began.plus_millis(200_000)),
        (&same, "another", began),
        (&others, "", began),
        (&log(PEOPLE, "harvest"), "", began),
    ] {
        assert_eq!(evening.ingest(text, server, date).await, (1, 0));
    }
    assert_eq!(stored(&evening.daemon.service).await.len(), 5);
}

#[tokio::test]
async fn a_match_whose_log_was_read_first_is_that_of_the_line() {
    let mut evening = Evening::new().await;
    let began = evening.play(300_000).await;
    let read = evening
        .ingest(&log(PEOPLE, "field"), "", began.plus_millis(2_000))
        .await;
    assert_eq!(read, (1, 0));
    assert_eq!(evening.client.ask("SCORE 0\nEND\n").await, "END 1 recorded");
    assert_eq!(stored(&evening.daemon.service).await.len(), 1);
    assert_eq!(evening.decided().await, [Some(1)]);
    let picked = "SELECT count(*) FROM match_chances WHERE cause = 'picked'";
    let picked: Vec<(i64,)> = rows(&evening.daemon.folder.path().join("test.db"), picked).await;
    assert_eq!(picked, [(1,)]);
}

#[tokio::test]
async fn of_a_match_that_broke_off_on_the_line_the_log_has_the_whole() {
    let mut evening = Evening::new().await;
    let began = evening.play(100_000).await;
    evening.client.tell("GAME baseoa.tourney\n").await;
    evening
        .daemon
        .service
        .sessions()
        .write_backlog()
        .await
        .unwrap();
    let before = stored(&evening.daemon.service).await;
    assert_eq!(
        (before.len(), before[0].record.outcome),
        (1, Outcome::Abandoned)
    );
    let text = log(PEOPLE, "field");
    assert_eq!(
        evening.ingest(&text, "", began.plus_millis(1_000)).await,
        (1, 0)
    );
    let after = stored(&evening.daemon.service).await;
    assert_eq!(after.len(), 1);
    assert_eq!(
        (after[0].id, after[0].record.outcome),
        (before[0].id, Outcome::Won(0))
    );
    assert_eq!(after[0].record.server, "s", "as the line has named it");
    assert_eq!(evening.decided().await, [Some(after[0].id)]);
    assert_eq!(
        evening.ingest(&text, "", began.plus_millis(1_000)).await,
        (0, 1)
    );
}
