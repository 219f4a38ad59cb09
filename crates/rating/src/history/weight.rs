//! The weight that people see and game servers add up: a curve says which points stand for a strength, and an account of the
//! player's own results follows it.
//!
//! The [curve](Curve) gives a strength its points of weight, of which 50 stand for the average seat.
//! All players share some effects, such as that of being new, each with factors of their own ([`Effects`]). What the
//! effects add for everybody says nothing about a player, so a weight compares a player's factors with the mean
//! factors of those who played: one seat for each player who learned from a rated match, human or bot, however long
//! they played. The mean forgets old matches, so that it follows a community that ages.
//!
//! Between own matches the [account](Account) stands still. A victory never lowers it, and a defeat never raises it: each
//! moves it at most to the *target*, which is the player's strength in points ([`Curve`]) just after the match, and by at
//! most a *limit*. A draw moves it towards the target, but never up for a favourite and never down for an outsider.
//! So a favourite's narrow victory may move nothing, and it takes a defeat to bring the weight down.
//!
//! The strength itself follows the rating system, in both directions and without the player, because what others do says
//! something about everybody. Decisions and forecasts use it.

use evenkeel_model::{
    PlayerKey, Ruleset, Timestamp, WinModel,
    weight::{PointScale, Rank, RoleWeights, WeightCause as Cause},
    win_model::UNITS,
};
use serde::{Deserialize, Serialize};

use crate::{
    Player, RatedGame, Seat, Strength,
    system::{Effects, NEWCOMER_FACTORS, Scale, with_effects},
};

/// The points of weight in a unit of strength.
const POINTS_PER_UNIT: f64 = 50.0 / UNITS;
/// Between this and 100 less this a weight is linear in the strength.
const SOFT: f64 = 15.0;

/// Converts strengths to points: 50 + 50 · (x − x̄) / (6 units), where x̄ is the strength of the average seat with an own
/// part of 0. A unit is a constant of the rating system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Curve {
    /// Strengths that are weights already.
    Weights,
    Strengths(PointScale),
}

impl Curve {
    /// The curve of a rating system with these effects, whose average seat has these factors: those of a newcomer
    /// before any match.
    pub(super) fn new(scale: Scale, effects: Effects, average: Option<Effects>) -> Self {
        match scale {
            Scale::Weights => Self::Weights,
            Scale::Strengths { newcomer, unit } => {
                let at = |factors| with_effects(0.0, effects, factors);
                let own = newcomer - at(NEWCOMER_FACTORS);
                let average = average.map_or(newcomer, |average| own + at(average));
                Self::Strengths(PointScale {
                    average,
                    newcomer,
                    unit,
                })
            }
        }
    }

    /// A strength in points: linear, without ends. What is no number is 50.
    pub(super) fn points(self, strength: f64) -> f64 {
        let points = match self {
            Self::Weights => strength,
            Self::Strengths(scale) => {
                50.0 + POINTS_PER_UNIT * (strength - scale.average) / scale.unit
            }
        };
        if points.is_finite() { points } else { 50.0 }
    }

    /// The strength of a newcomer.
    pub(super) fn newcomer(self) -> f64 {
        match self {
            Self::Weights => 50.0,
            Self::Strengths(scale) => scale.newcomer,
        }
    }

    /// The strength of this weight, minus a newcomer's. The weight is limited to 0 to 100.
    pub(super) fn strength(self, weight: f64) -> f64 {
        let above = weight.clamp(0.0, 100.0) - 50.0;
        match self {
            Self::Weights => above,
            Self::Strengths(scale) => {
                scale.average - scale.newcomer + above / POINTS_PER_UNIT * scale.unit
            }
        }
    }

    /// The deviation of a strength in points.
    pub(super) fn deviation(self, strength: Strength) -> f64 {
        match self {
            Self::Weights => strength.deviation,
            Self::Strengths(scale) => POINTS_PER_UNIT * strength.deviation / scale.unit,
        }
    }
}

/// Points with soft ends: as they are from 15 to 85, and nearer and nearer to 0 or 100 beyond, so that nobody stands at a
/// limit.
pub(super) fn soft(points: f64) -> f64 {
    let above = points - (100.0 - SOFT);
    let below = SOFT - points;
    if above > 0.0 {
        100.0 - SOFT * libm::exp(-above / SOFT)
    } else if below > 0.0 {
        SOFT * libm::exp(-below / SOFT)
    } else {
        points
    }
}

/// The seats after which what was there counts half: some sixty matches of four against four.
const HALF_LIFE: f64 = 500.0;

/// The mean factors of those who played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct AverageSeat {
    /// The number of seats, in which older ones count less.
    seats: f64,
    /// The sums of their factors.
    sums: Effects,
}

impl AverageSeat {
    /// Adds the seats of a match, by the factors of their players after it.
    pub(super) fn add(&mut self, match_seats: &[Effects]) {
        let kept = libm::exp2(-(match_seats.len() as f64) / HALF_LIFE);
        self.seats *= kept;
        self.sums = self.sums.map(|sum| sum * kept);
        for factors in match_seats {
            self.seats += 1.0;
            for (sum, factor) in self.sums.iter_mut().zip(factors) {
                *sum += factor;
            }
        }
    }

    /// The mean factors; `None` before any match.
    pub(super) fn factors(&self) -> Option<Effects> {
        (self.seats > 0.0).then(|| self.sums.map(|sum| sum / self.seats))
    }
}

/// The weight of one player under one ruleset.
#[derive(Clone, Debug, PartialEq)]
pub struct Weight<'a> {
    /// The ruleset from whose games it was learned.
    pub ruleset: &'a Ruleset,
    /// The player: kind (human or bot) and id.
    pub key: &'a PlayerKey,
    /// The name in their latest match.
    pub name: &'a str,
    /// 0 to 100; 50 for the average seat of the ruleset. Only the player's own games move it, and never against
    /// their result.
    pub weight: f64,
    /// The standard deviation after the player's last game, in points of the weight. 0 in systems without deviations.
    pub deviation: f64,
    /// The strength, minus a newcomer's, in the rating system's unit. The sum over a team is the team's strength.
    pub strength: f64,
    /// The strength in points: 50 for the average seat of the ruleset, without ends. A weight of 50 and a strength of 53
    /// say that the player is expected to rise.
    pub points: f64,
    /// The standard deviation of the strength, in the unit of `strength`; 0 in systems without deviations.
    pub strength_deviation: f64,
    /// The division under this ruleset; `None` without divisions, for bots, and while the player is
    /// calibrating.
    pub rank: Option<Rank>,
    /// The strengths on each side and as a commander, in points.
    pub roles: RoleWeights,
    /// Number of rated games that the player was in.
    pub games: u32,
    /// How many of these the team has won that the player was on for longest.
    pub wins: u32,
    /// The end of the first rated game that the player was in.
    pub first_seen: Timestamp,
    /// The end of the last rated game that the player was in.
    pub last_seen: Timestamp,
    /// Time played in rated games, in hours.
    pub hours: f64,
}

impl Weight<'_> {
    /// The weight to which the player's results move it: the strength in points, with soft ends.
    pub fn target(&self) -> f64 {
        soft(self.points)
    }
}

/// The prediction of a ruleset's rating system for a lineup of two teams, with its inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineupReading {
    /// Turns strengths into a chance in games like this one.
    pub win_model: WinModel,
    /// The edge of the first team; the win model turns it into the chance that the system predicts.
    pub edge: f64,
    /// The sum of each team's strengths, in the unit of [`Weight::strength`], including what players
    /// of one party add to each other.
    pub strengths: [f64; 2],
}

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
    pub(super) fn open(weight: f64) -> Self {
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
    pub(super) fn set(&mut self, weight: f64, deviation: f64) {
        (self.weight, self.deviation) = (weight.clamp(0.0, 100.0), deviation);
    }

    /// Enters a match, after which the player's strength is `target` points. Without a part in its result, nothing moves.
    pub(super) fn enter(&mut self, part: Option<MatchPart>, target: f64, deviation: f64) -> Cause {
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
    pub(super) fn new_season(&mut self, keep: f64, deviation: f64) {
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

    const EFFECTS: Effects = [1.0, 0.5, 0.0];

    fn joint(average: Option<Effects>) -> Curve {
        let scale = Scale::Strengths {
            newcomer: 1.0,
            unit: 2.0,
        };
        Curve::new(scale, EFFECTS, average)
    }

    #[test]
    fn fifty_is_the_average_seat() {
        // A newcomer before any match, then somebody with half the newness and an experience of 2.
        assert_eq!(joint(None).points(1.0), 50.0);
        let later = joint(Some([0.5, 2.0, 0.3]));
        assert_eq!(later.points(1.5), 50.0);
        for (units, strength) in [(0.5, 2.5), (1.0, 3.5), (-1.0, -0.5)] {
            let by_hand = 50.0 + 50.0 * units / 6.0;
            assert!((later.points(strength) - by_hand).abs() < 1e-12);
        }
        let constant = Scale::Strengths {
            newcomer: 1_500.0,
            unit: 60.0,
        };
        let elo = Curve::new(constant, [0.0; 3], Some([0.0; 3]));
        assert_eq!(elo.points(1_500.0), 50.0);
        assert!((elo.points(1_560.0) - 50.0 - 50.0 / 6.0).abs() < 1e-12);
        assert_eq!(elo.points(f64::NAN), 50.0);
    }

    #[test]
    fn points_are_turned_back_into_their_strength() {
        for curve in [joint(None), joint(Some([0.2, 3.0, 0.0])), Curve::Weights] {
            for weight in [0.0, 1.0, 20.0, 50.0, 58.0, 75.0, 100.0] {
                let strength = curve.newcomer() + curve.strength(weight);
                assert!((curve.points(strength) - weight).abs() < 1e-9, "{weight}");
            }
            assert_eq!(curve.strength(101.0), curve.strength(100.0));
        }
        assert_eq!(Curve::Weights.points(81.25), 81.25);
    }

    #[test]
    fn the_ends_are_soft_and_the_middle_is_linear() {
        for points in [15.0, 37.5, 50.0, 85.0] {
            assert_eq!(soft(points), points);
        }
        assert!((soft(100.0) - (85.0 + 15.0 * (1.0 - (-1.0_f64).exp()))).abs() < 1e-12);
        assert!((soft(85.0 + 1e-9) - 85.0).abs() < 1e-8, "without a jump");
        for points in [90.0, 120.0, 300.0] {
            assert!((85.0..100.0).contains(&soft(points)), "{points}");
            assert!((soft(points) + soft(100.0 - points) - 100.0).abs() < 1e-12);
        }
    }

    #[test]
    fn old_seats_count_half_after_five_hundred() {
        let mut average = AverageSeat::default();
        assert_eq!(average.factors(), None);
        average.add(&[[1.0, 0.0, 0.5], [0.0, 2.0, -0.5]]);
        assert_eq!(average.factors(), Some([0.5, 1.0, 0.0]));
        average.add(&[]);
        assert_eq!(average.factors(), Some([0.5, 1.0, 0.0]));
        // Two seats with 0.5 count as one after 500 others with 0.
        (0..125).for_each(|_| average.add(&[[0.0; 3]; 4]));
        let by_hand = 0.5
            / (1.0
                + (0..125)
                    .map(|n| 4.0 * 0.5_f64.powf(f64::from(n) * 4.0 / 500.0))
                    .sum::<f64>());
        let newness = average.factors().unwrap()[0];
        assert!((newness - by_hand).abs() < 1e-12, "{newness} {by_hand}");
    }

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
