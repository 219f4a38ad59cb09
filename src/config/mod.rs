//! The configuration: one file, whose keys `config/evenkeel.toml` and `config/tuning.toml` document.
//!
//! These two are compiled in and contain the defaults. The operator's file overrides them, and the environment
//! overrides all. An unknown key or an invalid value is an error that names its line or variable, and a word that may
//! have been meant. Relative paths in a file are relative to its folder. Each key is in two places: in a documented
//! file, and as a field whose type states its range.
//!
//! Entry point: [`Config::load`].

mod check;
mod clients;
mod keys;
mod layers;
mod origins;
mod presets;
mod rooms;
mod values;

pub use keys::{
    AutoBalanceSection, ClientIds, ClientSection, Config, ConfiguredValues, ExperimentSection,
    FollowSection, IdentitySection, IngestSection, LogFormat, LogSection, PolicyAdvantage,
    PolicyAutoBalance, PolicyObjective, PolicyRebalance, PolicySection, PolicyTeams, RulesPreset,
    SeasonSection, ServerSection, StoreSection, TlsSection, WebSection,
};
pub use origins::{HIDDEN, ValueInForce, ValueOrigin};
pub use presets::{DEFAULT, GamePreset, START, TUNING, all_keys};
pub use values::{
    AddressError, ConfiguredToken, Date, FolderChoice, FormatChoice, JournalChoice, WebAddress,
    not_a_file, parse_address,
};

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use toml::{
    Table, Value,
    de::{DeTable, Error as TomlError},
};

use check::Fault;

impl Config {
    /// Does what [`load_in`](Self::load_in) does, for a file in the current folder.
    ///
    /// # Errors
    /// Those of [`load_in`](Self::load_in).
    pub fn load(
        text: &str,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        Self::load_in(Path::new(""), text, environment)
    }

    /// Loads the defaults, overridden by `text`, the operator's file, and by `environment`. Relative paths in
    /// the file and in the defaults are relative to `folder`.
    ///
    /// # Errors
    /// Returns the first unknown key or invalid value, with its line or variable.
    pub fn load_in(
        folder: &Path,
        text: &str,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let spans = DeTable::parse(text).map_err(|error| layers::syntax(text, &error))?;
        let mut merged = layers::defaults();
        layers::refuse_unknown_keys(text, spans.get_ref(), &merged, "")?;
        let own: Table = text.parse().map_err(|error| layers::syntax(text, &error))?;
        layers::lay_over(&mut merged, own);
        let by_environment = layers::apply_environment(&mut merged, environment)?;
        let origin = Origin {
            text,
            spans: spans.get_ref(),
            by_environment,
        };
        let mut config = Self::read(merged.clone()).map_err(|error| {
            let path = error.path().to_string();
            let keys = layers::table_at(&merged, &path);
            match keys.and_then(|keys| refused_key(&path, keys)) {
                Some((path, error)) => origin.blame_value(&path, &error),
                None => origin.blame_value(&path, &error),
            }
        })?;
        config.web.listen_is_set = origin.is_set("web.listen");
        config.values = ConfiguredValues::new(merged);
        config.store.database_is_set = origin.is_set("store.database");
        config.resolve_paths(folder, |key| origin.by_environment.contains_key(key));
        match config.first_fault() {
            Some(fault) => Err(origin.blame(&fault)),
            None => Ok(config),
        }
    }
}

impl Config {
    fn read(table: Table) -> Result<Self, PathError> {
        serde_path_to_error::deserialize(Value::Table(table))
    }
}

type PathError = serde_path_to_error::Error<TomlError>;

/// The first key below a section that is refused although all others have their defaults, and why. A
/// section that several types read is only known to be wrong as a whole.
fn refused_key(section: &str, keys: &Table) -> Option<(String, PathError)> {
    keys.iter().find_map(|(key, value)| {
        let path = layers::join(section, key);
        if let Value::Table(inner) = value {
            return refused_key(&path, inner);
        }
        let mut trial = layers::defaults();
        *layers::value_at(&mut trial, &path)? = value.clone();
        Config::read(trial).err().map(|error| (path, error))
    })
}

/// The origins of values, to name them in errors.
struct Origin<'a> {
    text: &'a str,
    spans: &'a DeTable<'a>,
    /// The name of the variable that set each path.
    by_environment: BTreeMap<String, String>,
}

impl Origin<'_> {
    fn blame_value(&self, path: &str, error: &PathError) -> ConfigError {
        let why = plain(error.inner().message().trim());
        let is_predicate = ["must ", "is ", "has "]
            .iter()
            .any(|verb| why.starts_with(verb));
        let colon = if is_predicate { "" } else { ":" };
        self.error(path, format!("{path}{colon} {why}"))
    }

    /// An error at the first of the fault's keys that the operator set; the others have their
    /// defaults.
    fn blame(&self, fault: &Fault) -> ConfigError {
        let first = fault.keys.first().map_or("", String::as_str);
        let path = fault.keys.iter().find(|path| self.is_set(path));
        let path = path.map_or(first, String::as_str);
        self.error(path, format!("{first} {}", fault.why))
    }

    /// Whether the operator has set a key, in the file or in the environment.
    fn is_set(&self, path: &str) -> bool {
        self.by_environment.contains_key(path) || layers::is_written(self.spans, path)
    }

    fn error(&self, path: &str, why: String) -> ConfigError {
        match self.by_environment.get(path) {
            Some(name) => ConfigError::Environment {
                name: name.clone(),
                why,
            },
            None => ConfigError::Line {
                line: layers::line_of(self.text, self.spans, path),
                why,
            },
        }
    }
}

/// Why a configuration is invalid, and where.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file has a syntax error, an unknown key or an invalid value.
    #[error("line {line}: {why}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong in the line.
        why: String,
    },
    /// An environment variable has an invalid value, or names no key.
    #[error("{name}: {why}")]
    Environment {
        /// The name of the variable.
        name: String,
        /// What is wrong with its value.
        why: String,
    },
    /// The file with the token of a client cannot be used.
    #[error("the token_file of client {client}, {}: {why}", path.display())]
    TokenFile {
        /// The name of the client.
        client: String,
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with the file; never its content.
        why: String,
    },
    /// The daemon would listen where other machines reach it, and nothing would keep them out.
    #[error(
        "{address} is not a loopback address: everybody who reaches it could use this daemon. Configure \
         [[clients]], or set server.allow_anonymous = true"
    )]
    Exposed {
        /// The address to listen on.
        address: SocketAddr,
    },
}

/// A message of the deserialiser in the words of the documentation. Messages of the types themselves, such as
/// "must be 1 to 8, not 9", stay as they are.
fn plain(message: &str) -> String {
    let mut invalid = ["invalid type: ", "invalid value: "].into_iter();
    if let Some(rest) = invalid.find_map(|start| message.strip_prefix(start))
        && let Some((found, expected)) = rest.split_once(", expected ")
    {
        return format!(
            "must be {}, not {}",
            plain_type(expected),
            plain_value(found)
        );
    }
    if let Some(rest) = message.strip_prefix("unknown variant ")
        && let Some((found, known)) = rest.split_once(", expected ")
    {
        let known = known.replace("one of ", "one of: ").replace('`', "");
        return format!("must be {known}, not \"{}\"", found.replace('`', ""));
    }
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let (found, known) = rest.split_once(", expected ").unwrap_or((rest, ""));
        let known = known.trim_start_matches("one of ").replace('`', "");
        let found = found.replace('`', "");
        return match nearest(&found, known.split(", ")) {
            Some(near) => format!("unknown key {found}, did you mean {near}?"),
            None => format!("unknown key {found}; the keys are {known}"),
        };
    }
    if let Some(name) = message.strip_prefix("missing field ") {
        return format!("the key {} is missing", name.replace('`', ""));
    }
    if message.starts_with("invalid length ") {
        return "has the wrong number of values".to_owned();
    }
    message.to_owned()
}

/// A value, as the deserialiser names it with its type.
fn plain_value(found: &str) -> String {
    match found {
        "sequence" => "a list".to_owned(),
        "map" => "a section".to_owned(),
        _ => {
            let kinds = ["string ", "integer ", "floating point ", "boolean "];
            let bare = kinds.iter().find_map(|kind| found.strip_prefix(kind));
            bare.unwrap_or(found).replace('`', "")
        }
    }
}

/// What the deserialiser expects.
fn plain_type(expected: &str) -> &str {
    match expected {
        "a string" | "string" => "text in quotes",
        "string or map" => "a word in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "a section",
        "f32" | "f64" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" | "i64" => "a whole number",
        _ if expected.starts_with("struct ") => "a section",
        _ => expected,
    }
}

/// The known word that is most like `word`; `None` if none is like it.
fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances = known.into_iter().map(|known| {
        let distance = strsim::damerau_levenshtein(word, known);
        (distance, known)
    });
    let (distance, known) = distances.min()?;
    // A third of the letters may be wrong.
    let most = word.chars().count().max(known.chars().count()) / 3;
    (distance <= most.max(1)).then_some(known)
}

impl Config {
    /// Makes relative paths relative to `folder`, the folder of the file. Those that the environment has set
    /// stay relative to the current folder, like the paths in flags. An empty path means that there is none.
    fn resolve_paths(&mut self, folder: &Path, from_environment: impl Fn(&str) -> bool) {
        let resolve = |key: &str, path: &mut PathBuf| {
            if !path.as_os_str().is_empty() && !from_environment(key) {
                *path = folder.join(&*path);
            }
        };
        let store = &mut self.store;
        store.database_as_written.clone_from(&store.database);
        resolve("store.database", &mut store.database);
        if let JournalChoice::Folder(path) = &mut store.journal {
            resolve("store.journal", path);
        }
        if let FolderChoice::In(path) = &mut store.backups {
            resolve("store.backups", path);
        }
        resolve("ingest.archive", &mut self.ingest.archive);
        if let Some(url) = &mut self.store.url
            && !from_environment("store.url")
        {
            url.resolve(folder);
        }
        let tls = &mut self.server.tls;
        resolve("server.tls.certificate", &mut tls.certificate);
        resolve("server.tls.key", &mut tls.key);
        let agones = &mut self.coordinator.agones;
        resolve("coordinator.agones.client_cert", &mut agones.client_cert);
        resolve("coordinator.agones.client_key", &mut agones.client_key);
        resolve("coordinator.agones.ca", &mut agones.ca);
        for follow in &mut self.follow {
            resolve("follow", &mut follow.path);
        }
        let tokens = self.clients.iter_mut();
        for path in tokens.filter_map(|client| client.token_file.as_mut()) {
            resolve("clients", path);
        }
        let secrets = self.webhook.iter_mut();
        for path in secrets.filter_map(|hook| hook.secret_file.as_mut()) {
            resolve("webhook", path);
        }
    }
}

#[cfg(test)]
mod tests;
