//! A process that is stopped in the middle of a search: its queues go on at once when the process does.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use evenkeel::{matchmaking::planner::Cores, queues::Threads};
use tokio::time::{Instant, sleep, timeout};

use crate::common::Daemon;

/// How long the process is stopped.
const PAUSE: Duration = Duration::from_secs(4);

/// Cores whose next search takes [`PAUSE`], in which it uses no processor time.
struct Stopped(Arc<AtomicBool>);

impl Cores for Stopped {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        if self.0.swap(false, Ordering::Relaxed) {
            thread::sleep(PAUSE);
        }
        Threads(1).run(count, job);
    }
}

/// A queue that waited three times as long as the stop took would form its next match after eight seconds more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_goes_on_at_once_after_its_process_was_stopped() {
    let queue = "[queue.duel]\nteams = 2\nsize = 1\nruleset = \"ctf\"\nhost = \"none\"\n";
    let daemon = Daemon::start(queue).await;
    let stops = Arc::new(AtomicBool::new(true));
    let queues = daemon.service.queues();
    queues.search_on(Arc::new(Stopped(stops.clone())));
    let mut client = daemon.client().await;
    client.ask("HELLO backend\n").await;
    let submit = |id: &str| format!("ENQUEUE duel {id}\nSEAT p{id}\nSUBMIT\n");
    for id in ["a", "b"] {
        client.ask(&submit(id)).await;
    }
    let began = Instant::now();
    while stops.load(Ordering::Relaxed) {
        sleep(Duration::from_millis(1)).await;
    }
    // These come while the process is stopped, so that they are in the queue when it goes on.
    for id in ["c", "d"] {
        client.ask(&submit(id)).await;
    }
    let matched = async {
        loop {
            if client.ask("TICKET c\n").await.starts_with("MATCHED") {
                return;
            }
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(3 * PAUSE, matched).await.unwrap();
    let waited = began.elapsed();
    assert!(waited > PAUSE, "{waited:?}");
    assert!(waited < PAUSE + PAUSE / 2, "{waited:?}");
}
