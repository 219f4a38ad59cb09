//! The sidecar for id Tech 3: the requests that it sends for recorded logs, and the real program
//! between a real daemon and a simulated game server.

mod agent;
mod live;
mod source;
mod teeworlds;
mod xonotic;

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, UdpSocket},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use crate::common::{Daemon, authority::Authority, process, shared_data};
use bytes::BytesMut;
use evenkeel::sidecar::{
    Act, ChatSettings, Sidecar,
    follower::{Follower, FollowerSettings},
    idtech3::IdTech3,
};
use tempfile::TempDir;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
/// Far longer than anything here takes: a wait this long is a hang.
pub(crate) const HANG: Duration = Duration::from_secs(60);
const PASSWORD: &str = "open-sesame";

/// The requests of the sidecar while a log is written.
fn requests(log: &[u8], bots_as_players: bool) -> Vec<String> {
    let settings = FollowerSettings {
        server: "test".into(),
        token: None,
        bots_as_players,
        auto_balance: false,
        settle: 1_000,
        attempts: 1,
        chat: ChatSettings::default(),
    };
    let mut sidecar = Follower::new(IdTech3::new(false, vec![]), settings);
    let mut acts = Vec::new();
    sidecar.connected(0, &mut acts);
    for line in log.split(|&b| b == b'\n') {
        sidecar.log_line(line, 0, &mut acts);
    }
    let line = |act| match act {
        Act::Send(request) => {
            let mut line = BytesMut::new();
            request.encode(&mut line);
            Some(String::from_utf8_lossy(&line).trim_end().to_owned())
        }
        _ => None,
    };
    acts.into_iter().filter_map(line).collect()
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(FIXTURES).join(name)).unwrap()
}

/// Compares with a file, which `EVENKEEL_BLESS=1 cargo test --test suite sidecar::golden` writes
/// anew; read it before you commit it.
fn golden(name: &str, lines: &[String]) {
    let path = Path::new(FIXTURES).join("sidecar").join(name);
    let text = lines.join("\n") + "\n";
    if std::env::var_os("EVENKEEL_BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "{name}");
}

#[test]
fn golden_a_recorded_game_of_bots() {
    golden(
        "ctf-014.txt",
        &requests(&fixture("openarena/ctf-014.log"), true),
    );
}

#[test]
fn golden_a_warm_up_with_a_human_whom_the_admin_moves() {
    golden(
        "human-client-forceteam.txt",
        &requests(&fixture("openarena/human-client-forceteam.log"), false),
    );
}

#[test]
fn what_is_said_adds_up_to_the_final_score() {
    let Some(folder) = shared_data("logs/openarena") else {
        return;
    };
    let mut games = 0;
    for line in fs::read_to_string(folder.join("lineups.jsonl"))
        .unwrap()
        .lines()
    {
        let game: serde_json::Value = serde_json::from_str(line).unwrap();
        let log = fs::read(folder.join(game["log"].as_str().unwrap())).unwrap();
        let lines = requests(&log, true);
        let ends: Vec<_> = lines
            .iter()
            .enumerate()
            .filter(|(_, line)| *line == "END")
            .collect();
        assert_eq!(ends.len(), 1, "{}", game["log"]);
        let mut scores = [0, 0];
        for line in &lines[..ends[0].0] {
            let words: Vec<_> = line.split(' ').collect();
            if words[0] == "SCORE" {
                scores[words[1].parse::<usize>().unwrap()] += words[2].parse::<i64>().unwrap();
            }
        }
        assert_eq!(serde_json::json!(scores), game["score"], "{}", game["log"]);
        games += 1;
    }
    assert!(games > 50);
}

/// A game server: a log, and a console that moves players on command and logs it.
struct GameServer {
    folder: TempDir,
    console: UdpSocket,
}

impl GameServer {
    fn new() -> Self {
        let console = UdpSocket::bind("127.0.0.1:0").unwrap();
        console.set_read_timeout(Some(HANG)).unwrap();
        let folder = TempDir::new().unwrap();
        let server = Self { folder, console };
        fs::write(server.file("password"), format!("{PASSWORD}\n")).unwrap();
        server
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn log(&self, text: &str) {
        let mut log = File::options()
            .append(true)
            .create(true)
            .open(self.file("games.log"))
            .unwrap();
        log.write_all(text.as_bytes()).unwrap();
    }

    fn address(&self) -> SocketAddr {
        self.console.local_addr().unwrap()
    }

    fn sidecar(&self, daemon: impl ToString, options: &[&str]) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
        command.args(["sidecar", "idtech3", "--settle", "0.2", "--log"]);
        command
            .arg(self.file("games.log"))
            .arg("--password-file")
            .arg(self.file("password"));
        command.args([
            "--rcon",
            &self.address().to_string(),
            "--daemon",
            &daemon.to_string(),
        ]);
        Process::start(command.args(options))
    }

    /// The commands in the next file to be executed.
    fn ordered(&self) -> Vec<String> {
        let mut packet = [0; 2_048];
        let (length, from) = loop {
            let (length, from) = self.console.recv_from(&mut packet).unwrap();
            match asked(&packet[..length]) {
                Some(text) => self.print(text, from),
                None => break (length, from),
            }
        };
        let name = format!("evenkeel-{}.cfg", self.address().port());
        let expected = format!("rcon {PASSWORD} exec {name}");
        assert_eq!(
            &packet[..length],
            [b"\xff\xff\xff\xff", expected.as_bytes()].concat()
        );
        self.print("execing", from);
        let file = fs::read_to_string(self.file(&name)).unwrap();
        file.lines().map(str::to_owned).collect()
    }

    /// What the console prints.
    fn print(&self, text: &str, to: SocketAddr) {
        let packet = [b"\xff\xff\xff\xffprint\n", text.as_bytes(), b"\n"].concat();
        self.console.send_to(&packet, to).unwrap();
    }

    /// Does what forceteam does, with the game's log lines.
    fn carry_out(&self, commands: &[String]) {
        for command in commands {
            let words: Vec<_> = command.split(' ').collect();
            if words[0] == "forceteam" {
                let number: usize = words[1].parse().unwrap();
                self.log(&human(number, if words[2] == "red" { 1 } else { 2 }));
            }
        }
    }
}

/// What the console is to print, if a packet only asks whether it answers.
fn asked(packet: &[u8]) -> Option<&str> {
    let rest = packet.strip_prefix(b"\xff\xff\xff\xffrcon open-sesame echo ")?;
    std::str::from_utf8(rest).ok()
}

fn human(number: usize, team: u8) -> String {
    format!(
        "  0:01 ClientUserinfoChanged: {number} n\\p {number};\\t\\{team}\\id\\{:032x}\n  0:01 ClientBegin: {number}\n",
        number + 0xa0
    )
}

fn game(warm_up: bool) -> String {
    let warm_up = if warm_up { "  0:00 Warmup:\n" } else { "" };
    format!("  0:00 InitGame: \\g_gametype\\4\\gamename\\baseoa\\mapname\\field\n{warm_up}")
}

/// The program with its output; killed when dropped.
pub(crate) struct Process {
    pub(crate) child: Child,
    lines: mpsc::Receiver<String>,
    pub(crate) seen: Vec<String>,
}

impl Process {
    pub(crate) fn start(command: &mut Command) -> Self {
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("EVENKEEL_")) {
            command.env_remove(name);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (tell, lines) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            out.lines()
                .map_while(Result::ok)
                .try_for_each(|line| tell.send(line))
        });
        let seen = Vec::new();
        Self { child, lines, seen }
    }

    pub(crate) fn wait_for(&mut self, text: &str) {
        loop {
            let line = self.lines.recv_timeout(HANG);
            let line = line.unwrap_or_else(|_| panic!("no `{text}` after {:#?}", self.seen));
            self.seen.push(line);
            if self.seen.last().unwrap().contains(text) {
                return;
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_is_balanced_played_and_learned_from() {
    let daemon = Daemon::start("").await;
    let server = GameServer::new();
    // The players who were there before the sidecar started count, too.
    server.log(&game(true));
    (0..4).for_each(|number| server.log(&human(number, 1)));
    let mut sidecar = server.sidecar(daemon.address, &[]);
    let commands = server.ordered();
    assert!(
        commands[0].starts_with("say Evenkeel: 2 players to even teams"),
        "{commands:?}"
    );
    assert_eq!(commands.len(), 3);
    assert!(
        commands[1..]
            .iter()
            .all(|c| c.starts_with("forceteam ") && c.ends_with(" blue"))
    );
    server.carry_out(&commands);
    sidecar.wait_for("the teams are as chosen");
    server.log(&("  0:09 ShutdownGame:\n".to_owned() + &game(false)));
    let moved = |number: usize| commands.contains(&format!("forceteam {number} blue"));
    (0..4).for_each(|n| server.log(&human(n, if moved(n) { 2 } else { 1 })));
    server.log(
        "  0:05 Kill: 0 1 1: x\n  1:00 CTF: 0 2 1: x\n  1:30 Exit: done\n  1:30 red:1  blue:0\n",
    );
    (0..4).for_each(|n| server.log(&format!("  1:30 score: {n}  ping: 0  client: {n} x\n")));
    sidecar.wait_for("the game is over: 1 ");
    assert_eq!(
        daemon.service.store().matches().extent().await.unwrap().0,
        1
    );
    assert!(!sidecar.seen.iter().any(|line| line.contains(PASSWORD)));
    // It exits cleanly on SIGTERM.
    let kill = Command::new("kill")
        .args(["-TERM", &sidecar.child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    assert!(sidecar.child.wait().unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_moves_nobody() {
    let daemon = Daemon::start("").await;
    let server = GameServer::new();
    server.log(&game(true));
    (0..4).for_each(|number| server.log(&human(number, 2)));
    let mut sidecar = server.sidecar(daemon.address, &["--dry-run", "--admin"]);
    sidecar.wait_for("would do: say Evenkeel");
    sidecar.wait_for("would do: !putteam");
    sidecar.wait_for("would do: !putteam");
    server.console.set_nonblocking(true).unwrap();
    assert!(
        server.console.recv(&mut [0; 8]).is_err(),
        "nothing was sent"
    );
    let written = fs::read_dir(server.folder.path()).unwrap().count();
    assert_eq!(
        written, 2,
        "the log and the password, and no file to execute"
    );
}

#[test]
fn a_daemon_that_goes_away_is_found_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = GameServer::new();
    server.log(&(game(true) + &human(0, 1)));
    let _sidecar = server.sidecar(listener.local_addr().unwrap(), &["--server", "ctf 1"]);
    for _ in 0..2 {
        let (stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        let lines = BufReader::new(stream).lines().map(Result::unwrap);
        let lines: Vec<_> = lines.take(4).collect();
        let id = format!("{:032x}", 0xa0);
        let join = format!("JOIN {id} name=\"p 0;\" team=0");
        let hello = format!("HELLO \"ctf 1\" source={}", server.address());
        // With the mark of this machine.
        let (said, mark) = lines[0].rsplit_once('@').unwrap();
        assert_eq!((said, mark.len()), (hello.as_str(), 16));
        assert_eq!(lines[1..], ["GAME baseoa.ctf", "MAP field", &join]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_game_server_says_is_shown() {
    let daemon = Daemon::start("").await;
    let server = GameServer::new();
    server.log(&game(true));
    (0..2).for_each(|number| server.log(&human(number, 1)));
    let mut sidecar = server.sidecar(daemon.address, &[]);
    let mut packet = [0; 2_048];
    let (_, from) = server.console.recv_from(&mut packet).unwrap();
    let answer = b"\xff\xff\xff\xffprint\nBad rconpassword.\x1b[2J\n";
    server.console.send_to(answer, from).unwrap();
    sidecar.wait_for("the game server answers: Bad rconpassword. [2J");
}

/// At the start, before anything happens in the game.
#[test]
fn whether_the_console_answers_is_said_at_once() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let daemon = nobody.local_addr().unwrap();
    drop(nobody);
    let right = "the game server answers on its remote console";
    let wrong = "the game server answers: Bad rconpassword.";
    for (answers, said) in [(true, right), (false, wrong)] {
        let server = GameServer::new();
        let mut sidecar = server.sidecar(daemon, &[]);
        let mut packet = [0; 2_048];
        let (length, from) = server.console.recv_from(&mut packet).unwrap();
        let text = asked(&packet[..length]).unwrap();
        server.print(if answers { text } else { "Bad rconpassword." }, from);
        sidecar.wait_for(said);
    }
    let silent = GameServer::new();
    silent
        .sidecar(daemon, &[])
        .wait_for("the game server does not answer on its remote console: is it running");
    let gone = GameServer::new();
    let address = gone.address().to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
    command.args(["sidecar", "idtech3", "--rcon", &address, "--log"]);
    command.arg(gone.file("games.log")).arg("--password-file");
    command.arg(gone.file("password"));
    command.args(["--daemon", &daemon.to_string()]);
    let GameServer { folder, console } = gone;
    drop(console);
    Process::start(&mut command).wait_for("the game server cannot be reached: Connection refused");
    drop(folder);
}

#[test]
fn what_is_no_daemon_is_said_at_once() {
    let folder = TempDir::new().unwrap();
    let variables = [("EVENKEEL_WEB_LISTEN", "127.0.0.1:0")];
    let daemon = process::Process::start_with(folder.path(), &variables);
    let pages = loop {
        let line = daemon.log.recv_timeout(HANG).unwrap();
        if let Some((_, rest)) = line.split_once("statistics pages are at http://") {
            break rest.trim_end_matches('/').to_owned();
        }
    };
    let server = GameServer::new();
    let mut sidecar = server.sidecar(&pages, &[]);
    sidecar.wait_for(&format!(
        "no connection to the daemon at {pages}: this is the port of the pages"
    ));
}

/// Two sidecars on one game server: the second one waits, and takes over once the first has ended.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_sidecar_is_refused_until_the_first_has_ended() {
    let daemon = Daemon::start("").await;
    let server = GameServer::new();
    server.log(&(game(true) + &human(0, 1)));
    let mut first = server.sidecar(daemon.address, &["--server", "first"]);
    first.wait_for("connected to the daemon");
    crate::common::until(async || daemon.service.sessions().live().len() == 1).await;
    let mut second = server.sidecar(daemon.address, &["--server", "second"]);
    second.wait_for("the daemon refused a request: not-allowed \"first\" at 127.0.0.1 reports");
    drop(first);
    crate::common::until(async || {
        let live = daemon.service.sessions().live();
        live.iter()
            .any(|game| game.server == "second" && game.is_connected)
    })
    .await;
}

/// A dry run asks for teams, and stores nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_reports_no_match() {
    let daemon = Daemon::start("").await;
    let server = GameServer::new();
    server.log(&game(true));
    (0..4).for_each(|number| server.log(&human(number, number as u8 % 2 + 1)));
    let mut sidecar = server.sidecar(daemon.address, &["--dry-run"]);
    sidecar.wait_for("teams"); // they are as chosen, or are to be even
    let mut other = server.sidecar(daemon.address, &["--server", "other"]);
    other.wait_for("connected to the daemon");
    server.log(&("  0:09 ShutdownGame:\n".to_owned() + &game(false)));
    (0..4).for_each(|number| server.log(&human(number, number as u8 % 2 + 1)));
    server.log(
        "  0:05 Kill: 0 1 1: x\n  1:00 CTF: 0 2 1: x\n  1:30 Exit: done\n  1:30 red:1  blue:0\n",
    );
    (0..4).for_each(|n| server.log(&format!("  1:30 score: {n}  ping: 0  client: {n} x\n")));
    other.wait_for("the game is over: 1 ");
    drop((sidecar, other));
    assert_eq!(
        daemon.service.store().matches().extent().await.unwrap().0,
        1
    );
}

#[test]
fn without_a_usable_password_it_does_not_begin() {
    for password in ["", "a b\n", "x;quit\n"] {
        let server = GameServer::new();
        fs::write(server.file("password"), password).unwrap();
        let mut process = server.sidecar(server.address(), &[]);
        assert_eq!(process.child.wait().unwrap().code(), Some(4));
        let mut output = String::new();
        std::io::Read::read_to_string(&mut process.child.stderr.take().unwrap(), &mut output)
            .unwrap();
        assert!(
            output.contains("rcon password") && !output.contains("x;quit"),
            "{output}"
        );
    }
}

/// The same game over an encrypted connection.
#[tokio::test(flavor = "multi_thread")]
async fn teams_are_chosen_over_tls() {
    let server = GameServer::new();
    let authority = Authority::new();
    let own = authority.sign(rcgen::ExtendedKeyUsagePurpose::ServerAuth);
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("ca.pem"), authority.certificate.pem()).unwrap();
    fs::write(path("cert.pem"), own.certificate).unwrap();
    fs::write(path("key.pem"), own.key).unwrap();
    let toml = "[server.tls]\nlisten = '127.0.0.1:0'\ncertificate = 'cert.pem'\nkey = 'key.pem'\n";
    fs::write(path("evenkeel.toml"), toml).unwrap();
    let variables = [("EVENKEEL_CONFIG", "evenkeel.toml")];
    let daemon = process::Process::start_with(folder.path(), &variables);
    server.log(&game(true));
    (0..4).for_each(|number| server.log(&human(number, 1)));
    let way = format!("tls://localhost:{}", daemon.tls.unwrap().port());
    let trusted = path("ca.pem");
    let options = ["--tls-ca", trusted.to_str().unwrap()];
    let mut sidecar = server.sidecar(way, &options);
    let commands = server.ordered();
    assert_eq!(commands.len(), 3, "{commands:?}");
    server.carry_out(&commands);
    sidecar.wait_for("the teams are as chosen");
}
