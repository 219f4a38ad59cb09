//! Quantities with a unit and a checked range: whole numbers, real numbers, and the largest allowed difference of two teams.
//!
//! Settings use these types, so that each range is stated once, in the type. Deserialising a value
//! outside the range fails with a message that states the range and the unit. [`of`](Count::of)
//! makes values for constants and tests.

use std::{fmt, marker::PhantomData, str::FromStr, time::Duration};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, Unexpected, Visitor, value::Error as ValueError},
};

/// The largest allowed difference of two teams' human counts, or no limit: 0 to 1024, or `"off"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxDifference(Option<u32>);

impl MaxDifference {
    /// No limit, `"off"` in the configuration.
    pub const OFF: Self = Self(None);
    const MOST: u32 = 1_024;
    const RANGE: &str = "0 to 1024, or \"off\"";

    /// The limit `limit`, for constants and tests.
    ///
    /// # Panics
    /// Panics if the limit is above 1024; in a `const` block this fails to compile.
    pub const fn of(limit: u32) -> Self {
        assert!(limit <= Self::MOST, "out of range");
        Self(Some(limit))
    }

    /// The limit; `None` for no limit.
    pub fn get(self) -> Option<usize> {
        self.0.map(|limit| limit as usize)
    }
}

impl FromStr for MaxDifference {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(limit) if limit <= Self::MOST => Ok(Self(Some(limit))),
            _ if text == "off" => Ok(Self::OFF),
            _ => Err(format!("must be {}", Self::RANGE)),
        }
    }
}

struct MaxDifferenceVisitor;

impl Visitor<'_> for MaxDifferenceVisitor {
    type Value = MaxDifference;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MaxDifference::RANGE)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<MaxDifference, E> {
        let limit = u32::try_from(value).ok();
        let limit = limit.filter(|limit| *limit <= MaxDifference::MOST);
        limit
            .map(|limit| MaxDifference(Some(limit)))
            .ok_or_else(|| refused(&value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<MaxDifference, E> {
        self.visit_i64(i64::try_from(value).unwrap_or(i64::MAX))
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<MaxDifference, E> {
        match word {
            "off" => Ok(MaxDifference::OFF),
            _ => Err(refused(&format_args!("\"{word}\""))),
        }
    }
}

fn refused<E: Error>(found: &dyn fmt::Display) -> E {
    E::custom(format_args!(
        "must be {}, not {found}",
        MaxDifference::RANGE
    ))
}

impl<'de> Deserialize<'de> for MaxDifference {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(MaxDifferenceVisitor)
    }
}

impl Serialize for MaxDifference {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(limit) => to.serialize_u32(limit),
            None => to.serialize_str("off"),
        }
    }
}

/// Conversion of a real number, with a check of its range.
trait Real: Sized {
    /// The range, in the words of messages and of the documented configuration file.
    const RANGE: &'static str;

    fn checked(value: f64) -> Option<Self>;
}

struct RealVisitor<T>(PhantomData<T>);

impl<T: Real> Visitor<'_> for RealVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::RANGE)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        T::checked(value)
            .ok_or_else(|| E::custom(format_args!("must be {}, not {value}", T::RANGE)))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        self.visit_f64(value as f64)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        self.visit_f64(value as f64)
    }

    /// Reads null as infinity, which JSON cannot express.
    fn visit_unit<E: Error>(self) -> Result<T, E> {
        T::checked(f64::INFINITY).ok_or_else(|| E::invalid_type(Unexpected::Unit, &self))
    }
}

/// Defines a type for real numbers in a range.
macro_rules! real {
    ($(#[$doc:meta])* $name:ident, $range:literal, $value:ident => $holds:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
        pub struct $name(f64);

        impl $name {
            const fn holds($value: f64) -> bool {
                $holds
            }

            /// The number `value`, for constants and tests.
            ///
            /// # Panics
            /// Panics if the value is out of range; in a `const` block this fails to compile.
            pub const fn of(value: f64) -> Self {
                assert!(Self::holds(value), $range);
                Self(value)
            }

            /// The number as an `f64`.
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        impl Real for $name {
            const RANGE: &'static str = $range;

            fn checked(value: f64) -> Option<Self> {
                Self::holds(value).then_some(Self(value))
            }
        }

        /// Fails, with the range, if the value is outside it.
        impl TryFrom<f64> for $name {
            type Error = ValueError;

            fn try_from(value: f64) -> Result<Self, ValueError> {
                RealVisitor(PhantomData).visit_f64(value)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                match from.is_human_readable() {
                    true => from.deserialize_any(RealVisitor(PhantomData)),
                    false => from.deserialize_f64(RealVisitor(PhantomData)),
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_f64(self.0)
            }
        }
    };
}

real! {
    /// A share of a whole, or a ratio of two weights.
    Share, "0 to 1", value => 0.0 <= value && value <= 1.0
}
real! {
    /// A share of a whole, above 0.
    PositiveShare, "above 0, at most 1", value => 0.0 < value && value <= 1.0
}
real! {
    /// A share of a whole, below 1.
    ShareBelowOne, "0 to below 1", value => 0.0 <= value && value < 1.0
}
real! {
    /// The share of an experiment's games that one of two policies has.
    PolicyShare, "0.05 to 0.95", value => 0.05 <= value && value <= 0.95
}
real! {
    /// A player's weight; 50 is that of a player without matches.
    PlayerWeight, "0 to 100", value => 0.0 <= value && value <= 100.0
}
real! {
    /// Points of reports about a player's behaviour.
    BehaviourPoints, "0 to 100", value => 0.0 <= value && value <= 100.0
}
real! {
    /// The percentage of a population that is below a mark.
    Percentile, "0 to 100", value => 0.0 <= value && value <= 100.0
}
real! {
    /// A factor that can only increase a quantity; 1 changes nothing.
    Factor, "1 to 10", value => 1.0 <= value && value <= 10.0
}
real! {
    /// A factor that must increase a quantity.
    GrowthFactor, "above 1, at most 10", value => 1.0 < value && value <= 10.0
}
real! {
    /// The shape of a Gamma distribution whose most likely value is above 0.
    GammaShape, "above 1, at most 1000", value => 1.0 < value && value <= 1_000.0
}
real! {
    /// The exponent applied to a share.
    ShareExponent, "above 0, at most 10", value => 0.0 < value && value <= 10.0
}
real! {
    /// The exponent applied to a quality; infinity means that only the best is chosen.
    ChoiceExponent, "0 or more, or inf", value => 0.0 <= value
}
real! {
    /// The number of later matches after which a match counts half; with infinity all count the
    /// same.
    HalfLife, "above 0, or inf", value => 0.0 < value
}
real! {
    /// A finite number of at least 0.
    Amount, "0 or more", value => 0.0 <= value && value.is_finite()
}
impl Default for Amount {
    fn default() -> Self {
        Self(0.0)
    }
}

real! {
    /// A finite number above 0.
    PositiveAmount, "above 0", value => 0.0 < value && value.is_finite()
}

/// Conversion of a whole number, whose range has been checked.
trait Whole: Sized {
    /// The smallest allowed value.
    const MIN: u32;
    /// The largest allowed value.
    const MAX: u32;
    /// The text after the range in a message: empty, or a space and the unit.
    const UNIT: &'static str;

    fn from_checked(value: u32) -> Self;
}

struct WholeVisitor<T>(PhantomData<T>);

impl<T: Whole> WholeVisitor<T> {
    fn check<E: Error>(self, value: Option<u32>, found: &dyn fmt::Display) -> Result<T, E> {
        value
            .filter(|value| (T::MIN..=T::MAX).contains(value))
            .map(T::from_checked)
            .ok_or_else(|| E::custom(format_args!("must be {}, not {found}", ExpectedText(&self))))
    }
}

impl<T: Whole> Visitor<'_> for WholeVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match T::MAX {
            u32::MAX => write!(f, "{} or more{}", T::MIN, T::UNIT),
            max => write!(f, "{} to {max}{}", T::MIN, T::UNIT),
        }
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        self.check(value.try_into().ok(), &value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        self.check(value.try_into().ok(), &value)
    }
}

/// Formats what a visitor expects, for messages.
struct ExpectedText<'a, V>(&'a V);

impl<'de, V: Visitor<'de>> fmt::Display for ExpectedText<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }
}

/// Defines a type for whole numbers of a unit in the range `MIN..=MAX`.
macro_rules! whole {
    ($(#[$doc:meta])* $name:ident, $unit:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name<const MIN: u32, const MAX: u32>(u32);

        impl<const MIN: u32, const MAX: u32> $name<MIN, MAX> {
            /// The quantity `value`, for constants and tests.
            ///
            /// # Panics
            /// Panics if the value is out of range; in a `const` block this fails to compile.
            pub const fn of(value: u32) -> Self {
                assert!(MIN <= value && value <= MAX, "out of range");
                Self(value)
            }

            /// The number of units.
            pub const fn get(self) -> u32 {
                self.0
            }
        }

        impl<const MIN: u32, const MAX: u32> Whole for $name<MIN, MAX> {
            const MIN: u32 = MIN;
            const MAX: u32 = MAX;
            const UNIT: &'static str = $unit;

            fn from_checked(value: u32) -> Self {
                Self(value)
            }
        }

        impl<'de, const MIN: u32, const MAX: u32> Deserialize<'de> for $name<MIN, MAX> {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                from.deserialize_u64(WholeVisitor(PhantomData))
            }
        }

        /// Fails, with the range, if the value is outside it.
        impl<const MIN: u32, const MAX: u32> TryFrom<u64> for $name<MIN, MAX> {
            type Error = ValueError;

            fn try_from(value: u64) -> Result<Self, ValueError> {
                WholeVisitor(PhantomData).visit_u64(value)
            }
        }

        impl<const MIN: u32, const MAX: u32> Serialize for $name<MIN, MAX> {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_u32(self.0)
            }
        }
    };
}

whole! {
    /// A number of items, `MIN` to `MAX`; a `MAX` of [`u32::MAX`] means no upper limit.
    Count, ""
}
whole! {
    /// A time in whole seconds, `MIN` to `MAX`.
    Seconds, " seconds"
}
whole! {
    /// A time in whole milliseconds, `MIN` to `MAX`.
    Millis, " milliseconds"
}
whole! {
    /// An amount of memory in units of 2^20 bytes, `MIN` to `MAX`.
    Megabytes, " megabytes"
}

/// A time of 0 to 86,400 seconds, which is one day.
pub type UpToADay = Seconds<0, 86_400>;
/// A time-out: 1 second to a week.
pub type UpToAWeek = Seconds<1, 604_800>;

impl<const MIN: u32, const MAX: u32> Count<MIN, MAX> {
    /// The number as a `usize`, for lengths and indices.
    pub const fn as_usize(self) -> usize {
        self.0 as usize // tokio supports no targets with less than 32 bits
    }
}

impl<const MIN: u32, const MAX: u32> Seconds<MIN, MAX> {
    /// The time in milliseconds, the unit of a session's clock.
    pub const fn millis(self) -> u64 {
        self.0 as u64 * 1_000
    }

    /// The time as a duration.
    pub const fn duration(self) -> Duration {
        Duration::from_secs(self.0 as u64)
    }
}

impl<const MIN: u32, const MAX: u32> Millis<MIN, MAX> {
    /// The time as a duration.
    pub const fn duration(self) -> Duration {
        Duration::from_millis(self.0 as u64)
    }
}

impl<const MIN: u32, const MAX: u32> Megabytes<MIN, MAX> {
    /// The amount in bytes.
    pub const fn bytes(self) -> usize {
        (self.0 as usize) << 20
    }
}

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
