//! A daemon that does not run the queues, because another one holds their lease.
//!
//! It asks the holder for what its clients and instances want, and registers with each new holder the instances that
//! are connected. On SQLite, where one daemon at a time decides, it refuses what needs a decision.

use std::sync::Arc;

use tokio::{
    sync::mpsc,
    time::{Instant, sleep},
};

use super::{
    QueuesError,
    call::{Call, ReplyTo},
    command::{Answer, Command},
    connections::Connections,
    fleet::Fleet,
    links::InstanceCommand,
    links::Links,
    partition_handle::PartitionHandle,
    shared::part_of,
};
use crate::{learning::leases::HeldLease, store::StoreError};

/// What came of a try to take the lease.
enum Try {
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
    calls: &mut mpsc::Receiver<Call>,
    connections: &mut Connections,
) -> Option<HeldLease> {
    let shared = &handle.shared;
    // The epoch of the holder with which this daemon has registered, and since when the lease is left to others.
    let (mut registered, mut left) = (None, None);
    while !shared.stop.is_cancelled() {
        connections.links.prune();
        let why = match try_to_take(handle, &mut left).await {
            Ok(Try::Taken(held)) => return Some(held),
            Ok(Try::Of(holder, epoch)) => {
                let forgotten = shared.fleet.as_ref().map(Fleet::forgotten);
                let now = Some((epoch, forgotten));
                if std::mem::replace(&mut registered, now) != now {
                    let partition = &handle.name;
                    tracing::warn!(holder, partition, "another daemon runs the queues");
                    register(handle, &connections.links);
                }
                QueuesError::Elsewhere
            }
            Ok(Try::Left) => QueuesError::Elsewhere,
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
) -> Result<Try, StoreError> {
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
                Try::Of(holder, epoch)
            }
            None => {
                left.get_or_insert_with(Instant::now);
                Try::Left
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
            Ok(held) => Try::Taken(held),
            Err((holder, epoch)) => Try::Of(holder, epoch),
        },
    )
}

/// Registers the instances that are connected with the holder of the lease.
fn register(handle: &PartitionHandle, links: &Links) {
    let Some(fleet) = &handle.shared.fleet else {
        return;
    };
    for command in links.asked() {
        fleet.report(&handle.name, linked(handle, fleet, command));
    }
}

/// Handles a call, or asks the holder of the lease.
fn pass_on(handle: &PartitionHandle, call: Call, links: &mut Links, why: &QueuesError) {
    let shared = &handle.shared;
    let Call { command, answer } = call;
    let command = match command {
        Command::Configure(queues) => {
            shared.metrics.configure(queues.keys());
            *shared.queues.write() = Arc::new(queues);
            return answer.send(Ok(Answer::Done));
        }
        Command::Listen(_) => return answer.send(Ok(Answer::Done)),
        Command::Ticket(..) => return answer.send(Ok(Answer::Stored)),
        command => command,
    };
    if let Command::Submit(_, ticket) = &command
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
        Command::Host(command) => {
            note(links, &command);
            linked(handle, fleet, command)
        }
        command => command,
    };
    fleet.call(&handle.name, command, answer);
}

/// Keeps the connections that an instance registers.
fn note(links: &mut Links, command: &InstanceCommand) {
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
fn linked(handle: &PartitionHandle, fleet: &Fleet, command: InstanceCommand) -> Command {
    if let Some(link) = command.link() {
        fleet.link(&handle.name, link);
    }
    Command::Host(command)
}
