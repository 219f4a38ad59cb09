//! The seats of tickets that join a match in play, or leave it again.

use crate::{
    matchmaking::lifecycle::{Change, Seat},
    model::MatchId,
    store::{StoreError, db::*},
};

/// The most lines that are kept of what searches found for one match.
const MAX_WHY: usize = 200;

/// Adds the seats of tickets that have joined a match in play, and what the search found; or removes those of one that
/// is not in it any more.
pub(super) async fn write(tx: &mut Connection, change: &Change) -> Result<(), StoreError> {
    match change {
        Change::Seated { id, seats, why } => {
            for seat in seats {
                add_seat(tx, *id, seat).await?;
            }
            add_why(tx, *id, why).await
        }
        Change::Unseated { id, ticket } => {
            let gone = "DELETE FROM formed_seats WHERE match_id = $1 AND ticket = $2 AND later";
            sql(gone).bind(id).bind(ticket).execute(tx).await.map(drop)
        }
        _ => Ok(()),
    }
}

/// Adds a seat after the others of its match, if the match is kept.
async fn add_seat(tx: &mut Connection, id: MatchId, seat: &Seat) -> Result<(), StoreError> {
    let add = "INSERT INTO formed_seats (match_id, seat, team, ticket, player, accepted, later)
         SELECT match_id, (SELECT coalesce(max(seat), -1) + 1 FROM formed_seats WHERE match_id = $1),
                $2, $3, $4, FALSE, $5
         FROM formed_matches WHERE match_id = $1";
    let values = values![id, seat.team, seat.ticket, &seat.player, seat.later];
    sql(add).bind_all(values).execute(tx).await.map(drop)
}

async fn add_why(tx: &mut Connection, id: MatchId, why: &[String]) -> Result<(), StoreError> {
    let query = scalar("SELECT why FROM formed_matches WHERE match_id = $1");
    let kept: Option<String> = query.bind(id).fetch_optional(&mut *tx).await?;
    let Some(kept) = kept.filter(|_| !why.is_empty()) else {
        return Ok(());
    };
    let mut lines: Vec<String> =
        serde_json::from_str(&kept).map_err(|_| StoreError::bad("why", &kept))?;
    lines.extend_from_slice(why);
    lines.truncate(MAX_WHY);
    let lines = serde_json::to_string(&lines);
    let lines = lines.map_err(|error| StoreError::BadValue(error.to_string()))?;
    let query = sql("UPDATE formed_matches SET why = $2 WHERE match_id = $1");
    query.bind(id).bind(lines).execute(tx).await.map(drop)
}
