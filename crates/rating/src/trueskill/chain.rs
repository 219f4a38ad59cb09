//! Expectation propagation over the chain of neighbouring places.

use std::cmp::Ordering;

use crate::normal::{self, Moments};

/// A team's performance, or the level of a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gaussian {
    pub(super) mean: f64,
    pub(super) variance: f64,
}

/// A Gaussian by precision and precision times mean: multiplying two densities adds these.
#[derive(Clone, Copy, Debug, Default)]
struct Natural {
    precision: f64,
    weighted: f64,
}

impl Natural {
    fn of(g: Gaussian) -> Self {
        Self {
            precision: 1.0 / g.variance,
            weighted: g.mean / g.variance,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            precision: self.precision + other.precision,
            weighted: self.weighted + other.weighted,
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            precision: self.precision - other.precision,
            weighted: self.weighted - other.weighted,
        }
    }

    fn gaussian(self) -> Gaussian {
        Gaussian {
            mean: self.weighted / self.precision,
            variance: 1.0 / self.precision,
        }
    }
}

/// Teams and levels, and the results between them. No results form a circle.
#[derive(Clone, Debug)]
pub(super) struct Links {
    priors: Vec<Gaussian>,
    pairs: Vec<(usize, usize, Ordering)>,
    margins: Vec<f64>,
}

impl Links {
    /// These teams, without results.
    pub(super) fn between(teams: &[Gaussian]) -> Self {
        Self {
            priors: teams.to_vec(),
            pairs: Vec::new(),
            margins: Vec::new(),
        }
    }

    /// Adds a level, and returns its number.
    pub(super) fn add(&mut self, level: Gaussian) -> usize {
        self.priors.push(level);
        self.priors.len() - 1
    }

    /// Adds a result.
    pub(super) fn join(&mut self, a: usize, b: usize, result: Ordering, margin: f64) {
        self.pairs.push((a, b, result));
        self.margins.push(margin);
    }

    /// Expectation propagation: repeats each result's messages to its two ends until none changes. Returns the
    /// teams, and then the levels. O(sweeps · results).
    pub(super) fn propagate(&self) -> Vec<Gaussian> {
        /// The most sweeps. Each reduces the change about tenfold; many ties need the most.
        const SWEEPS: usize = 100;
        /// So small that it does not show in which order the teams of a place were listed.
        const SETTLED: f64 = 1e-13;
        let Self {
            priors,
            pairs,
            margins,
        } = self;
        let mut teams: Vec<Natural> = priors.iter().copied().map(Natural::of).collect();
        let mut messages = vec![(Natural::default(), Natural::default()); pairs.len()];
        for _ in 0..SWEEPS {
            let mut change = 0.0_f64;
            let forth = 0..pairs.len();
            for k in forth.clone().chain(forth.rev()) {
                let (a, b, result) = pairs[k];
                let (left, right) = (teams[a].minus(messages[k].0), teams[b].minus(messages[k].1));
                let (l, r) = (left.gaussian(), right.gaussian());
                let (mean, variance) = (l.mean - r.mean, l.variance + r.variance);
                let c = libm::sqrt(variance);
                let moments = truncated(mean / c, margins[k] / c, result);
                // First the message about the difference d, then those about its ends: left = d +
                // right.
                let kept = (1.0 - moments.w).max(1e-9);
                let d = Natural {
                    precision: (1.0 / kept - 1.0).max(1e-12) / variance,
                    weighted: ((mean + c * moments.v) / kept - mean) / variance,
                }
                .gaussian();
                let to_left = Natural::of(Gaussian {
                    mean: r.mean + d.mean,
                    variance: r.variance + d.variance,
                });
                let to_right = Natural::of(Gaussian {
                    mean: l.mean - d.mean,
                    variance: l.variance + d.variance,
                });
                change = change.max((to_left.weighted - messages[k].0.weighted).abs());
                messages[k] = (to_left, to_right);
                (teams[a], teams[b]) = (left.plus(to_left), right.plus(to_right));
            }
            if change < SETTLED {
                break;
            }
        }
        teams.into_iter().map(Natural::gaussian).collect()
    }
}

/// [`normal::truncated`], but a tie that was hardly expected is found where the distribution is exact, in its lower tail.
fn truncated(t: f64, margin: f64, result: Ordering) -> Moments {
    match result {
        Ordering::Equal if t < 0.0 => {
            let Moments { v, w } = normal::truncated(-t, margin, result);
            Moments { v: -v, w }
        }
        _ => normal::truncated(t, margin, result),
    }
}
