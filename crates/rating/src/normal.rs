//! The normal distribution, and the moments of a normal variable after an observation.
//!
//! All functions use `libm`, so that every machine computes the same bits.

use std::{cmp::Ordering, f64::consts::FRAC_1_SQRT_2};

pub use evenkeel_model::win_model::{cdf, pdf, quantile};

/// How an observation changes the mean and variance of a standard normal variable.
///
/// A variable of mean 0 and variance 1 has mean v and variance 1 − w afterwards: the corrections of
/// Herbrich, Minka and Graepel, "TrueSkill: a Bayesian skill rating system" (2006).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Change of the mean, in standard deviations.
    pub v: f64,
    /// Share of the variance that the observation removes, 0 to 1.
    pub w: f64,
}

impl Moments {
    /// Those of the negative variable.
    pub fn mirrored(self) -> Self {
        Self {
            v: -self.v,
            w: self.w,
        }
    }
}

/// The observation that the variable is above `-z`: v = φ(z)/Φ(z), w = v(v + z).
///
/// Uses Mills' ratio, which needs no exponential on the side where φ and Φ vanish.
pub(crate) fn above(z: f64) -> Moments {
    let r = mills(z.abs());
    let v = if z <= 0.0 {
        1.0 / r
    } else {
        let density = pdf(z);
        density / (1.0 - density * r)
    };
    let w = (v * (v + z)).clamp(0.0, 1.0);
    Moments { v, w }
}

/// Mills' ratio (1 − Φ(z))/φ(z) for z ≥ 0, to a relative error of 1e-11.
///
/// It is √(π/2)·e^x²·erfc(x) at x = z/√2. Cody, "Rational Chebyshev approximations for the error
/// function" (1969), gives one quotient of polynomials from 0.47 to 4 (used here from 0) and
/// another from 4 on. Each polynomial is summed in two halves that do not depend on each other,
/// because this function dominates the time of a rating update.
fn mills(z: f64) -> f64 {
    const SQRT_HALF_PI: f64 = 1.253_314_137_315_5;
    const INV_SQRT_PI: f64 = 0.564_189_583_547_756_3;
    let x = z * FRAC_1_SQRT_2;
    let scaled = if x <= 4.0 {
        let (x2, x4) = (x * x, (x * x) * (x * x));
        let above = (1_230.339_354_797_997_2 + 2_051.078_377_826_071_5 * x)
            + (1_712.047_612_634_070_6 + 881.952_221_241_769 * x) * x2
            + ((298.635_138_197_400_1 + 66.119_190_637_141_63 * x)
                + (8.883_149_794_388_376 + 0.564_188_496_988_670_1 * x) * x2)
                * x4
            + 2.153_115_354_744_038_5e-8 * (x4 * x4);
        let below = (1_230.339_354_803_749_4 + 3_439.367_674_143_721_6 * x)
            + (4_362.619_090_143_247 + 3_290.799_235_733_459_6 * x) * x2
            + ((1_621.389_574_566_690_2 + 537.181_101_862_009_9 * x)
                + (117.693_950_891_312_5 + 15.744_926_110_709_835 * x) * x2)
                * x4
            + x4 * x4;
        above / below
    } else {
        const P: [f64; 6] = [
            6.587_491_615_298_378e-4,
            0.016_083_785_148_742_28,
            0.125_781_726_111_229_26,
            0.360_344_899_949_804_45,
            0.305_326_634_961_232_36,
            0.016_315_387_137_302_097,
        ];
        const Q: [f64; 6] = [
            2.335_204_976_268_691_8e-3,
            0.060_518_341_312_441_32,
            0.527_905_102_951_428_5,
            1.872_952_849_923_460_4,
            2.568_520_192_289_822,
            1.0,
        ];
        let y = 1.0 / (x * x);
        let sum = |c: &[f64; 6]| c.iter().rev().fold(0.0, |sum, c| sum * y + c);
        (INV_SQRT_PI - y * sum(&P) / sum(&Q)) / x
    };
    SQRT_HALF_PI * scaled
}

/// The observation that the variable is between `low` and `high`.
pub(crate) fn between(low: f64, high: f64) -> Moments {
    let mass = cdf(high) - cdf(low);
    // If the interval is far out in a tail, or has no width, its end nearest to 0 stands for it.
    if mass < 1e-100 {
        let v = if low > 0.0 { low } else { high.min(0.0) };
        return Moments { v, w: 1.0 };
    }
    let v = (pdf(low) - pdf(high)) / mass;
    let edges = (high * pdf(high) - low * pdf(low)) / mass;
    let w = (v * v + edges).clamp(0.0, 1.0);
    Moments { v, w }
}

/// The moments of a standard normal difference with expectation `t` after this result was observed.
pub(crate) fn truncated(t: f64, margin: f64, result: Ordering) -> Moments {
    match result {
        Ordering::Less => above(t - margin),
        // A tie that was hardly expected is found in the lower tail, where the distribution is exact, for either order of
        // the two.
        Ordering::Equal if t < 0.0 => between(t - margin, t + margin).mirrored(),
        Ordering::Equal => between(-margin - t, margin - t),
        Ordering::Greater => above(-t - margin).mirrored(),
    }
}

/// The logistic function 1/(1 + e^−x): log odds to a chance, 0 to 1.
pub(crate) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_have_known_values() {
        assert!((cdf(1.959_963_984_540_054) - 0.975).abs() < 1e-15);
        assert!((pdf(0.0) - 0.398_942_280_401_432_7).abs() < 1e-16);
        assert!((quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-12);
    }

    #[test]
    fn quantile_inverts_cdf() {
        for i in 1..1_000 {
            let p = f64::from(i) / 1_000.0;
            assert!((cdf(quantile(p)) - p).abs() < 1e-13, "{p}");
        }
        assert!((cdf(quantile(1e-12)) / 1e-12 - 1.0).abs() < 1e-6);
    }

    /// The moments by summing the density on a fine grid.
    fn by_sum(low: f64, high: f64) -> Moments {
        let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
        let steps = 200_000;
        let width = (high - low) / f64::from(steps);
        for i in 0..steps {
            let x = low + (f64::from(i) + 0.5) * width;
            let weight = pdf(x);
            mass += weight;
            first += weight * x;
            second += weight * x * x;
        }
        let mean = first / mass;
        let w = 1.0 - (second / mass - mean * mean);
        Moments { v: mean, w }
    }

    #[test]
    fn moments_are_those_of_the_truncated_normal() {
        for (low, high) in [(-0.7, 12.0), (1.5, 12.0), (-4.0, 12.0)] {
            let (exact, sum) = (above(-low), by_sum(low, high));
            assert!((exact.v - sum.v).abs() < 1e-7 && (exact.w - sum.w).abs() < 1e-7);
        }
        for (low, high) in [(-0.5, 0.5), (0.2, 1.0), (-3.0, -2.0)] {
            let (exact, sum) = (between(low, high), by_sum(low, high));
            assert!((exact.v - sum.v).abs() < 1e-7 && (exact.w - sum.w).abs() < 1e-7);
        }
    }

    #[test]
    fn mills_ratio_is_that_of_the_distribution() {
        for i in 0..=8_000 {
            let z = f64::from(i) / 1_000.0;
            let exact = cdf(-z) / pdf(z);
            assert!((mills(z) / exact - 1.0).abs() < 1e-11, "{z}");
            for z in [z, -z] {
                let v = pdf(z) / cdf(z);
                assert!((above(z).v / v - 1.0).abs() < 1e-11, "{z}");
            }
        }
        // Far out, by the asymptotic series 1/z − 1/z³ + 3/z⁵.
        assert!((mills(1e3) / (1e-3 - 1e-9 + 3e-15) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn far_out_nothing_breaks() {
        for z in [-1e6, -40.0, -30.0, 40.0, 1e6] {
            for m in [above(z), between(z - 0.3, z + 0.3), between(z, z)] {
                assert!(m.v.is_finite() && (0.0..=1.0).contains(&m.w), "{z}: {m:?}");
            }
        }
    }
}
