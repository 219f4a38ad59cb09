//! One request of `/v1`: who sends it, whether it may come from there, and what its path, its query and its body
//! state.
//!
//! The body is JSON, with a limit on its length and on its time. A body that is refused is read to its end, within
//! limits: a connection that is closed with unread bytes may lose the answer. That is why these limits are here and
//! not in a layer, which would leave the rest unread.

use std::{collections::BTreeMap, net::IpAddr, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::{HeaderMap, Method, StatusCode, Uri, header, request::Parts},
    response::{IntoResponse, Response},
};
use bytes::BytesMut;
use futures_util::StreamExt;
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::{sleep, timeout};

use super::{Api, ApiProblem, game::Asker};
use crate::{
    Site,
    answer::{JSON, encoded, fresh, json as json_answer},
    model::access::{Right, Secret},
    protocol::{Code, request::Charge},
    server::Caller,
    visitors::{Visit, origin},
};

/// The longest token, in bytes.
const TOKEN: usize = 1_024;

/// A request, with its whole body.
pub(crate) struct Call {
    pub(super) site: Arc<Site>,
    pub(crate) caller: Caller,
    path: BTreeMap<String, String>,
    uri: Uri,
    pub(super) fields: HeaderMap,
    pub(super) body: Bytes,
}

impl FromRequest<Arc<Site>> for Call {
    type Rejection = Response;

    async fn from_request(request: Request, site: &Arc<Site>) -> Result<Self, Response> {
        let (parts, body) = request.into_parts();
        let mut body = Some(body);
        let read = Self::read(parts, &mut body, site).await;
        if let (Err(_), Some(unread)) = (&read, body) {
            // A connection that is closed with unread bytes may lose the answer.
            read_out(unread).await;
        }
        read.map_err(IntoResponse::into_response)
    }
}

impl Call {
    /// A call of a page's form, which has no path, no query and no body of its own.
    pub(crate) fn of_form(site: &Arc<Site>, caller: Caller) -> Self {
        Self {
            site: site.clone(),
            caller,
            path: BTreeMap::new(),
            uri: Uri::default(),
            fields: HeaderMap::new(),
            body: Bytes::new(),
        }
    }

    async fn read(
        mut parts: Parts,
        body: &mut Option<Body>,
        site: &Arc<Site>,
    ) -> Result<Self, ApiProblem> {
        let api = site.api.as_ref().ok_or_else(no_such_path)?;
        let changes = parts.method != Method::GET && parts.method != Method::HEAD;
        if changes {
            let known = api.refuse_foreign(&parts.headers);
            known.map_err(ApiProblem::forbidden)?;
        }
        let caller = identify(site, api, &parts).await?;
        caller.count(Charge::Line, 1).map_err(too_often)?;
        let path = Path::<BTreeMap<String, String>>::from_request_parts(&mut parts, site).await;
        let Path(path) = path.map_err(|_| ApiProblem::bad("the path is not UTF-8"))?;
        let body = match body.take() {
            Some(body) if changes => whole(&parts.headers, body).await?,
            _ => Bytes::new(),
        };
        Ok(Self {
            site: site.clone(),
            caller,
            path,
            body,
            fields: parts.headers,
            uri: parts.uri,
        })
    }

    /// A part of the path.
    pub(super) fn part(&self, name: &str) -> &str {
        self.path.get(name).map(String::as_str).unwrap_or_default()
    }

    /// What the query states.
    pub(super) fn query<Q: DeserializeOwned>(&self) -> Result<Q, ApiProblem> {
        let query = Query::<Q>::try_from_uri(&self.uri);
        query.map(|Query(query)| query).map_err(|error| {
            ApiProblem::bad(format!("the query: {}", wrong_in(&error.body_text())))
        })
    }

    /// What the query states, in which there must be no other keys than these.
    pub(super) fn query_of<Q: DeserializeOwned>(&self, keys: &[&str]) -> Result<Q, ApiProblem> {
        let asked = self.uri.query().unwrap_or_default().split('&');
        let mut asked = asked.filter_map(|pair| pair.split('=').next());
        match asked.find(|key| !key.is_empty() && !keys.contains(key)) {
            Some(key) => Err(ApiProblem::bad(format!("the query: unknown key {key:.60}"))),
            None => self.query(),
        }
    }

    /// What the body states, which must be an object.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, ApiProblem> {
        match self.body.trim_ascii_start().first() {
            // A list of all values would be read, too.
            Some(b'[') => Err(ApiProblem::bad("the body must be an object")),
            _ => json(&self.body),
        }
    }

    /// Whether the caller has shown the token of a client.
    pub(crate) fn is_client(&self) -> bool {
        self.caller.name().is_some()
    }

    /// Who asks about a game.
    pub(super) fn asker(&self) -> Asker<'_> {
        let is_client = self.is_client();
        Asker {
            service: self.site.service(),
            caller: Some(&self.caller),
            sees_hidden: is_client,
            sees_numbers: is_client || self.site.settings.shows_numbers(),
        }
    }

    /// Whether everybody may pick teams.
    pub(crate) fn allows_visitors(&self) -> bool {
        let api = self.site.api.as_ref();
        api.is_some_and(|api| api.settings.visitors)
    }

    /// The name of the client.
    ///
    /// # Errors
    /// Fails without a token, and for a client that has none of these rights.
    pub(crate) fn client(&self, rights: &[Right]) -> Result<&str, ApiProblem> {
        let Some(name) = self.caller.name() else {
            let why = "this needs a token: Authorization: Bearer TOKEN";
            return Err(ApiProblem::unauthorized(why));
        };
        match rights.iter().any(|right| self.caller.has(*right)) {
            true => Ok(name),
            false => {
                let needed = crate::model::access::Rights::of(rights);
                let why = format!("this needs the right {needed}, which you do not have");
                Err(ApiProblem::forbidden(why))
            }
        }
    }

    /// Counts `number` decisions or reports.
    pub(super) fn count(&self, charge: Charge, number: usize) -> Result<(), ApiProblem> {
        self.caller.count(charge, number).map_err(too_often)
    }
}

/// Who sends a request. The sender of a wrong token waits for the answer.
async fn identify(site: &Site, api: &Api, parts: &Parts) -> Result<Caller, ApiProblem> {
    let from = address(site, parts);
    let field = parts.headers.get(header::AUTHORIZATION);
    let Some(field) = field.filter(|_| site.takes_calls()) else {
        return Ok(api.gate.stranger(from));
    };
    let text = field.to_str().unwrap_or_default();
    let token = text.split_once(' ');
    let token = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    prove(api, token.map_or("", |(_, token)| token), from).await
}

/// The address for which a request counts.
pub(crate) fn address(site: &Site, parts: &Parts) -> IpAddr {
    let visit = parts.extensions.get::<Arc<Visit>>();
    let peer = visit.map_or(IpAddr::V4(0.into()), |visit| visit.peer);
    origin(peer, &parts.headers, &site.settings.trusted_proxies).unwrap_or(peer)
}

/// The client with this token. The sender of a wrong one waits for the answer.
pub(crate) async fn prove(api: &Api, token: &str, from: IpAddr) -> Result<Caller, ApiProblem> {
    let token = token.trim();
    let may_be = (1..=TOKEN).contains(&token.len());
    let caller = may_be.then(|| api.gate.bearer(&Secret::of(token), from));
    if let Some(caller) = caller.flatten() {
        return Ok(caller);
    }
    match api.gate.wrong_token(from) {
        Ok(wait) => sleep(wait).await,
        Err(wait) => {
            return Err(ApiProblem::too_many(
                "too many wrong tokens from your address",
                wait,
            ));
        }
    }
    let why = "no client has this token, or not from your address";
    Err(ApiProblem::unauthorized(why))
}

/// An answer with what the pages show to everybody, which may be kept as long as a page.
pub(super) fn fresh_answer(call: &Call, content: &impl Serialize) -> Result<Response, ApiProblem> {
    let text = encoded(content).map_err(|_| ApiProblem::internal())?;
    Ok(fresh(&call.fields, JSON, text))
}

/// An answer with this content, which nobody keeps.
pub(super) fn answer(content: &impl Serialize) -> Result<Response, ApiProblem> {
    json_answer(content).map_err(|_| ApiProblem::internal())
}

/// A number with `places` decimals, rounded as the line protocol rounds it.
pub(super) fn places(number: f64, places: usize) -> f64 {
    format!("{number:.places$}").parse().unwrap_or(number)
}

pub(super) fn no_such_path() -> ApiProblem {
    ApiProblem::new(
        StatusCode::NOT_FOUND,
        Code::UnknownCommand,
        "nothing is at this path",
    )
}

pub(crate) fn too_often(wait: Duration) -> ApiProblem {
    let why = format!("too often: try again in {:.1} s", wait.as_secs_f64());
    ApiProblem::too_many(why, wait)
}

/// The most bytes of a request's body.
const BODY: usize = 256 * 1_024;
/// The most bytes that are read of a longer one.
const MOST_READ: usize = 4 * 1_024 * 1_024;
/// How long the body of a request that is refused may take to arrive.
const REFUSAL: Duration = Duration::from_secs(1);
/// How long the body of a request may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(10);

/// Reads what is left of a body that is refused, for a short time.
pub(crate) async fn read_out(body: Body) {
    let _ = timeout(REFUSAL, arrived(body, 0)).await;
}

/// The whole body, which must be JSON unless it is empty.
pub(super) async fn whole(fields: &HeaderMap, body: Body) -> Result<Bytes, ApiProblem> {
    let body = within(body, BODY).await?;
    let kind = fields
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).map(str::trim);
    if !body.is_empty() && !kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json")) {
        let why = "send Content-Type: application/json";
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(ApiProblem::new(status, Code::BadArgument, why));
    }
    Ok(body)
}

/// The bytes of a body, at most `most`, which must arrive in time.
pub(crate) async fn within(body: Body, most: usize) -> Result<Bytes, ApiProblem> {
    let late = |_| {
        let why = "the body takes too long to arrive";
        ApiProblem::new(StatusCode::REQUEST_TIMEOUT, Code::Overloaded, why)
    };
    timeout(ARRIVAL, arrived(body, most)).await.map_err(late)?
}

/// The bytes of a body once all have arrived. Of one that is too long, the rest is read, too, but not kept.
async fn arrived(body: Body, most: usize) -> Result<Bytes, ApiProblem> {
    let (mut chunks, mut bytes, mut length) = (body.into_data_stream(), BytesMut::new(), 0);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| ApiProblem::bad("the body is not complete"))?;
        length += chunk.len();
        match length {
            length if length <= most => bytes.extend_from_slice(&chunk),
            length if length > MOST_READ => break,
            _ => {}
        }
    }
    match length <= most {
        true => Ok(bytes.freeze()),
        false => {
            let why = format!("the body is longer than {most} bytes");
            let status = StatusCode::PAYLOAD_TOO_LARGE;
            Err(ApiProblem::new(status, Code::TooLong, why))
        }
    }
}

/// Reads JSON. What is wrong is named with its place.
pub(super) fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiProblem> {
    let mut from = serde_json::Deserializer::from_slice(bytes);
    let read = serde_path_to_error::deserialize(&mut from);
    let value = read.map_err(|error| {
        let mut why = wrong_in(&error.inner().to_string());
        if error.inner().is_data() {
            why.truncate(why.find(" at line").unwrap_or(why.len()));
        }
        wrong_at(error.path(), why)
    })?;
    let rest = from.end();
    rest.map_err(|_| ApiProblem::bad("there is something after the JSON value"))?;
    Ok(value)
}

/// What is wrong at a place in JSON. The whole value has no place.
pub(super) fn wrong_at(place: &serde_path_to_error::Path, why: String) -> ApiProblem {
    match place.to_string().as_str() {
        "." | "?" => ApiProblem::bad(why),
        place => ApiProblem::bad(why).at(place),
    }
}

/// The words of a parser in those of the documentation: an unknown key is named, without a list of all others.
pub(super) fn wrong_in(text: &str) -> String {
    let shown: String = text.chars().take(200).collect();
    let shown = shown.replace(|c: char| c.is_control(), "?");
    let known = shown.split(", expected").next().unwrap_or_default();
    match known.split_once("unknown field ") {
        Some((_, name)) => {
            let name = name.split(" at line").next().unwrap_or_default();
            format!("unknown key {}", name.replace('`', "\""))
        }
        None => shown.replace('`', "\""),
    }
}
