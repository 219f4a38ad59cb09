//! `POST /v1/matches/{n}/void` and `…/unvoid`: leaves a match out of the ratings, or no longer.

use axum::response::Response;
use serde::Serialize;

use super::{Call, Problem, call::answer};
use crate::{
    model::{DAY, Right},
    protocol::Charge,
};

/// Whether a match is left out of the ratings.
#[derive(Debug, Serialize)]
struct Void {
    r#match: i64,
    void: bool,
    changed: bool,
}

/// `POST /v1/matches/{n}/void` and `…/unvoid`
pub(super) async fn change(call: Call, void: bool) -> Result<Response, Problem> {
    call.client(&[Right::Admin, Right::Report])?;
    let id: i64 = call.part("name").parse().map_err(|_| no_match())?;
    let changed = set_void(&call, id, void).await?;
    answer(&Void {
        r#match: id,
        void,
        changed,
    })
}

fn no_match() -> Problem {
    Problem::nothing("no match has this number")
}

/// Leaves a match out of the ratings, or no longer. Returns whether that changes anything.
pub(in crate::web) async fn set_void(call: &Call, id: i64, void: bool) -> Result<bool, Problem> {
    may_void(call, id).await?;
    let store = call.site.service().store();
    Ok(store.corrections().set_void(&[id], void).await? > 0)
}

/// Refuses a caller who may not leave a match out of the ratings.
pub(super) async fn may_void(call: &Call, id: i64) -> Result<(), Problem> {
    let client = call.client(&[Right::Admin, Right::Report])?;
    call.count(Charge::Report, 1)?;
    let store = call.site.service().store();
    store.matches().start_of(id).await?.ok_or_else(no_match)?;
    if !call.caller.has(Right::Admin) {
        let since = call.site.now().plus_millis(-DAY);
        let own = store.matches().reporter_of(id).await?;
        if !own.is_some_and(|(name, at)| name == client && at >= since) {
            let why = "with the right report, only your own matches of the last 24 hours";
            return Err(Problem::forbidden(why));
        }
    }
    Ok(())
}
