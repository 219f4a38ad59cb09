//! Handles events of the log: turns them into calls of the follower.

use super::{RoundState, Source, counter_strike_word, word};
use crate::{
    ingest::{
        source::{
            clients::{ConnectedClients, GameContext},
            grammar::{self, Event, PlayerAction, PlayerTag},
            setup::ServerSetup,
        },
        stamp,
    },
    sidecar::{Act, follower::ConnectionKey},
};

impl Source {
    pub(super) fn read_log_line(&mut self, line: &[u8], now: u64, acts: &mut Vec<Act>) {
        let line = stamp::bare(line, grammar::is_beneath);
        let Ok((stamp, rest)) = grammar::stamp(line) else {
            return;
        };
        let (Some(date), Ok(event)) = (grammar::date(stamp), grammar::read(rest)) else {
            return;
        };
        self.time.calendar.read(date);
        self.time.note(now);
        let result = matches!(event, Event::Final(..) | Event::Scored(..));
        if self.follower.is_over() && self.finals.len() > 1 && !result {
            self.follower.end(now, acts);
        }
        if event != Event::RoundStart {
            self.open(now, acts);
        }
        self.note_game(event);
        self.event(event, now, acts);
    }

    /// Starts play once the server no longer waits for players.
    pub(super) fn open(&mut self, now: u64, acts: &mut Vec<Act>) {
        let at = self.time.at(now);
        if self.follower.has_players() {
            self.opening.note(at);
        }
        if self.opening.is_due(at) {
            self.start(now, acts);
        }
    }

    /// Notes how the log of this game states scores.
    fn note_game(&mut self, event: Event<'_>) {
        match event {
            Event::Over { .. } | Event::MatchStart(_) | Event::Reloaded | Event::WarmUp => {
                (self.rounds.states_scores, self.rounds.has_end) = (true, true);
            }
            Event::Tally(..) | Event::RoundWon(_) => {
                self.rounds.states_scores = true;
                self.rounds.scored |= self.follower.is_playing();
            }
            _ => {}
        }
    }

    fn event(&mut self, event: Event<'_>, now: u64, acts: &mut Vec<Act>) {
        match event {
            Event::Started(folder) => {
                self.leave_map(now, acts);
                let stated = self.game.as_deref().map(str::as_bytes);
                self.setup = ServerSetup::of(stated.unwrap_or(folder));
            }
            Event::Closed => self.end_with_map(now, acts),
            Event::Map(name) => {
                self.leave_map(now, acts);
                self.setup.load(name);
                self.begin(now, acts);
            }
            Event::Setting(name, value) => self.setup.set(name, value),
            Event::Player(who, act) => self.act(who, act, now, acts),
            Event::RoundStart => self.round_started(now, acts),
            Event::RoundEnd => {
                if self.opening.pending {
                    self.start(now, acts);
                }
                self.rounds.running = false;
                self.follower.round_ended(acts);
            }
            Event::Reloaded => self.rounds.running = false,
            Event::WarmUp => {
                self.restart(now, acts);
                self.follower.warm_up(now);
            }
            Event::Restart => self.restart(now, acts),
            Event::MatchStart(map) => {
                self.setup.name_map(map);
                self.rounds.waits = false;
                self.restart(now, acts);
            }
            Event::MatchBegins => self.start(now, acts),
            other => self.score(other, now, acts),
        }
    }

    /// Handles events of scores and of a game's end.
    fn score(&mut self, event: Event<'_>, now: u64, acts: &mut Vec<Act>) {
        match event {
            Event::Current(side, total) | Event::Tally(side, total) => {
                self.follower.total(side, total, acts);
            }
            Event::RoundWon(totals) => {
                for (side, total) in (0..).zip(totals) {
                    self.follower.total(side, total, acts);
                }
            }
            Event::GameOver => self.follower.over(now, acts),
            Event::Over { map, scores } => {
                self.setup.name_map(map);
                self.rounds.waits = true;
                if self.follower.is_playing() {
                    self.follower.over(now, acts);
                    self.follower.result(scores, acts);
                    self.follower.end(now, acts);
                }
            }
            Event::Final(side, score) => self.result(side, score, acts),
            Event::Scored(side, score) => {
                self.follower.over(now, acts);
                self.result(side, score, acts);
            }
            _ => {}
        }
    }

    /// Handles a side's final score.
    fn result(&mut self, side: u8, score: f64, acts: &mut Vec<Act>) {
        if !self.follower.is_over() || self.finals.len() >= 4 {
            return;
        }
        self.finals.retain(|(known, _)| *known != side);
        self.finals.push((side, score));
        if self.finals.len() > 1 {
            self.follower.finals(self.finals.clone(), acts);
        }
    }

    /// The server leaves its map. The log names every player of the next map again.
    fn leave_map(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.end_with_map(now, acts);
        self.clients = ConnectedClients::default();
        self.follower.leave_map();
        self.rounds = RoundState::default();
        self.opening.reset();
    }

    /// Ends a game of Counter-Strike whose end no line marks.
    fn end_with_map(&mut self, now: u64, acts: &mut Vec<Act>) {
        let over = self.follower.is_over();
        if over || (self.rounds.states_scores && !self.rounds.has_end && self.rounds.scored) {
            self.follower.over(now, acts);
            self.follower.end(now, acts);
        }
    }

    /// Announces a game whose play has not begun.
    fn begin(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.finals.clear();
        self.rounds.running = false;
        self.rounds.scored = false;
        let Some(setup) = self.game_setup() else {
            return;
        };
        self.follower.words = match setup.game_type.starts_with("cs") {
            true => counter_strike_word,
            false => word,
        };
        self.follower.begin(setup, now, acts);
    }

    /// Handles a restart of the game: what was played before does not count.
    fn restart(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.rounds.begun = true;
        self.opening.pending = false;
        if !self.follower.is_opening() {
            self.begin(now, acts);
        }
    }

    fn round_started(&mut self, now: u64, acts: &mut Vec<Act>) {
        if self.rounds.waits {
            return;
        }
        // A server can restore an earlier round, and then logs no end of the round that it interrupts.
        let counts = self.rounds.states_scores && self.rounds.scored;
        if self.follower.is_playing() && (!self.rounds.running || counts) {
            self.finals.clear();
            self.follower.round_started(now);
        } else if !self.rounds.begun && self.opening.waits(self.time.at(now)) {
            self.opening.pending = true;
        } else {
            self.start(now, acts);
        }
        self.rounds.begun = true;
        self.rounds.running = true;
    }

    fn start(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.finals.clear();
        self.rounds.scored = false;
        self.opening.pending = false;
        match self.game_setup() {
            Some(setup) => self.follower.start(setup, now, acts),
            None if !std::mem::replace(&mut self.warned, true) => {
                let text = "the log does not name the map: no player is moved before the next one";
                acts.push(Act::Report(text.to_owned()));
            }
            None => {}
        }
    }

    fn act(&mut self, who: PlayerTag<'_>, act: PlayerAction<'_>, now: u64, acts: &mut Vec<Act>) {
        // In some other lines, the number of a player is not the userid.
        if act == PlayerAction::Other {
            return;
        }
        let mut context = GameContext::unrecorded(self.time.calendar.position());
        self.clients.note(who, act, &mut context);
        self.follower.sync(self.players(), now, acts);
        match act {
            PlayerAction::Kill { victim, .. } => {
                if let (Some(killer), Some(victim)) =
                    (self.connection(&who), self.connection(&victim))
                {
                    let killer = (killer != victim).then_some(&killer);
                    self.follower.kill(killer, &victim, acts);
                }
            }
            PlayerAction::Die => {
                if let Some(victim) = self.connection(&who) {
                    self.follower.kill(None, &victim, acts);
                }
            }
            _ => {}
        }
    }

    fn connection(&self, who: &PlayerTag<'_>) -> Option<ConnectionKey> {
        let client = self.clients.get(who)?;
        Some(ConnectionKey(client.number(), client.key().id))
    }
}
