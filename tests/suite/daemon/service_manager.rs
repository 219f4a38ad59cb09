//! What the daemon reports to a service manager: a socket takes the place of systemd's.
#![cfg(unix)]

use std::{os::unix::net::UnixDatagram, path::Path};

use tempfile::TempDir;

use crate::common::process::{HANG, Process};

/// The socket on which a service manager waits for reports.
struct Manager(UnixDatagram);

impl Manager {
    fn new(folder: &Path) -> Self {
        let socket = UnixDatagram::bind(folder.join("notify")).unwrap();
        socket.set_read_timeout(Some(HANG)).unwrap();
        Self(socket)
    }

    /// The next report that does not only say that the daemon is alive.
    fn next(&self) -> String {
        loop {
            let report = self.any();
            if report.trim() != "WATCHDOG=1" {
                return report;
            }
        }
    }

    fn any(&self) -> String {
        let mut report = [0; 1_024];
        let length = self.0.recv(&mut report).unwrap();
        String::from_utf8_lossy(&report[..length]).into_owned()
    }
}

fn start(folder: &Path, watchdog_micros: &str) -> Process {
    let socket = folder.join("notify");
    let socket = socket.to_str().unwrap();
    let variables = [
        ("NOTIFY_SOCKET", socket),
        ("WATCHDOG_USEC", watchdog_micros),
    ];
    Process::start_with(folder, &variables)
}

#[test]
fn the_service_manager_hears_of_the_start_a_reload_and_the_end() {
    let folder = TempDir::new().unwrap();
    let manager = Manager::new(folder.path());
    let mut daemon = start(folder.path(), "60000000");
    let ready = manager.next();
    assert!(ready.starts_with("READY=1\nSTATUS=serving"), "{ready}");
    assert!(ready.contains(&daemon.address.to_string()), "{ready}");
    // What has been reported is true: the daemon answers.
    assert_eq!(daemon.ask("PING\n"), "PONG\n");

    daemon.signal("-HUP");
    let reloading = manager.next();
    assert!(
        reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="),
        "{reloading}"
    );
    assert_eq!(manager.next().trim(), "READY=1");

    daemon.stop();
    assert_eq!(manager.next().trim(), "STOPPING=1");
}

#[test]
fn a_daemon_that_runs_reports_that_it_is_alive() {
    let folder = TempDir::new().unwrap();
    let manager = Manager::new(folder.path());
    let _daemon = start(folder.path(), "20000");
    for _ in 0..5 {
        while manager.any().trim() != "WATCHDOG=1" {}
    }
}

#[test]
fn a_service_manager_that_is_gone_disturbs_nothing() {
    let folder = TempDir::new().unwrap();
    drop(Manager::new(folder.path()));
    let mut daemon = start(folder.path(), "20000");
    assert_eq!(daemon.ask("PING\n"), "PONG\n");
    daemon.stop();
}
