//! Handles events of the log: turns them into what the follower knows of the server.

use super::{RoundState, Source, counter_strike_word, word};
use crate::{
    ingest::{
        source::{
            ROUND_LAG,
            client::{Client, GameContext},
            clients::ConnectedClients,
            grammar::{self, Event, PlayerAction, PlayerTag},
            setup::ServerSetup,
        },
        stamp,
    },
    sidecar::{follower::FollowedServer, logged::ConnectionKey},
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
        let result = matches!(event, Event::Final(..) | Event::Scored(..));
        if server.is_over() && self.finals.len() > 1 && !result {
            server.end();
        }
        if event != Event::RoundStart {
            self.open(server);
        }
        self.note_game(event, server);
        if event == Event::Reloaded {
            self.deaths.restored(self.rounds.running);
        }
        self.deaths.pass(self.opening.log_position(), server);
        self.event(event, server);
    }

    /// Starts play once the server no longer waits for players.
    pub(super) fn open(&mut self, server: &mut FollowedServer) {
        if self.opening.is_due(server) {
            self.start(server);
        }
    }

    /// Notes which game the log is of, and how it states scores.
    fn note_game(&mut self, event: Event<'_>, server: &mut FollowedServer) {
        if matches!(event, Event::Tally(..) | Event::RoundWon(_)) {
            self.rounds.scored |= server.is_playing();
        }
        let Some((game, style)) = self.rounds.style.shown_by(event) else {
            return;
        };
        let before = self.game_setup();
        (self.rounds.shown, self.rounds.style) = (Some(game), style);
        if self.game_setup() != before && server.is_opening() {
            self.begin(server); // it is another game than its log has said
        }
    }

    fn event(&mut self, event: Event<'_>, server: &mut FollowedServer) {
        match event {
            Event::Started(folder) => {
                self.leave_map(server);
                let stated = self.game.as_deref().map(str::as_bytes);
                self.setup = ServerSetup::of(stated.unwrap_or(folder));
            }
            Event::Closed => self.end_with_map(server),
            Event::Map(name) => {
                self.leave_map(server);
                self.setup.load(name);
                self.begin(server);
            }
            Event::Setting(name, value) => self.setup.set(name, value),
            Event::Player(who, act) => self.act(who, act, server),
            Event::RoundStart => self.round_started(server),
            Event::RoundEnd => {
                if self.opening.pending {
                    self.start(server);
                }
                self.rounds.running = false;
                server.round_ended();
            }
            Event::Reloaded => self.rounds.running = false,
            Event::WarmUp => {
                self.restart(server);
                server.warm_up();
            }
            Event::Restart => self.restart(server),
            Event::MatchStart(map) => {
                self.setup.name_map(map);
                self.rounds.waits = false;
                self.restart(server);
            }
            Event::MatchBegins => self.start(server),
            other => self.score(other, server),
        }
    }

    /// Handles events of scores and of a game's end.
    fn score(&mut self, event: Event<'_>, server: &mut FollowedServer) {
        match event {
            Event::Current(side, total) | Event::Tally(side, total) => {
                self.deaths.scored(side, total);
                server.total(side, total);
            }
            Event::RoundWon(totals) => {
                for (side, total) in (0..).zip(totals) {
                    self.deaths.scored(side, total);
                    server.total(side, total);
                }
            }
            Event::GameOver => server.over(),
            Event::Over { map, scores } => {
                self.setup.name_map(map);
                self.rounds.waits = true;
                if server.is_playing() {
                    self.deaths.send(server);
                    server.over();
                    server.result(scores);
                    server.end();
                }
            }
            Event::Final(side, score) => self.result(side, score, server),
            Event::Scored(side, score) => {
                server.over();
                self.result(side, score, server);
            }
            _ => {}
        }
    }

    /// Handles a side's final score.
    fn result(&mut self, side: u8, score: f64, server: &mut FollowedServer) {
        if !server.is_over() || self.finals.len() >= 4 {
            return;
        }
        self.finals.retain(|(known, _)| *known != side);
        self.finals.push((side, score));
        if self.finals.len() > 1 {
            server.finals(self.finals.clone());
        }
        let has_score = |team: u8| self.finals.iter().any(|(known, _)| *known == team);
        let mut others = self.clients.iter().filter_map(Client::team);
        if has_score(0) && has_score(1) && others.all(has_score) {
            server.end(); // no further line can add a score
        }
    }

    /// The server leaves its map. The log names every player of the next map again.
    fn leave_map(&mut self, server: &mut FollowedServer) {
        self.end_with_map(server);
        self.clients = ConnectedClients::default();
        server.leave_map();
        self.rounds = RoundState::default();
        self.opening.reset();
    }

    /// Ends a game of Counter-Strike whose end no line marks.
    fn end_with_map(&mut self, server: &mut FollowedServer) {
        self.deaths.send(server);
        let over = server.is_over();
        if over || (self.rounds.states_scores() && !self.rounds.has_end() && self.rounds.scored) {
            server.over();
            server.end();
        }
    }

    /// Announces a game whose play has not begun.
    fn begin(&mut self, server: &mut FollowedServer) {
        self.finals.clear();
        self.rounds.running = false;
        self.rounds.scored = false;
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
        self.rounds.begun = true;
        self.rounds.began = None; // the round that begins now is another one, however soon
        self.opening.pending = false;
        if !server.is_opening() {
            self.begin(server);
        }
    }

    fn round_started(&mut self, server: &mut FollowedServer) {
        let now = self.opening.log_position();
        let passed = self.rounds.began.map(|began| now.saturating_sub(began));
        let is_repeated = self.rounds.running && passed.is_some_and(|passed| passed <= ROUND_LAG);
        if self.rounds.waits || is_repeated {
            return;
        }
        self.rounds.began = Some(now);
        // A server can restore an earlier round, and then logs no end of the round that it interrupts.
        let counts = self.rounds.states_scores() && self.rounds.scored;
        if server.is_playing() && (!self.rounds.running || counts) {
            self.finals.clear();
            server.round_started();
            self.deaths.round_started();
        } else if !self.rounds.begun && self.opening.waits(server.now()) {
            self.opening.pending = true;
        } else {
            self.start(server);
        }
        self.rounds.begun = true;
        self.rounds.running = true;
    }

    fn start(&mut self, server: &mut FollowedServer) {
        self.finals.clear();
        self.rounds.scored = false;
        self.opening.pending = false;
        self.deaths.clear();
        self.deaths.round_started();
        self.rounds.started = self.opening.log_position();
        match self.game_setup() {
            Some(setup) => server.start(setup),
            None if !std::mem::replace(&mut self.warned, true) => {
                let text = "the log does not name the map: no player is moved before the next one";
                server.report(text);
            }
            None => {}
        }
    }

    fn act(&mut self, who: PlayerTag<'_>, act: PlayerAction<'_>, server: &mut FollowedServer) {
        // In some other lines, the number of a player is not the userid.
        if act == PlayerAction::Other {
            return;
        }
        let before = self.game_setup().filter(|_| !server.is_playing());
        if self.setup.meet(who.auth)
            && let (Some(before), Some(now)) = (before, self.game_setup())
            && before.game_type != now.game_type
        {
            self.begin(server); // it is another game than its name says
        }
        let mut context = GameContext::unrecorded(self.opening.log_position());
        self.clients.note(who, act, &mut context);
        server.sync(self.players());
        match act {
            PlayerAction::Kill { victim, .. } => self.dies(&victim, Some(&who), server),
            PlayerAction::Die => self.dies(&who, None, server),
            _ => {}
        }
    }

    /// Handles a death. In a match of Counter-Strike, it counts once no round can be restored any more.
    fn dies(
        &mut self,
        victim: &PlayerTag<'_>,
        killer: Option<&PlayerTag<'_>>,
        server: &mut FollowedServer,
    ) {
        let at = self.opening.log_position();
        // With the beginning of play, everybody dies.
        let is_beginning = killer.is_none() && at == self.rounds.started;
        if is_beginning || !self.clients.dies(victim, at) {
            return;
        }
        let Some(dead) = self.connection(victim) else {
            return;
        };
        let by = killer.and_then(|killer| self.connection(killer));
        match server.kill(&dead, by.as_ref()) {
            Some(death) if self.rounds.has_end() => self.deaths.hold(death, server),
            Some(death) => server.count(death),
            None => {}
        }
        match killer {
            None if self.rounds.states_scores() => self.deaths.suicide(dead, at, server),
            _ => server.death(&dead),
        }
    }

    fn connection(&self, who: &PlayerTag<'_>) -> Option<ConnectionKey> {
        let client = self.clients.get(who)?;
        Some(ConnectionKey(client.number(), client.key().id))
    }
}
