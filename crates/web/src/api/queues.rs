//! The queues: SUBMIT, CANCEL, ACCEPT, DECLINE and TICKET over HTTP. `GET /v1/queues/{queue}/tickets` lists
//! the client's own tickets of a queue, with the teams of their matches.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::{Extension, http::StatusCode, response::Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    ApiProblem, Call,
    call::answer,
    game::{Identities, check_name},
};
use crate::{
    model::{access::Right, ident::Ident},
    protocol::{reply::TicketReply, request::Charge},
    queues::Draft,
    store::OwnTicket,
    visitors::Visit,
};

/// The longest wait for another state, in seconds.
const LONGEST: u64 = 60;
/// How long before the end of its connection an answer is given at the latest.
const EARLIER: Duration = Duration::from_secs(1);

/// The content of a ticket.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedTicket {
    players: Vec<AskedSeat>,
}

/// A player of a ticket, with what the queue asks about.
#[derive(Debug, Deserialize)]
struct AskedSeat {
    id: String,
    #[serde(flatten)]
    attributes: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedAnswer {
    r#match: i64,
    player: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AskedWait {
    wait: u64,
    state: Option<String>,
}

/// A ticket and its state.
#[derive(Debug, Default, Serialize)]
struct TicketAnswer {
    ticket: String,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    waited: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    eta: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#match: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    passes: Vec<Pass>,
}

#[derive(Debug, Serialize)]
struct Pass {
    player: String,
    pass: String,
}

/// The word for the state of a ticket, as in the replies of the line protocol.
fn word(reply: &TicketReply) -> &'static str {
    match reply {
        TicketReply::Queued { .. } => "queued",
        TicketReply::Proposed { .. } => "proposed",
        TicketReply::Matched { .. } => "matched",
        TicketReply::Go { .. } => "go",
        TicketReply::Cancelled(_) => "cancelled",
        TicketReply::Expired(_) => "expired",
    }
}

impl TicketAnswer {
    fn new(ticket: &str, reply: TicketReply) -> Self {
        let mut own = Self {
            ticket: ticket.to_owned(),
            state: word(&reply),
            ..Self::default()
        };
        match reply {
            TicketReply::Queued { waited, eta, .. } => (own.waited, own.eta) = (Some(waited), eta),
            TicketReply::Proposed { id, seconds, .. } => {
                (own.r#match, own.seconds) = (Some(id), Some(seconds));
            }
            TicketReply::Matched { id, .. } => own.r#match = Some(id),
            TicketReply::Go { id, address, seats } => {
                let pass = |(pass, player)| Pass { player, pass };
                own.passes = seats.into_iter().map(pass).collect();
                (own.r#match, own.address) = (Some(id), Some(address));
            }
            TicketReply::Cancelled(_) | TicketReply::Expired(_) => {}
        }
        own
    }
}

/// `PUT /v1/queues/{queue}/tickets/{ticket}`
pub(super) async fn submit(call: Call) -> Result<Response, ApiProblem> {
    let owner = call.client(&[Right::Queue])?;
    let asked: AskedTicket = call.json()?;
    call.count(Charge::Report, 1)?;
    let queues = call.site.queues();
    check_name("ticket", call.part("ticket"))?;
    let mut draft = Draft::begin(queues, call.part("queue"), call.part("ticket"))?;
    let ids: Vec<&str> = asked.players.iter().map(|one| one.id.as_str()).collect();
    let known = Identities::of(call.site.service(), &ids).await?;
    for (at, seat) in asked.players.iter().enumerate() {
        let place = format!("players[{at}]");
        check_name(&format!("{place}.id"), &seat.id)?;
        let player = known.get(&seat.id);
        may_speak_for(&call, &player)?;
        let mut stated = Vec::new();
        for (name, value) in &seat.attributes {
            let texts = texts(value);
            let wrong = || {
                ApiProblem::bad(format!(
                    "{place}.{name}: no text, number, truth value or list"
                ))
            };
            let texts = texts.ok_or_else(wrong)?;
            stated.extend(texts.into_iter().map(|text| (name.as_str(), text)));
        }
        let stated = stated.iter().map(|(name, text)| (*name, text.as_str()));
        draft.seat(&player, stated)?;
    }
    let reply = queues.submit(owner, &draft).await?;
    answer(&TicketAnswer::new(call.part("ticket"), reply))
}

/// The values of an attribute, as the line protocol writes them.
fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Number(number) => Some(vec![number.to_string()]),
        Value::Bool(true) => Some(vec!["yes".to_owned()]),
        Value::Bool(false) => Some(vec!["no".to_owned()]),
        Value::Array(list) => {
            let texts = list.iter().map(|one| match one {
                Value::Array(_) => None,
                one => texts(one),
            });
            let texts: Option<Vec<Vec<String>>> = texts.collect();
            texts.map(|texts| texts.concat())
        }
        Value::Null | Value::Object(_) => None,
    }
}

fn may_speak_for(call: &Call, player: &str) -> Result<(), ApiProblem> {
    if Ident::from_text(player).is_nobody() {
        return Err(ApiProblem::bad(
            "this id stands for players without an identity",
        ));
    }
    match call.caller.speaks_for(player) {
        true => Ok(()),
        false => Err(ApiProblem::forbidden("you may not speak for this player")),
    }
}

/// `DELETE /v1/queues/{queue}/tickets/{ticket}`
pub(super) async fn cancel(call: Call) -> Result<Response, ApiProblem> {
    let owner = call.client(&[Right::Queue])?;
    call.count(Charge::Report, 1)?;
    let ticket = call.part("ticket");
    let reply = call.site.queues().cancel(owner, ticket).await?;
    answer(&TicketAnswer::new(ticket, reply))
}

/// `GET /v1/queues/{queue}/tickets/{ticket}`
pub(super) async fn ticket(
    Extension(visit): Extension<Arc<Visit>>,
    call: Call,
) -> Result<Response, ApiProblem> {
    let owner = call.client(&[Right::Queue])?;
    let AskedWait { wait, state } = call.query()?;
    if wait > LONGEST {
        return Err(ApiProblem::bad(format!(
            "wait: must be 0 to {LONGEST} seconds"
        )));
    }
    let (until, ticket) = (visit.until, call.part("ticket"));
    let until = (Instant::now() + Duration::from_secs(wait)).min(until - EARLIER);
    let differs = |reply: &TicketReply| state.as_deref().is_none_or(|state| state != word(reply));
    let queues = call.site.queues();
    let waiting = queues.ticket_once(owner, ticket, until, &differs);
    let reply = match visit.stop.run_until_cancelled(waiting).await {
        Some(reply) => reply?,
        None => queues.ticket(owner, ticket).await?,
    };
    answer(&TicketAnswer::new(ticket, reply))
}

/// `POST /v1/queues/{queue}/tickets/{ticket}/accept` and `…/decline`
pub(super) async fn answer_match(call: Call, accepts: bool) -> Result<StatusCode, ApiProblem> {
    let owner = call.client(&[Right::Queue])?;
    let AskedAnswer { r#match, player } = call.json()?;
    call.count(Charge::Report, 1)?;
    let known = Identities::of(call.site.service(), &[player.as_str()]).await?;
    let player = known.get(&player);
    may_speak_for(&call, &player)?;
    let queues = call.site.queues();
    queues.answer(owner, r#match, &player, accepts).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct QueuesQuery {
    /// Only the tickets with this player.
    player: Option<String>,
}

/// `GET /v1/queues/{queue}/tickets`
pub(super) async fn list_own(call: Call) -> Result<Response, ApiProblem> {
    let client = call.client(&[Right::Queue])?;
    let QueuesQuery { player } = call.query()?;
    let queue = call.part("queue");
    let queues = call.site.queues().names();
    if !queues.iter().any(|(name, _)| name == queue) {
        return Err(ApiProblem::nothing(format!(
            "there is no queue {queue:.60}"
        )));
    }
    let store = call.site.service().store();
    let (tickets, matches) = store.queues().own_tickets(client, queue).await?;
    let is_meant = |one: &&OwnTicket| {
        let player = player.as_ref();
        player.is_none_or(|player| one.players.contains(player))
    };
    let tickets: Vec<&OwnTicket> = tickets.iter().filter(is_meant).collect();
    let has_ticket = |id| tickets.iter().any(|one| one.match_id == Some(id));
    let teams = matches.iter().filter(|one| has_ticket(one.id));
    let teams = teams.map(|one| json!({"match": one.id, "teams": one.teams}));
    let teams: Vec<Value> = teams.collect();
    let tickets = tickets.iter().map(|one| {
        json!({"ticket": one.id, "state": one.state, "players": one.players, "match": one.match_id})
    });
    let tickets: Vec<Value> = tickets.collect();
    answer(&json!({"tickets": tickets, "matches": teams}))
}
