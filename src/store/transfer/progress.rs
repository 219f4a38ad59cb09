//! How far a transfer is.

use serde::{Deserialize, Serialize};

use super::Value;

/// The state of the target that records how far a transfer to it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct TransferMark {
    /// The identity of the source.
    pub source: String,
    /// The table that is being copied; `None` once all are.
    pub next: Option<String>,
    /// The key of the last row of it that was copied, as the source has it.
    pub last_key: Option<Vec<Value>>,
}

impl TransferMark {
    /// Goes on to a table; `None` if there is no other.
    pub fn begin(&mut self, table: Option<&str>) {
        self.next = table.map(str::to_owned);
        self.last_key = None;
    }
}
