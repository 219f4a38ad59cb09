//! What the log shows: the game that runs, and the clients.

use super::guests::{GuestKind, Guests};
use crate::{
    domain::Kind,
    ingest::idtech3::{
        grammar::{Event, pairs},
        scoring::TEAMS,
        setup::GameSetup,
    },
    protocol::Request,
    sidecar::{
        Act,
        idtech3::{game::IdTech3Game, slots::Slots},
        link::Outbox,
        progress::GamePhase,
    },
};

/// The variable of the game server, shown in its log, that names the match of a game.
pub(super) const MATCH_VARIABLE: &str = "evenkeel_match";
/// How long the results may take after the end of play, in milliseconds.
const RESULTS: u64 = 3_000;
/// How long after its beginning a game is in play that has not announced a warm-up, in milliseconds.
const OPENING: u64 = 1_500;

/// The game that the log shows.
pub(super) struct SeenGame {
    pub(super) game: IdTech3Game,
    /// The match that it is, by the variable that the agent has set.
    pub(super) match_id: Option<i64>,
    /// When its phase was last entered.
    since: u64,
}

impl SeenGame {
    fn new(info: &[u8], at: u64, now: u64) -> Self {
        let mut id = None;
        for (key, value) in pairs(info) {
            if key == MATCH_VARIABLE.as_bytes() {
                id = std::str::from_utf8(value).ok();
            }
        }
        Self {
            game: IdTech3Game::new(GameSetup::read(info), at, true),
            match_id: id.and_then(|id| id.parse().ok()),
            since: now,
        }
    }

    pub(super) fn phase(&self) -> GamePhase {
        self.game.progress.phase()
    }

    fn enter(&mut self, phase: GamePhase, at: u64, now: u64) {
        self.game.progress.enter(phase, at);
        self.since = now;
    }
}

/// What the log shows of the game server.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) running: Option<SeenGame>,
    pub(super) slots: Slots,
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
        self.guests.doubt_all();
    }

    /// Handles an event other than the beginning of a game and a client's departure. Returns what it
    /// means for the daemon, of a game in play.
    pub(super) fn take(&mut self, event: Event<'_>, at: u64, now: u64) -> Vec<Request> {
        if event != Event::Warmup
            && let Some(running) = &self.running
            && running.game.must_have_begun(at)
        {
            self.start(at, now);
        }
        match event {
            Event::Warmup => self.enter(GamePhase::WarmUp, at, now),
            Event::Exit if self.phase() == Some(GamePhase::Playing) => {
                self.enter(GamePhase::Over, at, now);
            }
            Event::Shutdown => self.enter(GamePhase::Ended, at, now),
            Event::Connect(number) => {
                self.slots.slot(number).client.begun = false;
                self.guests.saw(number);
            }
            Event::Begin(number) => {
                self.slots.slot(number).client.begun = true;
                self.guests.saw(number);
            }
            Event::Userinfo(number, info) => {
                self.slots.slot(number).client.userinfo(info);
                self.guests.saw(number);
            }
            Event::Changed(number, info) => {
                self.slots.slot(number).changed(info);
                self.guests.saw(number);
            }
            play => return self.play(play),
        }
        Vec::new()
    }

    fn play(&mut self, event: Event<'_>) -> Vec<Request> {
        let (slots, mut acts) = (&self.slots, Vec::new());
        let mut out = Outbox::open(&mut acts);
        let Some(SeenGame { game, .. }) = &mut self.running else {
            return Vec::new();
        };
        match event {
            Event::Kill {
                killer,
                victim,
                team_change,
            } => game.kill(killer, victim, team_change, slots, &mut out),
            Event::Capture { by, flag } => game.capture(by, flag, slots, &mut out),
            Event::TeamScore { team, total } if game.progress.phase() == GamePhase::Playing => {
                game.total(team, total, &mut out);
            }
            Event::Result(totals) => game.result(totals, &mut out),
            Event::Points { client, points } => game.points(client, points, slots, &mut out),
            _ => {}
        }
        let requests = acts.into_iter().filter_map(|act| match act {
            Act::Send(request) => Some(request),
            _ => None,
        });
        requests.collect()
    }

    /// Lets time pass: a game that has not announced a warm-up is in play after a while.
    pub(super) fn tick(&mut self, now: u64) {
        if let Some(running) = &self.running
            && running.phase() == GamePhase::Opening
            && now >= running.since + OPENING
        {
            self.start(0, now);
        }
    }

    fn start(&mut self, at: u64, now: u64) {
        let (slots, mut acts) = (&self.slots, Vec::new());
        if let Some(running) = &mut self.running {
            // The agent itself decides when to send START.
            running.game.start(at, slots, &mut Outbox::open(&mut acts));
            running.since = now;
        }
    }

    fn phase(&self) -> Option<GamePhase> {
        self.running.as_ref().map(SeenGame::phase)
    }

    fn enter(&mut self, phase: GamePhase, at: u64, now: u64) {
        if let Some(running) = &mut self.running {
            running.enter(phase, at, now);
        }
    }

    /// The final scores of the game of a match, once all results are there or overdue.
    pub(super) fn result(&self, id: i64, overdue: bool, now: u64) -> Option<[i64; TEAMS]> {
        let running = self.game_of(id)?;
        let late = overdue || now >= running.since + RESULTS;
        let over = running.phase() == GamePhase::Over;
        let whole = running.game.has_results(&self.slots, 0);
        (over && (late || whole)).then(|| running.game.totals().0)
    }

    /// Whether this client is a bot.
    pub(super) fn is_bot(&self, number: usize) -> bool {
        let slot = self.slots.get(number);
        slot.is_some_and(|slot| slot.client.identity().key.kind == Kind::Bot)
    }

    /// The team on which a client plays.
    pub(super) fn team(&self, number: usize) -> Option<u8> {
        self.slots.get(number)?.team()
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
