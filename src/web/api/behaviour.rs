//! `POST /v1/behaviour`: BEHAVIOUR, a report about how a player behaves.

use axum::http::StatusCode;
use serde::Deserialize;

use super::{Call, Problem, game::check_name, identities::Identities};
use crate::{
    model::{Ident, Right},
    protocol::Charge,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedReport {
    id: String,
    /// Negative for bad behaviour.
    points: f64,
}

/// `POST /v1/behaviour`
pub(super) async fn report(call: Call) -> Result<StatusCode, Problem> {
    let client = call.client(&[Right::Report])?;
    let AskedReport { id, points } = call.json()?;
    check_name("id", &id)?;
    call.count(Charge::Report, 1)?;
    let known = Identities::of(&call, &[id.as_str()]).await?;
    let id = Ident::from_text(&known.get(&id));
    let sessions = call.site.service().sessions();
    let reported = sessions.report_behaviour(client, Some(client), &id, points);
    reported
        .await
        .map_err(|error| Problem::from(error).at("id"))?;
    Ok(StatusCode::NO_CONTENT)
}
