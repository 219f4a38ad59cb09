//! One game of a Source or GoldSrc log.

use super::clients::{ConnectedClients, GameContext};
use super::grammar::{Event, PlayerAction, PlayerTag};
use super::points::ControlPoints;
use super::setup::ServerSetup;
use super::totals::{SideTotals, TEAMS, sides_of};
use crate::{
    domain::{MatchRecord, MatchRecorder, Timestamp, other_side},
    ingest::{clock::Calendar, halves::exchanged, record, skip::Skip},
};

/// The most rounds of one game. A real game has fewer.
const MAX_ROUNDS: usize = 1_000;
/// How far apart the beginnings of the log and of its first round may be, in milliseconds, if the
/// game is whole. Dates in the log have whole seconds.
const OPENING: u64 = 2_000;
/// How long after the end of a round its scores may be stated, in milliseconds.
const ROUND_LAG: u64 = 1_000;

/// By how much a round may seem shorter in the log than it was, in milliseconds.
const ROUND_SLACK: u64 = 5_000;

/// The fewest rounds of a half before a restart; a single round decides who chooses the side.
const HALF: f64 = 2.0;

/// How the log states the result of a game.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResultStyle {
    /// With lines of its own, after the game's end.
    Finals,
    /// As Counter-Strike does, which states the score after each round.
    Rounds {
        /// Whether a line marks the end of a match, as in Counter-Strike: Global Offensive.
        has_end: bool,
    },
}

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
    /// Whether anybody was killed in this round.
    fought: bool,
    /// Whether a round ended before the log had the beginning of any.
    headless: bool,
    /// What in the log cannot all be of one game.
    contradiction: Option<&'static str>,
    /// When a round of Counter-Strike was last won, in milliseconds since the log began.
    won: Option<u64>,
    lasted: Option<u64>,
    recorder: MatchRecorder,
    /// The score changes after rounds: time, team and points.
    rounds: Vec<(u64, u8, f64)>,
    totals: SideTotals,
    style: ResultStyle,
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
    /// The name of the game that the events have shown, for example `tf`.
    shown: Option<&'static str>,
    mutators: Vec<String>,
}

impl Game {
    /// The state before any game has begun.
    pub(super) fn new(line: u64) -> Self {
        Self {
            line,
            began: None,
            opening: None,
            after: false,
            before: None,
            foreign: false,
            first_scores: None,
            round: false,
            round_began: None,
            fought: false,
            headless: false,
            contradiction: None,
            won: None,
            lasted: None,
            recorder: MatchRecorder::with_sides(),
            rounds: Vec::new(),
            totals: SideTotals::default(),
            style: ResultStyle::Finals,
            finals: Vec::new(),
            exchanged: false,
            exchanged_late: false,
            kills: [0; 2],
            seen: None,
            points: ControlPoints::default(),
            shown: None,
            mutators: Vec::new(),
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
    pub(super) fn begin(
        &mut self,
        line: u64,
        with: Beginning,
        setup: &ServerSetup,
        clients: &mut ConnectedClients,
        now: Calendar,
    ) {
        let (begun, foreign) = (self.has_begun(), self.foreign);
        let line = if begun || foreign { self.line } else { line };
        let is_known = (begun && self.first_scores.is_none()) || self.after;
        let contradiction = self.contradiction;
        self.restart(line);
        self.foreign = foreign;
        self.began = Some((now.position(), now.date()));
        self.round = true;
        self.round_began = (with != Beginning::Map).then_some(now.position());
        if with == Beginning::Round {
            self.first_scores = (!is_known).then_some([0.0; 2]);
            self.contradiction = contradiction;
        }
        self.mutators = setup.mutators();
        clients.seat_all(&mut self.context(now));
    }

    /// Begins anew, and returns what was played so far. What the log has shown of the game stays
    /// known.
    pub(super) fn restart(&mut self, line: u64) -> Self {
        let Self {
            style, shown, seen, ..
        } = *self;
        let fresh = Self {
            style,
            shown,
            seen,
            ..Self::new(line)
        };
        std::mem::replace(self, fresh)
    }

    fn has_begun(&self) -> bool {
        self.began.is_some() && self.opening.is_none()
    }

    /// Whether a round that starts now is the next round of this game.
    pub(super) fn goes_on(&self) -> bool {
        // The round before may have been broken off for a restored one, once rounds count.
        let counts = matches!(self.style, ResultStyle::Rounds { .. }) && !self.rounds.is_empty();
        self.has_begun() && self.lasted.is_none() && (!self.round || counts)
    }

    /// The game continues from an earlier round, so the round being played does not count.
    pub(super) fn restored(&mut self) {
        self.round = false;
    }

    pub(super) fn round_started(&mut self, now: Calendar) {
        self.round = true;
        self.round_began = Some(now.position());
        self.fought = false;
        self.first_scores = None;
        self.finals.clear();
    }

    /// Notes the score of a side of Counter-Strike. After the first round of a match, it is of one round
    /// at the most.
    fn check_first(&mut self, team: u8, total: f64) {
        let Some(scores) = &mut self.first_scores else {
            return;
        };
        if let Some(score) = scores.get_mut(usize::from(team)) {
            *score = total;
        }
        if scores.iter().sum::<f64>() > 1.0 {
            self.foreign = true;
            self.first_scores = None;
        }
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

    /// Ends a game of Counter-Strike whose map is over. The scores stated apart from a round's end are
    /// the final ones; without them, if the log is `closed` between two rounds, the last ones are. Some
    /// versions begin a round at once when the last one is over; nobody is killed in it.
    pub(super) fn end_with_map(&mut self, closed: bool, now: Calendar) {
        let ResultStyle::Rounds { has_end } = self.style else {
            return;
        };
        let at_once = self
            .round_began
            .zip(self.won)
            .is_some_and(|(began, won)| began >= won && began - won <= ROUND_LAG);
        let between = closed && (!self.round || (at_once && !self.fought));
        // The game writes a line at the end; versions without that line mark the start alone.
        if has_end && !(between && self.is_decided()) {
            return;
        }
        if !self.has_begun() || self.lasted.is_some() || self.won.is_none() {
            return;
        }
        if !self.has_finals() && between {
            self.finals = [1, 0].map(|side| (side, self.totals.stated(side))).to_vec();
        }
        if self.has_finals() {
            self.over(now);
        }
    }

    /// Whether the score is one with which a match of 30 rounds, and overtimes of 6, is over.
    fn is_decided(&self) -> bool {
        let [one, two, ..] = self.totals.people();
        let (most, least) = (one.max(two), one.min(two));
        most >= 16.0 && most - least >= 2.0 && (most - 16.0) % 3.0 == 0.0
            || one == two && one >= 15.0 && (one - 15.0) % 3.0 == 0.0
    }

    fn context(&mut self, now: Calendar) -> GameContext<'_> {
        GameContext {
            began: self.began.map(|(position, _)| position),
            now: now.position(),
            recorder: self.lasted.is_none().then_some(&mut self.recorder),
        }
    }

    fn millis(&self, now: Calendar) -> u64 {
        let began = self.began.map_or(now.position(), |(position, _)| position);
        now.position().saturating_sub(began)
    }

    pub(super) fn event(
        &mut self,
        line: u64,
        event: Event<'_>,
        clients: &mut ConnectedClients,
        now: Calendar,
    ) {
        self.note_game(event);
        match event {
            Event::Player(who, act) => self.act(line, who, act, clients, now),
            Event::RoundEnd => {
                self.round = false;
                self.won = Some(now.position());
                self.play(line);
                self.foreign |= self.lacks_beginning();
                self.headless |= self.round_began.is_none();
            }
            Event::Current(team, total) => self.total(team, total, now),
            Event::RoundWon(totals) => {
                self.won = Some(now.position());
                for (team, total) in (0..).zip(totals) {
                    self.check_first(team, total);
                    self.total(team, total, now);
                }
            }
            Event::Tally(team, total) => {
                self.check_first(team, total);
                self.tally(team, total, now);
            }
            Event::Over { scores, .. } => {
                self.foreign |= self.lacks_beginning();
                self.follow_sides();
                let sides = sides_of(scores, &self.totals);
                self.finals.clear();
                // Deathmatch and arms race have no rounds, and write 0:0.
                if self.won.is_some() || scores != [0.0; 2] {
                    self.finals = sides.into_iter().zip(scores).collect();
                }
                self.over(now);
            }
            Event::GameOver => {
                self.foreign |= self.lacks_beginning();
                self.over(now);
            }
            Event::Final(team, score) => self.result(team, score),
            Event::Scored(team, score) => {
                self.over(now);
                self.result(team, score);
            }
            Event::Point(name) => {
                self.points.note(name);
                self.seen.get_or_insert(match name {
                    _ if name.starts_with(b"#koth") => "koth",
                    _ if name.starts_with(b"#plr") => "plr",
                    _ if name.starts_with(b"#pl") => "pl",
                    _ => "cp",
                });
            }
            _ => {}
        }
    }

    /// Notes which game the log is of, and how it states results.
    fn note_game(&mut self, event: Event<'_>) {
        let has_end = self.style == ResultStyle::Rounds { has_end: true };
        let (game, style) = match event {
            Event::Over { .. } | Event::MatchStart(_) | Event::Reloaded | Event::WarmUp => {
                ("csgo", ResultStyle::Rounds { has_end: true })
            }
            Event::Tally(..) | Event::RoundWon(_) if !has_end => {
                ("cstrike", ResultStyle::Rounds { has_end: false })
            }
            Event::Final(..) | Event::Current(..) | Event::RoundLength(_) | Event::Point(_) => {
                ("tf", ResultStyle::Finals)
            }
            Event::MatchBegins => ("tfc", ResultStyle::Finals),
            _ => return,
        };
        (self.shown, self.style) = (Some(game), style);
    }

    /// Handles the length of the round that has just ended: the game began with the log, or with its
    /// map, if its first round did. A round cannot have been longer than the time since it began.
    pub(super) fn round_lasted(&mut self, millis: u64, setup: &ServerSetup, now: Calendar) {
        if let Some(began) = self.round_began {
            let passed = now.position().saturating_sub(began);
            if millis > passed.saturating_add(ROUND_SLACK) {
                let why = "a round lasted longer than the time since it began, as in a log of two servers";
                self.contradiction = Some(why);
            }
        } else if self.millis(now).abs_diff(millis) <= OPENING {
            self.round_began = self.began.map(|(position, _)| position);
            self.headless = false;
            if let Some(line) = self.opening.take() {
                self.before = None;
                (self.line, self.foreign) = (line, false);
                self.mutators = setup.mutators();
            }
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

    /// Handles the final score of a team. The first one counts. A third or fourth team counts only if
    /// somebody played on it.
    fn result(&mut self, team: u8, score: f64) {
        if self.lasted.is_none() || usize::from(team) >= TEAMS {
            return;
        }
        let counts = team < 2 || self.recorder.has_played(team);
        if counts && self.finals.iter().all(|(known, _)| *known != team) {
            self.finals.push((team, score));
        }
    }

    /// Whether the final score of every team has been read, so that no further line can add one.
    pub(super) fn has_all_results(&self) -> bool {
        let teams = (0..).take(TEAMS);
        self.has_results()
            && teams
                .filter(|team| *team < 2 || self.recorder.has_played(*team))
                .all(|team| self.finals.iter().any(|(known, _)| *known == team))
    }

    /// Handles a side's score in Counter-Strike: that after a round, or, apart from a round's end, the
    /// final one.
    fn tally(&mut self, team: u8, total: f64, now: Calendar) {
        let ended = self.won.map(|won| now.position().saturating_sub(won));
        match ended {
            None => {}
            Some(0..=ROUND_LAG) => self.total(team, total, now),
            Some(_) if self.lasted.is_none() => {
                self.finals.retain(|(known, _)| *known != team);
                self.finals.push((team, total));
            }
            Some(_) => {}
        }
    }

    /// Handles a team's score after a round.
    fn total(&mut self, team: u8, total: f64, now: Calendar) {
        if usize::from(team) >= TEAMS {
            return;
        }
        self.follow_sides();
        for (team, points) in self.totals.state(team, total) {
            if self.lasted.is_none() && self.rounds.len() < MAX_ROUNDS {
                let at = self.recorder.tick(self.millis(now));
                self.rounds.push((at, team, points));
            }
        }
    }

    /// Takes over the exchanges of sides since the last call.
    fn follow_sides(&mut self) {
        let won = self
            .won
            .zip(self.began)
            .map(|(won, (began, _))| won.saturating_sub(began));
        for since in self.recorder.settle_sides() {
            self.exchanged = true;
            self.exchanged_late ^= won.is_some_and(|won| since >= won);
            self.totals.exchange();
            let before = self.rounds.iter_mut().filter(|(at, ..)| *at < since);
            before.for_each(|(_, team, _)| *team = other_side(*team));
        }
    }

    fn act(
        &mut self,
        line: u64,
        who: PlayerTag<'_>,
        act: PlayerAction<'_>,
        clients: &mut ConnectedClients,
        now: Calendar,
    ) {
        // Track clients after the end of a game, too, because the next game begins with those who
        // are there.
        clients.note(who, act, &mut self.context(now));
        match act {
            _ if self.lasted.is_some() => {}
            PlayerAction::Kill { victim, knife } => {
                self.fought = true;
                let kills = &mut self.kills[usize::from(!knife)];
                *kills = kills.saturating_add(1);
                self.play(line);
                self.kill(who, victim, clients, now);
            }
            PlayerAction::Die if self.millis(now) > 0 => self.death(who, clients, now),
            PlayerAction::Capture => self.capture(who, clients, now),
            _ => {}
        }
    }

    fn kill(
        &mut self,
        who: PlayerTag<'_>,
        victim: PlayerTag<'_>,
        clients: &mut ConnectedClients,
        now: Calendar,
    ) {
        if !clients.dies(&victim, now.position()) {
            return;
        }
        let seat = |who| clients.get(who).map(|client| (client.visit, client.team()));
        let (killer, killed) = (seat(&who), seat(&victim));
        if let Some((Some(visit), _)) = killed {
            self.recorder.player(visit).count_death();
        }
        if let (Some((Some(visit), team)), Some((_, other))) = (killer, killed)
            && team != other
        {
            self.recorder.player(visit).count_kill();
        }
    }

    fn death(&mut self, who: PlayerTag<'_>, clients: &mut ConnectedClients, now: Calendar) {
        if clients.dies(&who, now.position())
            && let Some(visit) = clients.get(&who).and_then(|client| client.visit)
        {
            self.recorder.player(visit).count_death();
        }
    }

    fn capture(&mut self, who: PlayerTag<'_>, clients: &mut ConnectedClients, now: Calendar) {
        self.seen = Some("ctf");
        let news = clients.captures(&who, now.position());
        let Some((visit, Some(team))) = clients.get(&who).map(|c| (c.visit, c.team())) else {
            return;
        };
        if news && self.began.is_some() {
            let at = self.recorder.tick(self.millis(now));
            self.recorder.score(team, 1.0, visit, at);
        }
    }

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

    /// The last scores of the people on each side, if the final ones are 0:0 though there were others, as
    /// at the end of some matches of stopwatch.
    fn lost_scores(&self) -> Option<[f64; TEAMS]> {
        let scores = self.totals.people();
        let lost = self.style == ResultStyle::Finals
            && self.finals.iter().all(|(_, score)| *score == 0.0)
            && scores.iter().any(|score| *score > 0.0);
        lost.then_some(scores)
    }

    /// Whether a game of Team Fortress 2, where each round is announced, has a result that nothing in
    /// the log explains.
    fn lacks_round(&self, scores: &[f64], setup: &ServerSetup) -> bool {
        let is_tf2 = self.shown == Some("tf") && setup.may_be_tf2();
        let sums = self.recorder.sums(scores.len());
        let explained = sums == scores && scores.iter().any(|score| *score > 0.0);
        is_tf2 && (self.headless || self.round_began.is_none()) && !explained
    }

    /// The final score of each team, and whether the first two have to be exchanged: where the teams
    /// exchanged sides, and in Counter-Strike, team 0 is the one that the log names first.
    fn scores(&mut self) -> (Vec<f64>, bool) {
        match self.lost_scores() {
            Some(scores) => self.finals.iter_mut().for_each(|(team, score)| {
                *score = scores[usize::from(*team)];
            }),
            None => self.totals.finals(&mut self.finals),
        }
        let named = self.exchanged || matches!(self.style, ResultStyle::Rounds { .. });
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
        setup: &ServerSetup,
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
        if self.lost_scores().is_some_and(is_tie) {
            // With the same score, the faster team has won, which the log does not state.
            return Err(Skip::NoResult);
        }
        let (scores, exchange) = self.scores();
        if self.lacks_round(&scores, setup) {
            return Err(Skip::StartedBeforeLog);
        }
        let record = self.record(scores, lasted, server, setup)?;
        Ok((record, exchange))
    }

    /// What was played before a restart of a game of Counter-Strike that does not mark the end of a
    /// match, if it may be a half of one: at least [`HALF`] rounds, which were not fought with knives
    /// alone. It has the sides of its last round, with which it ends.
    pub(super) fn into_half(mut self, server: &str, setup: &ServerSetup) -> Option<MatchRecord> {
        let begun = (self.has_begun() || self.foreign) && !self.is_over();
        let knives = self.kills[0] > 0 && self.kills[1] == 0;
        if !begun || knives || self.style != (ResultStyle::Rounds { has_end: false }) {
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
        let record = self.record(vec![one, two], lasted, server, setup).ok()?;
        Some(if exchanged_late {
            exchanged(record)
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
        setup: &ServerSetup,
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
            map: setup.map.clone(),
            game_type: setup.game_type(self.shown, self.seen),
            mutators: self.mutators,
            scores,
            ..MatchRecord::default()
        };
        record::complete(&self.recorder, record, lasted)
    }
}
