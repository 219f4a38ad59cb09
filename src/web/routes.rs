//! Which path leads to which page. It also answers operators: metrics, the status, and whether the daemon is ready.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use axum::{
    Extension, Router,
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header, request::Parts},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use tokio::time::Instant;

use super::{
    Site, WebError,
    answer::{Form, Page, PageRequest, json, refuse},
    api::{self, ApiProblem},
    frame::{self, Asset},
    pages::{
        BalancePage, Board, BoardChoice, GamePage, Home, KindChoice, LivePage, MapPage,
        MatchesPage, PlayerPage, QueuesPage, RegularsPage, SearchPage, ServerPage, SystemsPage,
        VersusPage,
    },
    share, teams,
    visitors::{Visit, is_from},
};
use crate::server::watch::Monitor;

/// The longest path with its query, in bytes.
const LONGEST: usize = 2_048;

type Sites = State<Arc<Site>>;

/// The routes of all pages, with the headers that every answer has.
pub(super) fn router(site: Arc<Site>) -> Router {
    let pages = Router::new()
        .route(BalancePage::PATH, get(show::<BalancePage>))
        .route(Board::PATH, get(board))
        .route(GamePage::PATH, get(show::<GamePage>))
        .route(Home::PATH, get(show::<Home>))
        .route(LivePage::PATH, get(show::<LivePage>))
        .route(MapPage::PATH, get(show::<MapPage>))
        .route(MatchesPage::PATH, get(show::<MatchesPage>))
        .route(PlayerPage::PATH, get(player))
        .route(QueuesPage::PATH, get(show::<QueuesPage>))
        .route(RegularsPage::PATH, get(show::<RegularsPage>))
        .route(SearchPage::PATH, get(show::<SearchPage>))
        .route(ServerPage::PATH, get(show::<ServerPage>))
        .route(SystemsPage::PATH, get(show::<SystemsPage>))
        .route(VersusPage::PATH, get(show::<VersusPage>))
        .route("/matches.atom", get(share::of_all))
        .nest("/embed", frames())
        .nest("/v1", api::router(&site))
        .fallback(nothing);
    let pages = with_asset(with_asset(pages, &frame::STYLE), &frame::ICON);
    let pages = with_asset(pages, &frame::LIVE);
    let pages = match site.takes_calls() {
        true => {
            with_asset(pages, &frame::TEAMS).route("/teams", get(teams::page).post(teams::form))
        }
        false => pages,
    };
    let base = site.settings.base_path.clone();
    let pages = match base.is_empty() {
        true => pages,
        // A proxy asks for the home page with a slash at the end.
        false => Router::new()
            .route(&format!("{base}/"), get(show::<Home>))
            .nest(&base, pages)
            .fallback(nothing),
    };
    // Operators and service managers do not know the base path.
    let all = match site.has_metrics {
        true => pages.merge(health()).merge(metrics()),
        false => pages.merge(health()),
    };
    let all = all.route("/robots.txt", get(robots));
    all.layer(middleware::from_fn_with_state(site.clone(), guard))
        .with_state(site)
}

/// What a page may load, and from where. It has no script that could ask for data, but tools that judge a site read its
/// `robots.txt` as a page would.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// The same for a page with a script, which may load data of these pages.
const POLICY_WITH_SCRIPT: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; \
                                  connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The same for what other sites may show in a frame.
const POLICY_OF_FRAMES: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'none'; \
                                base-uri 'none'; frame-ancestors *";

/// What other sites may show in a frame.
fn frames() -> Router<Arc<Site>> {
    Router::new()
        .route(Board::PATH, get(framed::<Board>))
        .route(GamePage::PATH, get(framed::<GamePage>))
        .route(PlayerPage::PATH, get(framed::<PlayerPage>))
        .route(LivePage::PATH, get(framed::<LivePage>))
}

fn with_asset(pages: Router<Arc<Site>>, asset: &'static LazyLock<Asset>) -> Router<Arc<Site>> {
    pages.route(
        &asset.path,
        get(move |fields: HeaderMap| async move { asset.answer(&fields) }),
    )
}

/// The routes of a listener without pages.
pub(super) fn metrics_router(site: Arc<Site>) -> Router {
    let all = health().merge(metrics()).fallback(nothing);
    all.layer(middleware::from_fn_with_state(site.clone(), guard))
        .with_state(site)
}

fn health() -> Router<Arc<Site>> {
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
}

fn metrics() -> Router<Arc<Site>> {
    Router::new()
        .route("/metrics", get(show_metrics))
        .route("/status.json", get(status))
}

/// Refuses visitors who ask too often and addresses that are too long, adds the headers of every answer, and counts it.
async fn guard(
    State(site): Sites,
    Extension(visit): Extension<Arc<Visit>>,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let uri = request.uri();
    // Only these pages have a script.
    let path = uri.path().strip_prefix(&site.settings.base_path);
    let is_frame = path.is_some_and(|path| path.starts_with("/embed/"));
    let policy = match path {
        Some("/live" | "/teams") => POLICY_WITH_SCRIPT,
        _ if is_frame => POLICY_OF_FRAMES,
        _ => POLICY,
    };
    let long = uri
        .path_and_query()
        .is_some_and(|path| path.as_str().len() > LONGEST);
    let is_call = is_call(&site, uri);
    let mut response = match (visit.may_ask(), long) {
        (false, _) => too_many(is_call),
        (true, true) if is_call => ApiProblem::from(WebError::TooLong).into_response(),
        (true, true) => refuse(&site, &WebError::TooLong),
        (true, false) => next.run(request).await,
    };
    let headers: [(HeaderName, &str); 4] = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ];
    let no_frames = (header::X_FRAME_OPTIONS, "DENY");
    let no_frames = (!is_frame).then_some(no_frames);
    for (name, value) in headers.into_iter().chain(no_frames) {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    let (status, took) = (response.status().as_u16(), began.elapsed());
    site.monitor().http().answered(status, took.as_secs_f64());
    response
}

/// Whether a request is for a program, which reads no HTML.
fn is_call(site: &Site, uri: &Uri) -> bool {
    let path = uri.path().strip_prefix(&site.settings.base_path);
    path.is_some_and(|path| path.starts_with("/v1/"))
}

/// The answer to a visitor who asks too often.
fn too_many(is_call: bool) -> Response {
    let why = concat!("too many requests from your address", "\n");
    if is_call {
        return ApiProblem::too_many(why.trim_end(), Duration::from_secs(1)).into_response();
    }
    let later = [(header::RETRY_AFTER, "1")];
    (StatusCode::TOO_MANY_REQUESTS, later, why).into_response()
}

async fn nothing(State(site): Sites) -> Response {
    refuse(&site, &WebError::NotFound)
}

/// Answers a request for a ruleset, or for the feed of its matches.
async fn board(State(site): Sites, asked: PageRequest<BoardChoice>) -> Response {
    match asked.form {
        Form::Atom => share::of_ruleset(&site, &asked.fields, &asked.name).await,
        _ => show::<Board>(State(site), asked).await,
    }
}

/// Answers a request for a player, for the feed of the player's matches, or for the badge.
async fn player(State(site): Sites, asked: PageRequest<KindChoice>) -> Response {
    let (kind, ruleset) = (asked.choice.kind, asked.choice.ruleset.as_deref());
    match asked.form {
        Form::Atom => share::feed_of_player(&site, &asked.fields, &asked.name, kind).await,
        Form::Svg => {
            let made = share::of_player(&site, &asked.name, kind, ruleset).await;
            asked.send(&site, made)
        }
        _ => show::<PlayerPage>(State(site), asked).await,
    }
}

/// What search engines leave out: what is no page, and lists that a search has made.
async fn robots(State(site): Sites) -> String {
    let base = &site.settings.base_path;
    let out = ["/embed/", "/v1/", "/*.atom", "/*?*q="];
    let lines: String = out
        .iter()
        .map(|path| format!("Disallow: {base}{path}\n"))
        .collect();
    format!("User-agent: *\n{lines}")
}

/// Answers a request for the part of a page that another site shows in a frame.
async fn framed<P: Page>(State(site): Sites, asked: PageRequest<P::Choice>) -> Response {
    let page = P::read(&site, &asked.name, &asked.choice).await;
    asked.answer_framed(&site, page)
}

/// Answers a request for a page.
async fn show<P: Page>(State(site): Sites, asked: PageRequest<P::Choice>) -> Response {
    let page = P::read(&site, &asked.name, &asked.choice).await;
    asked.answer(&site, page)
}

/// The answer to an address that may not read metrics.
const NOT_YOU: &str = concat!(
    "your address may not read this: see [web] metrics_from",
    "\n"
);

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
        if !may {
            return Err((StatusCode::FORBIDDEN, NOT_YOU));
        }
        // A listener of its own has nothing that a browser visits.
        if site.has_metrics {
            let foreign = site
                .metrics_hosts
                .refuse_foreign(&parts.headers, site.api.as_ref());
            foreign.map_err(|why| (StatusCode::FORBIDDEN, why))?;
        }
        Ok(Self(site.clone()))
    }
}

/// `/metrics`: all metrics, as text for Prometheus.
async fn show_metrics(Operator(site): Operator) -> Response {
    let text = site.monitor().metrics().await;
    ([(header::CONTENT_TYPE, Monitor::METRICS_TYPE)], text).into_response()
}

/// `/status.json`: the status of the daemon.
pub(super) async fn status(Operator(site): Operator) -> Response {
    match json(&site.monitor().status().await) {
        Ok(answer) => answer,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// `/readyz`: whether matches that end are stored or kept, and questions are answered rightly.
pub(super) async fn ready(State(site): State<Arc<Site>>) -> Response {
    match site.monitor().readiness().await {
        Ok(()) => "ready\n".into_response(),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")).into_response(),
    }
}
