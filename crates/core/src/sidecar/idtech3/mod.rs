//! The sidecar for id Tech 3: Quake III Arena, OpenArena, Urban Terror and their relatives.
//!
//! `log` handles events of the log, `decide` the daemon's replies, `chat` the commands of players.
//! `game` is the state of the game, `slots` maps client numbers to players, `commands` formats
//! console commands, `console` sends them.

pub mod agent;
mod chat;
mod commands;
mod console;
mod decide;
mod game;
mod log;
mod settings;
mod slots;
#[cfg(test)]
mod tests;

pub use commands::SpareBot;
pub use settings::Settings;

use super::{
    Act, Sidecar,
    chat::Chat,
    link::DaemonLink,
    lull::{Lull, LullStep},
};
use crate::protocol::{Reply, Request};
use commands::TEAM_NAMES;
use console::ConsoleQueue;
use game::IdTech3Game;
use slots::Slots;

/// The time that a move during play may take, in milliseconds. After it, the sidecar sends the
/// daemon the player's actual team.
const DOUBT: u64 = 5_000;

/// A sidecar for one id Tech 3 game server.
pub struct IdTech3 {
    settings: Settings,
    link: DaemonLink,
    slots: Slots,
    game: Option<IdTech3Game>,
    lull: Lull,
    /// Whether games on this server begin with a warm-up. If so, teams are chosen in it; otherwise,
    /// after the previous game.
    warms_up: bool,
    /// Whether the last announced game was a warm-up.
    warmed: bool,
    /// When the daemon last chose a team during play. Until the sidecar has sent the actual teams again,
    /// the daemon's roster can differ from them.
    doubt: Option<u64>,
    chat: Chat,
    /// Whether players have voted to balance the teams, and the daemon has not replied yet.
    voted: bool,
    console: ConsoleQueue,
}

impl IdTech3 {
    /// A sidecar that has read no log and has no connection.
    pub fn new(settings: Settings) -> Self {
        Self {
            chat: Chat::new(settings.chat, &TEAM_NAMES),
            settings,
            link: DaemonLink::default(),
            slots: Slots::default(),
            game: None,
            lull: Lull::default(),
            warms_up: false,
            warmed: false,
            doubt: None,
            voted: false,
            console: ConsoleQueue::default(),
        }
    }

    /// The identities that the daemon has been sent with JOIN, sorted.
    fn joined(&self) -> Vec<String> {
        let joined = self.slots.entries().filter(|(_, _, entry)| entry.joined);
        let mut joined: Vec<String> = joined.map(|(_, _, entry)| entry.id.clone()).collect();
        joined.sort();
        joined
    }

    /// In a lull, requests teams or orders the moves to the chosen ones.
    fn act_in_lull(&mut self, now: u64, acts: &mut Vec<Act>) {
        let present = self.joined();
        match self.lull.step(&present, self.settings.settle, now) {
            LullStep::Wait => {}
            LullStep::Ask { first: true } => {
                let (top, seed) = (None, None);
                acts.push(Act::Send(Request::Balance { top, seed }));
                self.lull.ask(present);
            }
            LullStep::Ask { first: false } => {
                self.send_real_teams(acts);
                acts.push(Act::Send(Request::Rebalance { seed: None }));
                acts.push(Act::Send(Request::Bots));
                self.lull.ask(present);
            }
            LullStep::Compare => self.compare(now, acts),
        }
    }

    fn tick_connected(&mut self, now: u64, acts: &mut Vec<Act>) {
        if self
            .doubt
            .is_some_and(|since| now >= since.saturating_add(DOUBT))
        {
            self.doubt = None;
            self.send_real_teams(acts);
        }
        self.tick_chat(now, acts);
        if self.is_lull() {
            self.act_in_lull(now, acts);
        }
    }

    /// Sends the game server the commands and the lines of the chat that wait, at most once per second.
    fn send_commands(&mut self, now: u64, acts: &mut Vec<Act>) {
        if self.console.is_free(now) {
            let lines = self.chat.take_lines();
            self.console.send(&lines, now, acts);
        }
    }
}

impl Sidecar for IdTech3 {
    fn connected(&mut self, now: u64, acts: &mut Vec<Act>) {
        let settings = &self.settings;
        self.link
            .open(&settings.server, settings.token.as_deref(), now, acts);
        self.lull = Lull::new(now);
        self.chat.connected(now);
        self.voted = false;
        self.slots.forget_entries();
        if settings.bots_as_players {
            // All bots are sent as players, so the daemon must not add any.
            acts.push(Act::Send(Request::MinPlayers(0)));
        }
        if let Some(game) = &mut self.game {
            game.progress.interrupt();
            game.announce(&mut self.link.outbox(acts));
            for number in 0..self.slots.len() {
                self.update_slot(number, None, now, acts);
            }
        }
    }

    fn disconnected(&mut self) {
        self.link.connected = false;
        self.slots.forget_entries();
        if let Some(game) = &mut self.game {
            game.progress.interrupt();
        }
    }

    fn log_line(&mut self, line: &[u8], now: u64, acts: &mut Vec<Act>) {
        self.read_log_line(line, now, acts);
    }

    fn reply(&mut self, reply: Reply, now: u64, acts: &mut Vec<Act>) {
        self.take_reply(reply, now, acts);
        self.send_commands(now, acts);
    }

    fn tick(&mut self, now: u64, acts: &mut Vec<Act>) {
        if self.link.connected {
            self.tick_connected(now, acts);
            self.link.keep_alive(now, acts);
        }
        self.send_commands(now, acts);
    }
}
