//! Plays games through a sidecar without sockets, for tests.

use bytes::{Bytes, BytesMut};

use super::{CommandTemplate, Follower, FollowerSettings, TemplateCommands};
use crate::{Act, ChatSettings, Sidecar, engine::Engine};
use evenkeel_protocol::{Received, ReplyReader, Request};

/// The settings that tests begin with.
pub(crate) fn settings() -> FollowerSettings {
    FollowerSettings {
        server: "test".into(),
        token: None,
        bots_as_players: false,
        auto_balance: false,
        settle: 1_000,
        attempts: 2,
        chat: ChatSettings::default(),
    }
}

/// Commands by this template.
pub(crate) fn commands(move_command: &str) -> TemplateCommands {
    TemplateCommands {
        move_command: CommandTemplate::of_move(move_command).unwrap(),
        bots_command: None,
    }
}

/// Commands by this template, and one that sets the number of bots.
pub(crate) fn bot_commands(move_command: &str, bots_command: &str) -> TemplateCommands {
    TemplateCommands {
        bots_command: Some(CommandTemplate::of_bots(bots_command).unwrap()),
        ..commands(move_command)
    }
}

/// A sidecar with a clock that the test sets.
pub(crate) struct Play<E> {
    pub(crate) sidecar: Follower<E>,
    replies: ReplyReader,
    pub(crate) now: u64,
    pub(crate) acts: Vec<Act>,
}

/// The line of a request, without its end.
pub(crate) fn line(request: &Request) -> String {
    let mut line = BytesMut::new();
    request.encode(&mut line);
    String::from_utf8_lossy(&line)
        .trim_end_matches('\n')
        .to_owned()
}

impl<E: Engine> Play<E> {
    /// A sidecar that has just connected.
    pub(crate) fn new(engine: E, settings: FollowerSettings) -> Self {
        let mut play = Self::offline(engine, settings);
        play.sidecar.connected(0, &mut play.acts);
        play
    }

    pub(crate) fn offline(engine: E, settings: FollowerSettings) -> Self {
        Self {
            sidecar: Follower::new(engine, settings),
            replies: ReplyReader::default(),
            now: 0,
            acts: Vec::new(),
        }
    }

    pub(crate) fn log(&mut self, text: &str) {
        for line in text.lines() {
            self.sidecar
                .log_line(line.as_bytes(), self.now, &mut self.acts);
        }
    }

    pub(crate) fn wait(&mut self, millis: u64) {
        self.now += millis;
        self.sidecar.tick(self.now, &mut self.acts);
    }

    pub(crate) fn reply(&mut self, text: &str) {
        for line in text.lines() {
            let line = Bytes::copy_from_slice(line.as_bytes());
            match self.replies.line(line) {
                Ok(Some(Received::Reply(reply))) => {
                    self.sidecar.reply(reply, self.now, &mut self.acts);
                }
                Ok(Some(Received::Push(push))) => {
                    self.sidecar.push(&push, self.now, &mut self.acts);
                }
                _ => {}
            }
        }
    }

    /// The acts since the last call, one line each.
    pub(crate) fn done(&mut self) -> Vec<String> {
        let shown = |act: Act| match act {
            Act::Send(request) => vec![line(&request)],
            Act::Console(commands) => commands.iter().map(|c| format!("# {c}")).collect(),
            Act::Report(text) => vec![format!("* {text}")],
            other => unreachable!("{other:?} is for agents"),
        };
        self.acts.drain(..).flat_map(shown).collect()
    }
}
