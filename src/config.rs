//! The configuration: one file, whose every key is documented in `config/evenkeel.toml`.
//!
//! That file is compiled in and is the only place a default stands in. What the admin writes is laid
//! over it, then what the environment says; an unknown key or a bad value is an error that names
//! the line.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, time::Duration};

use serde::Deserialize;
use toml::{
    Table, Value,
    de::{DeTable, DeValue},
};

use crate::{
    domain::{Rulebook, RulebookSpec, Unknown},
    lobby::LobbySettings,
    partition, rating, server,
    service::{self, BalanceSettings},
};

/// The documented defaults, as `evenkeel config default` prints them.
pub const DEFAULT: &str = include_str!("../config/evenkeel.toml");

/// Tables whose keys the admin makes up.
const FREE_TABLES: [&str; 2] = ["server.clients", "game_types.aliases"];
const ENV_PREFIX: &str = "EVENKEEL_";

/// The whole configuration. Units and ranges are told in `config/evenkeel.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Config {
    pub server: Server,
    pub store: Store,
    pub log: Log,
    pub lobby: Lobby,
    pub balance: Balance,
    pub rating: Rating,
    pub mutators: Mutators,
    pub game_types: GameTypes,
}

/// `[server]`
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Server {
    pub listen: SocketAddr,
    pub max_line_bytes: usize,
    pub max_connections: usize,
    pub max_errors: u32,
    pub first_line_seconds: u64,
    pub line_seconds: u64,
    pub idle_seconds: u64,
    pub write_seconds: u64,
    pub drain_seconds: u64,
    pub clients: BTreeMap<String, String>,
}

/// Tokens are secrets: they are never printed.
impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let clients: Vec<_> = self.clients.keys().collect();
        f.debug_struct("Server")
            .field("listen", &self.listen)
            .field("clients", &clients)
            .finish_non_exhaustive()
    }
}

/// `[store]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Store {
    pub database: PathBuf,
    pub busy_ms: u64,
}

/// `[log]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Log {
    pub filter: String,
}

/// `[lobby]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Lobby {
    pub max_roster: usize,
    pub min_players: u32,
    pub level_min: u32,
    pub level_max: u32,
}

/// `[balance]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Balance {
    pub top: usize,
    pub power: f64,
    pub max_team_share: f64,
    pub max_difference: Limit,
    pub party_budget: f64,
    pub party_multiplier: Vec<f64>,
    pub default_weight: f64,
    pub default_bot_weight: f64,
    pub deadline_ms: u64,
    pub memory_mb: usize,
    pub factors: Factors,
}

/// `[balance.factors]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Factors {
    pub ratio_gap: f64,
    pub best_gap: f64,
    pub spread_gap: f64,
    pub broken_parties: f64,
    pub avoided_pairs: f64,
    pub moved: f64,
    pub repeated: f64,
}

/// A number, or `"off"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub struct Limit(pub Option<usize>);

impl TryFrom<Value> for Limit {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match value {
            Value::Integer(number) if (0..=1_024).contains(&number) => {
                Ok(Self(Some(number as usize)))
            }
            Value::String(word) if word == "off" => Ok(Self(None)),
            _ => Err("must be 0 to 1024, or \"off\""),
        }
    }
}

/// `[rating]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Rating {
    pub system: String,
    pub window: usize,
    pub half_life: f64,
    pub prior: f64,
}

/// `[mutators]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Mutators {
    pub gameplay: Vec<String>,
    pub ignore: Vec<String>,
    pub unknown: Unknown,
}

/// `[game_types]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct GameTypes {
    pub free_for_all: Vec<String>,
    pub frags: Vec<String>,
    pub aliases: BTreeMap<String, String>,
}

/// Why there is no configuration.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// At a line of the file.
    #[error("line {line}: {why}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong there.
        why: String,
    },
    /// In the environment.
    #[error("{name}: {why}")]
    Environment {
        /// The variable.
        name: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Config {
    /// Lays the admin's `text` over the defaults, and `environment` over both.
    ///
    /// # Errors
    /// The first unknown key or bad value, with its line or variable.
    pub fn load(
        text: &str,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let spans = DeTable::parse(text).map_err(|error| syntax(text, &error))?;
        let mut merged = defaults();
        refuse_unknown_keys(text, spans.get_ref(), &merged, "")?;
        let own: Table = text.parse().map_err(|error| syntax(text, &error))?;
        lay_over(&mut merged, own);
        let by_environment = apply_environment(&mut merged, environment)?;
        let blame = |path: &str, why: String| match by_environment.get(path) {
            Some(name) => ConfigError::Environment {
                name: name.clone(),
                why,
            },
            None => ConfigError::Line {
                line: line_of(text, spans.get_ref(), path),
                why,
            },
        };
        let config: Self =
            serde_path_to_error::deserialize(Value::Table(merged)).map_err(|error| {
                let path = error.path().to_string();
                let why = error.inner().message().trim().to_owned();
                blame(&path, format!("{path}: {why}"))
            })?;
        match config.first_fault() {
            Some((path, why)) => Err(blame(path, format!("{path} {why}"))),
            None => Ok(config),
        }
    }

    /// What is out of range: a key's path and the rule it breaks.
    fn first_fault(&self) -> Option<(&'static str, String)> {
        let Self {
            server,
            lobby,
            balance,
            rating,
            ..
        } = self;
        let share = balance.max_team_share;
        let weight = 0.0..=100.0;
        let checks = [
            (
                "server.max_line_bytes",
                (64..=65_536).contains(&server.max_line_bytes),
                "must be 64 to 65536",
            ),
            (
                "server.max_connections",
                (1..=65_536).contains(&server.max_connections),
                "must be 1 to 65536",
            ),
            (
                "server.max_errors",
                server.max_errors >= 1,
                "must be 1 or more",
            ),
            (
                "server.first_line_seconds",
                seconds(server.first_line_seconds),
                SECONDS,
            ),
            ("server.line_seconds", seconds(server.line_seconds), SECONDS),
            ("server.idle_seconds", seconds(server.idle_seconds), SECONDS),
            (
                "server.write_seconds",
                seconds(server.write_seconds),
                SECONDS,
            ),
            (
                "server.drain_seconds",
                server.drain_seconds <= 60,
                "must be 60 or less",
            ),
            (
                "server.clients",
                server
                    .clients
                    .iter()
                    .all(|(n, t)| !n.is_empty() && !t.is_empty()),
                "must have names and tokens that are not empty",
            ),
            (
                "store.database",
                !self.store.database.as_os_str().is_empty(),
                "must not be empty",
            ),
            (
                "store.busy_ms",
                self.store.busy_ms <= 600_000,
                "must be 0 to 600000",
            ),
            (
                "lobby.max_roster",
                (2..=128).contains(&lobby.max_roster),
                "must be 2 to 128",
            ),
            (
                "lobby.min_players",
                lobby.min_players <= 128,
                "must be 0 to 128",
            ),
            (
                "lobby.level_max",
                lobby.level_max <= 128,
                "must be 0 to 128",
            ),
            (
                "lobby.level_min",
                lobby.level_min <= lobby.level_max,
                "must not be above level_max",
            ),
            (
                "balance.top",
                (1..=4_096).contains(&balance.top),
                "must be 1 to 4096",
            ),
            (
                "balance.power",
                balance.power >= 0.0,
                "must be 0 or more, or inf",
            ),
            (
                "balance.max_team_share",
                (0.5..=1.0).contains(&share),
                "must be 0.5 to 1",
            ),
            (
                "balance.default_weight",
                weight.contains(&balance.default_weight),
                "must be 0 to 100",
            ),
            (
                "balance.default_bot_weight",
                weight.contains(&balance.default_bot_weight),
                "must be 0 to 100",
            ),
            (
                "balance.deadline_ms",
                (1..=60_000).contains(&balance.deadline_ms),
                "must be 1 to 60000",
            ),
            (
                "rating.window",
                (1..=1_000).contains(&rating.window),
                "must be 1 to 1000",
            ),
            (
                "rating.half_life",
                rating.half_life > 0.0,
                "must be above 0",
            ),
            (
                "rating.prior",
                rating.prior >= 0.0 && rating.prior.is_finite(),
                "must be 0 or more",
            ),
        ];
        if rating::SystemName::parse(&rating.system).is_none() {
            let known = rating::SystemName::ALL
                .map(rating::SystemName::as_str)
                .join(", ");
            return Some(("rating.system", format!("must be one of: {known}")));
        }
        if let Err(error) = Rulebook::new(&self.rulebook()) {
            let path = match error.list {
                "gameplay" => "mutators.gameplay",
                "ignore" => "mutators.ignore",
                "free_for_all" => "game_types.free_for_all",
                _ => "game_types.frags",
            };
            return Some((path, format!("has a bad pattern: {error}")));
        }
        let broken = checks.into_iter().find(|(_, holds, _)| !holds);
        broken.map(|(path, _, rule)| (path, rule.to_owned()))
    }

    /// Which games count alike.
    pub fn rulebook(&self) -> RulebookSpec {
        RulebookSpec {
            gameplay: self.mutators.gameplay.clone(),
            ignore: self.mutators.ignore.clone(),
            unknown: self.mutators.unknown,
            aliases: self.game_types.aliases.clone(),
            free_for_all: self.game_types.free_for_all.clone(),
            frags: self.game_types.frags.clone(),
        }
    }

    /// What every lobby goes by.
    pub fn lobby(&self) -> LobbySettings {
        LobbySettings {
            max_roster: self.lobby.max_roster,
            min_players: self.lobby.min_players,
            level: (self.lobby.level_min, self.lobby.level_max),
            ..LobbySettings::default()
        }
    }

    /// How teams are chosen.
    pub fn balance(&self) -> BalanceSettings {
        let balance = &self.balance;
        let factors = &balance.factors;
        BalanceSettings {
            partition: partition::Settings {
                top: balance.top,
                power: balance.power,
                party_budget: balance.party_budget,
                party_multiplier: balance.party_multiplier.clone(),
                memory: balance.memory_mb << 20,
                factors: partition::Terms {
                    ratio_gap: factors.ratio_gap,
                    best_gap: factors.best_gap,
                    spread_gap: factors.spread_gap,
                    broken_parties: factors.broken_parties,
                    avoided_pairs: factors.avoided_pairs,
                    moved: factors.moved,
                    repeated: factors.repeated,
                },
                ..partition::Settings::default()
            },
            max_share: balance.max_team_share,
            max_difference: balance.max_difference.0,
            default_weight: balance.default_weight,
            default_bot_weight: balance.default_bot_weight,
            deadline: Duration::from_millis(balance.deadline_ms),
        }
    }

    /// What the use cases go by.
    pub fn service(&self) -> service::Settings {
        service::Settings {
            rulebook: self.rulebook(),
            rating: self.rating(),
            lobby: self.lobby(),
            balance: self.balance(),
            clients: self.server.clients.clone(),
        }
    }

    /// What a connection may cost.
    pub fn limits(&self) -> server::Limits {
        let server = &self.server;
        server::Limits {
            max_line_bytes: server.max_line_bytes,
            max_connections: server.max_connections,
            max_errors: server.max_errors,
            first_line: Duration::from_secs(server.first_line_seconds),
            line: Duration::from_secs(server.line_seconds),
            idle: Duration::from_secs(server.idle_seconds),
            write: Duration::from_secs(server.write_seconds),
            drain: Duration::from_secs(server.drain_seconds),
        }
    }

    /// How weights are learned.
    pub fn rating(&self) -> rating::Settings {
        rating::Settings {
            system: rating::SystemName::parse(&self.rating.system).unwrap_or_default(),
            presence: rating::presence::Settings {
                window: self.rating.window,
                half_life: self.rating.half_life,
                prior: self.rating.prior,
            },
            ..rating::Settings::default()
        }
    }
}

const SECONDS: &str = "must be 1 to 604800 (a week)";

fn seconds(value: u64) -> bool {
    (1..=604_800).contains(&value)
}

/// The compiled-in file. That it parses is shown by a test, and by every run.
fn defaults() -> Table {
    DEFAULT.parse().unwrap_or_default()
}

fn refuse_unknown_keys(
    text: &str,
    own: &DeTable<'_>,
    known: &Table,
    at: &str,
) -> Result<(), ConfigError> {
    for (key, value) in own {
        let path = join(at, key.get_ref());
        let line = line_at(text, key.span().start);
        let Some(default) = known.get(key.get_ref().as_ref()) else {
            let why = format!("unknown key {path}");
            return Err(ConfigError::Line { line, why });
        };
        if let (DeValue::Table(own), Value::Table(known)) = (value.get_ref(), default)
            && !FREE_TABLES.contains(&path.as_str())
        {
            refuse_unknown_keys(text, own, known, &path)?;
        }
    }
    Ok(())
}

/// Tables are merged, everything else replaced.
fn lay_over(base: &mut Table, own: Table) {
    for (key, value) in own {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(base)), Value::Table(own)) => lay_over(base, own),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// Sets every `section.key` that a variable names; tells which variable set which path.
/// Variables that name no key are left to others.
fn apply_environment(
    merged: &mut Table,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<BTreeMap<String, String>, ConfigError> {
    let mut set = BTreeMap::new();
    for (name, text) in environment {
        let Some(wanted) = name.strip_prefix(ENV_PREFIX) else {
            continue;
        };
        let Some((path, old)) = find_key(merged, wanted, "") else {
            continue;
        };
        *old = value_of(&text, old).map_err(|why| ConfigError::Environment {
            name: name.clone(),
            why,
        })?;
        set.insert(path, name);
    }
    Ok(set)
}

/// The value whose path in capitals, with `_` between its parts, is `wanted`.
fn find_key<'a>(table: &'a mut Table, wanted: &str, at: &str) -> Option<(String, &'a mut Value)> {
    for (key, value) in table.iter_mut() {
        let path = join(at, key);
        match value {
            Value::Table(_) if FREE_TABLES.contains(&path.as_str()) => {}
            Value::Table(inner) => {
                if let Some(found) = find_key(inner, wanted, &path) {
                    return Some(found);
                }
            }
            value if path.replace('.', "_").to_uppercase() == wanted => return Some((path, value)),
            _ => {}
        }
    }
    None
}

/// A variable's text as a value: as it stands where a string is wanted, as TOML elsewhere.
fn value_of(text: &str, like: &Value) -> Result<Value, String> {
    if like.is_str() {
        return Ok(Value::String(text.to_owned()));
    }
    let parsed: Result<Table, _> = format!("value = {text}").parse();
    let value = parsed.ok().and_then(|mut table| table.remove("value"));
    // A bare word, such as the "off" of a limit.
    let word = || {
        text.bytes()
            .all(|b| b.is_ascii_lowercase())
            .then(|| Value::String(text.to_owned()))
    };
    value
        .or_else(word)
        .ok_or_else(|| format!("`{text}` is no value; lists look like [\"a\", \"b\"]"))
}

fn syntax(text: &str, error: &toml::de::Error) -> ConfigError {
    let line = line_at(text, error.span().map_or(0, |span| span.start));
    ConfigError::Line {
        line,
        why: error.message().to_owned(),
    }
}

/// The line of a path's value, or of the innermost part of the path that the text has.
fn line_of(text: &str, own: &DeTable<'_>, path: &str) -> usize {
    let (mut table, mut offset) = (own, 0);
    for part in path.split('.') {
        let Some((key, value)) = table.get_key_value(part) else {
            break;
        };
        offset = key.span().start;
        let DeValue::Table(inner) = value.get_ref() else {
            break;
        };
        table = inner;
    }
    line_at(text, offset)
}

fn line_at(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().iter().take(offset);
    1 + before.filter(|&&byte| byte == b'\n').count()
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Config, ConfigError> {
        Config::load(text, [])
    }

    fn fault(text: &str) -> String {
        load(text)
            .err()
            .map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn the_documented_defaults_are_a_valid_configuration() {
        let empty = load("").unwrap();
        let documented = load(DEFAULT).unwrap();
        assert_eq!(format!("{empty:?}"), format!("{documented:?}"));
        assert!(!defaults().is_empty());
        assert_eq!(empty.balance.top, 20);
        assert_eq!(empty.server.listen.to_string(), "127.0.0.1:7997");
    }

    #[test]
    fn what_is_written_is_laid_over_the_defaults() {
        let config = load("[rating]\nwindow = 5\n[game_types.aliases]\nx = 'Y'\n").unwrap();
        assert_eq!((config.rating.window, config.rating.half_life), (5, 10.0));
        assert_eq!(config.game_types.aliases["x"], "Y");
        assert_eq!(config.game_types.aliases["ctf"], "XGame.xCTFGame");
    }

    #[test]
    fn faults_name_their_line() {
        assert_eq!(
            fault("[rating]\n\nwindoww = 5"),
            "line 3: unknown key rating.windoww"
        );
        assert_eq!(fault("\n[ratings]"), "line 2: unknown key ratings");
        assert_eq!(
            fault("[rating]\nwindow = 0"),
            "line 2: rating.window must be 1 to 1000"
        );
        let system = fault("[rating]\nsystem = 'elo9'");
        assert!(system.starts_with("line 2: rating.system must be one of: joint, presence"));
        assert!(fault("[rating]\nwindow = 'x'").starts_with("line 2: rating.window: invalid type"));
        assert!(fault("[rating]\nwindow = -1").starts_with("line 2: rating.window: invalid value"));
        assert!(fault("\n\nrating = 3").starts_with("line 3: rating: invalid type"));
        assert!(fault("[a\n").starts_with("line 1: "));
        assert!(
            fault("[mutators]\nunknown = 'maybe'")
                .starts_with("line 2: mutators.unknown: unknown variant")
        );
        assert!(
            fault("[mutators]\nignore = ['[']")
                .starts_with("line 2: mutators.ignore has a bad pattern")
        );
        assert!(fault("[balance]\npower = nan").starts_with("line 2: balance.power must be"));
        assert!(fault("[server]\nlisten = 'here'").starts_with("line 2: server.listen: "));
    }

    #[test]
    fn the_environment_wins_and_is_blamed() {
        let env = |name: &str, value: &str| [(name.to_owned(), value.to_owned())];
        let text = "[balance]\ntop = 3\npower = 2.0";
        let config = Config::load(text, env("EVENKEEL_BALANCE_TOP", "7")).unwrap();
        assert_eq!((config.balance.top, config.balance.power), (7, 2.0));
        let config = Config::load(text, env("EVENKEEL_STORE_DATABASE", "/a b")).unwrap();
        assert_eq!(config.store.database, PathBuf::from("/a b"));
        let error = Config::load(text, env("EVENKEEL_BALANCE_TOP", "0")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "EVENKEEL_BALANCE_TOP: balance.top must be 1 to 4096"
        );
        let error = Config::load(text, env("EVENKEEL_BALANCE_TOP", "[")).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("EVENKEEL_BALANCE_TOP: `[` is no value")
        );
        assert!(Config::load(text, env("EVENKEEL_SOMETHING_ELSE", "1")).is_ok());
        let config = Config::load(text, env("EVENKEEL_BALANCE_FACTORS_MOVED", "0.0")).unwrap();
        assert_eq!(config.balance.factors.moved, 0.0);
        let config = Config::load(text, env("EVENKEEL_BALANCE_MAX_DIFFERENCE", "off")).unwrap();
        assert_eq!(config.balance.max_difference, Limit(None));
    }

    #[test]
    fn tokens_are_not_printed() {
        let config = load("[server.clients]\na = 'hunter2'").unwrap();
        assert!(!format!("{config:?}").contains("hunter2"));
    }

    #[test]
    fn the_shipped_lists_know_the_games() {
        let book = Rulebook::new(&load("").unwrap().rulebook()).unwrap();
        for mutator in [
            "XGame.MutInstaGib",
            "XGame.MutZoomInstaGib",
            "Botpack.InstaGibDM",
            "UnrealGame.MutLowGrav",
            "Botpack.LowGrav",
            "XGame.MutQuadJump",
            "UnrealGame.MutBigHead",
            "XWeapons.MutArena",
            "Botpack.RocketArena",
            "XGame.MutVampire",
            "g_instantgib",
            "g_rockets",
            "dmflags=8",
        ] {
            assert!(book.affects_play(mutator), "{mutator}");
        }
        for mutator in [
            "UnrealGame.DMMutator",
            "Botpack.DMMutator",
            "OLStats.MutOLGameStats",
            "AntiTCC.MutAntiTCCFinal",
            "UTSecure.MutUTSecure",
            "MapVoteLA.MapVote",
            "BDBMapVote304.BDBMapVote",
            "UTV2004s.utvMutator",
            "JoolsWorks.IdealBotCounter",
            "TeamColors.MutColors",
            "ACEv08h.ACEActor",
        ] {
            assert!(!book.affects_play(mutator), "{mutator}");
        }
        assert!(book.is_team_game("baseoa.ctf") && !book.is_team_game("baseq3.ffa"));
        assert!(!book.is_team_game("XGame.xDeathMatch") && book.is_team_game("XGame.xTeamGame"));
        assert_eq!(
            book.ruleset::<&str>("CTF", &[]),
            book.ruleset::<&str>("XGame.xCTFGame", &[])
        );
    }
}
