//! Players who play far above a newcomer with few matches: perhaps another account of a known player.
//!
//! The estimate of a newcomer's strength after a few matches has mean m and deviation σ. If newcomers
//! are as the players of the ruleset turned out to be, with a standard deviation of τ around a
//! newcomer's strength, then m has the standard deviation √(τ² − σ²): what the matches have shown so far.
//! The statistic is z = m / √(τ² − σ²). It is comparable between players with few matches and with more,
//! because m stays near 0 as long as little is known. Of honest newcomers, 1 in 70 has 2.2 or more by the
//! normal distribution; `tests/suite/learning/suspects.rs` measures it.

use super::{People, RatingPool};
use crate::{Player, Strength, divisions::MeasuredPlayer, system::Scale};
use evenkeel_model::{PlayerKey, Ruleset};

/// The matches with which a player may be listed. Fewer show nothing, and with more a player is known.
const FEW: std::ops::RangeInclusive<u32> = 3..=20;
/// The matches from which on a player counts for how strong players turn out to be.
const SETTLED: u32 = 30;
/// The least statistic that is listed.
pub const THRESHOLD: f64 = 2.2;
/// The number of imagined players with a typical deviation, for a ruleset with few settled ones.
const IMAGINED: f64 = 10.0;
/// Their deviation, in [units](Scale) of weights.
const TYPICAL: f64 = 0.8;
/// The part of τ² that matches must have shown of a player. Below it, m is noise.
const SHOWN: f64 = 0.05;

/// A player who plays far above a newcomer with few matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// The ruleset of the matches.
    pub ruleset: Ruleset,
    /// The identity of the player.
    pub key: PlayerKey,
    /// The name in the latest match.
    pub name: String,
    /// Number of rated matches.
    pub games: u32,
    /// The weight, 0 to 100.
    pub weight: f64,
    /// How many standard deviations of newcomers after as many matches the estimate is above their mean.
    pub statistic: f64,
}

impl RatingPool {
    /// The humans who play far above a newcomer with few matches, the most striking first.
    pub(super) fn suspects(&self, ruleset: &Ruleset, people: &People) -> Vec<Suspect> {
        let Scale::Strengths { unit, .. } = self.system.scale() else {
            return Vec::new(); // the weights of the system have no deviations
        };
        let is_human = |player: &Player| people.is_human(*player);
        let humans = self.players().filter(is_human);
        let humans: Vec<MeasuredPlayer> = humans.filter_map(|p| self.measured(p)).collect();
        let settled = humans.iter().filter(|human| human.games >= SETTLED);
        let variance = spread(
            settled.filter_map(|human| self.estimate(human.player)),
            unit,
        );
        let few = humans.iter().filter(|human| FEW.contains(&human.games));
        let suspect = |human: &MeasuredPlayer| {
            let statistic = statistic(self.estimate(human.player)?, variance)?;
            let person = people.get(human.player)?;
            (statistic >= THRESHOLD).then(|| Suspect {
                ruleset: ruleset.clone(),
                key: person.key.clone(),
                name: person.name().to_owned(),
                games: human.games,
                weight: human.weight,
                statistic,
            })
        };
        let mut suspects: Vec<Suspect> = few.filter_map(suspect).collect();
        suspects.sort_by(|a, b| b.statistic.total_cmp(&a.statistic).then(a.key.cmp(&b.key)));
        suspects
    }
}

/// The mean square of how far players turn out to be from a newcomer.
fn spread(settled: impl Iterator<Item = Strength>, unit: f64) -> f64 {
    let typical = TYPICAL * unit;
    let (mut sum, mut count) = (IMAGINED * typical * typical, IMAGINED);
    for strength in settled {
        sum += strength.mean * strength.mean + strength.variance();
        count += 1.0;
    }
    sum / count
}

/// The statistic of an estimate; `None` where matches have shown next to nothing.
fn statistic(above: Strength, variance: f64) -> Option<f64> {
    let shown = variance - above.variance();
    (shown > SHOWN * variance).then(|| above.mean / libm::sqrt(shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strength(mean: f64, deviation: f64) -> Strength {
        Strength { mean, deviation }
    }

    #[test]
    fn the_statistic_is_the_distance_in_deviations_of_what_was_shown() {
        let z = |mean, deviation| statistic(strength(mean, deviation), 1.0);
        assert_eq!(z(0.8, 0.6), Some(1.0));
        assert_eq!(z(-1.6, 0.6), Some(-2.0));
        assert_eq!(z(0.5, 0.99), None, "nothing is known");
        assert_eq!(z(0.5, 2.0), None, "less than nothing");
        assert_eq!(z(2.5, 0.0), Some(2.5), "a system without deviations");
    }

    #[test]
    fn few_settled_players_say_little_of_newcomers() {
        let none = spread(std::iter::empty(), 0.5);
        assert!((none - 0.16).abs() < 1e-12);
        let ten = spread(std::iter::repeat_n(strength(1.0, 0.0), 10), 0.5);
        assert!((ten - 0.58).abs() < 1e-12);
    }
}
