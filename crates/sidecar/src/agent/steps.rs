//! The course of a hosted match: how it goes from state to state, by what the log shows, what happens in play, and
//! how play ends.

use evenkeel_ingest::GameEvent;
use evenkeel_model::{Ident, Verdict};
use evenkeel_protocol::{HostRequest, Join, Request};

use super::{
    Act, Agent, CONFIRM, HostEngine, NO_MAP,
    console::ConsoleQuestion,
    hosted::{AgentStage, LoadStep, TEAMS},
    leave,
    link::Refusable,
    seen::GuestKind,
};
use crate::progress::GamePhase;

/// The time between the settings and the map, in milliseconds. The game server executes the file with
/// the settings only after it has read all packets that wait.
const SETTLE: u64 = 1_000;
/// How long a map may take to load before it is loaded again.
const LOADING: u64 = 8_000;
/// How often the map of a match is loaded.
const LOADS: u32 = 3;
/// How long the game server may be silent before a match is refused, in milliseconds.
const SILENT: u64 = 15_000;
/// How long after a change of the warm-up play must have begun.
const HURRY: u64 = 15_000;

impl<E: HostEngine> Agent<E> {
    pub(super) fn step(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.console.watch(E::ALIVE, now, acts);
        let mut events = Vec::new();
        self.engine.tick(now, &mut events);
        self.take_events(events, now, acts);
        self.offer(now, acts);
        self.confirm(now, acts);
        match self.stage() {
            None => self.rest(now),
            Some(AgentStage::Opening) => self.open(now, acts),
            Some(AgentStage::Joining) => {
                self.admit(now, acts);
                self.gather(now, acts);
            }
            Some(AgentStage::Playing) => {
                self.admit(now, acts);
                self.follow(now, acts);
            }
            Some(AgentStage::Over) => self.send_result(now, acts),
            Some(AgentStage::Lost) => self.give_up(now, acts),
        }
    }

    /// Sends INSTANCE once the game server answers.
    fn offer(&mut self, now: u64, acts: &mut Vec<Act>) {
        if !self.link.is_up() || self.link.offered || !self.console.answers() {
            return;
        }
        self.link.offered = true;
        self.confirm_by = Some(now.saturating_add(CONFIRM));
        let settings = &self.settings;
        let offer = HostRequest::Instance {
            address: settings.address.clone(),
            region: settings.region.clone(),
            slots: 1,
            modes: settings.mode_names(),
            maps: settings.maps.iter().cloned().collect(),
            partition: None,
        };
        self.link
            .send_checked(Request::Host(offer), Refusable::Instance, acts);
    }

    /// After the time for SESSION to come again: drops a match that the daemon has given to another
    /// instance, and gives up a game whose players are not known any more.
    fn confirm(&mut self, now: u64, acts: &mut Vec<Act>) {
        if self.confirm_by.is_none_or(|until| now < until) {
            return;
        }
        self.confirm_by = None;
        match &self.hosted {
            Some(hosted) if !hosted.is_kept() && !hosted.confirmed => {
                let text = format!("match {} is not hosted here any more", hosted.id);
                self.report(&text, acts);
                self.leave(now, acts);
            }
            None if self.has_game => self.send_game(acts),
            _ => {}
        }
    }

    /// GAME gives up the game that the daemon's session has.
    fn send_game(&mut self, acts: &mut Vec<Act>) {
        self.has_game = false;
        self.link
            .send(Request::Game(Ident::from_text("none")), acts);
    }

    /// Without a match: clears the game server after the last one.
    fn rest(&mut self, now: u64) {
        if self.clear_at.is_none_or(|at| now < at)
            || self.confirm_by.is_some()
            || !self.link.offered
            || !self.console.answers()
        {
            return;
        }
        self.clear_at = None;
        let lock = self.settings.lock.clone();
        if lock.is_some() {
            self.kick_all();
        }
        let lock = self.engine.lock(&lock.unwrap_or_default());
        self.console.push([lock, self.engine.forget()]);
    }

    fn kick_all(&mut self) {
        let numbers = self.seen.guests.numbers();
        let kicks = numbers.into_iter().map(|n| self.engine.kick(n));
        self.console.push(kicks);
    }

    /// Loads the map; sends READY once it is up.
    fn open(&mut self, now: u64, acts: &mut Vec<Act>) {
        let Some(hosted) = &mut self.hosted else {
            return;
        };
        let id = hosted.id;
        let running = self.seen.game_of(id).filter(|running| {
            let ended = matches!(running.phase(), GamePhase::Over | GamePhase::Ended);
            !ended && running.setup.map == hosted.map
        });
        if let Some(running) = running {
            if running.phase() == GamePhase::Opening {
                // It is not known yet whether it begins with a warm-up.
                return;
            }
            if !running.setup.teams {
                return self.refuse("the game has no teams", now, acts);
            }
            if self.link.is_up() && hosted.confirmed {
                (hosted.stage, hosted.synced) = (AgentStage::Joining, false);
                hosted.ready.get_or_insert(now);
                self.has_game = true;
                let address = None;
                let ready = Request::Host(HostRequest::Ready { id, address });
                self.link.send_checked(ready, Refusable::Ready(id), acts);
            }
        } else if self.console.silent_for(now) >= SILENT {
            self.refuse("the game server does not answer", now, acts);
        } else if now >= self.free_at {
            self.load(now, acts);
        }
    }

    fn load(&mut self, now: u64, acts: &mut Vec<Act>) {
        let Some(hosted) = &mut self.hosted else {
            return;
        };
        match hosted.load {
            LoadStep::Waits if hosted.loads >= LOADS => {
                self.refuse("the map did not load", now, acts);
            }
            LoadStep::Waits if self.console.answers() => {
                hosted.load = LoadStep::Set(now);
                let limits = self.settings.limit_commands(&hosted.queue);
                let commands = self.engine.prepare(hosted, limits);
                self.kick_all();
                self.console.push(commands);
            }
            LoadStep::Set(at) if now >= at + SETTLE && self.console.is_empty() => {
                let command = self.engine.load(&hosted.map);
                let question = ConsoleQuestion::Load(hosted.id);
                if self.console.ask(question, command, now, acts) {
                    hosted.load = LoadStep::Asked(now);
                    hosted.loads += 1;
                }
            }
            LoadStep::Asked(at) if now >= at + LOADING => hosted.load = LoadStep::Waits,
            _ => {}
        }
    }

    /// Before START: waits for the players, then ends the warm-up.
    fn gather(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.sync(acts);
        let Some(hosted) = &mut self.hosted else {
            return;
        };
        let running = self.seen.game_of(hosted.id);
        let running = running.filter(|running| running.setup.map == hosted.map);
        let Some(running) = running else {
            let text = format!("match {} is opened again: its game is gone", hosted.id);
            hosted.reopen();
            return self.report(&text, acts);
        };
        match running.phase() {
            GamePhase::WarmUp => self.hurry(now),
            GamePhase::Playing if self.has_both_teams() => self.start(acts),
            GamePhase::Over => self.start(acts),
            _ if self.console.silent_for(now) >= SILENT => {
                self.refuse("the game server does not answer", now, acts);
            }
            _ => {}
        }
    }

    /// Ends the warm-up if all players are on their teams.
    fn hurry(&mut self, now: u64) {
        if !self.is_complete() {
            return;
        }
        let Some(hosted) = &mut self.hosted else {
            return;
        };
        let times = match hosted.hurried {
            None => 0,
            Some((at, times)) if now >= at + HURRY => times + 1,
            Some(_) => return,
        };
        hosted.hurried = Some((now, times));
        let id = hosted.id;
        let say = format!("say Evenkeel: all players are here, match {id} begins");
        self.console.push([say]);
        self.console.push(self.engine.begin(times));
    }

    /// Play has begun: sends START. The match is kept on disk first.
    pub(super) fn start(&mut self, acts: &mut Vec<Act>) {
        let Some(hosted) = self.hosted.as_mut().filter(|_| self.link.is_up()) else {
            return;
        };
        (hosted.stage, hosted.synced, hosted.hurried) = (AgentStage::Playing, false, None);
        hosted.points.clear();
        hosted.start_unanswered = true;
        let id = hosted.id;
        acts.push(Act::Keep(Some(hosted.clone())));
        self.link
            .send_checked(Request::Start, Refusable::Start(id), acts);
        acts.push(Act::Report(format!("match {id} has begun")));
    }
}

/// The most points of players that are kept for the end of a game.
const MAX_POINTS: usize = 256;
/// How long the game server may be silent before a game in play is given up, in milliseconds.
const SILENT_IN_PLAY: u64 = 60_000;
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

    fn take_events(&mut self, events: Vec<GameEvent>, now: u64, acts: &mut Vec<Act>) {
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
            Some(_) if self.console.silent_for(now) >= SILENT_IN_PLAY => {
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
    fn send_result(&mut self, now: u64, acts: &mut Vec<Act>) {
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
