//! Handles what the log shows.

use super::{Source, connection, counter_strike_word, word};
use crate::follower::FollowedServer;
use evenkeel_ingest::{
    GameEvent,
    source::{
        grammar::{self, Event, PlayerAction},
        setup::ResultStyle,
    },
    stamp,
};

impl Source {
    pub(super) fn read_log_line(&mut self, line: &[u8], server: &mut FollowedServer) {
        let line = stamp::bare(line, grammar::is_beneath);
        let Ok((stamp, rest)) = grammar::stamp(line) else {
            return;
        };
        let (Some(date), Ok(event)) = (grammar::date(stamp), grammar::read(rest)) else {
            return;
        };
        self.opening.read(Some(date), server.now());
        let now = self.opening.log_position();
        if event != Event::RoundStart {
            self.open(server);
        }
        // A restore may take back those that wait.
        if event != Event::Reloaded {
            self.deaths.pass(now, server);
        }
        // Commands name players by their numbers.
        if matches!(event, Event::Player(_, PlayerAction::Misnumbered)) {
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
    pub(super) fn open(&mut self, server: &mut FollowedServer) {
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
