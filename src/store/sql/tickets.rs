//! [`Tickets`] for both databases.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use sqlx::{QueryBuilder, Row};

use super::{DbConnection, DbRow, DbStore, int, pools, queue_hours, sequences, snapshot};
use crate::{
    domain::{MatchId, Timestamp},
    store::{FoundMatch, StoreError, Tickets},
    tickets::{
        Change, FormedMatch, Proposal, Reason, Seat, State, Submission, TicketNumber, TicketRecord,
    },
};

/// The most lines that are kept of what searches found for one match.
const MAX_WHY: usize = 200;

#[async_trait]
impl Tickets for DbStore {
    async fn tickets(&self) -> Result<(Vec<TicketRecord>, Vec<FormedMatch>), StoreError> {
        // One transaction, so that the tables are of the same moment.
        let mut tx = snapshot(&self.readers).await?;
        let query = sqlx::query("SELECT * FROM tickets ORDER BY number");
        let rows = query.fetch_all(&mut *tx).await?;
        let tickets = from_rows(&rows)?;
        let query = sqlx::query(
            "SELECT match_id, queue, size, mode, map, penalty, chance, seed, searched_at, formed_at,
                    open_until, pool_id, ruleset
             FROM formed_matches ORDER BY match_id",
        );
        let matches = query.fetch_all(&mut *tx).await?;
        let query = sqlx::query("SELECT * FROM formed_seats ORDER BY match_id, seat");
        let seats = query.fetch_all(&mut *tx).await?;
        Ok((tickets, matches_from_rows(&matches, &seats)?))
    }

    async fn formed_match(&self, id: MatchId) -> Result<Option<FoundMatch>, StoreError> {
        let mut tx = snapshot(&self.readers).await?;
        let query = sqlx::query("SELECT * FROM formed_matches WHERE match_id = $1").bind(id);
        let Some(row) = query.fetch_optional(&mut *tx).await? else {
            return Ok(None);
        };
        let mut matched = formed(&row)?;
        let why: String = row.try_get("why")?;
        matched.proposal.why = serde_json::from_str(&why).map_err(|_| bad("why", &why))?;
        let query = sqlx::query("SELECT * FROM formed_seats WHERE match_id = $1 ORDER BY seat");
        let seats = query.bind(id).fetch_all(&mut *tx).await?;
        let matched = seated(vec![matched], &seats)?.pop();
        let query = sqlx::query("SELECT * FROM pools WHERE pool_id = $1");
        let pool = query
            .bind(matched.as_ref().and_then(|matched| matched.pool_id))
            .fetch_optional(&mut *tx)
            .await?;
        let pool = pool.as_ref().map(pools::read).transpose()?;
        let mut tickets = Vec::new();
        if let Some(pool) = &pool {
            let (least, most) = pools::range(&pool.tickets);
            let query =
                sqlx::query("SELECT * FROM tickets WHERE number BETWEEN $1 AND $2 ORDER BY number");
            let rows = query.bind(least).bind(most).fetch_all(&mut *tx).await?;
            tickets = rows.iter().map(ticket).collect::<Result<Vec<_>, _>>()?;
        }
        Ok(matched.map(|formed| FoundMatch {
            formed,
            pool,
            tickets,
        }))
    }

    async fn reserve_matches(&self, count: u32) -> Result<MatchId, StoreError> {
        let mut tx = self.begin().await?;
        let last: MatchId = sequences::reserve_matches(&mut tx, i64::from(count)).await?;
        tx.commit().await?;
        Ok(last - i64::from(count) + 1)
    }

    async fn write_tickets(&self, changes: &[Change]) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        for change in changes {
            apply(&mut tx, change, 0).await?;
        }
        // No weights change, so nobody who waits for commits is woken.
        tx.commit().await
    }
}

/// Applies a change of the partition with this slot.
pub(super) async fn apply(
    tx: &mut DbConnection,
    change: &Change,
    partition: i64,
) -> Result<(), StoreError> {
    let query = match change {
        Change::Submitted(record) => return insert_ticket(tx, record).await,
        Change::Searched(id, pool) => return pools::insert(tx, *id, pool).await,
        Change::Formed(formed) => {
            require_queued(tx, formed.id, &formed.seats).await?;
            insert_match(tx, formed, partition).await?;
            return queue_hours::count_formed(tx, formed).await;
        }
        Change::Seated { id, seats, why } => {
            require_queued(tx, *id, seats).await?;
            return add_later(tx, *id, seats, why).await;
        }
        Change::Dropped(id) => return pools::drop_match(tx, *id).await,
        Change::Became {
            ticket,
            state,
            reason,
            at,
        } => {
            queue_hours::count_ticket(tx, *ticket, *state, *at).await?;
            let update = "UPDATE tickets SET state = $2, match_id = $3, reason = $4, changed_at = $5, told = FALSE
                          WHERE number = $1";
            let query = sqlx::query(update).bind(ticket).bind(word(*state));
            let query = query.bind(state.match_id()).bind(reason.as_str());
            query.bind(at.0)
        }
        Change::Sent(ticket) => {
            sqlx::query("UPDATE tickets SET told = TRUE WHERE number = $1").bind(ticket)
        }
        Change::Forgotten(ticket) => {
            sqlx::query("DELETE FROM tickets WHERE number = $1").bind(ticket)
        }
        Change::Accepted { id, player } => sqlx::query(
            "UPDATE formed_seats SET accepted = TRUE WHERE match_id = $1 AND player = $2",
        )
        .bind(id)
        .bind(player),
        Change::Unseated { id, ticket } => {
            sqlx::query("DELETE FROM formed_seats WHERE match_id = $1 AND ticket = $2 AND later")
                .bind(id)
                .bind(ticket)
        }
        Change::Closed(id) => {
            queue_hours::count_accepted(tx, *id).await?;
            sqlx::query("UPDATE formed_matches SET open_until = NULL WHERE match_id = $1").bind(id)
        }
    };
    query.execute(tx).await?;
    Ok(())
}

/// Fails if a ticket of these seats is in no queue, which the holder of the lease would know: even if it is wrong,
/// no ticket is in two matches. A ticket whose player was forgotten is gone, and its match is formed without it.
async fn require_queued(
    tx: &mut DbConnection,
    id: MatchId,
    seats: &[Seat],
) -> Result<(), StoreError> {
    let mut query =
        QueryBuilder::new("SELECT count(*) FROM tickets WHERE state <> 'queued' AND number IN (");
    let mut numbers = query.separated(", ");
    for number in seats
        .iter()
        .map(|seat| seat.ticket)
        .collect::<BTreeSet<_>>()
    {
        numbers.push_bind(number);
    }
    query.push(")");
    let taken: i64 = query.build_query_scalar().fetch_one(tx).await?;
    match taken {
        0 => Ok(()),
        _ => Err(StoreError::TicketTaken(id)),
    }
}

async fn insert_ticket(tx: &mut DbConnection, record: &TicketRecord) -> Result<(), StoreError> {
    let players = serde_json::to_string(&record.ticket.players);
    let players = players.map_err(|error| StoreError::BadValue(error.to_string()))?;
    sqlx::query(
        "INSERT INTO tickets (number, owner, ticket, queue, players, content, submitted_at,
                              state, match_id, reason, changed_at, told)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    )
    .bind(record.number)
    .bind(&record.ticket.owner)
    .bind(&record.ticket.id)
    .bind(&record.ticket.queue)
    .bind(players)
    .bind(&record.ticket.content)
    .bind(record.submitted_at.0)
    .bind(word(record.state))
    .bind(record.state.match_id())
    .bind(record.reason.as_str())
    .bind(record.changed_at.0)
    .bind(record.is_sent)
    .execute(tx)
    .await?;
    Ok(())
}

async fn insert_match(
    tx: &mut DbConnection,
    formed: &FormedMatch,
    partition: i64,
) -> Result<(), StoreError> {
    let proposal = &formed.proposal;
    let why = serde_json::to_string(&proposal.why);
    let why = why.map_err(|error| StoreError::BadValue(error.to_string()))?;
    sqlx::query(
        "INSERT INTO formed_matches (match_id, queue, size, mode, map, penalty, chance, seed,
                                     searched_at, formed_at, open_until, pool_id, why, ruleset, partition)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
    )
    .bind(formed.id)
    .bind(&formed.queue)
    .bind(i64::from(proposal.size))
    .bind(&proposal.mode)
    .bind(&proposal.map)
    .bind(proposal.penalty)
    .bind(proposal.chance)
    .bind(proposal.seed.to_string())
    .bind(proposal.searched_at.0)
    .bind(formed.formed_at.0)
    .bind(formed.open_until.map(|until| until.0))
    .bind(formed.pool_id)
    .bind(why)
    .bind(&proposal.ruleset)
    .bind(partition)
    .execute(&mut *tx)
    .await?;
    for seat in &formed.seats {
        insert_seat(tx, formed.id, seat, formed.accepted.contains(&seat.player)).await?;
    }
    Ok(())
}

/// Adds a seat after the others of its match, if the match is kept.
async fn insert_seat(
    tx: &mut DbConnection,
    id: MatchId,
    seat: &Seat,
    accepted: bool,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO formed_seats (match_id, seat, team, ticket, player, accepted, later)
         SELECT match_id, (SELECT coalesce(max(seat), -1) + 1 FROM formed_seats WHERE match_id = $1),
                $2, $3, $4, $5, $6
         FROM formed_matches WHERE match_id = $1",
    )
    .bind(id)
    .bind(i64::from(seat.team))
    .bind(seat.ticket)
    .bind(&seat.player)
    .bind(accepted)
    .bind(seat.later)
    .execute(tx)
    .await?;
    Ok(())
}

/// Adds the seats of tickets that have joined a match in play, and what the search found.
async fn add_later(
    tx: &mut DbConnection,
    id: MatchId,
    seats: &[Seat],
    why: &[String],
) -> Result<(), StoreError> {
    for seat in seats {
        insert_seat(tx, id, seat, false).await?;
    }
    let query = sqlx::query_scalar("SELECT why FROM formed_matches WHERE match_id = $1");
    let kept: Option<String> = query.bind(id).fetch_optional(&mut *tx).await?;
    let Some(kept) = kept.filter(|_| !why.is_empty()) else {
        return Ok(());
    };
    let mut lines: Vec<String> = serde_json::from_str(&kept).map_err(|_| bad("why", &kept))?;
    lines.extend_from_slice(why);
    lines.truncate(MAX_WHY);
    let lines = serde_json::to_string(&lines);
    let lines = lines.map_err(|error| StoreError::BadValue(error.to_string()))?;
    let query = sqlx::query("UPDATE formed_matches SET why = $2 WHERE match_id = $1");
    query.bind(id).bind(lines).execute(tx).await?;
    Ok(())
}

fn word(state: State) -> &'static str {
    match state {
        State::Queued => "queued",
        State::Proposed(_) => "proposed",
        State::Hosted(_) => "hosted",
        State::Called(_) => "called",
        State::Matched(_) => "matched",
        State::Cancelled => "cancelled",
        State::Expired => "expired",
    }
}

fn state(word: &str, id: Option<MatchId>) -> Option<State> {
    Some(match (word, id) {
        ("queued", None) => State::Queued,
        ("proposed", Some(id)) => State::Proposed(id),
        ("hosted", Some(id)) => State::Hosted(id),
        ("called", Some(id)) => State::Called(id),
        ("matched", Some(id)) => State::Matched(id),
        ("cancelled", None) => State::Cancelled,
        ("expired", None) => State::Expired,
        _ => return None,
    })
}

pub(super) fn bad(what: &str, value: &str) -> StoreError {
    StoreError::BadValue(format!("{what} {value}"))
}

fn ticket(row: &DbRow) -> Result<TicketRecord, StoreError> {
    let players: String = row.try_get("players")?;
    let in_state: String = row.try_get("state")?;
    let reason: String = row.try_get("reason")?;
    let known = Reason::ALL
        .into_iter()
        .find(|known| known.as_str() == reason);
    Ok(TicketRecord {
        number: row.try_get("number")?,
        ticket: Submission {
            owner: row.try_get("owner")?,
            id: row.try_get("ticket")?,
            queue: row.try_get("queue")?,
            players: serde_json::from_str(&players).map_err(|_| bad("players", &players))?,
            content: row.try_get("content")?,
        },
        submitted_at: Timestamp(row.try_get("submitted_at")?),
        state: state(&in_state, row.try_get("match_id")?).ok_or_else(|| bad("state", &in_state))?,
        reason: known.ok_or_else(|| bad("reason", &reason))?,
        changed_at: Timestamp(row.try_get("changed_at")?),
        is_sent: row.try_get("told")?,
    })
}

/// The tickets in these rows.
pub(super) fn from_rows(rows: &[DbRow]) -> Result<Vec<TicketRecord>, StoreError> {
    rows.iter().map(ticket).collect()
}

/// The matches in these rows, with the seats in those.
pub(super) fn matches_from_rows(
    matches: &[DbRow],
    seats: &[DbRow],
) -> Result<Vec<FormedMatch>, StoreError> {
    let matches = matches.iter().map(formed).collect::<Result<Vec<_>, _>>()?;
    seated(matches, seats)
}

/// A match without its seats.
fn formed(row: &DbRow) -> Result<FormedMatch, StoreError> {
    let seed: String = row.try_get("seed")?;
    let until: Option<i64> = row.try_get("open_until")?;
    Ok(FormedMatch {
        id: row.try_get("match_id")?,
        queue: row.try_get("queue")?,
        proposal: Proposal {
            teams: Vec::new(),
            size: int(row, "size")?,
            mode: row.try_get("mode")?,
            map: row.try_get("map")?,
            penalty: row.try_get("penalty")?,
            chance: row.try_get("chance")?,
            seed: seed.parse().map_err(|_| bad("seed", &seed))?,
            searched_at: Timestamp(row.try_get("searched_at")?),
            ruleset: row.try_get("ruleset")?,
            why: Vec::new(),
            pool: None,
        },
        seats: Vec::new(),
        formed_at: Timestamp(row.try_get("formed_at")?),
        open_until: until.map(Timestamp),
        accepted: Default::default(),
        pool_id: row.try_get("pool_id")?,
    })
}

/// The matches with the players in these rows.
fn seated(mut matches: Vec<FormedMatch>, rows: &[DbRow]) -> Result<Vec<FormedMatch>, StoreError> {
    let places = matches
        .iter()
        .enumerate()
        .map(|(at, formed)| (formed.id, at));
    let places: BTreeMap<MatchId, usize> = places.collect();
    for row in rows {
        let id: MatchId = row.try_get("match_id")?;
        let Some(formed) = places.get(&id).and_then(|at| matches.get_mut(*at)) else {
            continue;
        };
        let seat = Seat {
            player: row.try_get("player")?,
            ticket: row.try_get("ticket")?,
            team: int(row, "team")?,
            later: row.try_get("later")?,
        };
        if row.try_get("accepted")? {
            formed.accepted.insert(seat.player.clone());
        }
        if !seat.later {
            add_to_team(&mut formed.proposal.teams, &seat)?;
        }
        formed.seats.push(seat);
    }
    Ok(matches)
}

/// Adds the ticket of a seat to its team, once.
fn add_to_team(teams: &mut Vec<Vec<TicketNumber>>, seat: &Seat) -> Result<(), StoreError> {
    let team = usize::from(seat.team);
    if team >= crate::domain::MAX_TEAMS {
        return Err(bad("team", &seat.team.to_string()));
    }
    if teams.len() <= team {
        teams.resize_with(team + 1, Vec::new);
    }
    if !teams[team].contains(&seat.ticket) {
        teams[team].push(seat.ticket);
    }
    Ok(())
}
