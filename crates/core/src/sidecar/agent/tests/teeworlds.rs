//! An agent of a Teeworlds server, with lines as the server prints them.

use bytes::{Bytes, BytesMut};

use super::super::{Act, Agent, AgentMatch};
use crate::{
    protocol::{Push, Received, ReplyReader},
    sidecar::{
        Sidecar,
        agent::AgentSettings,
        teeworlds::{TeeworldsHost, host_limit, host_mode},
    },
};

const SESSION: &str =
    "SESSION 7 duel ctf arena 2\nJOIN ann team=0 pass=aa\nJOIN bob team=1 pass=bb";
/// What the server prints once it has been prepared for match 7 and has loaded its map.
const LOADED: &str = "[20:06:10][server]: cid=0 cmd='sv_scorelimit 100'\n\
    [20:06:10][server]: cid=0 cmd='sv_timelimit 10'\n\
    [20:06:10][server]: cid=0 cmd='echo evenkeel_match 7'\n\
    [20:06:10][Console]: evenkeel_match 7\n\
    [20:06:10][server]: maps/arena.map sha256 is c3f4";
const ENTER: &str = "[20:06:12][game]: team_join player='0:ann' team=1\n\
    [20:06:12][game]: team_join player='1:bob' team=1";
const ORDERED: &str = "[20:06:13][game]: team_join player='0:ann' team=1->0";
const START: &str = "[20:06:20][game]: start match type='CTF' teamplay='1'";
const CAPTURE: &str = "[20:06:30][game]: flag_grab player='1:bob' team=1\n\
    [20:06:33][game]: flag_capture player='1:bob' team=1 time=3.36";

/// An agent whose daemon and game server answer at once.
struct Scene {
    agent: Agent<TeeworldsHost>,
    now: u64,
    sent: Vec<String>,
    commands: Vec<String>,
    kept: Option<AgentMatch>,
}

fn agent() -> Agent<TeeworldsHost> {
    let settings = AgentSettings {
        modes: vec![host_mode("ctf").unwrap()],
        maps: vec!["arena".into(), "ctf5".into()],
        limits: vec![host_limit("score=100").unwrap()],
        ..super::settings()
    };
    Agent::new(TeeworldsHost::default(), settings)
}

impl Scene {
    /// An agent that has sent INSTANCE, and was sent SESSION.
    fn asked() -> Self {
        let mut scene = Self {
            agent: agent(),
            now: 1_000,
            sent: vec![],
            commands: vec![],
            kept: None,
        };
        scene.connect("new");
        scene.run(11_000);
        for line in SESSION.lines() {
            let mut acts = Vec::new();
            let push = Push::new(line.to_owned());
            scene.agent.push(&push, scene.now, &mut acts);
            scene.perform(acts);
        }
        scene.sent.clear();
        scene.commands.clear();
        scene.run(4_000);
        scene
    }

    /// A match whose players are on their teams.
    fn gathered() -> Self {
        let mut scene = Self::asked();
        for lines in [LOADED, ENTER, ORDERED] {
            scene.log(lines);
            scene.run(3_000);
        }
        scene
    }

    fn connect(&mut self, resumed: &str) {
        let mut acts = Vec::new();
        self.agent.connected(self.now, &mut acts);
        self.perform(acts);
        self.reply(&format!("HELLO evenkeel/0.1.0 protocol/1 {resumed}"));
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

    fn log(&mut self, lines: &str) {
        for line in lines.lines() {
            let mut acts = Vec::new();
            self.agent.log_line(line.as_bytes(), self.now, &mut acts);
            self.perform(acts);
        }
    }

    fn run(&mut self, millis: u64) {
        for _ in 0..millis / 100 {
            self.now += 100;
            let mut acts = Vec::new();
            self.agent.tick(self.now, &mut acts);
            self.perform(acts);
        }
    }

    fn perform(&mut self, acts: Vec<Act>) {
        for act in acts {
            match act {
                Act::Send(request) => {
                    let mut line = BytesMut::new();
                    request.encode(&mut line);
                    let line = String::from_utf8_lossy(&line).trim_end().to_owned();
                    match line.as_str() {
                        "PING" => self.reply("PONG"),
                        _ => self.sent.push(line),
                    }
                }
                Act::Console(commands) => self.commands.extend(commands),
                Act::Ask { id, command } => {
                    if !command.starts_with("sv_max_clients") {
                        self.commands.push(command);
                    }
                    let mut acts = Vec::new();
                    self.agent
                        .answer(id, Some(b"Value: arena"), self.now, &mut acts);
                    self.perform(acts);
                }
                Act::Keep(kept) => self.kept = kept,
                Act::Report(_) => {}
            }
        }
    }

    fn done(&mut self) -> (Vec<String>, Vec<String>) {
        use std::mem::take;
        (take(&mut self.sent), take(&mut self.commands))
    }
}

#[test]
fn a_match_from_session_to_end() {
    let mut scene = Scene::asked();
    let (sent, commands) = scene.done();
    assert_eq!(sent, ["LOAD 1"]);
    let last = [
        "password \"\"",
        "sv_scorelimit 100",
        "sv_gametype ctf",
        "sv_scorelimit",
        "sv_timelimit",
        "echo evenkeel_match 7",
        "sv_map arena; reload; sv_map",
    ];
    assert_eq!(commands[commands.len() - last.len()..], last);
    scene.log(LOADED);
    scene.run(500);
    assert_eq!(scene.done().0, ["READY 7"]);
    scene.log(ENTER);
    scene.log("[20:06:12][game]: team_join player='2:eve' team=0");
    scene.run(3_000);
    let (sent, commands) = scene.done();
    assert_eq!(
        sent,
        ["JOIN ann name=ann team=0", "JOIN bob name=bob team=1"]
    );
    let ordered = ["set_team 0 0", "kick 2 \"you are in no match here\""];
    assert_eq!(commands[..2], ordered);
    scene.log("[20:06:13][server]: client dropped. cid=2 addr=127.0.0.1:1 reason='Kicked'");
    scene.log(ORDERED);
    scene.run(2_000);
    let say = "say Evenkeel: all players are here, match 7 begins";
    assert_eq!(scene.done().1, [say, "restart 5"]);
    scene.log(START);
    scene.run(500);
    let began = [
        "START",
        "JOIN ann team=0",
        "JOIN bob team=1",
        "SCORE 0 total=0",
        "SCORE 1 total=0",
    ];
    assert_eq!(scene.done().0, began);
    scene.log(CAPTURE);
    scene.run(3_000);
    let ended = [
        "SCORE 1 1 bob",
        "SCORE 1 100 bob",
        "SCORE 0 total=0",
        "SCORE 1 total=101",
        "POINTS ann 0",
        "POINTS bob 6",
        "END 1",
    ];
    assert_eq!(scene.done().0, ended);
    scene.reply("END 7 recorded");
    scene.log("[20:06:43][game]: start match type='CTF' teamplay='1'");
    scene.run(12_000);
    let (sent, commands) = scene.done();
    assert_eq!(
        (sent, scene.kept.is_some()),
        (vec!["LOAD 0".to_owned()], false)
    );
    assert!(
        commands.contains(&"password \"nobody-knows\"".to_owned()),
        "{commands:?}"
    );
    assert!(
        commands.contains(&"echo evenkeel_match none".to_owned()),
        "{commands:?}"
    );
}

#[test]
fn who_has_a_name_first_is_the_player() {
    let mut scene = Scene::gathered();
    scene.done();
    scene.log("[20:06:15][game]: team_join player='5:ann' team=0");
    scene.run(3_000);
    let (sent, commands) = scene.done();
    assert!(
        commands.contains(&"kick 5 \"you are in no match here\"".to_owned()),
        "{commands:?}"
    );
    assert!(!sent.iter().any(|line| line.contains("ann")), "{sent:?}");
    scene.log("[20:06:15][server]: client dropped. cid=5 addr=127.0.0.1:1 reason='Kicked'");
    scene.log("[20:06:16][server]: client dropped. cid=0 addr=127.0.0.1:1 reason=''");
    scene.log("[20:06:18][game]: team_join player='0:ann' team=0");
    scene.run(3_000);
    assert_eq!(scene.done().0, ["LEAVE ann", "JOIN ann name=ann team=0"]);
}

#[test]
fn a_map_that_the_server_does_not_have_is_refused() {
    let mut scene = Scene::asked();
    scene.done();
    scene.log("[20:06:10][server]: failed to load map. mapname='arena'");
    scene.run(500);
    let sent = scene.done().0;
    assert!(
        sent[0].starts_with("REFUSE 7 ") && sent[0].contains("does not have the map"),
        "{sent:?}"
    );
}

#[test]
fn an_agent_that_is_killed_in_a_match_takes_it_over() {
    let mut scene = Scene::gathered();
    scene.log(START);
    scene.run(500);
    let kept = scene.kept.clone().unwrap();
    scene.agent = agent();
    for lines in [LOADED, ENTER, ORDERED, START] {
        scene.log(lines);
    }
    let text = serde_json::to_string(&kept).unwrap();
    scene.agent.restore(serde_json::from_str(&text).unwrap());
    scene.done();
    scene.connect("resumed");
    scene.run(4_000);
    scene.log(CAPTURE);
    scene.run(3_000);
    let sent = scene.done().0;
    for line in [
        "JOIN ann name=ann team=0",
        "SCORE 0 total=0",
        "SCORE 1 100 bob",
        "END 1",
    ] {
        assert!(sent.iter().any(|sent| sent == line), "{line}: {sent:?}");
    }
    assert!(
        !sent
            .iter()
            .any(|line| line == "START" || line.starts_with("LEAVE")),
        "{sent:?}"
    );
}

#[test]
fn another_map_or_another_server_is_not_the_match() {
    let mut scene = Scene::gathered();
    scene.log(START);
    scene.run(500);
    scene.done();
    scene.log("[20:06:40][server]: maps/arena.map sha256 is c3f4");
    scene.run(1_000);
    assert_eq!(scene.done().0, ["GAME none", "LOAD 0"]);
}
