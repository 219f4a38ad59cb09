//! The script of the page of running games, under a path that changes with its content. It loads that page
//! again when its data has changed; the page can be read without it.

use std::sync::LazyLock;

use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};

const SCRIPT: &str = include_str!("live.js");

static PATH: LazyLock<String> = LazyLock::new(|| {
    let hash = Sha256::digest(SCRIPT.as_bytes());
    let hash: String = hash.iter().take(6).map(|b| format!("{b:02x}")).collect();
    format!("/live-{hash}.js")
});

/// The path of the script, below the base path.
pub(super) fn path() -> String {
    PATH.clone()
}

/// The script. It may be kept for ever, because another content has another path.
pub(super) fn script() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (headers, SCRIPT).into_response()
}
