//! Why a request is refused: problem details (RFC 9457) with the error codes of the line protocol.

use std::time::Duration;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::{
    learning::LearningError,
    matchmaking::lifecycle::TicketRefused,
    protocol::{Code, Refusal},
    queues::QueuesError,
    server::{queue_refusal, session_refusal},
    session::SessionError,
    store::StoreError,
    web::{WebError, answer::uncached},
};

/// A refusal of a request, which has changed nothing.
#[derive(Debug)]
pub(crate) struct ApiProblem {
    pub(in crate::web) status: StatusCode,
    code: Code,
    pub(crate) detail: String,
    /// After how long the same request may succeed.
    retry: Option<Duration>,
}

impl ApiProblem {
    pub(in crate::web) fn new(status: StatusCode, code: Code, detail: impl Into<String>) -> Self {
        Self {
            status,
            code,
            detail: detail.into(),
            retry: None,
        }
    }

    /// What the request states is wrong.
    pub(in crate::web) fn bad(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Code::BadArgument, detail)
    }

    /// Whether something else was sent under the same key before.
    pub(in crate::web) fn is_repeated(&self) -> bool {
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
    pub(super) fn at(self, place: &str) -> Self {
        let detail = format!("{place}: {}", self.detail);
        Self { detail, ..self }
    }

    /// The state does not allow it, whoever asks.
    pub(super) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, Code::NotAllowed, detail)
    }

    /// Another body was sent under the same key before.
    pub(super) fn other_body(detail: impl Into<String>) -> Self {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Self::new(status, Code::BadArgument, detail)
    }

    /// The daemon has failed; its log says how.
    pub(in crate::web) fn internal() -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self::new(status, Code::Internal, "see the daemon's log")
    }

    /// The caller may not do this.
    pub(in crate::web) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, Code::NotAllowed, detail)
    }

    /// The caller has not shown the token of a client.
    pub(super) fn unauthorized(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, Code::NotAllowed, detail)
    }

    /// The same request may succeed in a second.
    pub(super) fn overloaded(detail: impl Into<String>) -> Self {
        Refusal {
            code: Code::Overloaded,
            text: detail.into(),
        }
        .into()
    }

    /// Nothing is at this address.
    pub(super) fn nothing(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, Code::BadArgument, detail)
    }

    /// The caller has used up what it may do.
    pub(in crate::web) fn too_many(detail: impl Into<String>, retry: Duration) -> Self {
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
