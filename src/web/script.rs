//! The scripts of pages, each under a path that changes with its content. The pages can be used without them.

use std::sync::LazyLock;

use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};

use crate::domain::to_hex;

/// A script.
pub(super) struct Script {
    /// The path, below the base path.
    pub(super) path: String,
    text: &'static str,
}

/// Loads the page of running games again when its data has changed.
pub(super) static LIVE: LazyLock<Script> =
    LazyLock::new(|| Script::new("live", include_str!("live.js")));
/// Counts the players in the form of the page of teams.
pub(super) static TEAMS: LazyLock<Script> =
    LazyLock::new(|| Script::new("teams", include_str!("teams/teams.js")));

impl Script {
    fn new(name: &str, text: &'static str) -> Self {
        let hash = Sha256::digest(text.as_bytes());
        let path = format!("/{name}-{}.js", to_hex(&hash[..6]));
        Self { path, text }
    }

    /// The script. It may be kept for ever, because another content has another path.
    pub(super) fn answer(&self) -> Response {
        let headers = [
            (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
            (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        ];
        (headers, self.text).into_response()
    }
}
