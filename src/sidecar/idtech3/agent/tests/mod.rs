//! An agent between a simulated game server and a daemon whose lines the tests write.

pub mod fake;

use bytes::{Bytes, BytesMut};
use proptest::prelude::*;

use super::{AgentAct, AgentMatch, AgentSettings, IdTech3Agent};
use crate::protocol::{Push, Received, ReplyReader};
use fake::FakeServer;

pub(super) fn settings() -> AgentSettings {
    AgentSettings {
        server: "oa".into(),
        token: None,
        address: "203.0.113.7:27960".into(),
        region: None,
        modes: vec!["ctf".parse().unwrap(), "tdm".parse().unwrap()],
        maps: vec!["ps37ctf".into(), "oasago2".into()],
        limits: vec!["time=20".parse().unwrap()],
        strangers_watch: false,
        lock: Some("nobody-knows".into()),
        intermission: 8_000,
        pass_valid: 600_000,
    }
}

/// Everything around an agent. Time passes in steps of 100 ms.
struct Stage {
    agent: IdTech3Agent,
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
            agent: IdTech3Agent::new(settings),
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
        (
            stage.server.connect("Ann", "aa"),
            stage.server.connect("Bob", "bb"),
        );
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
        self.agent = IdTech3Agent::new(settings());
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
        let line = Bytes::copy_from_slice(line.as_bytes());
        let Some(Received::Reply(reply)) = ReplyReader::default().line(line).unwrap() else {
            panic!("this is no reply");
        };
        let mut acts = Vec::new();
        self.agent.reply(reply, self.now, &mut acts);
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

    fn read_log(&mut self, acts: &mut Vec<AgentAct>) {
        for line in std::mem::take(&mut self.server.log) {
            self.agent.log_line(line.as_bytes(), self.now, acts);
        }
    }

    fn perform(&mut self, acts: Vec<AgentAct>) {
        for act in acts {
            match act {
                AgentAct::Send(request) => {
                    let mut line = BytesMut::new();
                    request.encode(&mut line);
                    let line = String::from_utf8_lossy(&line).trim_end().to_owned();
                    assert!(self.connected, "{line}");
                    match line.as_str() {
                        "PING" => self.reply("PONG"),
                        _ => self.sent.push(line),
                    }
                }
                AgentAct::Console(commands) if self.answers => {
                    for command in commands {
                        self.server.execute(&command);
                    }
                }
                AgentAct::Console(_) => {}
                AgentAct::Ask { id, command } => {
                    let text = self.answers.then(|| self.server.execute(&command));
                    let mut acts = Vec::new();
                    let text = text.as_ref().map(String::as_bytes);
                    self.agent.answer(id, text, self.now, &mut acts);
                    self.perform(acts);
                }
                AgentAct::Keep(kept) => self.kept = kept,
                AgentAct::Report(text) => self.reports.push(text),
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
fn two_matches_in_a_row() {
    let mut stage = Stage::new();
    stage.server.connect("Idler", "");
    stage.connect("new");
    stage.run(1_000);
    let instance = "INSTANCE 203.0.113.7:27960 slots=1 modes=ctf,tdm maps=oasago2,ps37ctf";
    assert_eq!(
        stage.sent(),
        ["HELLO oa resume=yes bots=no", instance, "LOAD 0"]
    );
    stage.run(11_000);
    assert!(
        stage.teams().is_empty() && stage.server.connect("Idler", "").is_none(),
        "locked"
    );
    for (round, map) in [(7, "ps37ctf"), (8, "oasago2")] {
        stage.push(
            &SESSION
                .replace('7', &round.to_string())
                .replace("ps38ctf", "ps37ctf")
                .replace("ps37ctf", map),
        );
        stage.run(14_000);
        assert_eq!(stage.sent(), ["LOAD 1", &format!("READY {round}")]);
        assert_eq!(stage.server.map, map);
        stage.server.add("Sarge", "", 1, true);
        stage.server.connect("Eve", "guess");
        (
            stage.server.connect("Bob", "bb"),
            stage.server.connect("Ann", "aa"),
        );
        stage.run(12_000);
        let expected = [
            "JOIN bob name=Bob team=1",
            "JOIN ann name=Ann team=0",
            "START",
            "JOIN ann team=0",
            "JOIN bob team=1",
            "SCORE 0 total=0",
            "SCORE 1 total=0",
        ];
        assert_eq!(stage.sent(), expected, "{:?}", stage.reports);
        assert_eq!(stage.teams().len(), 2, "{:?}", stage.teams());
        assert!(
            stage.teams().contains(&("Ann".into(), 1))
                && stage.teams().contains(&("Bob".into(), 2))
        );
        let ann = stage.server.number("Ann").unwrap();
        stage.server.capture(ann);
        stage.server.exit();
        stage.run(1_000);
        let sent = stage.sent();
        assert_eq!(
            sent[..3],
            ["SCORE 0 1 ann", "SCORE 0 total=1", "SCORE 1 total=0"]
        );
        assert!(
            sent[3].starts_with("POINTS ") && sent[4].starts_with("POINTS "),
            "{sent:?}"
        );
        assert_eq!(sent[5..], ["END 0"]);
        stage.reply(&format!("END {round} recorded"));
        stage.run(100);
        assert_eq!(
            (stage.sent(), stage.kept.is_some()),
            (vec!["LOAD 0".to_owned()], false)
        );
    }
    stage.run(20_000);
    assert!(
        stage.teams().is_empty() && stage.server.connect("Idler", "").is_none(),
        "locked"
    );
    assert!(stage.sent().is_empty(), "END is sent once");
}

#[test]
fn what_cannot_be_hosted_is_refused() {
    for (session, reason) in [
        ("SESSION 7 duel ffa ps37ctf 1\nJOIN a team=0 pass=x", "mode"),
        (
            "SESSION 7 duel - oa_dm6 1\nJOIN a team=0 pass=x",
            "does not have the map",
        ),
        (
            "SESSION 7 duel - \"a;quit\" 1\nJOIN a team=0 pass=x",
            "no plain word",
        ),
        ("SESSION 7 duel - - 1\nJOIN a team=2 pass=x", "two teams"),
    ] {
        let mut stage = Stage::ready();
        stage.push(session);
        stage.run(100);
        let sent = stage.sent();
        assert!(
            sent[0].starts_with("REFUSE 7 ") && sent[0].contains(reason),
            "{sent:?}"
        );
        assert!(
            !stage
                .server
                .commands
                .iter()
                .any(|command| command.contains("quit"))
        );
    }
    // The operator states a map that the game server does not have.
    let mut stage = Stage::ready();
    stage.server.maps.retain(|map| map != "ps37ctf");
    stage.push(SESSION);
    stage.run(3_000);
    assert_eq!(stage.sent().last().map(String::as_str), Some("LOAD 0"));
    assert!(
        stage
            .reports
            .iter()
            .any(|text| text.contains("does not have the map"))
    );
    stage.push("SESSION 8 duel - oasago2 1\nJOIN a team=0 pass=x");
    stage.run(3_000);
    assert_eq!(stage.sent(), ["LOAD 1", "READY 8"]);
}

#[test]
fn a_console_that_does_not_answer_offers_nothing_and_refuses() {
    let mut stage = Stage::new();
    stage.answers = false;
    stage.connect("new");
    stage.run(5_000);
    assert_eq!(stage.sent(), ["HELLO oa resume=yes bots=no"]);
    assert!(stage.agent.needs_server(stage.now));
    let mut stage = Stage::ready();
    stage.answers = false;
    stage.push(SESSION);
    stage.run(30_000);
    let sent = stage.sent();
    assert!(
        sent.iter().any(|line| line.starts_with("REFUSE 7 ")),
        "{sent:?}"
    );
}

#[test]
fn a_daemon_that_restarts_in_play_gets_what_it_has_missed() {
    let mut stage = Stage::playing();
    let (ann, bob) = (
        stage.server.number("Ann").unwrap(),
        stage.server.number("Bob").unwrap(),
    );
    stage.server.capture(ann);
    stage.run(500);
    stage.disconnect();
    stage.server.capture(ann);
    stage.server.disconnect(bob);
    stage.run(2_000);
    stage.sent.clear();
    stage.connect("resumed");
    stage.run(1_000);
    let sent = stage.sent();
    let expected = [
        "JOIN ann team=0",
        "SCORE 0 total=2",
        "SCORE 1 total=0",
        "LEAVE bob",
    ];
    for line in expected {
        assert!(sent.iter().any(|sent| sent == line), "{line}: {sent:?}");
    }
    // The end comes while the daemon is away, and the answer to the first END is lost.
    stage.disconnect();
    stage.server.exit();
    stage.run(2_000);
    for resumed in ["resumed", "new"] {
        stage.connect(resumed);
        stage.run(1_000);
        let sent = stage.sent();
        assert_eq!(
            sent.iter().filter(|line| *line == "END 0").count(),
            1,
            "{sent:?}"
        );
        assert_eq!(
            sent.contains(&"SCORE 0 total=2".to_owned()),
            resumed == "resumed"
        );
        stage.disconnect();
    }
    stage.connect("new");
    stage.run(200);
    stage.reply("END 7 recorded");
    stage.sent.clear();
    stage.run(30_000);
    assert_eq!(
        (stage.sent(), stage.kept.is_some()),
        (vec!["LOAD 0".to_owned()], false)
    );
}

#[test]
fn an_agent_that_is_killed_in_a_game_takes_it_over() {
    let mut stage = Stage::playing();
    let (ann, bob) = (
        stage.server.number("Ann").unwrap(),
        stage.server.number("Bob").unwrap(),
    );
    stage.server.capture(bob);
    stage.run(500);
    stage.sent.clear();
    // The whole log is read again.
    let mut again = FakeServer::new(&["oa_dm1", "ps37ctf", "oasago2"]);
    again.vars.insert("evenkeel_match".into(), "7".into());
    again.execute("map ps37ctf");
    (
        again.add("Ann", "aa", 1, false),
        again.add("Bob", "bb", 2, false),
    );
    again.execute("set g_warmup 5");
    again.clock += 3;
    again.capture(bob);
    stage.server = again;
    stage.kill();
    stage.connect("resumed");
    stage.run(4_000);
    let sent = stage.sent();
    for line in [
        "JOIN ann name=Ann team=0",
        "SCORE 0 total=0",
        "SCORE 1 total=1",
    ] {
        assert!(sent.iter().any(|sent| sent == line), "{line}: {sent:?}");
    }
    assert!(
        !sent
            .iter()
            .any(|line| line == "START" || line.starts_with("LEAVE")),
        "{sent:?}"
    );
    assert_eq!(stage.server.clients.len(), 2, "nobody is disconnected");
    stage.server.capture(ann);
    stage.server.capture(ann);
    stage.server.exit();
    stage.run(1_000);
    assert_eq!(stage.sent().last().map(String::as_str), Some("END 0"));
    // Killed again before the answer: END is sent again, and once.
    stage.kill();
    stage.connect("new");
    stage.run(3_000);
    stage.reply("END 7 recorded");
    stage.run(20_000);
    let ends = stage.sent();
    assert_eq!(
        ends.iter().filter(|line| line.starts_with("END")).count(),
        1,
        "{ends:?}"
    );
    assert!(stage.kept.is_none());
}

#[test]
fn an_agent_that_is_killed_with_its_start_sends_it_again() {
    let mut stage = Stage::playing();
    let (ann, bob) = (("Ann", "aa"), ("Bob", "bb"));
    let mut again = FakeServer::new(&["oa_dm1", "ps37ctf", "oasago2"]);
    again.vars.insert("evenkeel_match".into(), "7".into());
    again.execute("map ps37ctf");
    (
        again.add(ann.0, ann.1, 1, false),
        again.add(bob.0, bob.1, 2, false),
    );
    again.execute("set g_warmup 5");
    stage.server = again;
    stage.kill();
    stage.connect("resumed");
    stage.run(100);
    // The daemon asks again, because START has not reached it.
    stage.push(SESSION);
    stage.run(5_000);
    let sent = stage.sent();
    let count = |text: &str| sent.iter().filter(|line| *line == text).count();
    assert_eq!((count("READY 7"), count("START")), (1, 1), "{sent:?}");
    assert_eq!(stage.server.clients.len(), 2, "nobody is disconnected");
}

#[test]
fn an_agent_that_is_killed_before_the_game_is_sent_the_match_again() {
    let mut stage = Stage::ready();
    stage.push(SESSION);
    stage.run(4_000);
    stage.server.connect("Ann", "aa");
    stage.run(2_000);
    let log = [
        "  0:00 InitGame: \\gamename\\baseoa\\g_gametype\\4\\mapname\\ps37ctf\\evenkeel_match\\7",
        "  0:00 Warmup:",
        "  0:01 ClientUserinfoChanged: 0 n\\Ann\\t\\1\\id\\GUIDAnn",
        "  0:01 ClientConnect: 0",
        "  0:01 ClientBegin: 0",
    ];
    stage.server.log = log.map(str::to_owned).to_vec();
    let loads = |stage: &Stage| {
        stage
            .server
            .commands
            .iter()
            .filter(|text| text.starts_with("map "))
            .count()
    };
    let before = loads(&stage);
    stage.kill();
    stage.sent.clear();
    stage.connect("resumed");
    stage.run(500);
    stage.push(SESSION);
    stage.run(3_000);
    let sent = stage.sent();
    assert_eq!(
        sent[3..],
        ["READY 7", "LOAD 1", "JOIN ann name=Ann team=0"],
        "{sent:?}"
    );
    assert_eq!(
        (loads(&stage), stage.server.clients.len()),
        (before, 1),
        "the map stays"
    );
}

#[test]
fn a_game_server_that_crashes() {
    // Before START, the match is opened again.
    let mut stage = Stage::ready();
    stage.push(SESSION);
    stage.run(4_000);
    stage.server.connect("Ann", "aa");
    stage.run(2_000);
    stage.sent.clear();
    stage.server.crash();
    stage.run(5_000);
    assert_eq!(stage.sent(), ["READY 7", "LEAVE ann"]);
    // In play, it is given up.
    let mut stage = Stage::playing();
    stage.server.crash();
    stage.run(1_000);
    assert_eq!(stage.sent(), ["GAME none", "LOAD 0"]);
    assert!(stage.kept.is_none());
    // It does not come back, and the daemon is away.
    let mut stage = Stage::playing();
    stage.disconnect();
    stage.answers = false;
    stage.run(70_000);
    assert!(stage.agent.needs_server(stage.now));
    stage.connect("resumed");
    stage.run(1_000);
    assert_eq!(stage.sent(), ["HELLO oa resume=yes bots=no", "GAME none"]);
}

#[test]
fn players_may_come_again_and_passes_expire() {
    let mut stage = Stage::playing();
    let ann = stage.server.number("Ann").unwrap();
    // A second client with her pass: the first one goes.
    stage.server.connect("Ann2", "aa");
    stage.run(5_000);
    assert_eq!(
        stage.server.clients.get(&ann).map(|c| c.name.as_str()),
        None
    );
    assert!(
        stage.teams().contains(&("Ann2".into(), 1)),
        "{:?}",
        stage.teams()
    );
    assert_eq!(stage.sent(), ["JOIN ann name=Ann2 team=0"]);
    // On the other team, or none: she is ordered back.
    let number = stage.server.number("Ann2").unwrap();
    stage.server.execute(&format!("forceteam {number} blue"));
    stage.run(5_000);
    assert!(
        stage.teams().contains(&("Ann2".into(), 1)),
        "{:?}",
        stage.teams()
    );
    stage.server.disconnect(number);
    stage.run(700_000);
    assert_eq!(stage.sent(), ["LEAVE ann"]);
    // She has been here before, so that her pass is still good.
    stage.server.connect("Ann", "aa");
    stage.run(5_000);
    assert_eq!(stage.sent(), ["JOIN ann name=Ann team=0"]);
    let mut stage = Stage::ready();
    stage.push(SESSION);
    stage.run(605_000);
    stage.server.connect("Ann", "aa");
    stage.run(5_000);
    assert!(stage.teams().is_empty(), "{:?}", stage.teams());
}

#[test]
fn strangers_may_watch() {
    let settings = AgentSettings {
        strangers_watch: true,
        lock: None,
        ..settings()
    };
    let mut stage = Stage::with(settings);
    stage.connect("new");
    stage.run(11_000);
    stage.push(SESSION);
    stage.run(4_000);
    (
        stage.server.connect("Ann", "aa"),
        stage.server.connect("Bob", "bb"),
    );
    let eve = stage.server.connect("Eve", "").unwrap();
    stage.server.add("Sarge", "", 2, true);
    stage.server.execute(&format!("forceteam {eve} red"));
    stage.run(8_000);
    let teams = [("Ann", 1), ("Bob", 2), ("Eve", 3)].map(|(name, team)| (name.to_owned(), team));
    assert_eq!(stage.teams(), teams);
    // A stranger who then sets a pass is a player.
    assert!(stage.sent().contains(&"START".to_owned()));
}

#[test]
fn a_match_that_is_closed_or_not_sent_again_is_dropped() {
    let mut stage = Stage::ready();
    stage.push(SESSION);
    stage.run(4_000);
    stage.server.connect("Ann", "aa");
    stage.run(2_000);
    stage.push("CLOSE 7 not-started");
    stage.run(3_000);
    assert!(stage.teams().is_empty());
    let mut stage = Stage::ready();
    stage.push(SESSION);
    stage.run(4_000);
    stage.disconnect();
    stage.connect("new");
    stage.sent.clear();
    stage.run(12_000);
    assert!(
        stage
            .reports
            .iter()
            .any(|text| text.contains("not hosted here"))
    );
    // START is refused: another instance has the match.
    let mut stage = Stage::playing();
    let lines = stage.sent.len();
    stage.push("CLOSE 9 lost");
    stage.run(500);
    assert_eq!(stage.sent.len(), lines, "another match");
}

#[test]
fn an_error_refuses_the_request_before_its_pong() {
    let mut stage = Stage::ready();
    stage.push(SESSION);
    let (mut acts, now) = (Vec::new(), stage.now + 5_000);
    for at in (stage.now..now).step_by(100) {
        let mut some = Vec::new();
        stage.read_log(&mut some);
        stage.agent.tick(at, &mut some);
        let ready = some.iter().any(|act| format!("{act:?}").contains("Ready"));
        match ready {
            // The answers to READY and to its PING have not come yet.
            true => acts.extend(some),
            false => stage.perform(some),
        }
    }
    assert!(!acts.is_empty());
    stage.now = now;
    let text = format!("{acts:?}");
    let before = text.split("Ready").next().unwrap().matches("Ping").count();
    (0..before).for_each(|_| stage.reply("PONG"));
    stage.reply("ERROR not-allowed this instance does not host the match");
    stage.run(200);
    assert_eq!(stage.sent(), ["LOAD 1", "LOAD 0"], "the match is dropped");
}

proptest! {
    #[test]
    fn nothing_that_comes_in_is_too_strange(
        lines in prop::collection::vec(any::<Vec<u8>>(), 0..8),
        answer in any::<Vec<u8>>(),
        push in "[A-Z]{0,8} [ -~]{0,40}",
    ) {
        let mut stage = Stage::playing();
        let (mut acts, now) = (Vec::new(), stage.now);
        for line in &lines {
            stage.agent.log_line(line, now, &mut acts);
        }
        for id in 0..40 {
            stage.agent.answer(id, Some(&answer), now, &mut acts);
        }
        stage.agent.push(&Push::new(push), now, &mut acts);
        stage.perform(acts);
        stage.run(3_000);
    }
}
