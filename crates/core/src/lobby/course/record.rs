//! Makes the match record from the course of play.

use std::collections::BTreeMap;

use super::{LobbyError, PlayCourse, PlayPhase, PlayerTrack};
use crate::domain::{
    MAX_ROLES, MatchChances, MatchRecord, Outcome, Participant, Presence, Role, RoleName,
    ScoreEvent, Span, Timestamp,
};

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

/// What the record needs to know about the game.
pub(in crate::lobby) struct GameFacts<'a> {
    pub(in crate::lobby) frame: &'a RecordFrame,
    pub(in crate::lobby) game_type: &'a str,
    pub(in crate::lobby) map: &'a str,
    pub(in crate::lobby) mutators: &'a [String],
    /// Number of teams; 0 in a game without teams.
    pub(in crate::lobby) teams: usize,
}

impl PlayCourse {
    /// The course with all stays ended, and its record.
    pub(super) fn finished(
        &self,
        facts: &GameFacts<'_>,
        outcome: impl FnOnce(&[f64]) -> Outcome,
        now: u64,
    ) -> Result<(Self, Finished), LobbyError> {
        let PlayPhase::Running(start) = self.phase else {
            return Err(LobbyError::NotStarted);
        };
        let mut ended = self.clone();
        let millis = ended.tick(now);
        for track in 0..ended.tracks.len() {
            ended.end_stay(track, millis);
            ended.end_role(track, millis);
        }
        let after = |millis: u64| i64::try_from(millis).unwrap_or(i64::MAX);
        let start = facts.frame.epoch.plus_millis(after(start));
        let mut mutators = facts.mutators.to_vec();
        mutators.sort_unstable();
        mutators.dedup();
        let mut scores = ended.scores.clone();
        scores.resize(facts.teams, 0.0);
        let (participants, index) = ended.participants(facts.teams, millis);
        let teams = facts.teams;
        let events = ended
            .events
            .iter()
            .filter(|event| usize::from(event.team) < teams);
        let record = MatchRecord {
            server: facts.frame.server.clone(),
            start,
            end: start.plus_millis(after(millis)),
            clock: None,
            untimed: false,
            map: facts.map.to_owned(),
            game_type: facts.game_type.to_owned(),
            mode: facts.frame.mode.clone(),
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
        let (chances, cut) = (ended.chances.recorded(&index), ended.cut);
        let finished = Finished {
            record,
            chances,
            cut,
        };
        Ok((ended, finished))
    }

    /// The players who took part, and for each track the index of its participant.
    fn participants(&self, teams: usize, millis: u64) -> (Vec<Participant>, Vec<Option<u32>>) {
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
                roles: roles(&track.duties, &presence, millis),
                presence,
                points: track.points,
                kills: track.kills,
                // A game server can report a death by DEATH, by KILL, or by both.
                deaths: track.deaths.max(track.killed),
                party: parties.number(track),
                left: track.left,
            });
        }
        (participants, index)
    }
}

/// The roles that a player had on teams, with the weighted shares of a game of `millis`: at most
/// [`MAX_ROLES`], the largest of them.
fn roles(duties: &[(RoleName, Span)], presence: &[Presence], millis: u64) -> Vec<Role> {
    let mut shares: BTreeMap<(&RoleName, u8), f64> = BTreeMap::new();
    for (role, span) in duties {
        let stays = presence.iter();
        for (team, held) in stays.filter_map(|stay| Some((stay.team, span.overlap(stay.span)?))) {
            *shares.entry((role, team)).or_default() += held.early_share(millis, millis);
        }
    }
    let mut roles: Vec<Role> = shares
        .into_iter()
        .map(|((name, team), share)| Role {
            name: name.as_str().to_owned(),
            team,
            share: share.clamp(0.0, 1.0),
        })
        .collect();
    roles.sort_by(|a, b| b.share.total_cmp(&a.share));
    roles.truncate(MAX_ROLES);
    roles.sort_by(|a, b| (&a.name, a.team).cmp(&(&b.name, b.team)));
    roles
}

/// The parties with two or more members who played, numbered in the order of their appearance.
struct Parties<'a>(Vec<(&'a str, usize)>);

impl<'a> Parties<'a> {
    fn of(tracks: &'a [PlayerTrack]) -> Self {
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

    fn number(&self, track: &PlayerTrack) -> Option<u32> {
        let party = track.party.as_deref()?;
        let at = self.0.iter().position(|&(name, _)| name == party)?;
        u32::try_from(at).ok()
    }
}
