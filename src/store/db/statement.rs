//! What a database is sent, and what it answers.

use std::borrow::Cow;

use super::{Row, Value};

/// The text of a statement, and the values of its parameters.
#[derive(Clone, Debug)]
pub(in crate::store) struct Statement {
    pub text: Cow<'static, str>,
    pub values: Vec<Value>,
    /// Whether it was put together of parts, and may have thousands of parameters.
    pub is_built: bool,
    /// Whether the connection keeps it prepared, for the next time.
    pub persistent: bool,
}

/// What a statement has done: how many rows it has changed, and the rows that it returns.
#[derive(Default)]
pub(super) struct Answer {
    pub changed: u64,
    pub rows: Vec<Row>,
}
