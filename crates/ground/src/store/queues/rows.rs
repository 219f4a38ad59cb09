//! The rows that a turn of a queue writes: new tickets and matches, the pools in which matches were found, and the
//! seats of tickets that join a match in play or leave it again.
//!
//! Changes are made only if the rows are as the holder of the lease believes: a player gets into no second ticket of
//! a group, and a ticket or a match in another state is not changed.

use std::collections::BTreeSet;

use crate::{
    matchmaking::lifecycle::{
        Change, Match, MatchSeat, QueuedPlayer, SearchedPool, TicketNumber, TicketRecord,
    },
    model::record::MatchId,
    store::{
        StoreError,
        db::{
            query::{self, Target, insert, with_given},
            *,
        },
        queues::{Became, TurnChanges, word},
    },
};

const PLAYERS: Target = Target::new("ticket_players", "player, queue_group, partition, ticket");
/// Removes players from the tickets that they leave. SQLite looks for each by the first columns of the key.
pub(in crate::store) const LEAVE: &str =
    "DELETE FROM ticket_players WHERE (player, queue_group, partition, ticket) IN
    (SELECT given.who, given.its_group, given.slot, given.number FROM {given})";

impl TurnChanges<'_> {
    /// Who is in which ticket. Those who leave one may enter another one in the same turn.
    pub(super) async fn move_players(
        &self,
        tx: &mut PooledConnection,
        partition: i64,
    ) -> Result<(), StoreError> {
        let row = |one: &QueuedPlayer| values![&one.player, &one.group, partition, one.ticket];
        with_given(
            tx,
            "who TEXT, its_group TEXT, slot BIGINT, number BIGINT",
            LEAVE,
            self.left.iter().map(|one| row(one)),
        )
        .await?;
        let rows: Vec<_> = self.entered.values().map(|one| row(one)).collect();
        let unless_in_another =
            " ON CONFLICT (player, queue_group, partition) DO UPDATE SET ticket = excluded.ticket
             WHERE ticket_players.ticket = excluded.ticket
             RETURNING ticket_players.queue_group, ticket_players.player";
        let entered = query::write(tx, PLAYERS, unless_in_another, rows.into_iter()).await?;
        if entered.len() == self.entered.len() {
            return Ok(());
        }
        let entered = entered
            .iter()
            .map(|row| Ok((row.get("queue_group")?, row.get("player")?)));
        let entered = entered.collect::<Result<BTreeSet<(String, String)>, StoreError>>()?;
        let is_refused = |one: &&&QueuedPlayer| {
            let known = (one.group.clone(), one.player.clone());
            !entered.contains(&known)
        };
        let player = self.entered.values().find(is_refused);
        let player = player.map_or_else(String::new, |one| one.player.clone());
        Err(StoreError::InAnother(player))
    }

    /// Changes the states of tickets whose rows have the states before.
    pub(super) async fn change_states(&self, tx: &mut PooledConnection) -> Result<(), StoreError> {
        let row = |(ticket, became): (&TicketNumber, &Became)| {
            values![
                ticket,
                word(became.from),
                became.from.match_id(),
                word(became.state),
                became.state.match_id(),
                became.reason.as_str(),
                became.at,
                became.is_sent
            ]
        };
        let changed = with_given(
            tx,
            "number BIGINT, before TEXT, match_before BIGINT, state TEXT, match_id BIGINT, reason TEXT,
             changed_at TEXT, announced BOOLEAN",
            "UPDATE tickets SET state = given.state, match_id = given.match_id, reason = given.reason,
                                changed_at = given.changed_at, announced = given.announced
             FROM {given} WHERE tickets.number = given.number AND tickets.state = given.before
                            AND tickets.match_id IS NOT DISTINCT FROM given.match_before
             RETURNING tickets.number",
            self.became.iter().map(row),
        )
        .await?;
        if changed.len() == self.became.len() {
            return Ok(());
        }
        let changed = changed.iter().map(|row| row.get("number"));
        let changed = changed.collect::<Result<BTreeSet<TicketNumber>, _>>()?;
        let others = self
            .became
            .keys()
            .filter(|ticket| !changed.contains(ticket));
        let others = with_given(
            tx,
            "number BIGINT",
            "SELECT given.number FROM {given} JOIN tickets t ON t.number = given.number",
            others.map(|ticket| values![ticket]),
        )
        .await?;
        match others.first() {
            None => Ok(()),
            Some(row) => Err(StoreError::OtherState(row.get("number")?)),
        }
    }

    /// Notes who has accepted a match that waits for it. The seat of a player who was forgotten is gone.
    pub(super) async fn accept(&self, tx: &mut PooledConnection) -> Result<(), StoreError> {
        let rows = || {
            self.accepted
                .iter()
                .map(|(id, player)| values![id, *player])
        };
        let accepted = with_given(
            tx,
            "match_id BIGINT, player TEXT",
            "UPDATE formed_seats SET accepted = TRUE
             FROM {given} JOIN formed_matches m ON m.match_id = given.match_id AND m.open_until IS NOT NULL
             WHERE formed_seats.match_id = given.match_id AND formed_seats.player = given.player
             RETURNING formed_seats.match_id",
            rows(),
        )
        .await?;
        if accepted.len() == self.accepted.len() {
            return Ok(());
        }
        let closed = with_given(
            tx,
            "match_id BIGINT, player TEXT",
            "SELECT s.match_id FROM {given}
             JOIN formed_seats s ON s.match_id = given.match_id AND s.player = given.player
             JOIN formed_matches m ON m.match_id = s.match_id AND m.open_until IS NULL",
            rows(),
        )
        .await?;
        match closed.first() {
            None => Ok(()),
            Some(row) => Err(StoreError::NoCheck(row.get("match_id")?)),
        }
    }
}

const TICKETS: Target = Target::new(
    "tickets",
    "number, owner, ticket, queue, players, content, submitted_at, state, match_id, reason, changed_at, announced",
);
const MATCHES: Target = Target::new(
    "formed_matches",
    "match_id, queue, size, mode, map, penalty, chance, seed, searched_at, formed_at, open_until, pool_id, why, \
     ruleset, partition",
);
const SEATS: Target = Target::new(
    "formed_seats",
    "match_id, seat, team, ticket, player, accepted, later",
);

impl TurnChanges<'_> {
    pub(super) async fn insert(
        &self,
        tx: &mut PooledConnection,
        partition: i64,
    ) -> Result<(), StoreError> {
        let tickets = self.submitted.iter().map(|record| ticket(record));
        let tickets = tickets.collect::<Result<Vec<_>, _>>()?;
        insert(tx, TICKETS, "", tickets.into_iter()).await?;
        for (id, pool) in &self.searched {
            insert_pool(tx, *id, pool).await?;
        }
        let matches = self.formed.iter().map(|formed| matched(formed, partition));
        let matches = matches.collect::<Result<Vec<_>, _>>()?;
        insert(tx, MATCHES, "", matches.into_iter()).await?;
        let seats = self.formed.iter().flat_map(|formed| {
            let seats = formed.seats.iter().enumerate();
            seats.map(|(at, seat)| {
                let accepted = formed.accepted.contains(&seat.player);
                values![
                    formed.id,
                    at,
                    seat.team,
                    seat.ticket,
                    &seat.player,
                    accepted,
                    seat.later
                ]
            })
        });
        let seats: Vec<_> = seats.collect();
        insert(tx, SEATS, "", seats.into_iter()).await
    }
}

fn ticket(record: &TicketRecord) -> Result<Vec<SqlValue>, StoreError> {
    let text = |json: serde_json::Result<String>| {
        json.map_err(|error| StoreError::BadValue(error.to_string()))
    };
    let players = text(serde_json::to_string(&record.ticket.players))?;
    let content = text(serde_json::to_string(&record.ticket.spec))?;
    Ok(values![
        record.number,
        &record.ticket.owner,
        &record.ticket.id,
        &record.ticket.queue,
        players,
        content,
        record.submitted_at,
        word(record.state),
        record.state.match_id(),
        record.reason.as_str(),
        record.changed_at,
        record.is_sent,
    ])
}

fn matched(formed: &Match, partition: i64) -> Result<Vec<SqlValue>, StoreError> {
    let proposal = &formed.proposal;
    let why = serde_json::to_string(&proposal.why);
    let why = why.map_err(|error| StoreError::BadValue(error.to_string()))?;
    Ok(values![
        formed.id,
        &formed.queue,
        proposal.size,
        proposal.mode.clone(),
        proposal.map.clone(),
        proposal.penalty,
        proposal.chance,
        proposal.seed.to_string(),
        proposal.searched_at,
        formed.formed_at,
        formed.open_until,
        formed.pool_id,
        why,
        &proposal.ruleset,
        partition,
    ])
}

/// The most lines that are kept of what searches found for one match.
const MAX_WHY: usize = 200;

/// Adds the seats of tickets that have joined a match in play, and what the search found; or removes those of one that
/// is not in it any more.
pub(super) async fn write_seats(
    tx: &mut PooledConnection,
    change: &Change,
) -> Result<(), StoreError> {
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
async fn add_seat(
    tx: &mut PooledConnection,
    id: MatchId,
    seat: &MatchSeat,
) -> Result<(), StoreError> {
    let add = "INSERT INTO formed_seats (match_id, seat, team, ticket, player, accepted, later)
         SELECT match_id, (SELECT coalesce(max(seat), -1) + 1 FROM formed_seats WHERE match_id = $1),
                $2, $3, $4, FALSE, $5
         FROM formed_matches WHERE match_id = $1";
    let values = values![id, seat.team, seat.ticket, &seat.player, seat.later];
    sql(add).bind_all(values).execute(tx).await.map(drop)
}

async fn add_why(tx: &mut PooledConnection, id: MatchId, why: &[String]) -> Result<(), StoreError> {
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

/// The most pools that are kept, the newest.
const KEPT: i64 = 1_000;

const POOLS: Target = Target::new(
    "pools",
    "pool_id, queue, settings, seed, effort, version, searched_at, tickets, known, win_model",
)
.replacing("pool_id");

/// Writes a pool, and removes those that are too many.
async fn insert_pool(
    tx: &mut PooledConnection,
    id: MatchId,
    pool: &SearchedPool,
) -> Result<(), StoreError> {
    let row = values![
        id,
        &pool.queue,
        &pool.settings,
        pool.seed.to_string(),
        pool.effort,
        &pool.version,
        pool.searched_at,
        &pool.tickets,
        &pool.known,
        &pool.win_model,
    ];
    insert(tx, POOLS, "", [row].into_iter()).await?;
    let oldest = "DELETE FROM pools WHERE pool_id <=
         (SELECT pool_id FROM pools ORDER BY pool_id DESC LIMIT 1 OFFSET $1)";
    sql(oldest).bind(KEPT).execute(tx).await?;
    Ok(())
}

/// Removes matches, and the pools in which no other match was found.
pub(super) async fn drop_matches(
    tx: &mut PooledConnection,
    ids: &[MatchId],
) -> Result<(), StoreError> {
    let gone = "DELETE FROM formed_matches WHERE match_id IN (SELECT given.match_id FROM {given}) RETURNING pool_id";
    let ids = ids.iter().map(|id| values![id]);
    let gone = with_given(tx, "match_id BIGINT", gone, ids).await?;
    let pools = gone
        .iter()
        .filter_map(|row| row.get::<Option<MatchId>>("pool_id").transpose());
    let pools = pools.collect::<Result<BTreeSet<_>, _>>()?;
    let unused = "DELETE FROM pools WHERE pool_id IN (SELECT given.pool_id FROM {given})
         AND NOT EXISTS (SELECT 1 FROM formed_matches f WHERE f.pool_id = pools.pool_id)";
    let pools = pools.iter().map(|pool| values![pool]);
    with_given(tx, "pool_id BIGINT", unused, pools)
        .await
        .map(drop)
}

pub(super) fn read_pool(row: &Row) -> Result<SearchedPool, StoreError> {
    let seed: String = row.get("seed")?;
    Ok(SearchedPool {
        queue: row.get("queue")?,
        settings: row.get("settings")?,
        seed: seed.parse().map_err(|_| StoreError::bad("seed", &seed))?,
        effort: row.get("effort")?,
        version: row.get("version")?,
        searched_at: row.get("searched_at")?,
        tickets: row.get("tickets")?,
        known: row.get("known")?,
        win_model: row.get("win_model")?,
    })
}

/// The smallest and the largest number in a text such as `3-7 9`.
pub(super) fn pool_range(tickets: &str) -> (TicketNumber, TicketNumber) {
    let numbers = tickets.split([' ', '-']);
    let numbers = numbers.filter_map(|number| number.parse::<TicketNumber>().ok());
    numbers.fold((TicketNumber::MAX, 0), |(least, most), number| {
        (number.min(least), number.max(most))
    })
}
