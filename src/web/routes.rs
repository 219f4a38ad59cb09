//! Which path leads to which page.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderName, HeaderValue, Uri, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use tokio::time::Instant;

use super::{
    Site,
    answer::{Form, refuse},
    api::{self, Problem},
    asked::{Asked, Nothing},
    error::WebError,
    feed, pages, script, style, teams, watching,
};

/// The longest path with its query, in bytes.
const LONGEST: usize = 2_048;

type Sites = State<Arc<Site>>;

/// The routes of all pages, with the headers that every answer has.
pub(super) fn router(site: Arc<Site>) -> Router {
    let pages = Router::new()
        .route("/", get(home))
        .route("/index.json", get(home))
        .route("/rulesets/{name}", get(ruleset))
        .route("/players/{name}", get(player))
        .route("/matches/{name}", get(game))
        .route("/balance", get(balance))
        .route("/balance.json", get(balance))
        .route("/live", get(live))
        .route("/live.json", get(live))
        .route("/systems", get(systems))
        .route("/systems.json", get(systems))
        .route("/queues", get(queues))
        .route("/queues.json", get(queues))
        .route("/matches.atom", get(feed::feed))
        .route(&script::LIVE.path, get(async || script::LIVE.answer()))
        .route(&style::path(), get(async || style::sheet()))
        .fallback(nothing);
    let pages = match &site.api {
        Some(_) => pages
            .route("/teams", get(teams::page).post(teams::form))
            .route(&script::TEAMS.path, get(async || script::TEAMS.answer()))
            .nest("/v1", api::router(&site)),
        None => pages,
    };
    let base = site.settings.base_path.clone();
    let pages = match base.is_empty() {
        true => pages,
        // A proxy asks for the home page with a slash at the end.
        false => Router::new()
            .route(&format!("{base}/"), get(home))
            .nest(&base, pages)
            .fallback(nothing),
    };
    // Operators and service managers do not know the base path.
    let all = match site.has_metrics {
        true => pages.merge(health()).merge(metrics()),
        false => pages.merge(health()),
    };
    all.layer(middleware::from_fn_with_state(site.clone(), guard))
        .with_state(site)
}

/// What a page may load, and from where.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";
/// The same for a page with a script, which may load data of these pages.
const POLICY_WITH_SCRIPT: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; \
                                  connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The routes of a listener without pages.
pub(super) fn metrics_router(site: Arc<Site>) -> Router {
    let all = health().merge(metrics()).fallback(nothing);
    all.layer(middleware::from_fn_with_state(site.clone(), guard))
        .with_state(site)
}

fn health() -> Router<Arc<Site>> {
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(watching::ready))
}

fn metrics() -> Router<Arc<Site>> {
    Router::new()
        .route("/metrics", get(watching::metrics))
        .route("/status.json", get(watching::status))
}

/// Refuses addresses that are too long, adds the headers of every answer, and counts it.
async fn guard(State(site): Sites, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let uri = request.uri();
    // Only these pages have a script.
    let policy = match uri.path().strip_prefix(&site.settings.base_path) {
        Some("/live" | "/teams") => POLICY_WITH_SCRIPT,
        _ => POLICY,
    };
    let long = uri
        .path_and_query()
        .is_some_and(|path| path.as_str().len() > LONGEST);
    let mut response = match long {
        true if is_call(&site, uri) => Problem::from(WebError::TooLong).into_response(),
        true => refuse(&site, Form::Html, &WebError::TooLong),
        false => next.run(request).await,
    };
    let headers: [(HeaderName, &str); 5] = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in headers {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    let (status, took) = (response.status().as_u16(), began.elapsed());
    site.watched().http().answered(status, took.as_secs_f64());
    response
}

/// Whether a request is for a program, which reads no HTML.
pub(super) fn is_call(site: &Site, uri: &Uri) -> bool {
    let path = uri.path().strip_prefix(&site.settings.base_path);
    site.api.is_some() && path.is_some_and(|path| path.starts_with("/v1/"))
}

async fn nothing(State(site): Sites, request: Request) -> Response {
    let (form, _) = Form::of(request.uri().path());
    refuse(&site, form, &WebError::NotFound)
}

async fn home(State(site): Sites, asked: Asked<Nothing>) -> Response {
    asked.answer(&site, pages::home(&site).await)
}

async fn ruleset(State(site): Sites, asked: Asked<pages::BoardChoice>) -> Response {
    asked.answer(
        &site,
        pages::ruleset(&site, &asked.name, &asked.choice).await,
    )
}

async fn player(State(site): Sites, asked: Asked<pages::KindChoice>) -> Response {
    asked.answer(
        &site,
        pages::player(&site, &asked.name, &asked.choice).await,
    )
}

async fn game(State(site): Sites, asked: Asked<Nothing>) -> Response {
    asked.answer(&site, pages::game(&site, &asked.name).await)
}

async fn live(State(site): Sites, asked: Asked<Nothing>) -> Response {
    asked.answer(&site, pages::live(&site).await)
}

async fn systems(State(site): Sites, asked: Asked<Nothing>) -> Response {
    asked.answer(&site, pages::systems(&site).await)
}

async fn queues(State(site): Sites, asked: Asked<Nothing>) -> Response {
    asked.answer(&site, pages::queues(&site).await)
}

async fn balance(State(site): Sites, asked: Asked<pages::BalanceChoice>) -> Response {
    asked.answer(&site, pages::balance(&site, &asked.choice).await)
}
