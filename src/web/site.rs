//! What all pages of one daemon share.

use std::{fmt, sync::Arc};

use axum::http::{HeaderMap, HeaderValue, header};
use ipnet::IpNet;

use super::{
    WebSettings,
    api::{Api, ApiSettings},
    links::Links,
    settings::MetricsHosts,
};
use crate::{
    learning::Learning,
    model::{Ruleset, Timestamp, rulebook::TeamBook, team_names::TeamNames},
    queues::Queues,
    rating::history::{BalanceStatistics, RulesetTotals},
    server::{Gate, Service, watch::Monitor},
    session::LiveGame,
    store::Store,
};

/// The most rulesets that a page lists.
pub(super) const RULESETS: usize = 100;

/// The service that the pages are about, and how they look.
pub struct Site {
    service: Arc<Service>,
    monitor: Arc<Monitor>,
    /// Which addresses may read the metrics and the status.
    pub(super) metrics_from: Vec<IpNet>,
    /// Under which names they may ask for these, besides addresses.
    pub(super) metrics_hosts: MetricsHosts,
    /// Whether metrics and status are beside the pages, and not on a listener of their own.
    pub(super) has_metrics: bool,
    pub(super) settings: WebSettings,
    /// What calls of `/v1` need.
    pub(super) api: Option<Api>,
    pub(super) links: Links,
    /// What the teams of each game type are called.
    team_names: TeamBook,
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
            monitor: Arc::new(Monitor::new(service.clone())),
            service,
            metrics_from: Vec::new(),
            metrics_hosts: MetricsHosts::default(),
            has_metrics: true,
            api: None,
            team_names: TeamBook::default(),
            links: Links::new(&settings.base_path),
            settings,
        }
    }

    /// Shows operators at these addresses what is watched: `beside` the pages, or only on a listener of its own.
    #[must_use]
    pub fn with_metrics(mut self, monitor: Arc<Monitor>, from: Vec<IpNet>, beside: bool) -> Self {
        (self.monitor, self.metrics_from, self.has_metrics) = (monitor, from, beside);
        self
    }

    /// Lets operators ask for these under these names, too.
    #[must_use]
    pub fn with_metrics_hosts(mut self, hosts: MetricsHosts) -> Self {
        self.metrics_hosts = hosts;
        self
    }

    /// Answers calls of `/v1` as these settings say, those of the gate's clients among them.
    #[must_use]
    pub fn with_api(mut self, settings: ApiSettings, gate: Arc<Gate>) -> Self {
        self.api = Some(Api { settings, gate });
        self
    }

    /// Whether programs may call what is not for everybody to read, and people use `/teams`.
    pub(super) fn takes_calls(&self) -> bool {
        self.api.as_ref().is_some_and(|api| api.settings.enabled)
    }

    /// Calls the teams by these names.
    #[must_use]
    pub fn with_team_names(mut self, names: TeamBook) -> Self {
        self.team_names = names;
        self
    }

    /// What the teams of a ruleset are called.
    pub(super) fn team_names(&self, ruleset: &str) -> TeamNames {
        let ruleset = Ruleset::parse(ruleset);
        let game_type = self.learning().rulebook().bare_type(ruleset.game_type());
        self.team_names.of(&game_type)
    }

    /// The metrics and the status, which operators read.
    pub(super) fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// The read models of the store.
    pub(super) fn pages(&self) -> &Store {
        self.service.store()
    }

    /// What `/v1` asks and changes.
    pub(super) fn service(&self) -> &Service {
        &self.service
    }

    /// The learned state, with the published weights.
    pub(super) fn learning(&self) -> &Learning {
        self.service.learning()
    }

    /// How even the rated matches were; `None` while they are counted again.
    pub(super) fn balance(&self) -> Option<BalanceStatistics> {
        self.learning().standings().balance()
    }

    /// The rulesets with rated matches, those with most of them first; none while they are counted again.
    pub(super) fn rulesets(&self) -> Vec<RulesetTotals> {
        let balance = self.balance().unwrap_or_default();
        balance.rulesets(RULESETS)
    }

    /// The running games of this daemon.
    pub(super) fn live(&self) -> Vec<Arc<LiveGame>> {
        self.service.sessions().live()
    }

    /// The queues of the configuration.
    pub(super) fn queues(&self) -> &Queues {
        self.service.queues()
    }

    /// The address of this site without a path, as configured; empty if it is not.
    pub(super) fn configured_origin(&self) -> &str {
        let origin = self.settings.origin.as_ref();
        origin.map_or("", |origin| origin.as_str())
    }

    /// The address of this site without a path: as configured, else as a request states it; empty if it states none.
    pub(super) fn origin(&self, request: &HeaderMap) -> String {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-.:[]".contains(c);
        let host = request.get(header::HOST).map(HeaderValue::to_str);
        match (self.configured_origin(), host) {
            ("", Some(Ok(host))) if host.chars().all(fits) => format!("http://{host}"),
            (configured, _) => configured.to_owned(),
        }
    }

    /// The time of the daemon's clock.
    pub(super) fn now(&self) -> Timestamp {
        self.service.sessions().clock().now()
    }
}
