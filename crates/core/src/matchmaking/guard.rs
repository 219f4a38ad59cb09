//! Keeps a panic in one search from ending all others: the panic becomes an error with its message.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// The most characters that are kept of a panic's message.
const MOST: usize = 300;

/// Calls `search`, and returns the message if it panics. What it borrows must not be used after a panic
/// unless it is only read.
pub(super) fn guard<T>(search: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(search)).map_err(|panic| message(&*panic))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("a panic without a message");
    text.chars().take(MOST).collect()
}
