//! The settings of the statistics pages and of `/v1`, with the web sites whose requests it answers, and what all pages of
//! one daemon share.

use std::{fmt, net::IpAddr, sync::Arc, time::Duration};

use axum::http::{HeaderMap, HeaderValue, header};
use ipnet::IpNet;
use serde::{Deserialize, Deserializer, de::Error};
use tokio::time::Instant;

use crate::{
    WebError,
    experiments::{ExperimentFault, ExperimentReport},
    learning::Learning,
    links::Links,
    model::{
        Ruleset, Timestamp,
        rulebook::TeamBook,
        team_names::TeamNames,
        units::{Count, Seconds},
    },
    queues::Queues,
    rating::history::{BalanceStatistics, RulesetTotals},
    server::{Gate, Service, watch::Monitor},
    session::LiveGame,
    store::Store,
};

/// Whether pages show weights as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PageNumbers {
    /// Weights and chances are shown as numbers.
    Number,
    /// Only divisions and results are shown.
    Division,
}

/// The paths that are answered beside the base path.
const BESIDE_PAGES: [&str; 5] = [
    "/healthz",
    "/readyz",
    "/metrics",
    "/status.json",
    "/robots.txt",
];

/// How the pages look, and what they show.
#[derive(Clone, Debug, Deserialize)]
pub struct WebSettings {
    /// The name of the site, in the title of each page.
    pub title: String,
    /// The address of a page about who runs the site; empty for no link.
    #[serde(deserialize_with = "imprint")]
    pub imprint: String,
    /// The address at which visitors find the site, without the base path; `None` if requests state it.
    #[serde(deserialize_with = "origin")]
    pub origin: Option<WebOrigin>,
    /// The path below which the pages are, without a slash at the end; empty for the root.
    #[serde(deserialize_with = "base_path")]
    pub base_path: String,
    /// Whether pages show weights as numbers.
    pub show: PageNumbers,
    /// Whether the page of a player contains the identity.
    pub show_ids: bool,
    /// Reverse proxies: they may open any number of connections.
    pub trusted_proxies: Vec<IpAddr>,
    /// What visitors may use.
    #[serde(flatten)]
    pub limits: WebLimits,
}

/// The limits on the connections of visitors.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct WebLimits {
    /// The most connections at the same time.
    pub max_connections: Count<1, 65_536>,
    /// The most connections from one address that is not a trusted proxy.
    pub max_per_address: Count<1, 65_536>,
    /// How many requests a second one address may make that is not a trusted proxy, and ten times as many at
    /// once; 0 for no limit.
    pub requests_per_second: Count<0, 1_000_000>,
    /// The time limit for the head of a request.
    pub head_seconds: Seconds<1, 60>,
    /// The time limit for a connection, however many requests come on it.
    pub connection_seconds: Seconds<1, 3_600>,
}

impl WebSettings {
    /// Whether pages show weights as numbers.
    pub fn shows_numbers(&self) -> bool {
        self.show == PageNumbers::Number
    }
}

/// A link must not run a script when it is followed.
fn imprint<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    let is_web = text.starts_with("https://") || text.starts_with("http://");
    match is_web || text.is_empty() {
        true => Ok(text),
        false => Err(D::Error::custom(
            "must begin with https:// or http://, or be empty",
        )),
    }
}

fn origin<'de, D: Deserializer<'de>>(from: D) -> Result<Option<WebOrigin>, D::Error> {
    let text = String::deserialize(from)?;
    match text.is_empty() {
        true => Ok(None),
        false => WebOrigin::try_from(text)
            .map(Some)
            .map_err(D::Error::custom),
    }
}

fn base_path<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let begins = text.is_empty() || text.starts_with('/');
    if !begins || text.ends_with('/') || text.contains("//") || !text.chars().all(fits) {
        return Err(D::Error::custom(
            "must be empty, or begin with / and not end with it, and contain only letters, digits, -, _, . and /",
        ));
    }
    let is_step = |part: &str| part == "." || part == "..";
    match BESIDE_PAGES.contains(&text.as_str()) || text.split('/').any(is_step) {
        false => Ok(text),
        true => Err(D::Error::custom(
            "must not be a path that is answered beside the pages, such as /metrics, and not contain . or .. as a part",
        )),
    }
}

/// Whether programs may ask and report over HTTP, and from which web sites.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiSettings {
    /// Whether programs may do more below `/v1` than read what the pages show.
    pub enabled: bool,
    /// Whether everybody may pick teams, without a token.
    pub visitors: bool,
    /// The web sites whose pages may send what changes something, and the addresses of this site itself.
    pub origins: Vec<WebOrigin>,
    /// How many days ago a match may have ended that a program reports; 0 for any number.
    pub oldest_match_days: Count<0, 36_500>,
}

/// A web site, as browsers name it: `https://club.example`, with a port unless it is the usual one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct WebOrigin(String);

impl TryFrom<String> for WebOrigin {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let host = |scheme: &str| text.strip_prefix(scheme);
        let host = host("https://").or_else(|| host("http://"));
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.:[]".contains(c);
        match host.is_some_and(|host| !host.is_empty() && host.chars().all(fits)) {
            true => Ok(Self(text)),
            false => Err(
                "must be addresses such as \"https://club.example\", in lower case and without a path",
            ),
        }
    }
}

impl WebOrigin {
    /// The address as a browser sends it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The host, and the port if it is stated.
    pub(super) fn authority(&self) -> &str {
        self.0.split_once("://").map_or("", |(_, host)| host)
    }
}

/// What `/v1` needs besides the pages.
#[derive(Debug)]
pub(super) struct Api {
    pub(super) settings: ApiSettings,
    pub(super) gate: Arc<Gate>,
}

impl Api {
    /// Refuses a request of a page that is not of a configured web site, and one that was sent to another name than
    /// this site's: a name that leads to this machine may be anybody's.
    ///
    /// # Errors
    /// Fails with the reason, for the sender.
    pub(super) fn refuse_foreign(&self, fields: &HeaderMap) -> Result<(), &'static str> {
        let host = host_of(fields);
        if !self.is_ours(&host) {
            return Err("this Host is not in [api] origins");
        }
        let origin = fields.get(header::ORIGIN).map(HeaderValue::to_str);
        let Some(origin) = origin else {
            return Ok(());
        };
        let origin = origin.unwrap_or_default();
        let own = origin.split_once("://").is_some_and(|(_, own)| own == host);
        match own || self.allows(origin) {
            true => Ok(()),
            false => Err(FOREIGN),
        }
    }

    /// Whether a host is this machine's address, or that of a configured web site.
    fn is_ours(&self, host: &str) -> bool {
        let ours = &self.settings.origins;
        is_address(host) || ours.iter().any(|one| one.authority() == host)
    }

    /// Whether a web site is one of the configuration.
    pub(super) fn allows(&self, origin: &str) -> bool {
        let origins = &self.settings.origins;
        origins.iter().any(|one| one.as_str() == origin)
    }
}

/// Names under which programs may ask for the metrics and the status, besides addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct MetricsHosts(Vec<String>);

impl TryFrom<Vec<String>> for MetricsHosts {
    type Error = &'static str;

    fn try_from(names: Vec<String>) -> Result<Self, Self::Error> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._".contains(c);
        let is_name = |name: &String| !name.is_empty() && name.chars().all(fits);
        match names.iter().all(is_name) {
            true => Ok(Self(names)),
            false => {
                Err("must be names such as \"evenkeel.example\", in lower case and without a port")
            }
        }
    }
}

impl MetricsHosts {
    /// Refuses a request that was sent to another name than this machine's: a page of a foreign site can give that site
    /// the address of this machine, and read what this machine may read.
    ///
    /// # Errors
    /// Fails with the reason, for the sender.
    pub(super) fn refuse_foreign(
        &self,
        fields: &HeaderMap,
        api: Option<&Api>,
    ) -> Result<(), &'static str> {
        let host = host_of(fields);
        let is_known = self.0.iter().any(|name| name == without_port(&host))
            || api.map_or(is_address(&host), |api| api.is_ours(&host));
        match is_known {
            true => Ok(()),
            false => Err("this Host is not in [web] metrics_hosts"),
        }
    }
}

/// The host to which a request was sent, in lower case; empty if it states none.
fn host_of(fields: &HeaderMap) -> String {
    let host = fields.get(header::HOST).map(HeaderValue::to_str);
    host.and_then(Result::ok)
        .unwrap_or_default()
        .to_ascii_lowercase()
}

/// Why a request of another web site's page is refused.
pub(super) const FOREIGN: &str = "this Origin is not in [api] origins";

/// Whether a host is an address of a machine, or this machine. A foreign page cannot give these to its own site.
fn is_address(host: &str) -> bool {
    let name = without_port(host);
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || bare.parse::<IpAddr>().is_ok()
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

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
    /// The experiments, as they were computed last.
    experiments: tokio::sync::Mutex<Option<KeptExperiments>>,
}

/// What experiments show, and when it was computed.
type KeptExperiments = (Instant, Arc<Vec<ExperimentReport>>);

/// For so long, nobody computes again what experiments show.
const REST: Duration = Duration::from_secs(2);

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
            experiments: tokio::sync::Mutex::default(),
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

    /// What the latest experiments show, at most [`REST`] old.
    pub(super) async fn experiments(&self) -> Result<Arc<Vec<ExperimentReport>>, WebError> {
        let mut kept = self.experiments.lock().await;
        if let Some((at, reports)) = &*kept
            && at.elapsed() < REST
        {
            return Ok(reports.clone());
        }
        let reports = ExperimentReport::latest(self.pages()).await;
        let reports = Arc::new(reports.map_err(|fault| match fault {
            ExperimentFault::Store(error) => error.into(),
            fault => WebError::Broken(fault.to_string()),
        })?);
        *kept = Some((Instant::now(), reports.clone()));
        Ok(reports)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_ours_only_if_it_is_configured() {
        for host in [
            "localhost",
            "localhost:7998",
            "127.0.0.1:1",
            "[::1]:7998",
            "192.0.2.7",
        ] {
            assert!(is_address(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "1.2.3",
        ] {
            assert!(!is_address(host), "{host}");
        }
    }
}
