//! id Tech 3 (`games.log`): Quake III Arena, OpenArena, Urban Terror and their relatives.
//!
//! A game begins with `InitGame:` or, in Urban Terror, with each `InitRound:`, and ends with `Exit:`.
//! Its results follow `Exit:`, so the match is complete only when the next game begins or the log
//! ends. In an Urban Terror match with `g_swaproles`, the teams change sides after the first `Exit:`, and a second round with
//! results of its own begins.
//!
//! - `grammar` reads one line.
//! - `setup` reads the settings of a game from its `InitGame:` line, and which game it is.
//! - `server` holds who is on which client number, and says what the lines mean, for records and for those who follow a
//!   running server.
//! - `game` follows one game. This file separates the games of a log, and joins the two halves of a match.

mod game;
mod grammar;
pub(crate) mod server;
pub(crate) mod setup;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_model::{MatchRecord, Timestamp, record::other_side};

use crate::{
    clock::{Calendar, LogClock},
    event::GameEvent,
    format::{Context, DateZone, Format, LogItem, LogParser, Skip, kind_of, mostly},
    lines::{LogLine, MAX_LINE},
    same_match::{join, sides},
    text::LineResult,
};
use game::IdTech3Game;
use grammar::{IdTech3Event, MAX_CLIENTS};
use server::{ClientSlots, IdTech3Server};
use setup::GameSetup;

/// The format's entry in the registry.
pub(super) const FORMAT: Format = Format {
    name: "idtech3",
    detect: |head| mostly(head, grammar::is_known),
    is_beneath: Some(grammar::is_beneath),
    parser: |context| Box::new(IdTech3Parser::new(context)),
    max_line: MAX_LINE,
    unknown,
    finds_repeats: false,
    names_games: true,
    dates: DateZone::OfStamps,
    in_halves: false,
};

/// Whether a line is of this format, but lacks its time, as what a server prints on its console.
pub(super) fn is_without_time(line: &[u8]) -> bool {
    !grammar::has_time(line) && grammar::is_beneath(line)
}

/// Events that no record needs.
const NEEDLESS: [&str; 38] = [
    "-----",
    "Item",
    "tell",
    "say",
    "PlayerScore",
    "Playerstore",
    "Award",
    "CTF",
    "1FCTF",
    "1fCTF",
    "Flag",
    "FlagCaptureTime",
    "TeamScore",
    "SurvivorWinner",
    "ClientSpawn",
    "Info",
    "Session data initialised",
    "Restored player",
    "Challenge",
    "Hit",
    "Assist",
    "Radio",
    "Callvote",
    "Vote",
    "Bomb",
    "Pop!",
    "HotPotato",
    "Freeze",
    "Unfreeze",
    "ThawOut",
    "ClientMelted",
    "ClientJump",
    "ClientSavePosition",
    "ClientLoadPosition",
    "ClientGoto",
    "Account",
    "AccessLevel",
    "Weapon_Stats",
];

/// The kind of event of a line that [`grammar`] does not know.
fn unknown(line: &[u8]) -> Option<&[u8]> {
    match grammar::read(line, true) {
        Ok(Some((_, IdTech3Event::Other))) => kind_of(grammar::clock(line)?.1, &NEEDLESS),
        _ => None,
    }
}

/// The part of the log to which the lines being read belong.
#[derive(Default)]
enum LogPhase {
    /// The log has just begun, or its clock was set back. If play comes next, it belongs to a game
    /// whose beginning is missing.
    #[default]
    Beginning,
    /// A game whose beginning is missing; its play was first seen on this line.
    Headless(u64),
    /// No game: the last one is over.
    BetweenGames,
    /// A game, or the results that follow it.
    Game(Box<IdTech3Game>),
}

#[derive(Default)]
struct IdTech3Parser {
    server: String,
    clock: LogClock,
    log: IdTech3Server,
    phase: LogPhase,
    /// The ids that several players have had at the same time since the last `InitGame:`.
    shared: BTreeSet<String>,
    half_time: IdTech3HalfTime,
    /// The final points that the log has stated since the last end of a game, by client number.
    points: BTreeMap<usize, f64>,
    /// The time stamps before the lines.
    stamps: Calendar,
    /// The date of the last line, if its stamp has one.
    date: Option<Timestamp>,
    /// Whether the lines beneath the stamps have times of their own; `None` until one has shown it.
    has_clock: Option<bool>,
}

impl IdTech3Parser {
    fn new(context: &Context) -> Self {
        Self {
            server: context.server.clone(),
            ..Self::default()
        }
    }

    /// Reads a line. Without a time of its own, it has that of its stamp.
    fn read<'a>(&mut self, line: LogLine<'a>) -> LineResult<Option<(u64, IdTech3Event<'a>)>> {
        let Some(stamp) = line.stamp else {
            return grammar::read(line.bytes, line.whole);
        };
        self.date = stamp.is_date.then_some(stamp.at);
        let clients = &self.log.clients;
        self.stamps.read(stamp.at, || clients.are_opposed());
        let own = grammar::clock(line.bytes).is_some();
        if self.has_clock.is_none() && (own || grammar::is_beneath(line.bytes)) {
            self.has_clock = Some(own);
        }
        match (self.has_clock, own) {
            // Something else that the server has printed.
            (Some(true) | None, false) => Ok(None),
            (Some(false), _) => {
                let event = grammar::read_event(line.bytes, line.whole)?;
                Ok(Some((self.stamps.position(), event)))
            }
            _ => grammar::read(line.bytes, line.whole),
        }
    }

    /// The settings of the game. Without a date of its own, it has that of its line's stamp.
    fn setup(&self) -> GameSetup {
        let mut setup = self.log.setup.clone().unwrap_or_default();
        setup.date = setup.date.or(self.date);
        setup
    }

    /// Ends the current phase, and appends the match, or the reason why there is none.
    fn close(&mut self, next: AfterGame, items: &mut Vec<LogItem>) {
        match std::mem::replace(&mut self.phase, LogPhase::BetweenGames) {
            LogPhase::Beginning | LogPhase::BetweenGames => {}
            LogPhase::Headless(line) => {
                items.push(LogItem::skipped(line, Skip::StartedBeforeLog));
                if next == AfterGame::Round {
                    self.half_time.lose();
                }
            }
            LogPhase::Game(mut game) => {
                let line = game.line;
                let mut notes = Vec::new();
                for id in &self.shared {
                    let players = game.split_id(id);
                    let id = id.clone();
                    if players > 1 {
                        notes.push(LogItem::SharedId { line, id, players });
                    }
                }
                let (swaps, announced) = (game.swaps(), game.clients_known);
                let outcome = game.finish(&self.server);
                if outcome.is_err() {
                    notes.clear();
                }
                let game = EndedGame {
                    line,
                    outcome,
                    notes,
                    swaps,
                    announced,
                };
                self.half_time.take(game, next, items);
            }
        }
    }

    /// Begins a game, which is announced by its own line unless it is a round.
    fn begin(&mut self, line: u64, round: Option<bool>, items: &mut Vec<LogItem>) {
        let next = round.map_or(AfterGame::Game, |_| AfterGame::Round);
        self.close(next, items);
        let clients_known = round.unwrap_or(true);
        let game = IdTech3Game::new(line, self.setup(), self.clock, clients_known);
        self.phase = LogPhase::Game(Box::new(game));
    }

    /// Like [`IdTech3Parser::begin`], for a game that may be the second half after one that has ended.
    fn begin_half(&mut self, line: u64, clients_known: bool, items: &mut Vec<LogItem>) {
        self.begin(line, Some(clients_known), items);
        if let LogPhase::Game(game) = &mut self.phase {
            game.keep_points(std::mem::take(&mut self.points));
        }
    }

    /// A round of Urban Terror begins. Until the exit, rounds belong to the same game; its play
    /// begins with the first round after a warm-up.
    fn round(&mut self, line: u64, items: &mut Vec<LogItem>) {
        let setup = self.setup();
        match &mut self.phase {
            LogPhase::Game(game) if game.is_between_rounds() => return,
            LogPhase::Game(game) if !game.is_over() => {
                game.restart(setup, self.clock);
            }
            LogPhase::Game(game) => {
                let clients_known = game.clients_known;
                self.begin_half(line, clients_known, items);
            }
            // No line announced this round's game, so players may have joined before the log began.
            _ => self.begin_half(line, false, items),
        }
        if let LogPhase::Game(game) = &mut self.phase {
            for (number, client) in self.log.clients.iter() {
                game.update_client(number, client, self.clock);
            }
        }
    }

    /// Takes what a line states.
    fn take(&mut self, line: u64, event: IdTech3Event<'_>, items: &mut Vec<LogItem>) {
        if let (IdTech3Event::ServerTime(date), LogPhase::Game(game)) = (event, &mut self.phase) {
            game.note_date(date, self.clock);
        }
        let mut events = Vec::new();
        self.log.interpret(event, &mut events);
        for event in events {
            self.event(line, event, items);
        }
    }

    fn event(&mut self, line: u64, event: GameEvent, items: &mut Vec<LogItem>) {
        match event {
            GameEvent::Game => {
                self.begin(line, None, items);
                self.shared.clear();
                self.points.clear();
            }
            GameEvent::Round => self.round(line, items),
            GameEvent::Closed => self.close(AfterGame::Game, items),
            GameEvent::Client(number) => {
                if let (LogPhase::Game(game), Some(client)) =
                    (&mut self.phase, self.log.clients.get(number))
                {
                    game.update_client(number, client, self.clock);
                }
                self.note_shared(number);
            }
            GameEvent::Left(number) => {
                self.points.remove(&number);
                if let LogPhase::Game(game) = &mut self.phase {
                    game.remove_client(number, self.clock);
                }
            }
            other => self.play(line, other),
        }
    }

    /// Notes the id of this client if another one with another name has it, too. A player who returns
    /// before the server has noticed the end of the old connection has the same name.
    fn note_shared(&mut self, number: usize) {
        if let Some(id) = self.log.clients.shared_id(number)
            && self.shared.len() < MAX_CLIENTS
        {
            self.shared.insert(id);
        }
    }

    fn play(&mut self, line: u64, event: GameEvent) {
        match event {
            GameEvent::Over => self.points.clear(),
            GameEvent::Points { client, points } => {
                self.points.entry(client).or_insert(points);
            }
            _ => {}
        }
        match &mut self.phase {
            LogPhase::Game(game) => game.event(event, &self.log.clients, self.clock),
            LogPhase::Beginning if event != GameEvent::WarmUp => {
                self.phase = LogPhase::Headless(line);
            }
            LogPhase::Beginning | LogPhase::Headless(_) | LogPhase::BetweenGames => {}
        }
    }
}

impl LogParser for IdTech3Parser {
    fn line(&mut self, line: LogLine<'_>, items: &mut Vec<LogItem>) {
        match self.read(line) {
            Ok(None) => {}
            Ok(Some((at, event))) => {
                if self.clock.read(at) && !matches!(event, IdTech3Event::InitGame(_)) {
                    // The server was restarted. Unless its end was read already, the game being
                    // read has no end; a game whose beginning is missing may follow.
                    self.close(AfterGame::Game, items);
                    self.log.clients = ClientSlots::default();
                    self.phase = LogPhase::Beginning;
                }
                self.take(line.number, event, items);
            }
            Err(why) => items.push(LogItem::malformed(line, why)),
        }
    }

    fn finish(&mut self, items: &mut Vec<LogItem>) {
        // A log that is still being written may end between a game's end and its results. The game
        // is skipped now, because its record would differ without the results. The next reading of
        // the log has them.
        if let LogPhase::Game(game) = &mut self.phase
            && !game.has_results()
        {
            game.forget_end();
        }
        self.close(AfterGame::Nothing, items);
    }

    fn elapsed(&self) -> u64 {
        self.clock.position()
    }
}

/// What comes after a game.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AfterGame {
    /// A round without a game of its own: the second half, if the game is played in halves.
    Round,
    /// Another game, or the end of the server.
    Game,
    /// Nothing, because the log ends: its next lines may still belong to the game.
    Nothing,
}

/// A first half, with the line on which it began and what was noted about it.
struct IdTech3FirstHalf {
    line: u64,
    record: MatchRecord,
    notes: Vec<LogItem>,
    /// Whether the log contains the beginning of its game. Otherwise it may be a second half.
    announced: bool,
}

/// A game that has ended, or was broken off.
struct EndedGame {
    /// The line on which it began.
    line: u64,
    outcome: Result<MatchRecord, Skip>,
    notes: Vec<LogItem>,
    /// Whether it is played in halves.
    swaps: bool,
    /// Whether the log contains the line that announced it.
    announced: bool,
}

/// Holds back the first half of a match until its second one is over.
#[derive(Default)]
struct IdTech3HalfTime {
    held: Option<IdTech3FirstHalf>,
    /// Whether the game before was a first half that has no record, so that this one is a second half
    /// alone.
    lost: bool,
}

impl IdTech3HalfTime {
    /// Takes a game that is over, and appends what is complete.
    fn take(&mut self, mut game: EndedGame, next: AfterGame, items: &mut Vec<LogItem>) {
        let alone = std::mem::take(&mut self.lost);
        self.lost = game.swaps && game.outcome.is_err() && next == AfterGame::Round;
        if alone && game.swaps && game.outcome.is_ok() {
            game.outcome = Err(Skip::StartedBeforeLog);
        }
        match self.held.take() {
            None => self.take_first(game, next, items),
            Some(first) => first.followed(game, next, items),
        }
    }

    /// Notes that a game whose beginning the log lacks is over, and a round begins.
    fn lose(&mut self) {
        self.lost = true;
    }

    /// Takes a game before which no first half is held back.
    fn take_first(&mut self, mut game: EndedGame, next: AfterGame, items: &mut Vec<LogItem>) {
        let EndedGame {
            line,
            swaps,
            announced,
            ..
        } = game;
        match game.outcome {
            Ok(record) if swaps && next == AfterGame::Round => {
                self.held = Some(IdTech3FirstHalf {
                    line,
                    record,
                    notes: game.notes,
                    announced,
                });
            }
            Ok(_) if swaps && !announced => {
                items.push(LogItem::skipped(line, Skip::StartedBeforeLog));
            }
            Ok(_) if swaps && next == AfterGame::Nothing => {
                items.push(LogItem::skipped(line, Skip::Unfinished));
            }
            outcome => {
                items.append(&mut game.notes);
                items.push(LogItem::of_game(line, outcome));
            }
        }
    }
}

impl IdTech3FirstHalf {
    /// Takes the game that followed this half, and appends what is complete.
    fn followed(self, mut game: EndedGame, next: AfterGame, items: &mut Vec<LogItem>) {
        let line = game.line;
        match game.outcome {
            Err(_) if next == AfterGame::Nothing => {
                items.push(LogItem::skipped(self.line, Skip::Unfinished));
            }
            Err(reason) => {
                // The second half was never finished: the result of the first one stands.
                self.complete(items);
                items.push(LogItem::skipped(line, reason));
            }
            Ok(second) => match self.joined(&second) {
                Some(whole) => {
                    items.extend(self.notes);
                    items.append(&mut game.notes);
                    items.push(LogItem::of_game(self.line, Ok(whole)));
                }
                None => {
                    self.complete(items);
                    items.append(&mut game.notes);
                    items.push(LogItem::of_game(line, Ok(second)));
                }
            },
        }
    }

    /// Appends this half as a match of its own, unless it may be the second half of a match whose
    /// beginning the log lacks.
    fn complete(self, items: &mut Vec<LogItem>) {
        if !self.announced {
            items.push(LogItem::skipped(self.line, Skip::StartedBeforeLog));
            return;
        }
        items.extend(self.notes);
        items.push(LogItem::of_game(self.line, Ok(self.record)));
    }

    /// The match of both halves, with the teams of the second; `None` if the people did not change
    /// sides.
    fn joined(&self, second: &MatchRecord) -> Option<MatchRecord> {
        let first = &self.record;
        let same = first.map == second.map && first.game_type == second.game_type;
        let both = first.scores.len() == 2 && second.scores.len() == 2;
        let changed = sides(first, second).filter(|_| same && both)?;
        let second = own_scores(first, second);
        join(first, &second, changed)
            .filter(|_| changed)
            .map(MatchRecord::with_teams_exchanged)
    }
}

/// The second half with the scores of its own, if its scores contain those of the first: what was scored
/// in it shows that.
fn own_scores(first: &MatchRecord, second: &MatchRecord) -> MatchRecord {
    let mut sums = [0.0; 2];
    for event in &second.events {
        if let Some(sum) = sums.get_mut(usize::from(event.team)) {
            *sum += event.points;
        }
    }
    let mut second = second.clone();
    let before = |team: u8| first.scores.get(usize::from(other_side(team)));
    let own = |(team, total): (u8, &f64)| total - before(team).copied().unwrap_or(0.0);
    let own: Vec<f64> = (0..).zip(&second.scores).map(own).collect();
    if own == sums && second.scores != sums {
        second.scores = own;
    }
    second
}
