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
        Self::start_with(folder, server, number, database, &[])
    }

    /// Starts a daemon with further variables.
    fn start_with(
        folder: &Path,
        server: &Server,
        number: usize,
        database: &str,
        more: &[(&str, &str)],
    ) -> Process {
        let url = server.url(database);
        let journal = format!("games{number}");
        let mut variables = vec![
            ("EVENKEEL_CONFIG", "evenkeel.toml"),
            ("EVENKEEL_STORE_URL", &*url),
            ("EVENKEEL_STORE_JOURNAL", &*journal),
        ];
        variables.extend(more);
        Process::start_with(folder, &variables)
    }

    /// Starts a daemon again that has ended.
    fn restart(&mut self, world: &World, at: usize, more: &[(&str, &str)]) {
        self.daemons[at] = Self::start_with(self.folder, self.server, at, DATABASE, more);
        world.addresses.lock()[at] = self.daemons[at].address;
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
        // At first each kind in turn, so that a short run has them all. `EVENKEEL_FLEET_KINDS=11` adds four that
        // take longer to recover from.
        let kinds = usize::try_from(super::wish("EVENKEEL_FLEET_KINDS", 7)).unwrap();
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
                self.restart(world, at, &[]);
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
            7 => {
                self.daemons.iter_mut().for_each(Process::kill);
                (0..DAEMONS).for_each(|at| self.restart(world, at, &[]));
                "all daemons were killed"
            }
            8 => {
                self.lock_the_database(1_000 + draw.below(4_000));
                "the database was locked for long"
            }
            9 => {
                self.runtime.block_on(self.notify(false));
                pause(2_000 + draw.below(2_000));
                self.runtime.block_on(self.notify(true));
                "notifications were lost"
            }
            10 => {
                self.daemons[at].kill();
                self.restart(world, at, &[("EVENKEEL_RATING_SYSTEM", "elo")]);
                pause(1_000 + draw.below(3_000));
                self.daemons[at].kill();
                self.restart(world, at, &[]);
                "a daemon had other settings"
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

    /// Holds the locks of all writers.
    fn lock_the_database(&self, millis: usize) {
        self.runtime.block_on(async {
            let mut connection = self.server.connect(DATABASE).await;
            let lock = "SELECT pg_advisory_lock(1163283276), pg_advisory_lock(1163283277)";
            sqlx::query(lock).execute(&mut connection).await.unwrap();
            tokio::time::sleep(Duration::from_millis(millis as u64)).await;
        });
    }

    /// Lets notifications arrive again, or not any more, for all connections that are made from now on. Ends the
    /// others.
    async fn notify(&self, arrives: bool) {
        let mut connection = self.server.connect(DATABASE).await;
        let path = match arrives {
            true => "ALTER DATABASE fleet RESET search_path",
            false => "ALTER DATABASE fleet SET search_path = public, pg_catalog",
        };
        let nothing = "CREATE OR REPLACE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE sql AS ''";
        for statement in [nothing, path] {
            sqlx::query(statement)
                .execute(&mut connection)
                .await
                .unwrap();
        }
        let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                   WHERE datname = $1 AND pid <> pg_backend_pid()";
        let end = sqlx::query(end).bind(DATABASE);
        end.execute(&mut connection).await.unwrap();
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
