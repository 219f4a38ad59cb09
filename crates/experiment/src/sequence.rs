//! How much the mean outcomes of two arms differ: an interval that may be looked at after every match.
//!
//! A usual confidence interval is right at one number of matches, fixed before. Who looks after each match and stops at the
//! first success is wrong far more often than 5 %. A *confidence sequence* contains the true effect after all matches at
//! once, with probability 1 − level, from the first one to any last one; so somebody may stop whenever they like.
//!
//! # How it works
//!
//! A match with outcome y in [0, 1], of arm B with probability p, and with the baseline m that was predicted before its arm
//! was drawn, gives the number
//!
//! > x = (y − m) · (1/p if the arm is B, −1/(1 − p) if it is A)
//!
//! Its mean is the effect, whatever m is, since the arm is drawn without looking (Horvitz, Thompson 1952; in experiments
//! that are watched: Ham, Bojinov, Lindon, Tingley, "Design-based confidence sequences", 2022). It stays within ±b, where
//! b is 1 / the smaller share.
//!
//! For each supposed effect θ, two gamblers bet against it, one that the effect is larger and one that it is smaller.
//! With every match, the first one multiplies his money by
//!
//! > 1 + f · (x − θ) / (b + θ), where 0 ≤ f < 1 is the part that he may lose
//!
//! which is never negative, and has the mean 1 if the effect is θ: the money is a martingale. By Ville's inequality (1939)
//! somebody who began with ½ ever has 1/level with a probability of at most level/2. What has made a gambler so rich is
//! no longer supposed. This is the hedged capital process of Waudby-Smith and Ramdas, "Estimating means of bounded random
//! variables by betting", J. R. Stat. Soc. B 86 (2024), Theorem 3, moved from [0, 1] to [−b, b]. In the place of one
//! predicted bet, each gambler divides his money among several fixed f: the mean of martingales is a martingale, and
//! the bet that suits the effect soon has nearly all.
//!
//! The first gambler's money falls with θ, since (x − θ)/(b + θ) does. So it is enough to look at a grid: when θ
//! is refused, all below are.
//!
//! # What it says
//!
//! - An f never depends on the match: not on the lobby, not on m. So lobbies may differ in their effects; what
//!   is estimated is the mean effect over lobbies that come as they have come.
//! - If this mean changes with time, each end is still true of some match: an interval above 0 says that not all effects
//!   were 0 or below. It narrows to one step of the grid and stays there.

use crate::{Arm, ArmShare, ExperimentError};

/// The parts of his money that a gambler may lose in a match, and how he divides it among them at the start.
///
/// The small ones find small effects late, the large ones find large effects soon: `season::tests` measures when. The bets that
/// the paper predicts from earlier matches (aGRAPA, the plug-in, an online Newton step) found 19 → 10 % later than these.
const BETS: [(f64, f64); 6] = [
    (0.02, 1.0 / 14.0),
    (0.06, 1.0 / 14.0),
    (0.15, 2.0 / 14.0),
    (0.3, 4.0 / 14.0),
    (0.5, 4.0 / 14.0),
    (0.8, 2.0 / 14.0),
];
/// The grid divides [−1, 1] into steps of 1/400, a quarter of a percentage point. 0 is on it.
const STEPS: usize = 800;
const ZERO: usize = STEPS / 2;
/// Money below this is none. It has lost, could hardly come back, and such numbers are slow to compute with.
const NOTHING: f64 = 1e-250;

/// The interval of the effect: the mean outcome of arm B minus that of arm A.
///
/// A match costs at most two gamblers × 801 effects × 6 bets multiplications, and soon fewer: a refused
/// effect is left out.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfidenceSequence {
    share: ArmShare,
    matches: u64,
    /// Bets that the effect is larger.
    larger: Gambler,
    /// Bets that it is smaller: the same with all signs changed.
    smaller: Gambler,
}

impl ConfidenceSequence {
    /// A sequence that is wrong at some time with a probability of at most `level`, such as 0.05.
    ///
    /// # Errors
    /// Fails unless the level is above 0, and at most ½.
    pub fn new(share: ArmShare, level: f64) -> Result<Self, ExperimentError> {
        Self::over(share, level, 0, STEPS + 1)
    }

    /// A sequence that only asks whether the effect is 0: a thousandth of the work.
    pub(crate) fn of_zero(share: ArmShare, level: f64) -> Result<Self, ExperimentError> {
        Self::over(share, level, ZERO, ZERO + 1)
    }

    fn over(
        share: ArmShare,
        level: f64,
        first: usize,
        end: usize,
    ) -> Result<Self, ExperimentError> {
        if !(level > 0.0 && level <= 0.5) {
            return Err(ExperimentError::Level(level));
        }
        let bound = 1.0 / share.of(Arm::A).min(share.of(Arm::B));
        let gambler = Gambler {
            bound,
            goal: 2.0 / level,
            first,
            end,
            money: vec![BETS.map(|(_, part)| part); STEPS + 1],
        };
        Ok(Self {
            share,
            matches: 0,
            larger: gambler.clone(),
            smaller: gambler,
        })
    }

    /// Takes in a match: its outcome, and what was expected before its arm was drawn, both from 0 to 1.
    ///
    /// # Errors
    /// Fails if one of them is not in 0 to 1. Then nothing changes.
    pub fn add(&mut self, arm: Arm, outcome: f64, expected: f64) -> Result<(), ExperimentError> {
        let (outcome, expected) = (crate::checked(outcome)?, crate::checked(expected)?);
        let x = evidence(self.share, arm, outcome - expected);
        self.matches += 1;
        // What one has refused, the other one need not: so something always remains between them.
        self.larger.bet(x);
        self.smaller.end = self.smaller.end.min(STEPS + 1 - self.larger.first);
        self.smaller.bet(-x);
        self.larger.end = self.larger.end.min(STEPS + 1 - self.smaller.first);
        Ok(())
    }

    /// The number of matches.
    pub fn matches(&self) -> u64 {
        self.matches
    }

    /// The lower and the upper end, both rounded outwards to the grid. It never widens.
    pub fn interval(&self) -> (f64, f64) {
        (self.larger.refused(), -self.smaller.refused())
    }

    /// The arm with the higher mean, once the effect cannot be 0.
    pub fn higher(&self) -> Option<Arm> {
        match (self.larger.first > ZERO, self.smaller.first > ZERO) {
            (true, _) => Some(Arm::B),
            (_, true) => Some(Arm::A),
            _ => None,
        }
    }
}

/// Who bets that the effect is larger than each θ of a part of the grid.
#[derive(Clone, Debug, PartialEq)]
struct Gambler {
    /// No match gives a number beyond ± this.
    bound: f64,
    /// The money at which an effect is refused. He begins with 1 where the text above says ½, so it is twice as much.
    goal: f64,
    /// The effects that are still supposed: all before `first` are refused by him, those from `end` on by the other one.
    first: usize,
    end: usize,
    /// For each effect, what he has in each bet.
    money: Vec<[f64; BETS.len()]>,
}

impl Gambler {
    fn bet(&mut self, x: f64) {
        let mut first = self.first;
        for at in self.first..self.end {
            let gain = gain(self.bound, x, effect(at));
            let mut all = 0.0;
            for (money, (part, _)) in self.money[at].iter_mut().zip(BETS) {
                *money *= 1.0 + part * gain;
                if *money < NOTHING {
                    *money = 0.0;
                }
                all += *money;
            }
            if all >= self.goal {
                first = at + 1;
            }
        }
        self.first = first;
    }

    /// The largest refused effect.
    fn refused(&self) -> f64 {
        effect(self.first.saturating_sub(1))
    }
}

/// The number x of a match whose outcome is so much above what was expected. Its mean is the effect.
fn evidence(share: ArmShare, arm: Arm, surprise: f64) -> f64 {
    match arm {
        Arm::A => -surprise / share.of(arm),
        Arm::B => surprise / share.of(arm),
    }
}

/// The effect at a place of the grid.
fn effect(at: usize) -> f64 {
    (at as f64 - ZERO as f64) / ZERO as f64
}

/// What the bet that the effect is larger than θ gains per stake: at least −1, and 0 on average if the effect is θ.
fn gain(bound: f64, x: f64, theta: f64) -> f64 {
    (x - theta) / (bound + theta)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::season::Coin;

    fn half() -> ConfidenceSequence {
        ConfidenceSequence::new(ArmShare::HALF, 0.05).unwrap()
    }

    /// Both arms and both outcomes of a match, each with its probability: exactly, whatever the baseline is.
    #[test]
    fn money_has_the_mean_1_at_the_true_effect() {
        for (share, rate_a, rate_b, expected) in [
            (0.5, 0.22, 0.05, 0.1),
            (0.5, 0.5, 0.5, 0.0),
            (0.2, 0.1, 0.9, 1.0),
            (0.95, 1.0, 0.0, 0.3),
        ] {
            let share = ArmShare::new(share).unwrap();
            let bound = 1.0 / share.of(Arm::A).min(share.of(Arm::B));
            let theta = rate_b - rate_a;
            let mut mean = [0.0, 0.0];
            for (arm, rate) in [(Arm::A, rate_a), (Arm::B, rate_b)] {
                for (outcome, chance) in [(1.0, rate), (0.0, 1.0 - rate)] {
                    let x = evidence(share, arm, outcome - expected);
                    assert!(x.abs() <= bound);
                    let gains = [gain(bound, x, theta), gain(bound, -x, -theta)];
                    assert!(gains.iter().all(|gain| *gain >= -1.0));
                    for (mean, gain) in mean.iter_mut().zip(gains) {
                        *mean += share.of(arm) * chance * gain;
                    }
                }
            }
            assert!(mean.iter().all(|m| m.abs() < 1e-12), "{mean:?}");
        }
        let all: f64 = BETS.iter().map(|(_, part)| part).sum();
        assert!((all - 1.0).abs() < 1e-12);
    }

    /// What the grid leaves out is refused by the definition, computed anew for every θ from all matches.
    #[test]
    fn the_interval_is_that_of_the_definition() {
        let mut coin = Coin::new(5);
        let (mut sequence, mut xs) = (half(), Vec::new());
        let (mut low, mut high) = (-1.0_f64, 1.0_f64);
        for _ in 0..120 {
            let (arm, outcome) = coin.play(ArmShare::HALF, 0.8, 0.2);
            sequence.add(arm, outcome, 0.4).unwrap();
            xs.push((outcome - 0.4) * if arm == Arm::B { 2.0 } else { -2.0 });
            let money = |theta: f64, sign: f64| -> f64 {
                let bets = BETS.iter().map(|(part, share)| {
                    let gains = xs.iter().map(|x| gain(2.0, sign * x, sign * theta));
                    share * gains.map(|gain| 1.0 + part * gain).product::<f64>()
                });
                bets.sum()
            };
            for at in 0..=STEPS {
                let theta = effect(at);
                if money(theta, 1.0) >= 40.0 {
                    low = low.max(theta);
                }
                if money(theta, -1.0) >= 40.0 {
                    high = high.min(theta);
                }
            }
            assert_eq!(sequence.interval(), (low, high));
        }
        assert_eq!(sequence.higher(), Some(Arm::A));
        assert!(high < 0.0);
    }

    #[test]
    fn the_true_effect_stays_inside() {
        for (rate_a, rate_b, share) in [(0.22, 0.05, 0.5), (0.3, 0.6, 0.3), (0.9, 0.9, 0.5)] {
            let share = ArmShare::new(share).unwrap();
            let missed = (0..100).filter(|&seed| {
                let mut coin = Coin::new(seed);
                let mut sequence = ConfidenceSequence::new(share, 0.05).unwrap();
                for _ in 0..250 {
                    let (arm, outcome) = coin.play(share, rate_a, rate_b);
                    sequence.add(arm, outcome, 0.3).unwrap();
                }
                let (low, high) = sequence.interval();
                !(low..=high).contains(&(rate_b - rate_a))
            });
            let missed = missed.count();
            assert!(missed <= 5, "{rate_a} {rate_b}: {missed}");
        }
    }

    #[test]
    fn an_effect_that_turns_round_leaves_one_step() {
        let mut sequence = half();
        for n in 0..600 {
            let arm = if n % 2 == 0 { Arm::A } else { Arm::B };
            let outcome = f64::from((arm == Arm::B) == (n < 200));
            sequence.add(arm, outcome, 0.5).unwrap();
        }
        let (low, high) = sequence.interval();
        assert!(high > low && high - low < 0.003, "{low} {high}");
        assert_eq!(sequence.higher(), Some(Arm::B));
    }

    #[test]
    fn what_is_no_outcome_is_refused_and_changes_nothing() {
        let mut sequence = half();
        for wrong in [-0.01, 1.01, f64::NAN, f64::INFINITY] {
            assert!(sequence.add(Arm::A, wrong, 0.5).is_err());
            assert!(sequence.add(Arm::B, 0.5, wrong).is_err());
        }
        assert_eq!(sequence, half());
        for wrong in [0.0, -0.05, 0.51, f64::NAN] {
            assert!(ConfidenceSequence::new(ArmShare::HALF, wrong).is_err());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn an_interval_never_widens_and_comes_again(
            matches in prop::collection::vec((any::<bool>(), 0.0..=1.0, 0.0..=1.0), 0..200),
            of_b in 0.05..=0.95,
        ) {
            let share = ArmShare::new(of_b).unwrap();
            let new = ConfidenceSequence::new(share, 0.05).unwrap();
            let mut zero = ConfidenceSequence::of_zero(share, 0.05).unwrap();
            let mut sequence = new.clone();
            for (is_b, outcome, expected) in &matches {
                let before = sequence.interval();
                let arm = if *is_b { Arm::B } else { Arm::A };
                sequence.add(arm, *outcome, *expected).unwrap();
                zero.add(arm, *outcome, *expected).unwrap();
                let after = sequence.interval();
                prop_assert!(before.0 <= after.0 && after.1 <= before.1 && after.0 < after.1);
                prop_assert_eq!(sequence.higher().is_some(), after.0 >= 0.0 || after.1 <= 0.0);
                prop_assert_eq!(sequence.higher(), zero.higher());
            }
            let again = matches.iter().fold(new, |mut sequence, (is_b, outcome, expected)| {
                let arm = if *is_b { Arm::B } else { Arm::A };
                sequence.add(arm, *outcome, *expected).unwrap();
                sequence
            });
            prop_assert_eq!(again, sequence);
        }
    }

    /// `cargo test --release` says how long this takes.
    #[test]
    #[ignore = "for measuring"]
    fn a_hundred_thousand_matches() {
        let (mut coin, mut sequence) = (Coin::new(1), half());
        for _ in 0..100_000 {
            let (arm, outcome) = coin.play(ArmShare::HALF, 0.22, 0.2);
            sequence.add(arm, outcome, 0.21).unwrap();
        }
        let (low, high) = sequence.interval();
        assert!(
            low < -0.02 && -0.02 < high && high - low < 0.04,
            "{low} {high}"
        );
    }
}
