//! Who is on the game server: what the log shows of the game that runs and of its clients, which of them are players of the
//! match, by their passes or names, and the orders that put them onto their teams.

use std::collections::BTreeMap;

use evenkeel_ingest::GameEvent;
use evenkeel_model::ident::Ident;
use evenkeel_protocol::{Request, request::Join};

use super::{
    Act, Agent, HostEngine, IdentityProof,
    console::ConsoleQuestion,
    hosted::{AgentStage, TEAMS},
};
use crate::{
    link::name_ident,
    progress::{GamePhase, LoggedGame, LoggedPlayer, LoggedSetup},
};

/// How long the results may take after the end of play, in milliseconds.
const RESULTS: u64 = 3_000;

/// What the log shows of the game server.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) running: Option<LoggedGame>,
    /// The scores of the game so far.
    pub(super) totals: [i64; TEAMS],
    pub(super) clients: BTreeMap<usize, LoggedPlayer>,
    /// The identities of the players of the match, by client number.
    seated: BTreeMap<usize, Ident>,
    pub(super) guests: Guests,
}

impl Seen {
    /// The game of this match, if it runs.
    pub(super) fn game_of(&self, id: i64) -> Option<&LoggedGame> {
        let running = self.running.as_ref();
        running.filter(|running| running.setup.match_id == Some(id))
    }

    /// The map that runs.
    pub(super) fn map(&self) -> Option<&str> {
        Some(&self.running.as_ref()?.setup.map)
    }

    /// Forgets everything, because the game server has ended.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// A game begins.
    pub(super) fn begin(&mut self, setup: LoggedSetup, now: u64) {
        self.running = Some(LoggedGame::new(setup, now));
        self.totals = [0; TEAMS];
        self.clients.clear();
        self.seated.clear();
        self.guests.doubt_all();
    }

    /// The log has named a client.
    pub(super) fn saw(&mut self, number: usize, client: Option<LoggedPlayer>) {
        if let Some(client) = client {
            self.clients.insert(number, client);
            self.guests.saw(number);
        }
    }

    /// Handles what happens in a game. Returns what it means for the daemon, of a game in play.
    pub(super) fn take(&mut self, event: GameEvent, now: u64) -> Vec<Request> {
        let Some(running) = &mut self.running else {
            return Vec::new();
        };
        let playing = running.phase() == GamePhase::Playing;
        let over = running.phase() == GamePhase::Over;
        match event {
            GameEvent::WarmUp => running.enter(GamePhase::WarmUp, now),
            GameEvent::Round if over => {}
            GameEvent::Start | GameEvent::Round => {
                running.enter(GamePhase::Playing, now);
                if !playing {
                    self.totals = [0; TEAMS];
                }
            }
            GameEvent::Over if playing => running.enter(GamePhase::Over, now),
            GameEvent::Closed => running.enter(GamePhase::Ended, now),
            GameEvent::Death {
                victim, by, enemy, ..
            } if playing => {
                let killer = by.filter(|_| enemy);
                return self.death(killer, victim).into_iter().collect();
            }
            GameEvent::Score { team, points, by } if playing => {
                return self.score(team, points as i64, by).into_iter().collect();
            }
            GameEvent::Total { team, points } if playing => {
                return self.total(team, points as i64).into_iter().collect();
            }
            GameEvent::Result([Some(red), Some(blue), ..]) if over && running.note_result() => {
                let changes = [self.total(0, red as i64), self.total(1, blue as i64)];
                return changes.into_iter().flatten().collect();
            }
            GameEvent::Points { client, points } if over => {
                let Some(id) = self.seated.get(&client).cloned() else {
                    return Vec::new();
                };
                let first = running.note_points(client);
                return first
                    .then_some(Request::Points { id, points })
                    .into_iter()
                    .collect();
            }
            _ => {}
        }
        Vec::new()
    }

    /// A player has died. Who is killed by nobody whom the daemon knows has died, and nothing more.
    fn death(&self, killer: Option<usize>, victim: usize) -> Option<Request> {
        let victim = self.seated.get(&victim)?;
        let killer = killer.and_then(|killer| self.seated.get(&killer));
        Some(Request::Kill {
            killer: killer.unwrap_or(victim).clone(),
            victim: victim.clone(),
        })
    }

    fn score(&mut self, team: u8, points: i64, by: Option<usize>) -> Option<Request> {
        self.running.as_ref().filter(|game| game.setup.teams)?;
        *self.totals.get_mut(usize::from(team))? += points;
        Some(Request::Score {
            team,
            points: points as f64,
            by: by.and_then(|number| self.seated.get(&number)).cloned(),
        })
    }

    /// Handles a team's total in the log. Returns the difference to the total before.
    fn total(&mut self, team: u8, total: i64) -> Option<Request> {
        let points = total - self.totals.get(usize::from(team))?;
        (points != 0).then(|| self.score(team, points, None))?
    }

    /// Seats the player on a client number under an identity and on a team that the daemon has chosen.
    /// Returns the request that reports the player.
    pub(super) fn seat(&mut self, number: usize, player: &str, team: u8) -> Request {
        let id = Ident::from_text(player);
        self.seated.insert(number, id.clone());
        let client = self.clients.get(&number);
        let name = client.map_or("", |client| client.name.as_str());
        let mut join = Join::new(id);
        join.name = Some(name_ident(name));
        join.team = Some(team);
        Request::Join(join)
    }

    /// Whether the client number has a player of the match.
    pub(super) fn is_seated(&self, number: usize) -> bool {
        self.seated.contains_key(&number)
    }

    /// The client is none of the players of the match.
    pub(super) fn unseat(&mut self, number: usize) {
        self.seated.remove(&number);
    }

    /// Forgets who the players of the match are.
    pub(super) fn forget_players(&mut self) {
        self.guests.forget_players();
        self.seated.clear();
    }

    /// A client has left. Returns who it was.
    pub(super) fn left(&mut self, number: usize) -> Option<GuestKind> {
        self.clients.remove(&number);
        self.seated.remove(&number);
        self.guests.left(number)
    }

    /// The final scores of the game of a match, once all results are there or overdue.
    pub(super) fn result(&self, id: i64, overdue: bool, now: u64) -> Option<[i64; TEAMS]> {
        let running = self.game_of(id)?;
        let late = overdue || running.lasted(now) >= RESULTS;
        let over = running.phase() == GamePhase::Over;
        let whole = running.has_results(self.seated.keys().copied());
        (over && (late || whole)).then_some(self.totals)
    }

    /// The team on which a client plays.
    pub(super) fn team(&self, number: usize) -> Option<u8> {
        self.clients.get(&number)?.side
    }

    /// Whether the log has named this client since the game began.
    pub(super) fn names(&self, number: usize) -> bool {
        self.clients.contains_key(&number)
    }

    /// A while after a game has begun: drops the clients that the log has not named since. Returns the
    /// seats of those who were players.
    pub(super) fn drop_missing(&mut self, now: u64) -> Vec<usize> {
        let running = self.running.as_ref();
        if running.is_none_or(|running| running.lasted(now) < RESULTS) {
            return Vec::new();
        }
        let mut missing = self.guests.numbers();
        missing.retain(|number| !self.names(*number));
        let seats = missing
            .into_iter()
            .filter_map(|number| match self.guests.left(number)? {
                GuestKind::Player(seat) => Some(seat),
                GuestKind::Unknown | GuestKind::Stranger => None,
            });
        seats.collect()
    }
}

/// The shortest time between two questions about the same client, in milliseconds.
const AGAIN: u64 = 2_000;
/// The time that an order about a client may take before it is given again.
const PATIENCE: u64 = 3_000;

/// Who a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GuestKind {
    /// Not known yet.
    Unknown,
    /// The player on this seat of the match.
    Player(usize),
    /// A client without a valid pass.
    Stranger,
}

/// A client on the game server.
#[derive(Clone, Debug)]
pub(super) struct Guest {
    pub(super) kind: GuestKind,
    /// Distinguishes clients that have had the same client number.
    pub(super) visit: u64,
    /// Whether it is to be found out who the client is, perhaps once more.
    pub(super) doubtful: bool,
    asked: Option<u64>,
    ordered: Option<u64>,
}

impl Guest {
    /// Whether to ask about the client now.
    fn is_due(&self, now: u64) -> bool {
        self.doubtful && self.asked.is_none_or(|at| now >= at + AGAIN)
    }

    /// Whether to give an order about the client now. Notes that it was given.
    pub(super) fn order(&mut self, now: u64) -> bool {
        let due = self.ordered.is_none_or(|at| now >= at + PATIENCE);
        if due {
            self.ordered = Some(now);
        }
        due
    }
}

/// The clients on the game server, by client number.
#[derive(Debug, Default)]
pub(super) struct Guests {
    guests: BTreeMap<usize, Guest>,
    visits: u64,
}

impl Guests {
    /// A line of the log concerns this client: it may be new, or have sent something else of itself.
    pub(super) fn saw(&mut self, number: usize) {
        let visits = &mut self.visits;
        let guest = self.guests.entry(number).or_insert_with(|| {
            *visits += 1;
            Guest {
                kind: GuestKind::Unknown,
                visit: *visits,
                doubtful: true,
                asked: None,
                ordered: None,
            }
        });
        guest.doubtful |= !matches!(guest.kind, GuestKind::Player(_));
    }

    /// A client has left. Returns who it was.
    pub(super) fn left(&mut self, number: usize) -> Option<GuestKind> {
        self.guests.remove(&number).map(|guest| guest.kind)
    }

    /// A game begins, for which the log names all clients again. Client numbers may have got other
    /// clients in between, so all passes are read again.
    fn doubt_all(&mut self) {
        for guest in self.guests.values_mut() {
            guest.doubtful = true;
            guest.asked = None;
        }
    }

    /// Forgets who the clients are, because the match is another one.
    pub(super) fn forget_players(&mut self) {
        for guest in self.guests.values_mut() {
            (guest.kind, guest.doubtful) = (GuestKind::Unknown, true);
            (guest.asked, guest.ordered) = (None, None);
        }
    }

    /// The client to ask about next: the one that was not asked about for longest.
    pub(super) fn next_doubtful(&self, now: u64) -> Option<(usize, u64)> {
        let due = self.guests.iter().filter(|(_, guest)| guest.is_due(now));
        let next = due.min_by_key(|(number, guest)| (guest.asked, **number));
        next.map(|(number, guest)| (*number, guest.visit))
    }

    /// Notes that a question about a client was sent.
    pub(super) fn asked(&mut self, number: usize, now: u64) {
        if let Some(guest) = self.guests.get_mut(&number) {
            guest.asked = Some(now);
        }
    }

    /// The client of this number, if it is still the same visit.
    pub(super) fn visitor(&mut self, number: usize, visit: u64) -> Option<&mut Guest> {
        let guest = self.guests.get_mut(&number);
        guest.filter(|guest| guest.visit == visit)
    }

    /// The client number of the player on this seat.
    pub(super) fn number_of(&self, seat: usize) -> Option<usize> {
        let mut guests = self.guests.iter();
        let found = guests.find(|(_, guest)| guest.kind == GuestKind::Player(seat));
        found.map(|(number, _)| *number)
    }

    /// All clients, with their numbers.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (usize, &mut Guest)> {
        self.guests
            .iter_mut()
            .map(|(number, guest)| (*number, guest))
    }

    /// Whether some client may be a player who is not recognised yet.
    pub(super) fn has_doubtful(&self) -> bool {
        let mut guests = self.guests.values();
        guests.any(|guest| guest.doubtful && guest.kind == GuestKind::Unknown)
    }

    /// The numbers of all clients.
    pub(super) fn numbers(&self) -> Vec<usize> {
        self.guests.keys().copied().collect()
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_is_asked_about_in_turn() {
        let mut guests = Guests::default();
        guests.saw(3);
        guests.saw(1);
        assert_eq!(guests.next_doubtful(0), Some((1, 2)));
        guests.asked(1, 0);
        assert_eq!(guests.next_doubtful(0), Some((3, 1)));
        guests.asked(3, 0);
        assert_eq!(guests.next_doubtful(1_999), None);
        assert!(guests.visitor(3, 2).is_none(), "another visit");
        let guest = guests.visitor(3, 1).unwrap();
        (guest.kind, guest.doubtful) = (GuestKind::Player(0), false);
        guests.saw(3);
        assert_eq!(guests.next_doubtful(9_000), Some((1, 2)));
        assert_eq!(guests.number_of(0), Some(3));
        guests.doubt_all();
        assert_eq!(guests.left(3), Some(GuestKind::Player(0)));
        guests.saw(3);
        assert_eq!(
            guests.visitor(3, 3).map(|g| g.kind),
            Some(GuestKind::Unknown)
        );
    }
}
