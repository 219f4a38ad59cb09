//! The game in play: what has happened in it, and how it ends.

use super::{
    Act, Agent, HostEngine, NO_MAP,
    guests::GuestKind,
    hosted::{AgentStage, TEAMS},
    leave,
    link::Refusable,
};
use crate::progress::GamePhase;
use evenkeel_ingest::GameEvent;
use evenkeel_model::{Ident, Verdict};
use evenkeel_protocol::{Join, Request};

/// The most points of players that are kept for the end of a game.
const MAX_POINTS: usize = 256;
/// How long the game server may be silent before a game in play is given up, in milliseconds.
const SILENT: u64 = 60_000;
/// How long to wait for the answer to END before it is sent again.
const END_AGAIN: u64 = 10_000;

impl<E: HostEngine> Agent<E> {
    pub(super) fn read_log_line(&mut self, line: &[u8], now: u64, acts: &mut Vec<Act>) {
        if self.doubled.is_copy(line) {
            return;
        }
        let mut events = Vec::new();
        self.engine.log_line(line, now, &mut events);
        self.take_events(events, now, acts);
    }

    pub(super) fn take_events(&mut self, events: Vec<GameEvent>, now: u64, acts: &mut Vec<Act>) {
        for event in events {
            match event {
                GameEvent::Left(number) => {
                    if let Some(GuestKind::Player(seat)) = self.seen.left(number) {
                        self.report_departure(seat, acts);
                    }
                }
                GameEvent::Game => {
                    self.finish_if_over(true, now, acts);
                    self.seen.begin(self.engine.setup(), now);
                }
                GameEvent::Client(number) => self.seen.saw(number, self.engine.player(number)),
                GameEvent::NoMap if self.stage() == Some(AgentStage::Opening) => {
                    self.refuse(NO_MAP, now, acts);
                }
                event => {
                    if event == GameEvent::Closed {
                        self.finish_if_over(true, now, acts);
                    }
                    let requests = self.seen.take(event, now);
                    self.forward(requests, acts);
                }
            }
        }
    }

    /// Passes on what has happened in play.
    fn forward(&mut self, requests: Vec<Request>, acts: &mut Vec<Act>) {
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

    pub(super) fn report_departure(&mut self, seat: usize, acts: &mut Vec<Act>) {
        let Some(hosted) = &self.hosted else { return };
        let open = matches!(hosted.stage, AgentStage::Joining | AgentStage::Playing);
        if let Some(seat) = hosted.seats.get(seat).filter(|_| open) {
            acts.push(Act::Report(format!("{} has left", seat.player)));
            let leave = leave(&seat.player);
            self.link.send(leave, acts);
        }
    }

    /// In play: looks for the end of the game, also for one that was broken off.
    pub(super) fn follow(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.sync(acts);
        self.send_leavers(acts);
        let Some(hosted) = &self.hosted else { return };
        let why = match self.seen.game_of(hosted.id) {
            None => Some("the game server has begun another game"),
            Some(_) if self.console.silent_for(now) >= SILENT => {
                Some("the game server does not answer")
            }
            // Somebody has loaded the map again.
            Some(running) if running.phase() == GamePhase::WarmUp => {
                self.hurry(now);
                None
            }
            Some(_) => None,
        };
        match why {
            None => self.finish_if_over(false, now, acts),
            Some(why) => self.lose(why, acts),
        }
    }

    /// Sends the daemon the players who are here and, in play, the scores, whatever it knows of them.
    pub(super) fn sync(&mut self, acts: &mut Vec<Act>) {
        let Some(hosted) = self.hosted.as_mut().filter(|_| self.link.is_up()) else {
            return;
        };
        let runs = self.seen.game_of(hosted.id).is_some();
        if !runs || std::mem::replace(&mut hosted.synced, true) {
            return;
        }
        for (number, seat) in hosted.seats.iter().enumerate() {
            let client = self.seen.guests.number_of(number);
            if client.is_some_and(|client| self.seen.names(client)) {
                let mut join = Join::new(Ident::from_text(&seat.player));
                join.team = Some(seat.team);
                self.link.send(Request::Join(join), acts);
            }
        }
        if hosted.stage == AgentStage::Playing {
            for total in totals(self.seen.totals) {
                self.link.send(total, acts);
            }
        }
    }

    /// Once all clients are known: sends LEAVE for the players who have left while the agent was not
    /// running.
    fn send_leavers(&mut self, acts: &mut Vec<Act>) {
        let Some(hosted) = self.hosted.as_mut().filter(|_| self.link.is_up()) else {
            return;
        };
        let guests = &self.seen.guests;
        if guests.has_doubtful() || std::mem::replace(&mut hosted.leavers_sent, true) {
            return;
        }
        for (number, seat) in hosted.seats.iter().enumerate() {
            if seat.arrived && guests.number_of(number).is_none() {
                self.link.send(leave(&seat.player), acts);
            }
        }
    }

    /// If the game of the match is over and its results are known, or `overdue`: keeps them, and ends
    /// the match.
    pub(super) fn finish_if_over(&mut self, overdue: bool, now: u64, acts: &mut Vec<Act>) {
        let Some(hosted) = &self.hosted else { return };
        let Some(result) = self.seen.result(hosted.id, overdue, now) else {
            return;
        };
        if hosted.stage == AgentStage::Joining {
            self.start(acts);
        }
        if let Some(hosted) = &mut self.hosted
            && hosted.stage == AgentStage::Playing
        {
            (hosted.stage, hosted.totals, hosted.ended) = (AgentStage::Over, result, None);
            acts.push(Act::Keep(Some(hosted.clone())));
            self.send_result(now, acts);
        }
    }

    /// Sends the results and END, again until it is answered.
    pub(super) fn send_result(&mut self, now: u64, acts: &mut Vec<Act>) {
        let Some(hosted) = self.hosted.as_mut().filter(|_| self.link.is_up()) else {
            return;
        };
        if hosted.ended.is_some_and(|at| now < at + END_AGAIN) {
            return;
        }
        let first = hosted.ended.replace(now).is_none();
        // Without a game, the daemon may have recorded the match already: END has the same answer.
        if self.has_game && first {
            for request in totals(hosted.totals)
                .into_iter()
                .chain(hosted.points.clone())
            {
                self.link.send(request, acts);
            }
        }
        let verdict = match hosted.totals {
            [red, blue] if red > blue => Verdict::Won(0),
            [red, blue] if red < blue => Verdict::Won(1),
            _ => Verdict::Draw,
        };
        let id = hosted.id;
        self.link
            .send_checked(Request::End(verdict), Refusable::End(id), acts);
    }

    /// The game was broken off in play.
    pub(super) fn lose(&mut self, why: &str, acts: &mut Vec<Act>) {
        let Some(hosted) = &mut self.hosted else {
            return;
        };
        hosted.stage = AgentStage::Lost;
        let text = format!("match {} is given up: {why}", hosted.id);
        acts.push(Act::Keep(Some(hosted.clone())));
        self.report(&text, acts);
    }

    /// Gives the match up at the daemon, which records it as abandoned.
    pub(super) fn give_up(&mut self, now: u64, acts: &mut Vec<Act>) {
        if !self.link.is_up() {
            return;
        }
        if self.has_game {
            self.send_game(acts);
        }
        self.leave(now, acts);
    }
}

/// The requests that state the scores.
fn totals(totals: [i64; TEAMS]) -> [Request; 2] {
    let total = |team: u8| Request::Total {
        team,
        points: totals[usize::from(team)] as f64,
    };
    [total(0), total(1)]
}
