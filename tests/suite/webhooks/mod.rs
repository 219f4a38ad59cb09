//! Webhooks: what is sent, in which order, how often, and to hostile receivers.

mod daemon;
pub mod receiver;

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use evenkeel::{
    model::{Kind, MatchRecord, PlayerKey, Timestamp},
    session::MachineClock,
    store::{HookNote, HookReport, HookRow, HookWaits, Store},
    webhooks::{Deliveries, HookAnswer, delay},
};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::common::{backends::open_chosen, config, game, sql, until};
use receiver::{Receiver, Reply, SECRET};

/// A match that has just ended; `n` distinguishes it from others.
fn recent(n: i64) -> MatchRecord {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let minute = now.unwrap().as_secs() as i64 / 60 - 30 + n;
    let players = [(Kind::Human, "ann"), (Kind::Human, "bob")];
    game(minute, &players[..1], &players[1..], [n as f64, 1.0])
}

/// The delays of the daemon, a hundred times shorter.
fn short(tries: u32, roll: u16, answer: &HookAnswer) -> Duration {
    delay(tries, roll, answer) / 100
}

/// A section for a receiver, with more lines.
fn section(url: &str, lines: &str) -> String {
    format!("[[webhook]]\nname = 'one'\nurl = '{url}'\nsecret = '{SECRET}'\n{lines}\n")
}

/// A database, and the task that sends its events.
struct Sending {
    store: Arc<Store>,
    path: PathBuf,
    stop: CancellationToken,
    task: Option<JoinHandle<()>>,
    _folder: TempDir,
}

impl Sending {
    /// A database with a webhook, to which nothing is sent yet.
    async fn new(toml: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("test.db");
        let store = open_chosen(&path).await;
        let sending = Self {
            store,
            path,
            stop: CancellationToken::new(),
            task: None,
            _folder: folder,
        };
        drop(sending.open(toml).await);
        sending
    }

    async fn open(&self, toml: &str) -> Deliveries {
        let clock = Arc::new(MachineClock::default());
        let settings = config(toml).webhook;
        let store = self.store.clone();
        let opened = Deliveries::open_with_delays(&settings, store, clock, short).await;
        opened.unwrap()
    }

    async fn start(&mut self, toml: &str) {
        let deliveries = self.open(toml).await;
        self.stop = CancellationToken::new();
        self.task = Some(tokio::spawn(deliveries.run(self.stop.clone())));
    }

    async fn stop(&mut self) {
        self.stop.cancel();
        self.task.take().unwrap().await.unwrap();
    }

    async fn record(&self, n: i64) {
        self.store.matches().record(&recent(n)).await.unwrap();
    }

    async fn row(&self) -> HookRow {
        self.store.hooks().hook_rows().await.unwrap().remove(0)
    }

    /// Waits until so many events were sent.
    async fn delivered(&self, count: i64) {
        until(async || self.row().await.delivered == count).await;
    }
}

/// The scores of team 0 in the next requests, which are all checked.
async fn scores(receiver: &mut Receiver, count: usize) -> Vec<f64> {
    let mut scores = Vec::new();
    for _ in 0..count {
        let request = receiver.next().await;
        request.check();
        let score = &request.json()["data"]["teams"][0]["score"];
        scores.push(score.as_f64().unwrap());
    }
    scores
}

#[tokio::test]
async fn events_come_in_order_and_once() {
    let mut receiver = Receiver::start(vec![], Reply::Status(204));
    let toml = section(&receiver.url(), "");
    let mut sending = Sending::new(&toml).await;
    for n in 2..=5 {
        sending.record(n).await;
    }
    sending.start(&toml).await;
    assert_eq!(scores(&mut receiver, 4).await, [2.0, 3.0, 4.0, 5.0]);
    sending.record(6).await;
    sending.record(6).await; // a duplicate is not stored, so it is no event
    assert_eq!(scores(&mut receiver, 1).await, [6.0]);
    sending.delivered(5).await;
    sending.stop().await;
    sending.start(&toml).await;
    sending.record(7).await;
    assert_eq!(scores(&mut receiver, 1).await, [7.0]);
    sending.delivered(6).await;
    let row = sending.row().await;
    assert_eq!((row.waiting, row.dropped, row.tries), (0, 0, 0));
    sending.stop().await;
}

/// A task that is stopped while it notes a delivery does so once more.
#[tokio::test]
async fn a_note_that_is_written_twice_counts_once() {
    let sending = Sending::new(&section("http://127.0.0.1:9/", "")).await;
    sending.record(2).await;
    let note = HookNote {
        position: sending.store.hooks().last_event().await.unwrap(),
        delivered: 1,
        ..HookNote::default()
    };
    for _ in 0..2 {
        sending.store.hooks().note_hook("one", &note).await.unwrap();
    }
    let row = sending.row().await;
    assert_eq!((row.delivered, row.waiting), (1, 0));
}

#[tokio::test]
async fn after_ten_failures_the_same_event_comes_again_before_all_others() {
    let mut receiver = Receiver::start(vec![Reply::Status(500); 10], Reply::Status(200));
    let toml = section(&receiver.url(), "");
    let mut sending = Sending::new(&toml).await;
    sending.record(2).await;
    sending.record(3).await;
    let began = Instant::now();
    sending.start(&toml).await;
    let first = receiver.next().await;
    for _ in 0..10 {
        let again = receiver.next().await;
        again.check();
        assert_eq!((again.id(), &again.text), (first.id(), &first.text));
    }
    // 1 + 2 + 4 + … + 512 hundredths of a second, at most halved.
    assert!(began.elapsed() > Duration::from_millis(5_100), "{began:?}");
    let next = receiver.next().await;
    assert_ne!(next.id(), first.id());
    sending.delivered(2).await;
    assert_eq!(sending.row().await.failure, None);
    sending.stop().await;
}

#[tokio::test]
async fn hostile_receivers_only_delay_their_own_events() {
    let mut elsewhere = Receiver::start(vec![], Reply::Status(200));
    for (reply, why) in [
        (
            Reply::Redirect(elsewhere.url()),
            "redirects are not followed",
        ),
        (Reply::Silence, "timeout"),
        (Reply::Close, ""),
        (Reply::EndlessHead, ""),
    ] {
        let mut receiver = Receiver::start(vec![], reply.clone());
        let toml = section(&receiver.url(), "timeout_seconds = 1");
        let mut sending = Sending::new(&toml).await;
        sending.record(2).await;
        sending.start(&toml).await;
        let first = receiver.next().await;
        until(async || sending.row().await.failure.is_some()).await;
        let failure = sending.row().await.failure.unwrap().1;
        assert!(failure.contains(why), "{reply:?}: {failure}");
        // Only now, because the failure is forgotten when the event is taken.
        receiver.answer(Reply::Status(200));
        assert_eq!(receiver.next().await.id(), first.id(), "{reply:?}");
        sending.delivered(1).await;
        sending.stop().await;
    }
    assert!(
        elsewhere.requests.try_recv().is_err(),
        "the redirect was followed"
    );
    // A status is an answer, whatever follows it.
    let mut receiver = Receiver::start(vec![], Reply::Endless);
    let toml = section(&receiver.url(), "timeout_seconds = 1");
    let mut sending = Sending::new(&toml).await;
    sending.record(2).await;
    sending.record(3).await;
    sending.start(&toml).await;
    assert_eq!(scores(&mut receiver, 2).await, [2.0, 3.0]);
    sending.delivered(2).await;
    sending.stop().await;
}

#[tokio::test]
async fn a_refused_event_does_not_hold_the_others_for_long() {
    let mut receiver = Receiver::start(vec![Reply::Status(422); 5], Reply::Status(200));
    let toml = section(&receiver.url(), "");
    let mut sending = Sending::new(&toml).await;
    sending.record(2).await;
    sending.record(3).await;
    sending.start(&toml).await;
    assert_eq!(
        scores(&mut receiver, 6).await,
        [2.0, 2.0, 2.0, 2.0, 2.0, 3.0]
    );
    sending.delivered(1).await;
    assert_eq!(sending.row().await.dropped, 1);
    sending.stop().await;
}

#[tokio::test]
async fn what_waits_is_bounded_in_number_and_age_and_counted() {
    let mut receiver = Receiver::start(vec![], Reply::Status(200));
    let toml = section(&receiver.url(), "max_waiting = 2\nkeep_seconds = 3600");
    let mut sending = Sending::new(&toml).await;
    for n in 2..=6 {
        sending.record(n).await;
    }
    assert_eq!(sending.row().await.waiting, 5);
    sending.start(&toml).await;
    assert_eq!(scores(&mut receiver, 2).await, [5.0, 6.0]);
    sending.delivered(2).await;
    assert_eq!(sending.row().await.dropped, 3);
    sending.stop().await;
    sending.record(7).await;
    sql(
        &sending.path,
        "UPDATE webhook_events SET at = '2020-01-01 00:00:00'",
    )
    .await;
    sending.record(8).await;
    sending.start(&toml).await;
    assert_eq!(scores(&mut receiver, 1).await, [8.0]);
    sending.delivered(3).await;
    assert_eq!(sending.row().await.dropped, 4);
    sending.stop().await;
}

/// Without a daemon, `evenkeel ingest` writes events for as long as it likes.
#[tokio::test]
async fn the_table_is_bounded_although_nothing_is_sent() {
    let toml = section("http://127.0.0.1:9/hook", "");
    let sending = Sending::new(&toml).await;
    sql(
        &sending.path,
        "INSERT INTO webhook_events (kind, match_id)
         WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 20500)
         SELECT 'recorded', n FROM n",
    )
    .await;
    assert_eq!(sending.row().await.waiting, 20_000);
    let waits = HookWaits {
        since: evenkeel::model::Timestamp(0),
        most: 10_000,
    };
    let bound = sending
        .store
        .hooks()
        .bound_events("one", waits)
        .await
        .unwrap();
    assert_eq!(bound, (10_500, 10_500));
    let row = sending.row().await;
    assert_eq!((row.waiting, row.dropped), (10_000, 10_500));
}

#[tokio::test]
async fn nothing_is_written_for_old_matches_and_without_webhooks() {
    let toml = section("http://127.0.0.1:9/hook", "");
    let sending = Sending::new(&toml).await;
    let old = game(1, &[(Kind::Human, "a")], &[(Kind::Human, "b")], [1.0, 0.0]);
    sending.store.matches().record(&old).await.unwrap();
    assert_eq!(sending.store.hooks().last_event().await.unwrap(), 0);
    drop(
        sending
            .open(&section("http://127.0.0.1:9/hook", "events = ['formed']"))
            .await,
    );
    sending.record(2).await;
    assert_eq!(sending.store.hooks().last_event().await.unwrap(), 0);
    drop(sending.open(&toml).await);
    sending.record(3).await;
    assert_eq!(sending.row().await.waiting, 1);
    drop(sending.open("").await);
    sending.record(4).await;
    assert_eq!(
        sending.store.hooks().last_event().await.unwrap(),
        0,
        "events without a webhook remain"
    );
    drop(sending.open(&toml).await);
    assert_eq!(sending.row().await.waiting, 0, "a new webhook begins now");
}

/// Webhooks whose events are of another kind keep nothing in the database.
#[tokio::test]
async fn each_webhook_has_its_own_kinds_and_place() {
    let mut receiver = Receiver::start(vec![], Reply::Status(200));
    let other = section("http://127.0.0.1:9/hook", "events = ['formed']").replace("one", "two");
    let toml = section(&receiver.url(), "events = ['recorded']") + &other;
    let mut sending = Sending::new(&toml).await;
    sending.record(2).await;
    sending.start(&toml).await;
    assert_eq!(scores(&mut receiver, 1).await, [2.0]);
    until(async || sending.store.hooks().last_event().await.unwrap() == 0).await;
    sending.stop().await;
}

#[tokio::test]
async fn a_forgotten_player_is_not_sent() {
    let sending = Sending::new(&section("http://127.0.0.1:9/hook", "")).await;
    sending.record(2).await;
    let event = sending
        .store
        .hooks()
        .next_events("one", 0, 9)
        .await
        .unwrap()
        .remove(0);
    let names = |report: HookReport| match report {
        HookReport::Recorded(recorded) => {
            let people = recorded.record.participants.into_iter();
            people.map(|one| one.key.id.to_string()).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    let report = sending
        .store
        .hooks()
        .hook_report(&event)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(names(report), ["ann", "bob"]);
    let ann = PlayerKey {
        kind: Kind::Human,
        id: "ann".into(),
    };
    sending
        .store
        .corrections()
        .forget_player(&ann, Timestamp(0))
        .await
        .unwrap();
    let report = sending.store.hooks().hook_report(&event).await.unwrap();
    assert!(
        !report
            .map(names)
            .unwrap_or_default()
            .contains(&"ann".to_owned())
    );
}
