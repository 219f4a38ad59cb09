//! The log of a running server: what its lines mean, and when play starts although no line says so.

use crate::logged::{LoggedPlayer, LoggedSetup};
use evenkeel_ingest::{
    GameEvent,
    idtech3::{
        clients::Client,
        grammar::{self, Event},
        server::LoggedServer,
    },
    stamp,
};
use evenkeel_model::Kind;

/// The time after which a game counts as in play, in milliseconds of the log's clock. A warm-up is
/// announced before that, with the game.
const OPENING: u64 = 1_000;
/// The same by the caller's clock: a server without players writes nothing.
const READ: u64 = 750;

/// What the log of a running server shows.
#[derive(Default)]
pub(super) struct LiveLog {
    server: LoggedServer,
    /// When the game began, by the log's clock and by the caller's, until it is known whether it begins with a warm-up.
    opening: Option<(u64, u64)>,
}

impl LiveLog {
    /// Reads a line, and appends what it means. Returns the time by the log's clock, and what the line states.
    pub(super) fn read<'a>(
        &mut self,
        line: &'a [u8],
        now: u64,
        events: &mut Vec<GameEvent>,
    ) -> Option<(u64, Event<'a>)> {
        let line = stamp::bare(line, grammar::has_time);
        let (at, event) = grammar::read(line, true).ok()??;
        match event {
            Event::InitGame(_) => self.opening = Some((at, now)),
            Event::Warmup => self.opening = None,
            _ => self.start_if(events, |began, _| at.saturating_sub(began) >= OPENING),
        }
        if matches!(event, Event::InitRound(_)) {
            self.opening = None;
        }
        self.server.interpret(event, events);
        Some((at, event))
    }

    /// Lets time pass.
    pub(super) fn tick(&mut self, now: u64, events: &mut Vec<GameEvent>) {
        self.start_if(events, |_, read| now.saturating_sub(read) >= READ);
    }

    /// Starts play if the game began so long before.
    fn start_if(&mut self, events: &mut Vec<GameEvent>, is_due: impl Fn(u64, u64) -> bool) {
        let started = self.opening.take_if(|(began, read)| is_due(*began, *read));
        events.extend(started.map(|_| GameEvent::Start));
    }

    /// The game, if its logs are understood.
    pub(super) fn setup(&self) -> Option<LoggedSetup> {
        let setup = self.server.setup.as_ref();
        let setup = setup.filter(|setup| setup.unsupported.is_none())?;
        Some(LoggedSetup {
            game_type: setup.game_type.clone(),
            mutators: setup.mutators.clone(),
            map: setup.map.clone(),
            teams: setup.teams,
            match_id: setup.match_id,
        })
    }

    /// Whether the game is played in rounds.
    pub(super) fn has_rounds(&self) -> bool {
        let setup = self.server.setup.as_ref();
        setup.is_some_and(|setup| setup.rounds)
    }

    /// What the game is called, if its logs are not understood.
    pub(super) fn unsupported(&self) -> Option<&str> {
        self.server.setup.as_ref()?.unsupported.as_deref()
    }

    /// All clients, with their numbers.
    pub(super) fn clients(&self) -> impl Iterator<Item = (usize, &Client)> {
        self.server.clients.iter()
    }

    pub(super) fn client(&self, number: usize) -> Option<&Client> {
        self.server.clients.get(number)
    }

    /// The player on a client number, who may still be connecting.
    pub(super) fn player(&self, number: usize) -> Option<LoggedPlayer> {
        let client = self.client(number)?;
        Some(LoggedPlayer {
            key: client.identity().key,
            name: client.name(),
            number: u32::try_from(number).ok(),
            side: client.team(),
            free: client.is_free(),
            begun: client.begun,
            role: None,
        })
    }
}

/// Whether a log describes this client as a bot.
pub(super) fn is_bot(client: &Client) -> bool {
    client.identity().key.kind == Kind::Bot
}
