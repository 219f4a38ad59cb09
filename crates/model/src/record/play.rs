//! The match as it is recorded: with the time of play alone, and its participants in the order of their keys.
//!
//! Time without an opponent is waiting: nothing is played while a team is empty. Play begins with the first opponents, and
//! rests while fewer than two teams have anybody; in a game without teams, while fewer than two players are there. What was
//! scored, and who has won, stays as it was stated.
//!
//! Who is listed first means nothing, but sums of numbers depend on the order in their last bits. So the order is that of
//! the keys when a match is recorded, and stays from then on: if it followed the keys that are stored, forgetting a player,
//! which changes a key, would move the last bits of others.

use std::collections::BTreeMap;

use super::{MatchRecord, Participant, Presence, ScoreEvent, Span, UNTIMED_MILLIS};
use crate::match_chances::MatchChances;

/// How long the lines of one moment take, in milliseconds: a recorder gives each of them a time of its own, as the clocks
/// of most logs tell seconds. Who comes or leaves in one moment comes or leaves together.
const MOMENT: u64 = 100;

/// The time of a match in which somebody had an opponent, as intervals of the time in which it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayTime {
    /// The intervals in time order, each with the milliseconds of play before it.
    spans: Vec<(Span, u64)>,
}

impl PlayTime {
    /// The time of play of these participants on `teams` teams; 0 stands for a game without teams.
    pub(crate) fn of(participants: &[Participant], teams: usize) -> Self {
        let seats = participants.iter().map(|one| &one.presence).enumerate();
        let stays = seats.flat_map(|(seat, stays)| stays.iter().map(move |stay| (seat, *stay)));
        Self::of_stays(stays, teams)
    }

    /// The same by the stays of each player; the player has a number.
    ///
    /// Complexity: O(stays · log stays).
    pub(crate) fn of_stays(stays: impl Iterator<Item = (usize, Presence)>, teams: usize) -> Self {
        let mut steps: Vec<(u64, bool, usize)> = Vec::new();
        for (player, stay) in stays.filter(|(_, stay)| stay.span.millis() > 0) {
            let side = match teams {
                0 => player,
                _ => usize::from(stay.team),
            };
            steps.push((stay.span.from, true, side));
            steps.push((stay.span.to, false, side));
        }
        steps.sort_unstable();
        let times = |came: bool| {
            let own = steps.iter().filter(move |(_, comes, _)| *comes == came);
            own.map(|&(at, ..)| at).collect::<Vec<u64>>()
        };
        let (came, left) = (times(true), times(false));
        let last = left.last().copied().unwrap_or(0);
        let (mut spans, mut played, mut rested) = (Vec::new(), 0, 0);
        for Span { from, to } in opposed(&steps) {
            let begins = first_of_moment(&came, from).max(rested);
            let ends = match to < last {
                true => first_of_moment(&left, to),
                false => to,
            };
            rested = to;
            if begins < ends {
                let span = Span {
                    from: begins,
                    to: ends,
                };
                spans.push((span, played));
                played += span.millis();
            }
        }
        Self { spans }
    }

    /// All of a match that lasted `millis`, if nobody ever had an opponent.
    #[must_use]
    pub(crate) fn or_all_of(self, millis: u64) -> Self {
        let all = Span {
            from: 0,
            to: millis,
        };
        match self.is_empty() {
            true => Self {
                spans: vec![(all, 0)],
            },
            false => self,
        }
    }

    /// Whether nobody ever had an opponent.
    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Whether somebody had an opponent at this time. What happens in the moment in which play begins or rests is of it.
    pub(crate) fn is_at(&self, at: u64) -> bool {
        let last = self.begun(at.saturating_add(MOMENT).saturating_add(1));
        last.is_some_and(|(span, _)| at <= span.to.saturating_add(MOMENT))
    }

    /// How long play lasted, in milliseconds.
    pub(crate) fn millis(&self) -> u64 {
        self.at(u64::MAX)
    }

    /// How many milliseconds had been played at this time.
    pub(crate) fn at(&self, at: u64) -> u64 {
        let last = self.begun(at);
        last.map_or(0, |(span, before)| before + (span.to.min(at) - span.from))
    }

    /// The same for somebody who comes at this time: in the moment in which play begins, or goes on, it is its beginning.
    fn since(&self, at: u64) -> u64 {
        match self.begun(at) {
            Some((span, before)) if at - span.from <= MOMENT => *before,
            _ => self.at(at),
        }
    }

    /// The last interval that begins before this time.
    fn begun(&self, at: u64) -> Option<&(Span, u64)> {
        let begun = self.spans.partition_point(|(span, _)| span.from < at);
        self.spans.get(begun.checked_sub(1)?)
    }

    /// The part of play in an interval; `None` if that was waiting alone.
    pub(crate) fn of_span(&self, span: Span) -> Option<Span> {
        let (from, to) = (self.since(span.from), self.at(span.to));
        (from < to).then_some(Span { from, to })
    }

    /// The stays of a player in time of play.
    fn of_presence(&self, presence: &[Presence]) -> Vec<Presence> {
        let (mut played, mut until): (Vec<Presence>, u64) = (Vec::new(), 0);
        for stay in presence {
            let Span { from, to } = stay.span;
            // Nobody is on two teams at once.
            let from = self.since(from).max(until.min(self.at(from)));
            let to = self.at(to);
            if from < to {
                until = until.max(to);
                let span = Span { from, to };
                played.push(Presence { span, ..*stay });
            }
        }
        played
    }
}

/// The intervals in which two sides have somebody. The steps are when somebody comes to a side, or leaves it.
fn opposed(steps: &[(u64, bool, usize)]) -> Vec<Span> {
    let mut sides = SidesTaken::default();
    let (mut spans, mut since) = (Vec::new(), None);
    let mut steps = steps.iter().peekable();
    while let Some(&(at, comes, side)) = steps.next() {
        sides.change(side, comes);
        if steps.peek().is_some_and(|&&(next, ..)| next == at) {
            continue;
        }
        match (since, sides.are_opposed()) {
            (None, true) => since = Some(at),
            (Some(from), false) => {
                spans.push(Span { from, to: at });
                since = None;
            }
            _ => {}
        }
    }
    spans
}

/// The first of these times, which are sorted, that is of the same moment as `at` and not after it.
fn first_of_moment(times: &[u64], at: u64) -> u64 {
    let before = times.partition_point(|time| time.saturating_add(MOMENT) < at);
    times.get(before).map_or(at, |&time| time.min(at))
}

/// How many players are on each side that has any.
#[derive(Default)]
struct SidesTaken(BTreeMap<usize, usize>);

impl SidesTaken {
    /// Somebody comes to a side, or leaves it.
    fn change(&mut self, side: usize, comes: bool) {
        let players = self.0.entry(side).or_default();
        *players = match comes {
            true => *players + 1,
            false => players.saturating_sub(1),
        };
        if *players == 0 {
            self.0.remove(&side);
        }
    }

    fn are_opposed(&self) -> bool {
        self.0.len() >= 2
    }
}

impl MatchRecord {
    /// When the match was played.
    fn play_time(&self) -> PlayTime {
        PlayTime::of(&self.participants, self.scores.len())
    }

    /// How long play lasted, in milliseconds; if nobody ever had an opponent, how long the match did.
    pub(super) fn play_millis(&self) -> u64 {
        self.play_time().or_all_of(self.millis()).millis()
    }

    /// Whether nobody in the match ever had an opponent.
    pub fn lacks_opponents(&self) -> bool {
        self.play_time().is_empty()
    }

    /// Whether somebody waited for opponents, of whom there were some in time.
    pub fn has_waiting(&self) -> bool {
        self.play_beside_waiting().is_some()
    }

    /// When the match was played, if it also has waiting, were it that of a moment.
    fn play_beside_waiting(&self) -> Option<PlayTime> {
        let play = self.play_time();
        let mut stays = self.participants.iter().flat_map(|one| &one.presence);
        let late = |stay: &Presence| stay.span.from > 0 && stay.span.from <= MOMENT;
        let waits = play.millis() != self.millis() || stays.any(late);
        (waits && !play.is_empty()).then_some(play)
    }

    /// The match as it is recorded: with the time of play alone, and the participants in the order of their keys. Waiting
    /// is left out, and the match begins with its first opponents. If nobody ever had an opponent, no time is left out.
    /// Roles are not changed: their shares are those of play already.
    #[must_use]
    pub fn played(self) -> Self {
        self.without_waiting().in_order()
    }

    fn without_waiting(mut self) -> Self {
        let Some(play) = self.play_beside_waiting() else {
            return self;
        };
        let millis = play.millis();
        // Of a match whose length is not known, only the parts are.
        let scaled = |at: u64| match self.untimed {
            true => u128::from(at) * u128::from(UNTIMED_MILLIS) / u128::from(millis),
            false => u128::from(at),
        };
        let scaled = |at: u64| u64::try_from(scaled(at)).unwrap_or(UNTIMED_MILLIS);
        for participant in &mut self.participants {
            let mut stays = play.of_presence(&participant.presence);
            for stay in &mut stays {
                let Span { from, to } = stay.span;
                let (from, to) = (scaled(from), scaled(to));
                stay.span = Span { from, to };
            }
            participant.presence = stays;
        }
        let events = self.events.into_iter();
        let events = events.map(|event| ScoreEvent {
            at: scaled(play.at(event.at)),
            ..event
        });
        self.events = events.collect();
        if !self.untimed {
            let signed = |millis: u64| i64::try_from(millis).unwrap_or(i64::MAX);
            let waited = play.spans.first().map_or(0, |(span, _)| span.from);
            self.start = self.start.plus_millis(signed(waited));
            self.end = self.start.plus_millis(signed(millis));
        }
        self
    }
}

impl MatchChances {
    /// The course with the times of play and the seats of this match, whose record is as it was reported.
    #[must_use]
    pub fn played(self, record: &MatchRecord) -> Self {
        self.without_waiting(record).in_order_of(record)
    }

    fn without_waiting(mut self, record: &MatchRecord) -> Self {
        let Some(play) = record.play_beside_waiting() else {
            return self;
        };
        for change in &mut self.changes {
            change.at = play.at(change.at);
        }
        self
    }
}

impl MatchRecord {
    /// The match with its participants in the order of their keys.
    #[must_use]
    pub fn in_order(mut self) -> Self {
        let seats = self.seats_in_order();
        self.participants.sort_by(|a, b| a.key.cmp(&b.key));
        let authors = self.events.iter_mut().filter_map(|event| event.by.as_mut());
        authors.for_each(|by| *by = moved(*by, &seats));
        self
    }

    /// For each participant, the seat in the order of the keys.
    fn seats_in_order(&self) -> Vec<u32> {
        let mut order: Vec<usize> = (0..self.participants.len()).collect();
        order.sort_by_key(|&seat| &self.participants[seat].key);
        let mut seats = vec![0; order.len()];
        for (seat, before) in (0..).zip(order) {
            seats[before] = seat;
        }
        seats
    }
}

impl MatchChances {
    /// The course with the seats that the players of this match, which is as it was reported, have in the order of their
    /// keys.
    #[must_use]
    fn in_order_of(mut self, record: &MatchRecord) -> Self {
        let seats = record.seats_in_order();
        let players = self.changes.iter_mut();
        let players = players.filter_map(|change| change.who.as_mut());
        players.for_each(|who| *who = moved(*who, &seats));
        self
    }
}

/// The seat of the participant who had this one; one that does not exist stays as it is, and fails the check.
fn moved(seat: u32, seats: &[u32]) -> u32 {
    seats.get(seat as usize).copied().unwrap_or(seat)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        Kind, Outcome, PlayerKey, Timestamp,
        match_chances::{TeamCause, TeamChances, TeamChange},
    };

    /// The stays of each player: the team, and from when to when, in seconds.
    type Stays<'a> = &'a [&'a [(u8, u64, u64)]];

    /// A match of a minute that begins at 1,000 s, with these scores, and players `a`, `b`, … with these stays.
    fn game(scores: &[f64], players: Stays<'_>) -> MatchRecord {
        let player = |(id, stays): (u8, &&[(u8, u64, u64)])| Participant {
            key: PlayerKey {
                kind: Kind::Human,
                id: char::from(id).into(),
            },
            name: String::new(),
            presence: (stays.iter())
                .map(|&(team, from, to)| stay(team, from * 1_000, to * 1_000))
                .collect(),
            points: None,
            kills: 0,
            deaths: 0,
            roles: vec![],
            party: None,
            left: None,
        };
        MatchRecord {
            start: Timestamp(1_000_000),
            end: Timestamp(1_060_000),
            game_type: "g".into(),
            scores: scores.to_vec(),
            outcome: MatchRecord::outcome_of(scores),
            participants: (b'a'..).zip(players).map(player).collect(),
            ..MatchRecord::default()
        }
    }

    fn stay(team: u8, from: u64, to: u64) -> Presence {
        let span = Span { from, to };
        Presence { team, span }
    }

    fn presence(record: &MatchRecord) -> Vec<Vec<(u8, u64, u64)>> {
        let second = |stay: &Presence| (stay.team, stay.span.from / 1_000, stay.span.to / 1_000);
        let all = record.participants.iter();
        all.map(|one| one.presence.iter().map(second).collect())
            .collect()
    }

    fn dates(record: &MatchRecord) -> (i64, i64) {
        (record.start.0 / 1_000, record.end.0 / 1_000)
    }

    #[test]
    fn nothing_is_played_while_a_team_is_empty() {
        let goal = |at, team| ScoreEvent {
            at,
            team,
            points: 1.0,
            by: None,
        };
        let mut record = game(
            &[3.0, 1.0],
            &[
                &[(0, 0, 60)],
                &[(1, 10, 20), (1, 30, 50)],
                &[(0, 5, 8)],
                &[(0, 22, 28), (0, 55, 60)],
            ],
        );
        record.events = [5_000, 15_000, 25_000, 58_000]
            .map(|at| goal(at, u8::from(at == 15_000)))
            .into();
        assert_eq!(record.check(), Ok(()));
        let played = record.clone().played();
        assert_eq!(played.check(), Ok(()));
        assert_eq!(dates(&played), (1_010, 1_040));
        let stays = [
            vec![(0, 0, 30)],
            vec![(1, 0, 10), (1, 10, 30)],
            vec![],
            vec![],
        ];
        assert_eq!(presence(&played), stays);
        let goals: Vec<_> = played.events.iter().map(|e| (e.at, e.team)).collect();
        assert_eq!(goals, [(0, 0), (5_000, 1), (10_000, 0), (30_000, 0)]);
        assert_eq!(
            (&played.scores, played.outcome),
            (&record.scores, Outcome::Won(0))
        );
        assert_eq!(played.clone().played(), played, "play is no waiting");
    }

    #[test]
    fn without_teams_two_are_needed_and_of_three_teams_two() {
        let stays: Stays<'_> = &[&[(0, 0, 40)], &[(0, 20, 60)]];
        assert_eq!(dates(&game(&[], stays).played()), (1_020, 1_040));
        let three: Stays<'_> = &[&[(0, 0, 40)], &[(1, 10, 20)], &[(2, 20, 60)]];
        let played = game(&[0.0; 3], three).played();
        assert_eq!(dates(&played), (1_010, 1_040));
        // Nobody is an opponent of their own.
        let both = game(&[], &[&[(0, 0, 60), (0, 10, 50)], &[(0, 30, 50)]]);
        assert_eq!(dates(&both.played()), (1_030, 1_050));
    }

    #[test]
    fn a_match_without_opponents_stays_as_it_is() {
        let lonely: [(&[f64], Stays<'_>); 4] = [
            (&[1.0, 0.0], &[&[(0, 0, 60)], &[(0, 10, 60)]]),
            (&[1.0, 0.0], &[&[(0, 0, 30)], &[(1, 30, 60)]]),
            (&[], &[&[(0, 0, 30)], &[(0, 30, 60)]]),
            (&[], &[]),
        ];
        for (scores, stays) in lonely {
            let record = game(scores, stays);
            assert!(record.lacks_opponents() && !record.has_waiting());
            assert_eq!(record.clone().played(), record);
        }
    }

    #[test]
    fn an_empty_server_may_wait_for_weeks() {
        let mut record = game(&[1.0, 0.0], &[&[(0, 0, 900_000)], &[(1, 800_000, 900_000)]]);
        record.end = record.start.plus_millis(900_000_000);
        assert_eq!(record.check(), Ok(()));
        assert_eq!(record.clone().played().check(), Ok(()));
        record.participants[1].presence = vec![stay(1, 0, 900_000_000)];
        assert!(record.check().is_err());
        record.participants.pop();
        assert!(record.check().is_err());
    }

    #[test]
    fn parts_of_a_match_of_unknown_length_are_parts_of_play() {
        let mut record = game(
            &[1.0, 0.0],
            &[&[(0, 0, 1_200)], &[(1, 300, 600), (1, 900, 1_200)]],
        );
        (record.untimed, record.end) = (true, record.start);
        let played = record.clone().played();
        assert_eq!(dates(&played), dates(&record));
        let stays = [vec![(0, 0, 1_200)], vec![(1, 0, 600), (1, 600, 1_200)]];
        assert_eq!(presence(&played), stays);
    }

    /// By definition: each second counts in which two sides have somebody.
    fn naive(record: &MatchRecord, until: u64) -> u64 {
        let counts = |second: &u64| {
            let sides = record
                .participants
                .iter()
                .enumerate()
                .flat_map(|(seat, one)| {
                    let there = one.presence.iter();
                    let there = there.filter(|stay| stay.span.contains(second * 1_000));
                    there.map(move |stay| match record.has_teams() {
                        true => usize::from(stay.team),
                        false => seat,
                    })
                });
            sides.collect::<std::collections::BTreeSet<_>>().len() >= 2
        };
        (0..until).filter(counts).count() as u64
    }

    proptest! {
        #[test]
        fn play_is_as_defined(
            teams in prop::sample::select(vec![0_u8, 2, 3]),
            stays in prop::collection::vec(
                prop::collection::vec((0..3_u8, 0..60_u64, 0..60_u64), 0..4), 0..5),
            at in 0..=60_u64,
        ) {
            let stays: Vec<Vec<_>> = stays.into_iter().map(|own| {
                let own = own.into_iter();
                own.map(|(team, a, b)| (team % teams.max(1), a.min(b), a.max(b))).collect()
            }).collect();
            let stays: Vec<&[_]> = stays.iter().map(Vec::as_slice).collect();
            let record = game(&vec![0.0; usize::from(teams)], &stays);
            let play = record.play_time();
            prop_assert_eq!(play.at(at * 1_000), naive(&record, at) * 1_000);
            prop_assert_eq!(play.millis(), naive(&record, 60) * 1_000);
            let played = record.clone().played();
            prop_assert_eq!(played.clone().played(), played);
        }
    }

    #[test]
    fn seats_follow_their_participants() {
        let player = |id: &str| Participant {
            key: PlayerKey {
                kind: Kind::Human,
                id: id.into(),
            },
            name: id.to_uppercase(),
            presence: vec![],
            points: None,
            kills: 0,
            deaths: 0,
            roles: vec![],
            party: None,
            left: None,
        };
        let event = |by| ScoreEvent {
            at: 0,
            team: 0,
            points: 1.0,
            by,
        };
        let record = MatchRecord {
            participants: ["c", "a", "b"].map(player).into(),
            events: [Some(0), None, Some(2), Some(3)].map(event).into(),
            ..MatchRecord::default()
        };
        let change = |who| TeamChange {
            at: 0,
            cause: TeamCause::Join,
            who,
            from: None,
            to: Some(0),
            teams: TeamChances::default(),
        };
        let announced = MatchChances {
            changes: [Some(1), None, Some(0)].map(change).into(),
            ..MatchChances::default()
        };
        let who = |announced: MatchChances| announced.changes.into_iter().map(|change| change.who);
        let moved: Vec<_> = who(announced.played(&record)).collect();
        assert_eq!(moved, [Some(0), None, Some(2)]);
        let ordered = record.played();
        let names: Vec<_> = ordered.participants.iter().map(|p| &*p.name).collect();
        assert_eq!(names, ["A", "B", "C"]);
        let by: Vec<_> = ordered.events.iter().map(|event| event.by).collect();
        assert_eq!(by, [Some(2), None, Some(1), Some(3)]);
        assert_eq!(ordered.clone().played(), ordered);
    }
}
