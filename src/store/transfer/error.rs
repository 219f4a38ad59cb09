//! Why a transfer cannot begin or go on.

use crate::store::StoreError;

/// Why a database cannot be transferred.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// A daemon uses one of the databases.
    #[error("a daemon uses {place}: stop it, and all others of this database, and try again")]
    InUse {
        /// The path or the address of the database.
        place: String,
    },
    /// Source and target are the same database.
    #[error("FROM and TO are the same database")]
    Same,
    /// The target contains something that is no part of this transfer.
    #[error("{place} is not empty: its table {table} has rows")]
    NotEmpty {
        /// The path or the address of the target.
        place: String,
        /// The first table that is not empty.
        table: &'static str,
    },
    /// The target contains a part of another database.
    #[error("{place} contains a part of another database than this one: begin with an empty one")]
    OtherSource {
        /// The path or the address of the target.
        place: String,
    },
    /// One of the databases failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
