//! Makes the match record of what was recorded.

use std::collections::{BTreeMap, HashMap};

use super::{MatchRecorder, PlayerTimeline, lone::Counts};
use crate::{
    MAX_ROLES, MatchRecord, Participant, PlayTime, PlayerKey, Presence, Role, RoleName, ScoreEvent,
    Span,
};

impl MatchRecorder {
    /// Completes the record of the match, which lasted `millis` and has [ended](Self::end). `record` states all but its
    /// end, its participants and its events; its scores say how many teams there are. Returns it with the seat of each
    /// timeline, which players who were never on one of these teams lack.
    pub fn complete(&self, record: MatchRecord, millis: u64) -> (MatchRecord, Vec<Option<u32>>) {
        let teams = record.scores.len();
        // The fingerprint of a match without dates contains its kills and deaths as the log states them.
        let counts_all = record.clock.is_some();
        let (participants, seats) = self.participants(teams, millis, counts_all);
        let seat = |who: u32| seats.get(who as usize).copied().flatten();
        let events = self.events.iter();
        let events = events.filter(|event| usize::from(event.team) < teams);
        let events = events.map(|event| ScoreEvent {
            by: event.by.and_then(seat),
            ..*event
        });
        let record = MatchRecord {
            end: (record.start).plus_millis(i64::try_from(millis).unwrap_or(i64::MAX)),
            participants,
            events: events.collect(),
            ..record
        };
        (record, seats)
    }

    /// One participant per identity, and the seat of each timeline.
    fn participants(
        &self,
        teams: usize,
        millis: u64,
        counts_all: bool,
    ) -> (Vec<Participant>, Vec<Option<u32>>) {
        let parties = Parties::of(&self.players);
        let mut groups: Vec<Vec<(usize, &PlayerTimeline)>> = Vec::new();
        let mut known: HashMap<&PlayerKey, usize> = HashMap::new();
        let mut seats = Vec::with_capacity(self.players.len());
        for (who, player) in self.players.iter().enumerate() {
            if player.presence(teams).next().is_none() {
                seats.push(None);
                continue;
            }
            let seat = *known.entry(&player.key).or_insert(groups.len());
            seats.push(u32::try_from(seat).ok());
            match groups.get_mut(seat) {
                Some(group) => group.push((who, player)),
                None => groups.push(vec![(who, player)]),
            }
        }
        let participants = groups.iter();
        let participants = participants.filter_map(|group| participant(group, teams, &parties));
        let mut participants: Vec<Participant> = participants.collect();
        let play = PlayTime::of(&participants, teams).or_all_of(millis);
        let waiting = match counts_all {
            true => Vec::new(),
            false => self.lone.while_waiting(self.players.len(), teams, &play),
        };
        for (participant, group) in participants.iter_mut().zip(&groups) {
            let own = group
                .iter()
                .map(|(who, player)| player.counts(waiting.get(*who).copied().unwrap_or_default()));
            (participant.kills, participant.deaths) = own.fold((0u32, 0u32), |all, one| {
                (all.0.saturating_add(one.0), all.1.saturating_add(one.1))
            });
            let duties = group.iter().flat_map(|(_, one)| &one.duties);
            participant.roles = roles(duties, &participant.presence, &play);
        }
        (participants, seats)
    }
}

impl PlayerTimeline {
    /// The stays on the first `teams` teams. In a game without teams, all are on team 0.
    fn presence(&self, teams: usize) -> impl Iterator<Item = Presence> {
        let stays = self.stays.iter().map(move |stay| match teams {
            0 => Presence { team: 0, ..*stay },
            _ => *stay,
        });
        stays.filter(move |stay| usize::from(stay.team) < teams.max(1))
    }

    /// The kills and the deaths without those while waiting.
    fn counts(&self, waiting: Counts) -> (u32, u32) {
        let deaths = self.deaths.saturating_sub(waiting.deaths);
        let killed = self.killed.saturating_sub(waiting.killed);
        // A game can report a death on its own, by a kill, or by both.
        (self.kills.saturating_sub(waiting.kills), deaths.max(killed))
    }
}

/// The participant whose timelines these are, without roles and counts; `None` if there are none.
fn participant(
    timelines: &[(usize, &PlayerTimeline)],
    teams: usize,
    parties: &Parties<'_>,
) -> Option<Participant> {
    let (_, last) = timelines.last()?;
    let presence = timelines.iter().flat_map(|(_, one)| one.presence(teams));
    let presence = joined(presence.collect());
    let points = timelines.iter().filter_map(|(_, one)| one.points);
    Some(Participant {
        key: last.key.clone(),
        name: last.name.clone(),
        points: points.reduce(|one, other| one + other),
        kills: 0,
        deaths: 0,
        roles: Vec::new(),
        presence,
        party: parties.number(last),
        left: last.left,
    })
}

/// Sorts stays by time, and joins those on the same team that touch or overlap. If an identity seems to be on two teams
/// at once, because two players share it, the stay that began first is kept whole.
pub(crate) fn joined(mut stays: Vec<Presence>) -> Vec<Presence> {
    stays.sort_by_key(|stay| stay.span.from);
    let mut joined: Vec<Presence> = Vec::with_capacity(stays.len());
    for mut stay in stays {
        match joined.last_mut() {
            Some(last) if stay.span.from <= last.span.to && stay.team == last.team => {
                last.span.to = last.span.to.max(stay.span.to);
                continue;
            }
            Some(last) if stay.span.from < last.span.to => stay.span.from = last.span.to,
            _ => {}
        }
        if stay.span.from <= stay.span.to {
            joined.push(stay);
        }
    }
    joined
}

/// The roles that a player had on teams, with the weighted shares of play: at most [`MAX_ROLES`], the largest of them.
fn roles<'a>(
    duties: impl Iterator<Item = &'a (RoleName, Span)>,
    presence: &[Presence],
    play: &PlayTime,
) -> Vec<Role> {
    let millis = play.millis();
    let mut shares: BTreeMap<(&RoleName, u8), f64> = BTreeMap::new();
    for (role, span) in duties {
        let stays = presence.iter();
        let held = stays.filter_map(|stay| Some((stay.team, span.overlap(stay.span)?)));
        let held = held.filter_map(|(team, held)| Some((team, play.of_span(held)?)));
        for (team, held) in held {
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
    fn of(players: &'a [PlayerTimeline]) -> Self {
        let mut parties: Vec<(&str, usize)> = Vec::new();
        let played = players.iter().filter(|player| !player.stays.is_empty());
        for party in played.filter_map(|player| player.party.as_deref()) {
            match parties.iter_mut().find(|(name, _)| *name == party) {
                Some((_, members)) => *members += 1,
                None => parties.push((party, 1)),
            }
        }
        parties.retain(|&(_, members)| members > 1);
        Self(parties)
    }

    fn number(&self, player: &PlayerTimeline) -> Option<u32> {
        let party = player.party.as_deref()?;
        let at = self.0.iter().position(|&(name, _)| name == party)?;
        u32::try_from(at).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_that_touch_become_one() {
        let stay = |team, from, to| Presence {
            team,
            span: Span { from, to },
        };
        let stays = vec![
            stay(0, 50, 70),
            stay(0, 0, 50),
            stay(0, 60, 65),
            stay(1, 70, 80),
        ];
        assert_eq!(joined(stays), [stay(0, 0, 70), stay(1, 70, 80)]);
    }
}
