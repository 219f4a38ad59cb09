//! Handles what the log shows.

use super::IdTech3;
use crate::{follower::FollowedServer, logged::ConnectionKey};
use evenkeel_ingest::{GameEvent, idtech3::grammar::Event};

impl IdTech3 {
    pub(super) fn read_log_line(&mut self, line: &[u8], server: &mut FollowedServer) {
        let mut events = Vec::new();
        let Some((at, event)) = self.log.read(line, server.now(), &mut events) else {
            return;
        };
        server.read_clock(at);
        server.end_if_results_are_known();
        for event in events {
            self.event(event, server);
        }
        if let Event::Say(said) = event {
            self.hear(said, server);
        }
        server.end_if_results_are_known();
    }

    /// Lets time pass.
    pub(super) fn pass(&mut self, server: &mut FollowedServer) {
        let mut events = Vec::new();
        self.log.tick(server.now(), &mut events);
        for event in events {
            self.event(event, server);
        }
    }

    fn event(&mut self, event: GameEvent, server: &mut FollowedServer) {
        match event {
            GameEvent::Game => {
                end_if_over(server);
                server.leave_map();
                self.in_rounds = false;
                self.begin(server);
            }
            GameEvent::Round => {
                // Before an exit, a round of Urban Terror belongs to the same game, whose play starts with the first one.
                let goes_on = server.is_playing() && self.in_rounds && self.log.has_rounds();
                if !goes_on && (server.is_playing() || !server.has_game()) {
                    self.begin(server);
                }
                self.start(server);
                self.in_rounds = true;
            }
            GameEvent::Start if server.is_opening() => self.start(server),
            GameEvent::Closed => {
                end_if_over(server);
                server.close_map();
            }
            GameEvent::WarmUp if server.is_opening() || server.is_playing() => {
                (self.warms_up, self.warmed) = (true, true);
                self.in_rounds = false;
                if server.is_playing()
                    && let Some(setup) = self.log.setup()
                {
                    // What was played until now does not count, if play has begun at all.
                    server.begin(setup);
                }
                server.warm_up();
            }
            GameEvent::Client(number) => {
                let known = self.log.client(number).is_some_and(|c| c.is_known());
                if let Some(player) = self.log.player(number).filter(|_| known) {
                    server.player_named(ConnectionKey::of(number), player);
                }
            }
            other => server.take(other),
        }
    }

    fn begin(&mut self, server: &mut FollowedServer) {
        if let Some(name) = self.log.unsupported() {
            server.leave_map();
            if !std::mem::replace(&mut self.refused, true) {
                server.report(&format!(
                    "{name} is not supported; the daemon is sent nothing about this game server"
                ));
            }
        } else if let Some(setup) = self.log.setup() {
            server.begin(setup);
        }
    }

    fn start(&mut self, server: &mut FollowedServer) {
        // A warm-up before this game means that there will be one before the next game.
        self.warms_up = std::mem::take(&mut self.warmed);
        match self.log.setup() {
            // If a game starts again during play, the daemon still regards it as the same game, and its final score
            // corrects the scores that were reported before.
            Some(_) if server.is_playing() => server.start_again(),
            Some(setup) => server.start(setup),
            None => {}
        }
    }
}

/// Called if another game begins or the server shuts down: a game that is over gets no more
/// results.
fn end_if_over(server: &mut FollowedServer) {
    if server.is_over() {
        server.end();
    }
}
