//! The invariants of a match record.

use super::{
    MAX_EVENTS, MAX_PLAYERS, MAX_ROLES, MAX_STAYS, MAX_TEAMS, MatchRecord, Outcome, Participant,
};
use crate::{Timestamp, holder::Holder};

const MAX_MUTATORS: usize = 256;
const MAX_TEXT: usize = 1_024;
/// One week of play. A longer game means that the log's clock is broken; an empty server may wait for longer.
const MAX_MILLIS: u64 = 7 * 24 * 3_600_000;
/// The largest number of points of a team or player. A larger one means that a counter is broken.
const MAX_POINTS: f64 = 1e9;

/// Why a record is invalid, in one sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RecordError(pub(crate) &'static str);

impl MatchRecord {
    /// Checks the invariants on which all users of a record rely: bounded sizes, finite numbers,
    /// existing teams, times within the game and in order, one entry per identity.
    ///
    /// # Errors
    /// Returns the first invariant that does not hold.
    pub fn check(&self) -> Result<(), RecordError> {
        let texts = [
            &self.server,
            &self.client,
            &self.map,
            &self.game_type,
            &self.mode,
        ];
        let texts = texts.into_iter().chain(&self.mutators);
        let owner = match &self.too_many_new {
            Some(Holder::Client(name)) => name.len(),
            Some(Holder::Address(_) | Holder::ThisMachine) | None => 0,
        };
        ensure(
            texts.into_iter().all(|t| t.len() <= MAX_TEXT) && owner <= MAX_TEXT,
            "a name is too long",
        )?;
        ensure(!self.game_type.is_empty(), "no game type")?;
        ensure(self.mutators.len() <= MAX_MUTATORS, "too many mutators")?;
        ensure(
            self.mutators.is_sorted_by(|a, b| a < b),
            "mutators are not sorted and unique",
        )?;
        ensure(self.start <= self.end, "it ends before it starts")?;
        ensure(
            Timestamp::YEARS.contains(&self.start) && Timestamp::YEARS.contains(&self.end),
            "it is not in the years 0 to 9998",
        )?;
        ensure(
            self.millis() <= MAX_MILLIS || self.play_millis() <= MAX_MILLIS,
            "it lasts over a week",
        )?;
        ensure(
            !self.untimed || self.start == self.end,
            "its length is known and not known",
        )?;
        ensure(
            self.scores.len() != 1 && self.scores.len() <= MAX_TEAMS,
            "impossible number of teams",
        )?;
        ensure(
            self.scores.iter().all(|s| s.abs() <= MAX_POINTS),
            "impossible score",
        )?;
        ensure(
            !self.unscored
                || self.has_teams()
                    && self.events.is_empty()
                    && self.scores.iter().all(|score| *score == 0.0),
            "its scores are known and not known",
        )?;
        if let Outcome::Won(team) = self.outcome {
            ensure(
                usize::from(team) < self.scores.len(),
                "the winner does not exist",
            )?;
        }
        self.check_participants()?;
        self.check_events()
    }

    fn check_participants(&self) -> Result<(), RecordError> {
        ensure(
            self.participants.len() <= MAX_PLAYERS,
            "too many participants",
        )?;
        let mut keys: Vec<_> = self.participants.iter().map(|p| &p.key).collect();
        keys.sort_unstable();
        ensure(
            keys.is_sorted_by(|a, b| a < b),
            "a participant is listed twice",
        )?;
        let spans: usize = self.participants.iter().map(|p| p.presence.len()).sum();
        ensure(spans <= MAX_STAYS, "too many stays on teams")?;
        for participant in &self.participants {
            let Participant {
                key,
                name,
                presence,
                points,
                roles,
                ..
            } = participant;
            ensure(!key.id.is_empty(), "a participant has no identity")?;
            ensure(
                key.id.len() <= MAX_TEXT && name.len() <= MAX_TEXT,
                "a name is too long",
            )?;
            ensure(
                points.is_none_or(|p| p.abs() <= MAX_POINTS),
                "impossible points",
            )?;
            ensure(
                roles.is_sorted_by(|a, b| (&a.name, a.team) < (&b.name, b.team)),
                "roles are not sorted and unique",
            )?;
            ensure(
                roles.len() <= MAX_ROLES && roles.iter().all(|r| r.name.len() <= MAX_TEXT),
                "too many roles",
            )?;
            for role in roles {
                ensure((0.0..=1.0).contains(&role.share), "an impossible role")?;
                ensure(self.team_exists(role.team), "a role is on no team")?;
            }
            ensure(
                presence.is_sorted_by_key(|p| p.span.from),
                "presence is out of order",
            )?;
            for stay in presence {
                ensure(
                    stay.span.from <= stay.span.to,
                    "a presence ends before it starts",
                )?;
                ensure(
                    stay.span.to <= self.millis(),
                    "a presence is outside the game",
                )?;
                ensure(self.team_exists(stay.team), "a presence is on no team")?;
            }
        }
        Ok(())
    }

    fn check_events(&self) -> Result<(), RecordError> {
        ensure(self.events.len() <= MAX_EVENTS, "too many score events")?;
        ensure(
            self.events.is_sorted_by_key(|e| e.at),
            "score events are out of order",
        )?;
        for event in &self.events {
            ensure(
                event.at <= self.millis(),
                "a score event is outside the game",
            )?;
            ensure(event.points.abs() <= MAX_POINTS, "impossible points")?;
            ensure(
                self.has_teams() && self.team_exists(event.team),
                "a score event has no team",
            )?;
            let known = event
                .by
                .is_none_or(|i| (i as usize) < self.participants.len());
            ensure(known, "a score event's author does not exist")?;
        }
        Ok(())
    }

    fn team_exists(&self, team: u8) -> bool {
        usize::from(team) < self.scores.len().max(1)
    }
}

fn ensure(holds: bool, otherwise: &'static str) -> Result<(), RecordError> {
    if holds {
        Ok(())
    } else {
        Err(RecordError(otherwise))
    }
}
