//! The tickets of a client in a queue, and the matches that were formed of them.

use std::collections::{BTreeMap, BTreeSet};

use super::Queues;
use crate::{
    model::MatchId,
    store::{StoreError, db::*},
};

/// The most tickets that are listed.
const MOST: i64 = 200;

/// A ticket of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnTicket {
    /// The client's own name of it.
    pub id: String,
    /// Its state, by the words of TICKET.
    pub state: &'static str,
    /// The identities of its players.
    pub players: Vec<String>,
    /// The match that was formed of it.
    pub match_id: Option<MatchId>,
}

/// A match that was formed of tickets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketMatch {
    /// Its id.
    pub id: MatchId,
    /// The players of each team.
    pub teams: Vec<Vec<String>>,
}

impl Queues<'_> {
    /// The latest tickets of a client in a queue, the latest first, and the matches that were formed of them. They are
    /// kept for a day.
    pub async fn own_tickets(
        self,
        client: &str,
        queue: &str,
    ) -> Result<(Vec<OwnTicket>, Vec<TicketMatch>), StoreError> {
        let mut tx = self.0.readers.snapshot().await?;
        let query =
            "SELECT ticket, players, state, match_id FROM tickets WHERE owner = $1 AND queue = $2
                     ORDER BY submitted_at DESC, number DESC LIMIT $3";
        let query = sql(query).bind(client).bind(queue).bind(MOST);
        let rows = query.fetch_all(&mut tx).await?;
        let tickets: Vec<OwnTicket> = rows.iter().map(ticket).collect::<Result<_, _>>()?;
        let matches: BTreeSet<MatchId> = tickets.iter().filter_map(|one| one.match_id).collect();
        if matches.is_empty() {
            return Ok((tickets, Vec::new()));
        }
        let mut query =
            Sql::new("SELECT match_id, team, player FROM formed_seats WHERE match_id IN ");
        query.list(matches).push(" ORDER BY match_id, seat");
        let seats: Vec<(MatchId, i64, String)> = query.build_tuple().fetch_all(&mut tx).await?;
        let mut teams: BTreeMap<MatchId, BTreeMap<i64, Vec<String>>> = BTreeMap::new();
        for (id, team, player) in seats {
            let team = teams.entry(id).or_default().entry(team).or_default();
            team.push(player);
        }
        let matches = teams.into_iter().map(|(id, teams)| TicketMatch {
            id,
            teams: teams.into_values().collect(),
        });
        Ok((tickets, matches.collect()))
    }
}

fn ticket(row: &Row) -> Result<OwnTicket, StoreError> {
    let (state, players): (String, String) = (row.get("state")?, row.get("players")?);
    Ok(OwnTicket {
        id: row.get("ticket")?,
        state: match state.as_str() {
            "queued" => "queued",
            "proposed" => "proposed",
            "hosted" | "matched" => "matched",
            "called" => "go",
            "cancelled" => "cancelled",
            "expired" => "expired",
            _ => return Err(StoreError::bad("state", &state)),
        },
        players: serde_json::from_str(&players)
            .map_err(|_| StoreError::bad("players", &players))?,
        match_id: row.get("match_id")?,
    })
}
