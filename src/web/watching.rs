//! The answers for operators: metrics, the status, and whether the daemon is ready.

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, State},
    http::{StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};

use super::{Site, access::is_from, answer::json, visitors::Visit};
use crate::metrics::CONTENT_TYPE;

/// The answer to an address that may not read metrics.
const NOT_YOU: &str = concat!(text!(error.your_address_may_not_read_this_see), "\n");

/// A request for the metrics or the status, from an address that may read them.
pub(super) struct Operator(Arc<Site>);

impl FromRequestParts<Arc<Site>> for Operator {
    type Rejection = (StatusCode, &'static str);

    async fn from_request_parts(
        parts: &mut Parts,
        site: &Arc<Site>,
    ) -> Result<Self, Self::Rejection> {
        let proxies = &site.settings.trusted_proxies;
        let visit = parts.extensions.get::<Arc<Visit>>();
        let may = visit
            .is_some_and(|visit| is_from(&site.metrics_from, visit.peer, &parts.headers, proxies));
        match may {
            true => Ok(Self(site.clone())),
            false => Err((StatusCode::FORBIDDEN, NOT_YOU)),
        }
    }
}

/// `/metrics`: all metrics, as text for Prometheus.
pub(super) async fn metrics(Operator(site): Operator) -> Response {
    let text = site.monitor().metrics().await;
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response()
}

/// `/status.json`: the status of the daemon.
pub(super) async fn status(Operator(site): Operator) -> Response {
    match json(&site.monitor().status().await) {
        Ok(answer) => answer,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// `/readyz`: whether weights can be asked for, and the database answers.
pub(super) async fn ready(State(site): State<Arc<Site>>) -> Response {
    match site.monitor().readiness().await {
        Ok(()) => "ready\n".into_response(),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")).into_response(),
    }
}
