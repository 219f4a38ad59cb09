//! `GET /v1/queues/{queue}/tickets`: the client's own tickets of a queue, and the teams of their matches.

use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Call, Problem, call::answer};
use crate::{model::Right, store::OwnTicket};

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Asked {
    /// Only the tickets with this player.
    player: Option<String>,
}

/// `GET /v1/queues/{queue}/tickets`
pub(super) async fn list(call: Call) -> Result<Response, Problem> {
    let client = call.client(&[Right::Queue])?;
    let Asked { player } = call.query()?;
    let queue = call.part("queue");
    let queues = call.site.queues().names();
    if !queues.iter().any(|(name, _)| name == queue) {
        return Err(Problem::nothing(format!("there is no queue {queue:.60}")));
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
