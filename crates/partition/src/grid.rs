//! Weights as whole numbers, so that sums are exact.
//!
//! Sums of f64 depend on the order of addition: a sum that is updated step by step drifts, two
//! engines disagree in the last bits, and rounding decides whether 12.1 + 0.2 equals 12.3. On a
//! grid every sum is an exact i64. If the weights have few decimals the grid is decimal: weights in
//! whole numbers or hundredths then have few different sums, which makes [`meet`](super::engine)
//! fast. Otherwise the grid is so fine that rounding to it loses less than one f64 addition does.

/// A fixed-point grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Grid {
    /// `10^digits` quanta per unit.
    Decimal(u32),
    /// `2^exponent` quanta per unit.
    Binary(i32),
}

/// The sum of all players and the handicap is at most 2^59 quanta, so that gaps, and twice a gap,
/// fit in an i64.
const TOTAL_BITS: i32 = 59;
/// The largest total for a decimal grid: up to here f64 distinguishes neighbouring decimals.
const DECIMAL_TOTAL: f64 = (1u64 << 46) as f64;
/// The relative rounding error up to which a multiple of a weight counts as a whole number.
const SLACK: f64 = 8.0 * f64::EPSILON;

impl Grid {
    /// A grid that represents all `weights` and `products`, and on which `slots` of the largest of
    /// them can be added without overflow.
    pub fn fit(weights: &[f64], products: &[f64], slots: usize) -> Self {
        let largest = weights.iter().copied().fold(0.0, f64::max);
        let slots = slots.max(1);
        let decimal = (0..=6).find(|&digits| {
            let scale = f64::from(10u32.pow(digits));
            largest * scale * (slots as f64) <= DECIMAL_TOTAL
                && weights.iter().chain(products).all(|w| {
                    let scaled = w * scale;
                    (scaled - scaled.round()).abs() <= scaled * SLACK
                })
        });
        match decimal {
            Some(digits) => Self::Decimal(digits),
            None => {
                // slots ≤ 2^14, and frexp gives an exponent with largest < 2^exponent.
                let headroom = slots.next_power_of_two().trailing_zeros() as i32;
                Self::Binary(TOTAL_BITS - headroom - libm::frexp(largest).1)
            }
        }
    }

    /// The nearest point of the grid, in quanta.
    pub fn quanta(self, weight: f64) -> i64 {
        match self {
            Self::Decimal(digits) => (weight * f64::from(10u32.pow(digits))).round() as i64,
            Self::Binary(exponent) => libm::ldexp(weight, exponent).round() as i64,
        }
    }

    /// Quanta as a number in the caller's unit; `f64::MAX` if it is larger than that.
    pub fn value(self, quanta: i64) -> f64 {
        let value = match self {
            Self::Decimal(digits) => quanta as f64 / f64::from(10u32.pow(digits)),
            Self::Binary(exponent) => libm::ldexp(quanta as f64, -exponent),
        };
        value.min(f64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let grid = Grid::fit(&[12.1, 0.2, 12.3, 50.0], &[], 64);
        assert_eq!(grid, Grid::Decimal(1));
        assert_eq!(grid.quanta(12.1) + grid.quanta(0.2), grid.quanta(12.3));
        assert_eq!(grid.value(123), 12.3);
    }

    #[test]
    fn any_legal_weight_fits() {
        for largest in [f64::MAX, 1e300, 1.0 / 3.0, f64::MIN_POSITIVE, 5e-324, 0.0] {
            let grid = Grid::fit(&[largest, largest / 3.0], &[], 1 << 14);
            let quanta = grid.quanta(largest);
            assert!((0..1 << 46).contains(&quanta), "{largest}: {quanta}");
            assert!(
                (grid.value(quanta) - largest).abs() <= largest * 1e-13,
                "{largest}"
            );
            assert!(grid.value(quanta << 13).is_finite());
        }
    }
}
