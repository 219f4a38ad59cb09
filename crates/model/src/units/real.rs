//! Real numbers in a range.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, Unexpected, Visitor, value::Error as ValueError},
};

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
