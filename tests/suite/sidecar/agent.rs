//! The agent of an id Tech 3 server: the real program between a real daemon and a simulated server with
//! a log and a remote console.

#[allow(dead_code)] // another test of this server uses the rest
#[path = "../../../crates/sidecar/src/agent/tests/fake.rs"]
mod fake;

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Write},
    net::UdpSocket,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use crate::common::{
    authority::Authority,
    process::{HANG, Process, evenkeel, wait},
};
use fake::FakeServer;
use parking_lot::{Mutex, MutexGuard};
use tempfile::TempDir;

const PASSWORD: &str = "open-sesame";
const QUEUE: &str = r#"
[queue.duel]
teams = 2
size = 1
ruleset = "baseoa.ctf"
[rating]
min_seconds = 0
"#;

/// A simulated game server that answers on a port and writes a log.
struct Table {
    server: Arc<Mutex<FakeServer>>,
    port: u16,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Table {
    fn start(folder: PathBuf) -> Self {
        let server = FakeServer::new(&["oa_dm1", "ps37ctf", "oasago2"]);
        let server = Arc::new(Mutex::new(server));
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket
            .set_read_timeout(Some(Duration::from_millis(20)))
            .unwrap();
        let port = socket.local_addr().unwrap().port();
        let ended = Arc::new(AtomicBool::new(false));
        let (shared, end) = (server.clone(), ended.clone());
        let serve = move || {
            let began = Instant::now();
            let path = folder.join("games.log");
            let mut log = File::options()
                .create(true)
                .append(true)
                .open(path)
                .unwrap();
            while !end.load(Ordering::Relaxed) {
                let mut packet = [0; 2_048];
                let received = socket.recv_from(&mut packet);
                let mut server = shared.lock();
                server.clock = began.elapsed().as_secs();
                if let Ok((count, sender)) = received {
                    let text = String::from_utf8_lossy(&packet[4..count]).into_owned();
                    let command = text.strip_prefix(&format!("rcon {PASSWORD} ")).unwrap();
                    let answer = execute(&mut server, command, &folder);
                    let answer = [b"\xff\xff\xff\xffprint\n", answer.as_bytes()].concat();
                    socket.send_to(&answer, sender).unwrap();
                }
                for line in std::mem::take(&mut server.log) {
                    writeln!(log, "{line}").unwrap();
                }
            }
        };
        let thread = Some(std::thread::spawn(serve));
        Self {
            server,
            port,
            ended,
            thread,
        }
    }

    fn lock(&self) -> MutexGuard<'_, FakeServer> {
        self.server.lock()
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        let served = self.thread.take().unwrap().join();
        assert!(served.is_ok() || std::thread::panicking());
    }
}

fn execute(server: &mut FakeServer, command: &str, folder: &Path) -> String {
    let Some(file) = command.strip_prefix("exec ") else {
        return server.execute(command);
    };
    for line in fs::read_to_string(folder.join(file)).unwrap().lines() {
        server.execute(line);
    }
    format!("execing {file}\n")
}

/// The agent in a process of its own, which is killed when this is dropped.
struct Agent {
    child: Child,
    reports: mpsc::Receiver<String>,
}

impl Agent {
    fn start(folder: &Path, table: &Table, daemon: &Process) -> Self {
        let mut command = evenkeel(folder);
        let rcon = format!("127.0.0.1:{}", table.port);
        let (way, tls) = match daemon.tls {
            Some(address) => (
                format!("tls://localhost:{}", address.port()),
                &["--tls-ca", "ca.pem"][..],
            ),
            None => (daemon.address.to_string(), &[][..]),
        };
        command.args(["hosting", "idtech3", "--log", "games.log", "--rcon", &rcon]);
        command.args(tls);
        command.args([
            "--password-file",
            "password",
            "--server",
            "oa",
            "--daemon",
            &way,
        ]);
        command.args(["--maps", "ps37ctf,oasago2", "--intermission", "0"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, reports) = mpsc::channel();
        std::thread::spawn(move || {
            lines
                .map_while(Result::ok)
                .try_for_each(|line| sender.send(line))
        });
        Self { child, reports }
    }

    /// Waits for a report that begins like this.
    fn wait_for(&self, start: &str) -> String {
        let mut all = Vec::new();
        loop {
            match self.reports.recv_timeout(HANG) {
                Ok(line) if line.starts_with(start) => return line,
                Ok(line) => all.push(line),
                Err(error) => panic!("{start:?} was not reported ({error}): {all:?}"),
            }
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Queues both players, and returns the match and the passes of ann and bob.
fn call(daemon: &Process, round: u32) -> (String, [String; 2]) {
    let mut lobby = daemon.connect();
    let submit = |player| format!("ENQUEUE duel {player}-{round}\nSEAT {player}\nSUBMIT\n");
    let lines = format!("HELLO lobby\nLISTEN\n{}{}", submit("ann"), submit("bob"));
    lobby.get_mut().write_all(lines.as_bytes()).unwrap();
    let (mut id, mut passes) = (String::new(), [String::new(), String::new()]);
    while passes.iter().any(String::is_empty) {
        let mut line = String::new();
        assert_ne!(lobby.read_line(&mut line).unwrap(), 0);
        if let ["*", "GO", game, _, pass, player] = line.split_whitespace().collect::<Vec<_>>()[..]
        {
            game.clone_into(&mut id);
            pass.clone_into(&mut passes[usize::from(player == "bob")]);
        }
    }
    (id, passes)
}

#[test]
fn two_matches_in_a_row_of_which_the_second_loses_its_agent() {
    two_matches(QUEUE);
}

#[test]
fn the_same_over_encrypted_connections() {
    two_matches(&format!(
        "{QUEUE}\n[server.tls]\nlisten = '127.0.0.1:0'\ncertificate = 'cert.pem'\nkey = 'key.pem'\n"
    ));
}

fn two_matches(toml: &str) {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let authority = Authority::new();
    let own = authority.sign(rcgen::ExtendedKeyUsagePurpose::ServerAuth);
    fs::write(path.join("ca.pem"), authority.certificate.pem()).unwrap();
    fs::write(path.join("cert.pem"), own.certificate).unwrap();
    fs::write(path.join("key.pem"), own.key).unwrap();
    fs::write(path.join("password"), PASSWORD).unwrap();
    fs::write(path.join("queue.toml"), toml).unwrap();
    let table = Table::start(path.to_owned());
    let daemon = Process::start_with(path, &[("EVENKEEL_CONFIG", "queue.toml")]);
    let mut agent = Agent::start(path, &table, &daemon);
    for round in 1..=2 {
        let (id, [ann, bob]) = call(&daemon, round);
        {
            let mut server = table.lock();
            assert_eq!(server.vars["evenkeel_match"], id);
            assert_eq!(server.map, "ps37ctf");
            let numbers = [("Eve", "guess"), ("Ann", &ann), ("Bob", &bob)];
            for (name, pass) in numbers {
                assert!(server.connect(name, pass).is_some(), "the password is open");
            }
        }
        agent.wait_for(&format!("match {id} has begun"));
        if round == 2 {
            agent.child.kill().unwrap();
            agent.child.wait().unwrap();
            agent = Agent::start(path, &table, &daemon);
            agent.wait_for("ann is here again");
        }
        {
            let mut server = table.lock();
            assert_eq!(server.number("Eve"), None);
            let ann = server.number("Ann").unwrap();
            server.capture(ann);
            server.exit();
        }
        agent.wait_for(&format!("the game is over: {id} recorded"));
    }
    let hosted = evenkeel(path)
        .args(["hosting", "matches", "--json", "--config", "queue.toml"])
        .output()
        .unwrap();
    let hosted: Vec<serde_json::Value> = serde_json::from_slice(&hosted.stdout).unwrap();
    let states: Vec<_> = hosted.iter().map(|row| &row["state"]).collect();
    assert_eq!(states, ["over"; 2], "{hosted:?}");
    let weights = evenkeel(path)
        .args([
            "weights",
            "--game",
            "baseoa.ctf",
            "--json",
            "--config",
            "queue.toml",
        ])
        .output()
        .unwrap();
    let weights = String::from_utf8(weights.stdout).unwrap();
    assert!(
        weights.contains("ann") && weights.contains("bob"),
        "{weights}"
    );
    assert!(!path.join(format!("evenkeel-{}.match", table.port)).exists());
    until(|| table.lock().number("Ann").is_none());
    #[cfg(unix)]
    {
        // SIGTERM: the agent unlocks the game server, which it has not started.
        let id = agent.child.id().to_string();
        let kill = std::process::Command::new("kill")
            .args(["-TERM", &id])
            .status();
        assert!(kill.unwrap().success());
        assert!(wait(&mut agent.child).success());
        until(|| table.lock().vars["g_password"].is_empty());
    }
}

fn until(done: impl Fn() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < HANG);
        std::thread::yield_now();
    }
}
