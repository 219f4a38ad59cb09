//! Runs a partition whenever this daemon holds its lease, and otherwise answers from what the holder has written.
//!
//! A daemon without the lease asks the holder for what its clients and instances want, and registers with each new
//! holder the instances that are connected. On SQLite, where one daemon at a time decides, it refuses what needs a
//! decision.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::mpsc,
    time::{Instant, sleep},
};

use super::{
    ClientCall, Connections, QueuesError, ReplyTo, WaitClock,
    command::{ClientAnswer, ClientCommand},
    fleet::Fleet,
    links::{InstanceCommand, InstanceLinks},
    shared::PartitionHandle,
    shared::part_of,
    task::{Task, TaskEnd},
};
use crate::{
    learning::leases::HeldLease,
    matchmaking::lifecycle::{Lifecycle, TicketRecord},
    store::{StoreError, ticket_base},
};

/// The delay before a database that failed is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// Runs until the queues are stopped: whenever this daemon holds the lease of the partition.
pub(super) async fn run(handle: PartitionHandle, mut calls: mpsc::Receiver<ClientCall>) {
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
        if has_queues && end != TaskEnd::Left {
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
    calls: &mut mpsc::Receiver<ClientCall>,
    connections: &mut Connections,
) -> TaskEnd {
    let shared = &handle.shared;
    loop {
        match load(handle, clock).await {
            Ok((clock, life, slot)) => {
                let mut task = Task::new(handle, slot, &clock, held, life);
                match task.run(calls, connections).await {
                    Ok(end) => return end,
                    Err(error) if error.is_lease_lost() => return TaskEnd::Lost,
                    Err(error) => tracing::error!(%error, "tickets cannot be written"),
                }
            }
            Err(error) => tracing::error!(%error, "tickets cannot be read"),
        }
        if !held.is_held() {
            return TaskEnd::Lost;
        }
        shared.metrics.failed();
        while let Ok(call) = calls.try_recv() {
            call.answer.send(Err(QueuesError::NotWritten));
        }
        let stopped = shared.stop.run_until_cancelled(sleep(RETRY)).await;
        if stopped.is_none() {
            return TaskEnd::Stopped;
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
    if let Some(holder_of) = shared.holders.get().cloned() {
        life.share_by(Arc::new(move |owner| holder_of(owner).to_string()));
    }
    let queues = shared.names_of(partition).len();
    if queues > 0 {
        let tickets = life.waiting();
        tracing::info!(queues, partition, tickets, "the queues are open");
    }
    Ok((clock, life, slot))
}

/// What came of a try to take the lease.
enum LeaseTry {
    /// This daemon has it.
    Taken(HeldLease),
    /// Another daemon has it, with this epoch.
    Of(String, i64),
    /// It is free, and left to others for a while.
    Left,
}

/// Waits until this daemon holds the lease of a partition; `None` once the queues are stopped.
pub(super) async fn follow(
    handle: &PartitionHandle,
    calls: &mut mpsc::Receiver<ClientCall>,
    connections: &mut Connections,
) -> Option<HeldLease> {
    let shared = &handle.shared;
    // The epoch of the holder with which this daemon has registered, and since when the lease is left to others.
    let (mut registered, mut left) = (None, None);
    while !shared.stop.is_cancelled() {
        connections.links.prune();
        let why = match try_to_take(handle, &mut left).await {
            Ok(LeaseTry::Taken(held)) => return Some(held),
            Ok(LeaseTry::Of(holder, epoch)) => {
                let forgotten = shared.fleet.as_ref().map(Fleet::forgotten);
                let now = Some((epoch, forgotten));
                if std::mem::replace(&mut registered, now) != now {
                    let partition = &handle.name;
                    tracing::warn!(holder, partition, "another daemon runs the queues");
                    register(handle, &connections.links);
                }
                QueuesError::Elsewhere
            }
            Ok(LeaseTry::Left) => QueuesError::Elsewhere,
            Err(error) => {
                tracing::error!(%error, "the lease of the queues cannot be taken");
                shared.metrics.failed();
                QueuesError::NotWritten
            }
        };
        let passing_on = async {
            while let Some(call) = calls.recv().await {
                pass_on(handle, call, &mut connections.links, &why);
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = shared.stop.cancelled() => {}
            () = sleep(shared.leases.pause()) => {}
            () = passing_on => {}
        }
    }
    calls.close();
    while let Some(call) = calls.recv().await {
        call.answer.send(Err(QueuesError::Stopped));
    }
    None
}

/// Takes the lease if it is free. A daemon that runs its share of the partitions waits one lease period before it takes
/// more.
async fn try_to_take(
    handle: &PartitionHandle,
    left: &mut Option<Instant>,
) -> Result<LeaseTry, StoreError> {
    let shared = &handle.shared;
    let daemons = shared.fleet.as_ref().map(|fleet| fleet.alive().len());
    let partitions = shared.partitions();
    let own = shared.settings_of(&handle.name);
    let has_queues = partitions.contains(&handle.name);
    let has_share = daemons.is_some_and(|daemons| {
        daemons > 1 && has_queues && shared.tasks.has_share(partitions.len(), daemons)
    });
    if has_share && left.is_none_or(|since| since.elapsed() < shared.leases.lasts) {
        shared
            .leases
            .look(&shared.store, &handle.lease, &own)
            .await?;
        return Ok(match shared.store.lease_holder(&handle.lease).await? {
            Some((holder, epoch)) => {
                *left = None;
                LeaseTry::Of(holder, epoch)
            }
            None => {
                left.get_or_insert_with(Instant::now);
                LeaseTry::Left
            }
        });
    }
    *left = None;
    Ok(
        match shared
            .leases
            .take(&shared.store, &handle.lease, &own)
            .await?
        {
            Ok(held) => LeaseTry::Taken(held),
            Err((holder, epoch)) => LeaseTry::Of(holder, epoch),
        },
    )
}

/// Registers the instances that are connected with the holder of the lease.
fn register(handle: &PartitionHandle, links: &InstanceLinks) {
    let Some(fleet) = &handle.shared.fleet else {
        return;
    };
    for command in links.asked() {
        fleet.report(&handle.name, linked(handle, fleet, command));
    }
}

/// Handles a call, or asks the holder of the lease.
fn pass_on(
    handle: &PartitionHandle,
    call: ClientCall,
    links: &mut InstanceLinks,
    why: &QueuesError,
) {
    let shared = &handle.shared;
    let ClientCall { command, answer } = call;
    let command = match command {
        ClientCommand::Configure(queues) => {
            shared.metrics.configure(queues.keys());
            *shared.queues.write() = Arc::new(queues);
            return answer.send(Ok(ClientAnswer::Done));
        }
        ClientCommand::Listen(_) => return answer.send(Ok(ClientAnswer::Done)),
        ClientCommand::Ticket(..) => return answer.send(Ok(ClientAnswer::Stored)),
        command => command,
    };
    if let ClientCommand::Submit(_, ticket) = &command
        && shared
            .leases
            .differs(&handle.lease, &part_of(&ticket.queue))
    {
        return answer.send(Err(QueuesError::OtherSettings(ticket.queue.clone())));
    }
    let (fleet, answer) = match (&shared.fleet, answer) {
        (Some(fleet), ReplyTo::Here(answer)) => (fleet, answer),
        (_, answer) => return answer.send(Err(why.clone())),
    };
    let command = match command {
        ClientCommand::Host(command) => {
            note(links, &command);
            linked(handle, fleet, command)
        }
        command => command,
    };
    fleet.call(&handle.name, command, answer);
}

/// Keeps the connections that an instance registers.
fn note(links: &mut InstanceLinks, command: &InstanceCommand) {
    match command {
        InstanceCommand::Join(offer, link) => links.join((**offer).clone(), link.clone()),
        InstanceCommand::Opened {
            name,
            id,
            game,
            link,
            ..
        }
        | InstanceCommand::Ready {
            name,
            id,
            opens: Some((game, link)),
            ..
        } => links.host(*id, name.clone(), *game, link.clone()),
        _ => {}
    }
}

/// The same as a request; notices for a connection that it registers will reach the connection.
fn linked(handle: &PartitionHandle, fleet: &Fleet, command: InstanceCommand) -> ClientCommand {
    if let Some(link) = command.link() {
        fleet.link(&handle.name, link);
    }
    ClientCommand::Host(command)
}
