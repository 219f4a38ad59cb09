//! An agent makes an id Tech 3 game server an instance, which hosts matches of Evenkeel's queues.
//!
//! It reads the server's log and drives its console, like the sidecar, and speaks the daemon's verbs
//! for instances. Log lines, replies, answers of the console and the time come in; [`AgentAct`]s come
//! out. A match goes through these states:
//!
//! ```text
//! opening ── the map is up: READY ──▶ joining ── play begins: START ──▶ playing ── END ──▶ over
//!    ▲                                   │                                 │
//!    └── the game server has restarted ──┘                                 └─▶ lost: GAME
//! ```
//!
//! Most decisions are made by comparing what should be with what the log shows, every time
//! [`IdTech3Agent::tick`] is called. So a command, a datagram or a connection that is lost is made up
//! for. The game server itself states in its log which match a game is (`evenkeel_match`), so an agent
//! that is killed and started again finds its game. From START to the answer of END, the match is also
//! kept in a file.
//!
//! `console` limits how often the server is asked, `link` is the connection to the daemon, `seen` is
//! what the log shows, `guests` finds out which client is which player, `hosted` is the match,
//! `steps` moves it from state to state, and `teams` orders who is where.

mod console;
mod guests;
mod hosted;
mod link;
mod seen;
mod settings;
mod steps;
mod teams;
#[cfg(test)]
mod tests;

pub use hosted::AgentMatch;
pub use settings::{AgentSettings, GameMode, Limit, map_name};

use crate::{
    domain::{Ident, LeaveReason},
    ingest::idtech3::grammar::{self, Event},
    protocol::{
        Code, HostPush, HostPushReader, HostRequest, HostSession, Push, Refusal, Reply, Request,
    },
    sidecar::link::recorded_text,
};
use console::{AgentConsole, Question};
use guests::GuestKind;
use hosted::AgentStage;
use link::{AgentLink, Refusable};
use seen::Seen;

/// How long the daemon may take, after INSTANCE, to send SESSION again for a match that it still
/// wants hosted, in milliseconds.
const CONFIRM: u64 = 10_000;
/// How long the game server must not answer before it is started, if the agent can start it: at the
/// beginning, and later, when it may only be loading a map.
const NOT_RUNNING: u64 = 3_000;
const GONE: u64 = 20_000;
/// The most points of players that are kept for the end of a game.
const MAX_POINTS: usize = 256;
/// How the game server answers if it does not have a map.
const NO_MAP: &[u8] = b"Can't find map";

/// Something that the caller has to do for an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentAct {
    /// Send this request to the daemon.
    Send(Request),
    /// Make the game server execute these console commands, in this order.
    Console(Vec<String>),
    /// Make the game server execute this command, and pass its answer to [`IdTech3Agent::answer`].
    Ask {
        /// The number of the question, which is passed back with its answer.
        id: u64,
        /// The console command.
        command: String,
    },
    /// Write this match to the file that survives the agent, before anything that follows is done;
    /// without a match, remove the file.
    Keep(Option<AgentMatch>),
    /// Show this line to the operator.
    Report(String),
}

/// The agent of one game server. `now` is the caller's clock in milliseconds, which never runs
/// backwards. Methods append acts to `acts`, in the order in which to do them.
pub struct IdTech3Agent {
    settings: AgentSettings,
    link: AgentLink,
    console: AgentConsole,
    seen: Seen,
    pushes: HostPushReader,
    hosted: Option<AgentMatch>,
    /// Whether the daemon's session has a game. It is that of the match, if there is one.
    has_game: bool,
    /// Until when the daemon may send SESSION again for a match that was hosted before.
    confirm_by: Option<u64>,
    /// When the game server is cleared after a match; `None` if it is clear.
    clear_at: Option<u64>,
    /// When the next match may be opened: players see the results of the last one until then.
    free_at: u64,
}

impl IdTech3Agent {
    /// An agent that has read no log and has no connection.
    pub fn new(settings: AgentSettings) -> Self {
        Self {
            settings,
            link: AgentLink::default(),
            console: AgentConsole::new(),
            seen: Seen::default(),
            pushes: HostPushReader::default(),
            hosted: None,
            has_game: false,
            confirm_by: None,
            clear_at: Some(0),
            free_at: 0,
        }
    }

    /// Goes on with the match that an earlier agent has kept. Call it after the existing log was
    /// read, and before the first connection.
    pub fn restore(&mut self, kept: AgentMatch) {
        self.hosted = Some(kept).filter(AgentMatch::is_sound);
    }

    /// Call it for each new connection to the daemon.
    pub fn connected(&mut self, now: u64, acts: &mut Vec<AgentAct>) {
        self.link.open(&self.settings, now, acts);
        self.pushes = HostPushReader::default();
        self.has_game = false;
        if let Some(hosted) = &mut self.hosted {
            (hosted.confirmed, hosted.synced, hosted.ended) = (false, false, None);
            hosted.leavers_sent = false;
        }
    }

    /// Call it when the connection to the daemon has ended.
    pub fn disconnected(&mut self) {
        self.link.close();
        if let Some(hosted) = &mut self.hosted {
            hosted.synced = false;
        }
    }

    /// Call it for each reply of the daemon.
    pub fn reply(&mut self, reply: Reply, now: u64, acts: &mut Vec<AgentAct>) {
        match reply {
            Reply::Hello { resumed, .. } => {
                self.link.greet();
                self.has_game = resumed == Some(true);
                if self.stage() == Some(AgentStage::Playing) && !self.has_game {
                    self.report("the daemon has lost the game: ingest its log", acts);
                    self.leave(now, acts);
                }
            }
            Reply::Pong => self.link.pong(),
            Reply::End { id, unrated } => {
                acts.push(AgentAct::Report(recorded_text(id, unrated)));
                if self.stage() == Some(AgentStage::Over) {
                    self.leave(now.saturating_add(self.settings.intermission), acts);
                }
            }
            Reply::Error(refusal) => self.refused(&refusal, now, acts),
            _ => {}
        }
    }

    /// Handles an error: drops the match if the daemon does not want it hosted here any more.
    fn refused(&mut self, refusal: &Refusal, now: u64, acts: &mut Vec<AgentAct>) {
        self.report(&format!("the daemon refused a request: {refusal}"), acts);
        let current = self.hosted.as_ref().map(|hosted| hosted.id);
        match self.link.refused() {
            Refusable::Ready(id) | Refusable::Start(id) if current == Some(id) => {
                self.leave(now, acts);
            }
            // A match that is only kept so far is recorded later: END is sent again.
            Refusable::End(id) if current == Some(id) && refusal.code != Code::Internal => {
                self.leave(now.saturating_add(self.settings.intermission), acts);
            }
            _ => {}
        }
    }

    /// Call it for each line that the daemon sends without a request.
    pub fn push(&mut self, push: &Push, now: u64, acts: &mut Vec<AgentAct>) {
        match self.pushes.push(push) {
            Ok(Some(HostPush::Session(session))) => self.take_session(session, now, acts),
            Ok(Some(HostPush::Close { id, why })) => {
                let current = self.hosted.as_ref().map(|hosted| hosted.id);
                if current == Some(id) && self.stage() != Some(AgentStage::Over) {
                    self.report(&format!("match {id} is closed: {why}"), acts);
                    self.leave(now, acts);
                }
            }
            Ok(None) => {}
            Err(refusal) => self.report(&format!("the daemon sent nonsense: {refusal}"), acts),
        }
    }

    fn take_session(&mut self, session: HostSession, now: u64, acts: &mut Vec<AgentAct>) {
        self.confirm_by = None;
        let id = session.id;
        if let Some(hosted) = self.hosted.as_mut().filter(|hosted| hosted.id == id) {
            // START has not reached the daemon, or nothing has that was sent on the last connection.
            if hosted.is_kept() {
                acts.push(AgentAct::Keep(None));
            }
            hosted.renew(session);
            hosted.reopen();
            hosted.confirmed = true;
            return;
        }
        if let Some(hosted) = &self.hosted {
            let text = format!("match {} is dropped for match {id}", hosted.id);
            self.report(&text, acts);
            self.leave(now, acts);
        }
        match AgentMatch::of(session, &self.settings, self.seen.map()) {
            Ok(hosted) => {
                let (players, map) = (hosted.seats.len(), &hosted.map);
                let text = format!("match {id}: {players} players on {map}");
                self.report(&text, acts);
                self.forget_players();
                (self.hosted, self.clear_at) = (Some(hosted), None);
            }
            Err(reason) => self.send_refusal(id, &reason, acts),
        }
    }

    /// Call it for each line of the game server's log, without its line end.
    pub fn log_line(&mut self, line: &[u8], now: u64, acts: &mut Vec<AgentAct>) {
        let Ok(Some((at, event))) = grammar::read(line, true) else {
            return;
        };
        match event {
            Event::InitGame(info) => {
                self.finish_if_over(true, now, acts);
                self.seen.begin(info, at, now);
            }
            Event::Shutdown => {
                self.finish_if_over(true, now, acts);
                self.seen.take(event, at, now);
            }
            Event::Disconnect(number) => {
                self.seen.slots.remove(number);
                if let Some(GuestKind::Player(seat)) = self.seen.guests.left(number) {
                    self.report_departure(seat, acts);
                }
            }
            event => {
                let requests = self.seen.take(event, at, now);
                self.forward(requests, acts);
            }
        }
    }

    /// Passes on what has happened in play.
    fn forward(&mut self, requests: Vec<Request>, acts: &mut Vec<AgentAct>) {
        let Some(hosted) = &mut self.hosted else {
            return;
        };
        if hosted.stage != AgentStage::Playing || self.seen.game_of(hosted.id).is_none() {
            return;
        }
        for request in requests {
            match request {
                Request::Points { .. } if hosted.points.len() < MAX_POINTS => {
                    hosted.points.push(request);
                }
                Request::Score { .. } | Request::Kill { .. } if hosted.synced => {
                    self.link.send(request, acts);
                }
                _ => {}
            }
        }
    }

    /// Call it with the answer to a question, or with `None` if there is none.
    pub fn answer(&mut self, id: u64, text: Option<&[u8]>, now: u64, acts: &mut Vec<AgentAct>) {
        let question = self.console.answer(id, text, acts);
        let (Some(question), Some(text)) = (question, text) else {
            return;
        };
        match question {
            Question::Load(id) if text.starts_with(NO_MAP) => {
                if self.hosted.as_ref().is_some_and(|hosted| hosted.id == id) {
                    self.refuse("the game server does not have the map", now, acts);
                }
            }
            Question::Guest(number, visit) => self.recognise(number, visit, text, now, acts),
            Question::Alive | Question::Load(_) => {}
        }
    }

    /// Call it when the game server's process has ended.
    pub fn server_ended(&mut self, now: u64, acts: &mut Vec<AgentAct>) {
        self.finish_if_over(true, now, acts);
        self.console.reset(now);
        self.seen.clear();
        if let Some(hosted) = &mut self.hosted
            && matches!(hosted.stage, AgentStage::Opening | AgentStage::Joining)
        {
            hosted.reopen();
        }
    }

    /// Whether the game server has to be started, if it does not run: it does not answer.
    pub fn needs_server(&self, now: u64) -> bool {
        let limit = match self.console.has_answered() {
            true => GONE,
            false => NOT_RUNNING,
        };
        self.console.silent_for(now) >= limit
    }

    /// For how long the game server has not answered, in milliseconds.
    pub fn silent_for(&self, now: u64) -> u64 {
        self.console.silent_for(now)
    }

    /// Call it several times per second, to let time pass.
    pub fn tick(&mut self, now: u64, acts: &mut Vec<AgentAct>) {
        self.step(now, acts);
        self.console.flush(now, acts);
        self.link.state_load(self.hosted.is_some(), acts);
        self.link.keep_alive(now, acts);
    }

    /// Call it before the agent ends. A match that has not begun goes to another instance. A game in
    /// play goes on, and another agent can take it over, unless the game server ends, too.
    pub fn stop(&mut self, server_ends: bool, acts: &mut Vec<AgentAct>) {
        match self.hosted.as_ref().map(|hosted| (hosted.id, hosted.stage)) {
            Some((id, AgentStage::Opening | AgentStage::Joining)) => {
                self.send_refusal(id, "the agent stops", acts);
            }
            Some((_, AgentStage::Playing)) if server_ends => {
                self.lose("the game server is stopped", acts);
                self.give_up(0, acts);
            }
            Some(_) => return,
            None => {}
        }
        if self.settings.lock.is_some() {
            let unlock = "set g_password \"\"".to_owned();
            acts.push(AgentAct::Console(vec![unlock]));
        }
    }

    fn stage(&self) -> Option<AgentStage> {
        self.hosted.as_ref().map(|hosted| hosted.stage)
    }

    /// Gives the match to another instance, before START.
    fn refuse(&mut self, reason: &str, now: u64, acts: &mut Vec<AgentAct>) {
        if let Some(hosted) = &self.hosted {
            self.send_refusal(hosted.id, reason, acts);
            self.leave(now, acts);
        }
    }

    fn send_refusal(&mut self, id: i64, reason: &str, acts: &mut Vec<AgentAct>) {
        self.report(&format!("match {id} is refused: {reason}"), acts);
        let reason = Ident::from_text(reason);
        let refuse = HostRequest::Refuse { id, reason };
        self.link.send(Request::Host(refuse), acts);
    }

    /// Hosts no match any more. The game server is cleared at `clear_at`.
    fn leave(&mut self, clear_at: u64, acts: &mut Vec<AgentAct>) {
        if self.hosted.take().is_some_and(|hosted| hosted.is_kept()) {
            acts.push(AgentAct::Keep(None));
        }
        self.console.clear();
        self.forget_players();
        (self.clear_at, self.free_at) = (Some(clear_at), clear_at);
        self.confirm_by = None;
    }

    fn forget_players(&mut self) {
        self.seen.guests.forget_players();
        self.seen.slots.forget_entries();
    }

    fn report_departure(&mut self, seat: usize, acts: &mut Vec<AgentAct>) {
        let Some(hosted) = &self.hosted else { return };
        let open = matches!(hosted.stage, AgentStage::Joining | AgentStage::Playing);
        if let Some(seat) = hosted.seats.get(seat).filter(|_| open) {
            acts.push(AgentAct::Report(format!("{} has left", seat.player)));
            let leave = leave(&seat.player);
            self.link.send(leave, acts);
        }
    }

    fn report(&self, text: &str, acts: &mut Vec<AgentAct>) {
        let plain = |c: char| if c.is_control() { '?' } else { c };
        acts.push(AgentAct::Report(text.chars().map(plain).collect()));
    }
}

/// The request that reports that a player has left.
fn leave(player: &str) -> Request {
    Request::Leave {
        id: Ident::from_text(player),
        reason: LeaveReason::Left,
    }
}
