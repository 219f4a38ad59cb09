//! Expectation propagation over the chain of neighbouring teams.

use std::cmp::Ordering;

use crate::rating::normal;

/// A team's performance.
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

/// Expectation propagation over the chain of neighbouring teams: repeats each result's messages to
/// its two teams until none changes. O(sweeps · teams).
pub(super) fn propagate(
    priors: &[Gaussian],
    pairs: &[(usize, usize, Ordering)],
    margins: &[f64],
) -> Vec<Gaussian> {
    /// The most sweeps. Each reduces the change about tenfold; long chains of ties need the most.
    const SWEEPS: usize = 100;
    const SETTLED: f64 = 1e-10;
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
            let moments = normal::truncated(mean / c, margins[k] / c, result);
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
