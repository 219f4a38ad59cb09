//! An agent of a Teeworlds server whose daemon and game server answer at once, with lines as the server prints them.

use super::{
    super::{Act, Agent, AgentMatch},
    reply,
};
use crate::{
    Sidecar,
    agent::AgentSettings,
    follower::testing::line,
    teeworlds::{TeeworldsHost, host_limit, host_mode},
};
use evenkeel_protocol::Push;

const SESSION: &str =
    "SESSION 7 duel ctf arena 2\nJOIN ann team=0 pass=aa\nJOIN bob team=1 pass=bb";
/// What the server prints once it has been prepared for match 7 and has loaded its map.
pub(super) const LOADED: &str = "[20:06:10][server]: cid=0 cmd='sv_scorelimit 100'\n\
    [20:06:10][server]: cid=0 cmd='sv_timelimit 10'\n\
    [20:06:10][server]: cid=0 cmd='echo evenkeel_match 7'\n\
    [20:06:10][Console]: evenkeel_match 7\n\
    [20:06:10][server]: maps/arena.map sha256 is c3f4";
pub(super) const ENTER: &str = "[20:06:12][game]: team_join player='0:ann' team=1\n\
    [20:06:12][game]: team_join player='1:bob' team=1";
pub(super) const ORDERED: &str = "[20:06:13][game]: team_join player='0:ann' team=1->0";
pub(super) const START: &str = "[20:06:20][game]: start match type='CTF' teamplay='1'";
pub(super) const CAPTURE: &str = "[20:06:30][game]: flag_grab player='1:bob' team=1\n\
    [20:06:33][game]: flag_capture player='1:bob' team=1 time=3.36";

/// An agent whose daemon and game server answer at once.
pub(super) struct Scene {
    pub(super) agent: Agent<TeeworldsHost>,
    pub(super) now: u64,
    sent: Vec<String>,
    commands: Vec<String>,
    pub(super) kept: Option<AgentMatch>,
}

pub(super) fn agent() -> Agent<TeeworldsHost> {
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
    pub(super) fn asked() -> Self {
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
    pub(super) fn gathered() -> Self {
        let mut scene = Self::asked();
        for lines in [LOADED, ENTER, ORDERED] {
            scene.log(lines);
            scene.run(3_000);
        }
        scene
    }

    pub(super) fn connect(&mut self, resumed: &str) {
        let mut acts = Vec::new();
        self.agent.connected(self.now, &mut acts);
        self.perform(acts);
        self.reply(&format!("HELLO evenkeel/0.1.0 protocol/1 {resumed}"));
    }

    pub(super) fn reply(&mut self, line: &str) {
        let mut acts = Vec::new();
        self.agent.reply(reply(line), self.now, &mut acts);
        self.perform(acts);
    }

    pub(super) fn log(&mut self, lines: &str) {
        for line in lines.lines() {
            let mut acts = Vec::new();
            self.agent.log_line(line.as_bytes(), self.now, &mut acts);
            self.perform(acts);
        }
    }

    pub(super) fn run(&mut self, millis: u64) {
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
                    let line = line(&request);
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

    pub(super) fn done(&mut self) -> (Vec<String>, Vec<String>) {
        use std::mem::take;
        (take(&mut self.sent), take(&mut self.commands))
    }
}
