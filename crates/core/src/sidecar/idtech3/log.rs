//! Handles events of the log: sends requests to the daemon.

use super::{
    IdTech3,
    game::IdTech3Game,
    slots::{Slot, Slots},
};
use crate::{
    ingest::{
        idtech3::{
            grammar::{self, Event},
            setup::GameSetup,
        },
        stamp,
    },
    protocol::Request,
    sidecar::{Act, lull::Lull, progress::GamePhase},
};

impl IdTech3 {
    pub(super) fn read_log_line(&mut self, line: &[u8], now: u64, acts: &mut Vec<Act>) {
        let line = stamp::bare(line, grammar::has_time);
        let Ok(Some((at, event))) = grammar::read(line, true) else {
            return;
        };
        let restart = matches!(event, Event::InitGame(_));
        if self
            .game
            .as_ref()
            .is_some_and(|game| !restart && game.must_have_begun(at))
            && event != Event::Warmup
        {
            self.start(at, acts);
        }
        self.end_if_results_are_known(at, now, acts);
        self.event(event, at, now, acts);
        self.end_if_results_are_known(at, now, acts);
    }

    fn end_if_results_are_known(&mut self, at: u64, now: u64, acts: &mut Vec<Act>) {
        let game = self.game.as_ref();
        if game.is_some_and(|game| game.has_results(&self.slots, at)) {
            self.end(at, now, acts);
        }
    }

    fn event(&mut self, event: Event<'_>, at: u64, now: u64, acts: &mut Vec<Act>) {
        match event {
            Event::InitGame(info) => {
                self.end_if_over(at, now, acts);
                self.slots = Slots::default();
                self.begin(info, at, now, acts);
            }
            Event::InitRound(info) => self.round(info, at, now, acts),
            Event::Shutdown => {
                self.end_if_over(at, now, acts);
                self.slots.forget_entries();
                if let Some(game) = &mut self.game {
                    game.progress.enter(GamePhase::Ended, at);
                }
            }
            Event::Warmup => self.warm_up(at, now),
            Event::Exit => {
                if let Some(game) = &mut self.game
                    && game.progress.phase() == GamePhase::Playing
                {
                    game.progress.enter(GamePhase::Over, at);
                }
            }
            Event::Connect(number) => {
                self.slots.slot(number).client.begun = false;
                self.update_slot(number, Some(at), now, acts);
            }
            Event::Begin(number) => {
                self.slots.slot(number).client.begun = true;
                self.update_slot(number, Some(at), now, acts);
            }
            Event::Userinfo(number, info) => {
                self.slots.slot(number).client.userinfo(info);
                self.update_slot(number, Some(at), now, acts);
            }
            Event::Changed(number, info) => {
                self.slots.slot(number).changed(info);
                self.update_slot(number, Some(at), now, acts);
            }
            Event::Disconnect(number) => {
                self.chat.left(number);
                if let Some(entry) = self.slots.remove(number)
                    && self.link.connected
                {
                    acts.push(Act::Send(entry.leave()));
                    self.lull.change(now);
                }
            }
            Event::Say(said) => self.hear(said, now),
            play => self.play(play, acts),
        }
    }

    /// Handles events of play and of its results.
    fn play(&mut self, event: Event<'_>, acts: &mut Vec<Act>) {
        let (slots, mut out) = (&self.slots, self.link.outbox(acts));
        let Some(game) = &mut self.game else { return };
        match event {
            Event::Kill {
                killer,
                victim,
                team_change,
            } => {
                game.kill(killer, victim, team_change, slots, &mut out);
                if let Some(entry) = slots.entry(victim).filter(|entry| entry.joined)
                    && self.settings.auto_balance
                    && game.progress.is_followed()
                    && !team_change
                {
                    out.send(Request::Death(entry.ident()));
                }
            }
            Event::Capture { by, flag } => game.capture(by, flag, slots, &mut out),
            Event::TeamScore { team, total } if game.progress.phase() == GamePhase::Playing => {
                game.total(team, total, &mut out);
            }
            Event::Result(totals) => game.result(totals, &mut out),
            Event::Points { client, points } => game.points(client, points, slots, &mut out),
            _ => {}
        }
    }

    fn begin(&mut self, info: &[u8], at: u64, now: u64, acts: &mut Vec<Act>) {
        let follows = self.link.connected && !self.link.outdated;
        let game = IdTech3Game::new(GameSetup::read(info), at, follows);
        game.announce(&mut self.link.outbox(acts));
        self.game = Some(game);
        self.lull = Lull::new(now);
        self.chat.game_began(now);
        self.doubt = None;
    }

    fn warm_up(&mut self, at: u64, now: u64) {
        if let Some(game) = &mut self.game
            && matches!(
                game.progress.phase(),
                GamePhase::Opening | GamePhase::Playing
            )
        {
            game.progress.enter(GamePhase::WarmUp, at);
            (self.warms_up, self.warmed) = (true, true);
            self.lull = Lull::new(now);
        }
    }

    /// Handles the start of a round in Urban Terror. Before an exit it belongs to the same game,
    /// whose play starts with it.
    fn round(&mut self, info: &[u8], at: u64, now: u64, acts: &mut Vec<Act>) {
        let same = |phase| !matches!(phase, GamePhase::Over | GamePhase::Ended);
        if !self
            .game
            .as_ref()
            .is_some_and(|game| same(game.progress.phase()))
        {
            self.end_if_over(at, now, acts);
            self.slots.forget_entries();
            self.begin(info, at, now, acts);
            for number in 0..self.slots.len() {
                self.update_slot(number, None, now, acts);
            }
        }
        self.start(at, acts);
    }

    fn start(&mut self, at: u64, acts: &mut Vec<Act>) {
        // A warm-up before this game means that there will be one before the next game.
        self.warms_up = std::mem::take(&mut self.warmed);
        if let Some(game) = &mut self.game {
            game.start(at, &self.slots, &mut self.link.outbox(acts));
        }
    }

    /// Called if another game begins or the server shuts down: a game that is over gets no more
    /// results.
    fn end_if_over(&mut self, at: u64, now: u64, acts: &mut Vec<Act>) {
        let phase = self.game.as_ref().map(|game| game.progress.phase());
        if phase == Some(GamePhase::Over) {
            self.end(at, now, acts);
        }
    }

    fn end(&mut self, at: u64, now: u64, acts: &mut Vec<Act>) {
        let Some(game) = &mut self.game else { return };
        game.progress.enter(GamePhase::Ended, at);
        self.link.end(game.progress.is_complete(), acts);
        self.lull = Lull::new(now);
        for number in 0..self.slots.len() {
            self.update_slot(number, None, now, acts);
        }
    }

    /// Updates the daemon's roster for a slot. `at` is the log's clock; it is `None` if the whole
    /// roster is sent, and not because of a line in the log.
    pub(super) fn update_slot(
        &mut self,
        number: usize,
        at: Option<u64>,
        now: u64,
        acts: &mut Vec<Act>,
    ) {
        let Some(game) = self.game.as_mut().filter(|_| self.link.connected) else {
            return;
        };
        if game.progress.phase() == GamePhase::Over {
            return;
        }
        let late = at.is_some_and(|at| game.progress.is_late(at))
            && game.progress.is_complete()
            && game.setup.teams;
        let slot = self.slots.get(number);
        let new = slot.is_some_and(|slot| slot.entry.is_none());
        let human = slot.is_some_and(|slot| !slot.is_bot());
        let unplaced = self.settings.auto_balance && late && new && human;
        let requests = self
            .slots
            .update(number, game.setup.teams, &self.settings, unplaced);
        if requests.is_empty() {
            return;
        }
        acts.extend(requests.into_iter().map(Act::Send));
        let team = self.slots.get(number).and_then(Slot::team);
        if let Some(entry) = self.slots.slot(number).entry.as_mut().filter(|_| new) {
            let first = game.met.insert(entry.id.clone());
            let id = entry.ident();
            match (unplaced, first, team) {
                (true, true, _) => {
                    entry.placing = true;
                    self.doubt = Some(now);
                    acts.push(Act::Send(Request::Place(id)));
                }
                // The player was in this game before, and is back on a team of their choice.
                (true, false, Some(team)) => {
                    entry.team = Some(team);
                    acts.push(Act::Send(Request::Move { id, team }));
                }
                _ => {}
            }
        }
        self.lull.change(now);
    }
}
