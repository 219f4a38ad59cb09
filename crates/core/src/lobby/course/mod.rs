//! The course of play from START to END, and the match record that it makes.
//!
//! Players are followed from GAME on, so that START finds them on their teams; all other events
//! before START are ignored. Times come in as milliseconds of the session and go out as
//! milliseconds of play. No two events have the same millisecond, so that they keep the order in
//! which they were reported.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::LobbyError;
use crate::domain::{
    Kind, LeaveReason, MAX_EVENTS, MAX_PLAYERS, MAX_STAYS, MAX_TEAMS, MatchRecord, Outcome,
    PlayerKey, Presence, RoleName, ScoreEvent, Span, Verdict,
};

mod chances;
mod record;

pub(super) use chances::ChanceCourse;
pub(super) use record::GameFacts;
pub use record::{Finished, RecordFrame};

/// The largest score, positive or negative; a larger one means that the game's counter is broken.
const MAX_POINTS: f64 = 1e9;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
enum PlayPhase {
    #[default]
    WarmUp,
    /// Play began at this millisecond of the session.
    Running(u64),
    /// Play has ended. The record is kept until [`PlayCourse::forget`] frees it.
    Over(#[serde(skip)] Option<Box<Finished>>),
}

/// What one human or bot has done since START.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PlayerTrack {
    key: PlayerKey,
    name: String,
    party: Option<String>,
    /// The team that they are on, and the millisecond of play at which they joined it.
    seat: Option<(u8, u64)>,
    stays: Vec<Presence>,
    /// The role that they have, and the millisecond of play since when.
    #[serde(default)]
    role: Option<(RoleName, u64)>,
    /// The roles that they had, with the times, whichever team they were on.
    #[serde(default)]
    duties: Vec<(RoleName, Span)>,
    points: Option<f64>,
    kills: u32,
    deaths: u32,
    /// How often they were the victim in KILL.
    killed: u32,
    /// Why they left, unless they have come back.
    left: Option<LeaveReason>,
}

/// The course of play; see the [module](self).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct PlayCourse {
    phase: PlayPhase,
    /// The earliest millisecond of play for the next event.
    next: u64,
    tracks: Vec<PlayerTrack>,
    /// Not stored: when a course is read, this index is made again from the tracks.
    #[serde(skip)]
    index: BTreeMap<PlayerKey, usize>,
    scores: Vec<f64>,
    /// `by` is the index of a track; the record converts it to a seat.
    events: Vec<ScoreEvent>,
    stays: usize,
    /// The remaining time of play that CLOCK stated, and the millisecond of the session when it
    /// did.
    left: Option<(u64, u64)>,
    cut: bool,
    /// What was predicted of the teams.
    #[serde(default)]
    pub(super) chances: ChanceCourse,
}

/// A human or bot in the roster.
pub(super) struct SeatedPlayer<'a> {
    pub(super) kind: Kind,
    pub(super) id: &'a str,
    pub(super) name: Option<&'a str>,
    pub(super) party: Option<&'a str>,
}

impl PlayCourse {
    /// Puts a player on `team`, or on no team, from `now` on. A player who left, and now watches,
    /// still counts as having left.
    pub(super) fn set_team(&mut self, who: &SeatedPlayer<'_>, team: Option<u8>, now: u64) {
        let Some(track) = self.track(who) else { return };
        if team.is_some() {
            self.tracks[track].left = None;
        }
        let seat = self.tracks[track].seat;
        if seat.map(|(team, _)| team) == team {
            return;
        }
        let at = self.tick(now);
        self.end_stay(track, at);
        self.tracks[track].seat = team.map(|team| (team, at));
    }

    /// Ends a human's part in the game, and notes why. A human who comes back to a team counts as not
    /// having left.
    pub(super) fn leave(&mut self, who: &SeatedPlayer<'_>, reason: LeaveReason, now: u64) {
        self.set_team(who, None, now);
        self.take_role(who, None, now);
        if let Some(track) = self.track(who) {
            self.tracks[track].left = Some(reason);
        }
    }

    /// The index of a player's track, created if needed; `None` if there are too many.
    fn track(&mut self, who: &SeatedPlayer<'_>) -> Option<usize> {
        let key = PlayerKey {
            kind: who.kind,
            id: who.id.to_owned(),
        };
        let track = match self.index.get(&key) {
            Some(&track) => track,
            None if self.tracks.len() >= MAX_PLAYERS => {
                self.cut = true;
                return None;
            }
            None => {
                self.index.insert(key.clone(), self.tracks.len());
                self.tracks.push(PlayerTrack {
                    name: key.id.clone(),
                    key,
                    party: None,
                    seat: None,
                    stays: Vec::new(),
                    role: None,
                    duties: Vec::new(),
                    points: None,
                    kills: 0,
                    deaths: 0,
                    killed: 0,
                    left: None,
                });
                self.tracks.len() - 1
            }
        };
        let found = &mut self.tracks[track];
        if let Some(name) = who.name {
            found.name = name.to_owned();
        }
        found.party = who.party.map(str::to_owned);
        Some(track)
    }

    /// Ends a player's stay on a team.
    fn end_stay(&mut self, track: usize, at: u64) {
        let Some((team, from)) = self.tracks[track].seat.take() else {
            return;
        };
        // A stay that ended before START does not count.
        if !matches!(self.phase, PlayPhase::Running(_)) {
            return;
        }
        if self.stays >= MAX_STAYS {
            self.cut = true;
            return;
        }
        self.stays += 1;
        let span = Span { from, to: at };
        self.tracks[track].stays.push(Presence { team, span });
    }

    /// Gives a player a role from `now` on, or none.
    pub(super) fn take_role(&mut self, who: &SeatedPlayer<'_>, role: Option<&RoleName>, now: u64) {
        let Some(track) = self.track(who) else { return };
        let held = self.tracks[track].role.as_ref();
        if held.map(|(name, _)| name) == role {
            return;
        }
        let at = self.tick(now);
        self.end_role(track, at);
        self.tracks[track].role = role.map(|role| (role.clone(), at));
    }

    /// Ends a player's role.
    fn end_role(&mut self, track: usize, at: u64) {
        let Some((role, from)) = self.tracks[track].role.take() else {
            return;
        };
        if !self.is_running() {
            return; // it ended before START
        }
        if self.stays >= MAX_STAYS {
            self.cut = true;
            return;
        }
        self.stays += 1;
        self.tracks[track]
            .duties
            .push((role, Span { from, to: at }));
    }

    /// Begins play with `teams` teams, and discards all earlier play.
    pub(super) fn start(&mut self, teams: usize, now: u64) {
        self.phase = PlayPhase::Running(now);
        self.next = 1;
        self.scores = vec![0.0; teams];
        self.events.clear();
        self.stays = 0;
        self.left = None;
        self.cut = false;
        self.tracks.retain(|track| track.seat.is_some());
        self.index.clear();
        for (at, track) in self.tracks.iter_mut().enumerate() {
            self.index.insert(track.key.clone(), at);
            track.seat = track.seat.map(|(team, _)| (team, 0));
            track.stays.clear();
            if let Some((_, since)) = &mut track.role {
                *since = 0;
            }
            track.duties.clear();
            track.points = None;
            (track.kills, track.deaths, track.killed) = (0, 0, 0);
        }
    }

    /// Whether play has begun and has not ended.
    pub(super) fn is_running(&self) -> bool {
        matches!(self.phase, PlayPhase::Running(_))
    }

    /// Milliseconds played so far; 0 unless the game is in play.
    pub(super) fn elapsed(&self, now: u64) -> u64 {
        match self.phase {
            PlayPhase::Running(start) => now.saturating_sub(start),
            PlayPhase::WarmUp | PlayPhase::Over(_) => 0,
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

    /// The track of the human with this id, or else of the bot with this name, if they have played.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        let of = |kind| self.track_of(kind, id);
        of(Kind::Human).or_else(|| of(Kind::Bot))
    }

    /// The track of a player, if they have played.
    pub(super) fn track_of(&self, kind: Kind, id: &str) -> Option<usize> {
        let id = id.to_owned();
        self.index.get(&PlayerKey { kind, id }).copied()
    }

    /// The millisecond of play of the last event.
    pub(super) fn last(&self) -> u64 {
        self.next.saturating_sub(1)
    }

    /// The score of each team; empty before START.
    pub(super) fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Whether SCORE has been sent since play began.
    pub(super) fn has_scored(&self) -> bool {
        self.is_running() && !self.events.is_empty()
    }

    /// Whether POINTS has been sent since play began.
    pub(super) fn has_points(&self) -> bool {
        self.tracks.iter().any(|track| track.points.is_some())
    }

    /// Adds points to a team's score.
    pub(super) fn score(&mut self, team: u8, points: f64, by: Option<usize>, now: u64) {
        if !self.is_running() {
            return;
        }
        let at = self.tick(now);
        let index = usize::from(team);
        if index >= self.scores.len() {
            // TEAMS has increased the number of teams since START.
            self.scores.resize(index + 1, 0.0);
        }
        self.scores[index] = (self.scores[index] + points).clamp(-MAX_POINTS, MAX_POINTS);
        if self.events.len() >= MAX_EVENTS {
            self.cut = true;
            return;
        }
        self.events.push(ScoreEvent {
            at,
            team,
            points,
            by: by.and_then(|track| u32::try_from(track).ok()),
        });
    }

    /// Sets a player's points on the scoreboard.
    pub(super) fn points(&mut self, track: usize, points: f64) {
        if self.is_running() {
            self.tracks[track].points = Some(points);
        }
    }

    /// A player's points on the scoreboard, if POINTS has stated them.
    pub(super) fn points_of(&self, kind: Kind, id: &str) -> Option<f64> {
        let track = self.track_of(kind, id);
        track.and_then(|track| self.tracks[track].points)
    }

    /// Counts a kill, and a death of the victim. Killing a team mate or oneself is not a kill.
    pub(super) fn kill(&mut self, killer: usize, victim: usize) {
        if !self.is_running() {
            return;
        }
        let team = |track: usize| self.tracks[track].seat.map(|(team, _)| team);
        let mates = !self.scores.is_empty() && team(killer) == team(victim);
        if killer != victim && !mates {
            let kills = &mut self.tracks[killer].kills;
            *kills = kills.saturating_add(1);
        }
        let killed = &mut self.tracks[victim].killed;
        *killed = killed.saturating_add(1);
    }

    /// Counts a death that DEATH reported.
    pub(super) fn death(&mut self, track: usize) {
        if self.is_running() {
            let deaths = &mut self.tracks[track].deaths;
            *deaths = deaths.saturating_add(1);
        }
    }

    /// Ends the game and makes its record. Without a verdict the outcome is undecided. A second
    /// call returns the same record.
    ///
    /// # Errors
    /// Fails if play has not begun, if its record was [forgotten](Self::forget), or if the record
    /// is not valid; play then continues.
    pub(super) fn end(
        &mut self,
        facts: &GameFacts<'_>,
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
        let (ended, finished) = self.finished(facts, outcome, now)?;
        *self = ended;
        self.phase = PlayPhase::Over(Some(Box::new(finished.clone())));
        Ok(finished)
    }

    /// If play is over, frees everything that only the record needs. START does so, too.
    pub(super) fn forget(&mut self) {
        if let PlayPhase::Over(finished) = &mut self.phase {
            *finished = None;
            self.events = Vec::new();
            self.stays = 0;
            self.chances.forget();
            for track in &mut self.tracks {
                track.stays = Vec::new();
                track.duties = Vec::new();
            }
        }
    }

    /// Completes a course that was read from the disk; `None` if it exceeds the bounds.
    pub(super) fn restored(mut self) -> Option<Self> {
        let seated = |(at, track): (usize, &PlayerTrack)| (track.key.clone(), at);
        self.index = self.tracks.iter().enumerate().map(seated).collect();
        let spans = |track: &PlayerTrack| track.stays.len() + track.duties.len();
        let stays: usize = self.tracks.iter().map(spans).sum();
        let sound = self.index.len() == self.tracks.len()
            && self.tracks.len() <= MAX_PLAYERS
            && self.events.len() <= MAX_EVENTS
            && stays <= MAX_STAYS
            && self.scores.len() <= MAX_TEAMS
            && self.scores.iter().all(|score| score.abs() <= MAX_POINTS)
            && self.chances.is_sound(self.tracks.len());
        self.stays = stays;
        sound.then_some(self)
    }

    /// The record of a game that ends now without a result; `None` unless the game is in play.
    pub(super) fn abandoned(&self, facts: &GameFacts<'_>, now: u64) -> Option<Finished> {
        let outcome = |_: &[f64]| Outcome::Abandoned;
        let finished = self.finished(facts, outcome, now).ok();
        finished.map(|(_, finished)| finished)
    }

    /// The millisecond of play for an event at `now`, later than that of any earlier event.
    fn tick(&mut self, now: u64) -> u64 {
        let at = self.elapsed(now).max(self.next);
        self.next = at.saturating_add(1);
        at
    }
}

#[cfg(test)]
mod tests;
