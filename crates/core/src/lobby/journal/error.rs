//! Why a journal cannot be resumed from.

/// Why a journal cannot be resumed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// The bytes are not a journal, or belong to another version.
    #[error("it is not a journal of this version")]
    Foreign,
    /// Even the first frame is torn or damaged.
    #[error("its beginning is incomplete or damaged")]
    Damaged,
    /// An undamaged frame contains an entry that this version does not know.
    #[error("it holds entries that this version cannot read")]
    Unreadable,
    /// The state in the first entry contradicts itself.
    #[error("the state at its beginning is inconsistent")]
    Inconsistent,
    /// An entry cannot be written.
    #[error("an entry cannot be written")]
    Unwritable,
}
