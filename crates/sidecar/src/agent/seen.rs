//! What the log shows: the game that runs, and the clients.

use std::collections::BTreeMap;

use super::{
    guests::{GuestKind, Guests},
    hosted::TEAMS,
};
use crate::{
    link::name_ident,
    logged::{LoggedPlayer, LoggedSetup},
    progress::{GamePhase, LoggedGame},
};
use evenkeel_ingest::GameEvent;
use evenkeel_model::Ident;
use evenkeel_protocol::{Join, Request};

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
