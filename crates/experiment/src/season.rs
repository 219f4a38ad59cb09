//! Made-up seasons, in which the truth is known: how often an experiment without any effect gives a false alarm, and how many
//! matches it takes to find one.

use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};

use crate::{Arm, ArmShare, Baseline, ConfidenceSequence, ExperimentError};

/// The most seasons, and the most matches of each.
pub const MOST: u32 = 100_000;
/// The distance from the mean in standard deviations that a normal variable exceeds, to both sides together, in 5 %.
const TWO_SIDED_5: f64 = 1.959_963_984_540_054;
/// The one that it exceeds, to one side, in 20 %: for a power of 80 %.
const POWER_80: f64 = 0.841_621_233_572_914;

/// Which seasons to play. Somebody looks after each match, and stops at the first verdict that is sure.
#[derive(Clone, Copy, Debug)]
pub struct ExperimentSeasons {
    /// The number of seasons.
    pub seasons: u32,
    /// The most matches of a season, both arms together.
    pub matches: u32,
    /// The share of arm B.
    pub share: ArmShare,
    /// How often an alarm may be false.
    pub level: f64,
    /// Where the random numbers come from.
    pub seed: u64,
}

/// How soon experiments have stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoppingTimes {
    /// The number of matches at which half of the seasons had stopped; `None` if fewer did.
    pub median: Option<u32>,
    /// The number of matches at which four fifths had stopped: what a test with a power of 80 % is compared with.
    pub four_fifths: Option<u32>,
    /// The number of seasons that stopped.
    pub stopped: u32,
}

impl ExperimentSeasons {
    /// The number of seasons with a false alarm, if the outcome happens at this rate in both arms.
    ///
    /// # Errors
    /// Fails if a number is out of its range.
    pub fn null_alarms(&self, rate: f64) -> Result<u32, ExperimentError> {
        Ok(self.stopping(rate, rate)?.stopped)
    }

    /// How soon a difference of these rates is found.
    ///
    /// # Errors
    /// Fails if a number is out of its range.
    pub fn stopping(&self, rate_a: f64, rate_b: f64) -> Result<StoppingTimes, ExperimentError> {
        let (rate_a, rate_b) = (crate::checked(rate_a)?, crate::checked(rate_b)?);
        let bounds = 1..=MOST;
        if !bounds.contains(&self.seasons) || !bounds.contains(&self.matches) {
            return Err(ExperimentError::Seasons);
        }
        let new = ConfidenceSequence::of_zero(self.share, self.level)?;
        let mut coin = Coin::new(self.seed);
        let mut times = Vec::new();
        for _ in 0..self.seasons {
            times.extend(self.season(&mut coin, new.clone(), rate_a, rate_b)?);
        }
        times.sort_unstable();
        let seasons = self.seasons as usize;
        Ok(StoppingTimes {
            median: times.get(seasons.div_ceil(2) - 1).copied(),
            four_fifths: times.get((4 * seasons).div_ceil(5) - 1).copied(),
            stopped: times.len() as u32,
        })
    }

    /// The match after which the effect could not be 0.
    fn season(
        &self,
        coin: &mut Coin,
        mut sequence: ConfidenceSequence,
        rate_a: f64,
        rate_b: f64,
    ) -> Result<Option<u32>, ExperimentError> {
        let mut baseline = Baseline::new(0)?;
        for number in 1..=self.matches {
            let (arm, outcome) = coin.play(self.share, rate_a, rate_b);
            sequence.add(arm, outcome, baseline.predict(&[])?)?;
            baseline.learn(&[], arm, self.share, outcome)?;
            // A verdict needs two matches; one never suffices, since no bet gains so much.
            if sequence.higher().is_some() {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }
}

/// The matches of both arms together, half of them each, that a test needs which looks only once: with them it finds the
/// difference in 80 % of all cases, and one that is none in 5 %. It is the usual normal approximation (Fleiss, "Statistical
/// methods for rates and proportions", without the correction for continuity).
///
/// # Errors
/// Fails if a rate is not in 0 to 1, or they are equal.
pub fn fixed_size(rate_a: f64, rate_b: f64) -> Result<u64, ExperimentError> {
    let (rate_a, rate_b) = (crate::checked(rate_a)?, crate::checked(rate_b)?);
    let effect = rate_b - rate_a;
    if effect == 0.0 {
        return Err(ExperimentError::NoEffect);
    }
    let variances = rate_a * (1.0 - rate_a) + rate_b * (1.0 - rate_b);
    let distance = (TWO_SIDED_5 + POWER_80) / effect;
    // Rates of 0 and 1 have no variance, but a test needs a match of each arm.
    Ok(2 * ((distance * distance * variances).ceil() as u64).max(1))
}

/// Draws arms and outcomes.
#[derive(Debug)]
pub(crate) struct Coin(ChaCha8Rng);

impl Coin {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A match: its arm, and 1 if the outcome happened, which it does at a rate for each arm.
    pub(crate) fn play(&mut self, share: ArmShare, rate_a: f64, rate_b: f64) -> (Arm, f64) {
        let (arm, rate) = match self.unit() < share.of(Arm::B) {
            true => (Arm::B, rate_b),
            false => (Arm::A, rate_a),
        };
        (arm, f64::from(self.unit() < rate))
    }

    /// A number uniform in [0, 1), on multiples of 2^-53.
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seasons(seasons: u32, matches: u32) -> ExperimentSeasons {
        ExperimentSeasons {
            seasons,
            matches,
            share: ArmShare::HALF,
            level: 0.05,
            seed: 20_261_201,
        }
    }

    /// A look after every match, at most 5 % alarms.
    #[test]
    fn a_thousand_seasons_without_an_effect_have_few_alarms() {
        for rate in [0.05, 0.22, 0.5] {
            let alarms = seasons(1_000, 600).null_alarms(rate).unwrap();
            println!("{rate} in both arms, 600 matches: {alarms} of 1000 alarms");
            assert!(alarms <= 50);
        }
        let share = ArmShare::new(0.2).unwrap();
        let unequal = ExperimentSeasons {
            share,
            ..seasons(1_000, 600)
        };
        assert!(unequal.null_alarms(0.22).unwrap() <= 50);
    }

    /// At most 1.6 times the matches of a test that looks once. The figures of the README are these.
    #[test]
    fn a_thousand_seasons_with_an_effect_stop_soon() {
        for (rate_a, rate_b) in [(22, 5), (19, 10)] {
            let (a, b) = (f64::from(rate_a) / 100.0, f64::from(rate_b) / 100.0);
            let times = seasons(1_000, 5_000).stopping(a, b).unwrap();
            let fixed = fixed_size(a, b).unwrap();
            let (median, four_fifths) = (times.median.unwrap(), times.four_fifths.unwrap());
            assert_eq!(times.stopped, 1_000);
            assert!(f64::from(median) <= 1.6 * fixed as f64);
            let row = format!("| {rate_a} → {rate_b} % | {fixed} | {median} | {four_fifths} |");
            assert!(include_str!("../README.md").contains(&row), "{row}");
        }
        let none = seasons(20, 10).stopping(0.22, 0.2).unwrap();
        assert_eq!((none.median, none.stopped), (None, 0));
    }

    #[test]
    #[ignore = "long: 15 million matches without optimisation"]
    fn long_seasons_without_an_effect_have_few_alarms() {
        for rate in [0.05, 0.22, 0.5] {
            let alarms = seasons(1_000, 5_000).null_alarms(rate).unwrap();
            println!("{rate} in both arms, 5000 matches: {alarms} of 1000 alarms");
            assert!(alarms <= 50);
        }
    }

    #[test]
    fn the_fixed_test_has_the_size_of_the_textbook() {
        assert_eq!(fixed_size(0.22, 0.05).unwrap(), 120);
        assert_eq!(fixed_size(0.19, 0.1).unwrap(), 474);
        assert_eq!(fixed_size(0.0, 1.0).unwrap(), 2);
        assert!(fixed_size(0.2, 0.2).is_err() && fixed_size(0.2, f64::NAN).is_err());
    }

    #[test]
    fn a_seed_gives_the_same_seasons() {
        let times = |seed| {
            ExperimentSeasons {
                seed,
                ..seasons(30, 400)
            }
            .stopping(0.22, 0.05)
        };
        assert_eq!(times(1).unwrap(), times(1).unwrap());
        assert_ne!(times(1).unwrap(), times(2).unwrap());
    }

    #[test]
    fn seasons_out_of_range_are_refused() {
        for (count, matches) in [(0, 10), (10, 0), (MOST + 1, 10), (10, MOST + 1)] {
            assert!(seasons(count, matches).null_alarms(0.2).is_err());
        }
        assert!(seasons(1, 1).null_alarms(1.1).is_err());
        let level = ExperimentSeasons {
            level: 0.0,
            ..seasons(1, 1)
        };
        assert!(level.null_alarms(0.2).is_err());
    }
}
