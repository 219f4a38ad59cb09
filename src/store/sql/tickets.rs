//! The tickets of the queue, and the matches formed of them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Store, pools, queue_hours};
use crate::{
    domain::{MatchId, Timestamp},
    lifecycle::{
        Change, Match, Proposal, Reason, Seat, Stage, State, Submission, TicketNumber, TicketRecord,
    },
    store::{FoundMatch, StoreError, db::*},
};

/// The most lines that are kept of what searches found for one match.
const MAX_WHY: usize = 200;

impl Store {
    /// The match with this id, while any of its tickets is kept.
    ///
    /// # Errors
    /// Fails if it contains a value that no version of Evenkeel writes.
    pub async fn formed_match(&self, id: MatchId) -> Result<Option<FoundMatch>, StoreError> {
        let mut tx = self.readers.snapshot().await?;
        let query = sql("SELECT * FROM formed_matches WHERE match_id = $1").bind(id);
        let Some(row) = query.fetch_optional(&mut tx).await? else {
            return Ok(None);
        };
        let mut matched = formed(&row)?;
        let why: String = row.get("why")?;
        matched.proposal.why =
            serde_json::from_str(&why).map_err(|_| StoreError::bad("why", &why))?;
        let query = sql("SELECT * FROM formed_seats WHERE match_id = $1 ORDER BY seat");
        let seats = query.bind(id).fetch_all(&mut tx).await?;
        let matched = seated(vec![matched], &seats)?.pop();
        let query = sql("SELECT * FROM pools WHERE pool_id = $1");
        let pool = query
            .bind(matched.as_ref().and_then(|matched| matched.pool_id))
            .fetch_optional(&mut tx)
            .await?;
        let pool = pool.as_ref().map(pools::read).transpose()?;
        let mut tickets = Vec::new();
        if let Some(pool) = &pool {
            let (least, most) = pools::range(&pool.tickets);
            let query = sql("SELECT * FROM tickets WHERE number BETWEEN $1 AND $2 ORDER BY number");
            let rows = query.bind(least).bind(most).fetch_all(&mut tx).await?;
            tickets = rows.iter().map(ticket).collect::<Result<Vec<_>, _>>()?;
        }
        Ok(matched.map(|formed| FoundMatch {
            formed,
            pool,
            tickets,
        }))
    }

    /// Reserves `count` consecutive ids of matches, and returns the first. No match has them yet, and
    /// no match gets them later without the caller.
    pub async fn reserve_matches(&self, count: u32) -> Result<MatchId, StoreError> {
        let mut tx = self.begin_alone().await?;
        let next = match tx.dialect() {
            Dialect::Sqlite => {
                // SQLite adds the row with the first match.
                let first = "INSERT INTO sqlite_sequence (name, seq) SELECT 'matches', 0
                     WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'matches')";
                sql(first).execute(&mut tx).await?;
                "UPDATE sqlite_sequence SET seq = seq + $1 WHERE name = 'matches' RETURNING seq"
            }
            // Alone: nobody takes ids in between.
            Dialect::Postgres => {
                "SELECT setval(pg_get_serial_sequence('matches', 'id'),
                               nextval(pg_get_serial_sequence('matches', 'id')) + $1 - 1)"
            }
        };
        let last: MatchId = scalar(next).bind(count).fetch_one(&mut tx).await?;
        tx.commit().await?;
        Ok(last - i64::from(count) + 1)
    }
}

/// Applies a change of tickets, or of what was formed of them, in the partition with this slot; any other change is left
/// to [`hosting`](super::hosting).
pub(super) async fn apply(
    tx: &mut Connection,
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
            let query = sql(update).bind(ticket).bind(word(*state));
            let query = query.bind(state.match_id()).bind(reason.as_str());
            query.bind(at.0)
        }
        Change::Sent(ticket) => {
            sql("UPDATE tickets SET told = TRUE WHERE number = $1").bind(ticket)
        }
        Change::Forgotten(ticket) => sql("DELETE FROM tickets WHERE number = $1").bind(ticket),
        Change::Accepted { id, player } => {
            sql("UPDATE formed_seats SET accepted = TRUE WHERE match_id = $1 AND player = $2")
                .bind(id)
                .bind(player)
        }
        Change::Unseated { id, ticket } => {
            sql("DELETE FROM formed_seats WHERE match_id = $1 AND ticket = $2 AND later")
                .bind(id)
                .bind(ticket)
        }
        Change::Hosted(_)
        | Change::HostingForgotten(_)
        | Change::Instance(_)
        | Change::InstanceGone(_)
        | Change::Owed { .. }
        | Change::Settled { .. } => return Ok(()),
        Change::Closed(id) => {
            queue_hours::count_accepted(tx, *id).await?;
            sql("UPDATE formed_matches SET open_until = NULL WHERE match_id = $1").bind(id)
        }
    };
    query.execute(tx).await?;
    Ok(())
}

/// Fails if a ticket of these seats is in no queue, which the holder of the lease would know: even if it is wrong,
/// no ticket is in two matches. A ticket whose player was forgotten is gone, and its match is formed without it.
async fn require_queued(
    tx: &mut Connection,
    id: MatchId,
    seats: &[Seat],
) -> Result<(), StoreError> {
    let mut query = Sql::new("SELECT count(*) FROM tickets WHERE state <> 'queued' AND number IN ");
    query.list(
        seats
            .iter()
            .map(|seat| seat.ticket)
            .collect::<BTreeSet<_>>(),
    );
    let taken: i64 = query.build_scalar().fetch_one(tx).await?;
    match taken {
        0 => Ok(()),
        _ => Err(StoreError::TicketTaken(id)),
    }
}

async fn insert_ticket(tx: &mut Connection, record: &TicketRecord) -> Result<(), StoreError> {
    let players = serde_json::to_string(&record.ticket.players);
    let players = players.map_err(|error| StoreError::BadValue(error.to_string()))?;
    sql(
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
    tx: &mut Connection,
    formed: &Match,
    partition: i64,
) -> Result<(), StoreError> {
    let proposal = &formed.proposal;
    let why = serde_json::to_string(&proposal.why);
    let why = why.map_err(|error| StoreError::BadValue(error.to_string()))?;
    sql(
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
    tx: &mut Connection,
    id: MatchId,
    seat: &Seat,
    accepted: bool,
) -> Result<(), StoreError> {
    sql(
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
    tx: &mut Connection,
    id: MatchId,
    seats: &[Seat],
    why: &[String],
) -> Result<(), StoreError> {
    for seat in seats {
        insert_seat(tx, id, seat, false).await?;
    }
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

fn ticket(row: &Row) -> Result<TicketRecord, StoreError> {
    let players: String = row.get("players")?;
    let in_state: String = row.get("state")?;
    let reason: String = row.get("reason")?;
    let known = Reason::ALL
        .into_iter()
        .find(|known| known.as_str() == reason);
    Ok(TicketRecord {
        number: row.get("number")?,
        ticket: Submission {
            owner: row.get("owner")?,
            id: row.get("ticket")?,
            queue: row.get("queue")?,
            players: serde_json::from_str(&players)
                .map_err(|_| StoreError::bad("players", &players))?,
            content: row.get("content")?,
        },
        submitted_at: row.get("submitted_at")?,
        state: state(&in_state, row.get("match_id")?)
            .ok_or_else(|| StoreError::bad("state", &in_state))?,
        reason: known.ok_or_else(|| StoreError::bad("reason", &reason))?,
        changed_at: row.get("changed_at")?,
        is_sent: row.get("told")?,
    })
}

/// The tickets in these rows.
pub(super) fn from_rows(rows: &[Row]) -> Result<Vec<TicketRecord>, StoreError> {
    rows.iter().map(ticket).collect()
}

/// The matches in these rows, with the seats in those.
pub(super) fn matches_from_rows(matches: &[Row], seats: &[Row]) -> Result<Vec<Match>, StoreError> {
    let matches = matches.iter().map(formed).collect::<Result<Vec<_>, _>>()?;
    seated(matches, seats)
}

/// A match without its seats.
fn formed(row: &Row) -> Result<Match, StoreError> {
    let seed: String = row.get("seed")?;
    let until: Option<i64> = row.get("open_until")?;
    Ok(Match {
        id: row.get("match_id")?,
        queue: row.get("queue")?,
        stage: match until {
            Some(_) => Stage::Proposed,
            None => Stage::Formed,
        },
        proposal: Proposal {
            teams: Vec::new(),
            size: row.get("size")?,
            mode: row.get("mode")?,
            map: row.get("map")?,
            penalty: row.get("penalty")?,
            chance: row.get("chance")?,
            seed: seed.parse().map_err(|_| StoreError::bad("seed", &seed))?,
            searched_at: row.get("searched_at")?,
            ruleset: row.get("ruleset")?,
            why: Vec::new(),
            pool: None,
        },
        formed_at: row.get("formed_at")?,
        open_until: until.map(Timestamp),
        pool_id: row.get("pool_id")?,
        ..Match::default()
    })
}

/// The matches with the players in these rows.
fn seated(mut matches: Vec<Match>, rows: &[Row]) -> Result<Vec<Match>, StoreError> {
    let places = matches
        .iter()
        .enumerate()
        .map(|(at, formed)| (formed.id, at));
    let places: BTreeMap<MatchId, usize> = places.collect();
    for row in rows {
        let id: MatchId = row.get("match_id")?;
        let Some(formed) = places.get(&id).and_then(|at| matches.get_mut(*at)) else {
            continue;
        };
        let seat = Seat {
            player: row.get("player")?,
            ticket: row.get("ticket")?,
            team: row.get("team")?,
            later: row.get("later")?,
        };
        if row.get("accepted")? {
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
        return Err(StoreError::bad("team", &seat.team.to_string()));
    }
    if teams.len() <= team {
        teams.resize_with(team + 1, Vec::new);
    }
    if !teams[team].contains(&seat.ticket) {
        teams[team].push(seat.ticket);
    }
    Ok(())
}
