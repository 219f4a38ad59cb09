#![doc = include_str!("../README.md")]
//!
//! # How it is built
//!
//! The statistics pages, and the same as JSON for programs, over HTTP, on a listener of their own.
//!
//! Pages are made at each request from the read models of the store ([`Store`](crate::store::Store)) and the
//! published weights; no page is cached here. The pages only show: they answer GET and HEAD, and change
//! nothing. Changes are made below `/v1`, by programs (`api`), and at `/teams`, by people (`teams`); these are
//! off by default. Whatever a visitor sends, a connection costs one task and a bounded buffer for a bounded time.
//! Every text of a player or a game server is escaped, and an identity is never written.
//!
//! `/metrics`, `/status.json`, `/healthz` and `/readyz` are for operators: [`watch`](crate::server::watch) makes
//! them. The first two are answered to the addresses of the configuration.
//!
//! Each page is a struct: what `/v1` answers is the struct, its HTML is made of the same struct. Entry point: [`run`].

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping

use evenkeel_ground::{random, store};
use evenkeel_ingest as ingest;
use evenkeel_lobby as lobby;
use evenkeel_matchmaking as matchmaking;
use evenkeel_model as model;
use evenkeel_partition as partition;
use evenkeel_protocol as protocol;
use evenkeel_rating as rating;
use evenkeel_service::{experiments, learning, queues, server, session};

/// A sentence whose holes, `{0}` or `{name}`, are filled with HTML: each part in braces, as `html!` takes it. Names are put
/// into sentences only so, and never by replacing text.
macro_rules! mark {
    ($sentence:literal, $({ $($part:tt)* }),+) => {
        ::maud::PreEscaped(format!($sentence, $(::maud::html! { $($part)* }.into_string()),+))
    };
}

mod answer;
pub mod api;
mod chances;
mod compress;
mod frame;
mod links;
mod pages;
mod plot;
mod routes;
mod share;
mod site;
mod teams;
mod visitors;
mod words;

pub use api::{ApiSettings, WebOrigin};
pub use routes::{Audience, run};
pub use site::{MetricsHosts, PageNumbers, Site, WebLimits, WebSettings};

use axum::http::StatusCode;

use crate::{learning::LearningError, store::StoreError};

/// Why a request has no page as its answer. Visitors see a sentence, and the log has the detail.
#[derive(Debug, thiserror::Error)]
enum WebError {
    /// Nothing is at this path.
    #[error("There is no such page.")]
    NotFound,
    /// No ruleset has this name.
    #[error("No game type has this name.")]
    NoRuleset,
    /// No player with a page has this handle or identity.
    #[error("No player with a rated match has this address.")]
    NoPlayer,
    /// No match has this number.
    #[error("No match has this number.")]
    NoMatch,
    /// What the page shows is being counted again.
    #[error("The matches are being counted again. This takes a moment.")]
    Counting,
    /// The path or the query cannot be read.
    #[error("The address of this page cannot be read.")]
    BadRequest,
    /// The visitor asks too often.
    #[error("You ask too often. Wait a moment, and try again.")]
    TooOften,
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
    fn status(&self) -> StatusCode {
        match self {
            Self::NotFound | Self::NoRuleset | Self::NoPlayer | Self::NoMatch => {
                StatusCode::NOT_FOUND
            }
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::TooOften => StatusCode::TOO_MANY_REQUESTS,
            Self::TooLong => StatusCode::URI_TOO_LONG,
            Self::Store(_) | Self::Counting => StatusCode::SERVICE_UNAVAILABLE,
            Self::Broken(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}
