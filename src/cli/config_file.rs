//! Which configuration file a command reads, and the folder of its relative paths.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{CliError, CommonArgs};
use crate::config::{Config, ConfigError};

/// The configuration of the service, which every command uses that is given no other one.
const SYSTEM_FILE: &str = "/etc/evenkeel/evenkeel.toml";
/// The folder of the relative paths in [`SYSTEM_FILE`]: the service keeps its data there.
const SYSTEM_DATA: &str = "/var/lib/evenkeel";
/// A variable with another path than [`SYSTEM_FILE`], for tests and for systems without `/etc`. Empty for none.
const SYSTEM_VARIABLE: &str = "EVENKEEL_SYSTEM_CONFIG";

/// The configuration of this system, if there is one.
fn system_file() -> Option<PathBuf> {
    let path = std::env::var_os(SYSTEM_VARIABLE).unwrap_or_else(|| SYSTEM_FILE.into());
    let path = Some(PathBuf::from(path)).filter(|path| !path.as_os_str().is_empty())?;
    // A file that cannot be looked at is reported when it is read.
    path.try_exists().unwrap_or(true).then_some(path)
}

/// The folder of the relative paths in a configuration file: that of the file, empty for the current folder.
fn folder_of(file: &Path) -> PathBuf {
    if std::path::absolute(file).is_ok_and(|whole| whole == Path::new(SYSTEM_FILE)) {
        return SYSTEM_DATA.into();
    }
    // A pipe, such as `/dev/fd/63`, is in no folder of the operator.
    match file.is_file() {
        true => file.parent().unwrap_or(Path::new("")).to_owned(),
        false => PathBuf::new(),
    }
}

impl CommonArgs {
    /// The configuration file: the given one, or that of this system, if no database is given either.
    pub(super) fn file(&self) -> Option<PathBuf> {
        let own = || self.db.is_none().then(system_file).flatten();
        self.config.clone().or_else(own)
    }

    /// Loads the configuration. A flag overrides the environment, which overrides the file, which overrides
    /// the defaults.
    pub(super) fn load(&self) -> Result<Config, CliError> {
        let mut config = self.settings()?;
        if let Some(db) = &self.db {
            if config.store.url.is_some() {
                return Err(CliError::TwoDatabases);
            }
            config.store.database.clone_from(db);
        } else {
            refuse_other_database(&config)?;
        }
        Ok(config)
    }

    /// Loads the configuration for a command that opens no database.
    pub(super) fn settings(&self) -> Result<Config, CliError> {
        load_file(self.file().as_deref())
    }
}

/// Refuses to begin a new database in the folder of the configuration file while there is one in the current
/// folder, where earlier versions looked for it.
fn refuse_other_database(config: &Config) -> Result<(), CliError> {
    let (database, here) = (&config.store.database, &config.store.database_as_written);
    let is_other = config.store.url.is_none() && database != here;
    if is_other && !database.exists() && here.exists() {
        return Err(CliError::OtherDatabase {
            database: database.clone(),
            here: here.clone(),
        });
    }
    Ok(())
}

/// Loads the configuration from a file, or from that of this system, or the defaults, with overrides from the
/// `EVENKEEL_*` variables. An error names the line or the variable at fault.
pub(super) fn load_config(path: Option<&PathBuf>) -> Result<Config, CliError> {
    let file = path.cloned().or_else(system_file);
    load_file(file.as_deref())
}

fn load_file(path: Option<&Path>) -> Result<Config, CliError> {
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let Some(path) = path else {
        return Ok(Config::load("", environment)?);
    };
    let text = read(path)?;
    let loaded = Config::load_in(&folder_of(path), &text, environment);
    loaded.map_err(|source| match source {
        ConfigError::Line { .. } => CliError::Config {
            path: path.to_owned(),
            source,
        },
        other => other.into(),
    })
}

/// The text of a configuration file.
fn read(path: &Path) -> Result<String, CliError> {
    let unreadable = |why: &str| CliError::ConfigFile {
        path: path.to_owned(),
        why: why.to_owned(),
    };
    let bytes = std::fs::read(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => unreadable("not found"),
        io::ErrorKind::PermissionDenied => unreadable("permission denied"),
        io::ErrorKind::IsADirectory => unreadable("is a folder, not a file"),
        _ => unreadable(&error.to_string()),
    })?;
    if bytes.contains(&0) {
        return Err(unreadable("is not a text file"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|&&byte| byte == b'\n').count();
        let why = "the line is not UTF-8".to_owned();
        CliError::Config {
            path: path.to_owned(),
            source: ConfigError::Line { line, why },
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_file_and_those_of_the_service_to_its_data() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("evenkeel.toml");
        std::fs::write(&file, "").unwrap();
        assert_eq!(folder_of(&file), folder.path());
        assert_eq!(folder_of(Path::new("Cargo.toml")), Path::new(""));
        assert_eq!(folder_of(Path::new(SYSTEM_FILE)), Path::new(SYSTEM_DATA));
        let other = Path::new("/etc/evenkeel/./evenkeel.toml");
        assert_eq!(folder_of(other), Path::new(SYSTEM_DATA));
        assert_eq!(folder_of(Path::new("/dev/null")), Path::new(""));
    }
}
