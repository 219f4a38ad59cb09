//! One game of a Source or GoldSrc log.

mod again;
mod finish;
mod players;
mod restore;
mod rounds;

use std::collections::{BTreeMap, VecDeque};

use super::{
    grammar::{Event, PlayerAction},
    points::ControlPoints,
    server::LoggedServer,
    style::ResultStyle,
    totals::SideTotals,
};
use crate::{clock::Calendar, event::GameEvent};
use again::BrokenOff;
use evenkeel_model::{MatchRecorder, Timestamp};
use restore::Checkpoint;

/// The kind of line with which a game begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Beginning {
    /// A map was loaded; the first round is yet to begin.
    Map,
    /// A round, which may be any round of a game that began before the log.
    Round,
    /// A line that marks the start of a match, or a restart.
    Match,
}

#[derive(Default)]
pub(super) struct Game {
    /// The line on which it began.
    pub(super) line: u64,
    /// When play began: in milliseconds since the log began, and as a date.
    began: Option<(u64, Option<Timestamp>)>,
    /// Set while `began` is only where the log begins: the line of that. The length of the first
    /// round shows whether the game began there.
    opening: Option<u64>,
    /// Whether another game has just ended, so that lines about it may still follow.
    after: bool,
    /// The first line with play, if it comes before any beginning of a game. Such play is warm-up,
    /// or belongs to a game that began before the log.
    before: Option<u64>,
    /// Whether that play belongs to a game that began before the log, which the end of a round
    /// shows.
    foreign: bool,
    /// In the first round, if nothing but that round shows where the game began: the scores of the sides
    /// in Counter-Strike as far as they are stated.
    first_scores: Option<[f64; 2]>,
    /// Whether a round is being played, so that the start of another begins the game again.
    round: bool,
    /// When the last round began, in milliseconds since the log began; `None` if the log has no
    /// beginning of a round yet.
    round_began: Option<u64>,
    /// How often the calendar had been set when that was.
    set_before_round: u32,
    /// Whether a round has begun within another one, as in a log of two servers.
    interrupted: bool,
    /// Whether a round ended before the log had the beginning of any.
    headless: bool,
    /// What in the log cannot all be of one game.
    contradiction: Option<&'static str>,
    /// When a round of Counter-Strike was last won, in milliseconds since the log began.
    won: Option<u64>,
    lasted: Option<u64>,
    recorder: MatchRecorder,
    /// The timelines of the clients who are there, by their numbers.
    visits: BTreeMap<usize, usize>,
    /// The score changes after rounds: time, team and points.
    rounds: Vec<(u64, u8, f64)>,
    totals: SideTotals,
    /// The final scores, in the order in which the log names the teams.
    finals: Vec<(u8, f64)>,
    /// Whether the teams have exchanged their sides.
    exchanged: bool,
    /// Whether they have done so after the last round that was won.
    exchanged_late: bool,
    /// How many kills there were with knives, and with other weapons.
    kills: [u32; 2],
    /// The kind of play that the events have shown, for example `koth`.
    seen: Option<&'static str>,
    /// The control points that were captured.
    pub(super) points: ControlPoints,
    /// The game as it was at the beginnings of its rounds.
    checkpoints: VecDeque<Checkpoint>,
    /// What goes on if the last round was one that was broken off, and began again.
    broken_off: Option<Box<BrokenOff>>,
    mutators: Vec<String>,
}

impl Game {
    /// The state before any game has begun.
    pub(super) fn new(line: u64) -> Self {
        Self {
            line,
            recorder: MatchRecorder::with_sides(),
            ..Self::default()
        }
    }

    /// The state after a game that has ended.
    pub(super) fn after(line: u64) -> Self {
        let after = true;
        Self {
            after,
            ..Self::new(line)
        }
    }

    /// The state at the beginning of a log, which may be that of a game.
    pub(super) fn opening(line: u64, now: Calendar) -> Self {
        Self {
            began: Some((now.position(), now.date())),
            opening: Some(line),
            ..Self::new(line)
        }
    }

    /// Begins play. If play has begun already, everything before is discarded.
    pub(super) fn begin(&mut self, line: u64, with: Beginning, log: &LoggedServer, now: Calendar) {
        let (begun, foreign) = (self.has_begun(), self.foreign);
        let line = if begun || foreign { self.line } else { line };
        let is_known = (begun && self.first_scores.is_none()) || self.after;
        let contradiction = self.contradiction;
        let in_round = self.round && self.round_began.is_some_and(|began| began < now.position());
        let interrupted = self.interrupted || (begun && in_round);
        let broken_off = match with {
            Beginning::Round => self.break_off(log.style),
            _ => None,
        };
        self.restart(line);
        self.broken_off = broken_off;
        self.foreign = foreign;
        self.began = Some((now.position(), now.date()));
        self.round = true;
        self.set_before_round = now.times_set();
        self.round_began = (with != Beginning::Map).then_some(now.position());
        if with == Beginning::Round {
            self.first_scores = (!is_known).then_some([0.0; 2]);
            (self.contradiction, self.interrupted) = (contradiction, interrupted);
        }
        self.mutators = log.setup.mutators();
        self.seat_all(log, now);
        if self.round_began.is_some() {
            self.keep_checkpoint(log.style, now);
        }
    }

    /// Begins anew, and returns what was played so far. What the log has shown of the game stays
    /// known.
    pub(super) fn restart(&mut self, line: u64) -> Self {
        let fresh = Self {
            seen: self.seen,
            ..Self::new(line)
        };
        std::mem::replace(self, fresh)
    }

    fn has_begun(&self) -> bool {
        self.began.is_some() && self.opening.is_none()
    }

    /// Whether the game has ended.
    pub(super) fn is_over(&self) -> bool {
        self.lasted.is_some()
    }

    /// Whether the game has ended and the scores of at least two teams have been read.
    pub(super) fn has_results(&self) -> bool {
        self.lasted.is_some() && self.has_finals()
    }

    fn has_finals(&self) -> bool {
        let first = self.finals.first();
        first.is_some_and(|(first, _)| self.finals.iter().any(|(team, _)| team != first))
    }

    fn millis(&self, now: Calendar) -> u64 {
        let began = self.began.map_or(now.position(), |(position, _)| position);
        now.position().saturating_sub(began)
    }

    /// Takes what a line states beside what it means to all.
    pub(super) fn note(&mut self, line: u64, event: Event<'_>, now: Calendar) {
        match event {
            Event::Player(_, PlayerAction::Kill { knife, .. }) if !self.is_over() => {
                let kills = &mut self.kills[usize::from(!knife)];
                *kills = kills.saturating_add(1);
                self.play(line);
            }
            Event::Player(_, PlayerAction::Capture) if !self.is_over() => self.seen = Some("ctf"),
            Event::Point(name) => self.point(name),
            Event::RoundEnd => self.play(line),
            Event::RoundWon(_) => self.won = Some(now.position()),
            Event::Over { .. } => {
                self.foreign |= self.lacks_beginning();
                self.finals.clear();
            }
            Event::GameOver => self.foreign |= self.lacks_beginning(),
            _ => {}
        }
    }

    /// Handles the capture of a control point, whose name shows the kind of play.
    fn point(&mut self, name: &[u8]) {
        self.points.note(name);
        self.seen.get_or_insert(match name {
            _ if name.starts_with(b"#koth") => "koth",
            _ if name.starts_with(b"#plr") => "plr",
            _ if name.starts_with(b"#pl") => "pl",
            _ => "cp",
        });
    }

    pub(super) fn event(&mut self, event: GameEvent, log: &LoggedServer, now: Calendar) {
        match event {
            GameEvent::Round => self.round_started(log.style, now),
            GameEvent::RoundEnd => {
                self.round = false;
                self.won = Some(now.position());
                self.foreign |= self.lacks_beginning();
                self.headless |= self.round_began.is_none();
            }
            GameEvent::Reloaded { running } => self.reloaded(running, log, now),
            GameEvent::Restored(scores) => self.restored(scores, log, now),
            GameEvent::Over => self.over(now),
            GameEvent::Total { team, points } if log.style == ResultStyle::Finals => {
                self.go_on(team, points, now);
                self.total(team, points, now);
            }
            GameEvent::Total { team, points } => {
                self.check_first(team, points);
                self.tally(team, points, now);
            }
            GameEvent::Final { team, points } => {
                self.go_on(team, points, now);
                self.result(team, points);
            }
            other => self.take_player(other, log, now),
        }
    }

    /// Notes that there is play on this line; it may belong to a game that began before the log.
    fn play(&mut self, line: u64) {
        if !self.has_begun() && !self.after && self.before.is_none() {
            (self.line, self.before) = (line, Some(line));
        }
    }

    /// Whether the game began before the log did.
    pub(super) fn is_foreign(&self) -> bool {
        self.foreign
    }

    /// Whether there was play without a beginning.
    fn lacks_beginning(&self) -> bool {
        !self.has_begun() && self.before.is_some()
    }

    fn over(&mut self, now: Calendar) {
        if self.has_begun() && self.lasted.is_none() {
            self.follow_sides();
            self.lasted = Some(self.recorder.end(self.millis(now)));
        }
    }
}
