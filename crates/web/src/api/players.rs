//! What programs report about single players: identities that are theirs, and how they behave.
//!
//! - `/v1/links/{player}`: ties an identity, that of a Discord user for example, to a player who has played. An
//!   organiser confirms it.
//! - `POST /v1/behaviour`: BEHAVIOUR, a report about how a player behaves.

use std::sync::Arc;

use axum::{
    Router,
    http::StatusCode,
    response::Response,
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::json;

use super::{
    ApiProblem, Call,
    call::answer,
    game::{Identities, check_name, shown},
};
use crate::{
    Site,
    model::{Kind, PlayerKey, access::Right, ident::Ident, steam},
    protocol::request::Charge,
    store::{IdentityLink, Player},
};

/// The routes of links.
pub(super) fn router() -> Router<Arc<Site>> {
    Router::new()
        .route(
            "/links/{player}",
            get(read_link).put(ask).delete(remove_link),
        )
        .route("/links/{player}/confirm", post(confirm))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlayersQuery {
    /// The name, the handle or the identity of a player who has played.
    player: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Confirmed {
    /// The organiser.
    by: String,
    /// The handle of the player, as the organiser has seen it; a player without a page has none.
    handle: Option<String>,
}

/// `GET /v1/links/{player}`
async fn read_link(call: Call) -> Result<Response, ApiProblem> {
    call.client(&[Right::Report])?;
    answer(&shown_link(&call, &found(&call).await?).await?)
}

/// `PUT /v1/links/{player}`
async fn ask(call: Call) -> Result<Response, ApiProblem> {
    let client = call.client(&[Right::Report])?;
    let asked: PlayersQuery = call.json()?;
    let own = call.part("player");
    check_name("player", own)?;
    check_name("player", &asked.player)?;
    call.count(Charge::Report, 1)?;
    let store = call.site.service().store();
    let into = called(&call, &asked.player).await?;
    let link = IdentityLink {
        player: own.to_owned(),
        into: store.corrections().counts_as(&into).await?,
        client: client.to_owned(),
        asked_at: call.site.now(),
        confirmed: None,
    };
    let account = steam::canonical(own);
    if link.into == account {
        return Err(ApiProblem::bad("player: this is the same identity"));
    }
    let before = store.corrections().link(own).await?;
    let is_same = before.is_some_and(|one| one.confirmed.is_some() && one.into == link.into);
    if is_same {
        return answer(&shown_link(&call, &found(&call).await?).await?);
    }
    if store.corrections().counts_as(own).await? != account
        || !store.corrections().ask_link(&link).await?
    {
        let why = "this identity counts as a player already: remove that link first";
        return Err(ApiProblem::conflict(why));
    }
    answer(&shown_link(&call, &link).await?)
}

/// The identity of the one player whom a text names.
async fn called(call: &Call, text: &str) -> Result<String, ApiProblem> {
    let store = call.site.service().store();
    let found = store.called(Kind::Human, text).await?;
    match &found[..] {
        [] => {
            let why = format!("nobody called {} has played", shown(text));
            Err(ApiProblem::nothing(why))
        }
        [one] => Ok(one.key.id.clone()),
        several => {
            let handles = several.iter().filter_map(|one| one.handle.clone());
            let handles: Vec<String> = handles.collect();
            let (count, text) = (several.len(), shown(text));
            let handles = handles.join(", ");
            let why = format!("{count} players are called {text}: state one of {handles}");
            Err(ApiProblem::conflict(why))
        }
    }
}

/// `POST /v1/links/{player}/confirm`
async fn confirm(call: Call) -> Result<Response, ApiProblem> {
    call.client(&[Right::Admin])?;
    let Confirmed { by, handle } = call.json()?;
    check_name("by", &by)?;
    call.count(Charge::Report, 1)?;
    let link = found(&call).await?;
    let player = shown_player(&call, &link.into).await?;
    if player.handle != handle {
        return Err(ApiProblem::conflict(
            "handle: the link is to another player",
        ));
    }
    if link.confirmed.is_none() {
        let (store, now) = (call.site.service().store(), call.site.now());
        let own = &link.player;
        if !store
            .corrections()
            .confirm_link(own, &link.into, &by, now)
            .await?
        {
            return Err(ApiProblem::conflict("the link has changed: look again"));
        }
    }
    answer(&shown_link(&call, &found(&call).await?).await?)
}

/// `DELETE /v1/links/{player}`
async fn remove_link(call: Call) -> Result<StatusCode, ApiProblem> {
    call.client(&[Right::Report])?;
    call.count(Charge::Report, 1)?;
    let link = found(&call).await?;
    if link.confirmed.is_some() {
        call.client(&[Right::Admin])?;
    }
    let store = call.site.service().store();
    store.corrections().drop_link(&link.player).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn found(call: &Call) -> Result<IdentityLink, ApiProblem> {
    let store = call.site.service().store();
    let link = store.corrections().link(call.part("player")).await?;
    link.ok_or_else(|| ApiProblem::nothing("nobody has asked for a link of this identity"))
}

/// What kind of identity one is, by its first word: `discord` for `discord-7`. Without a `-`, it is of no such kind.
fn kind_of(id: &str) -> &str {
    id.split_once('-').map_or(id, |(kind, _)| kind)
}

/// The player with an identity, as the pages show them.
async fn shown_player(call: &Call, id: &str) -> Result<Player, ApiProblem> {
    let kind = Kind::Human;
    let id = id.to_owned();
    let key = PlayerKey { kind, id };
    let store = call.site.service().store();
    let found = store.called(kind, &key.id).await?.into_iter().next();
    let name = found.map(|one| one.name).unwrap_or_default();
    let shown = call.site.pages().matches().present(&[(key, name)]).await?;
    let nobody = || Player::new(None, None, kind);
    Ok(shown.into_iter().next().unwrap_or_else(nobody))
}

async fn shown_link(call: &Call, link: &IdentityLink) -> Result<serde_json::Value, ApiProblem> {
    let player = shown_player(call, &link.into).await?;
    let by = link.confirmed.as_ref().map(|(by, _)| by);
    let at = link.confirmed.as_ref().map(|(_, at)| at.to_string());
    Ok(json!({
        "id": link.player,
        "alike": kind_of(&link.player) == kind_of(&link.into),
        "player": player,
        "asked_at": link.asked_at.to_string(),
        "confirmed_by": by,
        "confirmed_at": at,
    }))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedReport {
    id: String,
    /// Negative for bad behaviour.
    points: f64,
}

/// `POST /v1/behaviour`
pub(super) async fn report_behaviour(call: Call) -> Result<StatusCode, ApiProblem> {
    let client = call.client(&[Right::Report])?;
    let AskedReport { id, points } = call.json()?;
    check_name("id", &id)?;
    call.count(Charge::Report, 1)?;
    let known = Identities::of(call.site.service(), &[id.as_str()]).await?;
    let id = Ident::from_text(&known.get(&id));
    let sessions = call.site.service().sessions();
    let reported = sessions.report_behaviour(client, Some(client), &id, points);
    reported
        .await
        .map_err(|error| ApiProblem::from(error).at("id"))?;
    Ok(StatusCode::NO_CONTENT)
}
