//! The normal distribution.
//!
//! All functions use `libm`, so that every machine computes the same bits.

use std::f64::consts::FRAC_1_SQRT_2;

/// 1/√(2π), the density of the standard normal at 0.
const INV_SQRT_TAU: f64 = 0.398_942_280_401_432_7;

/// Density φ(x) of the standard normal.
pub fn pdf(x: f64) -> f64 {
    INV_SQRT_TAU * libm::exp(-0.5 * x * x)
}

/// Distribution function Φ(x) of the standard normal.
pub fn cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// Φ⁻¹ for a probability inside (0, 1), to about 1e-14.
///
/// A rational first approximation (Abramowitz and Stegun 26.2.23, error under 4.5e-4), then three
/// Newton steps.
pub fn quantile(p: f64) -> f64 {
    let tail = p.min(1.0 - p);
    let t = libm::sqrt(-2.0 * libm::log(tail));
    let top = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let bottom = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut x = top / bottom - t; // in the lower tail
    for _ in 0..3 {
        x -= (cdf(x) - tail) / pdf(x);
    }
    if p < 0.5 { x } else { -x }
}
