//! Integers in columns, which have 64 bits and a sign in both databases.

use sqlx::Row;

use super::DbRow;
use crate::store::StoreError;

/// The integer in a column, in a type that may have room for fewer numbers.
pub(super) fn int<T: TryFrom<i64>>(row: &DbRow, column: &str) -> Result<T, StoreError> {
    narrowed(row.try_get(column)?, column)
}

/// Like [`int`], of a column that may be empty.
pub(super) fn optional_int<T: TryFrom<i64>>(
    row: &DbRow,
    column: &str,
) -> Result<Option<T>, StoreError> {
    let value: Option<i64> = row.try_get(column)?;
    value.map(|value| narrowed(value, column)).transpose()
}

fn narrowed<T: TryFrom<i64>>(value: i64, column: &str) -> Result<T, StoreError> {
    T::try_from(value).map_err(|_| StoreError::BadValue(format!("{column} {value}")))
}
