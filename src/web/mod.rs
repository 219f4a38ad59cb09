//! The statistics pages: HTML, JSON and a feed over HTTP, on a listener of their own.
//!
//! Pages are made at each request from the read models of the store ([`Store`](crate::store::Store)) and the
//! published weights; no page is cached here. The pages only show: they answer GET and HEAD, and change
//! nothing. What changes something is below `/v1`, for programs (`api`), and at `/teams`, for people (`teams`); both are
//! off by default. Whatever a visitor sends, a connection costs one task and a bounded buffer for a bounded time.
//! Every text of a player or a game server is escaped, and an identity is never written.
//!
//! `/metrics`, `/status.json`, `/healthz` and `/readyz` are for operators: [`watch`](crate::server::watch) makes
//! them. The first two are answered to the addresses of the configuration.
//!
//! Each page is a struct: its JSON is the struct, its HTML is made of the same struct. Entry point: [`run`].

#[macro_use]
mod texts;
mod answer;
mod api;
mod chances;
mod compress;
mod connection;
mod frame;
mod links;
mod pages;
mod plot;
mod present;
mod routes;
mod settings;
mod share;
mod site;
mod teams;
mod visitors;
mod words;

pub use api::{ApiSettings, WebOrigin};
pub use connection::{Audience, run};
pub use settings::{PageNumbers, WebLimits, WebSettings};
pub use site::Site;

use axum::http::StatusCode;

use crate::{learning::LearningError, store::StoreError};

/// Why a request has no page as its answer. Visitors see a sentence, and the log has the detail.
#[derive(Debug, thiserror::Error)]
enum WebError {
    /// Nothing is at this path.
    #[error("{}", text!(error.there_is_no_such_page))]
    NotFound,
    /// No ruleset has this name.
    #[error("{}", text!(error.no_ruleset_has_this_name))]
    NoRuleset,
    /// No player with a page has this handle or identity.
    #[error("{}", text!(error.no_player_with_a_rated_match_has))]
    NoPlayer,
    /// No match has this number.
    #[error("{}", text!(error.no_match_has_this_number))]
    NoMatch,
    /// What the page shows is being counted again.
    #[error("{}", text!(words.the_matches_are_being_counted_again))]
    Counting,
    /// The path or the query cannot be read.
    #[error("{}", text!(error.the_address_of_this_page_cannot_be))]
    BadRequest,
    /// The path and the query are too long.
    #[error("{}", text!(error.the_address_of_this_page_is_too))]
    TooLong,
    /// The store has failed; visitors do not see why.
    #[error("{}", text!(error.the_statistics_cannot_be_read_at))]
    Store(#[from] StoreError),
    /// A plot cannot be drawn, or a page cannot be encoded.
    #[error("{}", text!(error.this_page_cannot_be_shown))]
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
    fn status(&self) -> StatusCode {
        match self {
            Self::NotFound | Self::NoRuleset | Self::NoPlayer | Self::NoMatch => {
                StatusCode::NOT_FOUND
            }
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::TooLong => StatusCode::URI_TOO_LONG,
            Self::Store(_) | Self::Counting => StatusCode::SERVICE_UNAVAILABLE,
            Self::Broken(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}
