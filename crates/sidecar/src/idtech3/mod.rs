//! The engine id Tech 3: Quake III Arena, OpenArena, Urban Terror and their relatives.
//!
//! This file reads the log of a running server and handles what it shows, also the commands of players. `hosting`
//! is such a server as an instance, with the settings of its operator.
//!
//! A command that moves somebody contains client numbers, `red` or `blue`, and names of bots that consist of plain
//! characters, and nothing else from the log.

mod hosting;

pub use hosting::{IdTech3Host, host_limit, host_mode};

use std::str::FromStr;

use evenkeel_ingest::{
    GameEvent,
    live::idtech3::{IdTech3Client, IdTech3Server, Line},
};
use evenkeel_model::Kind;

use crate::{
    chat::{ChatCommand, ChatLine},
    engine::{Engine, TeamChanges, TeamOrders, in_turns, misplaced},
    follower::FollowedServer,
    is_plain_name,
    progress::{ConnectionKey, GamePhase, LoggedPlayer, LoggedSetup},
};

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
        let Some(line) = self.log.read(line, server.now(), &mut events) else {
            return;
        };
        server.read_clock(line.at);
        server.end_if_results_are_known();
        for event in events {
            self.event(event, server);
        }
        self.hear(line, server);
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
    fn hear(&self, line: Line<'_>, server: &mut FollowedServer) {
        let Some(said) = line.said() else {
            return;
        };
        let setup = self.log.setup();
        let numbered = setup.is_some_and(|setup| setup.game_type.starts_with(NUMBERED));
        let written = match numbered {
            true => numbered_command(line),
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
fn numbered_command(line: Line<'_>) -> Option<(usize, ChatCommand)> {
    let (number, rest) = line.said_with_number()?;
    let colon = rest.windows(2).rposition(|two| two == b": ")?;
    let command = ChatCommand::parse(&rest[colon + 2..])?;
    Some((number, command))
}

/// A game counts as in play if more time than this has passed, in milliseconds of the log's clock. That has whole seconds:
/// from one to the next may be a moment, in which the players of the game before come again. A warm-up is announced before
/// that, with the game.
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
    /// Reads a line, and appends what it means.
    fn read<'a>(
        &mut self,
        line: &'a [u8],
        now: u64,
        events: &mut Vec<GameEvent>,
    ) -> Option<Line<'a>> {
        let line = Line::read(line)?;
        let at = line.at;
        let mut shown = Vec::new();
        self.server.take(line, &mut shown);
        match shown.first() {
            Some(GameEvent::Game) => self.opening = Some((at, now)),
            Some(GameEvent::WarmUp) => self.opening = None,
            _ => self.start_if(events, |began, _| at.saturating_sub(began) > OPENING),
        }
        if matches!(shown.first(), Some(GameEvent::Round)) {
            self.opening = None;
        }
        events.append(&mut shown);
        Some(line)
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

/// The longest name of a bot in a command, in bytes.
const MAX_NAME: usize = 32;
/// The number of frames that the server waits between removing and adding bots, so that their
/// client numbers are free again.
const FRAMES: u32 = 5;

/// The names of the teams in the console.
const TEAM_NAMES: [&str; 2] = ["red", "blue"];

/// A bot that can be added to the game.
#[derive(Clone, Debug, PartialEq)]
pub struct SpareBot {
    name: String,
    skill: f64,
}

impl Eq for SpareBot {}

impl SpareBot {
    /// A bot with this name and skill (0 to 100). `None` if the name is unsafe in a command: it
    /// must consist of letters, digits, `_`, `-` and `.`, and start with a letter or digit.
    pub fn new(name: &str, skill: f64) -> Option<Self> {
        let fits = is_plain_name(name) && name.len() <= MAX_NAME;
        (fits && (0.0..=100.0).contains(&skill)).then(|| Self {
            name: name.to_owned(),
            skill,
        })
    }

    /// The bot's name, as `addbot` takes it.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Parses `NAME:SKILL`.
impl FromStr for SpareBot {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bot = text
            .rsplit_once(':')
            .and_then(|(name, skill)| Self::new(name, skill.parse().ok()?));
        bot.ok_or_else(|| {
            "a bot is NAME:SKILL, such as Sarge:3, with a name of plain characters".to_owned()
        })
    }
}

/// Changes of teams, before they are formatted as console commands.
#[derive(Clone, Debug, Default, PartialEq)]
struct IdTech3Orders {
    /// Humans to move, by client number, with their new teams.
    force: Vec<(usize, u8)>,
    /// Bots to remove, by client number. The console cannot move a bot.
    kick: Vec<usize>,
    /// Bots to add, with their teams.
    add: Vec<(SpareBot, u8)>,
}

/// A bot that is on the server.
struct ReplaceableBot {
    number: usize,
    team: u8,
    /// The arguments to add the bot again; `None` if its name is unsafe in a command.
    again: Option<SpareBot>,
}

impl IdTech3Orders {
    /// Number of players who change teams, are removed or are added.
    fn count(&self) -> usize {
        self.force.len() + self.kick.len().max(self.add.len())
    }

    /// Adds orders to remove a bot and add it again on `team`. Returns false if its name is unsafe.
    fn reseat(&mut self, bot: ReplaceableBot, team: u8) -> bool {
        let Some(again) = bot.again else { return false };
        self.kick.push(bot.number);
        self.add.push((again, team));
        true
    }

    /// Changes the number of bots on each team to `counts`. Surplus bots move to teams with too
    /// few; the total changes only if there are spare bots.
    fn seat_bots(&mut self, bots: Vec<ReplaceableBot>, counts: &[u32], spare: &[SpareBot]) {
        let present: Vec<_> = bots.iter().filter_map(|bot| bot.again.clone()).collect();
        let (mut surplus, mut vacancies) = misplaced(bots, |bot| bot.team, counts);
        // Move the bots that joined last first.
        while let Some(&team) = vacancies.first() {
            let Some(bot) = surplus.pop() else { break };
            if self.reseat(bot, team) {
                vacancies.remove(0);
            }
        }
        if spare.is_empty() {
            return;
        }
        self.kick.extend(surplus.iter().map(|bot| bot.number));
        let free = spare
            .iter()
            .filter(|spare| !present.iter().any(|bot| bot.name == spare.name));
        self.add.extend(free.cloned().zip(vacancies));
    }

    /// Formats the console commands.
    fn commands(&self, admin: bool) -> Vec<String> {
        let verb = if admin { "!putteam" } else { "forceteam" };
        let mut commands: Vec<String> = self
            .kick
            .iter()
            .map(|n| format!("clientkick {n}"))
            .collect();
        for (number, team) in in_turns(&self.force) {
            commands.push(format!("{verb} {number} {}", colour(team)));
        }
        if !self.kick.is_empty() && !self.add.is_empty() {
            commands.push(format!("wait {FRAMES}"));
        }
        for (bot, team) in &self.add {
            commands.push(format!(
                "addbot {} {} {}",
                bot.name,
                bot.skill,
                colour(*team)
            ));
        }
        commands
    }
}

fn colour(team: u8) -> &'static str {
    TEAM_NAMES[usize::from(team != 0)]
}

#[cfg(test)]
mod tests;
