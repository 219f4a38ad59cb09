//! Merging of identities: changes a match as if each player had used one identity throughout.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    Kind, MatchRecord, Participant, PlayerKey, ident::Nobody, names::ClanTags, record::Presence,
    steam,
};

/// Which identities count as others: those that an operator has merged, all forms of a Steam id, and names with the tags
/// of clans.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountsAs {
    merged: BTreeMap<PlayerKey, PlayerKey>,
    tags: ClanTags,
}

/// Of these pairs, the first counts as the second, in whatever form their Steam ids are. Names have no tags.
impl FromIterator<(PlayerKey, PlayerKey)> for CountsAs {
    fn from_iter<I: IntoIterator<Item = (PlayerKey, PlayerKey)>>(pairs: I) -> Self {
        Self::new(pairs, &ClanTags::default())
    }
}

impl CountsAs {
    /// Of these pairs, the first counts as the second, in whatever form their Steam ids are, with tags in their names or
    /// without.
    pub fn new(pairs: impl IntoIterator<Item = (PlayerKey, PlayerKey)>, tags: &ClanTags) -> Self {
        let canonical = |key: PlayerKey| canonical_key(tags, key.kind, &key.id).unwrap_or(key);
        let pairs = pairs
            .into_iter()
            .map(|(from, into)| (canonical(from), canonical(into)));
        Self {
            merged: pairs.filter(|(from, into)| from != into).collect(),
            tags: tags.clone(),
        }
    }

    /// The one form of an identity under which its player is known, if this is another one. Nobody has merged them.
    pub fn canonical(&self, kind: Kind, id: &str) -> Option<PlayerKey> {
        canonical_key(&self.tags, kind, id)
    }

    /// The identity that a player counts as, if it is another one.
    pub fn get(&self, kind: Kind, id: &str) -> Option<Cow<'_, PlayerKey>> {
        let canonical = self.canonical(kind, id);
        if !self.merged.is_empty() {
            let own = || PlayerKey {
                kind,
                id: id.to_owned(),
            };
            let merged = self.merged.get(canonical.as_ref().unwrap_or(&own()));
            if let Some(into) = merged {
                return Some(Cow::Borrowed(into));
            }
        }
        canonical.map(Cow::Owned)
    }

    /// The identity that a player counts as: the same, or another one.
    pub fn of<'a>(&'a self, key: &'a PlayerKey) -> Cow<'a, PlayerKey> {
        self.get(key.kind, &key.id).unwrap_or(Cow::Borrowed(key))
    }

    /// The identities that an operator has merged, and as which they count. Of a Steam id, this is the one form under
    /// which it is known; of a name, the one without tags.
    pub fn merged(&self) -> impl Iterator<Item = (&PlayerKey, &PlayerKey)> {
        self.merged.iter()
    }

    /// Those of these players who are there at the same time as somebody whose name differs from theirs in tags alone:
    /// `[A] bob` and `[B] bob`. Nobody can say who of them is bob.
    fn namesakes(&self, players: &[Participant]) -> BTreeSet<usize> {
        if self.tags.is_empty() {
            return BTreeSet::new();
        }
        let mut named: BTreeMap<PlayerKey, (bool, Vec<usize>)> = BTreeMap::new();
        for (at, player) in players.iter().enumerate() {
            let bare = self.tags.without(player.key.kind, &player.key.id);
            let has_tags = bare.is_some();
            let key = bare.unwrap_or_else(|| player.key.clone());
            let (any, all) = named.entry(key).or_default();
            *any |= has_tags;
            all.push(at);
        }
        let of_one_name = named.into_values().filter(|(has_tags, _)| *has_tags);
        let twice = of_one_name.filter(|(_, all)| meet(players, all));
        twice.flat_map(|(_, all)| all).collect()
    }
}

/// The one form under which a player is known, if this identity is another one: of a Steam id, or of a name.
fn canonical_key(tags: &ClanTags, kind: Kind, id: &str) -> Option<PlayerKey> {
    steam::canonical_key(kind, id).or_else(|| tags.without(kind, id))
}

/// Whether two of these players are there at the same time.
fn meet(players: &[Participant], some: &[usize]) -> bool {
    let stays = some.iter().filter_map(|at| players.get(*at));
    let stays = stays.flat_map(|player| &player.presence);
    let mut spans: Vec<(u64, u64)> = stays.map(|stay| (stay.span.from, stay.span.to)).collect();
    spans.sort_unstable();
    spans
        .windows(2)
        .any(|two| matches!(two, [(_, until), (from, _)] if from < until))
}

impl MatchRecord {
    /// Replaces each identity by the one that it counts as, and returns the former
    /// seat of each remaining participant. If that gives one player two entries, they become one;
    /// where their stays overlap, the earlier stay counts. Two at the same time whose names differ in tags alone stay two,
    /// under identities that are nobody's.
    pub fn merge_players(&mut self, counts_as: &CountsAs) -> Vec<usize> {
        let mut merged: Vec<Participant> = Vec::with_capacity(self.participants.len());
        let mut stood = Vec::with_capacity(self.participants.len());
        let mut new_seat = Vec::with_capacity(self.participants.len());
        let mut seats: BTreeMap<PlayerKey, usize> = BTreeMap::new();
        let namesakes = counts_as.namesakes(&self.participants);
        for (old, mut participant) in self.participants.drain(..).enumerate() {
            if namesakes.contains(&old) {
                let number = u32::try_from(old).unwrap_or(u32::MAX);
                participant.key = participant.key.of_nobody(Nobody::Twice, number);
            } else if let Some(other) = counts_as.get(participant.key.kind, &participant.key.id) {
                participant.key = other.into_owned();
            }
            let seat = *seats.entry(participant.key.clone()).or_insert(merged.len());
            new_seat.push(seat as u32);
            match merged.get_mut(seat) {
                Some(first) => first.absorb(participant),
                None => {
                    merged.push(participant);
                    stood.push(old);
                }
            }
        }
        self.participants = merged;
        for event in &mut self.events {
            let seat = event.by.and_then(|by| new_seat.get(by as usize));
            event.by = seat.copied();
        }
        stood
    }
}

impl Participant {
    fn absorb(&mut self, other: Participant) {
        let until = |presence: &[Presence]| presence.last().map(|stay| stay.span.to);
        if until(&other.presence) >= until(&self.presence) {
            self.left = other.left; // the other identity was the last to leave
        }
        if self.name.is_empty() {
            self.name = other.name;
        }
        self.presence.extend(other.presence);
        self.presence.sort_by_key(|stay| stay.span.from);
        let mut until = 0;
        self.presence.retain_mut(|stay| {
            stay.span.from = stay.span.from.max(until);
            until = until.max(stay.span.to);
            stay.span.from < stay.span.to
        });
        self.points = match (self.points, other.points) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        self.kills = self.kills.saturating_add(other.kills);
        self.deaths = self.deaths.saturating_add(other.deaths);
        for role in other.roles {
            let same = |known: &&mut super::record::Role| {
                (&known.name, known.team) == (&role.name, role.team)
            };
            match self.roles.iter_mut().find(same) {
                Some(known) => known.share = (known.share + role.share).min(1.0),
                None => self.roles.push(role),
            }
        }
        self.roles
            .sort_by(|a, b| (&a.name, a.team).cmp(&(&b.name, b.team)));
        self.party = self.party.or(other.party);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Kind, Outcome, Timestamp,
        record::{ScoreEvent, Span},
    };

    #[test]
    fn two_identities_become_one() {
        let key = |id: &str| PlayerKey {
            kind: Kind::Human,
            id: id.into(),
        };
        let stay = |team, from, to| Presence {
            team,
            span: Span { from, to },
        };
        let player = |id: &str, presence| Participant {
            key: key(id),
            name: id.into(),
            presence,
            points: Some(2.0),
            kills: 1,
            deaths: 2,
            roles: vec![],
            party: None,
            left: None,
        };
        let mut record = MatchRecord {
            server: String::new(),
            start: Timestamp(0),
            end: Timestamp(1_000),
            clock: None,
            untimed: false,
            client: String::new(),
            unscored: false,
            too_many_new: None,
            logged_as: None,
            map: String::new(),
            game_type: "ctf".into(),
            mode: String::new(),
            mutators: vec![],
            scores: vec![1.0, 0.0],
            participants: vec![
                player("x", vec![stay(1, 0, 1_000)]),
                player("old", vec![stay(0, 0, 400)]),
                player("new", vec![stay(0, 300, 350), stay(1, 380, 900)]),
            ],
            events: vec![ScoreEvent {
                at: 500,
                team: 0,
                points: 1.0,
                by: Some(2),
            }],
            outcome: Outcome::Won(0),
        };
        let merged = [(key("old"), key("new"))];
        let stood = record.merge_players(&merged.into_iter().collect());
        assert_eq!(stood, [0, 1]);
        assert_eq!(record.check(), Ok(()));
        assert_eq!(record.participants.len(), 2);
        let one = &record.participants[1];
        assert_eq!(
            (&one.key, one.points, one.kills, one.deaths),
            (&key("new"), Some(4.0), 2, 4)
        );
        assert_eq!(one.presence, [stay(0, 0, 400), stay(1, 400, 900)]);
        assert_eq!(record.events[0].by, Some(1));
    }

    #[test]
    fn who_wears_the_tag_of_a_clan_is_the_same_player() {
        let key = |id: &str| PlayerKey {
            kind: Kind::Human,
            id: id.into(),
        };
        let tags: ClanTags = vec![r"\[.*?\]".to_owned()].try_into().unwrap();
        let merged = [("[B] rob", "[ABC] bob"), ("dan", "[U:1:7]")];
        let merged = merged.map(|(from, into)| (key(from), key(into)));
        let counts_as = CountsAs::new(merged, &tags);
        let of = |id: &str| counts_as.of(&key(id)).id.clone();
        for name in ["bob", "[ABC] bob", "rob", "[X] rob", "bob [X]"] {
            assert_eq!(of(name), "bob", "{name}");
        }
        assert_eq!(of("[X] dan"), "[U:1:7]");
        assert_eq!([of("[ABC]"), of("ann")], ["[ABC]", "ann"]);
    }

    #[test]
    fn two_at_the_same_time_who_differ_in_tags_alone_are_two() {
        let stay = |from, to| Presence {
            team: 0,
            span: Span { from, to },
        };
        let player = |id: &str, from, to| Participant {
            key: PlayerKey {
                kind: Kind::Human,
                id: id.into(),
            },
            name: id.into(),
            presence: vec![stay(from, to)],
            points: None,
            kills: 0,
            deaths: 0,
            roles: vec![],
            party: None,
            left: None,
        };
        let tags: ClanTags = vec![r"\[.*?\]".to_owned()].try_into().unwrap();
        let merged = |players: Vec<Participant>| {
            let mut record = MatchRecord {
                end: Timestamp(1_000),
                game_type: "ctf".into(),
                scores: vec![1.0, 0.0],
                participants: players,
                outcome: Outcome::Won(0),
                ..MatchRecord::default()
            };
            record.merge_players(&CountsAs::new([], &tags));
            let keys = record.participants.iter();
            let keys: Vec<_> = keys
                .map(|one| (one.key.id.clone(), one.key.nobody()))
                .collect();
            keys
        };
        let both = merged(vec![player("[A] bob", 0, 600), player("bob", 599, 1_000)]);
        assert_eq!(
            both,
            [
                ("name in use twice: [A] bob (0)".into(), Some(Nobody::Twice)),
                ("name in use twice: bob (1)".into(), Some(Nobody::Twice))
            ]
        );
        // Who has changed the name is one.
        let renamed = merged(vec![player("[A] bob", 0, 600), player("bob", 600, 1_000)]);
        assert_eq!(renamed, [("bob".into(), None)]);
        let apart = merged(vec![player("[A] bob", 0, 600), player("ann", 0, 600)]);
        assert_eq!(apart, [("bob".into(), None), ("ann".into(), None)]);
    }

    #[test]
    fn all_forms_of_a_steam_id_count_as_one() {
        let key = |id: &str| PlayerKey {
            kind: Kind::Human,
            id: id.into(),
        };
        let merged = [("STEAM_0:1:6110", "ann"), ("bob", "76561197960277950")];
        let merged = merged.map(|(from, into)| (key(from), key(into)));
        for counts_as in [CountsAs::default(), merged.into_iter().collect()] {
            let of = |id: &str| counts_as.of(&key(id)).id.clone();
            let account = match counts_as == CountsAs::default() {
                true => "[U:1:12221]",
                false => "ann",
            };
            for form in [
                "STEAM_0:1:6110",
                "STEAM_1:1:6110",
                "[U:1:12221]",
                "76561197960277949",
            ] {
                assert_eq!(of(form), account, "{form}");
            }
            assert_eq!(of("cid"), "cid");
            assert_eq!(of("STEAM_0:0:6111"), "[U:1:12222]");
        }
        let counts_as: CountsAs = [(key("bob"), key("76561197960277950"))]
            .into_iter()
            .collect();
        assert_eq!(counts_as.of(&key("bob")).id, "[U:1:12222]");
        let bot = PlayerKey {
            kind: Kind::Bot,
            id: "STEAM_0:1:6110".into(),
        };
        assert_eq!(*counts_as.of(&bot), bot);
    }
}
