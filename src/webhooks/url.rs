//! The address of a receiver.

use std::{fmt, net::IpAddr};

use serde::Deserialize;
use ureq::http::Uri;

/// The longest address, in bytes.
const MAX_URL: usize = 2_048;

/// The address that requests are sent to. Its path and query are not printed: some receivers have
/// their secret there.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct HookUrl {
    text: String,
    /// Scheme, host and port.
    origin: String,
    is_plain: bool,
    is_loopback: bool,
}

impl HookUrl {
    /// The whole address.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether requests are not encrypted.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether the receiver is on this machine.
    pub fn is_loopback(&self) -> bool {
        self.is_loopback
    }
}

impl TryFrom<String> for HookUrl {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.len() > MAX_URL || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("must be at most 2048 characters of ASCII, without spaces");
        }
        let form = "must be an address such as \"https://example.org/evenkeel\"";
        let uri: Uri = text.parse().map_err(|_| form)?;
        let is_plain = match uri.scheme_str() {
            Some("https") => false,
            Some("http") => true,
            _ => return Err(form),
        };
        let authority = uri.authority().ok_or(form)?;
        if authority.as_str().contains('@') {
            return Err("must not contain a user or a password");
        }
        let host = authority.host();
        if host.is_empty() {
            return Err(form);
        }
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        let scheme = if is_plain { "http" } else { "https" };
        Ok(Self {
            origin: format!("{scheme}://{authority}"),
            is_plain,
            is_loopback: host == "localhost" || address.is_ok_and(|ip| ip.is_loopback()),
            text,
        })
    }
}

/// Scheme, host and port.
impl fmt::Display for HookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)
    }
}

impl fmt::Debug for HookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HookUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Result<HookUrl, &'static str> {
        HookUrl::try_from(text.to_owned())
    }

    #[test]
    fn only_the_origin_is_printed() {
        let url = url("https://example.org:8443/hooks/s3cret?key=s3cret").unwrap();
        assert_eq!(url.to_string(), "https://example.org:8443");
        assert!(!format!("{url:?}").contains("s3cret"));
        assert_eq!(
            url.as_str(),
            "https://example.org:8443/hooks/s3cret?key=s3cret"
        );
    }

    #[test]
    fn loopback_is_this_machine_alone() {
        let is = |text: &str| url(text).unwrap().is_loopback();
        for near in [
            "http://127.0.0.1:1/",
            "http://[::1]:9/x",
            "http://localhost",
            "https://127.9.9.9/",
        ] {
            assert!(is(near), "{near}");
        }
        for far in [
            "http://127.0.0.1.example.org/",
            "http://localhost.example.org/",
            "http://10.0.0.1/",
        ] {
            assert!(!is(far), "{far}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let long = format!("https://example.org/{}", "a".repeat(2_048));
        for bad in [
            "",
            "example.org",
            "/path",
            "ftp://example.org/",
            "file:///etc/passwd",
            "https://",
            "https://a:b@example.org/",
            "https://example.org/a b",
            "https://example.org/\n",
            &long,
        ] {
            assert!(url(bad).is_err(), "{bad}");
        }
    }
}
