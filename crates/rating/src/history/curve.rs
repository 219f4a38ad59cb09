//! What people are shown of a strength: its points of weight, of which 50 stand for the average seat.
//!
//! All players share some effects, such as that of being new, each with factors of their own ([`Effects`]). What the
//! effects add for everybody says nothing about a player, so a weight compares a player's factors with the mean
//! factors of those who played: one seat for each player who learned from a rated match, human or bot, however long
//! they played. The mean forgets old matches, so that it follows a community that ages.

use evenkeel_model::{
    PlayerKey, PointScale, Rank, RoleWeights, Ruleset, Timestamp, UNITS, WinModel,
};
use serde::{Deserialize, Serialize};

use crate::{Effects, NEWCOMER_FACTORS, Scale, Strength, with_effects};

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
    pub fn new(scale: Scale, effects: Effects, average: Option<Effects>) -> Self {
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
    pub fn points(self, strength: f64) -> f64 {
        let points = match self {
            Self::Weights => strength,
            Self::Strengths(scale) => {
                50.0 + POINTS_PER_UNIT * (strength - scale.average) / scale.unit
            }
        };
        if points.is_finite() { points } else { 50.0 }
    }

    /// The strength of a newcomer.
    pub fn newcomer(self) -> f64 {
        match self {
            Self::Weights => 50.0,
            Self::Strengths(scale) => scale.newcomer,
        }
    }

    /// The strength of this weight, minus a newcomer's. The weight is limited to 0 to 100.
    pub fn strength(self, weight: f64) -> f64 {
        let above = weight.clamp(0.0, 100.0) - 50.0;
        match self {
            Self::Weights => above,
            Self::Strengths(scale) => {
                scale.average - scale.newcomer + above / POINTS_PER_UNIT * scale.unit
            }
        }
    }

    /// The deviation of a strength in points.
    pub fn deviation(self, strength: Strength) -> f64 {
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
    pub fn add(&mut self, match_seats: &[Effects]) {
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
    pub fn factors(&self) -> Option<Effects> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
