//! The account of a player's own results: the weight that people see and game servers add up.
//!
//! Between own matches it stands still. A victory never lowers it, and a defeat never raises it: each moves it at most to
//! the *target*, which is the player's strength in points ([`Curve`](super::curve::Curve)) just after the match, and by
//! at most a *limit*. A draw moves it towards the target, but never up for a favourite and never down for an outsider.
//! So a favourite's narrow victory may move nothing, and it takes a defeat to bring the weight down.
//!
//! The strength itself follows the rating system, in both directions and without the player, because what others do says
//! something about everybody. Decisions and forecasts use it.

use serde::{Deserialize, Serialize};

use crate::{Player, RatedGame, Seat};
use evenkeel_model::WeightCause as Cause;

/// The limit of a match for somebody with many: the points by which the strength of a regular moves in a match.
const LEAST_LIMIT: f64 = 3.0;
/// How much more it is in a first match, and the matches after which that is halved: a debut moves a weight by
/// at most 8 points, whatever the match shows.
const FIRST_LIMIT: f64 = 5.0;
const HALVED_AFTER: f64 = 8.0;
/// The limit of a draw, which says less than a victory.
const DRAW_LIMIT: f64 = 3.0;
/// The expected result from which on a team is the favourite, 2 · chance − 1: chances of 49 to 51 % are even.
const EVEN: f64 = 0.02;
/// The most teams that are compared each with all others to find who draws as the favourite. Among more, which no game has but
/// a hostile record may, draws count as even.
const MOST_COMPARED: usize = 64;
/// A share of a match that is nothing: what rounding leaves of two equal shares.
const NO_SHARE: f64 = 1e-9;

/// The account of one player in one rating pool.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Account {
    /// The weight, 0 to 100.
    pub weight: f64,
    /// Its standard deviation after the last own match, in points.
    pub deviation: f64,
    /// The sum of the shares of the matches so far.
    played: f64,
}

/// A player's part in a match, as an account sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MatchPart {
    pub result: TeamResult,
    /// The share of the match that the player was on the team, less the shares on others.
    pub share: f64,
    /// What the player missed by leaving early; it counts in a defeat.
    pub missed: f64,
}

/// A team's result in a match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TeamResult {
    Won,
    Lost,
    /// The expected result, from −1 for each other team that would surely win to 1 for each that would surely lose.
    Drew {
        expected: f64,
    },
}

impl Account {
    /// The account of somebody who begins at this weight.
    pub fn open(weight: f64) -> Self {
        Self {
            weight,
            deviation: 0.0,
            played: 0.0,
        }
    }

    /// The most points by which a whole match moves it now.
    fn limit(&self) -> f64 {
        LEAST_LIMIT + FIRST_LIMIT / (1.0 + self.played / HALVED_AFTER)
    }

    /// Enters a number that is a weight already.
    pub fn set(&mut self, weight: f64, deviation: f64) {
        (self.weight, self.deviation) = (weight.clamp(0.0, 100.0), deviation);
    }

    /// Enters a match, after which the player's strength is `target` points. Without a part in its result, nothing moves.
    pub fn enter(&mut self, part: Option<MatchPart>, target: f64, deviation: f64) -> Cause {
        self.deviation = deviation;
        let Some(part) = part else {
            return Cause::NoResult;
        };
        if part.share <= NO_SHARE {
            return Cause::ChangedTeams;
        }
        let to_target = target - self.weight;
        let (by, cause) = match part.result {
            TeamResult::Won => towards(
                to_target.max(0.0),
                self.limit() * part.share,
                [Cause::Won, Cause::WonLimited, Cause::WonHeld],
            ),
            TeamResult::Lost => towards(
                to_target.min(0.0),
                self.limit() * (part.share + part.missed),
                [Cause::Lost, Cause::LostLimited, Cause::LostHeld],
            ),
            TeamResult::Drew { expected } if expected > EVEN && to_target > 0.0 => {
                (0.0, Cause::DrewAsFavourite)
            }
            TeamResult::Drew { expected } if expected < -EVEN && to_target < 0.0 => {
                (0.0, Cause::DrewAsOutsider)
            }
            TeamResult::Drew { .. } => towards(
                to_target,
                DRAW_LIMIT * part.share,
                [Cause::Drew, Cause::DrewLimited, Cause::Drew],
            ),
        };
        self.weight += by;
        self.played += part.share;
        cause
    }

    /// Begins a season, in which the weight keeps the share `keep` of its distance from 50.
    pub fn new_season(&mut self, keep: f64, deviation: f64) {
        self.weight = 50.0 + keep * (self.weight - 50.0);
        self.deviation = deviation;
    }
}

/// The step to a target that is `to_target` points away, of at most `limit`, and which of the causes it has: the whole
/// way, the limit, or nothing.
fn towards(to_target: f64, limit: f64, [whole, limited, held]: [Cause; 3]) -> (f64, Cause) {
    match to_target.abs() {
        0.0 => (0.0, held),
        distance if distance > limit => (libm::copysign(limit, to_target), limited),
        _ => (to_target, whole),
    }
}

/// The part of a player in a game: on the team with the largest share. `None` without a seat or a result.
pub(super) fn part(game: &RatedGame, player: Player, results: &[TeamResult]) -> Option<MatchPart> {
    let played = |seat: &Seat| (seat.share - seat.missed).max(0.0);
    let own = || game.seats().iter().filter(|seat| seat.player == player);
    let main = own().fold(None, |main: Option<&Seat>, seat| match main {
        Some(main) if played(main) >= played(seat) => Some(main),
        _ => Some(seat),
    })?;
    let all: f64 = own().map(played).sum();
    Some(MatchPart {
        result: *results.get(usize::from(main.team))?,
        share: 2.0 * played(main) - all,
        missed: main.missed,
    })
}

/// The result of each team. With three teams or more the first third wins and the last third loses, and so with the players
/// of a game without teams; teams that share a place across a border draw. Where only the winner is known, all others
/// lose. `beats` is the chance of a team to beat another before the match. Empty without places.
pub(super) fn results(game: &RatedGame, beats: impl Fn(usize, usize) -> f64) -> Vec<TeamResult> {
    let places = &game.places;
    let teams = places.len().min(game.teams());
    let third = match teams {
        2 => 1,
        _ => teams / 3,
    };
    let expected = |team: usize| match teams {
        0..=MOST_COMPARED => {
            let others = (0..teams).filter(|other| *other != team);
            others.map(|other| 2.0 * beats(team, other) - 1.0).sum()
        }
        _ => 0.0,
    };
    let result = |team: usize| {
        let before = places.iter().filter(|place| **place < places[team]).count();
        let with = places
            .iter()
            .filter(|place| **place == places[team])
            .count();
        if before + with <= third {
            TeamResult::Won
        } else if before >= teams - third || (game.winner_alone && before > 0) {
            TeamResult::Lost
        } else {
            let expected = expected(team);
            TeamResult::Drew { expected }
        }
    };
    (0..teams).map(result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::game;

    fn part(result: TeamResult, share: f64) -> MatchPart {
        MatchPart {
            result,
            share,
            missed: 0.0,
        }
    }

    fn after(weight: f64, played: f64, part: MatchPart, target: f64) -> (f64, Cause) {
        let mut account = Account {
            weight,
            deviation: 0.0,
            played,
        };
        let cause = account.enter(Some(part), target, 1.0);
        (account.weight, cause)
    }

    #[test]
    fn a_victory_never_lowers_and_a_defeat_never_raises() {
        use TeamResult::{Lost, Won};
        let whole = |result, target| after(50.0, f64::INFINITY, part(result, 1.0), target);
        assert_eq!(whole(Won, 52.0), (52.0, Cause::Won));
        assert_eq!(whole(Won, 60.0), (53.0, Cause::WonLimited));
        assert_eq!(whole(Won, 49.0), (50.0, Cause::WonHeld));
        assert_eq!(whole(Won, 50.0), (50.0, Cause::WonHeld));
        assert_eq!(whole(Lost, 48.0), (48.0, Cause::Lost));
        assert_eq!(whole(Lost, 40.0), (47.0, Cause::LostLimited));
        assert_eq!(whole(Lost, 51.0), (50.0, Cause::LostHeld));
        // The first match moves a weight by at most 8 points, the ninth by 5.5.
        assert_eq!(after(50.0, 0.0, part(Won, 1.0), 70.0).0, 58.0);
        assert_eq!(after(50.0, 8.0, part(Won, 1.0), 70.0).0, 55.5);
        assert_eq!(after(50.0, 0.0, part(Won, 0.25), 70.0).0, 52.0);
    }

    #[test]
    fn who_left_a_lost_match_answers_for_the_rest() {
        let left = |result| MatchPart {
            missed: 0.5,
            ..part(result, 0.25)
        };
        assert_eq!(after(50.0, 0.0, left(TeamResult::Lost), 20.0).0, 44.0);
        assert_eq!(after(50.0, 0.0, left(TeamResult::Won), 80.0).0, 52.0);
    }

    #[test]
    fn a_favourite_does_not_rise_by_a_draw_nor_an_outsider_fall() {
        let drew =
            |expected, target| after(50.0, 0.0, part(TeamResult::Drew { expected }, 1.0), target);
        assert_eq!(drew(0.0, 51.0), (51.0, Cause::Drew));
        assert_eq!(drew(0.0, 80.0), (53.0, Cause::DrewLimited));
        assert_eq!(drew(0.3, 80.0), (50.0, Cause::DrewAsFavourite));
        assert_eq!(drew(0.3, 48.0), (48.0, Cause::Drew));
        assert_eq!(drew(-0.3, 20.0), (50.0, Cause::DrewAsOutsider));
        assert_eq!(drew(-0.3, 52.0), (52.0, Cause::Drew));
    }

    #[test]
    fn who_was_on_both_teams_counts_for_the_longer_one() {
        let seat = |team, share| Seat {
            share,
            ..Seat::new(Player(7), team)
        };
        let game = |one, other| RatedGame::new(vec![seat(0, one), seat(1, other)]);
        let results = [TeamResult::Won, TeamResult::Lost];
        let own = |one, other| super::part(&game(one, other), Player(7), &results).unwrap();
        assert_eq!(own(0.75, 0.25), part(TeamResult::Won, 0.5));
        assert_eq!(own(0.25, 0.5), part(TeamResult::Lost, 0.25));
        let even = own(0.5, 0.5);
        assert_eq!(after(50.0, 0.0, even, 90.0), (50.0, Cause::ChangedTeams));
        assert_eq!(super::part(&game(0.5, 0.5), Player(1), &results), None);
    }

    fn results_of(places: &[u16], winner_alone: bool) -> String {
        let teams: Vec<&[f64]> = places.iter().map(|_| &[1.0][..]).collect();
        let mut game = game(&teams, places);
        game.winner_alone = winner_alone;
        let letter = |result| match result {
            TeamResult::Won => 'w',
            TeamResult::Lost => 'l',
            TeamResult::Drew { .. } => 'd',
        };
        let results = super::results(&game, |_, _| 0.5);
        results.into_iter().map(letter).collect()
    }

    #[test]
    fn the_first_third_wins_and_the_last_third_loses() {
        assert_eq!(results_of(&[0, 1], false), "wl");
        assert_eq!(results_of(&[0, 0], false), "dd");
        assert_eq!(results_of(&[2, 0, 1], false), "lwd");
        // Eight players: two win and two lose.
        assert_eq!(results_of(&[0, 1, 2, 3, 4, 5, 6, 7], false), "wwddddll");
        // Ten leaders of eleven share a place across both borders.
        let leaders = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10];
        assert_eq!(results_of(&leaders, false), "ddddddddddl");
        assert_eq!(results_of(&[0, 1, 1, 3], false), "wddl");
        // Only the winner is known; or the others really have the same score.
        assert_eq!(results_of(&[1, 0, 1], true), "lwl");
        assert_eq!(results_of(&[1, 0, 1], false), "dwd");
        assert_eq!(results_of(&[], false), "");
    }

    #[test]
    fn a_record_of_a_thousand_equal_players_costs_no_million_comparisons() {
        let shares = vec![&[1.0][..]; 1_024];
        let game = game(&shares, &[0; 1_024]);
        let asked = std::cell::Cell::new(0);
        let beats = |_, _| {
            asked.set(asked.get() + 1);
            0.5
        };
        let results = super::results(&game, beats);
        assert!(
            results
                .iter()
                .all(|one| *one == TeamResult::Drew { expected: 0.0 })
        );
        assert_eq!(asked.get(), 0);
    }

    #[test]
    fn a_draw_is_expected_from_all_other_teams() {
        let game = game(&[&[1.0], &[1.0], &[1.0], &[1.0]], &[0, 1, 1, 3]);
        let beats = |a: usize, b: usize| if a < b { 0.75 } else { 0.25 };
        let results = super::results(&game, beats);
        let expected = [1, 2].map(|team| match results[team] {
            TeamResult::Drew { expected } => expected,
            _ => f64::NAN,
        });
        assert_eq!(expected, [0.5, -0.5]);
    }
}
