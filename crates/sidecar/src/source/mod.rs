//! The engine Source: Team Fortress 2, Counter-Strike: Source, Counter-Strike: Global Offensive
//! and their relatives, through the server's log and its remote console.
//!
//! Teams are chosen until the first round of a map starts, while the server waits for players,
//! and in a warm-up. This file handles what the log shows, also what a restore of Counter-Strike takes
//! back; `rcon` has the packets of the remote console.

pub mod rcon;

use evenkeel_ingest::{
    GameEvent,
    source::{
        clients::SourceClient,
        grammar::{self, PlayerAction, SourceEvent},
        server::SourceServer,
        setup::ResultStyle,
    },
    stamp,
};
use evenkeel_protocol::Request;

use crate::{
    engine::{Engine, TeamChanges, TeamOrders},
    follower::{FollowedServer, OpeningTime, TeamWord, TemplateCommands},
    progress::{ConnectionKey, LoggedPlayer, LoggedSetup},
};

/// The engine of one Source game server.
pub struct Source {
    commands: TemplateCommands,
    /// How commands name the sides.
    words: fn(u8) -> TeamWord,
    opening: OpeningTime,
    log: SourceServer,
    /// Whether a round has started on this map, or the game has been restarted.
    begun: bool,
    /// The final scores that have been read, by side.
    finals: Vec<(u8, f64)>,
    deaths: HeldDeaths,
    /// Whether the sidecar has reported to the operator that the map is not known yet.
    warned: bool,
}

impl Source {
    /// An engine that has read no log. `game` is the game's folder, such as `tf`, for logs that do not state
    /// it. `opening` is how long the server waits for players on a new map after the first one has joined, in
    /// milliseconds.
    pub fn new(commands: TemplateCommands, game: Option<String>, opening: u64) -> Self {
        Self {
            commands,
            words: word,
            opening: OpeningTime::new(opening),
            log: SourceServer::of(game),
            begun: false,
            finals: Vec::new(),
            deaths: HeldDeaths::default(),
            warned: false,
        }
    }

    /// The setup of the game, once the log has named its map.
    fn game_setup(&self) -> Option<LoggedSetup> {
        let setup = &self.log.setup;
        (!setup.map.is_empty()).then(|| LoggedSetup {
            game_type: self.log.game_type(),
            mutators: setup.mutators(),
            map: setup.map.clone(),
            teams: true,
            match_id: None,
        })
    }

    /// All players, as the log describes them.
    fn players(&self) -> Vec<(ConnectionKey, LoggedPlayer)> {
        let clients = self.log.clients.iter();
        clients
            .map(|client| {
                let player = LoggedPlayer {
                    key: client.key(),
                    name: client.name(),
                    number: client.number(),
                    side: client.team(),
                    free: false,
                    begun: true,
                    role: client.role(),
                };
                (connection(client), player)
            })
            .collect()
    }
}

fn connection(client: &SourceClient) -> ConnectionKey {
    ConnectionKey(client.number(), client.key().id)
}

/// How commands name the sides: the engine's teams begin at 2, after those who watch.
fn word(side: u8) -> TeamWord {
    let name = match side {
        0 => "red",
        1 => "blue",
        2 => "yellow",
        _ => "green",
    };
    TeamWord {
        name,
        number: u32::from(side) + 2,
    }
}

/// How commands name the sides in Counter-Strike.
fn counter_strike_word(side: u8) -> TeamWord {
    TeamWord {
        name: if side == 0 { "t" } else { "ct" },
        number: u32::from(side) + 2,
    }
}

impl Engine for Source {
    fn log_line(&mut self, line: &[u8], server: &mut FollowedServer) {
        self.read_log_line(line, server);
    }

    fn tick(&mut self, server: &mut FollowedServer) {
        self.deaths.pass(self.opening.log_position(), server);
        self.open(server);
    }

    fn orders(&self, changes: &TeamChanges<'_>) -> TeamOrders {
        self.commands.orders(changes, self.words)
    }
}

impl Source {
    fn read_log_line(&mut self, line: &[u8], server: &mut FollowedServer) {
        let line = stamp::bare(line, grammar::is_beneath);
        let Ok((stamp, rest)) = grammar::stamp(line) else {
            return;
        };
        let (Some(date), Ok(event)) = (grammar::date(stamp), grammar::read(rest)) else {
            return;
        };
        self.opening.read(Some(date), server.now());
        let now = self.opening.log_position();
        if event != SourceEvent::RoundStart {
            self.open(server);
        }
        // A restore may take back those that wait.
        if event != SourceEvent::Reloaded {
            self.deaths.pass(now, server);
        }
        // Commands name players by their numbers.
        if matches!(event, SourceEvent::Player(_, PlayerAction::Misnumbered)) {
            return;
        }
        let mut events = Vec::new();
        self.log.pass(event, &mut events);
        for event in events.drain(..) {
            self.event(event, server);
        }
        self.log.interpret(event, now, &mut events);
        for event in events {
            self.event(event, server);
        }
    }

    /// Starts play once the server no longer waits for players.
    fn open(&mut self, server: &mut FollowedServer) {
        if self.opening.is_due(server) {
            self.start(server);
        }
    }

    fn event(&mut self, event: GameEvent, server: &mut FollowedServer) {
        match event {
            GameEvent::Game => {
                server.leave_map();
                self.begun = false;
                self.opening.reset();
                self.begin(server);
            }
            // It is another game than its log or its name has said.
            GameEvent::Setup if server.has_game() && !server.is_playing() => self.begin(server),
            GameEvent::WarmUp => {
                self.restart(server);
                server.warm_up();
            }
            GameEvent::Restart { plays: false } => self.restart(server),
            GameEvent::Restart { plays: true } => self.start(server),
            GameEvent::Round if server.is_playing() => {
                self.finals.clear();
                server.round_started();
                self.deaths.round_started(self.log.stated());
            }
            GameEvent::Round | GameEvent::Start => {
                match !self.begun && self.opening.waits(server.now()) {
                    true => self.opening.pending = true,
                    false => self.start(server),
                }
                self.begun = true;
            }
            GameEvent::RoundEnd => {
                if self.opening.pending {
                    self.start(server);
                }
                server.round_ended();
            }
            GameEvent::Reloaded { running } => self.deaths.reloaded(running),
            GameEvent::Restored(scores) => self.deaths.restored(scores),
            GameEvent::Client(_) | GameEvent::Placed { .. } | GameEvent::Left(_) => {
                server.sync(self.players());
            }
            GameEvent::Death {
                victim, by, enemy, ..
            } => self.died(victim, by, enemy, server),
            other => self.result(other, server),
        }
    }

    /// Handles scores and the end of a game. Captures count by the scores that follow them.
    fn result(&mut self, event: GameEvent, server: &mut FollowedServer) {
        match event {
            GameEvent::Total { team, points } => server.total(team, points),
            GameEvent::Over => {
                self.deaths.send(server);
                server.over();
            }
            GameEvent::Final { team, points } if server.is_over() => {
                self.finals.push((team, points));
                if self.finals.len() > 1 {
                    server.finals(self.finals.clone());
                }
            }
            GameEvent::Ended => server.end(),
            GameEvent::Closed if server.is_over() => server.end(),
            _ => {}
        }
    }

    /// Announces a game whose play has not begun.
    fn begin(&mut self, server: &mut FollowedServer) {
        self.finals.clear();
        let Some(setup) = self.game_setup() else {
            return;
        };
        self.words = match setup.game_type.starts_with("cs") {
            true => counter_strike_word,
            false => word,
        };
        server.begin(setup);
    }

    /// Handles a restart of the game: what was played before does not count.
    fn restart(&mut self, server: &mut FollowedServer) {
        self.begun = true;
        self.opening.pending = false;
        if !server.is_opening() {
            self.begin(server);
        }
    }

    fn start(&mut self, server: &mut FollowedServer) {
        self.finals.clear();
        self.opening.pending = false;
        self.deaths.clear();
        self.deaths.round_started(self.log.stated());
        match self.game_setup() {
            Some(setup) => server.start(setup),
            None if !std::mem::replace(&mut self.warned, true) => {
                let text = "the log does not name the map: no player is moved before the next one";
                server.report(text);
            }
            None => {}
        }
    }

    /// Handles a death. In a match of Counter-Strike, it counts once no round can be restored any more.
    fn died(&mut self, victim: usize, by: Option<usize>, enemy: bool, server: &mut FollowedServer) {
        let connection = |slot| self.log.clients.at(slot).map(connection);
        let Some(dead) = connection(victim) else {
            return;
        };
        let killer = by.filter(|_| enemy).and_then(connection);
        let style = self.log.style;
        match server.kill(&dead, killer.as_ref()) {
            Some(death) if style == (ResultStyle::Rounds { has_end: true }) => {
                self.deaths.hold(death, server);
            }
            Some(death) => server.count(death),
            None => {}
        }
        match by {
            None if style != ResultStyle::Finals => {
                self.deaths
                    .suicide(dead, self.opening.log_position(), server);
            }
            _ => server.death(&dead),
        }
    }
}

/// How long a suicide waits, in milliseconds: with a restore of Counter-Strike, everybody dies a moment before the line that
/// says so, whose time may be that of the next second.
const RESTORE_LAG: u64 = 2_000;
/// The most suicides that wait. A real server has fewer players.
const MOST_SUICIDES: usize = 128;
/// The most deaths of a match that wait for its end. A real match has fewer.
const MOST_DEATHS: usize = 20_000;

/// The deaths of one round.
#[derive(Debug)]
struct RoundDeaths {
    /// The scores with which it began.
    scores: [f64; 2],
    deaths: Vec<Request>,
}

/// The deaths that the daemon has not been sent yet.
#[derive(Debug, Default)]
struct HeldDeaths {
    /// Suicides after which nobody was moved yet, each with its time in the log and that of the sidecar: they may be those of
    /// a restore.
    suicides: Vec<(u64, u64, ConnectionKey)>,
    /// The rounds of the match, which has a line for its end.
    rounds: Vec<RoundDeaths>,
    count: usize,
}

impl HeldDeaths {
    /// Forgets everything: what was played before does not count.
    fn clear(&mut self) {
        *self = Self::default();
    }

    /// Holds a death until the match is over.
    fn hold(&mut self, death: Request, server: &mut FollowedServer) {
        match self.rounds.last_mut() {
            Some(round) if self.count < MOST_DEATHS => {
                self.count += 1;
                round.deaths.push(death);
            }
            _ => server.count(death),
        }
    }

    /// A round begins with these scores.
    fn round_started(&mut self, scores: [f64; 2]) {
        if self.rounds.len() < MOST_DEATHS {
            let deaths = Vec::new();
            self.rounds.push(RoundDeaths { scores, deaths });
        }
    }

    /// An earlier round is restored: the one that was `running` does not count.
    fn reloaded(&mut self, running: bool) {
        self.suicides.clear();
        if running && let Some(last) = self.rounds.len().checked_sub(1) {
            self.take_back(last);
        }
    }

    /// The round that began with these scores is played again.
    fn restored(&mut self, scores: [f64; 2]) {
        let began = |round: &RoundDeaths| round.scores == scores;
        if let Some(at) = self.rounds.iter().rposition(began) {
            self.take_back(at);
        }
    }

    /// Takes back what was played since this round began.
    fn take_back(&mut self, at: usize) {
        self.rounds.truncate(at + 1);
        if let Some(round) = self.rounds.last_mut() {
            round.deaths.clear();
        }
        self.count = self.rounds.iter().map(|round| round.deaths.len()).sum();
    }

    /// The match is over: sends its deaths.
    fn send(&mut self, server: &mut FollowedServer) {
        for death in self.rounds.drain(..).flat_map(|round| round.deaths) {
            server.count(death);
        }
        self.count = 0;
    }

    /// Holds a suicide, after which somebody may be moved.
    fn suicide(&mut self, victim: ConnectionKey, in_log: u64, server: &mut FollowedServer) {
        match self.suicides.len() < MOST_SUICIDES {
            true => self.suicides.push((in_log, server.now(), victim)),
            false => server.death(&victim),
        }
    }

    /// Sends the suicides that no restore has taken back in time.
    fn pass(&mut self, in_log: u64, server: &mut FollowedServer) {
        let now = server.now();
        let lasts = |(logged, read, _): &(u64, u64, ConnectionKey)| {
            let passed = in_log
                .saturating_sub(*logged)
                .max(now.saturating_sub(*read));
            passed < RESTORE_LAG
        };
        let (wait, due): (Vec<_>, Vec<_>) = self.suicides.drain(..).partition(lasts);
        self.suicides = wait;
        for (_, _, victim) in due {
            server.death(&victim);
        }
    }
}

#[cfg(test)]
mod tests;
