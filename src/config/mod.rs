//! The configuration: one file, whose keys `config/evenkeel.toml` and `config/tuning.toml` document.
//!
//! These two are compiled in and contain the defaults. The operator's file overrides them, and the
//! environment overrides all. An unknown key or an invalid value is an error that names its line
//! or variable. Each key is in two places: in a documented file, and as a
//! field whose type states its range. Entry point: [`Config::load`].

mod address;
mod changed;
mod check;
mod clients;
mod environment;
mod error;
mod keys;
mod layers;
mod nearest;
mod origins;
mod paths;
mod presets;
mod rooms;
mod syntax;
mod texts;
mod token;
mod values;

use std::{collections::BTreeMap, path::Path};

use toml::{
    Table, Value,
    de::{DeTable, Error as TomlError},
};

pub use address::{AddressError, parse_address};
pub use changed::ConfiguredValues;
use check::Fault;
pub use error::ConfigError;
pub use keys::{
    AutoBalanceSection, ClientSection, Config, FollowSection, IdentitySection, IngestSection,
    LogFormat, LogSection, RulesPreset, SeasonSection, ServerSection, StoreSection, TlsSection,
    WebSection,
};
pub use origins::{HIDDEN, ValueInForce, ValueOrigin};
pub use presets::GamePreset;
pub use texts::{DEFAULT, START, TUNING, all_keys};
pub use token::ConfiguredToken;
pub use values::{Date, FolderChoice, FormatChoice, JournalChoice, WebAddress, not_a_file};

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
        let spans = DeTable::parse(text).map_err(|error| syntax::syntax(text, &error))?;
        let mut merged = layers::defaults();
        layers::refuse_unknown_keys(text, spans.get_ref(), &merged, "")?;
        let own: Table = text.parse().map_err(|error| syntax::syntax(text, &error))?;
        layers::lay_over(&mut merged, own);
        let by_environment = environment::apply_environment(&mut merged, environment)?;
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
        let why = error::plain(error.inner().message().trim());
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

#[cfg(test)]
mod tests;
