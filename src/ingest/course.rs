//! The course of one game while a log is telling it: who was where when, who killed whom, and how
//! the score went. Turns into a match record in the end.

use std::collections::HashMap;

use crate::domain::{
    MatchRecord, Participant, PlayerKey, Presence, RecordError, ScoreEvent, Span, Timestamp,
};

/// Bounds, far above any real game, that keep a hostile log from filling the memory.
const MAX_TRACKS: usize = 20_000;
const MAX_STAYS: usize = 100_000;
const MAX_EVENTS: usize = 200_000;

/// The team of somebody whose team no line has told yet. A team game's record leaves them out.
pub(super) const UNKNOWN_TEAM: u8 = u8::MAX;

/// What a record says about the game as a whole.
pub(super) struct Frame {
    pub(super) server: String,
    pub(super) start: Timestamp,
    pub(super) clock: Option<u64>,
    pub(super) map: String,
    pub(super) game_type: String,
    pub(super) mutators: Vec<String>,
    /// Final score per team; empty in a game without teams.
    pub(super) scores: Vec<f64>,
}

/// One person's connection to the server, or one bot's.
struct Track {
    key: PlayerKey,
    name: String,
    /// The team they are on and since when, while they play.
    seat: Option<(u8, u64)>,
    stays: Vec<Presence>,
    points: Option<f64>,
    kills: u32,
    deaths: u32,
}

/// See the module. Times are milliseconds since play began.
#[derive(Default)]
pub(super) struct Course {
    /// The earliest time the next event may have.
    next: u64,
    tracks: Vec<Track>,
    /// `by` is a track, until the record is made.
    events: Vec<ScoreEvent>,
    stays: usize,
    too_large: bool,
}

impl Course {
    /// The time of an event that the log's coarse clock places at `millis`: no two events share
    /// one, so that times keep the order of the lines.
    pub(super) fn tick(&mut self, millis: u64) -> u64 {
        let at = millis.max(self.next);
        self.next = at.saturating_add(1);
        at
    }

    /// Somebody connected. Returns their track.
    pub(super) fn enter(&mut self, key: PlayerKey, name: String) -> usize {
        if self.tracks.len() >= MAX_TRACKS {
            self.too_large = true;
            return self.tracks.len() - 1;
        }
        self.tracks.push(Track {
            key,
            name,
            seat: None,
            stays: Vec::new(),
            points: None,
            kills: 0,
            deaths: 0,
        });
        self.tracks.len() - 1
    }

    /// The person on a track is known better, or under another name, now.
    pub(super) fn rename(&mut self, track: usize, key: PlayerKey, name: String) {
        self.tracks[track].key = key;
        self.tracks[track].name = name;
    }

    /// From `at` on they play on `team`, or on none.
    pub(super) fn seat(&mut self, track: usize, team: Option<u8>, at: u64) {
        let track = &mut self.tracks[track];
        if let Some((team, from)) = track.seat.take() {
            if self.stays < MAX_STAYS {
                self.stays += 1;
                let span = Span { from, to: at };
                track.stays.push(Presence { team, span });
            } else {
                self.too_large = true;
            }
        }
        track.seat = team.map(|team| (team, at));
    }

    /// The present stay is on this team, and always was.
    pub(super) fn correct_team(&mut self, track: usize, team: u8) {
        if let Some(seat) = &mut self.tracks[track].seat {
            seat.0 = team;
        }
    }

    /// The present stay began as early as `at`.
    pub(super) fn correct_start(&mut self, track: usize, at: u64) {
        if let Some(seat) = &mut self.tracks[track].seat {
            seat.1 = seat.1.min(at);
        }
    }

    /// The present stay began at `at`.
    pub(super) fn began(&mut self, track: usize, at: u64) {
        if let Some(seat) = &mut self.tracks[track].seat {
            seat.1 = at;
        }
    }

    /// What was told of a track so far counts as nothing: it only watched.
    pub(super) fn leave_out(&mut self, track: usize) {
        self.tracks[track].seat = None;
        self.tracks[track].stays.clear();
    }

    /// Somebody on a track killed an enemy.
    pub(super) fn kill(&mut self, track: usize) {
        self.tracks[track].kills = self.tracks[track].kills.saturating_add(1);
    }

    /// Somebody on a track died.
    pub(super) fn death(&mut self, track: usize) {
        self.tracks[track].deaths = self.tracks[track].deaths.saturating_add(1);
    }

    /// Their points on the scoreboard.
    pub(super) fn points(&mut self, track: usize) -> &mut Option<f64> {
        &mut self.tracks[track].points
    }

    /// A team's score changed.
    pub(super) fn score(&mut self, team: u8, points: f64, by: Option<usize>, at: u64) {
        if self.events.len() >= MAX_EVENTS {
            self.too_large = true;
            return;
        }
        let by = by.and_then(|track| u32::try_from(track).ok());
        self.events.push(ScoreEvent {
            at,
            team,
            points,
            by,
        });
    }

    /// Forgets the score changes, since a better account of them has begun.
    pub(super) fn forget_scores(&mut self) {
        self.events.clear();
    }

    /// Whether any score change was told.
    pub(super) fn has_scores(&self) -> bool {
        !self.events.is_empty()
    }

    /// The sum of the score changes of each of so many teams.
    pub(super) fn sums(&self, teams: usize) -> Vec<f64> {
        let mut sums = vec![0.0; teams];
        for event in &self.events {
            if let Some(sum) = sums.get_mut(usize::from(event.team)) {
                *sum += event.points;
            }
        }
        sums
    }

    /// Makes the score changes those of the final scores: each is worth as many points as makes the
    /// sums right, the same for all teams. Where no worth does, they are none of them.
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

    /// Whether nobody ever took part.
    pub(super) fn is_empty(&self) -> bool {
        self.tracks.is_empty()
    }

    /// Whether it outgrew what any real game has, so that part of it is missing.
    pub(super) fn is_too_large(&self) -> bool {
        self.too_large
    }

    /// The game ended, by a clock that reads `millis`: everybody's last stay ends, after the last
    /// event. Returns when.
    pub(super) fn end(&mut self, millis: u64) -> u64 {
        let at = self.tick(millis);
        for track in 0..self.tracks.len() {
            self.seat(track, None, at);
        }
        at
    }

    /// The record of the game, which lasted `millis`.
    ///
    /// # Errors
    /// What [`MatchRecord::check`] says against it.
    pub(super) fn record(self, frame: Frame, millis: u64) -> Result<MatchRecord, RecordError> {
        let teams = frame.scores.len();
        let (participants, index) = gather(self.tracks, teams);
        let mut events = self.events;
        events.retain(|event| usize::from(event.team) < teams);
        for event in &mut events {
            let track = event.by.and_then(|track| index.get(track as usize));
            event.by = track.copied().flatten();
        }
        let record = MatchRecord {
            server: frame.server,
            start: frame.start,
            end: frame
                .start
                .plus_millis(i64::try_from(millis).unwrap_or(i64::MAX)),
            clock: frame.clock,
            map: frame.map,
            game_type: frame.game_type,
            mode: String::new(),
            mutators: frame.mutators,
            outcome: MatchRecord::outcome_of(&frame.scores),
            scores: frame.scores,
            participants,
            events,
        };
        record.check().map(|()| record)
    }
}

/// One participant per identity, and which one each track became. Those who never played are left
/// out.
fn gather(tracks: Vec<Track>, teams: usize) -> (Vec<Participant>, Vec<Option<u32>>) {
    let mut participants: Vec<Participant> = Vec::new();
    let mut known: HashMap<PlayerKey, usize> = HashMap::new();
    let mut index = Vec::with_capacity(tracks.len());
    for mut track in tracks {
        if teams == 0 {
            track.stays.iter_mut().for_each(|stay| stay.team = 0);
        } else {
            track.stays.retain(|stay| usize::from(stay.team) < teams);
        }
        if track.stays.is_empty() {
            index.push(None);
            continue;
        }
        let at = *known.entry(track.key).or_insert_with_key(|key| {
            participants.push(Participant {
                key: key.clone(),
                name: String::new(),
                presence: Vec::new(),
                points: None,
                kills: 0,
                deaths: 0,
                roles: Vec::new(),
                party: None,
            });
            participants.len() - 1
        });
        index.push(u32::try_from(at).ok());
        let participant = &mut participants[at];
        participant.name = track.name;
        participant.presence.extend(track.stays);
        participant.points = match (participant.points, track.points) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        participant.kills = participant.kills.saturating_add(track.kills);
        participant.deaths = participant.deaths.saturating_add(track.deaths);
    }
    for participant in &mut participants {
        join(&mut participant.presence);
    }
    (participants, index)
}

/// Puts stays in time order, and makes one of those on the same team that touch or overlap. Nobody is
/// on two teams at once: where one identity seems to be, since somebody has borrowed it, who came
/// first is believed.
fn join(stays: &mut Vec<Presence>) {
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
    use crate::domain::Kind;

    fn human(id: &str) -> PlayerKey {
        PlayerKey {
            kind: Kind::Human,
            id: id.to_owned(),
        }
    }

    fn frame(scores: &[f64]) -> Frame {
        Frame {
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
        let mut course = Course::default();
        let (a, b) = (
            course.enter(human("a"), "A".into()),
            course.enter(human("b"), "B".into()),
        );
        course.seat(a, Some(0), 0);
        course.seat(b, Some(1), 0);
        course.seat(a, None, 100);
        let again = course.enter(human("a"), "A2".into());
        course.seat(again, Some(1), 200);
        course.seat(again, Some(0), 300);
        course.kill(a);
        course.kill(again);
        *course.points(again) = Some(3.0);
        course.score(0, 1.0, Some(again), 350);
        let end = course.end(1_000);
        let record = course.record(frame(&[1.0, 0.0]), end).unwrap();
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
    fn ticks_keep_the_order_of_lines_and_the_end_comes_last() {
        let mut course = Course::default();
        let at = [5_000, 5_000, 5_000, 4_000, 6_000].map(|millis| course.tick(millis));
        assert_eq!(at, [5_000, 5_001, 5_002, 5_003, 6_000]);
        assert_eq!(course.end(6_000), 6_001);
    }

    #[test]
    fn those_of_unknown_team_are_left_out_of_a_team_game_only() {
        for (scores, present) in [(&[0.0, 0.0][..], 0), (&[][..], 1)] {
            let mut course = Course::default();
            let track = course.enter(human("a"), "A".into());
            course.seat(track, Some(UNKNOWN_TEAM), 0);
            course.end(10);
            let record = course.record(frame(scores), 10).unwrap();
            assert_eq!(record.participants.len(), present);
        }
    }

    #[test]
    fn score_changes_are_reconciled_with_the_final_score() {
        let reconciled = |goals: &[u8], scores: &[f64]| {
            let mut course = Course::default();
            for (at, &team) in goals.iter().enumerate() {
                course.score(team, 1.0, None, at as u64);
            }
            course.reconcile(scores);
            course.sums(scores.len())
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
        join(&mut stays);
        assert_eq!(stays, [stay(0, 0, 70), stay(1, 70, 80)]);
    }

    #[test]
    fn a_game_without_end_takes_bounded_memory() {
        let mut course = Course::default();
        for at in 0..300_000 {
            let track = course.enter(human("a"), String::new());
            course.seat(track, Some(0), at);
            course.score(0, 1.0, None, at);
        }
        assert!(course.is_too_large());
        assert!(course.tracks.len() <= MAX_TRACKS && course.events.len() <= MAX_EVENTS);
    }
}
