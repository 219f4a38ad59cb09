//! The style sheet and the scripts of pages, each under a path that changes with its content. The pages can be used
//! without the scripts.

use std::sync::LazyLock;

use axum::{
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};

use super::compress::{GZIP, VARY, accepts_gzip, gzip};
use crate::model::to_hex;

/// A file that pages load.
pub(super) struct Asset {
    /// The path, below the base path.
    pub(super) path: String,
    content_type: &'static str,
    text: &'static str,
    /// The same, compressed.
    packed: Option<Vec<u8>>,
}

pub(super) static STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("style", "css", include_str!("style.css")));
/// The picture of the site in tabs and bookmarks.
pub(super) static ICON: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("icon", "svg", include_str!("icon.svg")));
/// Loads the page of running games again when its data has changed.
pub(super) static LIVE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("live", "js", include_str!("live.js")));
/// Counts the players in the form of the page of teams.
pub(super) static TEAMS: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("teams", "js", include_str!("teams/teams.js")));

impl Asset {
    fn new(name: &str, ending: &str, text: &'static str) -> Self {
        let hash = Sha256::digest(text.as_bytes());
        Self {
            path: format!("/{name}-{}.{ending}", to_hex(&hash[..6])),
            content_type: match ending {
                "css" => "text/css; charset=utf-8",
                "svg" => "image/svg+xml",
                _ => "text/javascript; charset=utf-8",
            },
            text,
            packed: gzip(text.as_bytes()),
        }
    }

    /// The content. It may be kept for ever, because another content has another path.
    pub(super) fn answer(&self, request: &HeaderMap) -> Response {
        let headers = [
            (header::CONTENT_TYPE, self.content_type),
            (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        ];
        match self.packed.as_ref().filter(|_| accepts_gzip(request)) {
            Some(packed) => (headers, [VARY, GZIP], packed.clone()).into_response(),
            None => (headers, [VARY], self.text).into_response(),
        }
    }
}
