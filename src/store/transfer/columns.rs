//! Values and columns in the form that both databases have in common.

use serde::{Deserialize, Serialize};

use crate::store::{StoreError, db};

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) enum Value {
    Null,
    /// A number without a fraction, or a truth value, 0 or 1.
    Int(i64),
    /// The bits of a number with a fraction.
    Real(u64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Value {
    /// How much memory it needs besides itself, in bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Null | Self::Int(_) | Self::Real(_) => 0,
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
        }
    }

    /// Appends the value to `bytes`, in a form in which no two values are equal.
    pub fn write_to(&self, bytes: &mut Vec<u8>) {
        let mut part = |tag: u8, length: usize, content: &[u8]| {
            bytes.push(tag);
            bytes.extend((length as u64).to_le_bytes());
            bytes.extend(content);
        };
        match self {
            Self::Null => part(0, 0, &[]),
            Self::Int(number) => part(1, 8, &number.to_le_bytes()),
            Self::Real(bits) => part(2, 8, &bits.to_le_bytes()),
            Self::Text(text) => part(3, text.len(), text.as_bytes()),
            Self::Bytes(own) => part(4, own.len(), own),
        }
    }

    /// The same as a value of a key.
    pub fn to_key(&self) -> db::Value {
        match self {
            Self::Null => None::<i64>.into(),
            Self::Int(number) => number.into(),
            Self::Real(bits) => f64::from_bits(*bits).into(),
            Self::Text(text) => text.into(),
            Self::Bytes(bytes) => bytes.into(),
        }
    }

    /// The same as a value of a column of this kind; NULL if it is of another kind.
    pub fn to_column(&self, kind: ColumnKind) -> db::Value {
        match (kind, self) {
            (ColumnKind::Int, Self::Int(number)) => number.into(),
            (ColumnKind::Int, _) => None::<i64>.into(),
            (ColumnKind::Bool, Self::Int(number)) => (*number != 0).into(),
            (ColumnKind::Bool, _) => None::<bool>.into(),
            (ColumnKind::Real, Self::Real(bits)) => f64::from_bits(*bits).into(),
            (ColumnKind::Real, _) => None::<f64>.into(),
            (ColumnKind::Text, Self::Text(text)) => text.into(),
            (ColumnKind::Text, _) => None::<String>.into(),
            (ColumnKind::Bytes, Self::Bytes(bytes)) => bytes.into(),
            (ColumnKind::Bytes, _) => None::<Vec<u8>>.into(),
        }
    }
}

/// What a column of one of the databases contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum ColumnKind {
    Int,
    Bool,
    Real,
    Text,
    Bytes,
}

/// A column of a table in one of the databases.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub name: String,
    pub kind: ColumnKind,
}

impl Column {
    /// The column of this name and declared type.
    pub fn new(name: String, declared: &str) -> Result<Self, StoreError> {
        let kind = match declared {
            "INTEGER" | "bigint" => ColumnKind::Int,
            "boolean" => ColumnKind::Bool,
            "REAL" | "double precision" => ColumnKind::Real,
            "TEXT" | "text" => ColumnKind::Text,
            "BLOB" | "bytea" => ColumnKind::Bytes,
            other => {
                let why = format!("column {name} of type {other}");
                return Err(StoreError::BadValue(why));
            }
        };
        Ok(Self { name, kind })
    }
}

/// The positions of the columns of a key.
pub(super) fn positions(columns: &[Column], key: &[&str]) -> Result<Vec<usize>, StoreError> {
    let position = |name: &&str| {
        let position = columns.iter().position(|column| column.name == *name);
        position.ok_or_else(|| StoreError::BadValue(format!("no column {name}")))
    };
    key.iter().map(position).collect()
}

/// Fails unless the columns of both sides have the same names, and can contain the same values.
pub(super) fn check_alike(
    table: &str,
    source: &[Column],
    target: &[Column],
) -> Result<(), StoreError> {
    let form = |column: &Column| {
        let kind = match column.kind {
            ColumnKind::Bool => ColumnKind::Int,
            kind => kind,
        };
        (column.name.clone(), kind)
    };
    match source.iter().map(form).eq(target.iter().map(form)) {
        true => Ok(()),
        false => {
            let why = format!("the columns of {table} are not those of this version");
            Err(StoreError::BadValue(why))
        }
    }
}
