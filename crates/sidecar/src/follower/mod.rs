//! Follows the games of one server and moves its players, for any engine: the engine turns log lines into calls of
//! [`FollowedServer`], and [`Follower`] decides.
//!
//! `events` handles what happens in a game, its scores and its end. `decide` handles the daemon's replies: players are asked
//! before one is moved in play, and after a streak teams are chosen anew. `server` is the
//! state of the server and its game, and recognises teams that exchange their sides; `roster` is the players. `orders` formats
//! moves by the operator's templates.
//!
//! A *side* is a side of the map, as the log names it; a *team* is a team of the daemon. They are
//! the same until the teams exchange their sides.

mod decide;
mod events;
mod orders;
mod roster;
mod server;
#[cfg(test)]
pub(super) mod testing;

pub(super) use orders::TeamWord;
pub use orders::{CommandTemplate, TemplateCommands};
pub use server::FollowedServer;
pub(super) use server::{LogTime, OpeningTime};

use evenkeel_ingest::live::Doubled;
use evenkeel_protocol::{Push, Reply, Request, request::Charge};

use crate::{
    Act, ChatSettings, ConsoleQueue, Sidecar, balancing_window::WindowStep, engine::Engine,
};

/// The time that a move during play may take, in milliseconds. After it, the sidecar sends the
/// daemon the player's actual team.
const DOUBT: u64 = 5_000;

/// The sidecar of one game server.
pub struct Follower<E> {
    engine: E,
    server: FollowedServer,
    console: ConsoleQueue,
    doubled: Doubled,
}

impl<E: Engine> Follower<E> {
    /// A sidecar that has read no log and has no connection.
    pub fn new(engine: E, settings: FollowerSettings) -> Self {
        Self {
            engine,
            server: FollowedServer::new(settings, E::TEAM_NAMES, E::BETWEEN_GAMES),
            console: ConsoleQueue::new(E::COMMAND_PAUSE),
            doubled: Doubled::default(),
        }
    }

    /// A sidecar that states where its game server is: the daemon then refuses a second one of the same game server.
    #[must_use]
    pub fn with_source(mut self, source: String) -> Self {
        self.server.source = Some(source);
        self
    }

    /// A sidecar that asks the daemon for teams, and reports nothing of what happens.
    #[must_use]
    pub fn without_reports(mut self) -> Self {
        self.server.reports = false;
        self
    }

    /// Whether teams may be chosen now: the phase of the game allows it, and it is a team game.
    fn is_balancing_window(&self) -> bool {
        let game = self.server.game.as_ref();
        game.is_some_and(|game| {
            game.logged.setup.teams && self.engine.may_choose_teams(game.logged.phase())
        })
    }

    /// Does something at this time of the caller's clock, and appends the acts.
    fn at(&mut self, now: u64, acts: &mut Vec<Act>, work: impl FnOnce(&mut Self)) {
        self.server.now = now;
        std::mem::swap(&mut self.server.acts, acts);
        work(self);
        std::mem::swap(&mut self.server.acts, acts);
        if !self.server.reports {
            acts.retain(|act| !is_report(act));
        }
    }

    /// Lets time pass for everything but the engine.
    fn pass_time(&mut self) {
        self.server.settle_results();
        if self.server.link.connected {
            self.tick_connected();
        }
        self.send_commands();
    }

    fn tick_connected(&mut self) {
        let server = &mut self.server;
        if server
            .doubt
            .is_some_and(|since| server.now >= since.saturating_add(DOUBT))
        {
            server.doubt = None;
            server.send_real_teams();
        }
        if server.tick_chat() {
            self.rebalance_as_voted();
        }
        self.make_offered_moves();
        self.end_streak();
        if self.is_balancing_window() {
            self.choose_teams();
        }
        self.server
            .link
            .keep_alive(self.server.now, &mut self.server.acts);
    }

    /// A vote has passed: asks for the fewest moves that balance the teams.
    fn rebalance_as_voted(&mut self) {
        self.server.send_real_teams();
        let (seed, ask) = (None, !(self.server.asks() && self.is_balancing_window()));
        self.server.send(Request::Rebalance { seed, ask });
        self.server.voted = true;
        if self.is_balancing_window() {
            self.server.send(Request::Bots);
            let present = self.server.joined();
            self.server.window.ask(present);
        }
    }

    /// In a balancing window: asks for teams, or orders the moves to the chosen ones.
    fn choose_teams(&mut self) {
        let server = &mut self.server;
        let present = server.joined();
        match server
            .window
            .step(&present, server.settings.settle, server.now)
        {
            WindowStep::Wait => {}
            WindowStep::Ask { first: true } => {
                let (top, seed) = (None, None);
                server.send(Request::Balance { top, seed });
                server.window.ask(present);
            }
            WindowStep::Ask { first: false } => {
                server.send_real_teams();
                let (seed, ask) = (None, !server.asks());
                server.send(Request::Rebalance { seed, ask });
                server.send(Request::Bots);
                server.window.ask(present);
            }
            WindowStep::Compare => self.compare(),
        }
    }

    /// Sends the game server the commands and the lines of the chat that wait, if it is their turn.
    fn send_commands(&mut self) {
        if self.console.is_free(self.server.now) {
            let lines = self.server.chat.take_lines();
            let lines = lines.iter().map(|line| self.engine.chat_command(line));
            self.console
                .send(lines.collect(), self.server.now, &mut self.server.acts);
        }
    }
}

/// Whether the daemon is sent what happens in play.
fn is_report(act: &Act) -> bool {
    matches!(act, Act::Send(request) if request.demand().charge == Charge::Report)
}

impl<E: Engine> Sidecar for Follower<E> {
    fn connected(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.at(now, acts, |this| this.server.connected());
    }

    fn disconnected(&mut self) {
        self.server.disconnected();
    }

    fn log_line(&mut self, line: &[u8], now: u64, acts: &mut Vec<Act>) {
        if self.doubled.is_copy(line) {
            return;
        }
        self.at(now, acts, |this| {
            this.engine.log_line(line, &mut this.server)
        });
    }

    fn reply(&mut self, reply: Reply, now: u64, acts: &mut Vec<Act>) {
        self.at(now, acts, |this| {
            this.take_reply(reply);
            this.send_commands();
        });
    }

    fn push(&mut self, push: &Push, now: u64, acts: &mut Vec<Act>) {
        self.at(now, acts, |this| {
            this.take_push(push);
            this.send_commands();
        });
    }

    fn tick(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.at(now, acts, |this| {
            this.engine.tick(&mut this.server);
            this.pass_time();
        });
    }
}

/// The operator's settings of a follower. Times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowerSettings {
    /// The name of the game server in HELLO.
    pub server: String,
    /// The token of the game server, if the daemon requires one.
    pub token: Option<String>,
    /// Whether bots are sent to the daemon as humans, and placed one by one. Otherwise the daemon
    /// decides how many bots belong on each team.
    pub bots_as_players: bool,
    /// Whether players may be moved during play.
    pub auto_balance: bool,
    /// How long no player must have joined or left before teams are chosen.
    pub settle: u64,
    /// The most times, at least 1, that a move is ordered if it does not take effect.
    pub attempts: u32,
    /// Which commands of players are answered.
    pub chat: ChatSettings,
}
