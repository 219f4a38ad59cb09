//! The match record of a course.

use super::{Course, LobbyError, Phase, Track};
use crate::domain::{MatchRecord, Outcome, Participant, ScoreEvent, Timestamp};

/// What a record says of a game that the game itself doesn't know.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// The game server's name.
    pub server: String,
    /// The instant that the session's milliseconds count from.
    pub epoch: Timestamp,
    /// The league, region or playlist; empty where there is none.
    pub mode: String,
}

/// A game that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// The record, which has been checked. Its outcome is [`Outcome::Abandoned`] if it was broken
    /// off.
    pub record: MatchRecord,
    /// Whether it outgrew what any real game has, so that part of it is missing and it should not
    /// be rated.
    pub cut: bool,
}

/// What the record needs to know of the game it is of.
pub(in crate::lobby) struct About<'a> {
    pub(in crate::lobby) frame: &'a Frame,
    pub(in crate::lobby) game_type: &'a str,
    pub(in crate::lobby) map: &'a str,
    pub(in crate::lobby) mutators: &'a [String],
    /// 0 in a game without teams.
    pub(in crate::lobby) teams: usize,
}

impl Course {
    /// Everybody risen, and the record.
    pub(super) fn finished(
        &self,
        about: &About<'_>,
        outcome: impl FnOnce(&[f64]) -> Outcome,
        now: u64,
    ) -> Result<(Self, Finished), LobbyError> {
        let Phase::Running(start) = self.phase else {
            return Err(LobbyError::NotStarted);
        };
        let mut ended = self.clone();
        let millis = ended.tick(now);
        for track in 0..ended.tracks.len() {
            ended.rise(track, millis);
        }
        let after = |millis: u64| i64::try_from(millis).unwrap_or(i64::MAX);
        let start = about.frame.epoch.plus_millis(after(start));
        let mut mutators = about.mutators.to_vec();
        mutators.sort_unstable();
        mutators.dedup();
        let mut scores = ended.scores.clone();
        scores.resize(about.teams, 0.0);
        let (participants, index) = ended.participants(about.teams);
        let teams = about.teams;
        let events = ended
            .events
            .iter()
            .filter(|event| usize::from(event.team) < teams);
        let record = MatchRecord {
            server: about.frame.server.clone(),
            start,
            end: start.plus_millis(after(millis)),
            clock: None,
            map: about.map.to_owned(),
            game_type: about.game_type.to_owned(),
            mode: about.frame.mode.clone(),
            mutators,
            outcome: outcome(&scores),
            scores,
            events: events
                .map(|event| ScoreEvent {
                    by: event.by.and_then(|track| *index.get(track as usize)?),
                    ..*event
                })
                .collect(),
            participants,
        };
        record.check()?;
        let cut = ended.cut;
        Ok((ended, Finished { record, cut }))
    }

    /// Everybody who played, and which of them each track became.
    fn participants(&self, teams: usize) -> (Vec<Participant>, Vec<Option<u32>>) {
        let parties = Parties::of(&self.tracks);
        let mut participants = Vec::new();
        let mut index = Vec::with_capacity(self.tracks.len());
        for track in &self.tracks {
            let mut presence = track.stays.clone();
            presence.retain(|stay| usize::from(stay.team) < teams.max(1));
            if presence.is_empty() {
                index.push(None);
                continue;
            }
            index.push(u32::try_from(participants.len()).ok());
            participants.push(Participant {
                key: track.key.clone(),
                name: track.name.clone(),
                presence,
                points: track.points,
                kills: track.kills,
                // A server may tell deaths by DEATH, by KILL, or by both.
                deaths: track.deaths.max(track.killed),
                roles: Vec::new(),
                party: parties.number(track),
            });
        }
        (participants, index)
    }
}

/// Numbers for the parties of two or more, in the order they were first seen.
struct Parties<'a>(Vec<(&'a str, usize)>);

impl<'a> Parties<'a> {
    fn of(tracks: &'a [Track]) -> Self {
        let mut parties: Vec<(&str, usize)> = Vec::new();
        let played = tracks.iter().filter(|track| !track.stays.is_empty());
        for party in played.filter_map(|track| track.party.as_deref()) {
            match parties.iter_mut().find(|(name, _)| *name == party) {
                Some((_, members)) => *members += 1,
                None => parties.push((party, 1)),
            }
        }
        parties.retain(|&(_, members)| members > 1);
        Self(parties)
    }

    fn number(&self, track: &Track) -> Option<u32> {
        let party = track.party.as_deref()?;
        let at = self.0.iter().position(|&(name, _)| name == party)?;
        u32::try_from(at).ok()
    }
}
