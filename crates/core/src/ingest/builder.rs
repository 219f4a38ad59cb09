//! Collects what a log states about one game (who played on which team and when, who killed whom,
//! how the scores changed), and builds the match record from it.

use std::collections::{BTreeSet, HashMap};

use super::{
    sides::{SideWatch, other_side},
    skip::Skip,
    text::key_by_name,
};
use crate::domain::{
    Kind, MAX_EVENTS, MAX_STAYS, MatchRecord, Participant, PlayerKey, Presence, ScoreEvent, Span,
    Timestamp,
};

/// The largest number of visits of players that one game may have, far above any real game.
const MAX_VISITS: usize = 20_000;

/// The team of a player whose team no line has stated yet. The record of a team game leaves out the
/// time on it.
pub(super) const UNKNOWN_TEAM: u8 = u8::MAX;

/// The parts of a record that do not come from its players.
pub(super) struct MatchHeader {
    pub(super) server: String,
    pub(super) start: Timestamp,
    /// See [`MatchRecord::clock`].
    pub(super) clock: Option<u64>,
    pub(super) map: String,
    pub(super) game_type: String,
    pub(super) mutators: Vec<String>,
    /// The final score of each team; empty in a game without teams.
    pub(super) scores: Vec<f64>,
}

/// One player's visit to the server, from connecting to leaving. A player who returns begins another;
/// the record joins the visits of one identity.
struct Visit {
    key: PlayerKey,
    name: String,
    /// The team, and when the player joined it; `None` if the player is not playing.
    current: Option<(u8, u64)>,
    /// Earlier periods on a team.
    stays: Vec<Presence>,
    points: Option<f64>,
    kills: u32,
    deaths: u32,
}

/// Builds the record of one game. Times are milliseconds since play began; visits are indices that
/// [`MatchBuilder::enter`] returned.
#[derive(Default)]
pub(super) struct MatchBuilder {
    /// The earliest time the next event may have.
    next: u64,
    visits: Vec<Visit>,
    /// In these events, `by` is the index of a visit; the built record has that of a participant.
    events: Vec<ScoreEvent>,
    /// How many stays all visits have together.
    stays: usize,
    too_large: bool,
    /// Set if the teams of this game may exchange their sides.
    sides: Option<SideWatch>,
}

impl MatchBuilder {
    /// A builder for a game in which the teams may exchange their sides. What was recorded before an
    /// exchange follows the people: the record has each of them on the side of the game's end.
    pub(super) fn with_sides() -> Self {
        Self {
            sides: Some(SideWatch::default()),
            ..Self::default()
        }
    }

    /// Decides whether the last changes of team were an exchange of sides, and returns the times of
    /// all exchanges since the last call. Call it before a score is attributed to a side.
    pub(super) fn settle_sides(&mut self) -> Vec<u64> {
        let Some(mut sides) = self.sides.take() else {
            return Vec::new();
        };
        let team = |visit: usize| self.visits[visit].current.map(|(team, _)| team);
        if let Some(exchange) = sides.settle(team) {
            for visit in &mut self.visits[..exchange.visits] {
                exchange.apply(&mut visit.stays, &mut visit.current);
            }
            let before = self.events.iter_mut().filter(|e| e.at < exchange.since);
            before.for_each(|event| event.team = other_side(event.team));
        }
        let exchanges = sides.take();
        self.sides = Some(sides);
        exchanges
    }

    /// Watches for an exchange of sides: this visit leaves its team at `at`.
    fn watch_sides(&mut self, visit: usize, team: Option<u8>, at: u64) {
        let old = self.visits[visit].current.map(|(team, _)| team);
        if self.sides.is_none() || old.is_none() || old == team {
            return;
        }
        if self.sides.as_ref().is_some_and(|sides| sides.is_due(at)) {
            let exchanges = self.settle_sides();
            if let Some(sides) = &mut self.sides {
                sides.restore(exchanges);
            }
        }
        if let Some(sides) = &mut self.sides {
            let teams = self.visits.iter();
            sides.note(teams.map(|visit| visit.current.map(|(team, _)| team)), at);
        }
    }

    /// Returns the time for an event that happened at `millis` by the log's clock, which is coarse.
    /// No two events get the same time, so that times keep the order of the lines.
    pub(super) fn tick(&mut self, millis: u64) -> u64 {
        let at = millis.max(self.next);
        self.next = at.saturating_add(1);
        at
    }

    /// Begins a visit. If there are [`MAX_VISITS`] already, returns the last one instead and marks
    /// the game as too large.
    pub(super) fn enter(&mut self, key: PlayerKey, name: String) -> usize {
        if self.visits.len() >= MAX_VISITS {
            self.too_large = true;
            return self.visits.len() - 1;
        }
        self.visits.push(Visit {
            key,
            name,
            current: None,
            stays: Vec::new(),
            points: None,
            kills: 0,
            deaths: 0,
        });
        self.visits.len() - 1
    }

    /// Corrects the identity and the name of a visit, now that the log has stated more.
    pub(super) fn rename(&mut self, visit: usize, key: PlayerKey, name: String) {
        self.visits[visit].key = key;
        self.visits[visit].name = name;
    }

    /// Ends the visit's current stay at `at`, and begins one on `team` if that is not `None`.
    pub(super) fn set_team(&mut self, visit: usize, team: Option<u8>, at: u64) {
        self.watch_sides(visit, team, at);
        let visit = &mut self.visits[visit];
        if let Some((team, from)) = visit.current.take() {
            if self.stays < MAX_STAYS {
                self.stays += 1;
                let span = Span { from, to: at };
                visit.stays.push(Presence { team, span });
            } else {
                self.too_large = true;
            }
        }
        visit.current = team.map(|team| (team, at));
    }

    /// Like [`MatchBuilder::set_team`] at the next free time from `millis` on; begins the visit
    /// first if `visit` is `None` and there is a team. `player` is called for the identity and the
    /// name then.
    pub(super) fn place(
        &mut self,
        visit: &mut Option<usize>,
        team: Option<u8>,
        millis: u64,
        player: impl FnOnce() -> (PlayerKey, String),
    ) {
        let index = match (*visit, team) {
            (Some(index), _) => index,
            (None, Some(_)) => {
                let (key, name) = player();
                self.enter(key, name)
            }
            (None, None) => return,
        };
        *visit = Some(index);
        let at = self.tick(millis);
        self.set_team(index, team, at);
    }

    /// Corrects the team of the current stay, from its beginning on.
    pub(super) fn correct_team(&mut self, visit: usize, team: u8) {
        if let Some(current) = &mut self.visits[visit].current {
            current.0 = team;
        }
    }

    /// Moves the beginning of the current stay back to `at`, if it is later.
    pub(super) fn extend_back(&mut self, visit: usize, at: u64) {
        if let Some(current) = &mut self.visits[visit].current {
            current.1 = current.1.min(at);
        }
    }

    /// Moves the beginning of the current stay to `at`.
    pub(super) fn set_start(&mut self, visit: usize, at: u64) {
        if let Some(current) = &mut self.visits[visit].current {
            current.1 = at;
        }
    }

    /// Removes all stays of a visit: the player only watched.
    pub(super) fn remove_stays(&mut self, visit: usize) {
        self.visits[visit].current = None;
        self.visits[visit].stays.clear();
    }

    /// Counts an enemy killed.
    pub(super) fn kill(&mut self, visit: usize) {
        self.visits[visit].kills = self.visits[visit].kills.saturating_add(1);
    }

    /// Counts a death.
    pub(super) fn death(&mut self, visit: usize) {
        self.visits[visit].deaths = self.visits[visit].deaths.saturating_add(1);
    }

    /// The visit's points on the scoreboard.
    pub(super) fn points(&mut self, visit: usize) -> &mut Option<f64> {
        &mut self.visits[visit].points
    }

    /// Adds a change of a team's score.
    pub(super) fn score(&mut self, team: u8, points: f64, by: Option<usize>, at: u64) {
        if self.events.len() >= MAX_EVENTS {
            self.too_large = true;
            return;
        }
        let by = by.and_then(|visit| u32::try_from(visit).ok());
        self.events.push(ScoreEvent {
            at,
            team,
            points,
            by,
        });
    }

    /// Removes all score changes, because the log has begun to state them in a more reliable way.
    pub(super) fn forget_scores(&mut self) {
        self.events.clear();
    }

    /// Whether there is any score change.
    pub(super) fn has_scores(&self) -> bool {
        !self.events.is_empty()
    }

    /// The sum of the score changes of each of the first `teams` teams.
    pub(super) fn sums(&self, teams: usize) -> Vec<f64> {
        let mut sums = vec![0.0; teams];
        for event in &self.events {
            if let Some(sum) = sums.get_mut(usize::from(event.team)) {
                *sum += event.points;
            }
        }
        sums
    }

    /// Scales the score changes so that each team's add up to its final score. The factor must be
    /// the same for all teams (a capture may be worth 10 points); if there is no such factor, all
    /// score changes are removed.
    pub(super) fn reconcile(&mut self, scores: &[f64]) {
        let sums = self.sums(scores.len());
        let worth = sums.iter().zip(scores).find(|(sum, _)| **sum != 0.0);
        let worth = worth.map_or(1.0, |(sum, score)| score / sum);
        let right = |(sum, score): (&f64, &f64)| sum * worth == *score;
        if worth > 0.0 && sums.iter().zip(scores).all(right) {
            self.events.iter_mut().for_each(|e| e.points *= worth);
        } else {
            self.events.clear();
        }
    }

    /// Gives the humans with this id their names for ids, and returns how many there are.
    pub(super) fn split_id(&mut self, id: &str) -> usize {
        let mut names = BTreeSet::new();
        for visit in &mut self.visits {
            if visit.key.kind == Kind::Human && visit.key.id == id {
                visit.key = key_by_name(false, visit.name.clone());
                names.insert(&visit.key.id);
            }
        }
        names.len()
    }

    /// Whether there was no visit.
    pub(super) fn is_empty(&self) -> bool {
        self.visits.is_empty()
    }

    /// Whether anybody has been on this team.
    pub(super) fn has_played(&self, team: u8) -> bool {
        self.visits.iter().any(|visit| {
            let current = visit.current.map(|(team, _)| team);
            let past = visit.stays.iter().map(|stay| stay.team);
            current.into_iter().chain(past).any(|other| other == team)
        })
    }

    /// Ends the game, and with it every current stay, at `millis` or after the last event. Returns the
    /// time of the end.
    pub(super) fn end(&mut self, millis: u64) -> u64 {
        let at = self.tick(millis);
        for visit in 0..self.visits.len() {
            self.set_team(visit, None, at);
        }
        at
    }

    /// Ends the game at `at`, which is not before the last score change; what players did later does not
    /// count.
    pub(super) fn cut(&mut self, at: u64) {
        self.end(at);
        for visit in &mut self.visits {
            visit.stays.retain(|stay| stay.span.from < at);
            let ends = visit.stays.iter_mut().map(|stay| &mut stay.span.to);
            ends.for_each(|to| *to = at.min(*to));
        }
    }

    /// Builds the record of the game, which lasted `millis`.
    ///
    /// # Errors
    /// Returns [`Skip::TooLarge`] if the game exceeded a bound, [`Skip::Empty`] if nobody was on a team,
    /// and [`Skip::Impossible`] if the record fails [`MatchRecord::check`].
    pub(super) fn build(self, header: MatchHeader, millis: u64) -> Result<MatchRecord, Skip> {
        if self.too_large {
            return Err(Skip::TooLarge);
        }
        let teams = header.scores.len();
        let (participants, seats) = join_visits(self.visits, teams);
        let mut events = self.events;
        events.retain(|event| usize::from(event.team) < teams);
        for event in &mut events {
            let seat = event.by.and_then(|visit| seats.get(visit as usize));
            event.by = seat.copied().flatten();
        }
        let record = MatchRecord {
            server: header.server,
            start: header.start,
            end: header
                .start
                .plus_millis(i64::try_from(millis).unwrap_or(i64::MAX)),
            clock: header.clock,
            untimed: false,
            map: header.map,
            game_type: header.game_type,
            mode: String::new(),
            mutators: header.mutators,
            outcome: MatchRecord::outcome_of(&header.scores),
            scores: header.scores,
            participants,
            events,
        };
        match record.check() {
            Ok(()) if record.participants.is_empty() => Err(Skip::Empty),
            Ok(()) => Ok(record),
            Err(why) => Err(Skip::Impossible(why)),
        }
    }
}

/// Returns one participant per identity, and for each visit the seat of its participant. Players who
/// were never on a team are left out.
fn join_visits(visits: Vec<Visit>, teams: usize) -> (Vec<Participant>, Vec<Option<u32>>) {
    let mut participants: Vec<Participant> = Vec::new();
    let mut known: HashMap<PlayerKey, usize> = HashMap::new();
    let mut seats = Vec::with_capacity(visits.len());
    for mut visit in visits {
        if teams == 0 {
            visit.stays.iter_mut().for_each(|stay| stay.team = 0);
        } else {
            visit.stays.retain(|stay| usize::from(stay.team) < teams);
        }
        if visit.stays.is_empty() {
            seats.push(None);
            continue;
        }
        let seat = *known.entry(visit.key).or_insert_with_key(|key| {
            participants.push(Participant {
                key: key.clone(),
                name: String::new(),
                presence: Vec::new(),
                points: None,
                kills: 0,
                deaths: 0,
                roles: Vec::new(),
                party: None,
                left: None,
            });
            participants.len() - 1
        });
        seats.push(u32::try_from(seat).ok());
        let participant = &mut participants[seat];
        participant.name = visit.name;
        participant.presence.extend(visit.stays);
        participant.points = match (participant.points, visit.points) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        participant.kills = participant.kills.saturating_add(visit.kills);
        participant.deaths = participant.deaths.saturating_add(visit.deaths);
    }
    for participant in &mut participants {
        join_stays(&mut participant.presence);
    }
    (participants, seats)
}

/// Sorts stays by time, and joins those on the same team that touch or overlap. If an identity
/// seems to be on two teams at once, because two players share it, the stay that began first is
/// kept whole.
fn join_stays(stays: &mut Vec<Presence>) {
    stays.sort_by_key(|stay| stay.span.from);
    let mut joined: Vec<Presence> = Vec::with_capacity(stays.len());
    for mut stay in stays.drain(..) {
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
    *stays = joined;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn human(id: &str) -> PlayerKey {
        PlayerKey {
            kind: Kind::Human,
            id: id.to_owned(),
        }
    }

    fn header(scores: &[f64]) -> MatchHeader {
        MatchHeader {
            server: String::new(),
            start: Timestamp(0),
            clock: None,
            map: String::new(),
            game_type: "ctf".to_owned(),
            mutators: vec![],
            scores: scores.to_vec(),
        }
    }

    fn stay(team: u8, from: u64, to: u64) -> Presence {
        Presence {
            team,
            span: Span { from, to },
        }
    }

    #[test]
    fn a_rejoin_is_one_participant() {
        let mut builder = MatchBuilder::default();
        let (a, b) = (
            builder.enter(human("a"), "A".into()),
            builder.enter(human("b"), "B".into()),
        );
        builder.set_team(a, Some(0), 0);
        builder.set_team(b, Some(1), 0);
        builder.set_team(a, None, 100);
        let again = builder.enter(human("a"), "A2".into());
        builder.set_team(again, Some(1), 200);
        builder.set_team(again, Some(0), 300);
        builder.kill(a);
        builder.kill(again);
        *builder.points(again) = Some(3.0);
        builder.score(0, 1.0, Some(again), 350);
        let end = builder.end(1_000);
        let record = builder.build(header(&[1.0, 0.0]), end).unwrap();
        let [one, other] = &record.participants[..] else {
            panic!("{record:?}")
        };
        assert_eq!(
            one.presence,
            [stay(0, 0, 100), stay(1, 200, 300), stay(0, 300, 1_000)]
        );
        assert_eq!(
            (one.name.as_str(), one.kills, one.points),
            ("A2", 2, Some(3.0))
        );
        assert_eq!(other.presence, [stay(1, 0, 1_000)]);
        assert_eq!(record.events[0].by, Some(0));
    }

    #[test]
    fn a_game_without_anybody_is_no_match() {
        let built = MatchBuilder::default().build(header(&[1.0, 0.0]), 10);
        assert_eq!(built, Err(Skip::Empty));
    }

    #[test]
    fn an_id_of_several_players_is_split() {
        let mut builder = MatchBuilder::default();
        for name in ["A", "B", "A"] {
            let visit = builder.enter(human("x"), name.into());
            builder.set_team(visit, Some(0), 0);
        }
        assert_eq!((builder.split_id("x"), builder.split_id("x")), (2, 0));
        builder.end(10);
        let record = builder.build(header(&[1.0, 0.0]), 10).unwrap();
        let ids: Vec<_> = record.participants.iter().map(|p| &p.key.id).collect();
        assert_eq!(ids, ["A", "B"]);
    }

    #[test]
    fn ticks_keep_the_order_of_lines_and_the_end_comes_last() {
        let mut builder = MatchBuilder::default();
        let at = [5_000, 5_000, 5_000, 4_000, 6_000].map(|millis| builder.tick(millis));
        assert_eq!(at, [5_000, 5_001, 5_002, 5_003, 6_000]);
        assert_eq!(builder.end(6_000), 6_001);
    }

    #[test]
    fn those_of_unknown_team_are_left_out_of_a_team_game_only() {
        for (scores, present) in [(&[0.0, 0.0][..], 1), (&[][..], 2)] {
            let mut builder = MatchBuilder::default();
            let other = builder.enter(human("b"), "B".into());
            builder.set_team(other, Some(1), 0);
            let visit = builder.enter(human("a"), "A".into());
            builder.set_team(visit, Some(UNKNOWN_TEAM), 0);
            builder.end(10);
            let record = builder.build(header(scores), 10).unwrap();
            assert_eq!(record.participants.len(), present);
        }
    }

    #[test]
    fn score_changes_are_reconciled_with_the_final_score() {
        let reconciled = |goals: &[u8], scores: &[f64]| {
            let mut builder = MatchBuilder::default();
            for (at, &team) in goals.iter().enumerate() {
                builder.score(team, 1.0, None, at as u64);
            }
            builder.reconcile(scores);
            builder.sums(scores.len())
        };
        assert_eq!(reconciled(&[0, 1, 0], &[2.0, 1.0]), [2.0, 1.0]);
        assert_eq!(reconciled(&[1, 1], &[0.0, 20.0]), [0.0, 20.0]);
        assert_eq!(reconciled(&[0, 1, 0], &[2.0, 2.0]), [0.0, 0.0]);
        assert_eq!(reconciled(&[0], &[-1.0, 0.0]), [0.0, 0.0]);
        assert_eq!(reconciled(&[], &[0.0, 0.0]), [0.0, 0.0]);
    }

    #[test]
    fn stays_that_touch_become_one() {
        let mut stays = vec![
            stay(0, 50, 70),
            stay(0, 0, 50),
            stay(0, 60, 65),
            stay(1, 70, 80),
        ];
        join_stays(&mut stays);
        assert_eq!(stays, [stay(0, 0, 70), stay(1, 70, 80)]);
    }

    #[test]
    fn a_game_without_end_takes_bounded_memory() {
        let mut builder = MatchBuilder::default();
        for at in 0..300_000 {
            let visit = builder.enter(human("a"), String::new());
            builder.set_team(visit, Some(0), at);
            builder.score(0, 1.0, None, at);
        }
        assert!(builder.too_large);
        assert!(builder.visits.len() <= MAX_VISITS && builder.events.len() <= MAX_EVENTS);
    }
}
