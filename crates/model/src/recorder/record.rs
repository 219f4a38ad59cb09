//! Makes the match record of what was recorded, without what was no play.
//!
//! Kills and deaths while nobody had an opponent are no play. Only those are noted at whose time no opponents are known.
//! Whether there were any, the whole match shows: a log may state somebody's team late.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::{MatchRecorder, PlayerTimeline};
use crate::{
    MAX_ROLES, MatchRecord, Nobody, Participant, PlayTime, PlayerKey, Presence, Role, RoleName,
    ScoreEvent, Span,
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
        let parties = PlayedParties::of(&self.players);
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
    fn counts(&self, waiting: DeedCounts) -> (u32, u32) {
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
    parties: &PlayedParties<'_>,
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
struct PlayedParties<'a>(Vec<(&'a str, usize)>);

impl<'a> PlayedParties<'a> {
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

/// The most that are noted with one player there, and with several on one side. In a game without teams, where all are on
/// one side, the latter are no waiting.
const MOST: usize = 1_000;

/// What is counted of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum CountedDeed {
    Kill,
    Death,
    Killed,
}

/// How often each happened to somebody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DeedCounts {
    pub(super) kills: u32,
    pub(super) deaths: u32,
    pub(super) killed: u32,
}

/// What was counted while no opponents were known.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct LoneEvents {
    alone: Vec<(usize, u64, CountedDeed)>,
    one_side: Vec<(usize, u64, CountedDeed)>,
}

impl LoneEvents {
    /// How many are noted.
    pub(super) fn len(&self) -> usize {
        self.alone.len() + self.one_side.len()
    }

    /// Adds those of a later part of the match, whose timelines and times grow by these.
    pub(super) fn append(&mut self, later: Self, grown: usize, offset: u64) {
        for (own, later) in [
            (&mut self.alone, later.alone),
            (&mut self.one_side, later.one_side),
        ] {
            let room = MOST.saturating_sub(own.len());
            let moved = |(who, at, what): (usize, u64, CountedDeed)| {
                (who + grown, at.saturating_add(offset), what)
            };
            own.extend(later.into_iter().take(room).map(moved));
        }
    }

    /// What of this was no play, by timeline.
    fn while_waiting(&self, timelines: usize, teams: usize, play: &PlayTime) -> Vec<DeedCounts> {
        let mut counts = vec![DeedCounts::default(); timelines];
        let one_side = self.one_side.iter().filter(|_| teams > 0);
        for (who, at, what) in self.alone.iter().chain(one_side) {
            if let Some(of) = counts.get_mut(*who).filter(|_| !play.is_at(*at)) {
                match what {
                    CountedDeed::Kill => of.kills += 1,
                    CountedDeed::Death => of.deaths += 1,
                    CountedDeed::Killed => of.killed += 1,
                }
            }
        }
        counts
    }
}

impl MatchRecorder {
    /// Notes a count at this time if no opponents are known.
    pub(super) fn note_lone(&mut self, who: usize, at: u64, what: CountedDeed) {
        let is_full = |noted: &Vec<_>| noted.len() >= MOST;
        if is_full(&self.lone.one_side) && is_full(&self.lone.alone) {
            return;
        }
        let mut teams = self.players.iter().filter_map(|player| player.team());
        let first = teams.next();
        let (mut several, mut opposed) = (false, false);
        for team in teams {
            several = true;
            opposed |= Some(team) != first;
            if opposed {
                return;
            }
        }
        let noted = match several {
            true => &mut self.lone.one_side,
            false => &mut self.lone.alone,
        };
        if !is_full(noted) {
            noted.push((who, at, what));
        }
    }
}

/// For how long somebody may still seem to be there, in milliseconds, who has come back under another name before the
/// server has noticed that the old connection is dead; and the same of who has come back under the same name.
const DEAD: [u64; 2] = [60_000, 300_000];

impl MatchRecorder {
    /// The same match with identities of their own for players who are known by a name that is nobody's: one that
    /// several of them had at the same time, or one that `is_default`. `is_name` says whether an identity is but a name,
    /// which anybody may take. So have those who had one id at the same time, as copies of one installation do. `None` if
    /// there are no such players.
    ///
    /// Of several timelines, one is of the same person as another if they could be: the fewest people are assumed.
    pub fn with_namesakes_apart(
        &self,
        is_name: impl Fn(&PlayerKey, &str) -> bool,
        is_default: impl Fn(&PlayerKey, &str) -> bool,
    ) -> Option<Self> {
        let mut of_key: BTreeMap<PlayerKey, Vec<usize>> = BTreeMap::new();
        for (who, player) in self.players.iter().enumerate() {
            of_key.entry(player.key.clone()).or_default().push(who);
        }
        let mut split: Option<Self> = None;
        for (key, timelines) in of_key {
            let by_name = |who: &usize| is_name(&key, &self.players[*who].name);
            if !timelines.iter().all(by_name) && !self.share(&timelines) {
                continue;
            }
            let people = self.people(&timelines);
            let several = people.iter().any(|(_, person)| *person > 0);
            let first = timelines.first().map(|who| &self.players[*who].name);
            let why = match first.is_some_and(|name| is_default(&key, name)) {
                _ if several => Nobody::Twice,
                true => Nobody::Default,
                false => continue,
            };
            let split = split.get_or_insert_with(|| self.clone());
            for (who, person) in people {
                split.players[who].key = key.split(why, person + 1);
            }
        }
        split
    }

    /// Whether these timelines of one id are of several players: two of them overlap for longer than a dead connection
    /// seems to be there. Complexity: O(n log n).
    fn share(&self, timelines: &[usize]) -> bool {
        let time = |who: &usize| {
            let player = &self.players[*who];
            let (first, last) = (player.stays.first()?, player.stays.last()?);
            Some((first.span.from, last.span.to, &player.name))
        };
        let mut times: Vec<_> = timelines.iter().filter_map(time).collect();
        times.sort_unstable();
        let mut longest: Option<(u64, &String)> = None;
        times.into_iter().any(|(from, to, name)| {
            let together = longest.is_some_and(|(end, other)| {
                end.min(to).saturating_sub(from) > DEAD[usize::from(name == other)]
            });
            longest = longest.filter(|(end, _)| *end >= to).or(Some((to, name)));
            together
        })
    }

    /// The timelines of one identity, each with the number of its person. Complexity: O(n log n + n · people).
    fn people(&self, timelines: &[usize]) -> Vec<(usize, usize)> {
        let stays = |who: usize| {
            self.players[who]
                .stays
                .iter()
                .filter(|s| s.span.millis() > 0)
        };
        let from = |who: usize| stays(who).map(|stay: &Presence| stay.span.from).min();
        let mut sorted: Vec<(Option<u64>, usize)> =
            timelines.iter().map(|&who| (from(who), who)).collect();
        sorted.sort_unstable();
        let mut until: Vec<u64> = Vec::new();
        let numbered = sorted.into_iter().map(|(from, who)| {
            let Some(from) = from else {
                return (who, 0);
            };
            let to = stays(who).map(|stay| stay.span.to).max().unwrap_or(from);
            let free = until.iter().position(|end| *end <= from);
            let person = free.unwrap_or(until.len());
            match until.get_mut(person) {
                Some(end) => *end = to,
                None => until.push(to),
            }
            (who, person)
        });
        numbered.collect()
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
