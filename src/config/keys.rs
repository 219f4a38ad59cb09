//! All keys, by section. `config/evenkeel.toml` and `config/tuning.toml` document the meaning, unit, range and
//! default of each. The type of a key states its range; see [`units`](crate::model::units).
//!
//! If a configuration is read again, this file says which keys have changed, and which of them only a start takes
//! over.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf};

use clap::ValueEnum;
use ipnet::IpNet;
use serde::Deserialize;
use toml::{Table, Value};

use super::{
    layers::join,
    values::{self, ConfiguredToken, Date, FolderChoice, FormatChoice, JournalChoice, WebAddress},
};
use crate::{
    lobby::{
        AdvantageSettings, AutoBalanceRules, PlaceSettings, RebalanceSettings, RosterSettings,
    },
    logs::LogZone,
    matchmaking::QueueSettings,
    matchmaking::lifecycle::CoordinatorSettings,
    model::{
        ClanTags, GameTypeLists, MutatorLists, Right,
        behaviour::BehaviourSettings,
        units::{Count, Millis, Seconds, Share, UpToADay, UpToAWeek},
    },
    rating::divisions,
    rating::history,
    server::{ConnectionLimits, access::RateSettings},
    session::BalanceSettings,
    store::postgres::PostgresUrl,
    web::{ApiSettings, WebSettings},
    webhooks::WebhookSettings,
};

/// The configuration; each field is a section of the documented files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Config {
    pub server: ServerSection,
    pub clients: Vec<ClientSection>,
    pub limits: RateSettings,
    pub web: WebSection,
    pub api: ApiSettings,
    pub store: StoreSection,
    pub log: LogSection,
    pub lobby: RosterSettings,
    pub balance: BalanceSettings,
    pub place: PlaceSettings,
    pub advantage: AdvantageSettings,
    pub rebalance: RebalanceSettings,
    pub auto_balance: AutoBalanceSection,
    pub rating: history::Settings,
    pub season: SeasonSection,
    pub divisions: divisions::Settings,
    pub behaviour: BehaviourSettings,
    pub identity: IdentitySection,
    pub mutators: MutatorLists,
    pub game_types: GameTypeLists,
    pub ingest: IngestSection,
    pub follow: Vec<FollowSection>,
    pub coordinator: CoordinatorSettings,
    pub queue: BTreeMap<String, QueueSettings>,
    pub webhook: Vec<WebhookSettings>,
    /// All values by their keys.
    #[serde(skip)]
    pub values: ConfiguredValues,
}

/// The keys of section `[server]`.
#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs)]
pub struct ServerSection {
    #[serde(deserialize_with = "values::address")]
    pub listen: SocketAddr,
    #[serde(flatten)]
    pub limits: ConnectionLimits,
    pub threads: Count<0, 64>,
    pub resume_grace_seconds: UpToADay,
    pub allow_anonymous: bool,
    pub tls: TlsSection,
}

/// The keys of one `[[clients]]` section.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct ClientSection {
    pub name: String,
    pub token: Option<ConfiguredToken>,
    pub token_file: Option<PathBuf>,
    #[serde(default, deserialize_with = "values::networks")]
    pub networks: Vec<IpNet>,
    pub rights: Vec<Right>,
    pub players: Option<Vec<String>>,
}

impl ServerSection {
    /// The number of threads that serve connections. If none is configured, it is half of the cores: the others
    /// are for choosing teams, for learning and for whatever else the machine does.
    pub fn threads(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        match self.threads.as_usize() {
            0 => (cores / 2).max(1),
            threads => threads,
        }
    }
}

/// The keys of section `[server.tls]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct TlsSection {
    #[serde(deserialize_with = "values::optional_address")]
    pub listen: Option<SocketAddr>,
    pub certificate: PathBuf,
    pub key: PathBuf,
    pub handshake_seconds: Seconds<1, 60>,
}

/// The keys of section `[web]`.
#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs)]
pub struct WebSection {
    pub listen: WebAddress,
    /// Whether the operator has set `listen`. If not, the daemon runs without pages when the address is
    /// taken.
    #[serde(skip)]
    pub listen_is_set: bool,
    #[serde(deserialize_with = "values::networks")]
    pub metrics_from: Vec<IpNet>,
    #[serde(deserialize_with = "values::optional_address")]
    pub metrics_listen: Option<SocketAddr>,
    #[serde(flatten)]
    pub pages: WebSettings,
}

/// The keys of section `[store]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct StoreSection {
    #[serde(deserialize_with = "values::file")]
    pub database: PathBuf,
    /// `database` as the file has it, before it was made relative to the folder of the file.
    #[serde(skip)]
    pub database_as_written: PathBuf,
    /// Whether the operator has set `database`.
    #[serde(skip)]
    pub database_is_set: bool,
    #[serde(deserialize_with = "values::server_url")]
    pub url: Option<PostgresUrl>,
    pub journal: JournalChoice,
    pub backups: FolderChoice,
    pub keep_backups: Count<1, 1_000>,
    pub busy_ms: Millis<0, 600_000>,
    pub connect_ms: Millis<100, 60_000>,
    pub statement_seconds: Seconds<1, 3_600>,
    pub read_connections: Count<1, 100>,
    pub page_connections: Count<1, 100>,
    pub keep_decisions: Count<0, 10_000_000>,
    pub keep_decision_days: Count<0, 36_500>,
    pub lease_seconds: Seconds<1, 60>,
}

/// The keys of section `[log]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct LogSection {
    #[serde(deserialize_with = "values::filter")]
    pub filter: String,
    pub format: LogFormat,
}

/// The values of `[log] format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// One line of text for each event, for people.
    Text,
    /// One JSON object on each line, for programs.
    Json,
}

impl LogFormat {
    /// The word of the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}

/// The keys of section `[auto_balance]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct AutoBalanceSection {
    pub rules: RulesPreset,
    pub tournament: Vec<String>,
    pub streak: bool,
    pub custom: AutoBalanceRules,
}

/// The values of `[auto_balance] rules`: a preset, or the rules in `[auto_balance.custom]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum RulesPreset {
    Off,
    SectorsEdge,
    PlayersProposal,
    Custom,
}

/// The keys of section `[season]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct SeasonSection {
    pub starts: Vec<Date>,
    pub keeps: Share,
}

/// The keys of section `[identity]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct IdentitySection {
    pub strip: ClanTags,
}

/// The keys of section `[ingest]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct IngestSection {
    pub archive: PathBuf,
    pub follow_ms: Millis<10, 60_000>,
    pub settle_seconds: UpToAWeek,
}

/// The keys of one `[[follow]]` section.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct FollowSection {
    #[serde(deserialize_with = "values::path")]
    pub path: PathBuf,
    #[serde(default)]
    pub format: FormatChoice,
    #[serde(default)]
    pub server: String,
    #[serde(default, deserialize_with = "values::game")]
    pub game: String,
    #[serde(default, deserialize_with = "values::time_zone")]
    pub time_zone: Option<LogZone>,
}

/// The sections and keys that a running daemon takes over.
const LIVE: [&str; 10] = [
    "advantage",
    "auto_balance",
    "balance",
    "lobby",
    "place",
    "rebalance",
    "queue",
    "clients",
    "limits",
    "server.allow_anonymous",
];
/// The most keys that are listed.
const LISTED: usize = 20;

/// All values of a configuration by their keys, defaults included. They may be secrets, and are not shown.
#[derive(Clone, Default)]
pub struct ConfiguredValues(Table);

impl std::fmt::Debug for ConfiguredValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConfiguredValues").finish_non_exhaustive()
    }
}

impl ConfiguredValues {
    pub(super) fn new(values: Table) -> Self {
        Self(values)
    }

    /// The keys whose values differ from those with which the daemon has started, and that it takes over only
    /// at its next start: at most 20, and the number of the others.
    pub fn for_next_start(&self, started: &Self) -> Vec<String> {
        let mut keys = Vec::new();
        differing(&self.0, &started.0, "", &mut keys);
        keys.sort_unstable();
        if keys.len() > LISTED {
            let more = keys.len() - LISTED;
            keys.truncate(LISTED);
            keys.push(format!("and {more} more"));
        }
        keys
    }
}

/// Adds the keys whose values differ, unless the daemon takes them over while it runs.
fn differing(now: &Table, then: &Table, at: &str, keys: &mut Vec<String>) {
    let added = then.keys().filter(|key| !now.contains_key(*key));
    for key in now.keys().chain(added) {
        let path = join(at, key);
        if LIVE.contains(&path.as_str()) {
            continue;
        }
        match (now.get(key), then.get(key)) {
            (Some(Value::Table(now)), Some(Value::Table(then))) => {
                differing(now, then, &path, keys);
            }
            (now, then) if now != then => keys.push(path),
            _ => {}
        }
    }
}
