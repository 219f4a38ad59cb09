//! Changes that are made only if the rows are as the holder of the lease believes: a player gets into no second ticket of
//! a group, and a ticket or a match in another state is not changed.

use std::collections::BTreeSet;

use super::{Became, Turn};
use crate::{
    matchmaking::lifecycle::{TicketNumber, TicketPlayer},
    store::{
        StoreError,
        db::*,
        queues::tickets::word,
        sql::rows::{self, Target, with_given},
    },
};

const PLAYERS: Target = Target::new("ticket_players", "player, queue_group, partition, ticket");
/// Removes players from the tickets that they leave. SQLite looks for each by the first columns of the key.
pub(in crate::store) const LEAVE: &str =
    "DELETE FROM ticket_players WHERE (player, queue_group, partition, ticket) IN
    (SELECT given.who, given.its_group, given.slot, given.number FROM {given})";

impl Turn<'_> {
    /// Who is in which ticket. Those who leave one may enter another one in the same turn.
    pub(super) async fn move_players(
        &self,
        tx: &mut Connection,
        partition: i64,
    ) -> Result<(), StoreError> {
        let row = |one: &TicketPlayer| values![&one.player, &one.group, partition, one.ticket];
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
        let entered = rows::write(tx, PLAYERS, unless_in_another, rows.into_iter()).await?;
        if entered.len() == self.entered.len() {
            return Ok(());
        }
        let entered = entered
            .iter()
            .map(|row| Ok((row.get("queue_group")?, row.get("player")?)));
        let entered = entered.collect::<Result<BTreeSet<(String, String)>, StoreError>>()?;
        let is_refused = |one: &&&TicketPlayer| {
            let known = (one.group.clone(), one.player.clone());
            !entered.contains(&known)
        };
        let player = self.entered.values().find(is_refused);
        let player = player.map_or_else(String::new, |one| one.player.clone());
        Err(StoreError::InAnother(player))
    }

    /// Changes the states of tickets whose rows have the states before.
    pub(super) async fn change_states(&self, tx: &mut Connection) -> Result<(), StoreError> {
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
             changed_at TEXT, told BOOLEAN",
            "UPDATE tickets SET state = given.state, match_id = given.match_id, reason = given.reason,
                                changed_at = given.changed_at, told = given.told
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
    pub(super) async fn accept(&self, tx: &mut Connection) -> Result<(), StoreError> {
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
