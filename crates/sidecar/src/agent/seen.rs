//! What the log shows: the game that runs, and the clients, with those of them who are players of the match.

use std::collections::BTreeMap;

use evenkeel_ingest::GameEvent;
use evenkeel_model::ident::Ident;
use evenkeel_protocol::{Request, request::Join};

use super::hosted::TEAMS;
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
