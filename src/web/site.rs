//! What all pages of one daemon share.

use std::{fmt, sync::Arc};

use super::{WebSettings, links::Links};
use crate::{
    domain::Timestamp,
    learning::Learning,
    queues::Queues,
    service::Service,
    session::LiveGame,
    store::{Pages, Store},
};

/// The service that the pages are about, and how they look.
pub struct Site {
    service: Arc<Service>,
    pub(super) settings: WebSettings,
    pub(super) links: Links,
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site").finish_non_exhaustive()
    }
}

impl Site {
    /// Pages about what a service has stored and learned.
    pub fn new(service: Arc<Service>, settings: WebSettings) -> Self {
        Self {
            service,
            links: Links::new(&settings.base_path),
            settings,
        }
    }

    /// The read models.
    pub(super) fn pages(&self) -> &dyn Pages {
        let store: &dyn Store = &**self.service.store();
        store
    }

    /// The published weights.
    pub(super) fn learning(&self) -> &Learning {
        self.service.learning()
    }

    /// The running games.
    pub(super) fn live(&self) -> Vec<Arc<LiveGame>> {
        self.service.sessions().live()
    }

    /// The queues of the configuration.
    pub(super) fn queues(&self) -> &Queues {
        self.service.queues()
    }

    /// The time of the daemon's clock.
    pub(super) fn now(&self) -> Timestamp {
        self.service.sessions().clock().now()
    }
}
