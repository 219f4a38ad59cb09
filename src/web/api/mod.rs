//! `/v1`: what game servers ask and report by lines, and what the pages show, as JSON over HTTP for other programs.
//!
//! Whoever reads the pages may read here what they show. Everything else is a call, and needs `[api] enabled`.
//! Every call is a request of the line protocol or a read model of the pages: it has the same rights, limits, errors
//! and durability, and is answered by the same code. Nothing is decided here. `openapi.json` is the whole contract; a
//! test compares it with the answers.
//!
//! A call that is no GET needs the token of a client, and comes from a program or from a web site of the
//! configuration: a page elsewhere can send nothing through a visitor's browser.

mod call;
mod game;
mod matches;
mod pickups;
mod players;
mod problem;
mod queues;
mod read;
mod teams;

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderValue, Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};

pub(super) use super::settings::Api;
pub use super::settings::{ApiSettings, WebOrigin};
use super::{
    Site,
    answer::{JSON, fresh},
    settings::FOREIGN,
};
use crate::protocol::Code;
use call::no_such_path;
pub(super) use call::{Call, address, prove, read_out, too_often, within};
pub(crate) use game::{AskedGame, Asker};
pub(super) use game::{LARGEST_SEED, MOST_PLAYERS};
pub(super) use matches::{record_one, set_void};
pub(crate) use problem::ApiProblem;
pub(super) use teams::{TeamAnswer, TeamPlayer, picked};
pub(crate) use teams::{TeamsAnswer, picked_for};

/// The contract.
const OPENAPI: &str = include_str!("openapi.json");
/// The path of a ticket.
const TICKET: &str = "/queues/{queue}/tickets/{ticket}";
/// What a page of a configured site may send.
const ALLOWED_METHODS: &str = "GET, POST, PUT, DELETE";
const ALLOWED_FIELDS: &str = "Authorization, Content-Type, Idempotency-Key";

/// The routes below `/v1`.
pub(super) fn router(site: &Arc<Site>) -> Router<Arc<Site>> {
    let routes = match site.takes_calls() {
        true => read::router().merge(calls()),
        false => read::router(),
    };
    routes
        .route("/openapi.json", get(openapi))
        .fallback(async || no_such_path())
        .method_not_allowed_fallback(async || {
            let why = "this path does not know this method";
            ApiProblem::new(StatusCode::METHOD_NOT_ALLOWED, Code::UnknownCommand, why)
        })
        .layer(middleware::from_fn_with_state(site.clone(), across))
}

/// What changes something, what takes time to answer, and what only clients may read.
fn calls() -> Router<Arc<Site>> {
    Router::new()
        .route("/behaviour", post(players::report_behaviour))
        .route("/matches", post(matches::record))
        .route(
            "/matches/{name}/unvoid",
            post(|call: Call| matches::change_void(call, false)),
        )
        .route(
            "/matches/{name}/void",
            post(|call: Call| matches::change_void(call, true)),
        )
        .merge(players::router())
        .merge(pickups::router())
        .route("/queues/{queue}/tickets", get(queues::list_own))
        .route(
            TICKET,
            get(queues::ticket)
                .put(queues::submit)
                .delete(queues::cancel),
        )
        .route(
            &format!("{TICKET}/accept"),
            post(|call: Call| queues::answer_match(call, true)),
        )
        .route(
            &format!("{TICKET}/decline"),
            post(|call: Call| queues::answer_match(call, false)),
        )
        .route("/teams", post(teams::pick))
        .route("/teams/place", post(teams::place))
        .route("/teams/rebalance", post(teams::rebalance))
}

async fn openapi(call: Call) -> Response {
    fresh(&call.fields, JSON, OPENAPI.to_owned())
}

/// Lets browsers show answers to pages of other sites, if `[api]` is enabled: those to GET to all, any other to the
/// configured ones.
async fn across(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let method = request.method().clone();
    let text = origin.as_ref().and_then(|origin| origin.to_str().ok());
    let api = site.api.as_ref().filter(|api| api.settings.enabled);
    let known = text.zip(api).is_some_and(|(text, api)| api.allows(text));
    let mut response = match (method == Method::OPTIONS, known) {
        (true, true) => {
            let fields = [
                (header::ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS),
                (header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_FIELDS),
                (header::ACCESS_CONTROL_MAX_AGE, "600"),
            ];
            (StatusCode::NO_CONTENT, fields).into_response()
        }
        (true, false) => ApiProblem::forbidden(FOREIGN).into_response(),
        (false, _) => next.run(request).await,
    };
    let fields = response.headers_mut();
    if let (Some(origin), true) = (origin, known) {
        fields.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    } else if api.is_some() && method == Method::GET {
        let all = HeaderValue::from_static("*");
        fields.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, all);
    }
    fields.append(header::VARY, HeaderValue::from_static("Origin"));
    response
}
