//! Whose requests `/v1` answers: those of programs, and those that a page of a configured web site sends.

use std::{net::IpAddr, sync::Arc};

use axum::http::{HeaderMap, HeaderValue, header};

use super::settings::ApiSettings;
use crate::server::Gate;

/// What `/v1` needs besides the pages.
#[derive(Debug)]
pub(in crate::web) struct Api {
    pub(in crate::web) settings: ApiSettings,
    pub(in crate::web) gate: Arc<Gate>,
}

impl Api {
    /// Refuses a request of a page that is not of a configured web site, and one that was sent to another name than
    /// this site's: a name that leads to this machine may be anybody's.
    ///
    /// # Errors
    /// Fails with the reason, for the sender.
    pub(in crate::web) fn refuse_foreign(&self, fields: &HeaderMap) -> Result<(), &'static str> {
        let text = |name| fields.get(name).map(|value: &HeaderValue| value.to_str());
        let host = match text(header::HOST) {
            Some(Ok(host)) => host.to_ascii_lowercase(),
            _ => String::new(),
        };
        let ours = &self.settings.origins;
        let is_ours = is_address(&host) || ours.iter().any(|one| one.authority() == host);
        if !is_ours {
            return Err("this Host is not in [api] origins");
        }
        let Some(origin) = text(header::ORIGIN) else {
            return Ok(());
        };
        let origin = origin.unwrap_or_default();
        let own = origin.split_once("://").is_some_and(|(_, own)| own == host);
        match own || self.allows(origin) {
            true => Ok(()),
            false => Err(FOREIGN),
        }
    }

    /// Whether a web site is one of the configuration.
    pub(super) fn allows(&self, origin: &str) -> bool {
        let origins = &self.settings.origins;
        origins.iter().any(|one| one.as_str() == origin)
    }
}

/// Why a request of another web site's page is refused.
pub(super) const FOREIGN: &str = "this Origin is not in [api] origins";

/// Whether a host is an address of a machine, or this machine. A foreign page cannot give these to its own site.
fn is_address(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || bare.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_ours_only_if_it_is_configured() {
        for host in [
            "localhost",
            "localhost:7998",
            "127.0.0.1:1",
            "[::1]:7998",
            "192.0.2.7",
        ] {
            assert!(is_address(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "1.2.3",
        ] {
            assert!(!is_address(host), "{host}");
        }
    }
}
