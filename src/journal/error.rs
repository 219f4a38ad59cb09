//! Why a journal cannot be resumed from.

/// Why a journal cannot be resumed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// The bytes are no journal, or one of another version.
    #[error("it is no journal of this version")]
    Foreign,
    /// Not even its beginning is whole.
    #[error("its beginning is torn or damaged")]
    Damaged,
    /// A whole frame holds what this version does not know.
    #[error("it holds entries that this version cannot read")]
    Unreadable,
    /// The state at its beginning contradicts itself.
    #[error("the state at its beginning is inconsistent")]
    Inconsistent,
    /// An entry cannot be written.
    #[error("an entry cannot be written")]
    Unwritable,
}
