//! An agent between a simulated game server and a daemon whose lines the tests write.

use bytes::Bytes;
use evenkeel_protocol::{Push, Received, Reply, ReplyReader};

use super::*;
use crate::{
    Sidecar,
    follower::testing::line,
    idtech3::{IdTech3Host, host_limit, host_mode},
};

use fake::FakeServer;

mod failures;

pub(super) mod fake;

mod matches;

mod scene;

mod teeworlds;

pub(super) fn settings() -> AgentSettings {
    AgentSettings {
        server: "oa".into(),
        token: None,
        address: "203.0.113.7:27960".into(),
        region: None,
        modes: vec![host_mode("ctf").unwrap(), host_mode("tdm").unwrap()],
        maps: vec!["ps37ctf".into(), "oasago2".into()],
        limits: vec![host_limit("time=20").unwrap()],
        strangers_watch: false,
        lock: Some("nobody-knows".into()),
        intermission: 8_000,
        pass_valid: 600_000,
    }
}

/// The reply of this line.
fn reply(line: &str) -> Reply {
    let line = Bytes::copy_from_slice(line.as_bytes());
    match ReplyReader::default().line(line) {
        Ok(Some(Received::Reply(reply))) => reply,
        other => panic!("{other:?} is no reply"),
    }
}

/// Everything around an agent. Time passes in steps of 100 ms.
struct Stage {
    agent: Agent<IdTech3Host>,
    now: u64,
    server: FakeServer,
    /// Whether the game server answers.
    answers: bool,
    /// Whether the daemon answers PING, and accepts connections.
    connected: bool,
    sent: Vec<String>,
    reports: Vec<String>,
    kept: Option<AgentMatch>,
}

const SESSION: &str =
    "SESSION 7 duel ctf ps37ctf 2\nJOIN ann team=0 pass=aa\nJOIN bob team=1 pass=bb";

impl Stage {
    fn new() -> Self {
        Self::with(settings())
    }

    fn with(settings: AgentSettings) -> Self {
        Self {
            agent: Agent::new(IdTech3Host::default(), settings),
            now: 1_000,
            server: FakeServer::new(&["oa_dm1", "ps37ctf", "oasago2"]),
            answers: true,
            connected: false,
            sent: Vec::new(),
            reports: Vec::new(),
            kept: None,
        }
    }

    /// An agent that is connected and has sent INSTANCE.
    fn ready() -> Self {
        let mut stage = Self::new();
        stage.connect("new");
        stage.run(11_000);
        stage.sent.clear();
        stage
    }

    /// A match whose players are on their teams and play.
    fn playing() -> Self {
        let mut stage = Self::ready();
        stage.push(SESSION);
        stage.run(5_000);
        stage.server.connect("Ann", "aa");
        stage.server.connect("Bob", "bb");
        stage.run(10_000);
        assert_eq!(
            stage.sent.last().map(String::as_str),
            Some("SCORE 1 total=0"),
            "{:?}",
            stage.sent
        );
        stage.sent.clear();
        stage
    }

    fn connect(&mut self, resumed: &str) {
        let mut acts = Vec::new();
        self.connected = true;
        self.agent.connected(self.now, &mut acts);
        self.perform(acts);
        self.reply(&format!("HELLO evenkeel/0.1.0 protocol/1 {resumed}"));
    }

    fn disconnect(&mut self) {
        self.connected = false;
        self.agent.disconnected();
    }

    /// Another agent takes the place of this one, which was killed.
    fn kill(&mut self) {
        self.agent = Agent::new(IdTech3Host::default(), settings());
        let (mut acts, now) = (Vec::new(), self.now);
        let log = std::mem::take(&mut self.server.log);
        self.connected = false;
        for line in &log {
            self.agent.log_line(line.as_bytes(), now, &mut acts);
        }
        if let Some(kept) = self.kept.clone() {
            let text = serde_json::to_string(&kept).unwrap();
            self.agent.restore(serde_json::from_str(&text).unwrap());
        }
    }

    fn reply(&mut self, line: &str) {
        let mut acts = Vec::new();
        self.agent.reply(reply(line), self.now, &mut acts);
        self.perform(acts);
    }

    fn push(&mut self, lines: &str) {
        for line in lines.lines() {
            let mut acts = Vec::new();
            self.agent
                .push(&Push::new(line.to_owned()), self.now, &mut acts);
            self.perform(acts);
        }
    }

    fn run(&mut self, millis: u64) {
        for _ in 0..millis / 100 {
            self.now += 100;
            self.server.clock = self.now / 1_000;
            let mut acts = Vec::new();
            self.read_log(&mut acts);
            self.agent.tick(self.now, &mut acts);
            self.perform(acts);
        }
    }

    fn read_log(&mut self, acts: &mut Vec<Act>) {
        for line in std::mem::take(&mut self.server.log) {
            self.agent.log_line(line.as_bytes(), self.now, acts);
        }
    }

    fn perform(&mut self, acts: Vec<Act>) {
        for act in acts {
            match act {
                Act::Send(request) => {
                    let line = line(&request);
                    assert!(self.connected, "{line}");
                    match line.as_str() {
                        "PING" => self.reply("PONG"),
                        _ => self.sent.push(line),
                    }
                }
                Act::Console(commands) if self.answers => {
                    for command in commands {
                        self.server.execute(&command);
                    }
                }
                Act::Console(_) => {}
                Act::Ask { id, command } => {
                    let text = self.answers.then(|| self.server.execute(&command));
                    let mut acts = Vec::new();
                    let text = text.as_ref().map(String::as_bytes);
                    self.agent.answer(id, text, self.now, &mut acts);
                    self.perform(acts);
                }
                Act::Keep(kept) => self.kept = kept,
                Act::Report(text) => self.reports.push(text),
            }
        }
    }

    fn sent(&mut self) -> Vec<String> {
        std::mem::take(&mut self.sent)
    }

    fn teams(&self) -> Vec<(String, u8)> {
        let clients = self.server.clients.values();
        clients
            .map(|client| (client.name.clone(), client.team))
            .collect()
    }
}

#[test]
fn limits_of_one_queue_come_last() {
    let limits = ["duel:time=5", "time=20", "other:captures=3", "frags=0"];
    let settings = AgentSettings {
        limits: limits.map(|text| host_limit(text).unwrap()).to_vec(),
        ..settings()
    };
    assert_eq!(
        settings.limit_commands("duel"),
        ["set timelimit 20", "set fraglimit 0", "set timelimit 5"]
    );
}
