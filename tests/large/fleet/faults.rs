//! What goes wrong: daemons, connections, the database and its disk.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Write,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use sqlx::{Connection, PgConnection};
use tokio::runtime::Runtime;

use super::{
    DATABASE, LEASE,
    line::{DAEMONS, World, pause},
};
use crate::common::{draw::Draw, postgres::Server, process::Process};

/// The daemons and their database.
pub struct Machines<'a> {
    pub daemons: Vec<Process>,
    pub server: &'a Server,
    pub runtime: &'a Runtime,
    pub folder: &'a Path,
    /// Whether the database has a disk of its own.
    pub has_disk: bool,
}

impl<'a> Machines<'a> {
    /// Starts a daemon. Each has its journal in a folder of its own.
    pub fn start(folder: &Path, server: &Server, number: usize, database: &str) -> Process {
        let url = server.url(database);
        let journal = format!("games{number}");
        let variables = [
            ("EVENKEEL_CONFIG", "evenkeel.toml"),
            ("EVENKEEL_STORE_URL", &*url),
            ("EVENKEEL_STORE_JOURNAL", &*journal),
        ];
        Process::start_with(folder, &variables)
    }

    /// Lets one thing after the other go wrong. Returns how often each has.
    pub fn suffer(
        &mut self,
        world: &Arc<World>,
        draw: &mut Draw,
        lasts: Duration,
    ) -> BTreeMap<&'static str, usize> {
        let since = Instant::now();
        let mut counts = BTreeMap::new();
        // At first each kind in turn, so that a short run has them all.
        let kinds = 7;
        for round in 0.. {
            pause(500 + draw.below(2_500));
            if since.elapsed() > lasts {
                break;
            }
            let kind = if round < kinds {
                round
            } else {
                draw.below(kinds)
            };
            let what = self.fault(kind, world, draw);
            *counts.entry(what).or_default() += 1;
            for (number, daemon) in self.daemons.iter_mut().enumerate() {
                let ended = daemon.child.try_wait().unwrap();
                assert!(ended.is_none(), "daemon {number} has ended after: {what}");
            }
        }
        counts
    }

    fn fault(&mut self, kind: usize, world: &Arc<World>, draw: &mut Draw) -> &'static str {
        let at = draw.below(DAEMONS);
        match kind {
            0 => {
                self.daemons[at].kill();
                self.daemons[at] = Self::start(self.folder, self.server, at, DATABASE);
                world.addresses.lock()[at] = self.daemons[at].address;
                "a daemon was killed"
            }
            1 => {
                self.daemons[at].signal("-STOP");
                pause(LEASE.as_millis() as usize + 500 + draw.below(1_500));
                self.daemons[at].signal("-CONT");
                "a daemon slept"
            }
            2 | 3 => {
                let mode = if kind == 2 { "fast" } else { "immediate" };
                self.server.control(&["stop", "-m", mode]);
                pause(draw.below(2_000));
                self.server.control(&["start"]);
                match kind {
                    2 => "the database was restarted",
                    _ => "the database crashed",
                }
            }
            4 if self.has_disk => {
                self.fill_disk();
                "the disk was full"
            }
            5 => {
                self.runtime.block_on(self.cut_from_database());
                "daemons were cut from the database"
            }
            _ => {
                world.cut(draw);
                "clients were cut from daemons"
            }
        }
    }

    /// Fills the disk of the database up, and makes room again after a while.
    fn fill_disk(&self) {
        let path = self.server.folder().join("filler");
        let mut filler = File::create(&path).unwrap();
        let since = Instant::now();
        // What the server frees is taken again.
        while since.elapsed() < Duration::from_secs(3) {
            if filler.write_all(&[1; 65_536]).is_err() {
                pause(10);
            }
        }
        fs::remove_file(&path).unwrap();
        drop(filler);
        self.await_database();
    }

    /// Waits until the database answers. A server that has given up is started.
    pub fn await_database(&self) {
        let since = Instant::now();
        while self.runtime.block_on(self.connect()).is_none() {
            assert!(since.elapsed() < Duration::from_secs(60), "no database");
            if !self.server.try_control(&["status"]) {
                self.server.try_control(&["start"]);
            }
            pause(200);
        }
    }

    async fn connect(&self) -> Option<PgConnection> {
        let connection = PgConnection::connect(&self.server.url(DATABASE)).await;
        connection.ok()
    }

    async fn cut_from_database(&self) {
        let mut connection = self.server.connect("postgres").await;
        let query = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                     WHERE datname = $1 AND random() < 0.6";
        let query = sqlx::query(query).bind(DATABASE);
        query.execute(&mut connection).await.unwrap();
    }
}
