//! What happened in the running game, from START to END, and the match record it makes.
//!
//! People are followed from GAME on, so that START finds them on their teams; nothing else counts
//! before it. Times come in as milliseconds of the session and go out as milliseconds of play. No
//! two events share one, so that they keep the order of their lines.

use std::collections::BTreeMap;

use super::LobbyError;
use crate::domain::{Kind, MatchRecord, Outcome, PlayerKey, Presence, ScoreEvent, Span, Verdict};

mod record;

pub(super) use record::About;
pub use record::{Finished, Frame};

/// Bounds of a record; see [`Finished::cut`].
const MAX_TRACKS: usize = 1_024;
const MAX_STAYS: usize = 100_000;
const MAX_EVENTS: usize = 200_000;
/// Beyond this, either way, a score is a broken counter.
const MAX_POINTS: f64 = 1e9;

#[derive(Clone, Debug, Default)]
enum Phase {
    #[default]
    WarmUp,
    /// Since when, in milliseconds of the session.
    Running(u64),
    Over(Box<Finished>),
}

/// One person or bot.
#[derive(Clone, Debug)]
struct Track {
    key: PlayerKey,
    name: String,
    party: Option<String>,
    /// The team they are on and since when, in milliseconds of play.
    seat: Option<(u8, u64)>,
    stays: Vec<Presence>,
    points: Option<f64>,
    kills: u32,
    deaths: u32,
    /// How often KILL named them as the victim.
    killed: u32,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Course {
    phase: Phase,
    /// The earliest time that the next event may have.
    next: u64,
    tracks: Vec<Track>,
    index: BTreeMap<PlayerKey, usize>,
    scores: Vec<f64>,
    /// `by` is a track, until the record is made.
    events: Vec<ScoreEvent>,
    stays: usize,
    /// What CLOCK told, and when, in milliseconds of the session.
    left: Option<(u64, u64)>,
    cut: bool,
}

/// Who somebody is, as a roster knows them.
pub(super) struct Who<'a> {
    pub(super) kind: Kind,
    pub(super) id: &'a str,
    pub(super) name: Option<&'a str>,
    pub(super) party: Option<&'a str>,
}

impl Course {
    /// From `now` on they are on `team`, or on none.
    pub(super) fn sit(&mut self, who: &Who<'_>, team: Option<u8>, now: u64) {
        let Some(track) = self.track(who) else { return };
        let seat = self.tracks[track].seat;
        if seat.map(|(team, _)| team) == team {
            return;
        }
        let at = self.tick(now);
        self.rise(track, at);
        self.tracks[track].seat = team.map(|team| (team, at));
    }

    /// The track of somebody, new or known; `None` when there are too many.
    fn track(&mut self, who: &Who<'_>) -> Option<usize> {
        let key = PlayerKey {
            kind: who.kind,
            id: who.id.to_owned(),
        };
        let track = match self.index.get(&key) {
            Some(&track) => track,
            None if self.tracks.len() >= MAX_TRACKS => {
                self.cut = true;
                return None;
            }
            None => {
                self.index.insert(key.clone(), self.tracks.len());
                self.tracks.push(Track {
                    name: key.id.clone(),
                    key,
                    party: None,
                    seat: None,
                    stays: Vec::new(),
                    points: None,
                    kills: 0,
                    deaths: 0,
                    killed: 0,
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

    /// The stay of a track ends.
    fn rise(&mut self, track: usize, at: u64) {
        let Some((team, from)) = self.tracks[track].seat.take() else {
            return;
        };
        // A stay that began and ended before START isn't one.
        if !matches!(self.phase, Phase::Running(_)) {
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

    /// Play begins, with `teams` teams; what was before doesn't count, nor does a game that is over.
    pub(super) fn start(&mut self, teams: usize, now: u64) {
        self.phase = Phase::Running(now);
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
            track.points = None;
            (track.kills, track.deaths, track.killed) = (0, 0, 0);
        }
    }

    /// Whether play has begun and isn't over.
    pub(super) fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running(_))
    }

    /// Play so far, in milliseconds; 0 when there is none.
    pub(super) fn elapsed(&self, now: u64) -> u64 {
        match self.phase {
            Phase::Running(start) => now.saturating_sub(start),
            Phase::WarmUp | Phase::Over(_) => 0,
        }
    }

    /// Play left, in milliseconds, if CLOCK told.
    pub(super) fn left(&self, now: u64) -> Option<u64> {
        let (left, told) = self.left?;
        Some(left.saturating_sub(now.saturating_sub(told)))
    }

    /// So many milliseconds of play are left.
    pub(super) fn clock(&mut self, left: u64, now: u64) {
        if self.is_running() {
            self.left = Some((left, now));
        }
    }

    /// Whether anybody of this name has been seen since play began: a human, or else a bot.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        let of = |kind| {
            let id = id.to_owned();
            self.index.get(&PlayerKey { kind, id }).copied()
        };
        of(Kind::Human).or_else(|| of(Kind::Bot))
    }

    /// The score of each team, if play has begun.
    pub(super) fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Whether any score has been told since play began.
    pub(super) fn has_scored(&self) -> bool {
        self.is_running() && !self.events.is_empty()
    }

    /// A team scored, by somebody's doing.
    pub(super) fn score(&mut self, team: u8, points: f64, by: Option<usize>, now: u64) {
        if !self.is_running() {
            return;
        }
        let at = self.tick(now);
        let index = usize::from(team);
        if index >= self.scores.len() {
            // TEAMS has been said since START.
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

    /// Somebody's points on the scoreboard.
    pub(super) fn points(&mut self, track: usize, points: f64) {
        if self.is_running() {
            self.tracks[track].points = Some(points);
        }
    }

    /// The points of somebody, 0 unless told.
    pub(super) fn points_of(&self, kind: Kind, id: &str) -> f64 {
        let id = id.to_owned();
        let track = self.index.get(&PlayerKey { kind, id });
        track
            .and_then(|&track| self.tracks[track].points)
            .unwrap_or(0.0)
    }

    /// Somebody killed somebody. Team mates and oneself don't count as kills.
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

    /// Somebody died.
    pub(super) fn death(&mut self, track: usize) {
        if self.is_running() {
            let deaths = &mut self.tracks[track].deaths;
            *deaths = deaths.saturating_add(1);
        }
    }

    /// The game is over. Saying so again has the same answer.
    ///
    /// # Errors
    /// Play has not begun, or no record can be made of it; then the game goes on.
    pub(super) fn end(
        &mut self,
        about: &About<'_>,
        verdict: Verdict,
        now: u64,
    ) -> Result<Finished, LobbyError> {
        if let Phase::Over(finished) = &self.phase {
            return Ok((**finished).clone());
        }
        let outcome = |scores: &[f64]| match verdict {
            Verdict::Scores => MatchRecord::outcome_of(scores),
            Verdict::Won(team) => Outcome::Won(team),
            Verdict::Draw => Outcome::Draw,
        };
        let (ended, finished) = self.finished(about, outcome, now)?;
        *self = ended;
        self.phase = Phase::Over(Box::new(finished.clone()));
        Ok(finished)
    }

    /// What there is of a game that goes no further; `None` where play has not begun.
    pub(super) fn abandoned(&self, about: &About<'_>, now: u64) -> Option<Finished> {
        let outcome = |_: &[f64]| Outcome::Abandoned;
        let finished = self.finished(about, outcome, now).ok();
        finished.map(|(_, finished)| finished)
    }

    /// The time of play of an event at `now`.
    fn tick(&mut self, now: u64) -> u64 {
        let at = self.elapsed(now).max(self.next);
        self.next = at.saturating_add(1);
        at
    }
}

#[cfg(test)]
mod tests;
