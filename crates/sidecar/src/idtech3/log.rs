//! The log of a running server: what its lines mean, also those of the chat, and when play starts although no line
//! says so.

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

use super::IdTech3;
use crate::{
    chat::ChatCommand,
    follower::FollowedServer,
    progress::{ConnectionKey, LoggedPlayer, LoggedSetup},
};

impl IdTech3 {
    pub(super) fn read_log_line(&mut self, line: &[u8], server: &mut FollowedServer) {
        let mut events = Vec::new();
        let Some((at, event)) = self.log.read(line, server.now(), &mut events) else {
            return;
        };
        server.read_clock(at);
        server.end_if_results_are_known();
        for event in events {
            self.event(event, server);
        }
        if let Event::Say(said) = event {
            self.hear(said, server);
        }
        server.end_if_results_are_known();
    }

    /// Lets time pass.
    pub(super) fn pass(&mut self, server: &mut FollowedServer) {
        let mut events = Vec::new();
        self.log.tick(server.now(), &mut events);
        for event in events {
            self.event(event, server);
        }
    }

    fn event(&mut self, event: GameEvent, server: &mut FollowedServer) {
        match event {
            GameEvent::Game => {
                end_if_over(server);
                server.leave_map();
                self.in_rounds = false;
                self.begin(server);
            }
            GameEvent::Round => {
                // Before an exit, a round of Urban Terror belongs to the same game, whose play starts with the first one.
                let goes_on = server.is_playing() && self.in_rounds && self.log.has_rounds();
                if !goes_on && (server.is_playing() || !server.has_game()) {
                    self.begin(server);
                }
                self.start(server);
                self.in_rounds = true;
            }
            GameEvent::Start if server.is_opening() => self.start(server),
            GameEvent::Closed => {
                end_if_over(server);
                server.close_map();
            }
            GameEvent::WarmUp if server.is_opening() || server.is_playing() => {
                (self.warms_up, self.warmed) = (true, true);
                self.in_rounds = false;
                if server.is_playing()
                    && let Some(setup) = self.log.setup()
                {
                    // What was played until now does not count, if play has begun at all.
                    server.begin(setup);
                }
                server.warm_up();
            }
            GameEvent::Client(number) => {
                let known = self.log.client(number).is_some_and(|c| c.is_known());
                if let Some(player) = self.log.player(number).filter(|_| known) {
                    server.player_named(ConnectionKey::of(number), player);
                }
            }
            other => server.take(other),
        }
    }

    fn begin(&mut self, server: &mut FollowedServer) {
        if let Some(name) = self.log.unsupported() {
            server.leave_map();
            if !std::mem::replace(&mut self.refused, true) {
                server.report(&format!(
                    "{name} is not supported; the daemon is sent nothing about this game server"
                ));
            }
        } else if let Some(setup) = self.log.setup() {
            server.begin(setup);
        }
    }

    fn start(&mut self, server: &mut FollowedServer) {
        // A warm-up before this game means that there will be one before the next game.
        self.warms_up = std::mem::take(&mut self.warmed);
        match self.log.setup() {
            // If a game starts again during play, the daemon still regards it as the same game, and its final score
            // corrects the scores that were reported before.
            Some(_) if server.is_playing() => server.start_again(),
            Some(setup) => server.start(setup),
            None => {}
        }
    }
}

/// Called if another game begins or the server shuts down: a game that is over gets no more
/// results.
fn end_if_over(server: &mut FollowedServer) {
    if server.is_over() {
        server.end();
    }
}

/// The start of the game types of Urban Terror, whose log has the client number before the name.
const NUMBERED: &str = "q3ut";

impl IdTech3 {
    /// Handles a line of the chat. A command that several clients can have written counts for none
    /// of them.
    pub(super) fn hear(&self, said: &[u8], server: &mut FollowedServer) {
        let setup = self.log.setup();
        let numbered = setup.is_some_and(|setup| setup.game_type.starts_with(NUMBERED));
        let written = match numbered {
            true => numbered_command(said),
            false => self.named_command(said),
        };
        if let Some((number, command)) = written
            && let Some(client) = self.log.client(number)
            && client.is_known()
            && !is_bot(client)
        {
            server.hear(number, command);
        }
    }

    /// The command in `NAME: TEXT`, and the only client of that name. A command contains no colon,
    /// so that the name is what precedes the last one.
    fn named_command(&self, said: &[u8]) -> Option<(usize, ChatCommand)> {
        let written_by = |(number, client): (usize, &Client)| {
            let text = said.strip_prefix(client.raw_name())?.strip_prefix(b": ")?;
            let command = ChatCommand::parse(text).filter(|_| client.is_known())?;
            Some((number, command))
        };
        let mut written = self.log.clients().filter_map(written_by);
        written.next().filter(|_| written.next().is_none())
    }
}

/// The command in `NUMBER NAME: TEXT`, and the client number.
fn numbered_command(said: &[u8]) -> Option<(usize, ChatCommand)> {
    let (number, rest) = grammar::client(said).ok()?;
    let colon = rest.windows(2).rposition(|two| two == b": ")?;
    let command = ChatCommand::parse(&rest[colon + 2..])?;
    Some((number, command))
}

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
    fn has_rounds(&self) -> bool {
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
