//! Records a running game from START to END, and makes its match record, with what was predicted of the game.
//!
//! Players are followed from GAME on, so that START finds them on their teams; all other events before START are
//! ignored. Times come in as milliseconds of the session and go out as milliseconds of play.
//!
//! Its chances are noted as the teams were picked, at START, and after each change of who is on which team, with the
//! sizes of the teams, which follow from the roster. The chances follow from the weights of that moment, so they come
//! in afterwards, by a [command](crate::Command::Chances) of their own.

use std::collections::BTreeMap;

use evenkeel_model::{
    ChanceSummary, Kind, LeaveReason, MAX_PLAYERS, MAX_TEAM_CHANGES, MAX_TEAMS, MatchChances,
    MatchRecord, MatchRecorder, Outcome, PlayerKey, PlayerTimeline, RoleName, TeamChances,
    TeamChange, Timestamp, Verdict,
};
use serde::{Deserialize, Serialize};

use crate::LobbyError;

/// The largest score, positive or negative; a larger one means that the game's counter is broken.
const MAX_POINTS: f64 = 1e9;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
enum PlayPhase {
    #[default]
    WarmUp,
    /// Play began at this millisecond of the session.
    Running(u64),
    /// Play has ended. The record is kept until [`GameRecorder::forget`] frees it.
    Over(#[serde(skip)] Option<Box<Finished>>),
}

/// Records a running game; see the [module](self).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct GameRecorder {
    phase: PlayPhase,
    /// Who was on which team when, since START. It has one timeline for each player.
    play: MatchRecorder,
    /// Not stored: when a game is read, this index is made again from the timelines.
    #[serde(skip)]
    index: BTreeMap<PlayerKey, usize>,
    scores: Vec<f64>,
    /// Whether SCORE has been sent since play began, be it for a score of 0.
    scored: bool,
    /// The remaining time of play that CLOCK stated, and the millisecond of the session when it
    /// did.
    left: Option<(u64, u64)>,
    /// What was predicted of the teams.
    pub(super) chances: PredictionHistory,
}

/// A human or bot in the roster.
pub(super) struct SeatedPlayer<'a> {
    pub(super) kind: Kind,
    pub(super) id: &'a str,
    pub(super) name: Option<&'a str>,
    pub(super) party: Option<&'a str>,
}

impl GameRecorder {
    /// Puts a player on `team`, or on no team, from `now` on. A player who left, and now watches,
    /// still counts as having left.
    pub(super) fn set_team(&mut self, who: &SeatedPlayer<'_>, team: Option<u8>, now: u64) {
        let Some(who) = self.timeline(who) else {
            return;
        };
        let player = self.play.player(who);
        if team.is_some() {
            player.left = None;
        }
        if player.team() == team {
            return;
        }
        match self.tick(now) {
            Some(at) => self.play.set_team(who, team, at),
            None => self.play.player(who).current = team.map(|team| (team, 0)),
        }
    }

    /// Ends a human's part in the game, and notes why. A human who comes back to a team counts as not
    /// having left.
    pub(super) fn leave(&mut self, who: &SeatedPlayer<'_>, reason: LeaveReason, now: u64) {
        self.set_team(who, None, now);
        self.set_role(who, None, now);
        if let Some(who) = self.timeline(who) {
            self.play.player(who).left = Some(reason);
        }
    }

    /// Gives a player a role from `now` on, or none.
    pub(super) fn set_role(&mut self, who: &SeatedPlayer<'_>, role: Option<&RoleName>, now: u64) {
        let Some(who) = self.timeline(who) else {
            return;
        };
        let held = self.play.player(who).role.as_ref();
        if held.map(|(role, _)| role) == role {
            return;
        }
        let role = role.cloned();
        match self.tick(now) {
            Some(at) => self.play.set_role(who, role, at),
            None => self.play.player(who).role = role.map(|role| (role, 0)),
        }
    }

    /// The index of a player's timeline, which begins if needed; `None` if there are too many.
    fn timeline(&mut self, who: &SeatedPlayer<'_>) -> Option<usize> {
        let (kind, id) = (who.kind, who.id.to_owned());
        let key = PlayerKey { kind, id };
        let timeline = match self.index.get(&key) {
            Some(&timeline) => timeline,
            None if self.index.len() >= MAX_PLAYERS => {
                self.play.cut();
                return None;
            }
            None => {
                let timeline = self.play.enter(key.clone(), key.id.clone());
                self.index.insert(key, timeline);
                timeline
            }
        };
        let player = self.play.player(timeline);
        if let Some(name) = who.name {
            name.clone_into(&mut player.name);
        }
        player.party = who.party.map(str::to_owned);
        Some(timeline)
    }

    /// Begins play with `teams` teams, and discards all earlier play.
    pub(super) fn start(&mut self, teams: usize, now: u64) {
        self.phase = PlayPhase::Running(now);
        self.play.restart();
        self.index = index_of(&self.play);
        self.scores = vec![0.0; teams];
        self.scored = false;
        self.left = None;
    }

    /// The millisecond of play for an event at `now`, later than that of any earlier event; `None` outside play, where
    /// only the players' teams and roles are followed.
    fn tick(&mut self, now: u64) -> Option<u64> {
        let elapsed = self.elapsed(now);
        self.is_running().then(|| self.play.tick(elapsed))
    }

    /// What was predicted of the teams that BALANCE has picked, until they have played to the end.
    pub(super) fn picked(&self) -> Option<&TeamChances> {
        self.chances.picked(self.is_running())
    }

    /// Whether play has begun and has not ended.
    pub(super) fn is_running(&self) -> bool {
        matches!(self.phase, PlayPhase::Running(_))
    }

    /// Whether play has ended.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.phase, PlayPhase::Over(_))
    }

    /// Milliseconds played so far; 0 unless the game is in play.
    pub(super) fn elapsed(&self, now: u64) -> u64 {
        match self.phase {
            PlayPhase::Running(start) => now.saturating_sub(start),
            PlayPhase::WarmUp | PlayPhase::Over(_) => 0,
        }
    }

    /// Milliseconds of these in which there were opponents.
    pub(super) fn played(&self, now: u64) -> u64 {
        match self.is_running() {
            true => self.play.played(self.scores.len(), self.elapsed(now)),
            false => 0,
        }
    }

    /// Remaining milliseconds of play, if CLOCK has stated them.
    pub(super) fn left(&self, now: u64) -> Option<u64> {
        let (left, stated) = self.left?;
        Some(left.saturating_sub(now.saturating_sub(stated)))
    }

    /// Records how many milliseconds of play remain.
    pub(super) fn clock(&mut self, left: u64, now: u64) {
        if self.is_running() {
            self.left = Some((left, now));
        }
    }

    /// The timeline of the human with this id, or else of the bot with this name, if they have played.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        let of = |kind| self.timeline_of(kind, id);
        of(Kind::Human).or_else(|| of(Kind::Bot))
    }

    /// The timeline of a player, if they have played.
    pub(super) fn timeline_of(&self, kind: Kind, id: &str) -> Option<usize> {
        let id = id.to_owned();
        self.index.get(&PlayerKey { kind, id }).copied()
    }

    /// The millisecond of play of the last event.
    pub(super) fn last(&self) -> u64 {
        self.play.last()
    }

    /// The score of each team; empty before START.
    pub(super) fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Whether SCORE has been sent since play began.
    pub(super) fn has_scored(&self) -> bool {
        self.is_running() && self.scored
    }

    /// Whether POINTS has been sent since play began.
    pub(super) fn has_points(&self) -> bool {
        self.play
            .players()
            .iter()
            .any(|player| player.points.is_some())
    }

    /// Adds points to a team's score.
    pub(super) fn score(&mut self, team: u8, points: f64, by: Option<usize>, now: u64) {
        let Some(at) = self.tick(now) else { return };
        let index = usize::from(team);
        if index >= self.scores.len() {
            // TEAMS has increased the number of teams since START.
            self.scores.resize(index + 1, 0.0);
        }
        self.scores[index] = (self.scores[index] + points).clamp(-MAX_POINTS, MAX_POINTS);
        self.scored = true;
        if points != 0.0 {
            self.play.score(team, points, by, at);
        }
    }

    /// Sets a player's points on the scoreboard.
    pub(super) fn points(&mut self, who: usize, points: f64) {
        if self.is_running() {
            self.play.player(who).points = Some(points);
        }
    }

    /// A player's points on the scoreboard, if POINTS has stated them.
    pub(super) fn points_of(&self, kind: Kind, id: &str) -> Option<f64> {
        let player = self.timeline_of(kind, id)?;
        self.play.players()[player].points
    }

    /// Counts a kill, and a death of the victim. Killing a team mate or oneself is not a kill.
    pub(super) fn kill(&mut self, killer: usize, victim: usize, now: u64) {
        if !self.is_running() {
            return;
        }
        let at = self.elapsed(now);
        let team = |who: usize| self.play.players()[who].team();
        let mates = !self.scores.is_empty() && team(killer) == team(victim);
        if killer != victim && !mates {
            self.play.count_kill(Some(killer), at);
        }
        self.play.count_killed(victim, at);
    }

    /// Counts a death that DEATH reported.
    pub(super) fn death(&mut self, who: usize, now: u64) {
        if self.is_running() {
            self.play.count_death(Some(who), self.elapsed(now));
        }
    }

    /// Completes a recorder that was read from the disk; `None` if it exceeds the bounds.
    pub(super) fn restored(mut self) -> Option<Self> {
        self.play = self.play.restored()?;
        self.index = index_of(&self.play);
        let players = self.play.players().len();
        let sound = self.index.len() == players
            && self.scores.len() <= MAX_TEAMS
            && self.scores.iter().all(|score| score.abs() <= MAX_POINTS)
            && self.chances.is_sound(players);
        sound.then_some(self)
    }
}

/// The index of each player's timeline.
fn index_of(play: &MatchRecorder) -> BTreeMap<PlayerKey, usize> {
    let indexed = |(at, player): (usize, &PlayerTimeline)| (player.key.clone(), at);
    play.players().iter().enumerate().map(indexed).collect()
}

/// The parts of a match record that do not come from the game itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordFrame {
    /// Name of the game server.
    pub server: String,
    /// The instant from which the session's milliseconds count.
    pub epoch: Timestamp,
    /// The league, region or playlist; empty if there is none.
    pub mode: String,
}

/// The result of a game, for the store.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// The record, checked. Its outcome is [`Outcome::Abandoned`] if the game ended without a
    /// result.
    pub record: MatchRecord,
    /// What was predicted of its teams, from BALANCE before START on.
    pub chances: MatchChances,
    /// Whether the game exceeded a bound far above any real game, so that part of it is missing and
    /// it must not be rated.
    pub cut: bool,
}

impl GameRecorder {
    /// Ends the game and completes its record, which states what does not come from the players. Without a verdict the
    /// outcome is undecided. A second call returns the same record.
    ///
    /// # Errors
    /// Fails if play has not begun, if its record was [forgotten](Self::forget), or if the record
    /// is not valid; play then continues.
    pub(crate) fn end(
        &mut self,
        record: MatchRecord,
        verdict: Option<Verdict>,
        now: u64,
    ) -> Result<Finished, LobbyError> {
        if let PlayPhase::Over(Some(finished)) = &self.phase {
            return Ok((**finished).clone());
        }
        let outcome = |scores: &[f64]| match verdict {
            None => Outcome::Undecided,
            Some(Verdict::Scores) => MatchRecord::outcome_of(scores),
            Some(Verdict::Won(team)) => Outcome::Won(team),
            Some(Verdict::Draw) => Outcome::Draw,
        };
        let (ended, finished) = self.finished(record, outcome, now)?;
        self.play = ended;
        self.phase = PlayPhase::Over(Some(Box::new(finished.clone())));
        Ok(finished)
    }

    /// If play is over, frees everything that only the record needs. START does so, too.
    pub(crate) fn forget(&mut self) {
        if let PlayPhase::Over(finished) = &mut self.phase {
            *finished = None;
            self.play.forget();
            self.chances.forget();
        }
    }

    /// The record of a game that ends now without a result; `None` unless the game is in play.
    pub(crate) fn abandoned(&self, record: MatchRecord, now: u64) -> Option<Finished> {
        let outcome = |_: &[f64]| Outcome::Abandoned;
        let finished = self.finished(record, outcome, now).ok();
        finished.map(|(_, finished)| finished)
    }

    /// The play with all stays ended, and its record.
    fn finished(
        &self,
        record: MatchRecord,
        outcome: impl FnOnce(&[f64]) -> Outcome,
        now: u64,
    ) -> Result<(MatchRecorder, Finished), LobbyError> {
        let PlayPhase::Running(start) = self.phase else {
            return Err(LobbyError::NotStarted);
        };
        let mut ended = self.play.clone();
        let millis = ended.end(self.elapsed(now));
        let mut scores = self.scores.clone();
        scores.resize(record.scores.len(), 0.0);
        let start = i64::try_from(start).unwrap_or(i64::MAX);
        let record = MatchRecord {
            start: record.start.plus_millis(start),
            outcome: outcome(&scores),
            scores,
            ..record
        };
        let (record, seats) = ended.complete(record, millis);
        record.check()?;
        let finished = Finished {
            record,
            chances: self.chances.recorded(&seats),
            cut: ended.is_cut(),
        };
        Ok((ended, finished))
    }
}

/// The chances of a game so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct PredictionHistory {
    /// The teams that the last BALANCE has picked since the last START. The next START takes them.
    picked: Option<TeamChances>,
    /// The course since START. `who` is the index of a timeline; the record converts it to a seat.
    announced: MatchChances,
    /// Whether the chances after START, or after the last change, have not come in yet.
    due: bool,
    /// Whether there were more changes than are kept.
    full: bool,
}

impl PredictionHistory {
    /// Begins the course of a match whose teams have these sizes; `None` for a match without teams.
    pub(crate) fn start(&mut self, sizes: Option<TeamChances>) {
        *self = Self {
            due: sizes.is_some(),
            announced: MatchChances {
                picked: self.picked.take().filter(|_| sizes.is_some()),
                started: sizes,
                changes: Vec::new(),
            },
            ..Self::default()
        };
    }

    /// Adds a change in play, whose chances are still missing. Only [`MAX_TEAM_CHANGES`] are kept.
    pub(crate) fn change(&mut self, change: TeamChange) {
        self.full = self.announced.changes.len() >= MAX_TEAM_CHANGES;
        self.due = !self.full;
        if self.due {
            self.announced.changes.push(change);
        }
    }

    /// Whether the chances after START, or after the last change, are still missing.
    pub(crate) fn is_due(&self) -> bool {
        self.due
    }

    /// Takes the chances after START or after the last change, if they are missing.
    pub(crate) fn announce(&mut self, teams: &TeamChances) {
        if std::mem::take(&mut self.due) {
            let last = self
                .announced
                .changes
                .last_mut()
                .map(|last| &mut last.teams);
            if let Some(last) = last.or(self.announced.started.as_mut()) {
                last.clone_from(teams);
            }
        }
    }

    /// Takes the chances of the teams that BALANCE has picked, before START.
    pub(crate) fn pick(&mut self, teams: &TeamChances) {
        self.picked = Some(teams.clone());
    }

    /// What was predicted of the teams that BALANCE has picked: for the next START, or in play `in_play` before START.
    fn picked(&self, in_play: bool) -> Option<&TeamChances> {
        let started = self.announced.picked.as_ref().filter(|_| in_play);
        self.picked.as_ref().or(started)
    }

    /// The course in short: in play since START, otherwise the teams that the next START takes as picked. After more
    /// changes than are kept, the teams as they are now are not known.
    pub(crate) fn summary(&self, in_play: bool) -> ChanceSummary {
        if !in_play {
            return ChanceSummary {
                picked: self.picked.clone(),
                ..ChanceSummary::default()
            };
        }
        let last = self.announced.changes.last().filter(|_| !self.full);
        ChanceSummary {
            now: last.map(|last| last.teams.clone()),
            ..self.announced.summary()
        }
    }

    /// Frees the course of a match that is on disk.
    fn forget(&mut self) {
        self.announced = MatchChances::default();
    }

    /// The course for the record; `seats` has the seat of each timeline.
    fn recorded(&self, seats: &[Option<u32>]) -> MatchChances {
        let mut announced = self.announced.clone();
        for change in &mut announced.changes {
            let seat = |who: u32| seats.get(who as usize).copied().flatten();
            change.who = change.who.and_then(seat);
        }
        announced
    }

    /// Whether what was read from the disk is possible in a game with `players` timelines.
    fn is_sound(&self, players: usize) -> bool {
        self.announced.is_sound(players) && self.picked.iter().all(TeamChances::is_sound)
    }
}

#[cfg(test)]
mod tests;
