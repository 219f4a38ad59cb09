//! Why a page cannot be shown.

use axum::http::StatusCode;

use crate::{learning::LearningError, store::StoreError};

/// Why a request has no page as its answer. Visitors see a sentence, and the log has the detail.
#[derive(Debug, thiserror::Error)]
pub(super) enum WebError {
    /// Nothing is at this path.
    #[error("There is no such page.")]
    NotFound,
    /// No ruleset has this name.
    #[error("No ruleset has this name.")]
    NoRuleset,
    /// No player with a page has this handle or identity.
    #[error("No player with a rated match has this address.")]
    NoPlayer,
    /// No match has this number.
    #[error("No match has this number.")]
    NoMatch,
    /// The path or the query cannot be read.
    #[error("The address of this page cannot be read.")]
    BadRequest,
    /// The path and the query are too long.
    #[error("The address of this page is too long.")]
    TooLong,
    /// The store has failed; visitors do not see why.
    #[error("The statistics cannot be read at the moment.")]
    Store(#[from] StoreError),
    /// A plot cannot be drawn, or a page cannot be encoded.
    #[error("This page cannot be shown.")]
    Broken(String),
}

impl From<LearningError> for WebError {
    fn from(error: LearningError) -> Self {
        match error {
            LearningError::Store(error) => Self::Store(error),
            other => Self::Broken(other.to_string()),
        }
    }
}

impl WebError {
    /// The status of the answer.
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::NotFound | Self::NoRuleset | Self::NoPlayer | Self::NoMatch => {
                StatusCode::NOT_FOUND
            }
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::TooLong => StatusCode::URI_TOO_LONG,
            Self::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Broken(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}
