//! Compares the filter with dense quadrature, and with TrueSkill.

use super::*;
use crate::System;
use crate::testing::{game, strengths};
use crate::{Player, trueskill};
use evenkeel_model::units::{Amount, PositiveAmount, ShareBelowOne};

const PRIOR: Prior = Prior {
    skill: 0.8,
    drift: 0.0,
    days: 7.0,
};

/// A filter of players with these means and deviations.
fn players(strengths: &[(f64, f64)]) -> Filter {
    let mut filter = Filter::default();
    for &(mean, deviation) in strengths {
        filter.add(Strength { mean, deviation });
    }
    filter
}

fn row(factors: &[f64]) -> MatchRow {
    MatchRow {
        known: factors.iter().copied().enumerate().collect(),
        new: vec![],
    }
}

fn learn(filter: &mut Filter, factors: &[f64], observed: Observation) {
    let mut gain = Vec::new();
    let latent = filter.latent(&row(factors), &PRIOR, &mut gain);
    filter.learn(observed, latent, &gain, &[], None);
}

/// Means and covariances by summing likelihood times prior density over a grid.
fn by_quadrature(
    prior: &Filter,
    factors: &[f64],
    observed: Observation,
) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = prior.width();
    let (mass, first, second) = sums(prior, n, &|x| {
        let d: f64 = factors.iter().zip(x).map(|(a, x)| a * x).sum();
        match observed {
            Observation::Sign(sign) => normal::cdf(sign * d),
            Observation::Within(Tie { margin, .. }) => {
                normal::cdf(margin - d) - normal::cdf(-margin - d)
            }
            Observation::Value(value) => normal::pdf(value - d),
        }
    });
    let mean: Vec<f64> = first.iter().map(|s| s / mass).collect();
    let covariance = |i: usize, j: usize| second[i][j] / mass - mean[i] * mean[j];
    let rows = (0..n).map(|i| (0..n).map(|j| covariance(i, j)).collect());
    (mean.clone(), rows.collect())
}

type Sums = (f64, Vec<f64>, Vec<Vec<f64>>);

/// Sums over a grid of points of independent standard normals, mapped to the prior by its Cholesky factor.
fn sums(prior: &Filter, n: usize, likelihood: &dyn Fn(&[f64]) -> f64) -> Sums {
    const STEPS: usize = 81;
    const REACH: f64 = 6.0;
    let factor = cholesky(prior);
    let axis: Vec<f64> = (0..STEPS)
        .map(|k| REACH * (2.0 * k as f64 / (STEPS - 1) as f64 - 1.0))
        .collect();
    let (mut mass, mut first, mut second) = (0.0, vec![0.0; n], vec![vec![0.0; n]; n]);
    for point in 0..STEPS.pow(u32::try_from(n).unwrap()) {
        let z: Vec<f64> = (0..n)
            .scan(point, |rest, _| {
                let k = *rest % STEPS;
                *rest /= STEPS;
                Some(axis[k])
            })
            .collect();
        let density: f64 = z.iter().map(|z| normal::pdf(*z)).product();
        let x: Vec<f64> = (0..n)
            .map(|i| {
                let shift: f64 = (0..=i).map(|j| factor[i][j] * z[j]).sum();
                prior.mean(i) + shift
            })
            .collect();
        let weight = density * likelihood(&x);
        mass += weight;
        for i in 0..n {
            first[i] += weight * x[i];
            for j in 0..n {
                second[i][j] += weight * x[i] * x[j];
            }
        }
    }
    (mass, first, second)
}

fn cholesky(filter: &Filter) -> Vec<Vec<f64>> {
    let n = filter.width();
    let mut l = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
            let rest = filter.covariance.get(i, j) - dot;
            l[i][j] = if i == j { rest.sqrt() } else { rest / l[j][j] };
        }
    }
    l
}

fn agree(filter: &Filter, exact: (Vec<f64>, Vec<Vec<f64>>)) {
    for i in 0..filter.width() {
        assert!(
            (filter.mean(i) - exact.0[i]).abs() < 1e-6,
            "{filter:?} {exact:?}"
        );
        for j in 0..=i {
            let difference = filter.covariance.get(i, j) - exact.1[i][j];
            assert!(difference.abs() < 1e-6, "{i} {j}: {filter:?} {exact:?}");
        }
    }
}

#[test]
fn two_and_three_players_against_a_dense_posterior() {
    let starts = [(0.2, 0.9), (-0.1, 0.5), (0.0, 0.7)];
    let games: [&[f64]; 3] = [&[1.0, -1.0, 0.0], &[0.6, 0.6, -0.8], &[-0.5, 1.0, -0.2]];
    for n in [2, 3] {
        for observed in [
            Observation::Sign(1.0),
            Observation::Sign(-1.0),
            Observation::Within(Tie {
                margin: 0.4,
                share: 1.0,
            }),
            Observation::Value(0.7),
        ] {
            let mut filter = players(&starts[..n]);
            // Each update is exact in its first two moments, so each is compared on its own,
            // from the correlated state that the ones before it left.
            for factors in games {
                let exact = by_quadrature(&filter, &factors[..n], observed);
                learn(&mut filter, &factors[..n], observed);
                agree(&filter, exact);
            }
        }
    }
}

#[test]
fn a_fresh_diagonal_is_mean_field_trueskill() {
    // The noise of a match of n is nβ² in TrueSkill and 1 here, where a player's factor is √(2/n):
    // β² = ½.
    let settings = trueskill::Settings {
        mean: 0.0,
        deviation: 0.8,
        beta: PositiveAmount::of(0.5_f64.sqrt()),
        drift: Amount::of(0.0),
        ties: ShareBelowOne::of(0.0),
    };
    let match_ = game(&[&[1.0, 1.0], &[1.0, 1.0]], &[0, 1]);
    let mut closed_form = trueskill::TrueSkill::new(settings);
    closed_form.update(&match_);
    let unit = 0.5_f64.sqrt();
    let mut filter = players(&[(0.0, 0.8); 4]);
    learn(
        &mut filter,
        &[unit, unit, -unit, -unit],
        Observation::Sign(1.0),
    );
    for (i, (mean, deviation)) in strengths(&closed_form, &match_).into_iter().enumerate() {
        let got = filter.strength(i);
        let near = (got.mean - mean).abs() < 1e-6 && (got.deviation - deviation).abs() < 1e-6;
        assert!(near, "{got:?}");
    }
    assert_eq!(closed_form.strength(Player(9)), None);
}

#[test]
fn a_slow_column_goes_a_part_of_the_way_and_stays_less_certain() {
    let before = players(&[(0.0, 0.3), (0.0, 0.3), (0.0, 4.0)]);
    let observed = Observation::Value(6.0);
    let learned = |most: f64| {
        let mut filter = before.clone();
        let mut gain = Vec::new();
        let latent = filter.latent(&row(&[1.0, -1.0, 0.5]), &PRIOR, &mut gain);
        filter.learn(observed, latent, &gain, &[], Some((2, most)));
        filter
    };
    let (free, slow, stopped) = (learned(f64::INFINITY), learned(0.4), learned(0.0));
    assert!(free.mean(2) > 3.0, "{}", free.mean(2));
    assert!((slow.mean(2) - 0.4).abs() < 1e-12);
    assert_eq!((slow.mean(0), slow.mean(1)), (free.mean(0), free.mean(1)));
    let variances = [&free, &slow, &stopped].map(|filter| filter.variance(2));
    assert!(variances.is_sorted_by(|a, b| a < b), "{variances:?}");
    assert!(
        (stopped.variance(2) - 16.0).abs() < 1e-5,
        "it knows as little as before"
    );
    let root = cholesky(&slow);
    let smallest = root.iter().enumerate().map(|(i, r)| r[i]);
    assert!(smallest.fold(1.0, f64::min) > 0.0, "still a covariance");
}

#[test]
fn still_columns_stay_and_the_rest_learns_as_if_they_had_not() {
    let mut filter = players(&[(0.2, 0.9), (-0.1, 0.5), (0.0, 0.7)]);
    learn(&mut filter, &[1.0, -0.5, 0.3], Observation::Sign(1.0));
    let (mut free, mut held, before) = (filter.clone(), filter.clone(), filter.clone());
    let mut gain = Vec::new();
    let latent = held.latent(&row(&[1.0, -1.0, 1.0]), &PRIOR, &mut gain);
    held.learn(Observation::Sign(-1.0), latent, &gain, &[0, 2], None);
    learn(&mut free, &[1.0, -1.0, 1.0], Observation::Sign(-1.0));
    for (i, j) in [(0, 0), (2, 0), (2, 2)] {
        assert_eq!(held.covariance.get(i, j), before.covariance.get(i, j));
    }
    assert_eq!(
        (held.mean(0), held.mean(2)),
        (before.mean(0), before.mean(2))
    );
    assert_eq!((held.strength(1)), (free.strength(1)));
    assert_ne!(held.mean(1), before.mean(1));
    let smallest = cholesky(&held)
        .iter()
        .enumerate()
        .map(|(i, r)| r[i])
        .fold(1.0, f64::min);
    assert!(smallest > 0.0, "still a covariance");
}

#[test]
fn keeping_columns_keeps_what_is_known_of_them() {
    let mut filter = players(&[(0.2, 0.9), (-0.1, 0.5), (0.0, 0.7)]);
    learn(&mut filter, &[1.0, -0.5, 0.3], Observation::Sign(1.0));
    let before = filter.clone();
    filter.keep(&[0, 2]);
    assert_eq!(
        (filter.strength(0), filter.strength(1)),
        (before.strength(0), before.strength(2))
    );
    assert_eq!(filter.covariance.get(1, 0), before.covariance.get(2, 0));
}

#[test]
fn fading_all_the_way_is_the_prior() {
    let mut filter = players(&[(0.2, 0.9), (-0.1, 0.5)]);
    learn(&mut filter, &[1.0, -0.5], Observation::Sign(1.0));
    let second = filter.strength(1);
    filter.fade(0.0, |i| (i == 0).then_some(0.8));
    let own = filter.strength(0);
    assert!(own.mean == 0.0 && (own.deviation - 0.8).abs() < 1e-7);
    assert_eq!(
        (filter.strength(1), filter.covariance.get(1, 0)),
        (second, 0.0)
    );
}

/// The logarithm of the density that a filter gives to an observed value.
fn density(filter: &Filter, factors: &[f64], value: f64) -> f64 {
    let latent = filter.prediction(&row(factors), &PRIOR);
    let variance = 1.0 + latent.variance;
    -0.5 * (libm::log(variance) + (value - latent.mean).powi(2) / variance)
}

#[test]
fn optional_effects_are_the_mean_over_a_filter_with_and_one_without_them() {
    let matches = [
        ([1.0, -1.0, 0.5, 0.0], 0.7),
        ([1.0, -1.0, -0.5, 0.7], -0.4),
        ([1.0, 1.0, 0.3, 0.2], 0.9),
        ([-1.0, 1.0, 1.0, -0.4], 1.6),
        ([0.5, -1.0, 0.8, 0.9], 1.2),
    ];
    for effects in [1, 2] {
        let mut optional = players(&[(0.2, 0.8), (-0.1, 0.5)]);
        let mut always = optional.clone();
        let mut never = optional.clone();
        for deviation in [0.8, 0.3].into_iter().take(effects) {
            optional.add_optional(deviation);
            always.add(Strength::prior(deviation));
        }
        let mut better = 0.0;
        for (factors, value) in matches {
            let (all, own) = (&factors[..2 + effects], &factors[..2]);
            better += density(&always, all, value) - density(&never, own, value);
            learn(&mut optional, all, Observation::Value(value));
            learn(&mut always, all, Observation::Value(value));
            learn(&mut never, own, Observation::Value(value));
            let none = 1.0 / (1.0 + libm::exp(0.5 * better - 1.0));
            for column in 0..2 {
                let expected = none * never.mean(column) + (1.0 - none) * always.mean(column);
                let got = optional.mean(column);
                assert!((got - expected).abs() < 1e-4, "{column}: {got} {expected}");
            }
            for column in 2..2 + effects {
                let expected = (1.0 - none) * always.mean(column);
                let got = optional.mean(column);
                assert!((got - expected).abs() < 1e-4, "{column}: {got} {expected}");
            }
            let of = |filter: &Filter, row_of: &[f64]| filter.prediction(&row(row_of), &PRIOR).mean;
            let expected = none * of(&never, own) + (1.0 - none) * of(&always, all);
            let got = of(&optional, all);
            assert!((got - expected).abs() < 1e-4, "{got} {expected}");
        }
    }
}
