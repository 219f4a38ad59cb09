//! What goes to a database and comes back: statements, values and rows.
//!
//! Times of day in tables are texts in UTC such as `2026-11-20 15:28:36`, with milliseconds if there are any. They
//! sort as the times do, and both databases compute with them.

use std::{borrow::Cow, fmt::Write as _};

use sqlx::{Row as _, postgres::PgRow, sqlite::SqliteRow};

use crate::{
    model::{Kind, PlayerKey, Timestamp, fingerprint::Fingerprint},
    store::StoreError,
};

/// A row of an answer.
pub(in crate::store) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl Row {
    /// The value in the column of this name. Fails if there is none, or if it does not fit the type.
    pub fn get<'r, T: FromColumn<'r>>(&'r self, column: &'r str) -> Result<T, StoreError> {
        T::read(self, At::Name(column))
    }

    /// The value in the column with this number, from 0.
    pub fn at<'r, T: FromColumn<'r>>(&'r self, column: usize) -> Result<T, StoreError> {
        T::read(self, At::Number(column))
    }

    /// The player in the columns `kind` and `player`.
    pub fn player(&self) -> Result<PlayerKey, StoreError> {
        Ok(PlayerKey {
            kind: self.get("kind")?,
            id: self.get("player")?,
        })
    }
}

/// Which column of a row is meant.
#[derive(Clone, Copy)]
pub(in crate::store) enum At<'a> {
    Name(&'a str),
    Number(usize),
}

/// What can be read from a column.
pub(in crate::store) trait FromColumn<'r>: Sized {
    fn read(row: &'r Row, at: At<'_>) -> Result<Self, StoreError>;
}

/// The types that the database driver reads.
macro_rules! native {
    ($($type:ty),+) => {$(
        impl<'r> FromColumn<'r> for $type {
            fn read(row: &'r Row, at: At<'_>) -> Result<Self, StoreError> {
                Ok(match (row, at) {
                    (Row::Sqlite(row), At::Name(name)) => row.try_get(name)?,
                    (Row::Sqlite(row), At::Number(number)) => row.try_get(number)?,
                    (Row::Postgres(row), At::Name(name)) => row.try_get(name)?,
                    (Row::Postgres(row), At::Number(number)) => row.try_get(number)?,
                })
            }
        }
    )+};
}
native!(i64, f64, bool, String, Vec<u8>, &'r str, &'r [u8]);
native!(
    Option<i64>,
    Option<f64>,
    Option<bool>,
    Option<String>,
    Option<Vec<u8>>,
    Option<&'r str>
);

/// Types that are made of another one. A value that does not fit is named with its column.
macro_rules! made {
    ($($type:ty: $from:ty = $make:expr),+ $(,)?) => {$(
        impl<'r> $crate::store::db::FromColumn<'r> for $type {
            fn read(
                row: &'r $crate::store::db::Row,
                at: $crate::store::db::At<'_>,
            ) -> Result<Self, $crate::store::StoreError> {
                let value: $from = $crate::store::db::FromColumn::read(row, at)?;
                Some(value).and_then($make).ok_or_else(|| $crate::store::db::bad(at, value))
            }
        }
        impl<'r> $crate::store::db::FromColumn<'r> for Option<$type> {
            fn read(
                row: &'r $crate::store::db::Row,
                at: $crate::store::db::At<'_>,
            ) -> Result<Self, $crate::store::StoreError> {
                let value: Option<$from> = $crate::store::db::FromColumn::read(row, at)?;
                value.map(|value| Some(value).and_then($make).ok_or_else(|| $crate::store::db::bad(at, value))).transpose()
            }
        }
    )+};
}
pub(in crate::store) use made;
made! {
    u8: i64 = |value: i64| u8::try_from(value).ok(),
    u32: i64 = |value: i64| u32::try_from(value).ok(),
    u64: i64 = |value: i64| u64::try_from(value).ok(),
    usize: i64 = |value: i64| usize::try_from(value).ok(),
    Timestamp: &'r str = read_time,
    Kind: &'r str = Kind::parse,
}

pub(in crate::store) fn bad(at: At<'_>, value: impl std::fmt::Display) -> StoreError {
    StoreError::BadValue(match at {
        At::Name(name) => format!("{name} {value}"),
        At::Number(number) => format!("column {number} {value}"),
    })
}

impl FromColumn<'_> for Fingerprint {
    fn read(row: &Row, at: At<'_>) -> Result<Self, StoreError> {
        let bytes: &[u8] = FromColumn::read(row, at)?;
        Self::from_slice(bytes).ok_or_else(|| StoreError::BadValue("a fingerprint".to_owned()))
    }
}

impl FromColumn<'_> for PlayerKey {
    fn read(row: &Row, _: At<'_>) -> Result<Self, StoreError> {
        row.player()
    }
}

/// What can be read from a whole row.
pub(in crate::store) trait FromRow: Sized {
    fn from_row(row: &Row) -> Result<Self, StoreError>;
}

/// Tuples are read from the first columns, in their order.
macro_rules! tuples {
    ($(($($type:ident $number:literal),+);)+) => {$(
        impl<$($type: for<'r> FromColumn<'r>),+> FromRow for ($($type,)+) {
            fn from_row(row: &Row) -> Result<Self, StoreError> {
                Ok(($(row.at::<$type>($number)?,)+))
            }
        }
    )+};
}
tuples! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
}

/// Defines a struct that is read from the columns with the names of its fields.
macro_rules! columns {
    ($(#[$about:meta])* pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident: $type:ty,)+ }) => {
        $(#[$about])*
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)+
        }

        impl $crate::store::db::FromRow for $name {
            fn from_row(row: &$crate::store::db::Row) -> Result<Self, $crate::store::StoreError> {
                Ok(Self { $($field: row.get(stringify!($field))?,)+ })
            }
        }

        /// As a field of another struct, it is read from the same row.
        impl $crate::store::db::FromColumn<'_> for $name {
            fn read(
                row: &$crate::store::db::Row,
                _: $crate::store::db::At<'_>,
            ) -> Result<Self, $crate::store::StoreError> {
                $crate::store::db::FromRow::from_row(row)
            }
        }
    };
}
pub(in crate::store) use columns;

/// A value of a parameter. NULL has the type of its column, too: PostgreSQL asks for it.
#[derive(Clone, Debug)]
pub(in crate::store) enum SqlValue {
    Int(Option<i64>),
    Bool(Option<bool>),
    Real(Option<f64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
}

/// Makes a list of values.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$($crate::store::db::SqlValue::from($value)),*] };
}
pub(in crate::store) use values;

/// How Rust types become values, and with `Option` NULL.
macro_rules! convert {
    ($($kind:ident($value:ident: $($type:ty = $into:expr),+);)+) => {$($(
        impl From<$type> for SqlValue {
            fn from($value: $type) -> Self {
                Self::$kind(Some($into))
            }
        }
        impl From<Option<$type>> for SqlValue {
            fn from(value: Option<$type>) -> Self {
                Self::$kind(value.map(|$value: $type| $into))
            }
        }
    )+)+};
}

convert! {
    Int(value:
        i64 = value,
        &i64 = *value,
        u8 = i64::from(value),
        u16 = i64::from(value),
        u32 = i64::from(value),
        // No length, count or time of this program is near the limit.
        u64 = i64::try_from(value).unwrap_or(i64::MAX),
        usize = i64::try_from(value).unwrap_or(i64::MAX));
    Bool(value: bool = value);
    Real(value: f64 = value);
    Text(value:
        String = value,
        &String = value.clone(),
        &str = value.to_owned(),
        Kind = value.as_str().to_owned(),
        Timestamp = time_text(value));
    Bytes(value:
        Vec<u8> = value,
        &Vec<u8> = value.clone(),
        &[u8] = value.to_vec(),
        [u8; 32] = value.to_vec(),
        Fingerprint = value.0.to_vec());
}

impl From<&Option<String>> for SqlValue {
    fn from(value: &Option<String>) -> Self {
        Self::Text(value.clone())
    }
}

/// The text of a statement, and the values of its parameters.
#[derive(Clone, Debug)]
pub(in crate::store) struct Statement {
    pub text: Cow<'static, str>,
    pub values: Vec<SqlValue>,
    /// Whether it was put together of parts, and may have thousands of parameters.
    pub is_built: bool,
    /// Whether the connection keeps it prepared, for the next time.
    pub persistent: bool,
}

/// What a statement has done: how many rows it has changed, and the rows that it returns.
#[derive(Default)]
pub(super) struct StatementResult {
    pub changed: u64,
    pub rows: Vec<Row>,
}

/// The text of a time. What is earlier or later than any that can be written becomes the first or the last one: conditions
/// such as "before" then still hold.
fn time_text(at: Timestamp) -> String {
    let at = at.clamp(*Timestamp::YEARS.start(), *Timestamp::YEARS.end());
    let mut text = String::with_capacity(23);
    if let Ok(instant) = jiff::Timestamp::from_millisecond(at.0) {
        let civil = jiff::tz::Offset::UTC.to_datetime(instant);
        let (date, time) = (civil.date(), civil.time());
        let (year, month, day) = (date.year(), date.month(), date.day());
        let (hour, minute, second) = (time.hour(), time.minute(), time.second());
        let written = write!(
            text,
            "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"
        );
        let millis = time.millisecond();
        let fraction = match millis {
            0 => Ok(()),
            _ => write!(text, ".{millis:03}"),
        };
        debug_assert!(written.and(fraction).is_ok(), "a string can grow");
    }
    text
}

/// The time of a text in this form; `None` for any other text.
fn read_time(text: &str) -> Option<Timestamp> {
    let is_digit = |at: usize, byte: u8| match at {
        4 | 7 => byte == b'-',
        10 => byte == b' ',
        13 | 16 => byte == b':',
        19 => byte == b'.',
        _ => byte.is_ascii_digit(),
    };
    let bytes = text.as_bytes();
    let has_form = bytes
        .iter()
        .enumerate()
        .all(|(at, byte)| is_digit(at, *byte));
    if !has_form || !matches!(bytes.len(), 19 | 23) {
        return None;
    }
    let civil: jiff::civil::DateTime = text.parse().ok()?;
    let instant = jiff::tz::Offset::UTC.to_timestamp(civil).ok()?;
    Some(Timestamp(instant.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RANGE: (i64, i64) = (Timestamp::YEARS.start().0, Timestamp::YEARS.end().0);

    #[test]
    fn a_time_is_a_text_to_the_millisecond() {
        for (at, expected) in [
            (0, "1970-01-01 00:00:00"),
            (1_795_188_516_000, "2026-11-20 15:28:36"),
            (1_795_188_516_007, "2026-11-20 15:28:36.007"),
            (-1, "1969-12-31 23:59:59.999"),
            (RANGE.0, "0000-01-01 00:00:00"),
            (RANGE.1, "9998-12-31 23:59:59.999"),
        ] {
            assert_eq!(time_text(Timestamp(at)), expected);
            assert_eq!(read_time(expected), Some(Timestamp(at)));
        }
        assert_eq!(time_text(Timestamp(i64::MIN)), "0000-01-01 00:00:00");
        assert_eq!(time_text(Timestamp(i64::MAX)), "9998-12-31 23:59:59.999");
        for other in [
            "",
            "2026-11-20",
            "2026-11-20T15:28:36",
            "2026-11-20 15:28:36.7",
            "2026-11-20 15:28:36Z",
            "2026-11-31 15:28:36",
            "1795188516000",
        ] {
            assert_eq!(read_time(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn texts_sort_as_the_times_do(one in RANGE.0..=RANGE.1, more in 0..5_000_i64) {
            let other = (one + more).min(RANGE.1);
            let [first, second] = [one, other].map(|at| time_text(Timestamp(at)));
            prop_assert_eq!(first.cmp(&second), one.cmp(&other));
            prop_assert_eq!(read_time(&first), Some(Timestamp(one)));
        }
    }
}
