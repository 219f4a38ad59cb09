//! The body of a request: how long it may be and take, and the JSON in it.
//!
//! A body that is refused is read to its end, within limits: a connection that is closed with unread bytes may lose the
//! answer. That is why these limits are here and not in a layer, which would leave the rest unread.

use std::time::Duration;

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, StatusCode, header},
};
use bytes::BytesMut;
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::Problem;
use crate::protocol::Code;

/// The most bytes of a request's body.
const BODY: usize = 256 * 1_024;
/// The most bytes that are read of a longer one.
const MOST_READ: usize = 4 * 1_024 * 1_024;
/// How long the body of a request that is refused may take to arrive.
const REFUSAL: Duration = Duration::from_secs(1);
/// How long the body of a request may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(10);

/// Reads what is left of a body that is refused, for a short time.
pub(in crate::web) async fn read_out(body: Body) {
    let _ = timeout(REFUSAL, arrived(body, 0)).await;
}

/// The whole body, which must be JSON unless it is empty.
pub(super) async fn whole(fields: &HeaderMap, body: Body) -> Result<Bytes, Problem> {
    let body = within(body, BODY).await?;
    let kind = fields
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).map(str::trim);
    if !body.is_empty() && !kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json")) {
        let why = "send Content-Type: application/json";
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(Problem::new(status, Code::BadArgument, why));
    }
    Ok(body)
}

/// The bytes of a body, at most `most`, which must arrive in time.
pub(in crate::web) async fn within(body: Body, most: usize) -> Result<Bytes, Problem> {
    let late = |_| {
        let why = "the body takes too long to arrive";
        Problem::new(StatusCode::REQUEST_TIMEOUT, Code::Overloaded, why)
    };
    timeout(ARRIVAL, arrived(body, most)).await.map_err(late)?
}

/// The bytes of a body once all have arrived. Of one that is too long, the rest is read, too, but not kept.
async fn arrived(body: Body, most: usize) -> Result<Bytes, Problem> {
    let (mut chunks, mut bytes, mut length) = (body.into_data_stream(), BytesMut::new(), 0);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| Problem::bad("the body is not complete"))?;
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
            Err(Problem::new(status, Code::TooLong, why))
        }
    }
}

/// Reads JSON. What is wrong is named with its place.
pub(super) fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
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
    rest.map_err(|_| Problem::bad("there is something after the JSON value"))?;
    Ok(value)
}

/// What is wrong at a place in JSON. The whole value has no place.
pub(super) fn wrong_at(place: &serde_path_to_error::Path, why: String) -> Problem {
    match place.to_string().as_str() {
        "." | "?" => Problem::bad(why),
        place => Problem::bad(why).at(place),
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
