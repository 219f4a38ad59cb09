//! What an experiment says about its outcomes.
//!
//! One outcome was named before: the primary one. Only it gets a verdict, at the whole level of 5 %. Who looks at five
//! outcomes and reports the best one finds something in a fifth of all experiments without any effect; so the
//! others are shown, with intervals at a quarter of the level, and are never judged.

use crate::{Arm, ArmShare, Baseline, ConfidenceSequence, ExperimentError};

/// How often the verdict on the primary outcome may be wrong.
pub const LEVEL: f64 = 0.05;
/// The level of the others' intervals: there are up to four of them.
pub const SECONDARY_LEVEL: f64 = LEVEL / 4.0;
/// With fewer matches nothing is said.
pub const LEAST_MATCHES: u64 = 2;

/// One outcome of the matches of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct FollowedOutcome {
    share: ArmShare,
    primary: bool,
    baseline: Baseline,
    sequence: ConfidenceSequence,
    /// Of each arm: the number of matches, and the sum of the outcomes.
    totals: [(u64, f64); 2],
}

/// What the matches so far show about an outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutcomeSummary {
    /// The number of matches of arms A and B.
    pub matches: [u64; 2],
    /// The mean outcome of arms A and B; `None` without a match.
    pub means: [Option<f64>; 2],
    /// The ends of the interval of the effect, the mean of arm B minus that of arm A.
    pub interval: (f64, f64),
}

/// The verdict on the primary outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExperimentVerdict {
    /// The arm in which the outcome is more frequent; `None` as long as it is not sure.
    pub higher: Option<Arm>,
    /// The numbers behind it.
    pub summary: OutcomeSummary,
}

impl FollowedOutcome {
    /// The outcome that gets the verdict. `features` is the number of features that each match has.
    ///
    /// # Errors
    /// Fails as [`Baseline::new`].
    pub fn primary(share: ArmShare, features: usize) -> Result<Self, ExperimentError> {
        Self::new(share, features, true)
    }

    /// An outcome that is shown, and gets none.
    ///
    /// # Errors
    /// Fails as [`Baseline::new`].
    pub fn secondary(share: ArmShare, features: usize) -> Result<Self, ExperimentError> {
        Self::new(share, features, false)
    }

    fn new(share: ArmShare, features: usize, primary: bool) -> Result<Self, ExperimentError> {
        let level = if primary { LEVEL } else { SECONDARY_LEVEL };
        Ok(Self {
            share,
            primary,
            baseline: Baseline::new(features)?,
            sequence: ConfidenceSequence::new(share, level)?,
            totals: [(0, 0.0); 2],
        })
    }

    /// Takes in the next match. `features` must have been known before the arm was drawn: who is there, but never which
    /// teams were picked. `outcome` is from 0 to 1; for what happens or not, it is 1 or 0.
    ///
    /// # Errors
    /// Fails if a number is not what it must be. Then nothing changes.
    pub fn add(&mut self, arm: Arm, features: &[f64], outcome: f64) -> Result<(), ExperimentError> {
        // First predict, then learn: the prediction must not know the outcome.
        let expected = self.baseline.predict(features)?;
        self.baseline.learn(features, arm, self.share, outcome)?;
        self.sequence.add(arm, outcome, expected)?;
        let (matches, sum) = &mut self.totals[arm as usize];
        *matches += 1;
        *sum += outcome;
        Ok(())
    }

    /// The numbers so far.
    pub fn summary(&self) -> OutcomeSummary {
        OutcomeSummary {
            matches: self.totals.map(|(matches, _)| matches),
            means: self.totals.map(|(matches, sum)| match matches {
                0 => None,
                _ => Some(sum / matches as f64),
            }),
            interval: self.sequence.interval(),
        }
    }

    /// The verdict; `None` if this is not the primary outcome, or there are fewer than [`LEAST_MATCHES`].
    pub fn verdict(&self) -> Option<ExperimentVerdict> {
        let judged = self.primary && self.sequence.matches() >= LEAST_MATCHES;
        judged.then(|| ExperimentVerdict {
            higher: self.sequence.higher(),
            summary: self.summary(),
        })
    }
}

impl ExperimentVerdict {
    /// Whether the experiment may stop.
    pub fn is_sure(&self) -> bool {
        self.higher.is_some()
    }

    /// The verdict as a sentence, of an outcome that happens or not. `policies` says whose matches those of arms A and B
    /// are, such as `random teams` and `Evenkeel's teams`; `outcome` says what they do, such as `end one-sided`.
    pub fn sentence(&self, policies: [&str; 2], outcome: &str) -> String {
        let ([of_a, of_b], [policy_a, policy_b]) = (self.summary.matches, policies);
        let [a, b] = self.percentages();
        let all = of_a + of_b;
        if let Some(at) = [of_a, of_b].iter().position(|matches| *matches == 0) {
            return format!(
                "Not sure yet: {} have no match so far; {all} matches",
                policies[at]
            );
        }
        let how = match self.higher {
            Some(Arm::A) => "less often",
            Some(Arm::B) => "more often",
            None => {
                let (low, high) = self.summary.interval;
                return format!(
                    "Not sure yet: {policy_b} {outcome} in {b} of {of_b} matches, {policy_a} in {a} of {of_a}; \
                     the difference is from {} to {} percentage points",
                    points(low),
                    points(high),
                );
            }
        };
        format!("{policy_b} {outcome} {how}: {b} against {a}, sure enough to stop; {all} matches")
    }

    /// Both means, with a decimal if they would look the same without.
    fn percentages(&self) -> [String; 2] {
        let write = |decimals: usize| {
            let means = self.summary.means.map(Option::unwrap_or_default);
            means.map(|mean| format!("{:.decimals$} %", 100.0 * mean))
        };
        let [a, b] = write(0);
        if a == b { write(1) } else { [a, b] }
    }
}

/// A difference in percentage points, with its sign.
pub fn points(difference: f64) -> String {
    match 100.0 * difference {
        points if points.abs() < 0.05 => "0".to_owned(),
        points if points < 0.0 => format!("−{:.1}", -points),
        points => format!("+{points:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::season::Coin;

    const POLICIES: [&str; 2] = ["random teams", "Evenkeel's teams"];

    fn after(
        matches: u64,
        rate_a: f64,
        rate_b: f64,
        mut outcome: FollowedOutcome,
    ) -> FollowedOutcome {
        let mut coin = Coin::new(11);
        for _ in 0..matches {
            let (arm, happened) = coin.play(ArmShare::HALF, rate_a, rate_b);
            outcome.add(arm, &[], happened).unwrap();
        }
        outcome
    }

    fn primary() -> FollowedOutcome {
        FollowedOutcome::primary(ArmShare::HALF, 0).unwrap()
    }

    #[test]
    fn a_sure_verdict_says_so() {
        for (rate_a, rate_b, how) in [(0.3, 0.05, "less"), (0.05, 0.3, "more")] {
            let outcome = after(190, rate_a, rate_b, primary());
            let verdict = outcome.verdict().unwrap();
            assert!(verdict.is_sure());
            let [a, b] = verdict.summary.means.map(|mean| 100.0 * mean.unwrap());
            let expected = format!(
                "Evenkeel's teams end one-sided {how} often: {b:.0} % against {a:.0} %, sure enough to stop; 190 matches"
            );
            assert_eq!(verdict.sentence(POLICIES, "end one-sided"), expected);
        }
    }

    #[test]
    fn one_that_is_not_sure_gives_the_interval() {
        let mut outcome = primary();
        outcome.add(Arm::B, &[], 0.0).unwrap();
        assert_eq!(outcome.verdict(), None);
        outcome.add(Arm::B, &[], 1.0).unwrap();
        let verdict = outcome.verdict().unwrap();
        assert!(!verdict.is_sure());
        assert_eq!(
            verdict.sentence(POLICIES, "end one-sided"),
            "Not sure yet: random teams have no match so far; 2 matches"
        );
        let verdict = after(80, 0.2, 0.2, primary()).verdict().unwrap();
        let sentence = verdict.sentence(POLICIES, "end one-sided");
        let OutcomeSummary {
            matches,
            means,
            interval,
        } = verdict.summary;
        let [a, b] = means.map(|mean| 100.0 * mean.unwrap());
        assert!(!verdict.is_sure() && interval.0 < 0.0 && interval.1 > 0.0);
        assert_eq!(
            sentence,
            format!(
                "Not sure yet: Evenkeel's teams end one-sided in {b:.0} % of {} matches, random teams in {a:.0} % of {}; \
                 the difference is from −{:.1} to +{:.1} percentage points",
                matches[1],
                matches[0],
                -100.0 * interval.0,
                100.0 * interval.1
            )
        );
        assert_eq!(points(0.0001), "0");
    }

    #[test]
    fn equal_percentages_get_a_decimal() {
        let summary = OutcomeSummary {
            matches: [5_000, 5_000],
            means: [Some(0.104), Some(0.096)],
            interval: (-0.01, -0.005),
        };
        let higher = Some(Arm::A);
        let verdict = ExperimentVerdict { higher, summary };
        assert_eq!(verdict.percentages(), ["10.4 %", "9.6 %"]);
    }

    #[test]
    fn a_secondary_outcome_is_shown_and_not_judged() {
        let secondary = FollowedOutcome::secondary(ArmShare::HALF, 0).unwrap();
        let (shown, judged) = (
            after(190, 0.3, 0.05, secondary),
            after(190, 0.3, 0.05, primary()),
        );
        assert_eq!(shown.verdict(), None);
        assert_eq!(shown.summary().means, judged.summary().means);
        let (wide, narrow) = (shown.summary().interval, judged.summary().interval);
        assert!(wide.0 < narrow.0 && narrow.1 < wide.1);
    }

    /// The outcome follows a feature; knowing it leaves less to chance.
    #[test]
    fn what_was_known_before_narrows_the_interval() {
        let width = |features: usize| {
            let mut coin = Coin::new(3);
            let mut outcome = FollowedOutcome::primary(ArmShare::HALF, features).unwrap();
            for n in 0..400 {
                let lobby = f64::from(n % 2) * 2.0 - 1.0;
                let rate = 0.5 + 0.45 * lobby;
                let (arm, happened) = coin.play(ArmShare::HALF, rate, rate);
                outcome.add(arm, &[lobby][..features], happened).unwrap();
            }
            let (low, high) = outcome.summary().interval;
            high - low
        };
        assert!(width(1) < 0.7 * width(0), "{} {}", width(1), width(0));
    }

    /// A prediction that had seen the outcome would hide the effect.
    #[test]
    fn each_match_is_predicted_before_it_is_learned_from() {
        let mut coin = Coin::new(4);
        let mut outcome = primary();
        let mut baseline = Baseline::new(0).unwrap();
        let mut sequence = ConfidenceSequence::new(ArmShare::HALF, LEVEL).unwrap();
        for _ in 0..60 {
            let (arm, happened) = coin.play(ArmShare::HALF, 0.9, 0.1);
            outcome.add(arm, &[], happened).unwrap();
            let expected = baseline.predict(&[]).unwrap();
            sequence.add(arm, happened, expected).unwrap();
            baseline.learn(&[], arm, ArmShare::HALF, happened).unwrap();
        }
        assert_eq!(outcome.sequence, sequence);
    }

    /// Half of the lobbies gain as much as the others lose: nothing on average, whatever is known of the lobby.
    #[test]
    fn effects_that_cancel_each_other_give_no_alarm() {
        let alarms = (0..60).filter(|&seed| {
            let (mut lobbies, mut coin) = (Coin::new(seed + 1_000), Coin::new(seed));
            let mut outcome = FollowedOutcome::primary(ArmShare::HALF, 1).unwrap();
            for _ in 0..250 {
                let (lobby, _) = lobbies.play(ArmShare::HALF, 0.0, 0.0);
                let sign = if lobby == Arm::B { 1.0 } else { -1.0 };
                let (arm, happened) = coin.play(ArmShare::HALF, 0.4 - 0.3 * sign, 0.4 + 0.3 * sign);
                outcome.add(arm, &[sign], happened).unwrap();
            }
            outcome.verdict().unwrap().is_sure()
        });
        assert!(alarms.count() <= 3);
    }

    #[test]
    fn a_match_that_is_refused_changes_nothing() {
        let mut outcome = FollowedOutcome::primary(ArmShare::HALF, 1).unwrap();
        let before = outcome.clone();
        for (features, happened) in [(&[][..], 1.0), (&[f64::NAN], 1.0), (&[0.0], 1.5)] {
            assert!(outcome.add(Arm::A, features, happened).is_err());
        }
        assert_eq!(outcome, before);
    }
}
