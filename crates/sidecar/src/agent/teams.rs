//! Who is on the game server: recognises players by their passes or names, and orders them onto their teams.

use super::{
    Act, Agent, HostEngine, IdentityProof, console::ConsoleQuestion, hosted::AgentStage,
    seen::GuestKind,
};
use crate::progress::{GamePhase, LoggedPlayer};

impl<E: HostEngine> Agent<E> {
    /// Asks who the clients are, and orders them to where they belong.
    pub(super) fn admit(&mut self, now: u64, acts: &mut Vec<Act>) {
        let Some(hosted) = &self.hosted else { return };
        let running = self.seen.game_of(hosted.id);
        let phase = running.map(|running| running.phase());
        if !matches!(phase, Some(GamePhase::WarmUp | GamePhase::Playing)) {
            return;
        }
        for seat in self.seen.drop_missing(now) {
            self.report_departure(seat, acts);
        }
        self.seat_again();
        if let Some((number, visit)) = self.seen.guests.next_doubtful(now) {
            self.find_out(number, visit, now, acts);
        }
        self.order(now);
    }

    /// Seats known players again after a new game has begun, so that what they do has their identity.
    fn seat_again(&mut self) {
        let Some(hosted) = &self.hosted else { return };
        for (index, seat) in hosted.seats.iter().enumerate() {
            if let Some(number) = self.seen.guests.number_of(index)
                && !self.seen.is_seated(number)
            {
                self.seen.seat(number, &seat.player, seat.team);
            }
        }
    }

    /// Finds out who a client is.
    fn find_out(&mut self, number: usize, visit: u64, now: u64, acts: &mut Vec<Act>) {
        let client = self.seen.clients.get(&number);
        if client.is_some_and(LoggedPlayer::is_bot) {
            self.judge(number, visit, GuestKind::Stranger);
            return;
        }
        let name = client.map_or("", |client| client.name.as_str());
        match self.engine.proof(number, name) {
            IdentityProof::Ask(command) => {
                let question = ConsoleQuestion::Guest(number, visit);
                if self.console.ask(question, command, now, acts) {
                    self.seen.guests.asked(number, now);
                }
            }
            IdentityProof::Name(name) if self.seen.names(number) => {
                self.recognise_name(number, visit, &name, acts);
            }
            // The log has not named the client since the map was loaded.
            IdentityProof::Name(_) => self.seen.guests.asked(number, now),
        }
    }

    /// Decides by the name who a client is. A name that is in use already is that of the one who came first.
    fn recognise_name(&mut self, number: usize, visit: u64, name: &str, acts: &mut Vec<Act>) {
        let seat = self
            .hosted
            .as_ref()
            .and_then(|hosted| hosted.seat_named(name));
        let holder = seat.and_then(|seat| self.seen.guests.number_of(seat));
        let free = holder.is_none_or(|holder| holder == number);
        match seat.filter(|_| free) {
            Some(seat) => self.arrive(number, visit, seat, acts),
            None => self.turn_away(number, visit, acts),
        }
    }

    /// Handles the answer to a question about a client.
    pub(super) fn recognise(
        &mut self,
        number: usize,
        visit: u64,
        answer: &[u8],
        now: u64,
        acts: &mut Vec<Act>,
    ) {
        // A client that has left in the meantime is asked about again, if there is one.
        let Some(pass) = self.engine.shown_pass(answer) else {
            return;
        };
        if self.seen.guests.visitor(number, visit).is_none() {
            return;
        }
        let valid = self.settings.pass_valid;
        let Some(hosted) = &self.hosted else { return };
        let expired = hosted
            .ready
            .is_some_and(|at| now >= at.saturating_add(valid));
        let arrived = |seat: usize| hosted.seats.get(seat).is_some_and(|seat| seat.arrived);
        let seat = hosted.seat_of(pass);
        match seat.filter(|&seat| !expired || arrived(seat)) {
            Some(seat) => self.arrive(number, visit, seat, acts),
            None => self.turn_away(number, visit, acts),
        }
    }

    /// A client is no player of the match, or not any more.
    fn turn_away(&mut self, number: usize, visit: u64, acts: &mut Vec<Act>) {
        let was = self.judge(number, visit, GuestKind::Stranger);
        if let Some(GuestKind::Player(seat)) = was {
            self.report_departure(seat, acts);
        }
    }

    /// A client has proved to be a player.
    fn arrive(&mut self, number: usize, visit: u64, seat: usize, acts: &mut Vec<Act>) {
        // The player has come again, and the older client may be a connection that is dead.
        let older = self.seen.guests.number_of(seat);
        let known = older == Some(number);
        if let Some(older) = older.filter(|_| !known) {
            self.console.push([self.engine.kick(older)]);
            self.seen.left(older);
        }
        self.judge(number, visit, GuestKind::Player(seat));
        let Some(hosted) = &mut self.hosted else {
            return;
        };
        let Some(place) = hosted.seats.get_mut(seat) else {
            return;
        };
        let join = self.seen.seat(number, &place.player, place.team);
        if known {
            return;
        }
        let first = !std::mem::replace(&mut place.arrived, true);
        let again = if first { "" } else { " again" };
        let text = format!("{} is here{again}, on client number {number}", place.player);
        if first && hosted.stage == AgentStage::Playing {
            acts.push(Act::Keep(Some(hosted.clone())));
        }
        self.report(&text, acts);
        self.link.send(join, acts);
    }

    /// Notes who a client is. Returns who it was.
    fn judge(&mut self, number: usize, visit: u64, kind: GuestKind) -> Option<GuestKind> {
        let guest = self.seen.guests.visitor(number, visit)?;
        guest.doubtful = false;
        let was = std::mem::replace(&mut guest.kind, kind);
        if kind == GuestKind::Stranger {
            self.seen.unseat(number);
        }
        Some(was)
    }

    /// Orders every player onto the team of the match, and strangers and bots off the teams or off
    /// the game server.
    fn order(&mut self, now: u64) {
        let Some(hosted) = &self.hosted else { return };
        let watch = self.settings.strangers_watch;
        let mut commands = Vec::new();
        let (clients, guests) = (&self.seen.clients, &mut self.seen.guests);
        for (number, guest) in guests.iter_mut() {
            let Some(client) = clients.get(&number) else {
                continue;
            };
            let command = match guest.kind {
                GuestKind::Player(seat) => {
                    let team = hosted.seats.get(seat).map(|seat| seat.team);
                    let wrong = client.begun && client.side != team;
                    wrong.then(|| self.engine.assign(number, team))
                }
                GuestKind::Stranger if watch && !client.is_bot() => {
                    let plays = client.side.is_some();
                    plays.then(|| self.engine.assign(number, None))
                }
                GuestKind::Stranger => Some(self.engine.kick(number)),
                GuestKind::Unknown => None,
            };
            if let Some(command) = command
                && guest.order(now)
            {
                commands.push(command);
            }
        }
        self.console.push(commands);
    }

    /// Whether all players are on their teams.
    pub(super) fn is_complete(&self) -> bool {
        let Some(hosted) = &self.hosted else {
            return false;
        };
        let mut seats = hosted.seats.iter().enumerate();
        seats.all(|(number, seat)| {
            let number = self.seen.guests.number_of(number);
            number.is_some_and(|number| self.seen.team(number) == Some(seat.team))
        })
    }

    /// Whether each team has a player of the match.
    pub(super) fn has_both_teams(&self) -> bool {
        let Some(hosted) = &self.hosted else {
            return false;
        };
        let present = |team: u8| {
            let mut seats = hosted.seats.iter().enumerate();
            seats.any(|(number, seat)| {
                seat.team == team && self.seen.guests.number_of(number).is_some()
            })
        };
        present(0) && present(1)
    }
}
