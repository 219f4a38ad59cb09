//! Which path leads to which page.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, Query, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};

use super::{
    Site,
    answer::{Form, answer, refuse},
    error::WebError,
    feed, pages, style,
};

/// The longest path with its query, in bytes.
const LONGEST: usize = 2_048;

type Sites = State<Arc<Site>>;

/// The routes of all pages, with the headers that every answer has.
pub(super) fn router(site: Arc<Site>) -> Router {
    let pages = Router::new()
        .route("/", get(home))
        .route("/index.json", get(home_data))
        .route("/rulesets/{name}", get(ruleset))
        .route("/players/{name}", get(player))
        .route("/matches/{name}", get(game))
        .route("/balance", get(balance))
        .route("/balance.json", get(balance_data))
        .route("/matches.atom", get(feed::feed))
        .route(&style::path(), get(async || style::sheet()))
        .fallback(nothing);
    let base = site.settings.base_path.clone();
    let pages = match base.is_empty() {
        true => pages,
        // A proxy asks for the home page with a slash at the end.
        false => Router::new()
            .route(&format!("{base}/"), get(home))
            .nest(&base, pages)
            .fallback(nothing),
    };
    // Health is asked for by service managers, whatever the base path is.
    pages
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .layer(middleware::from_fn_with_state(site.clone(), guard))
        .with_state(site)
}

/// Refuses addresses that are too long, and adds the headers of every answer.
async fn guard(State(site): Sites, request: Request, next: Next) -> Response {
    let uri = request.uri();
    let long = uri
        .path_and_query()
        .is_some_and(|path| path.as_str().len() > LONGEST);
    let mut response = match long {
        true => refuse(&site, Form::Html, &WebError::TooLong),
        false => next.run(request).await,
    };
    const HEADERS: [(HeaderName, &str); 5] = [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; \
             frame-ancestors 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in HEADERS {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Whether weights can be asked for, and the database answers.
async fn ready(State(site): Sites) -> Response {
    if site.learning().is_starting() {
        let why = "the first weights are being derived\n";
        return (StatusCode::SERVICE_UNAVAILABLE, why).into_response();
    }
    match site.pages().latest_matches(None, 1).await {
        Ok(_) => "ready\n".into_response(),
        Err(error) => {
            tracing::warn!(%error, "not ready");
            let why = "the database does not answer\n";
            (StatusCode::SERVICE_UNAVAILABLE, why).into_response()
        }
    }
}

async fn nothing(State(site): Sites, request: Request) -> Response {
    let (form, _) = Form::of(request.uri().path());
    refuse(&site, form, &WebError::NotFound)
}

async fn home(State(site): Sites, headers: HeaderMap) -> Response {
    answer(&site, &headers, Form::Html, pages::home(&site).await)
}

async fn home_data(State(site): Sites, headers: HeaderMap) -> Response {
    answer(&site, &headers, Form::Json, pages::home(&site).await)
}

type Named = Result<Path<String>, axum::extract::rejection::PathRejection>;
type Queried<T> = Result<Query<T>, axum::extract::rejection::QueryRejection>;

async fn ruleset(
    State(site): Sites,
    name: Named,
    query: Queried<pages::BoardChoice>,
    headers: HeaderMap,
) -> Response {
    let (Ok(Path(name)), Ok(Query(query))) = (name, query) else {
        return refuse(&site, Form::Html, &WebError::BadRequest);
    };
    let (form, name) = Form::of(&name);
    answer(
        &site,
        &headers,
        form,
        pages::ruleset(&site, name, query).await,
    )
}

async fn player(
    State(site): Sites,
    name: Named,
    query: Queried<pages::KindChoice>,
    headers: HeaderMap,
) -> Response {
    let (Ok(Path(name)), Ok(Query(query))) = (name, query) else {
        return refuse(&site, Form::Html, &WebError::BadRequest);
    };
    let (form, name) = Form::of(&name);
    answer(
        &site,
        &headers,
        form,
        pages::player(&site, name, query).await,
    )
}

async fn game(State(site): Sites, name: Named, headers: HeaderMap) -> Response {
    let Ok(Path(name)) = name else {
        return refuse(&site, Form::Html, &WebError::BadRequest);
    };
    let (form, name) = Form::of(&name);
    answer(&site, &headers, form, pages::game(&site, name).await)
}

async fn balance(
    State(site): Sites,
    query: Queried<pages::BalanceChoice>,
    headers: HeaderMap,
) -> Response {
    balance_as(&site, Form::Html, query, &headers).await
}

async fn balance_data(
    State(site): Sites,
    query: Queried<pages::BalanceChoice>,
    headers: HeaderMap,
) -> Response {
    balance_as(&site, Form::Json, query, &headers).await
}

async fn balance_as(
    site: &Site,
    form: Form,
    query: Queried<pages::BalanceChoice>,
    headers: &HeaderMap,
) -> Response {
    match query {
        Ok(Query(query)) => answer(site, headers, form, pages::balance(site, query).await),
        Err(_) => refuse(site, form, &WebError::BadRequest),
    }
}
