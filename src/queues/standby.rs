//! Waiting for the lease of the queues, while another daemon runs them.

use std::sync::Arc;

use tokio::{sync::mpsc, time::sleep};

use super::{
    QueuesError, Shared,
    call::{Answer, Ask, Call},
};
use crate::leases::HeldLease;

/// The name of the lease without which no queue is run.
const LEASE: &str = "queues";

/// Waits until this daemon holds the lease of the queues; `None` once they are stopped. Calls that come before
/// are refused, except that the queues are configured.
pub(super) async fn stand_by(
    shared: &Arc<Shared>,
    calls: &mut mpsc::Receiver<Call>,
) -> Option<HeldLease> {
    let mut has_waited = false;
    while !shared.stop.is_cancelled() {
        let why = match shared.leases.take(&shared.store, LEASE).await {
            Ok(Ok(held)) => return Some(held),
            Ok(Err((holder, _))) => {
                if !std::mem::replace(&mut has_waited, true) {
                    tracing::warn!(holder, "another daemon runs the queues of this database");
                }
                QueuesError::Elsewhere
            }
            Err(error) => {
                tracing::error!(%error, "the lease of the queues cannot be taken");
                shared.metrics.failed();
                QueuesError::NotWritten
            }
        };
        let refusing = async {
            while let Some(call) = calls.recv().await {
                refuse(shared, call, &why);
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = shared.stop.cancelled() => {}
            () = sleep(shared.leases.pause()) => {}
            () = refusing => {}
        }
    }
    calls.close();
    while let Some(call) = calls.recv().await {
        refuse(shared, call, &QueuesError::Stopped);
    }
    None
}

fn refuse(shared: &Shared, Call { ask, answer }: Call, why: &QueuesError) {
    let outcome = match ask {
        Ask::Configure(queues) => {
            shared.metrics.configure(queues.keys());
            *shared.queues.write() = Arc::new(queues);
            Ok(Answer::Done)
        }
        _ => Err(why.clone()),
    };
    let _ = answer.send(outcome);
}
