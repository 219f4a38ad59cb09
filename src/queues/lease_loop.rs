//! Runs a partition whenever this daemon holds its lease.

use std::time::Duration;

use tokio::{sync::mpsc, time::sleep};

use super::{
    QueuesError,
    call::Call,
    connections::Connections,
    follower::follow,
    partition_handle::PartitionHandle,
    task::{End, Task},
    wait_clock::WaitClock,
};
use crate::{
    learning::leases::HeldLease,
    matchmaking::lifecycle::{Lifecycle, TicketRecord},
    store::{StoreError, ticket_base},
};

/// The delay before a database that failed is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// Runs until the queues are stopped: whenever this daemon holds the lease of the partition.
pub(super) async fn run(handle: PartitionHandle, mut calls: mpsc::Receiver<Call>) {
    let shared = &handle.shared;
    let mut connections = Connections::default();
    let clock = WaitClock::new(shared);
    while let Some(held) = follow(&handle, &mut calls, &mut connections).await {
        let has_queues = !shared.names_of(&handle.name).is_empty();
        if has_queues {
            shared.tasks.taken();
        }
        shared.tasks.runs(&handle.name, true);
        let end = hold(&handle, &clock, &held, &mut calls, &mut connections).await;
        if has_queues && end != End::Left {
            shared.tasks.lost();
        }
        shared.tasks.runs(&handle.name, false);
        connections.remote.close();
        let own = shared.names_of(&handle.name);
        shared.metrics.look_away(&handle.name, &own);
        if let Err(error) = held.give_back().await {
            tracing::debug!(%error, "the lease of the queues ends by itself");
        }
    }
}

/// Runs until the queues are stopped, or the lease is lost or left to another daemon. After a write that failed,
/// begins again with what is on disk.
async fn hold(
    handle: &PartitionHandle,
    clock: &WaitClock,
    held: &HeldLease,
    calls: &mut mpsc::Receiver<Call>,
    connections: &mut Connections,
) -> End {
    let shared = &handle.shared;
    loop {
        match load(handle, clock).await {
            Ok((clock, life, slot)) => {
                let mut task = Task::new(handle, slot, &clock, held, life);
                match task.run(calls, connections).await {
                    Ok(end) => return end,
                    Err(error) if error.is_lease_lost() => return End::Lost,
                    Err(error) => tracing::error!(%error, "tickets cannot be written"),
                }
            }
            Err(error) => tracing::error!(%error, "tickets cannot be read"),
        }
        if !held.is_held() {
            return End::Lost;
        }
        shared.metrics.failed();
        while let Ok(call) = calls.try_recv() {
            call.answer.send(Err(QueuesError::NotWritten));
        }
        let stopped = shared.stop.run_until_cancelled(sleep(RETRY)).await;
        if stopped.is_none() {
            return End::Stopped;
        }
    }
}

/// Reads the partition, whose slot is the number.
async fn load(
    handle: &PartitionHandle,
    clock: &WaitClock,
) -> Result<(WaitClock, Lifecycle, i64), StoreError> {
    let (shared, partition) = (&handle.shared, &handle.name);
    let clock = clock.of_database(shared).await?;
    let slot = shared.store.queues().slot(partition).await?;
    let mut stored = shared.store.queues().hosting(slot).await?;
    (stored.tickets, stored.formed) = shared.store.queues().tickets_of(slot).await?;
    stored.players = shared.store.queues().ticket_players(slot).await?;
    let fits = |record: &TicketRecord| shared.accepts(&record.ticket);
    shared.learning.behaviour().refresh().await?;
    let now = clock.now(shared);
    let (settings, terms) = (shared.hosting.clone(), shared.terms(partition));
    let mut life = Lifecycle::restore(settings, terms, stored, now, fits);
    life.number_above(ticket_base(slot));
    let queues = shared.names_of(partition).len();
    if queues > 0 {
        let tickets = life.waiting();
        tracing::info!(queues, partition, tickets, "the queues are open");
    }
    Ok((clock, life, slot))
}
