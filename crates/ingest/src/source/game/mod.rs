//! One game of a Source or GoldSrc log.

mod rounds;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use evenkeel_model::{MatchRecord, MatchRecorder, Timestamp};

use super::{
    clients::SourceClient,
    grammar::{PlayerAction, SourceEvent},
    server::SourceServer,
    setup::{ControlPoints, ResultStyle},
    totals::SideTotals,
};
use crate::{TEAMS, clock::Calendar, event::GameEvent, format::Skip, record};

use rounds::{BrokenOff, Checkpoint};

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
pub(super) struct SourceGame {
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

impl SourceGame {
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
    pub(super) fn begin(&mut self, line: u64, with: Beginning, log: &SourceServer, now: Calendar) {
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
    pub(super) fn note(&mut self, line: u64, event: SourceEvent<'_>, now: Calendar) {
        match event {
            SourceEvent::Player(_, PlayerAction::Kill { knife, .. }) if !self.is_over() => {
                let kills = &mut self.kills[usize::from(!knife)];
                *kills = kills.saturating_add(1);
                self.play(line);
            }
            SourceEvent::Player(_, PlayerAction::Capture) if !self.is_over() => {
                self.seen = Some("ctf")
            }
            SourceEvent::Point(name) => self.point(name),
            SourceEvent::RoundEnd => self.play(line),
            SourceEvent::RoundWon(_) => self.won = Some(now.position()),
            SourceEvent::Over { .. } => {
                self.foreign |= self.lacks_beginning();
                self.finals.clear();
            }
            SourceEvent::GameOver => self.foreign |= self.lacks_beginning(),
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

    pub(super) fn event(&mut self, event: GameEvent, log: &SourceServer, now: Calendar) {
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

impl SourceGame {
    /// Takes what happens to players. Once the game is over, the next one begins with those who are there.
    fn take_player(&mut self, event: GameEvent, log: &SourceServer, now: Calendar) {
        if self.began.is_none() || self.is_over() {
            return;
        }
        let at = self.millis(now);
        match event {
            GameEvent::Client(slot) => {
                if let (Some(visit), Some(client)) = (self.visit(slot), log.clients.at(slot)) {
                    self.recorder.rename(visit, client.key(), client.name());
                    let role = self.recorder.player(visit).role.as_ref();
                    if role.map(|(role, _)| role) != client.role().as_ref() {
                        self.recorder.set_role(visit, client.role(), at);
                    }
                }
            }
            GameEvent::Placed { client, since } => {
                if let Some(client) = log.clients.at(client) {
                    self.assign(client, since, now);
                }
            }
            GameEvent::Left(slot) => {
                if let Some(visit) = self.visits.remove(&slot) {
                    self.recorder.set_role(visit, None, at);
                    let at = self.recorder.tick(at);
                    self.recorder.set_team(visit, None, at);
                }
            }
            other => {
                let visits = &self.visits;
                record::take(&mut self.recorder, other, at, |slot| {
                    visits.get(&slot).copied()
                });
            }
        }
    }

    fn visit(&self, slot: usize) -> Option<usize> {
        self.visits.get(&slot).copied()
    }

    /// Takes the team of a client since a time in milliseconds since the log began, or since the game began.
    fn assign(&mut self, client: &SourceClient, since: Option<u64>, now: Calendar) {
        let (before, team) = (self.visit(client.slot), client.team());
        let (at, began) = (self.millis(now), self.began.map_or(0, |(began, _)| began));
        let early = since.is_none_or(|since| since < now.position());
        let from = since.map_or(0, |since| since.saturating_sub(began));
        if let (Some(visit), None, true) = (before, team, early) {
            self.recorder.set_team(visit, None, from);
        }
        let player = || (client.key(), client.name());
        let Some(visit) = self.recorder.assign(before, team, at, player) else {
            return;
        };
        self.visits.insert(client.slot, visit);
        if before.is_none() && client.role().is_some() {
            self.recorder.set_role(visit, client.role(), at);
        }
        if let Some((_, since)) = &mut self.recorder.player(visit).current
            && early
        {
            *since = from;
        }
    }

    /// Begins with the clients who are there.
    fn seat_all(&mut self, log: &SourceServer, now: Calendar) {
        let mut all: Vec<&SourceClient> = log.clients.iter().collect();
        all.sort_by_key(|client| client.number());
        for client in all {
            self.assign(client, None, now);
        }
    }

    /// Goes on with a record in which timelines are missing, or end elsewhere than the clients are now.
    fn reseat(&mut self, log: &SourceServer, now: Calendar) {
        let known = self.recorder.players().len();
        self.visits.retain(|_, visit| *visit < known);
        let seated: BTreeSet<usize> = self.visits.values().copied().collect();
        for visit in (0..known).filter(|visit| !seated.contains(visit)) {
            let at = self.recorder.tick(self.millis(now));
            self.recorder.set_team(visit, None, at);
        }
        for client in log.clients.iter() {
            self.assign(client, Some(now.position()), now);
        }
    }
}

/// The fewest rounds of a half before a restart; a single round decides who chooses the side.
const HALF: f64 = 2.0;

impl SourceGame {
    /// The reason why a game without an end has no record; `None` if there was nothing to report.
    pub(super) fn unfinished(self, reason: Skip) -> Option<Skip> {
        match self.has_begun() {
            _ if self.foreign => Some(Skip::StartedBeforeLog),
            true if self.lasted.is_some() && reason != Skip::Unfinished => Some(Skip::NoResult),
            true if self.recorder.is_empty() => None,
            true => Some(reason),
            false => None,
        }
    }

    /// The last scores of the people on each side, if the log has them no more at the end.
    fn lost_scores(&self, style: ResultStyle) -> Option<[f64; TEAMS]> {
        let lost = self.totals.lost(&self.finals);
        lost.filter(|_| style == ResultStyle::Finals)
    }

    /// Whether a game of Team Fortress 2, where each round is announced, has a result that nothing in
    /// the log explains.
    fn lacks_round(&self, scores: &[f64], log: &SourceServer) -> bool {
        let is_tf2 = log.shown == Some("tf") && log.setup.may_be_tf2();
        let sums = self.recorder.sums(scores.len());
        let explained = sums == scores && scores.iter().any(|score| *score > 0.0);
        is_tf2 && (self.headless || self.round_began.is_none()) && !explained
    }

    /// The final score of each team, and whether the first two have to be exchanged: where the teams
    /// exchanged sides, and in Counter-Strike, team 0 is the one that the log names first.
    fn scores(&mut self, style: ResultStyle) -> (Vec<f64>, bool) {
        match self.lost_scores(style) {
            Some(scores) => self.finals.iter_mut().for_each(|(team, score)| {
                *score = scores[usize::from(*team)];
            }),
            None => self.totals.finals(&mut self.finals),
        }
        let named = self.exchanged || matches!(style, ResultStyle::Rounds { .. });
        let second_first = self.finals.first().is_some_and(|(team, _)| *team == 1);
        let last = self.finals.iter().map(|(team, _)| usize::from(*team)).max();
        let mut scores = vec![0.0; last.unwrap_or(0) + 1];
        for &(team, score) in &self.finals {
            scores[usize::from(team)] = score;
        }
        (scores, named && second_first)
    }

    /// Builds the record, and returns it with whether its first two teams have to be exchanged; or
    /// returns why there is none.
    pub(super) fn finish(
        mut self,
        server: &str,
        log: &SourceServer,
    ) -> Result<(MatchRecord, bool), Skip> {
        let Some(lasted) = self.lasted else {
            return Err(Skip::Unfinished);
        };
        if self.foreign {
            return Err(Skip::StartedBeforeLog);
        }
        if let Some(why) = self.contradiction {
            return Err(Skip::Contradiction(why));
        }
        let is_tie = |scores: [f64; TEAMS]| scores[0] == scores[1];
        if self.lost_scores(log.style).is_some_and(is_tie) {
            // With the same score, the faster team has won, which the log does not state.
            return Err(Skip::NoResult);
        }
        let (scores, exchange) = self.scores(log.style);
        if self.lacks_round(&scores, log) {
            return Err(Skip::StartedBeforeLog);
        }
        let record = self.record(scores, lasted, server, log)?;
        Ok((record, exchange))
    }

    /// What was played before a restart of a game of Counter-Strike that does not mark the end of a
    /// match, if it may be a half of one: at least [`HALF`] rounds, which were not fought with knives
    /// alone. It has the sides of its last round, with which it ends.
    pub(super) fn into_half(mut self, server: &str, log: &SourceServer) -> Option<MatchRecord> {
        let begun = (self.has_begun() || self.foreign) && !self.is_over();
        let knives = self.kills[0] > 0 && self.kills[1] == 0;
        if !begun || knives || log.style != (ResultStyle::Rounds { has_end: false }) {
            return None;
        }
        let (won, (began, _)) = self.won.zip(self.began)?;
        self.follow_sides();
        let [one, two, ..] = self.totals.people();
        if one + two < HALF {
            return None;
        }
        let last = self.rounds.last().map_or(0, |(at, ..)| at + 1);
        let lasted = won.saturating_sub(began).max(last);
        self.recorder.end_at(lasted);
        let exchanged_late = self.exchanged_late;
        let record = self.record(vec![one, two], lasted, server, log).ok()?;
        Some(if exchanged_late {
            record.with_teams_exchanged()
        } else {
            record
        })
    }

    /// Builds the record of a game with these scores, which lasted `lasted` milliseconds.
    fn record(
        mut self,
        scores: Vec<f64>,
        lasted: u64,
        server: &str,
        log: &SourceServer,
    ) -> Result<MatchRecord, Skip> {
        let (position, date) = self.began.ok_or(Skip::Unfinished)?;
        self.recorder.reconcile(&scores);
        if !self.recorder.has_scores() {
            // The captures do not add up to the result, so the scores of the rounds are used.
            for &(at, team, points) in &self.rounds {
                self.recorder.score(team, points, None, at);
            }
            self.recorder.reconcile(&scores);
        }
        let began = Timestamp(i64::try_from(position).unwrap_or(i64::MAX));
        let record = MatchRecord {
            server: server.to_owned(),
            start: date.unwrap_or(began),
            map: log.setup.map.clone(),
            game_type: log.setup.game_type(log.shown, self.seen),
            mutators: self.mutators,
            scores,
            ..MatchRecord::default()
        };
        record::complete(&self.recorder, record, lasted)
    }
}
