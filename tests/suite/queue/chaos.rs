//! Everything at once: clients that send all of it twice, cancels in mid-search, a clock that is set
//! forward and back, and a configuration that changes under load. Nothing is lost, and nothing happens
//! twice.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use evenkeel::{
    model::Timestamp,
    server::Service,
    session::{Clock, MachineClock},
};
use tempfile::TempDir;

use crate::common::{Client, Daemon, backends::open_chosen, config, draw::Draw, until};

const CLIENTS: usize = 4;
const TICKETS: usize = 150;
const CHANGES: usize = 20;

/// The machine's clock, whose time of day is set again and again.
#[derive(Debug, Default)]
struct Stepped {
    machine: MachineClock,
    off: AtomicI64,
}

impl Clock for Stepped {
    fn millis(&self) -> u64 {
        self.machine.millis()
    }

    fn now(&self) -> Timestamp {
        self.machine
            .now()
            .plus_millis(self.off.load(Ordering::Relaxed))
    }
}

/// Two queues, of which every second configuration has a rule less and another group.
fn queues(change: usize) -> String {
    let rule =
        "[[queue.quick.rule]]\nname = \"near\"\nrule = \"spread\"\nof = \"level\"\nat_most = 3\n";
    let (rule, group) = match change % 2 {
        0 => (rule, ""),
        _ => ("", "group = \"other\"\n"),
    };
    format!(
        "[queue.quick]\nteams = 2\nsize = 1\nruleset = \"ctf\"\nhost = \"none\"\nttl = 86400\n{group}\
         attributes = {{ level = \"int 1..9 = 5\" }}\n{rule}\
         [queue.spare]\nteams = 2\nsize = 2\nruleset = \"ctf\"\nhost = \"none\"\n"
    )
}

async fn client(daemon: &Daemon, number: usize) -> Client {
    let mut client = daemon.client().await;
    client.ask(&format!("HELLO c{number}\n")).await;
    client
}

/// Sends all tickets of a client, most of them twice, with cancels between; counts the answers.
async fn submits(mut client: Client, number: usize) -> usize {
    let mut draw = Draw(number as u64 + 1);
    let (mut lines, mut answers) = (String::new(), 0);
    for n in 0..TICKETS {
        for _ in 0..2 {
            let level = 1 + n % 9;
            lines += &format!("ENQUEUE quick t{n}\nSEAT p{number}.{n} level={level}\nSUBMIT\n");
            answers += 1;
        }
        if draw.below(25) == 0 {
            lines += &format!("CANCEL t{n}\nCANCEL t{n}\n");
            answers += 2;
        }
    }
    client.send(&lines).await;
    for _ in 0..answers {
        let line = client.line().await;
        assert!(!line.starts_with("ERROR"), "{line}");
    }
    answers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_and_nothing_happens_twice() {
    let clock = Arc::new(Stepped::default());
    let folder = TempDir::new().unwrap();
    let store = open_chosen(&folder.path().join("test.db")).await;
    let settings = config(&queues(0));
    let service = Service::open_with_clock(store, settings.service(), clock.clone()).unwrap();
    let daemon = Daemon::serve(Arc::new(service), folder, settings.server.limits).await;
    let mut tasks = Vec::new();
    for number in 0..CLIENTS {
        tasks.push(tokio::spawn(submits(client(&daemon, number).await, number)));
    }
    let mut draw = Draw(7);
    for change in 1..=CHANGES {
        let hours = draw.below(49) as i64 - 24;
        clock.off.store(hours * 3_600_000, Ordering::Relaxed);
        let queues = config(&queues(change)).queue;
        daemon.service.queues().configure(queues).await.unwrap();
        tokio::task::yield_now().await;
    }
    let mut answers = 0;
    for task in tasks {
        answers += task.await.unwrap();
    }
    let mut first = client(&daemon, 0).await;
    until(async || {
        assert_eq!(first.ask("QUEUES\n").await, "QUEUES 2");
        let sizes = [first.line().await, first.line().await];
        sizes[0].starts_with("QUEUE quick 0 ") || sizes[0].starts_with("QUEUE quick 1 ")
    })
    .await;
    let mut matches: BTreeMap<String, usize> = BTreeMap::new();
    let (mut waiting, mut gone) = (0_usize, 0_usize);
    for number in 0..CLIENTS {
        let mut client = client(&daemon, number).await;
        for n in 0..TICKETS {
            let state = client.ask(&format!("TICKET t{n}\n")).await;
            let words: Vec<&str> = state.split(' ').collect();
            match words[..] {
                ["MATCHED", id, _] => *matches.entry(id.to_owned()).or_default() += 1,
                ["QUEUED", ..] => waiting += 1,
                ["CANCELLED", _] => gone += 1,
                _ => panic!("{state}"),
            }
        }
    }
    let twice = matches.values().filter(|&&tickets| tickets != 2).count();
    println!(
        "{} tickets, {answers} answers, {CHANGES} configurations: {} matches, {gone} cancelled, {waiting} waiting, {twice} matches not of two",
        CLIENTS * TICKETS,
        matches.len(),
    );
    let all: usize = matches.values().sum::<usize>() + waiting + gone;
    assert_eq!((all, twice), (CLIENTS * TICKETS, 0));
    assert!(
        waiting <= 1 && gone < 60,
        "{waiting} waiting, {gone} cancelled"
    );
}
