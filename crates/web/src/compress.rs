//! Compresses answers for visitors who can read that. Only what is the same for everybody is compressed: the size of an
//! answer tells nothing about a secret.

use std::io::Write;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use flate2::{Compression, write::GzEncoder};

/// The shortest text that is compressed, in bytes: a shorter one fits into one packet anyway.
const SHORTEST: usize = 1_024;
/// A higher level makes a page hardly smaller, and takes longer.
const LEVEL: u32 = 4;

/// The header field that says that a text is compressed.
pub(super) const GZIP: (HeaderName, HeaderValue) =
    (header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
/// The header field that says that others may get the same text in another form.
pub(super) const VARY: (HeaderName, HeaderValue) =
    (header::VARY, HeaderValue::from_static("Accept-Encoding"));

/// The text compressed, if that is worth it and the visitor can read it.
pub(super) fn compressed(request: &HeaderMap, text: &str) -> Option<Vec<u8>> {
    let is_worth_it = text.len() >= SHORTEST && accepts_gzip(request);
    is_worth_it.then(|| gzip(text.as_bytes())).flatten()
}

/// A text as gzip; `None` if that fails, which writing to memory does not.
pub(super) fn gzip(text: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(text.len() / 4), Compression::new(LEVEL));
    encoder.write_all(text).ok()?;
    encoder.finish().ok()
}

/// Whether a visitor states that gzip can be read.
pub(super) fn accepts_gzip(request: &HeaderMap) -> bool {
    let values = request.get_all(header::ACCEPT_ENCODING).iter();
    let parts = values.flat_map(|value| value.to_str().unwrap_or_default().split(','));
    let mut parts = parts.map(|part| part.split_once(';').unwrap_or((part, "")));
    parts.any(|(name, quality)| {
        let refused = quality.trim().strip_prefix("q=").map(str::parse::<f64>);
        name.trim().eq_ignore_ascii_case("gzip") && refused != Some(Ok(0.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_compressed_for_those_who_say_that_they_can_read_it() {
        let fields = |value: &'static str| {
            let mut fields = HeaderMap::new();
            fields.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
            fields
        };
        for accepted in ["gzip", "br, GZIP;q=0.5", "deflate, gzip"] {
            assert!(accepts_gzip(&fields(accepted)), "{accepted}");
        }
        for refused in ["", "br", "gzip;q=0", "gzip; q=0.0", "x-gzip"] {
            assert!(!accepts_gzip(&fields(refused)), "{refused}");
        }
        let long = "even ".repeat(1_000);
        let packed = compressed(&fields("gzip"), &long).unwrap();
        assert!(packed.len() < long.len() / 10, "{}", packed.len());
        assert_eq!(compressed(&fields("gzip"), "short"), None);
        assert_eq!(compressed(&HeaderMap::new(), &long), None);
    }
}
