//! Why a record or a pattern is invalid.

/// Why a record is invalid, in one sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RecordError(pub(super) &'static str);

/// A pattern that is not a valid glob.
#[derive(Debug, thiserror::Error)]
#[error("{list}: {source}")]
pub struct PatternError {
    /// Name of the list that contains the pattern.
    pub list: &'static str,
    /// What is wrong with it.
    #[source]
    pub source: globset::Error,
}
