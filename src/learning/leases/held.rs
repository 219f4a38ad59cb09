//! A lease that is held, and renewed until it is dropped.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::term::Term;
use crate::store::{Lease, Store, StoreError};

/// A lease that this process holds. A task renews it until this is dropped; then it ends by itself.
#[derive(Debug)]
pub struct HeldLease {
    kept: Arc<Kept>,
    renewals: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Kept {
    store: Arc<Store>,
    lease: Lease,
    /// The instant from which the milliseconds of the term count.
    since: Instant,
    /// For how long it may be relied on; `None` if it does not end.
    term: Option<Mutex<Term>>,
    lost: CancellationToken,
}

impl HeldLease {
    /// Begins to renew a lease; `asked` is the instant at which this process asked for it.
    pub(super) fn keep(store: Arc<Store>, lease: Lease, asked: Instant) -> Self {
        let term = lease.lasts.map(|lasts| Mutex::new(Term::new(lasts, 0)));
        let is_renewed = term.is_some();
        let kept = Arc::new(Kept {
            store,
            lease,
            since: asked,
            term,
            lost: CancellationToken::new(),
        });
        let renewals = is_renewed.then(|| tokio::spawn(kept.clone().renew()));
        Self { kept, renewals }
    }

    /// The lease, which a write shows to the database.
    pub fn lease(&self) -> &Lease {
        &self.kept.lease
    }

    /// Whether the holder may rely on the lease now. Once this is false, it stays false.
    pub fn is_held(&self) -> bool {
        !(self.kept.lost.is_cancelled() || self.kept.is_over())
    }

    /// Waits until the lease is lost. Cancel safe.
    pub async fn lost(&self) {
        self.kept.lost.cancelled().await;
    }

    /// Gives the lease back, so that another process can take it at once. If this fails, the lease ends by itself.
    pub async fn give_back(self) -> Result<(), StoreError> {
        if let Some(renewals) = &self.renewals {
            renewals.abort();
        }
        self.kept.store.give_back_lease(&self.kept.lease).await
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        if let Some(renewals) = &self.renewals {
            renewals.abort();
        }
    }
}

impl Kept {
    fn millis(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn is_over(&self) -> bool {
        let now = self.millis();
        let term = self.term.as_ref();
        term.is_some_and(|term| term.lock().is_over(now))
    }

    /// Renews the lease until it is lost.
    async fn renew(self: Arc<Self>) {
        let mut has_failed = false;
        while let Some(term) = self.term.as_ref().map(|term| *term.lock()) {
            let pause = term.pause(has_failed).min(term.left(self.millis()));
            sleep(Duration::from_millis(pause)).await;
            let asked = self.millis();
            let left = Duration::from_millis(term.left(asked));
            let renewed = timeout(left, self.store.renew_lease(&self.lease)).await;
            has_failed = !matches!(renewed, Ok(Ok(true)));
            match renewed {
                Ok(Ok(true)) => {
                    if let Some(term) = &self.term {
                        term.lock().renewed(asked);
                    }
                }
                Ok(Ok(false)) => break,
                Ok(Err(error)) => {
                    tracing::warn!(%error, lease = self.lease.name, "a lease is not renewed");
                }
                Err(_) => {}
            }
            if self.is_over() {
                break;
            }
        }
        tracing::warn!(lease = ?self.lease, "a lease is lost");
        self.lost.cancel();
    }
}
