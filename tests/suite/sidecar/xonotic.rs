//! The sidecar for Xonotic: the requests that it sends for a recorded log, and the real program between
//! a real daemon and a server that speaks the packets of DarkPlaces' remote console.

use std::{
    fs::{self, File},
    io::Write,
    net::{SocketAddr, UdpSocket},
    path::{Path, PathBuf},
    process::Command,
    sync::mpsc,
};

use bytes::BytesMut;
use evenkeel::sidecar::{
    Act, ChatSettings, Sidecar,
    follower::{CommandTemplate, Follower, FollowerSettings, TemplateCommands},
    xonotic::Xonotic,
};
use hmac::{Hmac, KeyInit, Mac};
use md4::Md4;
use tempfile::TempDir;

use crate::{
    common::Daemon,
    sidecar::{HANG, Process},
};

const PASSWORD: &str = "open-sesame";
const OUT_OF_BAND: &[u8] = b"\xff\xff\xff\xff";

#[test]
fn a_recorded_game_ends_with_its_score() {
    let settings = FollowerSettings {
        server: "test".into(),
        token: None,
        bots_as_players: true,
        auto_balance: false,
        settle: 1_000,
        attempts: 1,
        chat: ChatSettings::default(),
    };
    let commands = TemplateCommands {
        move_command: CommandTemplate::of_move("sv_cmd movetoteam {player} {team}").unwrap(),
        bots_command: None,
    };
    let mut sidecar = Follower::new(Xonotic::new(commands, false, 15_000), settings);
    let mut acts = Vec::new();
    sidecar.connected(0, &mut acts);
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/nexuiz/ctf-01.log");
    for line in fs::read(log).unwrap().split(|&b| b == b'\n') {
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
    let lines: Vec<String> = acts.into_iter().filter_map(line).collect();
    let count = |verb: &str| lines.iter().filter(|line| line.starts_with(verb)).count();
    assert_eq!([count("JOIN "), count("START"), count("END")], [8, 1, 1]);
    let mut scores = [0, 0];
    for line in lines.iter().filter(|line| line.starts_with("SCORE ")) {
        let words: Vec<&str> = line.split(' ').collect();
        scores[words[1].parse::<usize>().unwrap()] += words[2].parse::<i64>().unwrap();
    }
    // From the lines `:teamscores:` of the log.
    assert_eq!(scores, [2, 3]);
}

/// A game server: a folder of logs, and the socket of its remote console.
struct GameServer {
    folder: TempDir,
    socket: UdpSocket,
}

/// The code for what a packet says.
fn code(password: &str, said: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Md4>::new_from_slice(password.as_bytes()).unwrap();
    mac.update(said);
    mac.finalize().into_bytes().to_vec()
}

/// The server's side of the remote console.
struct Console {
    socket: UdpSocket,
    password: &'static str,
    /// The text of the last challenge, until a packet has used it.
    challenge: Option<String>,
    challenges: usize,
}

impl Console {
    /// Receives one packet, and returns the commands that it makes the server execute. Packets with a
    /// wrong proof are dropped without an answer, as the engine does.
    fn serve(&mut self) -> Vec<String> {
        let mut packet = [0; 4_096];
        let (count, from) = self.socket.recv_from(&mut packet).unwrap();
        let said = packet[..count].strip_prefix(OUT_OF_BAND).unwrap();
        if said == b"getchallenge" {
            self.challenges += 1;
            let text = format!("{:011}", self.challenges);
            let answer = [OUT_OF_BAND, b"challenge ", text.as_bytes(), b"\0vlen"].concat();
            self.socket.send_to(&answer, from).unwrap();
            self.challenge = Some(text);
            return Vec::new();
        }
        let Some(list) = self.list(said) else {
            return Vec::new();
        };
        let text = String::from_utf8(list).unwrap();
        let commands: Vec<String> = text.split('\0').map(str::to_owned).collect();
        for command in &commands {
            if let Some(echo) = command.strip_prefix("echo ") {
                let answer = [OUT_OF_BAND, b"n", echo.as_bytes(), b"\n"].concat();
                self.socket.send_to(&answer, from).unwrap();
            }
        }
        let own = |command: &String| !command.starts_with("echo ");
        commands.into_iter().filter(own).collect()
    }

    /// The list of commands in a packet, if its proof is right.
    fn list(&mut self, said: &[u8]) -> Option<Vec<u8>> {
        let plain = format!("rcon {} ", self.password);
        if let Some(list) = said.strip_prefix(plain.as_bytes()) {
            return Some(list.to_vec());
        }
        let said = said.strip_prefix(b"srcon HMAC-MD4 ")?;
        let (said, challenge) = match said.strip_prefix(b"TIME ") {
            Some(said) => (said, None),
            None => (
                said.strip_prefix(b"CHALLENGE ")?,
                Some(self.challenge.take()?),
            ),
        };
        let (found, said) = said.split_at(16);
        let said = said.strip_prefix(b" ")?;
        let blank = said.iter().position(|&b| b == b' ')?;
        let proof = std::str::from_utf8(&said[..blank]).unwrap();
        match challenge {
            Some(challenge) => assert_eq!(proof, challenge),
            None => assert!(
                proof
                    .split_once('.')
                    .is_some_and(|(_, micros)| micros.len() == 6)
            ),
        }
        (found == code(self.password, said)).then(|| said[blank + 1..].to_vec())
    }
}

impl GameServer {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("data")).unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let server = Self { folder, socket };
        fs::write(server.file("password"), format!("{PASSWORD}\n")).unwrap();
        server
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn log(&self, name: &str, text: &str) {
        let mut options = File::options();
        let path = self.file("data").join(name);
        let mut log = options.append(true).create(true).open(path).unwrap();
        log.write_all(text.as_bytes()).unwrap();
    }

    fn sidecar(&self, daemon: SocketAddr, options: &[&str]) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
        let rcon = self.socket.local_addr().unwrap().to_string();
        command.args(["sidecar", "xonotic", "--settle", "0.2", "--rcon", &rcon]);
        command.args(["--daemon", &daemon.to_string(), "--warm-up"]);
        command.arg("--password-file").arg(self.file("password"));
        command.arg("--log").arg(self.file("data"));
        Process::start(command.args(options))
    }

    fn console(&self, password: &'static str) -> Console {
        let socket = self.socket.try_clone().unwrap();
        socket.set_read_timeout(Some(HANG)).unwrap();
        Console {
            socket,
            password,
            challenge: None,
            challenges: 0,
        }
    }

    /// Serves the console on a thread. Returns the commands.
    fn serve(&self) -> mpsc::Receiver<String> {
        let mut console = self.console(PASSWORD);
        let (sender, commands) = mpsc::channel();
        std::thread::spawn(move || {
            loop {
                for command in console.serve() {
                    if sender.send(command).is_err() {
                        return;
                    }
                }
            }
        });
        commands
    }
}

/// A warm-up with four players on one team.
fn warm_up(map: &str) -> String {
    let mut log = format!(":gamestart:ctf_{map}:0.1\n:gameinfo:mutators:LIST\n:gameinfo:end\n");
    for id in 1..=4 {
        let slot = id + 10;
        log += &format!(":join:{id}:{slot}:192.0.2.{id}:p {id};\n:team:{id}:5:1\n");
    }
    log
}

/// Two moves from red to blue: the players' numbers in the log.
fn moved(commands: &mpsc::Receiver<String>) -> Vec<usize> {
    let next = || commands.recv_timeout(HANG).unwrap();
    assert!(next().starts_with("say Evenkeel: 2 players to even teams"));
    let number = |command: String| {
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(
            [words[0], words[1], words[3]],
            ["sv_cmd", "moveplayer", "blue"]
        );
        words[2].parse::<usize>().unwrap() - 10
    };
    vec![number(next()), number(next())]
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evening_of_capture_the_flag() {
    let daemon = Daemon::start("").await;
    let server = GameServer::new();
    let commands = server.serve();
    let mut sidecar = server.sidecar(daemon.address, &[]);
    sidecar.wait_for("the game server answers on its remote console");
    server.log("xonotic1.log", &warm_up("dance"));
    for id in moved(&commands) {
        server.log("xonotic1.log", &format!(":team:{id}:14:6\n"));
    }
    sidecar.wait_for("the teams are as chosen");
    server.log(
        "xonotic1.log",
        ":restart\n:kill:frag:1:2:type=1\n:ctf:capture:14:1\n:scores:ctf_dance:300\n\
         :labels:player:score!!,caps!\n:player:see-labels:9,1:300:5:1:p 1;\n\
         :labels:teamscores:caps!!,score\n:teamscores:see-labels:1,9:5\n:teamscores:see-labels:0,0:14\n\
         :end\n:gameover\n",
    );
    sidecar.wait_for("the game is over: 1 ");
    assert_eq!(
        daemon.service.store().matches().extent().await.unwrap().0,
        1
    );
    // The next match has a log of its own.
    server.log("xonotic2.log", &warm_up("silentsiege"));
    assert_eq!(moved(&commands).len(), 2);
    assert!(!sidecar.seen.iter().any(|line| line.contains(PASSWORD)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_password_is_proved_in_three_ways() {
    for security in ["0", "1", "2"] {
        let daemon = Daemon::start("").await;
        let server = GameServer::new();
        let commands = server.serve();
        server.log("xonotic1.log", &warm_up("dance"));
        let _sidecar = server.sidecar(daemon.address, &["--rcon-secure", security]);
        assert_eq!(moved(&commands).len(), 2, "{security}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_console_that_does_not_answer_is_reported_and_found_again() {
    let daemon = Daemon::start("").await;
    let server = GameServer::new();
    let mut console = server.console("another one");
    let mut sidecar = server.sidecar(daemon.address, &[]);
    // The question for a challenge, and a list with a wrong proof.
    let mut probe = [0; 64];
    let (_, from) = console.socket.peek_from(&mut probe).unwrap();
    for hostile in [
        &b"\xff\xff\xff\xffchallenge 1"[..],
        b"",
        b"\xff\xff\xff\xff",
        b"n",
    ] {
        console.socket.send_to(hostile, from).unwrap();
    }
    assert!(console.serve().is_empty() && console.serve().is_empty());
    sidecar.wait_for("the game server does not answer on its remote console");
    console.password = PASSWORD;
    server.log("xonotic1.log", &warm_up("dance"));
    let commands = loop {
        let commands = console.serve();
        if !commands.is_empty() {
            break commands;
        }
    };
    assert!(commands[0].starts_with("say Evenkeel: 2 players"));
    sidecar.wait_for("the game server answers on its remote console");
}
