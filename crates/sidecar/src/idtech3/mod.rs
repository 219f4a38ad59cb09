//! The engine id Tech 3: Quake III Arena, OpenArena, Urban Terror and their relatives.
//!
//! This file reads the log of a running server and handles what it shows, also the commands of players. `commands` formats
//! moves, and `hosting` is such a server as an instance, with the settings of its operator.

mod commands;
mod hosting;

pub use commands::SpareBot;
pub use hosting::{IdTech3Host, host_limit, host_mode};

use evenkeel_ingest::{
    GameEvent,
    idtech3::{
        clients::IdTech3Client,
        grammar::{self, IdTech3Event},
        server::IdTech3Server,
    },
    stamp,
};
use evenkeel_model::Kind;

use crate::{
    chat::{ChatCommand, ChatLine},
    engine::{Engine, TeamChanges, TeamOrders},
    follower::FollowedServer,
    progress::{ConnectionKey, GamePhase, LoggedPlayer, LoggedSetup},
};

use commands::{IdTech3Orders, ReplaceableBot, TEAM_NAMES};

/// The engine of one id Tech 3 game server.
pub struct IdTech3 {
    /// Whether humans are moved with the game's admin command `!putteam` instead of `forceteam`.
    admin: bool,
    /// Bots that may be added and removed to reach the daemon's numbers. If empty, bots only change
    /// teams.
    spare_bots: Vec<SpareBot>,
    log: LiveLog,
    /// Whether games on this server begin with a warm-up. If so, teams are chosen in it; otherwise,
    /// after the previous game.
    warms_up: bool,
    /// Whether the last announced game was a warm-up.
    warmed: bool,
    /// Whether a round of the game has begun, after which the next ones go on with it.
    in_rounds: bool,
    /// Whether the operator was told that the server's game is not supported.
    refused: bool,
}

impl IdTech3 {
    /// An engine that has read no log. `admin` and `spare_bots` are for the moves: see the fields.
    pub fn new(admin: bool, spare_bots: Vec<SpareBot>) -> Self {
        Self {
            admin,
            spare_bots,
            log: LiveLog::default(),
            warms_up: false,
            warmed: false,
            in_rounds: false,
            refused: false,
        }
    }

    /// A bot that is on the server, if it can be added again.
    fn bot(&self, player: &LoggedPlayer, team: u8) -> Option<ReplaceableBot> {
        let number = player.number.filter(|_| player.side.is_some())? as usize;
        let skill = self.log.client(number)?.skill();
        let again = SpareBot::new(&player.name, skill);
        Some(ReplaceableBot {
            number,
            team,
            again,
        })
    }
}

impl Engine for IdTech3 {
    const TEAM_NAMES: &'static [&'static str] = &TEAM_NAMES;
    /// A game server executes about one remote command per second. All lists are written to the same file, so a list
    /// that is sent too early replaces one that the game server has not read yet.
    const COMMAND_PAUSE: u64 = 1_000;
    const BETWEEN_GAMES: bool = true;

    fn log_line(&mut self, line: &[u8], server: &mut FollowedServer) {
        self.read_log_line(line, server);
    }

    fn tick(&mut self, server: &mut FollowedServer) {
        self.pass(server);
    }

    fn may_choose_teams(&self, phase: GamePhase) -> bool {
        match phase {
            GamePhase::WarmUp => true,
            GamePhase::Ended => !self.warms_up,
            GamePhase::Opening | GamePhase::Playing | GamePhase::Over => false,
        }
    }

    fn orders(&self, changes: &TeamChanges<'_>) -> TeamOrders {
        let mut orders = IdTech3Orders::default();
        for &(player, team) in &changes.moves {
            let number = player.number.map(|number| number as usize);
            let client = number.and_then(|number| self.log.client(number));
            match client.is_some_and(is_bot) {
                true => {
                    if let Some(bot) = self.bot(player, team) {
                        orders.reseat(bot, team);
                    }
                }
                false => orders.force.extend(number.map(|number| (number, team))),
            }
        }
        if let Some(counts) = &changes.bot_counts {
            let bots = changes.bots.iter();
            let bots = bots.filter_map(|(player, team)| self.bot(player, *team));
            orders.seat_bots(bots.collect(), counts, &self.spare_bots);
        }
        let removed = orders.kick.iter();
        TeamOrders {
            count: orders.count(),
            removed: removed
                .filter_map(|&number| u32::try_from(number).ok())
                .collect(),
            commands: orders.commands(self.admin),
        }
    }

    fn chat_command(&self, line: &ChatLine) -> String {
        match line.to {
            Some(number) => format!("tell {number} {}", line.text),
            None => format!("say {}", line.text),
        }
    }
}

impl IdTech3 {
    fn read_log_line(&mut self, line: &[u8], server: &mut FollowedServer) {
        let mut events = Vec::new();
        let Some((at, event)) = self.log.read(line, server.now(), &mut events) else {
            return;
        };
        server.read_clock(at);
        server.end_if_results_are_known();
        for event in events {
            self.event(event, server);
        }
        if let IdTech3Event::Say(said) = event {
            self.hear(said, server);
        }
        server.end_if_results_are_known();
    }

    /// Lets time pass.
    fn pass(&mut self, server: &mut FollowedServer) {
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
    fn hear(&self, said: &[u8], server: &mut FollowedServer) {
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
        let written_by = |(number, client): (usize, &IdTech3Client)| {
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
struct LiveLog {
    server: IdTech3Server,
    /// When the game began, by the log's clock and by the caller's, until it is known whether it begins with a warm-up.
    opening: Option<(u64, u64)>,
}

impl LiveLog {
    /// Reads a line, and appends what it means. Returns the time by the log's clock, and what the line states.
    fn read<'a>(
        &mut self,
        line: &'a [u8],
        now: u64,
        events: &mut Vec<GameEvent>,
    ) -> Option<(u64, IdTech3Event<'a>)> {
        let line = stamp::bare(line, grammar::has_time);
        let (at, event) = grammar::read(line, true).ok()??;
        match event {
            IdTech3Event::InitGame(_) => self.opening = Some((at, now)),
            IdTech3Event::Warmup => self.opening = None,
            _ => self.start_if(events, |began, _| at.saturating_sub(began) >= OPENING),
        }
        if matches!(event, IdTech3Event::InitRound(_)) {
            self.opening = None;
        }
        self.server.interpret(event, events);
        Some((at, event))
    }

    /// Lets time pass.
    fn tick(&mut self, now: u64, events: &mut Vec<GameEvent>) {
        self.start_if(events, |_, read| now.saturating_sub(read) >= READ);
    }

    /// Starts play if the game began so long before.
    fn start_if(&mut self, events: &mut Vec<GameEvent>, is_due: impl Fn(u64, u64) -> bool) {
        let started = self.opening.take_if(|(began, read)| is_due(*began, *read));
        events.extend(started.map(|_| GameEvent::Start));
    }

    /// The game, if its logs are understood.
    fn setup(&self) -> Option<LoggedSetup> {
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
    fn unsupported(&self) -> Option<&str> {
        self.server.setup.as_ref()?.unsupported.as_deref()
    }

    /// All clients, with their numbers.
    fn clients(&self) -> impl Iterator<Item = (usize, &IdTech3Client)> {
        self.server.clients.iter()
    }

    fn client(&self, number: usize) -> Option<&IdTech3Client> {
        self.server.clients.get(number)
    }

    /// The player on a client number, who may still be connecting.
    fn player(&self, number: usize) -> Option<LoggedPlayer> {
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
fn is_bot(client: &IdTech3Client) -> bool {
    client.identity().key.kind == Kind::Bot
}

#[cfg(test)]
mod tests;
