//! Where each participant sat in a match, and the points that their teams scored and conceded meanwhile.

use evenkeel_model::{MatchRecord, Outcome, Participant, Presence, RoleName, Scoring};

use crate::{Player, Seat, presence::Points};

/// For each participant, in the order of the record: F, the points that their teams scored while
/// they were on them, and A, the points scored against those teams in that time.
///
/// A stay includes an event at its first millisecond and excludes one at its last, except that an
/// event at the end of the game counts for every player who stayed to the end: the capture that
/// ends a game has that time. Points of a final score that no event accounts for are spread evenly
/// over the game. If a team's events add up to *more* than its final score, they are scaled down to
/// it. A negative sum (some games subtract points) counts as 0. A victory without any points counts
/// as one point. The record must pass [`MatchRecord::check`].
///
/// Complexity: O((events + stays) · teams + stays · log events).
pub(super) fn points(record: &MatchRecord, scoring: Scoring) -> Vec<Points> {
    if scoring == Scoring::Frags {
        let frags = record.participants.iter().map(|p| Points {
            scored: p.kills.into(),
            conceded: p.deaths.into(),
        });
        return frags.collect();
    }
    let points = PointsOverTime::of(record);
    let of_one = |p| points.points_of(p);
    record.participants.iter().map(of_one).collect()
}

/// Each team's score after `at` milliseconds of play, as [`points`] counts it. O(events · teams).
pub(super) fn score_at(record: &MatchRecord, at: u64) -> Vec<f64> {
    let points = PointsOverTime::of(record);
    let behind = record.events.partition_point(|event| event.at < at);
    let counted = &points.before[behind * points.rate.len()..];
    let rates = points.rate.iter().zip(counted);
    rates
        .map(|(rate, counted)| rate * at as f64 + counted)
        .collect()
}

/// How each team's score grew during a game.
struct PointsOverTime<'a> {
    record: &'a MatchRecord,
    /// Per team: the points per millisecond that no event accounts for.
    rate: Vec<f64>,
    /// Each team's sum of events before each event, and after the last one; one row of teams per
    /// event.
    before: Vec<f64>,
}

impl<'a> PointsOverTime<'a> {
    fn of(record: &'a MatchRecord) -> Self {
        let scores = final_scores(record);
        let mut event_sum = vec![0.0; scores.len()];
        for event in &record.events {
            event_sum[usize::from(event.team)] += event.points;
        }
        // At least one millisecond, because the rate divides by it.
        let millis = record.millis().max(1) as f64;
        let pairs = || scores.iter().zip(&event_sum);
        let rate = pairs().map(|(score, event_sum)| (score - event_sum).max(0.0) / millis);
        let scale = pairs().map(|(&score, &event_sum)| {
            if event_sum > score && event_sum > 0.0 {
                score.max(0.0) / event_sum
            } else {
                1.0
            }
        });
        let scale: Vec<f64> = scale.collect();
        let mut before = vec![0.0; scores.len()];
        for event in &record.events {
            let last = before.len() - scores.len();
            before.extend_from_within(last..);
            let team = usize::from(event.team);
            let sum = last + scores.len() + team;
            before[sum] += event.points * scale[team];
        }
        Self {
            record,
            rate: rate.collect(),
            before,
        }
    }

    fn points_of(&self, participant: &Participant) -> Points {
        let end = self.record.millis();
        let events = &self.record.events;
        let mut sum = Points::default();
        for stay in &participant.presence {
            let millis = stay.span.millis() as f64;
            let first = events.partition_point(|e| e.at < stay.span.from);
            let after = |at| at < stay.span.to || (at == end && stay.span.to == end);
            let behind = events.partition_point(|e| after(e.at)).max(first);
            for (team, rate) in self.rate.iter().enumerate() {
                let before = |event: usize| self.before[event * self.rate.len() + team];
                let event_sum = before(behind) - before(first);
                let side = if team == usize::from(stay.team) {
                    &mut sum.scored
                } else {
                    &mut sum.conceded
                };
                *side += rate * millis + event_sum;
            }
        }
        Points {
            scored: sum.scored.max(0.0),
            conceded: sum.conceded.max(0.0),
        }
    }
}

/// The final scores. A team that won a game without points gets one point.
fn final_scores(record: &MatchRecord) -> Vec<f64> {
    let mut scores = record.scores.clone();
    if let Outcome::Won(team) = record.outcome
        && scores.iter().all(|score| *score == 0.0)
        && record.events.is_empty()
    {
        scores[usize::from(team)] = 1.0;
    }
    scores
}

/// The smallest share of a game. A smaller one carries no information, and a share of 0 would make
/// a rating system divide by zero.
const LEAST_SHARE: f64 = 1e-6;

/// One seat for each team that the participant was on; the caller fills in the player number.
pub(super) fn own_seats(
    participant: &Participant,
    millis: u64,
    usual: u64,
    team: impl Fn(&Presence) -> u16,
) -> Vec<Seat> {
    let mut seats: Vec<Seat> = Vec::new();
    for stay in participant.presence.iter().filter(|p| p.span.millis() > 0) {
        let share = share(stay, millis, usual);
        let team = team(stay);
        match seats.iter_mut().find(|s| s.team == team) {
            Some(seat) => seat.share += share,
            None => seats.push(Seat {
                share,
                command: command(participant, stay.team),
                party: party_number(participant.party),
                ..Seat::new(Player(0), team)
            }),
        }
    }
    for seat in &mut seats {
        seat.share = seat.share.clamp(LEAST_SHARE, 1.0);
    }
    seats
}

/// The number of a party in [`Seat::party`], in which 0 means no party.
pub(super) fn party_number(party: Option<u32>) -> u32 {
    party.map_or(0, |party| party.saturating_add(1))
}

fn command(participant: &Participant, team: u8) -> f64 {
    let roles = participant.roles.iter();
    let own = roles.filter(|r| r.name == RoleName::COMMANDER && r.team == team);
    own.map(|r| r.share).sum::<f64>().min(1.0)
}

/// The weighted share of a game that a stay covers, see [`Span::early_share`](evenkeel_model::Span).
pub(super) fn share(stay: &Presence, millis: u64, usual: u64) -> f64 {
    stay.span.early_share(millis, usual)
}

/// The rank of each number, 0 for the highest; equal numbers share the better rank.
pub(super) fn ranks(numbers: &[f64]) -> Vec<u16> {
    let above = |x: &f64| numbers.iter().filter(|y| *y > x).count();
    let rank = |x| u16::try_from(above(x)).unwrap_or(u16::MAX);
    numbers.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use evenkeel_model::{Kind, PlayerKey, Presence, ScoreEvent, Span, Timestamp};

    use super::*;

    fn stays(id: &str, stays: &[(u8, u64, u64)]) -> Participant {
        let stay = |&(team, from, to)| Presence {
            team,
            span: Span { from, to },
        };
        Participant {
            key: PlayerKey {
                kind: Kind::Human,
                id: id.into(),
            },
            name: id.into(),
            presence: stays.iter().map(stay).collect(),
            points: None,
            kills: 0,
            deaths: 0,
            roles: vec![],
            party: None,
            left: None,
        }
    }

    fn game(
        scores: &[f64],
        participants: Vec<Participant>,
        events: &[(u64, u8, f64)],
    ) -> MatchRecord {
        let event = |&(at, team, points)| ScoreEvent {
            at,
            team,
            points,
            by: None,
        };
        let record = MatchRecord {
            server: String::new(),
            start: Timestamp(0),
            end: Timestamp(1_000),
            clock: None,
            untimed: false,
            client: String::new(),
            unscored: false,
            logged_as: None,
            map: "m".into(),
            game_type: "ctf".into(),
            mode: String::new(),
            mutators: vec![],
            scores: scores.to_vec(),
            outcome: MatchRecord::outcome_of(scores),
            participants,
            events: events.iter().map(event).collect(),
        };
        assert_eq!(record.check(), Ok(()));
        record
    }

    fn pairs(record: &MatchRecord) -> Vec<(f64, f64)> {
        let points = points(record, Scoring::TeamPoints);
        points.iter().map(|p| (p.scored, p.conceded)).collect()
    }

    #[test]
    fn joins_leaves_and_team_changes_count_by_the_intervals() {
        let record = game(
            &[3.0, 2.0],
            vec![
                stays("all of it", &[(0, 0, 1_000)]),
                stays("late", &[(1, 500, 1_000)]),
                stays("changed", &[(0, 0, 300), (1, 300, 900)]),
                stays("away meanwhile", &[(0, 0, 100), (0, 901, 1_000)]),
            ],
            &[
                (100, 0, 1.0),
                (300, 1, 1.0),
                (600, 0, 1.0),
                (900, 1, 1.0),
                (1_000, 0, 1.0),
            ],
        );
        assert_eq!(
            pairs(&record),
            [(3.0, 2.0), (1.0, 2.0), (2.0, 1.0), (1.0, 0.0)]
        );
    }

    #[test]
    fn untold_points_are_spread_over_the_play_time() {
        let players = || {
            vec![
                stays("all of it", &[(0, 0, 1_000)]),
                stays("a quarter", &[(1, 750, 1_000)]),
            ]
        };
        let log_without_events = game(&[4.0, 8.0], players(), &[]);
        assert_eq!(pairs(&log_without_events), [(4.0, 8.0), (2.0, 1.0)]);
        let half_told = game(&[4.0, 8.0], players(), &[(10, 1, 4.0)]);
        assert_eq!(pairs(&half_told), [(4.0, 8.0), (1.0, 1.0)]);
    }

    #[test]
    fn too_much_told_is_scaled_and_negative_points_count_nothing() {
        let players = || vec![stays("a", &[(0, 0, 1_000)]), stays("b", &[(1, 0, 500)])];
        let twice = game(&[1.0, 0.0], players(), &[(10, 0, 1.0), (900, 0, 1.0)]);
        assert_eq!(pairs(&twice), [(1.0, 0.0), (0.0, 0.5)]);
        let suicides = game(&[-2.0, 3.0], players(), &[(10, 0, -2.0)]);
        assert_eq!(pairs(&suicides), [(0.0, 3.0), (1.5, 0.0)]);
    }

    #[test]
    fn a_bare_victory_is_a_point() {
        let players = vec![stays("a", &[(0, 0, 500)]), stays("b", &[(1, 0, 1_000)])];
        let mut record = game(&[0.0, 0.0], players, &[]);
        assert_eq!(pairs(&record), [(0.0, 0.0), (0.0, 0.0)]);
        record.outcome = Outcome::Won(1);
        assert_eq!(pairs(&record), [(0.0, 0.5), (1.0, 0.0)]);
    }

    #[test]
    fn every_other_team_scores_against() {
        let players = vec![stays("a", &[(0, 0, 1_000)]), stays("c", &[(2, 0, 1_000)])];
        let record = game(
            &[1.0, 2.0, 4.0],
            players,
            &[(1, 0, 1.0), (2, 1, 2.0), (3, 2, 4.0)],
        );
        assert_eq!(pairs(&record), [(1.0, 6.0), (4.0, 3.0)]);
    }

    #[test]
    fn without_teams_frags_and_deaths_count() {
        let mut record = game(&[], vec![stays("a", &[(0, 0, 1_000)])], &[]);
        record.participants[0].kills = 7;
        record.participants[0].deaths = 3;
        let frags = Points {
            scored: 7.0,
            conceded: 3.0,
        };
        assert_eq!(points(&record, Scoring::Frags), [frags]);
    }

    #[test]
    fn early_time_counts_more() {
        let share = |from, to, millis| {
            let span = Span { from, to };
            share(&Presence { team: 0, span }, millis, 1_000)
        };
        assert_eq!(share(0, 1_000, 1_000), 1.0);
        assert!((share(0, 500, 1_000) - 2.0 / 3.0).abs() < 1e-12);
        assert!((share(500, 1_000, 1_000) - 1.0 / 3.0).abs() < 1e-12);
        // The factor does not depend on how far this game exceeded the usual length.
        assert!((share(0, 500, 4_000) / share(500, 1_000, 4_000) - 2.0).abs() < 1e-12);
        assert_eq!(share(0, 0, 0), 1.0);
    }

    #[test]
    fn ranks_share_places() {
        assert_eq!(ranks(&[1.0, 5.0, 1.0, 0.0]), [1, 0, 1, 3]);
    }
}
