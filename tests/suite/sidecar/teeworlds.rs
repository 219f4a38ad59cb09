//! The sidecar for Teeworlds: the real program between a real daemon and a server that speaks as the external console
//! does.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    process::Command,
};

use tempfile::TempDir;

use crate::{
    common::Daemon,
    sidecar::{HANG, Process},
};

const PASSWORD: &str = "open-sesame";

/// A game server: a folder for its output, and the listener of its external console.
struct GameServer {
    folder: TempDir,
    listener: TcpListener,
}

/// A connection to the external console.
struct Console(BufReader<TcpStream>);

impl Console {
    /// The next command.
    fn read(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Prints lines as the game does: two bytes of zero follow each.
    fn print(&mut self, lines: &[&str]) {
        for line in lines {
            let line = format!("{line}\n\0\0");
            self.0.get_mut().write_all(line.as_bytes()).unwrap();
        }
    }

    /// What happens in the game.
    fn game(&mut self, lines: &[&str]) {
        let lines: Vec<String> = lines
            .iter()
            .map(|l| format!("[20:00:00][game]: {l}"))
            .collect();
        self.print(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    }

    fn log_in(&mut self, password: &str) {
        self.print(&["Enter password:"]);
        if self.read() == password {
            self.print(&["Authentication successful. External console access granted."]);
            assert_eq!(self.read(), "ec_output_level 2");
        } else {
            self.print(&["Wrong password 1/3."]);
        }
    }

    /// Answers questions until another command comes, which it returns.
    fn command(&mut self) -> String {
        loop {
            let command = self.read();
            let value = match command.as_str() {
                "sv_map" => "ctf5",
                "sv_gametype" => "ctf",
                "sv_scorelimit" => "100",
                "sv_timelimit" => "0",
                _ => return command,
            };
            let asked = format!("[20:00:00][server]: cid=0 cmd='{command}'");
            self.print(&[&asked, &format!("[20:00:00][Console]: Value: {value}")]);
        }
    }
}

impl GameServer {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self { folder, listener };
        fs::write(server.file("password"), format!("{PASSWORD}\n")).unwrap();
        server
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn sidecar(&self, daemon: SocketAddr, options: &[&str]) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
        let rcon = self.listener.local_addr().unwrap().to_string();
        command.args(["sidecar", "teeworlds", "--settle", "0.2", "--rcon", &rcon]);
        command.args(["--daemon", &daemon.to_string()]);
        command.arg("--password-file").arg(self.file("password"));
        Process::start(command.args(options))
    }

    fn accept(&self) -> Console {
        let (stream, _) = self.listener.accept().unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        Console(BufReader::new(stream))
    }
}

const FOUR: [&str; 4] = [
    "team_join player='0:ann' team=0",
    "team_join player='1:bob' team=0",
    "team_join player='2:cid' team=0",
    "team_join player='3:dan' team=0",
];
const START: &str = "start match type='CTF' teamplay='1'";

#[tokio::test(flavor = "multi_thread")]
async fn an_evening_by_the_external_console_alone() {
    let daemon = Daemon::start("").await;
    let server = GameServer::new();
    let mut sidecar = server.sidecar(daemon.address, &[]);
    let mut console = server.accept();
    console.log_in(PASSWORD);
    sidecar.wait_for("connected to the daemon");
    console.print(&["[20:00:00][server]: maps/ctf5.map sha256 is a35d"]);
    console.game(&FOUR);
    let said = console.command();
    assert!(
        said.starts_with("say Evenkeel: 2 players to even teams"),
        "{said}"
    );
    for _ in 0..2 {
        let command = console.command();
        let slot = command
            .strip_prefix("set_team ")
            .and_then(|rest| rest.strip_suffix(" 1"));
        let slot: usize = slot.unwrap().parse().unwrap();
        let name = ["ann", "bob", "cid", "dan"][slot];
        console.game(&[&format!("team_join player='{slot}:{name}' team=0->1")]);
    }
    sidecar.wait_for("the teams are as chosen");
    console.game(&[START, "flag_capture player='0:ann' team=0 time=9.00"]);
    console.print(&["[20:00:00][Console]: No such command: x."]);
    sidecar.wait_for("the game server answers: No such command: x.");
    sidecar.wait_for("the game is over: 1 ");
    assert_eq!(
        daemon.service.store().matches().extent().await.unwrap().0,
        1
    );
    assert!(!sidecar.seen.iter().any(|line| line.contains(PASSWORD)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_the_file_is_read_once() {
    let daemon = Daemon::start("").await;
    let server = GameServer::new();
    let path = server.file("teeworlds.log");
    let mut log = File::create(&path).unwrap();
    writeln!(
        log,
        "[2026-11-27 20:00:00][server]: maps/ctf5.map sha256 is a35d"
    )
    .unwrap();
    for line in FOUR {
        writeln!(log, "[2026-11-27 20:00:01][game]: {line}").unwrap();
    }
    let mut sidecar = server.sidecar(daemon.address, &["--log", path.to_str().unwrap()]);
    let mut console = server.accept();
    console.log_in(PASSWORD);
    // The console alone would empty the server.
    console.game(&[
        "leave player='0:ann'",
        "leave player='1:bob'",
        "leave player='2:cid'",
    ]);
    writeln!(
        log,
        "[2026-11-27 20:00:02][server]: cid=0 cmd='sv_gametype'"
    )
    .unwrap();
    writeln!(log, "[2026-11-27 20:00:02][Console]: Value: ctf").unwrap();
    let said = console.command();
    assert!(
        said.starts_with("say Evenkeel: 2 players to even teams"),
        "{said}"
    );
    sidecar.wait_for("connected to the daemon");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_and_a_lost_connection_are_reported() {
    let daemon = Daemon::start("").await;
    let server = GameServer::new();
    let mut sidecar = server.sidecar(daemon.address, &[]);
    drop(server.accept());
    sidecar.wait_for("the connection to the remote console ended");
    server.accept().log_in("another one");
    sidecar.wait_for("the game server refuses the rcon password");
    assert!(!sidecar.seen.iter().any(|line| line.contains(PASSWORD)));
}

#[test]
fn a_dry_run_needs_a_file() {
    let server = GameServer::new();
    let here = server.listener.local_addr().unwrap();
    let mut process = server.sidecar(here, &["--dry-run"]);
    assert_eq!(process.child.wait().unwrap().code(), Some(2));
}
