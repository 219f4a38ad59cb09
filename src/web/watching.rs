//! The answers for operators: metrics, the status, and whether the daemon is ready.

use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};

use super::{
    Site,
    access::{Visitor, is_from},
};
use crate::metrics::CONTENT_TYPE;

type Sites = State<Arc<Site>>;

/// The answer to an address that may not read metrics.
const NOT_YOU: &str = "your address may not read this: see [web] metrics_from\n";

impl Site {
    /// Whether a request may read metrics and the status.
    fn lets_watch(&self, visitor: Visitor, fields: &HeaderMap) -> bool {
        let proxies = &self.settings.trusted_proxies;
        is_from(&self.metrics_from, visitor, fields, proxies)
    }
}

/// `/metrics`: all metrics, as text for Prometheus.
pub(super) async fn metrics(
    State(site): Sites,
    Extension(visitor): Extension<Visitor>,
    fields: HeaderMap,
) -> Response {
    if !site.lets_watch(visitor, &fields) {
        return (StatusCode::FORBIDDEN, NOT_YOU).into_response();
    }
    let text = site.watched().metrics().await;
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response()
}

/// `/status.json`: the status of the daemon.
pub(super) async fn status(
    State(site): Sites,
    Extension(visitor): Extension<Visitor>,
    fields: HeaderMap,
) -> Response {
    if !site.lets_watch(visitor, &fields) {
        return (StatusCode::FORBIDDEN, NOT_YOU).into_response();
    }
    match serde_json::to_string(&site.watched().status().await) {
        Ok(text) => {
            let fields = [
                (header::CONTENT_TYPE, "application/json"),
                (header::CACHE_CONTROL, "no-store"),
            ];
            (fields, text).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "no status");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// `/readyz`: whether weights can be asked for, and the database answers.
pub(super) async fn ready(State(site): Sites) -> Response {
    match site.watched().readiness().await {
        Ok(()) => "ready\n".into_response(),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")).into_response(),
    }
}
