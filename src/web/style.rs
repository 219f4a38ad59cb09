//! The style sheet, under a path that changes with its content.

use std::sync::LazyLock;

use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};

use crate::domain::to_hex;

const SHEET: &str = include_str!("style.css");

static PATH: LazyLock<String> = LazyLock::new(|| {
    let hash = Sha256::digest(SHEET.as_bytes());
    format!("/style-{}.css", to_hex(&hash[..6]))
});

/// The path of the style sheet, below the base path.
pub(super) fn path() -> String {
    PATH.clone()
}

/// The style sheet. It may be kept for ever, because another content has another path.
pub(super) fn sheet() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/css; charset=utf-8"),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (headers, SHEET).into_response()
}
