//! From a visitor's connection to a page: which path leads to which page, and how connections are accepted. It also answers
//! operators: metrics, the status, and whether the daemon is ready.
//!
//! The number, the size and the time of connections are limited. `axum::serve` (0.8) has none of these limits, and no way to
//! set them: it leaves hyper without a timer, so that a head may take for ever; with hyper's bounds on a head, 400 kB and 100
//! fields; without an end of a connection; and its tasks cannot be dropped when the time to drain is over.

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
use hyper::{
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::OwnedSemaphorePermit,
    time::{self, Instant},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Site, WebError,
    answer::{Form, Page, PageRequest, json, refuse},
    api::{self, ApiProblem},
    frame::{self, Asset},
    pages::{
        BalancePage, Board, BoardChoice, ExperimentPage, GamePage, Home, KindChoice, LivePage,
        MapPage, MatchesPage, PlayerPage, QueuesPage, RegularsPage, SearchPage, ServerPage,
        SystemsPage, VersusPage,
    },
    server::watch::Monitor,
    share, teams,
    visitors::{NoRoom, Visit, Visitors, is_from},
};

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
        .route(ExperimentPage::PATH, get(show::<ExperimentPage>))
        .route(SystemsPage::PATH, get(show::<SystemsPage>))
        .route(VersusPage::PATH, get(show::<VersusPage>))
        .route("/matches.atom", get(share::of_all))
        .nest("/embed", frames())
        .nest("/v1", api::router(&site))
        .fallback(nothing);
    let pages = with_asset(with_asset(pages, &frame::STYLE), &frame::ICON);
    let pages = with_asset(with_asset(pages, &frame::LIVE), &frame::TIMES);
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

/// What a page may load, and from where. Its scripts may load data of these pages.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; \
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
    let path = uri.path().strip_prefix(&site.settings.base_path);
    let is_frame = path.is_some_and(|path| path.starts_with("/embed/"));
    let policy = match path {
        _ if is_frame => POLICY_OF_FRAMES,
        _ => POLICY,
    };
    let long = uri
        .path_and_query()
        .is_some_and(|path| path.as_str().len() > LONGEST);
    let is_call = is_call(&site, uri);
    let mut response = match (visit.may_ask(), long) {
        (false, _) => too_many(&site, is_call),
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
fn too_many(site: &Site, is_call: bool) -> Response {
    if is_call {
        return ApiProblem::from(WebError::TooOften).into_response();
    }
    let later = [(header::RETRY_AFTER, "1")];
    (later, refuse(site, &WebError::TooOften)).into_response()
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

/// The largest head of a request, in bytes.
const HEAD: usize = 16 * 1_024;
/// The most header fields of a request.
const FIELDS: usize = 64;
/// How long a visitor for whom there is no room may take to read the answer.
const REFUSAL: Duration = Duration::from_secs(2);
/// How long a connection whose time is over may take to send the rest of its answer.
const REST: Duration = Duration::from_secs(5);

/// What a listener is for.
#[derive(Clone, Copy, Debug)]
pub enum Audience {
    /// The pages, and everything else that the site has.
    Visitors,
    /// Only what is for operators.
    Operators,
}

/// Serves a site until `stop` is cancelled; connections are tasks of `tasks`. Then no connection begins
/// another request, and those that have not ended after `drain` are dropped.
pub async fn run(
    listener: TcpListener,
    (site, audience): (Arc<Site>, Audience),
    tasks: TaskTracker,
    stop: CancellationToken,
    drain: Duration,
) {
    let router = match audience {
        Audience::Visitors => router(site.clone()),
        Audience::Operators => metrics_router(site.clone()),
    };
    let visitors = Visitors::new(site);
    while let Some(accepted) = stop.run_until_cancelled(listener.accept()).await {
        match accepted {
            Ok((stream, peer)) => match Visit::begin(&visitors, peer, &stop) {
                Ok(visit) => {
                    tasks.spawn(serve(stream, router.clone(), visit, drain));
                }
                Err(why) => {
                    visitors.metrics().refused.count();
                    tracing::debug!(%peer, %why, "refusing a visitor");
                    if let Ok(permit) = visitors.refusals.clone().try_acquire_owned() {
                        tasks.spawn(refuse_connection(stream, why, permit));
                    }
                }
            },
            Err(error) => {
                tracing::warn!(%error, "cannot accept a visitor");
                // The process has probably run out of file descriptors.
                time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Serves the requests of one connection, for a limited time.
async fn serve(stream: TcpStream, router: Router, visit: Visit, drain: Duration) {
    let (limits, until, stop) = (visit.limits(), visit.until, visit.stop.clone());
    let _ = stream.set_nodelay(true);
    let (pages, visit) = (TowerToHyperService::new(router), Arc::new(visit));
    let answer = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(visit.clone());
        pages.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_seconds.duration())
        .max_buf_size(HEAD)
        .max_headers(FIELDS)
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = std::pin::pin!(connection);
    let rest = tokio::select! {
        ended = connection.as_mut() => {
            tracing::trace!(?ended, "a connection of a visitor has ended");
            return;
        }
        () = time::sleep_until(until) => REST,
        () = stop.cancelled() => drain,
    };
    connection.as_mut().graceful_shutdown();
    let _ = time::timeout(rest, connection).await;
}

/// Answers a visitor for whom there is no room, whatever the request is. Reads the request, because a connection that
/// is closed with unread bytes may lose the answer.
async fn refuse_connection(mut stream: TcpStream, why: NoRoom, _permit: OwnedSemaphorePermit) {
    let text = format!(
        "<!DOCTYPE html><html lang=\"en\"><title>Not now</title><h1>Not now</h1><p>{why}</p></html>\n"
    );
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Retry-After: 1\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    let telling = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        let mut request = stream.take(HEAD as u64);
        tokio::io::copy(&mut request, &mut tokio::io::sink()).await
    };
    let told = time::timeout(REFUSAL, telling).await;
    tracing::trace!(?told, "a visitor was refused");
}
