//! Values of the parameters of statements.

use super::time;
use crate::model::{Fingerprint, Kind, Timestamp};

/// A value of a parameter. NULL has the type of its column, too: PostgreSQL asks for it.
#[derive(Clone, Debug)]
pub(in crate::store) enum Value {
    Int(Option<i64>),
    Bool(Option<bool>),
    Real(Option<f64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
}

/// Makes a list of values.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$($crate::store::db::Value::from($value)),*] };
}
pub(in crate::store) use values;

/// How Rust types become values, and with `Option` NULL.
macro_rules! convert {
    ($($kind:ident($value:ident: $($type:ty = $into:expr),+);)+) => {$($(
        impl From<$type> for Value {
            fn from($value: $type) -> Self {
                Self::$kind(Some($into))
            }
        }
        impl From<Option<$type>> for Value {
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
        Timestamp = time::text(value));
    Bytes(value:
        Vec<u8> = value,
        &Vec<u8> = value.clone(),
        &[u8] = value.to_vec(),
        [u8; 32] = value.to_vec(),
        Fingerprint = value.0.to_vec());
}

impl From<&Option<String>> for Value {
    fn from(value: &Option<String>) -> Self {
        Self::Text(value.clone())
    }
}
