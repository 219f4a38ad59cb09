//! Source and GoldSrc: Team Fortress 2, Team Fortress Classic, Counter-Strike and their relatives.
//!
//! A line is `L date: event`, and names each player with number, id and team. A game begins when its map
//! is loaded, and begins again with every round that does not follow a round's end. It ends with
//! `Game_Over` and the final scores, or with what each team `scored`. In Counter-Strike it ends with
//! `Game Over:`, or with its map. `grammar` reads one line, `clients` knows who is there, `setup` which
//! game and settings the server has and how it states results, `server` says what the lines mean, for records and for those
//! who follow a running server. `game` follows one game, `totals` its scores; this file keeps the games of a log apart, and
//! joins the halves of a match between which the server restarted the game.
//!
//! Older versions of Counter-Strike know no half-time: after the first half, the teams change sides, and somebody
//! restarts the game, which sets the scores to 0. A restart also ends a warm-up, or a round with
//! knives that decides who chooses the side. Which of them it was is clear only once the game after
//! the restart is over.

pub(crate) mod clients;
mod game;
mod grammar;
pub(crate) mod server;
pub(crate) mod setup;
pub(crate) mod totals;

use evenkeel_model::{MatchRecord, Outcome};

use crate::{
    clock::Calendar,
    event::GameEvent,
    format::{Context, DateZone, Format, LogItem, LogParser, Skip, kind_of, mostly},
    lines::{LogLine, MAX_LINE},
    same_match::{join, may_follow, sides},
    text::CUT_LINE,
};

use game::{Beginning, SourceGame};
use grammar::SourceEvent;
use server::SourceServer;
use setup::{ControlPoints, ResultStyle};

/// The format's entry in the registry.
pub(super) const FORMAT: Format = Format {
    name: "source",
    detect,
    is_beneath: Some(grammar::is_beneath),
    parser: |context| Box::new(SourceParser::new(context)),
    max_line: MAX_LINE,
    unknown,
    finds_repeats: false,
    names_games: true,
    dates: DateZone::Local,
    in_halves: true,
};

/// How long after the end of a round its scores may be stated, and after its beginning the same line again, in
/// milliseconds.
pub(crate) const ROUND_LAG: u64 = 1_000;

fn detect(head: &[u8]) -> bool {
    mostly(head, grammar::is_known)
}

struct SourceParser {
    server: String,
    calendar: Calendar,
    /// The date of the last line as it was written; most lines have the same.
    stamp: Vec<u8>,
    log: SourceServer,
    game: SourceGame,
    /// The control points of the last game on this map.
    points: ControlPoints,
    /// What was played before the game was restarted.
    half_time: SourceHalfTime,
}

impl SourceParser {
    fn new(context: &Context) -> Self {
        Self {
            server: context.server.clone(),
            calendar: Calendar::default(),
            stamp: Vec::new(),
            log: SourceServer::of(None),
            game: SourceGame::new(1),
            points: ControlPoints::default(),
            half_time: SourceHalfTime::default(),
        }
    }

    /// Reads the date of a line, and returns the rest.
    fn read_time<'a>(&mut self, line: &'a [u8]) -> Result<&'a [u8], &'static str> {
        let (stamp, rest) = grammar::stamp(line)?;
        if self.stamp != stamp {
            let date = grammar::date(stamp).ok_or("there is no such date")?;
            let clients = &self.log.clients;
            self.calendar.read(date, || clients.are_opposed());
            self.stamp.clear();
            self.stamp.extend_from_slice(stamp);
        }
        Ok(rest)
    }

    fn event(&mut self, line: u64, event: SourceEvent<'_>, items: &mut Vec<LogItem>) {
        let mut events = Vec::new();
        self.log.pass(event, &mut events);
        self.take(line, &mut events, items);
        self.game.note(line, event, self.calendar);
        let now = self.calendar.position();
        self.log.interpret(event, now, &mut events);
        self.take(line, &mut events, items);
        match event {
            SourceEvent::RoundLength(millis) => {
                let lost = self.game.round_lasted(millis, &self.log, self.calendar);
                self.calendar.pass(lost);
            }
            SourceEvent::GameOver | SourceEvent::Over { .. } if self.game.is_foreign() => {
                self.close(line, Skip::Aborted, items);
                self.game = SourceGame::after(line);
            }
            _ => {}
        }
    }

    fn take(&mut self, line: u64, events: &mut Vec<GameEvent>, items: &mut Vec<LogItem>) {
        for event in events.drain(..) {
            match event {
                GameEvent::Ended if self.game.has_results() => self.finish_game(line, items),
                GameEvent::Closed => self.close(line, Skip::Aborted, items),
                // A log must give the same records, whatever log was read before it.
                GameEvent::Game if !self.log.rounds.begun => {
                    self.game = SourceGame::opening(line, self.calendar);
                }
                GameEvent::Game => {
                    self.points = ControlPoints::default();
                    self.begin(line, Beginning::Map);
                }
                GameEvent::Start => self.begin(line, Beginning::Round),
                GameEvent::WarmUp => self.restart(line, items),
                GameEvent::Restart { .. } => {
                    self.restart(line, items);
                    self.begin(line, Beginning::Match);
                }
                other => self.game.event(other, &self.log, self.calendar),
            }
        }
    }

    /// Begins the game anew. What was played may be the first half of a match.
    fn restart(&mut self, line: u64, items: &mut Vec<LogItem>) {
        if self.game.is_over() {
            self.close(line, Skip::Aborted, items);
        }
        let played = self.game.restart(line);
        let (began, is_cut) = (played.line, played.is_foreign());
        if let Some(half) = played.into_half(&self.server, &self.log) {
            self.half_time.hold(began, half, is_cut);
        }
    }

    /// Begins a game now.
    fn begin(&mut self, line: u64, with: Beginning) {
        self.game.begin(line, with, &self.log, self.calendar);
    }

    /// Closes the game being read, whose end and scores have been read.
    fn finish_game(&mut self, line: u64, items: &mut Vec<LogItem>) {
        let mut game = std::mem::replace(&mut self.game, SourceGame::after(line));
        let line = game.line;
        if self.points.is_other_map(std::mem::take(&mut game.points)) {
            // The log lacks the line that would name it.
            self.log.setup.load(b"");
        }
        let record = game.finish(&self.server, &self.log);
        items.push(self.half_time.complete(line, record));
    }

    /// Closes the game being read, which is skipped for this reason unless its end has been read.
    fn close(&mut self, line: u64, reason: Skip, items: &mut Vec<LogItem>) {
        // At the end of an unfinished log, the scores of more teams may be about to follow.
        let is_whole = reason != Skip::Unfinished || self.log.style != ResultStyle::Finals;
        if is_whole && self.game.has_results() {
            return self.finish_game(line, items);
        }
        let game = std::mem::replace(&mut self.game, SourceGame::new(line));
        let line = self.half_time.forget().unwrap_or(game.line);
        if let Some(reason) = game.unfinished(reason) {
            items.push(LogItem::skipped(line, reason));
        }
    }
}

impl LogParser for SourceParser {
    fn line(&mut self, line: LogLine<'_>, items: &mut Vec<LogItem>) {
        if line.bytes.is_empty() {
            return;
        }
        let is_first = self.calendar.date().is_none();
        let read = match line.whole {
            true => self.read_time(line.bytes).and_then(grammar::read),
            // Nothing can follow these words.
            false if line.bytes.ends_with(b": Log file closed") => Ok(SourceEvent::Closed),
            false => Err(CUT_LINE),
        };
        match read {
            Ok(event) => {
                if is_first {
                    self.game = SourceGame::opening(line.number, self.calendar);
                }
                self.event(line.number, event, items);
            }
            Err(_) if grammar::is_team_name(line.bytes) => {}
            // Something else that the server has printed.
            Err(_) if line.stamp.is_some() && !grammar::is_beneath(line.bytes) => {}
            Err(why) => items.push(LogItem::malformed(line, why)),
        }
    }

    fn finish(&mut self, items: &mut Vec<LogItem>) {
        let mut events = Vec::new();
        self.log.end_with_map(false, &mut events);
        self.take(0, &mut events, items);
        self.close(0, Skip::Unfinished, items);
    }

    fn elapsed(&self) -> u64 {
        self.calendar.position()
    }
}

/// Events that no record needs: of the server first, then of players.
const NEEDLESS: &[&str] = &[
    "Server cvar",
    "server cvar",
    "Server name",
    "server_message",
    "Server say",
    "rcon from",
    "Rcon",
    "Bad Rcon",
    "[META]",
    "[AMXX]",
    "[SM]",
    "Starting Freeze",
    "MatchStatus",
    "Team playing",
    "ACCOLADE",
    "Molotov projectile",
    "JSON_BEGIN",
    "}}JSON_END",
    "\"",
    "Vote ",
    "Kick",
    "Banid",
    "STEAMAUTH",
    "STEAM USERID",
    "World triggered \"Round_Setup",
    "World triggered \"Round_Overtime",
    "World triggered \"Round_Freeze_End",
    "World triggered \"Mini_Round_S",
    "World triggered \"Game_Paused",
    "World triggered \"Game_Unpaused",
    "World triggered \"Intermission",
    "say",
    "position_report",
    "picked up",
    "purchased",
    "dropped",
    "threw",
    "blinded for",
    "attacked",
    "damaged",
    "assisted killing",
    "flash-assisted killing",
    "killed other",
    "killed",
    "joined team",
    "left buyzone",
    "planted",
    "defused",
    "sv_throw_",
    "triggered \"damage",
    "triggered \"shot_",
    "triggered \"heal",
    "triggered \"kill",
    "triggered \"flagevent",
    "triggered \"Begin_Bomb",
    "triggered \"Bomb_",
    "triggered \"Defused_",
    "triggered \"Dropped_The",
    "triggered \"Got_The",
    "triggered \"Planted_The",
    "triggered \"Spawned_With",
    "triggered \"Touched_A",
    "triggered \"Rescued_A",
    "triggered \"builtobject",
    "triggered \"captureblocked",
    "triggered \"charge",
    "triggered \"domination",
    "triggered \"dropitems",
    "triggered \"empty_uber",
    "triggered \"first_heal",
    "triggered \"gainitem",
    "triggered \"info_player",
    "triggered \"lost_uber",
    "triggered \"medic_death",
    "triggered \"object_",
    "triggered \"player_",
    "triggered \"revenge",
    "triggered \"Sentry_",
    "triggered \"Dispenser_",
    "triggered \"Built_",
    "triggered \"Concussion",
    "triggered \"Detpack",
    "triggered \"Medic_Infection",
    "triggered \"Passed_On",
    "triggered \"Spy_",
    "triggered \"clantag",
    "triggered \"clan_",
];

/// The kind of event of a line that [`grammar`] does not know.
fn unknown(line: &[u8]) -> Option<&[u8]> {
    let (_, rest) = grammar::stamp(line).ok()?;
    let event = match grammar::read(rest) {
        Ok(SourceEvent::Other) => rest,
        Ok(SourceEvent::Player(_, grammar::PlayerAction::Other)) => grammar::after_player(rest)?,
        _ => return None,
    };
    let kind = kind_of(event, NEEDLESS)?;
    // What is triggered is a name in quotes, which belongs to the kind.
    let quoted = event
        .get(kind.len()..)?
        .trim_ascii_start()
        .strip_prefix(b"\"");
    match quoted.and_then(|name| Some((name, memchr::memchr(b'"', name)?))) {
        Some((name, end)) if kind.ends_with(b"triggered") => {
            Some(&event[..event.len() - name.len() + end + 1])
        }
        _ => Some(kind),
    }
}

/// What was played before the restart of a game.
struct SourceFirstHalf {
    /// The line on which it began.
    line: u64,
    record: MatchRecord,
    /// Whether the teams have changed sides in it.
    has_changed: bool,
    /// Whether it began before the log, so that its match has no record.
    is_cut: bool,
}

/// Holds back what was played before a restart, until it is clear whether it belongs to a match.
#[derive(Default)]
struct SourceHalfTime {
    held: Option<SourceFirstHalf>,
}

impl SourceHalfTime {
    /// Holds back what was played before a restart. `line` is the line on which it began; `is_cut` says
    /// whether it began before the log.
    fn hold(&mut self, line: u64, record: MatchRecord, is_cut: bool) {
        let held = self.held.take();
        let joined = held.and_then(|first| {
            let (record, changed) = first.continued(&record)?;
            Some(SourceFirstHalf {
                line: first.line,
                record,
                has_changed: first.has_changed || changed,
                is_cut: first.is_cut || is_cut,
            })
        });
        self.held = joined.or(Some(SourceFirstHalf {
            line,
            record,
            has_changed: false,
            is_cut,
        }));
    }

    /// The item for a game that began on this line: with what was played before, if that belongs to
    /// its match. With the record comes whether its teams have to be exchanged.
    fn complete(&mut self, line: u64, game: Result<(MatchRecord, bool), Skip>) -> LogItem {
        let first = self.held.take();
        let (record, exchange) = match game {
            Ok(game) => game,
            Err(reason) => return LogItem::skipped(line, reason),
        };
        let (line, record) = match first
            .as_ref()
            .map(|first| (first, first.continued(&record)))
        {
            Some((first, Some(_))) if first.is_cut => {
                return LogItem::skipped(first.line, Skip::StartedBeforeLog);
            }
            Some((first, Some((joined, _)))) => (first.line, joined),
            _ => (line, record),
        };
        let record = if exchange {
            record.with_teams_exchanged()
        } else {
            record
        };
        LogItem::of_game(line, Ok(record))
    }

    /// Forgets what is held back, and returns the line on which it began.
    fn forget(&mut self) -> Option<u64> {
        self.held.take().map(|first| first.line)
    }
}

impl SourceFirstHalf {
    /// The match of this half and of `second`, with the teams of `second`, and whether they have
    /// changed sides in between; `None` if the two are no match: the same people play on after they
    /// have changed sides, or, after a draw, in overtime.
    fn continued(&self, second: &MatchRecord) -> Option<(MatchRecord, bool)> {
        let changed = sides(&self.record, second).filter(|_| may_follow(&self.record, second))?;
        let overtime = self.has_changed && self.record.outcome == Outcome::Draw;
        if !changed && !overtime {
            return None;
        }
        let joined = join(&self.record, second, changed)?;
        let joined = if changed {
            joined.with_teams_exchanged()
        } else {
            joined
        };
        Some((joined, changed))
    }
}

#[cfg(test)]
mod tests;
