//! The sidecar for Source: the real program between a real daemon and a server that speaks the packets
//! of the remote console.

use std::{
    fs::{self, File},
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream, UdpSocket},
    path::PathBuf,
    process::Command,
    sync::mpsc,
};

use tempfile::TempDir;

use crate::{
    common::{Daemon, backends::rows},
    sidecar::{HANG, Process},
};

const PASSWORD: &str = "open-sesame";

/// A game server: a folder of logs, and the listener of its remote console.
struct GameServer {
    folder: TempDir,
    listener: TcpListener,
}

/// A connection to the remote console.
struct Console(TcpStream);

/// A packet, as it is sent.
fn packet(id: i32, kind: i32, text: &str) -> Vec<u8> {
    let size = i32::try_from(text.len() + 10).unwrap();
    let numbers = [size, id, kind].map(i32::to_le_bytes).concat();
    [&numbers[..], text.as_bytes(), &[0, 0]].concat()
}

impl Console {
    /// The next packet: id, type and text. `None` at the end of the connection.
    fn read(&mut self) -> Option<(i32, i32, String)> {
        let mut size = [0; 4];
        self.0.read_exact(&mut size).ok()?;
        let mut packet = vec![0; usize::try_from(i32::from_le_bytes(size)).unwrap()];
        self.0.read_exact(&mut packet).ok()?;
        let number = |at: usize| i32::from_le_bytes(packet[at..at + 4].try_into().unwrap());
        assert_eq!(packet[packet.len() - 2..], [0, 0]);
        let text = String::from_utf8(packet[8..packet.len() - 2].to_vec()).unwrap();
        Some((number(0), number(4), text))
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    /// Reads the login, and answers it as the game does: an empty packet comes first.
    fn log_in(&mut self, password: &str) {
        let (id, kind, text) = self.read().unwrap();
        assert_eq!(kind, 3);
        let id = if text == password { id } else { -1 };
        self.write(&[packet(id, 0, ""), packet(id, 2, "")].concat());
    }

    /// Reads the next command and answers it in two parts, and the empty request after it as the
    /// game does. `None` at the end of the connection.
    fn command(&mut self) -> Option<String> {
        let (id, kind, text) = self.read()?;
        assert_eq!(kind, 2);
        self.write(&packet(id, 0, "[SM] Done: "));
        self.write(&packet(id, 0, "it\u{1b}[2J is.\n"));
        let (id, kind, empty) = self.read()?;
        assert_eq!((kind, empty.as_str()), (0, ""));
        self.write(&[packet(id, 0, ""), packet(id, 0, "\0\u{1}\0\0")].concat());
        Some(text)
    }
}

impl GameServer {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("logs")).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self { folder, listener };
        fs::write(server.file("password"), format!("{PASSWORD}\n")).unwrap();
        server
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn log(&self, name: &str, lines: &[String]) {
        let mut options = File::options();
        let path = self.file("logs").join(name);
        let mut log = options.append(true).create(true).open(path).unwrap();
        log.write_all(stamped(lines).as_bytes()).unwrap();
    }

    fn sidecar(&self, daemon: SocketAddr, options: &[&str]) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
        let rcon = self.listener.local_addr().unwrap().to_string();
        command.args(["sidecar", "source", "--settle", "0.2", "--rcon", &rcon]);
        command.args(["--daemon", &daemon.to_string()]);
        command.arg("--password-file").arg(self.file("password"));
        if !options.contains(&"--log-udp") {
            command.arg("--log").arg(self.file("logs"));
        }
        Process::start(command.args(options))
    }

    fn accept(&self) -> Console {
        let (stream, _) = self.listener.accept().unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        Console(stream)
    }

    /// Serves one connection on a thread. Returns the commands.
    fn serve(&self) -> mpsc::Receiver<String> {
        let mut console = self.accept();
        let (sender, commands) = mpsc::channel();
        std::thread::spawn(move || {
            console.log_in(PASSWORD);
            while let Some(command) = console.command() {
                if sender.send(command).is_err() {
                    return;
                }
            }
        });
        commands
    }
}

fn stamped(lines: &[String]) -> String {
    let line = |line: &String| format!("L 01/24/2026 - 18:00:00: {line}\n");
    lines.iter().map(line).collect()
}

fn line(text: &str) -> String {
    text.to_owned()
}

fn joins(number: usize, from: &str, to: &str) -> String {
    format!("\"p {number};<{number}><[U:1:{number}]><{from}>\" joined team \"{to}\"")
}

/// A map with four players on one team.
fn loaded(map: &str) -> Vec<String> {
    let mut lines = vec![
        line("Log file started (file \"l\") (game \"tf\") (version \"1\")"),
        format!("Loading map \"{map}\""),
        format!("Started map \"{map}\" (CRC \"1\")"),
    ];
    lines.extend((11..15).map(|number| joins(number, "Unassigned", "Red")));
    lines
}

/// Two moves from Red to Blue: the numbers of the players.
fn moved(commands: &mpsc::Receiver<String>) -> Vec<usize> {
    let next = || commands.recv_timeout(HANG).unwrap();
    assert!(next().starts_with("say Evenkeel: 2 players to even teams"));
    let number = |command: String| {
        let middle = command.strip_prefix("sm_team \"#")?.strip_suffix("\" 3")?;
        middle.parse().ok()
    };
    vec![number(next()).unwrap(), number(next()).unwrap()]
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evening_of_team_fortress() {
    let daemon = Daemon::start("").await;
    let server = GameServer::new();
    server.log("l1.log", &loaded("ctf_2fort"));
    let mut sidecar = server.sidecar(daemon.address, &[]);
    let commands = server.serve();
    let blue = moved(&commands);
    sidecar.wait_for("the game server answers: [SM] Done: it [2J is.");
    for &number in &blue {
        server.log("l1.log", &[joins(number, "Red", "Blue")]);
    }
    sidecar.wait_for("the teams are as chosen");
    server.log(
        "l1.log",
        &[
            line("World triggered \"Round_Start\""),
            line("World triggered \"Round_Start\""),
            line("World triggered \"Round_Win\" (winner \"Red\")"),
            line("Team \"Red\" current score \"1\" with \"2\" players"),
            line("Team \"Blue\" current score \"0\" with \"2\" players"),
            line("World triggered \"Game_Over\" reason \"x\""),
            line("Team \"Red\" final score \"1\" with \"2\" players"),
            line("Team \"Blue\" final score \"0\" with \"2\" players"),
            line("Log file closed"),
        ],
    );
    sidecar.wait_for("the game is over: 1 ");
    assert_eq!(
        daemon.service.store().matches().extent().await.unwrap().0,
        1
    );
    // The next map has a log of its own.
    server.log("l2.log", &loaded("pl_upward"));
    let blue = moved(&commands);
    assert_eq!(blue.len(), 2);
    assert!(!sidecar.seen.iter().any(|line| line.contains(PASSWORD)));
    let kill = Command::new("kill")
        .args(["-TERM", &sidecar.child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    assert!(sidecar.child.wait().unwrap().success());
}

/// A log of Counter-Strike: the game is restarted after the warm-up, and once more as it goes live.
#[tokio::test(flavor = "multi_thread")]
async fn a_match_counts_as_picked_although_the_game_was_restarted() {
    let daemon = Daemon::start("rating.min_seconds = 60").await;
    let server = GameServer::new();
    let map = "de_dust2";
    let mut lines = loaded(map);
    lines[0] = line("Log file started (file \"l\") (game \"csgo\") (version \"1\")");
    let lines: Vec<String> = lines
        .iter()
        .map(|line| line.replace("Red", "TERRORIST"))
        .chain([line("World triggered \"Warmup_Start\"")])
        .collect();
    server.log("l1.log", &lines);
    let mut sidecar = server.sidecar(daemon.address, &[]);
    let commands = server.serve();
    let say = commands.recv_timeout(HANG).unwrap();
    assert!(
        say.starts_with("say Evenkeel: 2 players to even teams"),
        "{say}"
    );
    for _ in 0..2 {
        let command = commands.recv_timeout(HANG).unwrap();
        let number = command.split(['#', '"']).find_map(|part| part.parse().ok());
        server.log("l1.log", &[joins(number.unwrap(), "TERRORIST", "CT")]);
    }
    sidecar.wait_for("the teams are as chosen");
    let score =
        |side: &str, score| format!("Team \"{side}\" scored \"{score}\" with \"2\" players");
    server.log(
        "l1.log",
        &[
            format!("World triggered \"Match_Start\" on \"{map}\""),
            line("World triggered \"Round_Start\""),
            line("World triggered \"Restart_Round_(1_second)\""),
            line("World triggered \"Round_Start\""),
            line(
                "Team \"TERRORIST\" triggered \"SFUI_Notice_Terrorists_Win\" (CT \"0\") (T \"1\")",
            ),
            score("CT", 0),
            score("TERRORIST", 1),
            line("World triggered \"Round_End\""),
            format!("Game Over: competitive mg_active {map} score 1:0 after 30 min"),
        ],
    );
    sidecar.wait_for("the game is over: 1 ");
    daemon.service.sessions().write_backlog().await.unwrap();
    let file = daemon.folder.path().join("test.db");
    let sql = "SELECT d.match_id, (SELECT count(*) FROM matches), (SELECT count(*) FROM match_chances WHERE cause = 'picked')
               FROM decisions d";
    let found: Vec<(Option<i64>, i64, i64)> = rows(&file, sql).await;
    assert_eq!(found, [(Some(1), 1, 1)], "one decision, one match, picked");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_console_goes_away_and_comes_back() {
    let daemon = Daemon::start("").await;
    let server = GameServer::new();
    let mut sidecar = server.sidecar(daemon.address, &[]);
    let mut first = server.accept();
    first.log_in(PASSWORD);
    sidecar.wait_for("connected to the remote console");
    drop(first);
    sidecar.wait_for("the connection to the remote console ended");
    // What comes back speaks another protocol, and then none at all.
    let mut second = server.accept();
    second.write(&[0xff; 64]);
    sidecar.wait_for("the remote console sent a packet of -1 bytes");
    let mut third = server.accept();
    third.log_in(PASSWORD);
    third.write(&packet(1, 9, "x"));
    sidecar.wait_for("the remote console sent a packet of the unknown type 9");
    let commands = server.serve();
    sidecar.wait_for("connected to the remote console");
    server.log("l1.log", &loaded("ctf_2fort"));
    assert_eq!(moved(&commands).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_is_reported() {
    let daemon = Daemon::start("").await;
    let server = GameServer::new();
    let mut sidecar = server.sidecar(daemon.address, &[]);
    server.accept().log_in("another one");
    sidecar.wait_for("the game server refuses the rcon password");
    server.log("l1.log", &loaded("ctf_2fort"));
    sidecar.wait_for("cannot send commands to the game server: not connected");
    assert!(!sidecar.seen.iter().any(|line| line.contains(PASSWORD)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_comes_in_datagrams() {
    let daemon = Daemon::start("").await;
    let server = GameServer::new();
    fs::write(server.file("secret"), "42\n").unwrap();
    let secret = server.file("secret");
    let options = ["--log-udp", "127.0.0.1:0", "--log-secret-file"];
    let options = [&options[..], &[secret.to_str().unwrap()]].concat();
    let own = ["--move-command", "ct_move {player} {team}", "--game", "tf"];
    let mut sidecar = server.sidecar(daemon.address, &[&options[..], &own].concat());
    sidecar.wait_for("waiting for the log on ");
    let to = sidecar.seen.last().unwrap().rsplit(' ').next().unwrap();
    let to: SocketAddr = to.parse().unwrap();
    let commands = server.serve();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    for line in &loaded("ctf_2fort")[1..] {
        let forged = line.replace("Red", "Blue");
        let forged = [b"\xff\xff\xff\xffR", stamped(&[forged]).as_bytes(), b"\0"].concat();
        socket.send_to(&forged, to).unwrap();
        let line = stamped(std::slice::from_ref(line));
        let datagram = [b"\xff\xff\xff\xffS42", line.as_bytes(), b"\0"].concat();
        socket.send_to(&datagram, to).unwrap();
    }
    let say = commands.recv_timeout(HANG).unwrap();
    assert!(say.starts_with("say Evenkeel: 2 players"), "{say}");
    for _ in 0..2 {
        let command = commands.recv_timeout(HANG).unwrap();
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!([words[0], words[2]], ["ct_move", "blue"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_moves_nobody() {
    let daemon = Daemon::start("").await;
    let server = GameServer::new();
    server.log("l1.log", &loaded("ctf_2fort"));
    let mut sidecar = server.sidecar(daemon.address, &["--dry-run"]);
    sidecar.wait_for("would do: say Evenkeel");
    sidecar.wait_for("would do: sm_team \"#1");
    sidecar.wait_for("would do: sm_team \"#1");
    server.listener.set_nonblocking(true).unwrap();
    assert!(server.listener.accept().is_err(), "nobody connected");
}

#[test]
fn wrong_options_are_refused() {
    let server = GameServer::new();
    let here = server.listener.local_addr().unwrap();
    for (options, why) in [
        (&["--move-command", "sm_team"][..], "{player}"),
        (&["--bots-command", "bot_quota"], "{count}"),
        (&["--opening", "601"], "0 to 600 seconds"),
        (
            &["--log-udp", "127.0.0.1:0", "--log", "x"],
            "cannot be used",
        ),
    ] {
        let mut process = server.sidecar(here, options);
        assert_eq!(process.child.wait().unwrap().code(), Some(2), "{options:?}");
        let mut output = String::new();
        let mut errors = process.child.stderr.take().unwrap();
        errors.read_to_string(&mut output).unwrap();
        assert!(output.contains(why), "{output}");
    }
}
