//! Records a running game from START to END, and makes its match record.
//!
//! Players are followed from GAME on, so that START finds them on their teams; all other events
//! before START are ignored. Times come in as milliseconds of the session and go out as
//! milliseconds of play.

mod chances;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::LobbyError;
use evenkeel_model::{
    Kind, LeaveReason, MAX_PLAYERS, MAX_TEAMS, MatchChances, MatchRecord, MatchRecorder, Outcome,
    PlayerKey, PlayerTimeline, RoleName, TeamChances, Timestamp, Verdict,
};

pub(super) use chances::ChanceCourse;

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
    pub(super) chances: ChanceCourse,
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

#[cfg(test)]
mod tests;
