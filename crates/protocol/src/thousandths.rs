//! Numbers with three decimal places, which most replies contain.

use std::io::Write;

use bytes::{BufMut, BytesMut};

/// Writes a number with three decimal places, as `{:.3}` does, without the exact arithmetic that formatting
/// needs for the few numbers that are close to the middle between two thousandths.
pub(super) fn put_thousandths(out: &mut BytesMut, number: f64) {
    // Up to here, the product is off by less than 1e-7, so that it is certain to which side it is rounded
    // unless it is this close to the middle.
    const MOST: f64 = 1e6;
    const CLOSE: f64 = 1e-6;
    let scaled = number * 1e3;
    let whole = scaled.trunc();
    let part = scaled - whole;
    if !(0.0..MOST).contains(&number) || number.is_sign_negative() || (part - 0.5).abs() < CLOSE {
        // Writing to a growing buffer cannot fail.
        let _ = write!(out.writer(), "{number:.3}");
        return;
    }
    let mut left = whole as u64 + u64::from(part > 0.5);
    let mut digits = [0; 11];
    let mut at = digits.len();
    for place in 0.. {
        if place > 3 && left == 0 {
            break;
        }
        if place == 3 {
            at -= 1;
            digits[at] = b'.';
        }
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
    }
    out.put_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(number: f64) -> String {
        let mut out = BytesMut::new();
        put_thousandths(&mut out, number);
        String::from_utf8(out.to_vec()).unwrap()
    }

    proptest! {
        #[test]
        fn thousandths_are_those_of_the_standard_library(
            number in prop_oneof![
                0.0f64..=100.0,
                -10.0f64..2e6,
                (0u32..2_000_000).prop_map(|half| f64::from(half) / 2e3),
                (0u32..100_000).prop_map(|n| f64::from(n) / 1e3),
                any::<f64>(),
            ],
        ) {
            prop_assert_eq!(written(number), format!("{number:.3}"));
        }
    }

    #[test]
    fn numbers_beside_the_middle_are_rounded_like_their_exact_values() {
        for thousandths in (0u32..200_000).step_by(7) {
            let middle = (f64::from(thousandths) + 0.5) / 1e3;
            for number in [middle.next_down(), middle, middle.next_up()] {
                assert_eq!(written(number), format!("{number:.3}"));
            }
        }
        for number in [
            0.0,
            -0.0,
            999_999.999_9,
            1e6,
            0.000_4,
            9.999_6,
            99.999_5,
            f64::NAN,
        ] {
            assert_eq!(written(number), format!("{number:.3}"));
        }
    }
}
