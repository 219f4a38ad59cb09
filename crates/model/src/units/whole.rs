//! Whole numbers of a unit.

use std::{fmt, marker::PhantomData, time::Duration};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, Visitor, value::Error as ValueError},
};

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
            .ok_or_else(|| E::custom(format_args!("must be {}, not {found}", Expected(&self))))
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
struct Expected<'a, V>(&'a V);

impl<'de, V: Visitor<'de>> fmt::Display for Expected<'_, V> {
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
