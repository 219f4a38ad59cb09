//! A daemon that does not run the queues, because another one holds their lease.
//!
//! It sends the holder what its clients and instances ask for, and registers with each new holder those that are
//! connected. Without letters, on SQLite, it refuses the calls.

use std::sync::Arc;

use tokio::{sync::mpsc, time::sleep};

use super::{
    QueuesError, Shared,
    call::{Answer, Ask, Call, ReplyTo},
    connections::Connections,
    fleet::{PostOffice, RemoteAsk},
    host_ask::HostAsk,
    links::Links,
};
use crate::leases::HeldLease;

/// The name of the lease without which no queue is run.
const LEASE: &str = "queues";

/// Waits until this daemon holds the lease of the queues; `None` once they are stopped.
pub(super) async fn stand_by(
    shared: &Arc<Shared>,
    calls: &mut mpsc::Receiver<Call>,
    connections: &mut Connections,
) -> Option<HeldLease> {
    // The epoch of the holder with which this daemon has registered.
    let mut registered = None;
    while !shared.stop.is_cancelled() {
        connections.links.prune();
        let why = match shared.leases.take(&shared.store, LEASE).await {
            Ok(Ok(held)) => return Some(held),
            Ok(Err((holder, epoch))) => {
                let forgotten = shared.office.as_ref().map(PostOffice::forgotten);
                let now = Some((epoch, forgotten));
                if std::mem::replace(&mut registered, now) != now {
                    tracing::warn!(holder, "another daemon runs the queues of this database");
                    register(shared, &mut connections.links);
                }
                QueuesError::Elsewhere
            }
            Err(error) => {
                tracing::error!(%error, "the lease of the queues cannot be taken");
                shared.metrics.failed();
                QueuesError::NotWritten
            }
        };
        let passing_on = async {
            while let Some(call) = calls.recv().await {
                pass_on(shared, call, &mut connections.links, &why);
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

/// Registers everything that is connected with the holder of the lease.
fn register(shared: &Shared, links: &mut Links) {
    let Some(office) = &shared.office else {
        return;
    };
    office.register(LEASE, shared.listeners.lock().owners());
    for ask in links.asked() {
        office.report(LEASE, linked(office, ask));
    }
}

/// Handles a call, or sends it to the holder of the lease.
fn pass_on(shared: &Shared, call: Call, links: &mut Links, why: &QueuesError) {
    let Call { ask, answer } = call;
    let ask = match ask {
        Ask::Configure(queues) => {
            shared.metrics.configure(queues.keys());
            *shared.queues.write() = Arc::new(queues);
            return answer.send(Ok(Answer::Done));
        }
        ask => ask,
    };
    let (office, answer) = match (&shared.office, answer) {
        (Some(office), ReplyTo::Here(answer)) => (office, answer),
        (_, answer) => return answer.send(Err(why.clone())),
    };
    let ask = match ask {
        Ask::Listen(owner, listener) => {
            shared.listeners.lock().add(owner.clone(), listener);
            office.register(LEASE, vec![owner]);
            return drop(answer.send(Ok(Answer::Done)));
        }
        Ask::Host(ask) => {
            note(links, &ask);
            linked(office, ask)
        }
        ask => match RemoteAsk::of(ask) {
            Some(ask) => ask,
            None => return drop(answer.send(Err(why.clone()))),
        },
    };
    office.call(LEASE, ask, answer);
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
        } => links.host(*id, name.clone(), *game, link.clone()),
        _ => {}
    }
}

/// The same for a letter; news for a connection that it registers will reach the connection.
fn linked(office: &PostOffice, ask: HostAsk) -> RemoteAsk {
    if let HostAsk::Join(_, link) | HostAsk::Opened { link, .. } = &ask {
        office.link(LEASE, link);
    }
    RemoteAsk::Host(ask)
}
