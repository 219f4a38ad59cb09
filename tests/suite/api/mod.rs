//! `/v1`: the line protocol and the pages as JSON over HTTP.

pub mod asked;
mod links;
mod nameless;
mod pickups;
mod read;
mod refused;
mod reported;
mod shares;
mod waiting;

use serde_json::Value;

/// Nothing to send.
const NONE: Value = Value::Null;
