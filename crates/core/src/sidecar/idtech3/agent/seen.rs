//! What the log shows: the game that runs, and the clients.

use std::collections::BTreeMap;

use super::{
    guests::{GuestKind, Guests},
    seen_game::SeenGame,
};
use crate::{
    domain::Ident,
    ingest::idtech3::{
        grammar::Event,
        scoring::{KillScore, TEAMS, TeamPoints},
    },
    protocol::{Join, Request},
    sidecar::{
        idtech3::slots::{Slot, Slots},
        link::name_ident,
        progress::GamePhase,
    },
};

/// How long the results may take after the end of play, in milliseconds.
const RESULTS: u64 = 3_000;
/// How long after its beginning a game is in play that has not announced a warm-up, in milliseconds.
const OPENING: u64 = 1_500;

/// What the log shows of the game server.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) running: Option<SeenGame>,
    pub(super) slots: Slots,
    /// The identities of the players of the match, by client number.
    seated: BTreeMap<usize, Ident>,
    pub(super) guests: Guests,
}

impl Seen {
    /// The game of this match, if it runs.
    pub(super) fn game_of(&self, id: i64) -> Option<&SeenGame> {
        let running = self.running.as_ref();
        running.filter(|running| running.match_id == Some(id))
    }

    /// The map that runs.
    pub(super) fn map(&self) -> Option<&str> {
        Some(&self.running.as_ref()?.game.setup.map)
    }

    /// Forgets everything, because the game server has ended.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Begins a game.
    pub(super) fn begin(&mut self, info: &[u8], at: u64, now: u64) {
        self.running = Some(SeenGame::new(info, at, now));
        self.slots = Slots::default();
        self.seated.clear();
        self.guests.doubt_all();
    }

    /// Handles an event other than the beginning of a game and a client's departure. Returns what it
    /// means for the daemon, of a game in play.
    pub(super) fn take(&mut self, event: Event<'_>, at: u64, now: u64) -> Vec<Request> {
        if let Some(number) = self.slots.take(&event) {
            self.guests.saw(number);
        }
        let Some(running) = &mut self.running else {
            return Vec::new();
        };
        let opened = running.phase == GamePhase::Opening && running.game.has_opened(at);
        if opened && event != Event::Warmup {
            running.start(now);
        }
        match event {
            Event::Warmup => running.enter(GamePhase::WarmUp, now),
            Event::Exit if running.phase == GamePhase::Playing => {
                running.enter(GamePhase::Over, now);
            }
            Event::Shutdown => running.enter(GamePhase::Ended, now),
            play => return self.play(play),
        }
        Vec::new()
    }

    fn play(&mut self, event: Event<'_>) -> Vec<Request> {
        let Some(running) = &mut self.running else {
            return Vec::new();
        };
        let playing = running.phase == GamePhase::Playing;
        let over = running.phase == GamePhase::Over;
        match event {
            Event::Kill {
                killer,
                victim,
                team_change,
            } if playing => self.kill(killer, victim, team_change),
            Event::Capture { by, flag } if playing => self
                .score(TeamPoints::of_capture(flag, by))
                .into_iter()
                .collect(),
            Event::TeamScore { team, total } if playing => {
                self.total(team, total).into_iter().collect()
            }
            Event::Result([red, blue]) if over && running.game.note_result() => {
                let changes = [self.total(1, red), self.total(2, blue)];
                changes.into_iter().flatten().collect()
            }
            Event::Points { client, points } if over => {
                let Some(id) = self.seated.get(&client) else {
                    return Vec::new();
                };
                let (id, points) = (id.clone(), points as f64);
                let first = running.game.note_points(client);
                first
                    .then_some(Request::Points { id, points })
                    .into_iter()
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// Handles a death in play. `killer` is `None` for the world; `team_change` is set if the game kills a
    /// player to change their team.
    fn kill(&mut self, killer: Option<usize>, victim: usize, team_change: bool) -> Vec<Request> {
        let Some(running) = &self.running else {
            return Vec::new();
        };
        let team_of = |number| self.slots.team(number);
        let kill = KillScore::of(&running.game.setup, killer, victim, team_change, team_of);
        let killer = kill
            .enemy_killed_by
            .and_then(|number| self.seated.get(&number));
        let kills = killer
            .zip(self.seated.get(&victim))
            .map(|(killer, victim)| Request::Kill {
                killer: killer.clone(),
                victim: victim.clone(),
            });
        let mut requests: Vec<Request> = kills.into_iter().collect();
        requests.extend(kill.points.and_then(|points| self.score(points)));
        requests
    }

    fn score(&mut self, change: TeamPoints) -> Option<Request> {
        let TeamPoints { team, points, by } = change;
        let running = self
            .running
            .as_mut()
            .filter(|running| running.game.setup.teams)?;
        *running.totals.0.get_mut(usize::from(team))? += points;
        Some(Request::Score {
            team,
            points: points as f64,
            by: by.and_then(|number| self.seated.get(&number)).cloned(),
        })
    }

    /// Handles a team's total in the log. Returns the difference to the total before.
    fn total(&mut self, team: i64, total: i64) -> Option<Request> {
        let running = self.running.as_mut()?;
        let TeamPoints { team, points, .. } = running.totals.replace(team, total)?;
        running.game.setup.teams.then_some(Request::Score {
            team,
            points: points as f64,
            by: None,
        })
    }

    /// Seats the player on a client number under an identity and on a team that the daemon has chosen.
    /// Returns the request that reports the player.
    pub(super) fn seat(&mut self, number: usize, player: &str, team: u8) -> Request {
        let id = Ident::from_text(player);
        self.seated.insert(number, id.clone());
        let slot = self.slots.get(number);
        let name = slot.map_or_else(|| Slot::default().client.name(), |slot| slot.client.name());
        let mut join = Join::new(id);
        join.name = Some(name_ident(&name));
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
        self.slots.remove(number);
        self.seated.remove(&number);
        self.guests.left(number)
    }

    /// Lets time pass: a game that has not announced a warm-up is in play after a while.
    pub(super) fn tick(&mut self, now: u64) {
        if let Some(running) = &mut self.running
            && running.phase == GamePhase::Opening
            && now >= running.since + OPENING
        {
            running.start(now);
        }
    }

    /// The final scores of the game of a match, once all results are there or overdue.
    pub(super) fn result(&self, id: i64, overdue: bool, now: u64) -> Option<[i64; TEAMS]> {
        let running = self.game_of(id)?;
        let late = overdue || now >= running.since + RESULTS;
        let over = running.phase == GamePhase::Over;
        let whole = running.game.has_results(self.seated.keys().copied());
        (over && (late || whole)).then_some(running.totals.0)
    }

    /// Whether this client is a bot.
    pub(super) fn is_bot(&self, number: usize) -> bool {
        self.slots.get(number).is_some_and(Slot::is_bot)
    }

    /// The team on which a client plays.
    pub(super) fn team(&self, number: usize) -> Option<u8> {
        self.slots.team(number)
    }

    /// Whether the log has named this client since the game began.
    pub(super) fn names(&self, number: usize) -> bool {
        let slot = self.slots.get(number);
        slot.is_some_and(|slot| slot.client.is_known() || slot.client.begun)
    }

    /// A while after a game has begun: drops the clients that the log has not named since. Returns the
    /// seats of those who were players.
    pub(super) fn drop_missing(&mut self, now: u64) -> Vec<usize> {
        let running = self.running.as_ref();
        if running.is_none_or(|running| now < running.since + RESULTS) {
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
