//! Quantities with a unit and a checked range.
//!
//! Settings use these types, so that each range is stated once, in the type. Deserialising a value
//! outside the range fails with a message that states the range and the unit. [`of`](Count::of)
//! makes values for constants and tests.

mod max_difference;
mod real;
mod whole;

pub use max_difference::MaxDifference;
pub use real::{
    Amount, BehaviourPoints, ChoiceExponent, Factor, GammaShape, GrowthFactor, HalfLife,
    Percentile, PlayerWeight, PositiveAmount, PositiveShare, Share, ShareBelowOne, ShareExponent,
};
pub use whole::{Count, Megabytes, Millis, Seconds, UpToADay, UpToAWeek};

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde::Deserialize;

    use super::*;

    fn read<T: for<'de> Deserialize<'de>>(json: &str) -> Result<T, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn a_value_out_of_range_is_refused_with_range_and_unit() {
        let error = read::<Seconds<1, 60>>("61").unwrap_err();
        assert!(
            error.starts_with("must be 1 to 60 seconds, not 61"),
            "{error}"
        );
        let error = read::<Count<1, { u32::MAX }>>("-1").unwrap_err();
        assert!(error.starts_with("must be 1 or more, not -1"), "{error}");
        let error = read::<Megabytes<1, 2>>("\"x\"").unwrap_err();
        assert!(error.contains("expected 1 to 2 megabytes"), "{error}");
        let error = read::<Share>("1.5").unwrap_err();
        assert!(error.starts_with("must be 0 to 1, not 1.5"), "{error}");
        assert!(read::<Share>("null").is_err());
        assert_eq!(read::<Seconds<1, 60>>("60").unwrap().millis(), 60_000);
        assert_eq!(read::<Factor>("3").unwrap(), Factor::of(3.0));
    }

    #[test]
    fn a_value_that_is_no_text_is_checked_too() {
        assert_eq!(Count::<1, 9>::try_from(9), Ok(Count::of(9)));
        let error = Count::<1, 9>::try_from(10).unwrap_err();
        assert_eq!(error.to_string(), "must be 1 to 9, not 10");
        assert!(Share::try_from(f64::NAN).is_err());
        let bytes = postcard::to_stdvec(&HalfLife::of(f64::INFINITY)).unwrap();
        assert_eq!(
            postcard::from_bytes(&bytes),
            Ok(HalfLife::of(f64::INFINITY))
        );
    }

    #[test]
    fn values_survive_json() {
        let infinite = serde_json::to_string(&HalfLife::of(f64::INFINITY)).unwrap();
        assert_eq!(read(&infinite), Ok(HalfLife::of(f64::INFINITY)));
        for limit in [MaxDifference::OFF, MaxDifference::of(7)] {
            let json = serde_json::to_string(&limit).unwrap();
            assert_eq!(read(&json), Ok(limit));
        }
        let time: Millis<0, 10> = read("10").unwrap();
        assert_eq!(serde_json::to_string(&time).unwrap(), "10");
        assert_eq!(time.duration(), Duration::from_millis(10));
    }
}
