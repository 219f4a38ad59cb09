//! Which configuration file a command reads, and the folder of its relative paths.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{CliError, CommonArgs, SettingsArgs};
use crate::config::{Config, ConfigError, not_a_file};

/// The configuration of the service, which every command uses that is given no other one.
const SYSTEM_FILE: &str = "/etc/evenkeel/evenkeel.toml";
/// The folder of the relative paths in [`SYSTEM_FILE`]: the service keeps its data there.
const SYSTEM_DATA: &str = "/var/lib/evenkeel";
/// The configuration file of a folder that `--dir` names.
pub(super) const FOLDER_FILE: &str = "evenkeel.toml";
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

/// Which configuration is in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ConfigSource {
    /// Its file; `None` if every key has its default.
    pub(super) file: Option<PathBuf>,
    /// The folder of the relative paths in it; empty for the current folder.
    pub(super) folder: PathBuf,
}

impl ConfigSource {
    /// This configuration file.
    fn of_file(file: PathBuf) -> Self {
        Self {
            folder: folder_of(&file),
            file: Some(file),
        }
    }

    /// That of this system, if it has one; else there is none.
    fn of_system() -> Self {
        system_file().map_or_else(Self::default, Self::of_file)
    }

    /// That of a folder with everything in it.
    fn of_folder(folder: &Path) -> Self {
        let file = folder.join(FOLDER_FILE);
        // A file that cannot be looked at is reported when it is read.
        let is_there = file.try_exists().unwrap_or(true);
        Self {
            file: is_there.then_some(file),
            folder: folder.to_owned(),
        }
    }

    /// The text of the file; empty if there is none.
    pub(super) fn text(&self) -> Result<String, CliError> {
        if self.file.is_none() && !self.folder.as_os_str().is_empty() && !self.folder.is_dir() {
            let why = "there is no such folder";
            return Err(CliError::input(format!("{}: {why}", self.folder.display())));
        }
        if self.folder.is_file() {
            let file = self.folder.display();
            let why = format!("{file}: --dir takes a folder; for a file use --config {file}");
            return Err(CliError::input(why));
        }
        self.file.as_deref().map_or(Ok(String::new()), read)
    }

    /// Loads the configuration, with overrides from the `EVENKEEL_*` variables. An error names the line or the
    /// variable at fault.
    fn load(&self) -> Result<Config, CliError> {
        let text = self.text()?;
        let loaded = Config::load_in(&self.folder, &text, environment());
        loaded.map_err(|source| match (source, &self.file) {
            (source @ ConfigError::Line { .. }, Some(path)) => {
                CliError::settings(format!("{}: {source}", path.display()))
            }
            (other, _) => other.into(),
        })
    }
}

/// The variables of this process, those that are text.
pub(super) fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

impl SettingsArgs {
    /// The configuration that the flags name, else that of this system.
    fn source(&self) -> ConfigSource {
        self.named().unwrap_or_else(ConfigSource::of_system)
    }

    /// The configuration that the flags name.
    fn named(&self) -> Option<ConfigSource> {
        match (&self.dir, &self.config) {
            (Some(folder), _) => Some(ConfigSource::of_folder(folder)),
            (None, Some(file)) => Some(ConfigSource::of_file(file.clone())),
            (None, None) => None,
        }
    }

    /// Loads the configuration for a command that opens no database.
    pub(super) fn load(&self) -> Result<Config, CliError> {
        self.source().load()
    }
}

impl CommonArgs {
    /// The configuration that is in force: the one that the flags name, or that of this system, if no database is
    /// given either.
    pub(super) fn source(&self) -> ConfigSource {
        match self.db {
            None => self.settings.source(),
            Some(_) => self.settings.named().unwrap_or_default(),
        }
    }

    /// Loads the configuration. A flag overrides the environment, which overrides the file, which overrides
    /// the defaults.
    pub(super) fn load(&self) -> Result<Config, CliError> {
        let mut config = self.settings()?;
        if let Some(db) = &self.db {
            if let Some(why) = not_a_file(&db.to_string_lossy()) {
                return Err(CliError::settings(format!("--db {why}")));
            }
            if config.store.url.is_some() {
                return Err(CliError::settings(
                    "--db names an SQLite file and store.url a PostgreSQL database; only one can be used",
                ));
            }
            config.store.database.clone_from(db);
        } else if self.settings.dir.is_none() {
            refuse_other_database(&config)?;
        }
        Ok(config)
    }

    /// Loads the configuration for a command that opens no database.
    pub(super) fn settings(&self) -> Result<Config, CliError> {
        self.source().load()
    }
}

/// Refuses to begin a new database in the folder of the configuration file while there is one in the current
/// folder, where a command without a configuration puts it.
fn refuse_other_database(config: &Config) -> Result<(), CliError> {
    let (database, here) = (&config.store.database, &config.store.database_as_written);
    let is_other = config.store.url.is_none() && database != here;
    if is_other && !database.exists() && here.exists() {
        let (database, here) = (database.display(), here.display());
        return Err(CliError::settings(format!(
            "there is no database at {database}, but there is one in the current folder, {here}: a relative path in \
             a configuration file is relative to the folder of that file. Move the database there, or set [store] \
             database to its whole path"
        )));
    }
    Ok(())
}

/// Loads the configuration from this file.
pub(super) fn load_config(file: &Path) -> Result<Config, CliError> {
    ConfigSource::of_file(file.to_owned()).load()
}

/// The text of a configuration file.
fn read(path: &Path) -> Result<String, CliError> {
    let unreadable =
        |why: &str| CliError::settings(format!("configuration file {}: {why}", path.display()));
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
        CliError::settings(format!(
            "{}: line {line}: the line is not UTF-8",
            path.display()
        ))
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
