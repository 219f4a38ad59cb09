//! The tables of the queues: tickets, the matches that are formed of them, instances and what they host, and what daemons ask
//! each other.
//!
//! [`QueueTables`] writes these tables, and no others but the reports about behaviour, which a no-show adds to, and the numbers
//! of matches, which it reserves.

mod hosting;
mod hours;
mod requests;
pub(in crate::store) mod rows;

pub use hosting::{HostedRow, InstanceRow, QueueRow};
pub use hours::{QueueEvenness, QueueHour, WaitingTicket};
pub use requests::{
    DecidedRequest, HostNoticeRow, MAX_REQUEST, MAX_REQUESTS, NewHostNotice, NewRequest, Request,
    StoredTicket, TicketKey, ticket_base,
};

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    matchmaking::lifecycle::{
        Change, Match, MatchSeat, Proposal, QueuedPlayer, Reason, SearchedPool, Stage, State,
        Submission, TicketNumber, TicketRecord,
    },
    model::{Timestamp, record::MatchId},
    store::{
        Lease, Store, StoreError,
        behaviour::{self, BehaviourReport},
        db::{query::with_given, *},
        leases,
    },
};

/// The tables of the queues of a database.
#[derive(Clone, Copy, Debug)]
pub struct QueueTables<'a>(&'a Store);

impl Store {
    /// The tables of the queues.
    pub fn queues(&self) -> QueueTables<'_> {
        QueueTables(self)
    }
}

/// What the daemon that runs the queues writes together.
#[derive(Clone, Copy, Debug)]
pub struct QueueWrite<'a> {
    /// The lease without which nothing is written.
    pub lease: &'a Lease,
    /// The slot of the partition that is changed.
    pub partition: i64,
    /// The changes of tickets, matches and instances, in order.
    pub changes: &'a [Change],
    /// The no-shows that they have made.
    pub no_shows: &'a BehaviourReport,
    /// What has become of the requests of other daemons.
    pub decided: &'a [DecidedRequest],
    /// What the instances that are connected to other daemons are to be sent.
    pub notices: &'a [NewHostNotice],
    /// The median waits to publish, in milliseconds, by queue.
    pub waits: &'a [(String, i64)],
    /// Whether other daemons are to look at once at what has changed.
    pub wakes: bool,
}

impl QueueTables<'_> {
    /// Applies changes, adds the no-shows that they have made, and writes what was decided for other daemons: all or
    /// none. Returns the version of the reports about behaviour if there are no-shows.
    ///
    /// # Errors
    /// Fails if the lease is lost ([`StoreError::LeaseLost`]), if a ticket is in another state than before its change
    /// ([`StoreError::OtherState`]), a match not open to be accepted ([`StoreError::NoCheck`]) or a player in another
    /// ticket of the group ([`StoreError::InAnother`]), or if a request was withdrawn that was carried out ([`StoreError::Withdrawn`]).
    pub async fn write_queues(self, write: QueueWrite<'_>) -> Result<Option<i64>, StoreError> {
        let adds_reports = !write.no_shows.days.is_empty();
        let mut tx = self.0.begin_turn(adds_reports).await?;
        if let Err(error) = leases::check(&mut tx, write.lease).await {
            tx.abandon().await?; // at once, for the holder
            return Err(error);
        }
        write_turn(&mut tx, write.changes, write.partition).await?;
        hosting::write(&mut tx, write.changes, write.partition).await?;
        let version = match adds_reports {
            false => None,
            true => Some(behaviour::add(&mut tx, write.no_shows).await?),
        };
        requests::decide(&mut tx, &write).await?;
        tx.commit().await?;
        Ok(version)
    }
}

/// The states of a ticket that has changed: before the turn, and after it.
struct Became {
    from: State,
    state: State,
    reason: Reason,
    at: Timestamp,
    is_sent: bool,
}

/// The changes of a turn, by what they change. A later change of the same ticket replaces an earlier one.
#[derive(Default)]
struct TurnChanges<'a> {
    submitted: Vec<&'a TicketRecord>,
    became: BTreeMap<TicketNumber, Became>,
    /// The players who have left a ticket.
    left: Vec<&'a QueuedPlayer>,
    /// The players who have entered a ticket, by group and player.
    entered: BTreeMap<(&'a str, &'a str), &'a QueuedPlayer>,
    sent: BTreeSet<TicketNumber>,
    forgotten: Vec<TicketNumber>,
    searched: Vec<(MatchId, &'a SearchedPool)>,
    formed: Vec<&'a Match>,
    accepted: Vec<(MatchId, &'a String)>,
    closed: Vec<MatchId>,
    /// Seats of matches in play, in order.
    later: Vec<&'a Change>,
    dropped: Vec<MatchId>,
    /// The state of each ticket that has changed.
    states: BTreeMap<TicketNumber, State>,
}

/// Writes the changes of tickets, and of what was formed of them, in the partition with this number; any other change is
/// left to [`hosting`](super::hosting).
///
/// Every state is changed on the condition that the row has the one before it, and no player gets into a second ticket
/// of a group: even if the holder of the lease is wrong, no ticket is in two matches, and no player is in two tickets.
///
/// # Errors
/// Fails if a row contradicts the changes. A ticket whose player was forgotten is gone, and is left out.
async fn write_turn(
    tx: &mut PooledConnection,
    changes: &[Change],
    partition: i64,
) -> Result<(), StoreError> {
    let turn = TurnChanges::of(changes)?;
    turn.insert(tx, partition).await?;
    turn.move_players(tx, partition).await?;
    let formed = turn.formed.iter().copied();
    hours::count_matches(tx, formed, &turn.closed).await?;
    let became = turn.became.iter();
    let became = became.map(|(ticket, became)| (*ticket, became.state, became.reason, became.at));
    hours::count_tickets(tx, became).await?;
    turn.update(tx).await?;
    for change in &turn.later {
        rows::write_seats(tx, change).await?;
    }
    turn.remove(tx).await
}

impl<'a> TurnChanges<'a> {
    fn of(changes: &'a [Change]) -> Result<Self, StoreError> {
        let mut turn = Self::default();
        for change in changes {
            turn.add(change)?;
        }
        Ok(turn)
    }

    fn add(&mut self, change: &'a Change) -> Result<(), StoreError> {
        match change {
            Change::Submitted(record) => {
                self.states.insert(record.number, record.state);
                self.submitted.push(record);
            }
            Change::Became {
                ticket,
                from,
                state,
                reason,
                at,
            } => {
                let before = self.states.insert(*ticket, *state);
                if before.is_some_and(|before| before != *from) {
                    return Err(StoreError::OtherState(*ticket));
                }
                self.sent.remove(ticket);
                let first = self.became.get(ticket).map(|became| became.from);
                let became = Became {
                    from: first.unwrap_or(*from),
                    state: *state,
                    reason: *reason,
                    at: *at,
                    is_sent: false,
                };
                self.became.insert(*ticket, became);
            }
            Change::Entered(one) => {
                let other = self.entered.insert((&one.group, &one.player), one);
                if other.is_some_and(|other| other.ticket != one.ticket) {
                    return Err(StoreError::InAnother(one.player.clone()));
                }
            }
            Change::Left(one) => {
                self.entered.remove(&(&*one.group, &*one.player));
                self.left.push(one);
            }
            Change::Sent(ticket) => match self.became.get_mut(ticket) {
                Some(became) => became.is_sent = true,
                None => drop(self.sent.insert(*ticket)),
            },
            Change::Forgotten(ticket) => self.forgotten.push(*ticket),
            Change::Searched(id, pool) => self.searched.push((*id, pool)),
            Change::Formed(formed) => self.formed.push(formed),
            Change::Accepted { id, player } => self.accepted.push((*id, player)),
            Change::Closed(id) => self.closed.push(*id),
            Change::Seated { .. } | Change::Unseated { .. } => self.later.push(change),
            Change::Dropped(id) => self.dropped.push(*id),
            Change::Hosted(_)
            | Change::HostingForgotten(_)
            | Change::Instance(_)
            | Change::InstanceGone(_)
            | Change::Owed { .. }
            | Change::Finalised { .. } => {}
        }
        Ok(())
    }

    async fn update(&self, tx: &mut PooledConnection) -> Result<(), StoreError> {
        self.change_states(tx).await?;
        with_given(
            tx,
            "number BIGINT",
            "UPDATE tickets SET announced = TRUE FROM {given} WHERE tickets.number = given.number",
            self.sent.iter().map(|ticket| values![ticket]),
        )
        .await?;
        self.accept(tx).await?;
        with_given(
            tx,
            "match_id BIGINT",
            "UPDATE formed_matches SET open_until = NULL FROM {given}
             WHERE formed_matches.match_id = given.match_id",
            self.closed.iter().map(|id| values![id]),
        )
        .await?;
        Ok(())
    }

    async fn remove(&self, tx: &mut PooledConnection) -> Result<(), StoreError> {
        rows::drop_matches(tx, &self.dropped).await?;
        with_given(
            tx,
            "number BIGINT",
            "DELETE FROM tickets WHERE number IN (SELECT given.number FROM {given})",
            self.forgotten.iter().map(|ticket| values![ticket]),
        )
        .await?;
        Ok(())
    }
}

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

impl QueueTables<'_> {
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
        let pool = pool.as_ref().map(rows::read_pool).transpose()?;
        let mut tickets = Vec::new();
        if let Some(pool) = &pool {
            let (least, most) = rows::pool_range(&pool.tickets);
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
        is_sent: row.get("announced")?,
    })
}

/// The tickets in these rows.
fn from_rows(rows: &[Row]) -> Result<Vec<TicketRecord>, StoreError> {
    rows.iter().map(ticket).collect()
}

/// The matches in these rows, with the seats in those.
fn matches_from_rows(matches: &[Row], seats: &[Row]) -> Result<Vec<Match>, StoreError> {
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
        let seat = MatchSeat {
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
fn add_to_team(teams: &mut Vec<Vec<TicketNumber>>, seat: &MatchSeat) -> Result<(), StoreError> {
    let team = usize::from(seat.team);
    if team >= crate::model::record::MAX_TEAMS {
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

impl QueueTables<'_> {
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
        let tickets: Vec<OwnTicket> = rows.iter().map(own_ticket).collect::<Result<_, _>>()?;
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

fn own_ticket(row: &Row) -> Result<OwnTicket, StoreError> {
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
