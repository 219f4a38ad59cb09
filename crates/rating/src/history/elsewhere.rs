//! What games of other rulesets say about a player who is new to a standing: a prior.
//!
//! What is known from elsewhere is a Gaussian N(m, v), relative to a newcomer. The prior keeps the part ρ of the
//! distance m, and is less sure: N(ρ·m, ρ²·v + (1 − ρ²)·τ²), where τ is the rating system's deviation of somebody of
//! whom nothing is known. With ρ = 1 it is what is known, and with ρ = 0 it is a newcomer. If an operator has stated at which weight the player starts,
//! that is in the place of the newcomer.
//!
//! ρ is learned from the players who are in both. When a player has [`SETTLED`] games in the standing, what these say
//! by themselves is compared with what was known: ρ is the slope of a regression through the origin. It begins with
//! [`PART`], as if some players had shown it.
//!
//! A ruleset that has the same game type and more mutators than another takes over what is known there as it is.

use serde::{Deserialize, Serialize};

use super::newcomers::SETTLED;
use crate::{Player, PlayerMap, Scale, Strength};
use evenkeel_model::UNITS;

/// The part of what is known from other rulesets that counts before anything is learned about it: a player who is
/// strong in one game type is often, but not always, strong in another.
pub const PART: f64 = 0.5;
/// How much [`PART`] counts: as much as ten players with a usual distance from a newcomer, each of whom weighs a
/// third.
const CAUTION: f64 = 10.0 / 3.0;
/// For systems without deviations: the games after which a player's own games say as much as the prior.
const EQUAL: f64 = 20.0;

/// What is known of a player elsewhere, relative to a newcomer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Known {
    pub strength: Strength,
    /// The weight, if it is from games whose weights count as they are, see [`Level::is_near`](super::Level).
    pub near: Option<f64>,
}

/// The prior of a player, until enough games of their own are compared with it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Adopted {
    known: Strength,
    /// The weight, if that counts as it is. Then there is no part to learn.
    near: Option<f64>,
    /// What the prior would be without it.
    unknown: Strength,
    /// The prior as the rating system has taken it.
    prior: Strength,
}

/// The priors of one standing, and what is learned about their part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Elsewhere {
    /// Σ w·x·y and Σ w·x², in units of [`spread`].
    products: f64,
    squares: f64,
    adopted: PlayerMap<Adopted>,
}

impl Default for Elsewhere {
    fn default() -> Self {
        Self {
            products: PART * CAUTION,
            squares: CAUTION,
            adopted: PlayerMap::default(),
        }
    }
}

/// The variance with which strengths are measured, so that players are compared in the same way in all systems.
fn spread(scale: Scale) -> f64 {
    let deviation = Scale::UNCERTAIN * scale.unit();
    deviation * deviation
}

impl Elsewhere {
    /// ρ, 0 to 1.
    fn part(&self) -> f64 {
        (self.products / self.squares).clamp(0.0, 1.0)
    }

    /// The prior of a player of whom this is known; `unknown` is the prior without it.
    pub fn prior(&self, known: Known, unknown: Strength) -> Strength {
        match known.near {
            Some(_) => known.strength,
            None => known.strength.faded(self.part(), unknown),
        }
    }

    /// Notes the prior of a player as the rating system has taken it, to compare it later.
    pub fn note(&mut self, player: Player, known: Known, unknown: Strength, prior: Strength) {
        let adopted = Adopted {
            known: known.strength,
            near: known.near,
            unknown,
            prior,
        };
        self.adopted.set(player, adopted);
    }

    /// Whether a player's strength began with what is known elsewhere, and the weight that was taken over as it is; kept
    /// until both are compared with games of their own.
    pub fn of(&self, player: Player) -> Option<Option<f64>> {
        self.adopted.get(player).map(|own| own.near)
    }

    /// Compares what was known of a player with the estimate after [`SETTLED`] games of their own.
    pub fn compare(&mut self, player: Player, after: Strength, scale: Scale) {
        let adopted = self.adopted.remove(player);
        let Some(adopted) = adopted.filter(|own| own.near.is_none()) else {
            return;
        };
        let spread = spread(scale);
        let Some(own) = own_games(adopted.prior, after, spread) else {
            return;
        };
        let most = UNITS * scale.unit(); // beyond it, all weights are 0 or 100
        let known = adopted.known.mean - adopted.unknown.mean;
        let shown = (own.mean - adopted.unknown.mean).clamp(-most, most);
        let weight = spread / (spread + own.variance());
        self.products += weight * known * shown / spread;
        self.squares += weight * known * known / spread;
    }
}

/// What a player's [`SETTLED`] own games say by themselves: the estimate after them without the prior. `None` if they
/// have not made the estimate surer.
fn own_games(prior: Strength, after: Strength, spread: f64) -> Option<Strength> {
    if after.deviation > 0.0 {
        let precision = 1.0 / after.variance() - 1.0 / prior.variance();
        let sum = after.mean / after.variance() - prior.mean / prior.variance();
        let surer = precision.is_finite() && precision > 0.0;
        return surer.then(|| Strength {
            mean: sum / precision,
            deviation: libm::sqrt(1.0 / precision),
        });
    }
    let games = f64::from(SETTLED);
    let moved = games / (games + EQUAL);
    Some(Strength {
        mean: prior.mean + (after.mean - prior.mean) / moved,
        deviation: libm::sqrt(spread * EQUAL / games),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: Scale = Scale::Strengths {
        newcomer: 0.0,
        unit: 1.0,
    };

    fn strength(mean: f64, deviation: f64) -> Strength {
        Strength { mean, deviation }
    }

    fn nobody() -> Strength {
        Strength::prior(0.9)
    }

    fn far(mean: f64) -> Known {
        Known {
            strength: strength(mean, 0.3),
            near: None,
        }
    }

    #[test]
    fn a_prior_is_half_of_what_is_known_at_first_and_less_sure() {
        let elsewhere = Elsewhere::default();
        let prior = elsewhere.prior(far(2.0), nobody());
        assert_eq!(prior.mean, 1.0);
        let variance = 0.25 * 0.09 + 0.75 * 0.81;
        assert!((prior.variance() - variance).abs() < 1e-12);
        let near = Known {
            near: Some(60.0),
            ..far(2.0)
        };
        assert_eq!(elsewhere.prior(near, nobody()), near.strength);
        // Somebody whom an operator has started at 1.
        let stated = elsewhere.prior(far(2.0), strength(1.0, 0.45));
        assert_eq!(stated.mean, 1.5);
    }

    #[test]
    fn own_games_are_what_is_left_without_the_prior() {
        // Two Gaussians of the same deviation: their mean is in the middle, with half of the variance.
        let after = strength(1.5, 0.5_f64.sqrt());
        let own = own_games(strength(1.0, 1.0), after, 0.81).unwrap();
        assert!((own.mean - 2.0).abs() < 1e-9 && (own.deviation - 1.0).abs() < 1e-9);
        assert_eq!(
            own_games(strength(1.0, 1.0), strength(1.0, 1.1), 0.81),
            None
        );
        // Without deviations, ten games move the estimate a third of the way.
        let own = own_games(strength(1.0, 0.0), strength(1.5, 0.0), 0.81).unwrap();
        assert!((own.mean - 2.5).abs() < 1e-12, "{own:?}");
        assert!((own.variance() - 1.62).abs() < 1e-12);
    }

    /// The part after `players` players whose own strength is `truth` times what is known of them.
    fn learned(players: u32, truth: f64, deviation: f64) -> f64 {
        let mut elsewhere = Elsewhere::default();
        for number in 0..players {
            let player = Player(number);
            let known = far([-1.5, -0.5, 0.5, 1.5][number as usize % 4]);
            let prior = elsewhere.prior(known, nobody());
            let prior = strength(prior.mean, deviation * prior.deviation);
            elsewhere.note(player, known, nobody(), prior);
            let own = strength(truth * known.strength.mean, 1.0);
            let after = match deviation > 0.0 {
                true => prior.with(own),
                false => strength(prior.mean + (own.mean - prior.mean) / 3.0, 0.0),
            };
            elsewhere.compare(player, after, SCALE);
        }
        elsewhere.part()
    }

    #[test]
    fn the_part_is_learned_from_players_in_both() {
        for deviation in [1.0, 0.0] {
            assert_eq!(learned(0, 1.0, deviation), PART);
            assert!((learned(3, 1.0, deviation) - PART).abs() < 0.2, "cautious");
            for truth in [0.0, 0.3, 0.5, 0.9] {
                let part = learned(400, truth, deviation);
                assert!((part - truth).abs() < 0.03, "{deviation} {truth} {part}");
            }
            assert_eq!(learned(400, -1.0, deviation), 0.0);
            assert_eq!(learned(400, 2.0, deviation), 1.0);
        }
    }
}
