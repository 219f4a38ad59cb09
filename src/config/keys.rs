//! All keys, by section. `config/evenkeel.toml` and `config/tuning.toml` document the meaning, unit, range and
//! default of each. The type of a key states its range; see [`units`](crate::model::units).
//!
//! If a configuration is read again, this file says which keys have changed, and which of them only a start takes
//! over.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf};

use clap::ValueEnum;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::{
    layers::join,
    values::{self, ConfiguredToken, Date, FolderChoice, FormatChoice, JournalChoice, WebAddress},
};
use crate::{
    experiments::ExperimentOutcome,
    files::FileMode,
    lobby::{
        advantage::AdvantageSettings, autobalance::AutoBalanceRules, place::PlaceSettings,
        rebalance::RebalanceSettings, settings::RosterSettings,
    },
    logs::LogZone,
    matchmaking::QueueSettings,
    matchmaking::lifecycle::CoordinatorSettings,
    model::{
        access::Right,
        behaviour::BehaviourSettings,
        names::ClanTags,
        rulebook::{GameTypeLists, MutatorLists},
        units::{Amount, Count, Millis, PolicyShare, Seconds, Share, UpToADay, UpToAWeek},
    },
    rating::divisions,
    rating::history,
    server::{ConnectionLimits, access::RateSettings},
    session::BalanceSettings,
    store::postgres::PostgresUrl,
    web::{ApiSettings, MetricsHosts, WebSettings},
    webhooks::WebhookSettings,
};

/// The configuration; each field is a section of the documented files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Who may connect over lines, and how.
    pub server: ServerSection,
    /// The clients that have a token.
    pub clients: Vec<ClientSection>,
    /// How many connections and requests are served.
    pub limits: RateSettings,
    /// The statistics pages.
    pub web: WebSection,
    /// The HTTP interface for programs.
    pub api: ApiSettings,
    /// The database, its backups, and what it keeps.
    pub store: StoreSection,
    /// What the daemon logs.
    pub log: LogSection,
    /// How many players and bots a game has.
    pub lobby: RosterSettings,
    /// Which teams are picked.
    pub balance: BalanceSettings,
    /// The team of a late arrival.
    pub place: PlaceSettings,
    /// How much the game may help the weaker team.
    pub advantage: AdvantageSettings,
    /// When a running game is evened out.
    pub rebalance: RebalanceSettings,
    /// Who may be moved on death.
    pub auto_balance: AutoBalanceSection,
    /// How weights are learned.
    pub rating: history::Settings,
    /// When seasons begin.
    pub season: SeasonSection,
    /// Two policies that are compared.
    pub experiment: ExperimentSection,
    /// Ranks, and what players see of them.
    pub divisions: divisions::Settings,
    /// What reports about behaviour count.
    pub behaviour: BehaviourSettings,
    /// Which parts of names are no part of an identity.
    pub identity: IdentitySection,
    /// Which mutators make a ruleset.
    pub mutators: MutatorLists,
    /// Which game types count together.
    pub game_types: GameTypeLists,
    /// How logs are read.
    pub ingest: IngestSection,
    /// The logs that the daemon reads while they are written.
    pub follow: Vec<FollowSection>,
    /// How matches of queues are hosted.
    pub coordinator: CoordinatorSettings,
    /// The queues, by their names.
    pub queue: BTreeMap<String, QueueSettings>,
    /// The receivers of events.
    pub webhook: Vec<WebhookSettings>,
    /// All values by their keys.
    #[serde(skip)]
    pub values: ConfiguredValues,
}

/// The keys of section `[server]`.
#[derive(Clone, Debug, Deserialize)]
pub struct ServerSection {
    /// The address for lines.
    #[serde(deserialize_with = "values::address")]
    pub listen: SocketAddr,
    /// What a connection may do.
    #[serde(flatten)]
    pub limits: ConnectionLimits,
    /// The number of threads that serve connections; 0 for half of the cores.
    pub threads: Count<0, 64>,
    /// How long a parked game waits for its server.
    pub resume_grace_seconds: UpToADay,
    /// Whether other machines need no token.
    pub allow_anonymous: bool,
    /// Encrypted connections.
    pub tls: TlsSection,
}

/// The keys of one `[[clients]]` section.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientSection {
    /// The name, which may end in a wildcard.
    pub name: String,
    /// The token or its hash.
    pub token: Option<ConfiguredToken>,
    /// The file that has the token.
    pub token_file: Option<PathBuf>,
    /// From where the client may connect; empty for everywhere.
    #[serde(default, deserialize_with = "values::networks")]
    pub networks: Vec<IpNet>,
    /// What the client may do.
    pub rights: Vec<Right>,
    /// The players for whom it may use the queues; all if the key is missing.
    pub players: Option<Vec<String>>,
    /// What its ids of players are.
    #[serde(default)]
    pub ids: ClientIds,
}

/// The values of `ids` in a `[[clients]]` section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientIds {
    /// They may be secrets: others see no id.
    #[default]
    Secret,
    /// They are the names of the players, and are shown unless they look like an account.
    Names,
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
pub struct TlsSection {
    /// The address for encrypted lines.
    #[serde(deserialize_with = "values::optional_address")]
    pub listen: Option<SocketAddr>,
    /// The file with the certificate.
    pub certificate: PathBuf,
    /// The file with its private key.
    pub key: PathBuf,
    /// The time limit for the handshake.
    pub handshake_seconds: Seconds<1, 60>,
}

/// The keys of section `[web]`.
#[derive(Clone, Debug, Deserialize)]
pub struct WebSection {
    /// The address of the pages, or none.
    pub listen: WebAddress,
    /// Whether the operator has set `listen`. If not, the daemon runs without pages when the address is
    /// taken.
    #[serde(skip)]
    pub listen_is_set: bool,
    /// The networks that may read the metrics.
    #[serde(deserialize_with = "values::networks")]
    pub metrics_from: Vec<IpNet>,
    /// The names by which a scraper may ask for the metrics on the shared listener.
    pub metrics_hosts: MetricsHosts,
    /// An address for the metrics alone.
    #[serde(deserialize_with = "values::optional_address")]
    pub metrics_listen: Option<SocketAddr>,
    /// How the pages look, and what they show.
    #[serde(flatten)]
    pub pages: WebSettings,
}

/// The keys of section `[store]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreSection {
    /// The SQLite file.
    #[serde(deserialize_with = "values::file")]
    pub database: PathBuf,
    /// `database` as the file has it, before it was made relative to the folder of the file.
    #[serde(skip)]
    pub database_as_written: PathBuf,
    /// Whether the operator has set `database`.
    #[serde(skip)]
    pub database_is_set: bool,
    /// The PostgreSQL database, instead of a file.
    #[serde(deserialize_with = "values::server_url")]
    pub url: Option<PostgresUrl>,
    /// The folder of the running games.
    pub journal: JournalChoice,
    /// The folder of the backups.
    pub backups: FolderChoice,
    /// The mode of new files.
    pub file_mode: FileMode,
    /// How many backups are kept.
    pub keep_backups: Count<1, 1_000>,
    /// How long a command waits for locks of other processes.
    pub busy_ms: Millis<0, 600_000>,
    /// The time limit for a connection to PostgreSQL.
    pub connect_ms: Millis<100, 60_000>,
    /// The time limit for a statement on PostgreSQL.
    pub statement_seconds: Seconds<1, 3_600>,
    /// The connections that read, on PostgreSQL.
    pub read_connections: Count<1, 100>,
    /// The connections that serve pages, on PostgreSQL.
    pub page_connections: Count<1, 100>,
    /// How many decisions are kept.
    pub keep_decisions: Count<0, 10_000_000>,
    /// For how many days decisions are kept.
    pub keep_decision_days: Count<0, 36_500>,
    /// How long a lease lasts without being renewed.
    pub lease_seconds: Seconds<1, 60>,
}

/// The keys of section `[log]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogSection {
    /// Which events are logged.
    #[serde(deserialize_with = "values::filter")]
    pub filter: String,
    /// The form of a line.
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
pub struct AutoBalanceSection {
    /// Which rules count.
    pub rules: RulesPreset,
    /// Patterns of game types in which nobody is moved.
    pub tournament: Vec<String>,
    /// Whether teams are chosen anew after a streak.
    pub streak: bool,
    /// The rules that `custom` selects.
    pub custom: AutoBalanceRules,
}

/// The values of `[auto_balance] rules`: a preset, or the rules in `[auto_balance.custom]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RulesPreset {
    /// Nobody is moved.
    Off,
    /// The rules of the game Sector's Edge.
    SectorsEdge,
    /// What its players proposed instead.
    PlayersProposal,
    /// The rules in `[auto_balance.custom]`.
    Custom,
}

/// The keys of section `[experiment]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentSection {
    /// The key of the ruleset; empty for no experiment.
    pub ruleset: String,
    /// The share of the games that policy b has.
    pub share: PolicyShare,
    /// What the verdict is about.
    pub outcome: ExperimentOutcome,
    /// The policy to which the other is compared.
    pub a: PolicySection,
    /// The other policy.
    pub b: PolicySection,
}

/// The keys of sections `[experiment.a]` and `[experiment.b]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicySection {
    /// What players read of it.
    pub name: String,
    /// How teams are made.
    pub teams: PolicyTeams,
    /// What makes teams even.
    pub objective: PolicyObjective,
    /// Factors other than those of `[balance.factors]`.
    pub factors: BTreeMap<String, Amount>,
    /// Whether the weaker team is helped.
    pub advantage: PolicyAdvantage,
    /// Whether players change teams on death.
    pub auto_balance: PolicyAutoBalance,
    /// Whether running games are evened out.
    pub rebalance: PolicyRebalance,
}

/// The values of `[experiment.a] teams`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyTeams {
    /// The best ones.
    Best,
    /// They are drawn.
    Random,
    /// Who is on a team stays.
    ByHand,
    /// The same, and nothing else is balanced, either.
    Off,
}

/// The values of `[experiment.a] objective`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyObjective {
    /// That of `[balance]`.
    Configured,
    /// The chances to win.
    Chance,
    /// The ratio of the weights.
    Ratio,
}

/// The values of `[experiment.a] advantage`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyAdvantage {
    /// As in `[advantage]`.
    Configured,
    /// No team is helped.
    Off,
}

/// The values of `[experiment.a] auto_balance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyAutoBalance {
    /// As in `[auto_balance]`.
    Configured,
    /// Nobody is moved.
    Off,
    /// The rules of the game Sector's Edge.
    SectorsEdge,
    /// What its players proposed instead.
    PlayersProposal,
}

/// The values of `[experiment.a] rebalance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyRebalance {
    /// As in `[rebalance]`.
    Configured,
    /// Nobody is moved.
    Off,
    /// Players are moved without being asked.
    Move,
    /// Players are asked first, where the game server can ask.
    Ask,
}

/// The keys of section `[season]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeasonSection {
    /// The days on which seasons begin.
    pub starts: Vec<Date>,
    /// The share of its distance from 50 that a weight keeps.
    pub keeps: Share,
}

/// The keys of section `[identity]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdentitySection {
    /// Patterns of clan tags.
    pub strip: ClanTags,
}

/// The keys of section `[ingest]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IngestSection {
    /// The folder of the logs that were read; empty for none.
    pub archive: PathBuf,
    /// How often followed logs are read.
    pub follow_ms: Millis<10, 60_000>,
    /// How long a log is unchanged when it counts as complete.
    pub settle_seconds: UpToAWeek,
}

/// The keys of one `[[follow]]` section.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FollowSection {
    /// The log, or a folder of logs.
    #[serde(deserialize_with = "values::path")]
    pub path: PathBuf,
    /// The format; found by itself if the key is missing.
    #[serde(default)]
    pub format: FormatChoice,
    /// The name of the server, for logs that state none.
    #[serde(default)]
    pub server: String,
    /// The game of the server, as a part of its rulesets.
    #[serde(default, deserialize_with = "values::game")]
    pub game: String,
    /// The time zone of local times in the log.
    #[serde(default, deserialize_with = "values::time_zone")]
    pub time_zone: Option<LogZone>,
}

/// The sections and keys that a running daemon takes over.
const LIVE: [&str; 11] = [
    "advantage",
    "auto_balance",
    "balance",
    "experiment",
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
pub struct ConfiguredValues(pub(super) Table);

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
