//! Where humans were, as their matches say: nobody plays in two matches at once. A client that says so of one of its
//! own players is believed in the first one only.

use std::{collections::BTreeMap, sync::Arc};

use evenkeel_model::{
    Kind, MatchRecord, Participant, PlayerKey, Timestamp, record::Place, time::DAY,
};
use serde::{Deserialize, Serialize};

use crate::{Player, player_map::PlayerMap};

/// Longer than this, somebody is in two matches at once: clocks are less wrong, and so is the pause between two rounds.
const AT_ONCE: i64 = 60_000;
/// Matches are compared whose ends are at most so far apart. A liar who states longer ones gains a match in that time.
const WINDOW: i64 = DAY / 4;
/// The most stays of one match that are compared, and the most matches of one player within [`WINDOW`], for hostile records.
const MOST_STAYS: usize = 64;
const MOST_VISITS: usize = 64;

/// When somebody was in a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Visit {
    place: Place,
    /// When the match ended.
    end: Timestamp,
    /// From when to when the first stay was.
    first: (i64, i64),
    /// The other stays, in order and apart; most visits have none.
    more: Vec<(i64, i64)>,
}

impl Visit {
    /// The visit of a human; `None` if nobody says where the match was, or if it is too short to be at once with another.
    pub(super) fn of(
        record: &MatchRecord,
        participant: &Participant,
        place: Place,
    ) -> Option<Self> {
        if participant.key.kind != Kind::Human {
            return None;
        }
        let at = |millis: u64| {
            record
                .start
                .plus_millis(i64::try_from(millis).unwrap_or(0))
                .0
        };
        let stays = participant.presence.iter().take(MOST_STAYS);
        let mut stays = stays.map(|stay| (at(stay.span.from), at(stay.span.to)));
        let mut visit = Self {
            place,
            end: record.end,
            first: stays.next()?,
            more: Vec::new(),
        };
        for (from, to) in stays {
            let last = visit.more.last_mut().unwrap_or(&mut visit.first);
            match from <= last.1 {
                true => last.1 = to.max(last.1),
                false => visit.more.push((from, to)),
            }
        }
        (visit.millis() > AT_ONCE).then_some(visit)
    }

    fn stays(&self) -> impl Iterator<Item = &(i64, i64)> {
        std::iter::once(&self.first).chain(&self.more)
    }

    fn millis(&self) -> i64 {
        self.stays().map(|(from, to)| to - from).sum()
    }

    /// How many milliseconds somebody was in both.
    fn overlap(&self, other: &Self) -> i64 {
        let (mut own, mut others) = (self.stays().peekable(), other.stays().peekable());
        let mut both = 0;
        while let (Some((from, to)), Some((since, until))) = (own.peek(), others.peek()) {
            both += (to.min(until) - from.max(since)).max(0);
            match to <= until {
                true => own.next(),
                false => others.next(),
            };
        }
        both
    }

    /// Whether nobody can have made both visits: for more than a minute and half of the shorter one, they are at once.
    pub(super) fn is_at_once_with(&self, other: &Self) -> bool {
        let both = self.overlap(other);
        both > AT_ONCE && 2 * both > self.millis().min(other.millis())
    }

    /// Whether the ends of the matches are close enough to compare them.
    pub(super) fn is_near(&self, other: &Self) -> bool {
        self.end.0.abs_diff(other.end.0) < WINDOW.unsigned_abs()
    }
}

/// The visits for which players were rated lately. Two tables are kept, each of matches that ended in the same quarter of
/// a day, so that it costs nothing to forget those who play no more.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Visits {
    period: i64,
    lately: PlayerMap<Vec<Visit>>,
    before: PlayerMap<Vec<Visit>>,
}

impl Visits {
    /// Whether a player was rated for a visit of the same place that was at once with this one. O(visits of the player).
    pub(super) fn contradict(&self, player: Player, visit: &Visit) -> bool {
        let tables = [&self.lately, &self.before].into_iter();
        let mut visits = tables.filter_map(|table| table.get(player)).flatten();
        visits.any(|known| {
            known.place == visit.place && known.is_near(visit) && known.is_at_once_with(visit)
        })
    }

    /// Notes a visit for which a player is rated. The ends of the matches never decrease.
    pub(super) fn add(&mut self, player: Player, visit: Visit) {
        let period = visit.end.0.div_euclid(WINDOW);
        if period != self.period {
            let lately = std::mem::take(&mut self.lately);
            self.before = match period == self.period.saturating_add(1) {
                true => lately,
                false => PlayerMap::default(),
            };
            self.period = period;
        }
        let own = self.lately.enter(player, Vec::new);
        if own.len() >= MOST_VISITS {
            own.remove(0);
        }
        own.push(visit);
    }
}

/// A human who was in matches of two senders at once, as they say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtOnce {
    /// The identity of the player.
    pub key: PlayerKey,
    /// The name in the later of the two matches.
    pub name: String,
    /// The senders: a client, or the log of a game server.
    pub senders: [String; 2],
    /// The ids of the last two such matches.
    pub matches: [i64; 2],
    /// How many such pairs of matches there are.
    pub times: u32,
}

/// The most pairs of a human and two senders that are found.
const MOST_FOUND: usize = 10_000;

/// Finds humans whom two senders say were in two matches at once: one of them is wrong. It takes the matches that are
/// rated, with merged identities replaced, in the order of the fold.
#[derive(Debug, Default)]
pub struct AtOnceFinder {
    period: i64,
    visits: BTreeMap<PlayerKey, Vec<Sighting>>,
    found: BTreeMap<(PlayerKey, String, String), AtOnce>,
}

/// A visit, in the match with this id.
#[derive(Debug)]
struct Sighting {
    visit: Visit,
    sender: Arc<str>,
    id: i64,
}

impl AtOnceFinder {
    /// Takes the next match.
    pub fn push(&mut self, id: i64, record: &MatchRecord) {
        let Some(place) = record.place() else {
            return;
        };
        let period = record.end.0.div_euclid(WINDOW);
        if std::mem::replace(&mut self.period, period) != period {
            let is_near =
                |known: &Sighting| record.end.0.abs_diff(known.visit.end.0) < WINDOW.unsigned_abs();
            self.visits.retain(|_, own| {
                own.retain(is_near);
                !own.is_empty()
            });
        }
        let sender: Arc<str> = match record.is_of_log() {
            true => format!("log of {}", record.server).into(),
            false => record.client.as_str().into(),
        };
        for participant in &record.participants {
            let visit = Visit::of(record, participant, place);
            if let Some(visit) = visit.filter(|_| participant.key.nobody().is_none()) {
                let sender = sender.clone();
                self.see(participant, Sighting { visit, sender, id });
            }
        }
    }

    fn see(&mut self, participant: &Participant, now: Sighting) {
        let key = &participant.key;
        let own = self.visits.entry(key.clone()).or_default();
        for known in own.iter() {
            let is_double = known.visit.place != now.visit.place
                && known.visit.is_near(&now.visit)
                && known.visit.is_at_once_with(&now.visit);
            if !is_double {
                continue;
            }
            let mut senders = [known.sender.to_string(), now.sender.to_string()];
            senders.sort();
            let [one, other] = senders.clone();
            let pair = (key.clone(), one, other);
            let is_full = self.found.len() >= MOST_FOUND && !self.found.contains_key(&pair);
            if is_full {
                continue;
            }
            let found = self.found.entry(pair).or_insert_with(|| AtOnce {
                key: key.clone(),
                name: String::new(),
                senders,
                matches: [0; 2],
                times: 0,
            });
            found.name.clone_from(&participant.name);
            found.matches = [known.id, now.id];
            found.times = found.times.saturating_add(1);
        }
        if own.len() >= MOST_VISITS {
            own.remove(0);
        }
        own.push(now);
    }

    /// Whoever was found, those with most matches first.
    pub fn finish(self) -> Vec<AtOnce> {
        let mut found: Vec<AtOnce> = self.found.into_values().collect();
        found.sort_by_key(|one| std::cmp::Reverse(one.times));
        found
    }
}

#[cfg(test)]
mod tests {
    use evenkeel_model::record::{Presence, Span};
    use proptest::prelude::*;

    use super::*;

    /// A visit of a client's match that ends at `end`, with these stays in seconds since 0.
    fn visit(end: u64, stays: &[(u64, u64)]) -> Option<Visit> {
        let record = MatchRecord {
            client: "c".into(),
            end: Timestamp(end as i64 * 1_000),
            ..MatchRecord::default()
        };
        let presence = stays.iter().map(|&(from, to)| Presence {
            team: 0,
            span: Span {
                from: from * 1_000,
                to: to * 1_000,
            },
        });
        let participant = Participant {
            key: PlayerKey {
                kind: Kind::Human,
                id: "a".into(),
            },
            name: String::new(),
            presence: presence.collect(),
            points: None,
            kills: 0,
            deaths: 0,
            roles: vec![],
            party: None,
            left: None,
        };
        Visit::of(&record, &participant, record.place()?)
    }

    #[test]
    fn more_than_a_minute_and_half_of_the_shorter_one_is_at_once() {
        let at_once = |one: &[(u64, u64)], other: &[(u64, u64)]| {
            let (one, other) = (visit(1_000, one).unwrap(), visit(1_000, other).unwrap());
            assert_eq!(one.is_at_once_with(&other), other.is_at_once_with(&one));
            one.is_at_once_with(&other)
        };
        assert!(at_once(&[(0, 600)], &[(0, 600)]));
        assert!(!at_once(&[(0, 600)], &[(600, 900)]));
        assert!(!at_once(&[(0, 600)], &[(540, 700)]), "a minute");
        assert!(at_once(&[(0, 600)], &[(539, 659)]), "61 s of 120 s");
        assert!(!at_once(&[(0, 600)], &[(539, 661)]), "half");
        // Somebody leaves one match for another, and comes back.
        assert!(!at_once(&[(0, 100), (400, 900)], &[(100, 400)]));
        assert!(at_once(&[(0, 100), (400, 900)], &[(50, 100), (390, 500)]));
        assert_eq!(visit(1_000, &[(0, 60)]), None, "never at once with another");
        assert_eq!(visit(1_000, &[]), None);
    }

    #[test]
    fn visits_are_forgotten_after_a_while() {
        let hours = |hours: u64| hours * 3_600;
        let player = Player(7);
        let mut visits = Visits::default();
        let early = |end| visit(end, &[(0, 600)]).unwrap();
        visits.add(player, early(hours(5)));
        assert!(visits.contradict(player, &early(hours(10))));
        assert!(!visits.contradict(Player(8), &early(hours(10))));
        assert!(
            !visits.contradict(player, &early(hours(11))),
            "too far apart"
        );
        visits.add(player, early(hours(10)));
        assert!(visits.contradict(player, &early(hours(15))));
        visits.add(Player(8), early(hours(30)));
        assert_eq!(
            visits.lately.players().count() + visits.before.players().count(),
            1
        );
    }

    #[test]
    fn two_clients_who_contradict_each_other_are_named() {
        let told = |client: &str, server: &str, from: i64, ids: &[&str]| MatchRecord {
            client: client.into(),
            server: server.into(),
            start: Timestamp(from * 1_000),
            end: Timestamp((from + 600) * 1_000),
            participants: (ids.iter())
                .map(|id| Participant {
                    key: PlayerKey {
                        kind: Kind::Human,
                        id: (*id).into(),
                    },
                    name: format!("{id} at {from}"),
                    presence: vec![Presence {
                        team: 0,
                        span: Span {
                            from: 0,
                            to: 600_000,
                        },
                    }],
                    points: None,
                    kills: 0,
                    deaths: 0,
                    roles: vec![],
                    party: None,
                    left: None,
                })
                .collect(),
            ..MatchRecord::default()
        };
        let mut finder = AtOnceFinder::default();
        let matches = [
            told("honest", "", 0, &["a", "b"]),
            told("liar", "", 100, &["a", "c"]),
            told("honest", "", 120, &["d"]),
            told("ingest", "s", 130, &["b"]),
            told("liar", "", 140, &["a"]),
            told("liar", "", 90_000, &["b"]),
        ];
        for (id, record) in (1..).zip(&matches) {
            finder.push(id, record);
        }
        let found = finder.finish().into_iter();
        let found = found.map(|one| (one.key.id, one.name, one.senders, one.matches, one.times));
        let pair = |one: &str, other: &str| [one.to_owned(), other.to_owned()];
        let expected = [
            ("a", "a at 140", pair("honest", "liar"), [1, 5], 2),
            ("b", "b at 130", pair("honest", "log of s"), [1, 4], 1),
        ];
        let expected = expected.map(|(id, name, senders, matches, times)| {
            (id.to_owned(), name.to_owned(), senders, matches, times)
        });
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    proptest! {
        /// By definition: each second counts that is in both.
        #[test]
        fn overlaps_are_as_defined(
            one in prop::collection::vec((0..300_u64, 0..300_u64), 1..6),
            other in prop::collection::vec((0..300_u64, 0..300_u64), 1..6),
        ) {
            let sorted = |stays: Vec<(u64, u64)>| {
                let mut stays: Vec<_> = stays.into_iter().map(|(a, b)| (a.min(b), a.max(b))).collect();
                stays.sort_unstable();
                stays
            };
            let (one, other) = (sorted(one), sorted(other));
            let seconds = |stays: &[(u64, u64)]| {
                let within = |second: &u64| stays.iter().any(|(from, to)| from <= second && second < to);
                (0..300).filter(within).collect::<Vec<u64>>()
            };
            let (a, b) = (seconds(&one), seconds(&other));
            let both = a.iter().filter(|second| b.contains(second)).count();
            if let (Some(own), Some(theirs)) = (visit(300, &one), visit(300, &other)) {
                prop_assert_eq!(own.overlap(&theirs), both as i64 * 1_000);
                let defined = both > 60 && 2 * both > a.len().min(b.len());
                prop_assert_eq!(own.is_at_once_with(&theirs), defined);
            } else {
                prop_assert!(a.len().min(b.len()) <= 60);
            }
        }
    }
}
