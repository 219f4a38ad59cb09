//! SQLite has no letters: one daemon runs all queues of a file, and the others send it nothing.

use super::DbConnection;
use crate::store::{NewLetter, StoreError};

/// Does nothing, because there are no letters.
pub(super) async fn exchange(
    _: &mut DbConnection,
    _: &[i64],
    _: &[NewLetter],
) -> Result<(), StoreError> {
    Ok(())
}
