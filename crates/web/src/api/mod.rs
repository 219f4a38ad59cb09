//! `/v1`: what game servers ask and report by lines, and what the pages show, as JSON over HTTP for other programs.
//!
//! Whoever reads the pages may read here what they show. Everything else is a call, and needs `[api] enabled`.
//! Every call is a request of the line protocol or a read model of the pages: it has the same rights, limits, errors
//! and durability, and is answered by the same code. Nothing is decided here. `openapi.json` is the whole contract; a
//! test compares it with the answers.
//!
//! A call that is no GET needs the token of a client, and comes from a program or from a web site of the
//! configuration: a page elsewhere can send nothing through a visitor's browser.
//!
//! A refusal is an [`ApiProblem`]: problem details (RFC 9457) with the error codes of the line protocol.

mod call;
mod game;
mod matches;
mod pickups;
mod players;
mod queues;
mod read;
mod teams;

pub(super) use super::site::Api;
pub use super::site::{ApiSettings, WebOrigin};
pub(super) use call::{Call, address, prove, read_out, too_often, within};
pub use game::{AskedGame, Asker};
pub(super) use game::{LARGEST_SEED, MOST_PLAYERS};
pub(super) use matches::{record_one, set_void};
pub(super) use teams::picked;
pub use teams::{StatedWeight, TeamAnswer, TeamPlayer, TeamsAnswer, picked_for};

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderValue, Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::json;

use crate::{
    Site, WebError,
    answer::{JSON, fresh, uncached},
    api::call::no_such_path,
    learning::LearningError,
    matchmaking::lifecycle::TicketRefused,
    protocol::{Code, Refusal},
    queues::QueuesError,
    server::{queue_refusal, session_refusal},
    session::SessionError,
    site::FOREIGN,
    store::StoreError,
};

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

/// A refusal of a request, which has changed nothing.
#[derive(Debug)]
pub struct ApiProblem {
    pub(crate) status: StatusCode,
    code: Code,
    /// What is wrong, for people.
    pub detail: String,
    /// After how long the same request may succeed.
    retry: Option<Duration>,
}

impl ApiProblem {
    pub(crate) fn new(status: StatusCode, code: Code, detail: impl Into<String>) -> Self {
        Self {
            status,
            code,
            detail: detail.into(),
            retry: None,
        }
    }

    /// What the request states is wrong.
    pub(crate) fn bad(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Code::BadArgument, detail)
    }

    /// Whether something else was sent under the same key before.
    pub(crate) fn is_repeated(&self) -> bool {
        self.status == StatusCode::UNPROCESSABLE_ENTITY
    }

    /// The same, where it is not the caller who is refused, but the state that does not allow it.
    fn by_state(self) -> Self {
        match self.status {
            StatusCode::FORBIDDEN => Self::new(StatusCode::CONFLICT, self.code, self.detail),
            _ => self,
        }
    }

    /// The same, which may succeed after this time.
    fn after(self, retry: Duration) -> Self {
        let retry = Some(retry);
        Self { retry, ..self }
    }

    /// The same with the place at which the body is wrong.
    fn at(self, place: &str) -> Self {
        let detail = format!("{place}: {}", self.detail);
        Self { detail, ..self }
    }

    /// The state does not allow it, whoever asks.
    pub(crate) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, Code::NotAllowed, detail)
    }

    /// Another body was sent under the same key before.
    fn other_body(detail: impl Into<String>) -> Self {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Self::new(status, Code::BadArgument, detail)
    }

    /// The daemon has failed; its log says how.
    pub(crate) fn internal() -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self::new(status, Code::Internal, "see the daemon's log")
    }

    /// The caller may not do this.
    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, Code::NotAllowed, detail)
    }

    /// The caller has not shown the token of a client.
    fn unauthorized(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, Code::NotAllowed, detail)
    }

    /// The same request may succeed in a second.
    fn overloaded(detail: impl Into<String>) -> Self {
        Refusal {
            code: Code::Overloaded,
            text: detail.into(),
        }
        .into()
    }

    /// Nothing is at this address.
    fn nothing(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, Code::BadArgument, detail)
    }

    /// The caller has used up what it may do.
    pub(crate) fn too_many(detail: impl Into<String>, retry: Duration) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, Code::Overloaded, detail).after(retry)
    }
}

impl From<Refusal> for ApiProblem {
    fn from(Refusal { code, text }: Refusal) -> Self {
        let status = match code {
            Code::UnknownCommand | Code::UnknownPlayer => StatusCode::NOT_FOUND,
            Code::BadArgument | Code::RosterFull => StatusCode::BAD_REQUEST,
            Code::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
            Code::NotAllowed => StatusCode::FORBIDDEN,
            Code::NoGame | Code::TooManyErrors => StatusCode::CONFLICT,
            Code::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
            Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let problem = Self::new(status, code, text);
        match code {
            Code::Overloaded => problem.after(Duration::from_secs(1)),
            _ => problem,
        }
    }
}

impl From<SessionError> for ApiProblem {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Store(error) => error.into(),
            SessionError::NoTurn(none) => Self::overloaded(none.to_string()).after(none.again),
            SessionError::TooManyReports(why) => Self::too_many(why, Duration::from_secs(3_600)),
            SessionError::UsedUp { why, again } => {
                let problem = Self::new(StatusCode::TOO_MANY_REQUESTS, Code::Overloaded, why);
                again.into_iter().fold(problem, Self::after)
            }
            // The state of the game does not allow it, whoever asks.
            error @ SessionError::Lobby(_) => Self::from(session_refusal(error)).by_state(),
            error => session_refusal(error).into(),
        }
    }
}

impl From<QueuesError> for ApiProblem {
    fn from(error: QueuesError) -> Self {
        match error {
            QueuesError::Refused(TicketRefused::NoTicket | TicketRefused::NoQueue(_)) => {
                Self::nothing(queue_refusal(error).text)
            }
            _ => Self::from(queue_refusal(error)).by_state(),
        }
    }
}

impl From<StoreError> for ApiProblem {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "a request over HTTP failed");
        let why = "the database cannot be used now: see the daemon's log";
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Self::new(status, Code::Internal, why).after(Duration::from_secs(1))
    }
}

impl From<LearningError> for ApiProblem {
    fn from(error: LearningError) -> Self {
        WebError::from(error).into()
    }
}

impl From<WebError> for ApiProblem {
    fn from(error: WebError) -> Self {
        let code = match error {
            WebError::Store(error) => return error.into(),
            WebError::TooOften => return Self::too_many(error.to_string(), Duration::from_secs(1)),
            WebError::Broken(_) => Code::Internal,
            WebError::Counting => Code::Overloaded,
            WebError::NotFound => Code::UnknownCommand,
            WebError::NoPlayer => Code::UnknownPlayer,
            WebError::TooLong => Code::TooLong,
            WebError::NoRuleset | WebError::NoMatch | WebError::BadRequest => Code::BadArgument,
        };
        Self::new(error.status(), code, error.to_string())
    }
}

impl IntoResponse for ApiProblem {
    fn into_response(self) -> Response {
        let body = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or("Error"),
            "status": self.status.as_u16(),
            "code": self.code.as_str(),
            "detail": self.detail,
        });
        let mut response = uncached(self.status, "application/problem+json", body.to_string());
        let added = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            added.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(retry) = self.retry {
            let seconds = retry.as_secs() + u64::from(retry.subsec_nanos() > 0);
            added.insert(header::RETRY_AFTER, seconds.max(1).into());
        }
        response
    }
}
