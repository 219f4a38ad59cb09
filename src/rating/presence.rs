//! `presence`: points scored by, and against, a player's team while they were on it.
//!
//! The system of the UT2004 balancing page. In game types like Capture the Flag, kills predict
//! little, but the points that a team scores while a player is on it predict much. For each game, F
//! counts the points that a player's team scored while they were on it, A those scored against it
//! in that time. Over the last [`window`](Settings::window) games, where a game j games ago counts
//! 0.5^(j / half-life), the weight is
//!
//! ```text
//! 100 · (ΣF + prior/2) / (ΣF + ΣA + prior)
//! ```
//!
//! The prior pulls newcomers to 50: with 4 points, one 3:0 win gives 71, ten of them 94. In a game
//! without teams F counts kills and A deaths.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::domain::Outlook;

use super::{
    Game, Player, Roll, Scale, Strength, System,
    slope::{Slope, edge},
};
use crate::domain::{MatchRecord, Outcome, Participant, Scoring};

/// Settings of the `presence` formula.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// How many of a player's last games count, 1 or more.
    pub window: usize,
    /// Games after which a game counts half, above 0.
    pub half_life: f64,
    /// Imaginary points, half scored and half conceded, 0 or more.
    pub prior: f64,
}

/// 30 games are the page's recommendation; with 10 and 4, the weight of a newcomer moves at once
/// and that of a regular by a few points per game.
impl Default for Settings {
    fn default() -> Self {
        Self {
            window: 30,
            half_life: 10.0,
            prior: 4.0,
        }
    }
}

/// Points that a player's teams scored and conceded while the player was on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Points {
    /// F of the page, 0 or more.
    pub scored: f64,
    /// A of the page, 0 or more.
    pub conceded: f64,
}

/// F and A of every participant of a game, in the order of the record.
///
/// A stay includes an event at its first millisecond and excludes one at its last, except that an
/// event at the end of the game counts for every player who stayed to the end: the capture that
/// ends a game has that time. Points of a final score that no event accounts for are spread evenly
/// over the game. If a team's events add up to *more* than its final score, they are scaled down to
/// it. A negative sum (some games subtract points) counts as 0. A victory without any points counts
/// as one point. The record must pass [`MatchRecord::check`].
///
/// Complexity: O((events + stays) · teams + stays · log events).
pub fn points(record: &MatchRecord, scoring: Scoring) -> Vec<Points> {
    if scoring == Scoring::Frags {
        let frags = record.participants.iter().map(|p| Points {
            scored: p.kills.into(),
            conceded: p.deaths.into(),
        });
        return frags.collect();
    }
    let course = Course::of(record);
    let of_one = |p| course.points_of(p);
    record.participants.iter().map(of_one).collect()
}

/// Each team's score after `at` milliseconds of play, as [`points`] counts it. O(events · teams).
pub fn standing(record: &MatchRecord, at: u64) -> Vec<f64> {
    let course = Course::of(record);
    let behind = record.events.partition_point(|event| event.at < at);
    let told = &course.before[behind * course.rate.len()..];
    let rates = course.rate.iter().zip(told);
    rates.map(|(rate, told)| rate * at as f64 + told).collect()
}

/// How each team's score grew during a game.
struct Course<'a> {
    record: &'a MatchRecord,
    /// Per team: the points per millisecond that no event accounts for.
    rate: Vec<f64>,
    /// Each team's sum of events before each event, and after the last one; one row of teams per
    /// event.
    before: Vec<f64>,
}

impl<'a> Course<'a> {
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

/// The weight, 0 to 100, of a player with these games, newest first; `recency` is the factor of
/// each.
fn weight<'a>(newest_first: impl Iterator<Item = &'a Points>, recency: &[f64], prior: f64) -> f64 {
    let mut sum = Points::default();
    for (points, recency) in newest_first.zip(recency) {
        sum.scored += recency * points.scored;
        sum.conceded += recency * points.conceded;
    }
    let all = sum.scored + sum.conceded + prior;
    if all > 0.0 {
        (100.0 * (sum.scored + prior / 2.0) / all).clamp(0.0, 100.0)
    } else {
        50.0 // neither a prior nor points
    }
}

/// The `presence` system: the points of each player's last games.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PresenceSystem {
    settings: Settings,
    /// Newest first, at most `window` per player.
    games: Roll<VecDeque<Points>>,
    /// The factor of a game, by how many games ago it was; as long as the longest history.
    recency: Vec<f64>,
    slope: Slope,
}

impl PresenceSystem {
    /// A system without any games.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            games: Roll::default(),
            recency: Vec::new(),
            slope: Slope::default(),
        }
    }

    fn weight(&self, player: Player) -> Option<f64> {
        let games = self.games.get(player)?;
        Some(weight(games.iter(), &self.recency, self.settings.prior))
    }
}

impl System for PresenceSystem {
    fn beats(&self, game: &Game, a: usize, b: usize) -> f64 {
        self.slope.chance(edge(game, a, b, |p| self.weight(p)))
    }

    fn update(&mut self, game: &Game) {
        for (a, b, result) in game.neighbours() {
            let edge = edge(game, a, b, |p| self.weight(p));
            self.slope.learn(edge, result);
        }
        for tally in game.tallies.iter().filter(|t| t.learns) {
            let games = self.games.enter(tally.player, VecDeque::new);
            games.push_front(Points {
                scored: tally.scored,
                conceded: tally.conceded,
            });
            games.truncate(self.settings.window);
            for ago in self.recency.len()..games.len() {
                let half_lives = ago as f64 / self.settings.half_life;
                self.recency.push(libm::exp2(-half_lives));
            }
        }
    }

    fn strength(&self, player: Player) -> Option<Strength> {
        self.weight(player).map(|mean| Strength {
            mean,
            deviation: 0.0,
        })
    }

    fn outlook(&self, game: &Game) -> Outlook {
        self.slope.outlook(game)
    }

    fn scale(&self) -> Scale {
        Scale::Weights
    }

    /// Ignored: the prior is 50, whatever the player's weight is in other rulesets.
    fn adopt(&mut self, _: Player, _: Strength) {}

    /// Scales the points down, which moves the weight towards the prior.
    fn new_season(&mut self, keep: f64) {
        for points in self.games.values_mut().flatten() {
            points.scored *= keep;
            points.conceded *= keep;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Kind, PlayerKey, Presence, ScoreEvent, Span, Timestamp};

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
    fn the_weight_by_hand() {
        let mut system = PresenceSystem::new(Settings {
            window: 2,
            half_life: 1.0,
            prior: 4.0,
        });
        assert_eq!(system.weight(Player(0)), None);
        for (scored, conceded) in [(0.0, 100.0), (0.0, 2.0), (3.0, 0.0)] {
            let mut game = Game::default();
            game.tallies.push(crate::rating::Tally {
                scored,
                conceded,
                ..crate::rating::Tally::new(Player(0))
            });
            system.update(&game);
        }
        // F = 3, A = 2/2, and the first game is out of the window: 100 · (3 + 2) / (3 + 1 + 4).
        assert_eq!(system.weight(Player(0)), Some(62.5));
        assert_eq!(weight([].iter(), &[], 4.0), 50.0);
        assert_eq!(weight([].iter(), &[], 0.0), 50.0);
    }
}
