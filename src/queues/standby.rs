//! A daemon that does not run the queues, because another one holds their lease.
//!
//! It sends the holder what its clients and instances ask for, and registers with each new holder those that are
//! connected. Without letters, on SQLite, it refuses the calls.

use std::sync::Arc;

use tokio::{
    sync::mpsc,
    time::{Instant, sleep},
};

use super::{
    QueuesError,
    call::{Answer, Ask, Call, ReplyTo},
    connections::Connections,
    fleet::{PostOffice, RemoteAsk},
    host_ask::HostAsk,
    links::Links,
    parts::Part,
    shared::part_of,
};
use crate::{leases::HeldLease, store::StoreError};

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
pub(super) async fn stand_by(
    part: &Part,
    calls: &mut mpsc::Receiver<Call>,
    connections: &mut Connections,
) -> Option<HeldLease> {
    let shared = &part.shared;
    // The epoch of the holder with which this daemon has registered, and since when the lease is left to others.
    let (mut registered, mut left) = (None, None);
    while !shared.stop.is_cancelled() {
        connections.links.prune();
        let why = match try_to_take(part, &mut left).await {
            Ok(Try::Taken(held)) => return Some(held),
            Ok(Try::Of(holder, epoch)) => {
                let forgotten = shared.office.as_ref().map(PostOffice::forgotten);
                let now = Some((epoch, forgotten));
                if std::mem::replace(&mut registered, now) != now {
                    let partition = &part.name;
                    tracing::warn!(holder, partition, "another daemon runs the queues");
                    register(part, &connections.links);
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
                pass_on(part, call, &mut connections.links, &why);
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

/// Takes the lease if it is free. A daemon that runs its share of the partitions leaves it to others, unless they
/// do not take it either.
async fn try_to_take(part: &Part, left: &mut Option<Instant>) -> Result<Try, StoreError> {
    let shared = &part.shared;
    let daemons = shared.office.as_ref().map(|office| office.alive().len());
    let partitions = shared.partitions();
    let own = shared.settings_of(&part.name);
    let has_queues = partitions.contains(&part.name);
    let has_share = daemons.is_some_and(|daemons| {
        daemons > 1 && has_queues && shared.parts.has_share(partitions.len(), daemons)
    });
    if has_share && left.is_none_or(|since| since.elapsed() < shared.leases.lasts) {
        shared.leases.look(&shared.store, &part.lease, &own).await?;
        return Ok(match shared.store.lease_holder(&part.lease).await? {
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
        match shared.leases.take(&shared.store, &part.lease, &own).await? {
            Ok(held) => Try::Taken(held),
            Err((holder, epoch)) => Try::Of(holder, epoch),
        },
    )
}

/// Registers everything that is connected with the holder of the lease.
fn register(part: &Part, links: &Links) {
    let shared = &part.shared;
    let Some(office) = &shared.office else {
        return;
    };
    office.register(&part.lease, shared.listeners.lock().owners());
    for ask in links.asked() {
        office.report(&part.lease, linked(part, office, ask));
    }
}

/// Handles a call, or sends it to the holder of the lease.
fn pass_on(part: &Part, call: Call, links: &mut Links, why: &QueuesError) {
    let shared = &part.shared;
    let Call { ask, answer } = call;
    let ask = match ask {
        Ask::Configure(queues) => {
            shared.metrics.configure(queues.keys());
            *shared.queues.write() = Arc::new(queues);
            return answer.send(Ok(Answer::Done));
        }
        ask => ask,
    };
    if let Ask::Submit(_, ticket) = &ask
        && shared.leases.differs(&part.lease, &part_of(&ticket.queue))
    {
        return answer.send(Err(QueuesError::OtherSettings(ticket.queue.clone())));
    }
    let (office, answer) = match (&shared.office, answer) {
        (Some(office), ReplyTo::Here(answer)) => (office, answer),
        (_, answer) => return answer.send(Err(why.clone())),
    };
    let ask = match ask {
        Ask::Listen(owner) => {
            office.register(&part.lease, vec![owner]);
            return drop(answer.send(Ok(Answer::Done)));
        }
        Ask::Host(ask) => {
            note(links, &ask);
            linked(part, office, ask)
        }
        ask => match RemoteAsk::of(ask) {
            Some(ask) => ask,
            None => return drop(answer.send(Err(why.clone()))),
        },
    };
    office.call(&part.lease, ask, answer);
}

/// Keeps the connections that an instance registers.
fn note(links: &mut Links, ask: &HostAsk) {
    match ask {
        HostAsk::Join(offer, link) => links.join((**offer).clone(), link.clone()),
        HostAsk::Opened {
            name,
            id,
            game,
            link,
            ..
        }
        | HostAsk::Ready {
            name,
            id,
            opens: Some((game, link)),
            ..
        } => links.host(*id, name.clone(), *game, link.clone()),
        _ => {}
    }
}

/// The same for a letter; news for a connection that it registers will reach the connection.
fn linked(part: &Part, office: &PostOffice, ask: HostAsk) -> RemoteAsk {
    if let Some(link) = ask.link() {
        office.link(&part.lease, link);
    }
    RemoteAsk::Host(ask)
}
