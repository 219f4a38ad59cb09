//! Searches that die at random points, apart from the daemon: it goes on and says so, no ticket is lost or in two
//! matches, the round is skipped and the next one begins.

use std::{
    collections::BTreeMap,
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use evenkeel::{matchmaking::planner::Cores, metrics::Registry, queues::Threads};
use parking_lot::Mutex;
use tokio::time::{sleep, timeout};

use crate::common::{Client, Daemon, draw::Draw, until};

const DEATHS: usize = 100;
const QUEUES: usize = 10;

/// Two threads on which every search dies after a random number of jobs: before one, or in its midst, so
/// that others of its batch have ended, or run on the other thread.
struct Mortal {
    threads: Threads,
    life: Arc<Life>,
}

struct Life {
    draw: Mutex<Draw>,
    /// The jobs until the next death.
    left: AtomicUsize,
    deaths: AtomicUsize,
    jobs: AtomicUsize,
}

impl Life {
    fn spend(&self) {
        self.jobs.fetch_add(1, Ordering::Relaxed);
        let most = usize::checked_sub;
        let spent = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| most(left, 1));
        if spent == Ok(0) || spent.is_err() {
            let next = self.draw.lock().below(60);
            self.left.store(next, Ordering::Relaxed);
            self.deaths.fetch_add(1, Ordering::Relaxed);
            resume_unwind(Box::new("this search dies")); // as a panic does, without its message
        }
    }
}

impl Cores for Mortal {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        self.threads.run(count, &|at| {
            self.life.spend();
            job(at);
        });
    }

    fn share(&self, jobs: usize) -> Box<dyn Cores + '_> {
        Box::new(Mortal {
            threads: Threads(self.threads.0 / jobs.max(1)),
            life: self.life.clone(),
        })
    }
}

fn queues() -> String {
    let queue = |number| {
        format!(
            "[queue.q{number}]\nteams = 2\nsize = 2\nruleset = \"ctf\"\nhost = \"none\"\ngroup = \"g{number}\"\n"
        )
    };
    (0..QUEUES).map(queue).collect()
}

/// Submits four tickets in each queue, and returns their ids.
async fn wave(client: &mut Client, number: usize) -> Vec<String> {
    let (mut ids, mut lines) = (Vec::new(), String::new());
    for queue in 0..QUEUES {
        for place in 0..4 {
            let id = format!("t{queue}.{number}.{place}");
            lines += &format!("ENQUEUE q{queue} {id}\nSEAT p{id}\nSUBMIT\n");
            ids.push(id);
        }
    }
    client.send(&lines).await;
    for id in &ids {
        let line = client.line().await;
        assert!(line.starts_with(&format!("QUEUED {id} ")), "{line}");
    }
    ids
}

/// Number of tickets that wait in all queues.
async fn waiting(client: &mut Client) -> usize {
    client.ask("QUEUES\n").await;
    let mut waiting = 0;
    for _ in 0..QUEUES {
        let line = client.line().await;
        let count = line.split(' ').nth(2).and_then(|count| count.parse().ok());
        waiting += count.unwrap_or(usize::MAX / QUEUES);
    }
    waiting
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_that_dies_costs_no_ticket() {
    let daemon = Daemon::start(&queues()).await;
    let life = Arc::new(Life {
        draw: Mutex::new(Draw(3)),
        left: AtomicUsize::new(4),
        deaths: AtomicUsize::new(0),
        jobs: AtomicUsize::new(0),
    });
    daemon.service.queues().search_on(Arc::new(Mortal {
        threads: Threads(2),
        life: life.clone(),
    }));
    let mut client = daemon.client().await;
    client.ask("HELLO backend\n").await;
    let mut ids = Vec::new();
    for number in 0.. {
        ids.extend(wave(&mut client, number).await);
        // Each death costs a queue its round, so that the last of many matches may take a minute.
        let all_play = async {
            while waiting(&mut client).await > 0 {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(Duration::from_secs(240), all_play).await.unwrap();
        if life.deaths.load(Ordering::Relaxed) >= DEATHS {
            break;
        }
    }
    let mut matches: BTreeMap<String, usize> = BTreeMap::new();
    for id in &ids {
        let state = client.ask(&format!("TICKET {id}\n")).await;
        match state.split(' ').collect::<Vec<_>>()[..] {
            ["MATCHED", found, _] => *matches.entry(found.to_owned()).or_default() += 1,
            _ => panic!("{state}"),
        }
    }
    let mut all = Registry::default();
    daemon.service.queues().metrics().gather(&mut all);
    let text = all.text();
    let failed = text
        .lines()
        .filter(|line| line.starts_with("evenkeel_queue_failed_rounds_total{"));
    let failed = failed.map(|line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap());
    assert!(failed.sum::<usize>() > 0, "operators see that rounds fail");
    println!(
        "{} deaths in {} jobs: {} tickets, {} matches",
        life.deaths.load(Ordering::Relaxed),
        life.jobs.load(Ordering::Relaxed),
        ids.len(),
        matches.len()
    );
    assert!(matches.values().all(|tickets| *tickets == 4), "{matches:?}");
    assert_eq!(matches.len() * 4, ids.len());
}

/// Cores on which every search dies for a while.
struct Poisoned {
    threads: Threads,
    /// Whether searches die now.
    dies: Arc<AtomicBool>,
}

impl Cores for Poisoned {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        if self.dies.load(Ordering::Relaxed) {
            resume_unwind(Box::new("this search dies"));
        }
        self.threads.run(count, job);
    }

    fn share(&self, jobs: usize) -> Box<dyn Cores + '_> {
        self.threads.share(jobs)
    }
}

/// Whatever a search does, clients are answered, and once searches go well again, all tickets play.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_daemon_answers_while_every_search_dies() {
    let daemon = Daemon::start(&queues()).await;
    let dies = Arc::new(AtomicBool::new(true));
    daemon.service.queues().search_on(Arc::new(Poisoned {
        threads: Threads(1),
        dies: dies.clone(),
    }));
    let mut client = daemon.client().await;
    client.ask("HELLO backend\n").await;
    let ids = wave(&mut client, 0).await;
    let cancelled = client.ask(&format!("CANCEL {}\n", ids[0])).await;
    assert_eq!(cancelled, format!("CANCELLED {}", ids[0]));
    assert_eq!(waiting(&mut client).await, ids.len() - 1);
    dies.store(false, Ordering::Relaxed);
    // The three that are left in the first queue are too few for a match.
    until(async || waiting(&mut client).await == 3).await;
}
