//! The tickets of the queue, and the matches formed of them.

use std::collections::BTreeMap;

use super::{Queues, pools};
use crate::{
    matchmaking::lifecycle::{
        Match, Proposal, Reason, SearchedPool, Seat, Stage, State, Submission, TicketNumber,
        TicketRecord,
    },
    model::{MatchId, Timestamp},
    store::{StoreError, db::*},
};

/// A match that was formed, and what is still stored of the pool that it was found in.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundMatch {
    /// The match, with its lines about the rules.
    pub formed: Match,
    /// The pool; `None` if it was too large, or newer ones have replaced it.
    pub pool: Option<SearchedPool>,
    /// The stored tickets from the first to the last number of the pool; not all of them are in it.
    pub tickets: Vec<TicketRecord>,
}

impl Queues<'_> {
    /// The match with this id, while any of its tickets is kept.
    ///
    /// # Errors
    /// Fails if it contains a value that no version of Evenkeel writes.
    pub async fn formed_match(self, id: MatchId) -> Result<Option<FoundMatch>, StoreError> {
        let mut tx = self.0.readers.snapshot().await?;
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
    pub async fn reserve_matches(self, count: u32) -> Result<MatchId, StoreError> {
        let mut tx = self.0.begin_alone().await?;
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

/// The word for a state in the database.
pub(super) fn word(state: State) -> &'static str {
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
    let content: String = row.get("content")?;
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
            // No queue accepts a ticket whose content cannot be read.
            spec: serde_json::from_str(&content).unwrap_or_default(),
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
    let until: Option<Timestamp> = row.get("open_until")?;
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
        open_until: until,
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
    if team >= crate::model::MAX_TEAMS {
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
