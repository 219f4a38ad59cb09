//! Reads the columns of rows.

use sqlx::{Row as _, postgres::PgRow, sqlite::SqliteRow};

use super::time;
use crate::{
    model::{Fingerprint, Kind, PlayerKey, Timestamp},
    store::StoreError,
};

/// A row of an answer.
pub(in crate::store) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl Row {
    /// The value in the column of this name. Fails if there is none, or if it does not fit the type.
    pub fn get<'r, T: Column<'r>>(&'r self, column: &'r str) -> Result<T, StoreError> {
        T::read(self, At::Name(column))
    }

    /// The value in the column with this number, from 0.
    pub fn at<'r, T: Column<'r>>(&'r self, column: usize) -> Result<T, StoreError> {
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
pub(in crate::store) trait Column<'r>: Sized {
    fn read(row: &'r Row, at: At<'_>) -> Result<Self, StoreError>;
}

/// The types that the database driver reads.
macro_rules! native {
    ($($type:ty),+) => {$(
        impl<'r> Column<'r> for $type {
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
        impl<'r> $crate::store::db::Column<'r> for $type {
            fn read(
                row: &'r $crate::store::db::Row,
                at: $crate::store::db::At<'_>,
            ) -> Result<Self, $crate::store::StoreError> {
                let value: $from = $crate::store::db::Column::read(row, at)?;
                Some(value).and_then($make).ok_or_else(|| $crate::store::db::bad(at, value))
            }
        }
        impl<'r> $crate::store::db::Column<'r> for Option<$type> {
            fn read(
                row: &'r $crate::store::db::Row,
                at: $crate::store::db::At<'_>,
            ) -> Result<Self, $crate::store::StoreError> {
                let value: Option<$from> = $crate::store::db::Column::read(row, at)?;
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
    Timestamp: &'r str = time::read,
    Kind: &'r str = Kind::parse,
}

pub(in crate::store) fn bad(at: At<'_>, value: impl std::fmt::Display) -> StoreError {
    StoreError::BadValue(match at {
        At::Name(name) => format!("{name} {value}"),
        At::Number(number) => format!("column {number} {value}"),
    })
}

impl Column<'_> for Fingerprint {
    fn read(row: &Row, at: At<'_>) -> Result<Self, StoreError> {
        let bytes: &[u8] = Column::read(row, at)?;
        Self::from_slice(bytes).ok_or_else(|| StoreError::BadValue("a fingerprint".to_owned()))
    }
}

impl Column<'_> for PlayerKey {
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
        impl<$($type: for<'r> Column<'r>),+> FromRow for ($($type,)+) {
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
        impl $crate::store::db::Column<'_> for $name {
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
