//! An agent makes a game server an instance, which hosts matches of Evenkeel's queues. [`HostEngine`] says what differs
//! between engines.
//!
//! It reads the server's log and drives its console, like the sidecar, and speaks the daemon's verbs
//! for instances. A match goes through these states:
//!
//! ```text
//! opening ── the map is up: READY ──▶ joining ── play begins: START ──▶ playing ── END ──▶ over
//!    ▲                                   │                                 │
//!    └── the game server has restarted ──┘                                 └─▶ lost: GAME
//! ```
//!
//! Most decisions are made by comparing what should be with what the log shows, every time
//! [`Sidecar::tick`] is called. So a command, a datagram or a connection that is lost is made up
//! for. The game server itself states in its log which match a game is, so an agent
//! that is killed and started again finds its game. From START to the answer of END, the match is also
//! kept in a file.
//!
//! `console` limits how often the server is asked, `link` is the connection to the daemon and what the daemon sends, `seen` is
//! what the log shows and which client is which player, and orders who is where; `hosted` is the match, and `steps` takes it
//! from SESSION to its end.

mod console;
mod hosted;
mod link;
mod seen;
mod steps;

pub use hosted::AgentMatch;

use std::collections::BTreeSet;

use evenkeel_ingest::{GameEvent, live::Doubled};
use evenkeel_model::{ident::Ident, record::LeaveReason};
use evenkeel_protocol::{Push, Reply, Request, push::HostPushReader};

use crate::{
    Act, Sidecar, is_plain_name,
    progress::{LoggedPlayer, LoggedSetup},
};

use console::{AgentConsole, ConsoleQuestion};
use hosted::AgentStage;
use link::AgentLink;
use seen::Seen;

/// How long the daemon may take, after INSTANCE, to send SESSION again for a match that it still
/// wants hosted, in milliseconds.
const CONFIRM: u64 = 10_000;
/// How long the game server must not answer before it is started, if the agent can start it: at the
/// beginning, and later, when it may only be loading a map.
const NOT_RUNNING: u64 = 3_000;
const GONE: u64 = 20_000;
/// Why a match is refused whose map the game server does not have.
const NO_MAP: &str = "the game server does not have the map";

/// The agent of one game server. `now` is the caller's clock in milliseconds, which never runs
/// backwards. Methods append acts to `acts`, in the order in which to do them.
pub struct Agent<E> {
    engine: E,
    doubled: Doubled,
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

impl<E: HostEngine> Agent<E> {
    /// An agent that has read no log and has no connection.
    pub fn new(engine: E, settings: AgentSettings) -> Self {
        Self {
            engine,
            doubled: Doubled::default(),
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

    fn stage(&self) -> Option<AgentStage> {
        self.hosted.as_ref().map(|hosted| hosted.stage)
    }

    /// Hosts no match any more. The game server is cleared at `clear_at`.
    fn leave(&mut self, clear_at: u64, acts: &mut Vec<Act>) {
        if self.hosted.take().is_some_and(|hosted| hosted.is_kept()) {
            acts.push(Act::Keep(None));
        }
        self.console.clear();
        self.seen.forget_players();
        (self.clear_at, self.free_at) = (Some(clear_at), clear_at);
        self.confirm_by = None;
    }

    fn report(&self, text: &str, acts: &mut Vec<Act>) {
        let plain = |c: char| if c.is_control() { '?' } else { c };
        acts.push(Act::Report(text.chars().map(plain).collect()));
    }
}

impl<E: HostEngine> Sidecar for Agent<E> {
    fn log_line(&mut self, line: &[u8], now: u64, acts: &mut Vec<Act>) {
        self.read_log_line(line, now, acts);
    }

    fn reply(&mut self, reply: Reply, now: u64, acts: &mut Vec<Act>) {
        self.take_reply(reply, now, acts);
    }

    fn push(&mut self, push: &Push, now: u64, acts: &mut Vec<Act>) {
        self.take_push(push, now, acts);
    }

    fn restore(&mut self, kept: AgentMatch) {
        self.hosted = Some(kept).filter(AgentMatch::is_sound);
    }

    fn connected(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.link.open(&self.settings, now, acts);
        self.pushes = HostPushReader::default();
        self.has_game = false;
        if let Some(hosted) = &mut self.hosted {
            (hosted.confirmed, hosted.synced, hosted.ended) = (false, false, None);
            hosted.leavers_sent = false;
        }
    }

    fn disconnected(&mut self) {
        self.link.close();
        if let Some(hosted) = &mut self.hosted {
            hosted.synced = false;
        }
    }

    fn answer(&mut self, id: u64, text: Option<&[u8]>, now: u64, acts: &mut Vec<Act>) {
        let question = self.console.answer(id, text, acts);
        let (Some(question), Some(text)) = (question, text) else {
            return;
        };
        match question {
            ConsoleQuestion::Load(id) => {
                if self.engine.lacks_map(text) && self.hosted.as_ref().is_some_and(|h| h.id == id) {
                    self.refuse(NO_MAP, now, acts);
                }
            }
            ConsoleQuestion::Guest(number, visit) => self.recognise(number, visit, text, now, acts),
            ConsoleQuestion::Alive => {}
        }
    }

    fn server_ended(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.finish_if_over(true, now, acts);
        self.console.reset(now);
        self.seen.clear();
        self.engine.clear();
        if let Some(hosted) = &mut self.hosted
            && matches!(hosted.stage, AgentStage::Opening | AgentStage::Joining)
        {
            hosted.reopen();
        }
    }

    fn needs_server(&self, now: u64) -> bool {
        let limit = match self.console.has_answered() {
            true => GONE,
            false => NOT_RUNNING,
        };
        self.console.silent_for(now) >= limit
    }

    fn silent_for(&self, now: u64) -> u64 {
        self.console.silent_for(now)
    }

    fn tick(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.step(now, acts);
        self.console.flush(now, acts);
        self.link.state_load(self.hosted.is_some(), acts);
        self.link.keep_alive(now, acts);
    }

    fn quit_command(&self) -> &'static str {
        E::QUIT
    }

    fn stop(&mut self, server_ends: bool, acts: &mut Vec<Act>) {
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
            acts.push(Act::Console(vec![self.engine.lock("")]));
        }
    }
}

/// The request that reports that a player has left.
fn leave(player: &str) -> Request {
    Request::Leave {
        id: Ident::from_text(player),
        reason: LeaveReason::Left,
    }
}

/// The largest value of a limit.
const MAX_LIMIT: u16 = 10_000;

/// The operator's settings of an agent. Times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSettings {
    /// The name of the game server in HELLO.
    pub server: String,
    /// The token of the game server, if the daemon requires one.
    pub token: Option<String>,
    /// Where players connect, as INSTANCE states it.
    pub address: String,
    /// The region of the game server, if it has one.
    pub region: Option<String>,
    /// The modes that the game server serves. The first one is played if a match has no mode.
    pub modes: Vec<GameMode>,
    /// The maps that it has; all if there are none. The first one is played if a match has no map.
    pub maps: Vec<String>,
    /// When games end, for all queues or for one.
    pub limits: Vec<Limit>,
    /// Whether clients without a pass are only kept off the teams, and not disconnected.
    pub strangers_watch: bool,
    /// The password of the game server between two matches, which nobody knows; `None` to let
    /// everybody in.
    pub lock: Option<String>,
    /// How long players see the results before the game server is cleared.
    pub intermission: u64,
    /// How long a pass is valid for a player who has not joined.
    pub pass_valid: u64,
}

impl AgentSettings {
    /// The mode of a match; `None` if the game server does not serve it.
    fn mode(&self, name: Option<&str>) -> Option<&GameMode> {
        match name {
            None => self.modes.first(),
            Some(name) => self.modes.iter().find(|mode| mode.name == name),
        }
    }

    /// The names of all modes.
    fn mode_names(&self) -> BTreeSet<String> {
        self.modes.iter().map(|mode| mode.name.clone()).collect()
    }

    /// The console commands that set the limits of a queue. Limits of one queue come after those of
    /// all.
    fn limit_commands(&self, queue: &str) -> Vec<String> {
        let general = self.limits.iter().filter(|limit| limit.queue.is_none());
        let own = self
            .limits
            .iter()
            .filter(|limit| limit.queue.as_deref() == Some(queue));
        general.chain(own).map(Limit::command).collect()
    }
}

/// Parses the name of a map, which must be a plain word.
///
/// # Errors
/// Fails if the name is unsafe in a console command.
pub fn map_name(text: &str) -> Result<String, String> {
    match is_plain_name(text) {
        true => Ok(text.to_owned()),
        false => Err("a map is a word of letters, digits, _, - and .".to_owned()),
    }
}

/// A mode of queues, and the type of game with which it is played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameMode {
    /// The name in the queue's configuration.
    name: String,
    /// The type of a game of two teams, as the game server's console takes it.
    game_type: String,
}

impl GameMode {
    /// A mode; `None` if its name is unsafe in a command.
    pub(crate) fn new(name: &str, game_type: &str) -> Option<Self> {
        is_plain_name(name).then(|| Self {
            name: name.to_owned(),
            game_type: game_type.to_owned(),
        })
    }
}

/// A limit of the games of all queues, or of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    queue: Option<String>,
    command: &'static str,
    value: u16,
}

impl Limit {
    /// Parses `[QUEUE:]WORD=N`; each word has the command that sets its limit.
    pub(crate) fn parse(text: &str, words: &[(&'static str, &'static str)]) -> Option<Self> {
        let (queue, limit) = match text.rsplit_once(':') {
            Some((queue, limit)) => (Some(queue.to_owned()), limit),
            None => (None, text),
        };
        let (word, value) = limit.split_once('=')?;
        let (_, command) = *words.iter().find(|(known, _)| *known == word)?;
        let value = value.parse().ok().filter(|value| *value <= MAX_LIMIT)?;
        Some(Self {
            queue,
            command,
            value,
        })
    }

    pub(crate) fn command(&self) -> String {
        format!("{} {}", self.command, self.value)
    }
}

/// How an engine says which player of a match a client is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdentityProof {
    /// By the answer to this command, of which [`HostEngine::shown_pass`] is the pass.
    Ask(String),
    /// By the client's name, which is that of the player.
    Name(String),
}

/// An engine: how its log reads, and which console commands its servers take. No text that a player chose is in a command.
///
/// To make another game's servers host matches, an engine needs one file, and a subcommand in `cli/sidecar`. It reads the log,
/// of which it makes [`GameEvent`]s, and prints console commands. Its console answers one question at a time. The agent decides
/// everything else.
///
/// The game server must say in its log which match a game is, because an agent that is killed and started again reads the
/// log from its beginning: [`HostEngine::prepare`] makes it do that.
pub trait HostEngine {
    /// A command that changes nothing, and whose answer shows that the game server runs.
    const ALIVE: &'static str;
    /// The command that ends the game server.
    const QUIT: &'static str;

    /// Reads a line of the log, without its end.
    fn log_line(&mut self, line: &[u8], now: u64, events: &mut Vec<GameEvent>);

    /// Lets time pass, several times per second.
    fn tick(&mut self, now: u64, events: &mut Vec<GameEvent>);

    /// The game that the log shows.
    fn setup(&self) -> LoggedSetup;

    /// The player on a client number, as the log describes them.
    fn player(&self, number: usize) -> Option<LoggedPlayer>;

    /// The game server has ended: nothing of what the log has shown holds any more.
    fn clear(&mut self);

    /// The commands that prepare the game server for a match, before its map is loaded.
    fn prepare(&self, hosted: &AgentMatch, limits: Vec<String>) -> Vec<String>;

    /// The command that loads the map of a match. It has an answer.
    fn load(&self, map: &str) -> String;

    /// Whether the answer to `load` says that the game server does not have the map.
    fn lacks_map(&self, _answer: &[u8]) -> bool {
        false
    }

    /// How this client proves who they are.
    fn proof(&self, client: usize, name: &str) -> IdentityProof;

    /// The pass in the answer to [`IdentityProof::Ask`], empty if the client shows none; `None` if the client has left.
    fn shown_pass<'a>(&self, _answer: &'a [u8]) -> Option<&'a [u8]> {
        None
    }

    /// The commands that begin play, once all players are here; `times` counts how often that was tried before.
    fn begin(&self, times: u32) -> Vec<String>;

    /// The command that moves a client to a team, or off the teams.
    fn assign(&self, client: usize, team: Option<u8>) -> String;

    /// The command that disconnects a client.
    fn kick(&self, client: usize) -> String;

    /// The command that lets in only those who know the password; an empty one lets everybody in.
    fn lock(&self, password: &str) -> String;

    /// The command after which games are of no match.
    fn forget(&self) -> String;
}

#[cfg(test)]
mod tests;
