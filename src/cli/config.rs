//! `evenkeel config` and `evenkeel token`: a configuration to start from, a check of a file, the values in force and
//! where each of them comes from, and the tokens of clients; and which configuration file any command reads, with the
//! folder of its relative paths.

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;
use serde_json::json;

use crate::{
    cli::{
        CliError, CommonArgs, SettingsArgs, print_json, random,
        serve::OverrideArgs,
        table::{print_error_line, printable},
    },
    config::{
        Config, ConfigError, GamePreset, START, ValueInForce, ValueOrigin, all_keys, not_a_file,
    },
    daemon,
    model::{access::Secret, text::to_hex},
};

/// Print a configuration to start from, check a configuration file, or show what is in force
#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print the keys that most people set with their defaults, as a file to start from
    Default {
        /// Print every key
        #[arg(long)]
        all: bool,
    },
    /// Print a configuration to start from for one game, or list them
    Preset {
        /// The game [default: list the games]
        game: Option<GamePreset>,
    },
    /// Check a configuration file, and print the first mistake in it with its line
    Check {
        /// The configuration file to check
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print a JSON object
        #[arg(long)]
        json: bool,
    },
    Show(ShowConfigArgs),
}

pub(super) fn run(args: &ConfigArgs) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match &args.command {
        ConfigCommand::Default { all: false } => out.write_all(START.as_bytes())?,
        ConfigCommand::Default { all: true } => out.write_all(all_keys().as_bytes())?,
        ConfigCommand::Preset { game: Some(game) } => out.write_all(game.text().as_bytes())?,
        ConfigCommand::Preset { game: None } => list_presets(&mut out)?,
        ConfigCommand::Check { file, json } => check(file, *json)?,
        ConfigCommand::Show(args) => run_config_show(args)?,
    }
    Ok(())
}

/// Checks a configuration file. A mistake in it is the error of the command.
fn check(file: &Path, json: bool) -> Result<(), CliError> {
    let config = load_config(file)?;
    config.check_access()?;
    daemon::check_certificate(&config)?;
    let warnings = config.warnings()?;
    if json {
        return print_json(&json!({"file": file, "valid": true, "warnings": warnings}));
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{}: valid", file.display())?;
    for warning in warnings {
        writeln!(out, "warning: {}", printable(&warning))?;
    }
    Ok(())
}

/// Prints the name of each preset, and for what it is.
fn list_presets(out: &mut impl Write) -> io::Result<()> {
    let presets = GamePreset::value_variants().iter();
    for value in presets.filter_map(ValueEnum::to_possible_value) {
        let help = value.get_help().map(ToString::to_string);
        writeln!(out, "{:14} {}", value.get_name(), help.unwrap_or_default())?;
    }
    Ok(())
}

/// Show the configuration that is in force, and where each value comes from
///
/// A value comes from a flag, a variable of the environment, a line of the configuration file, or it is the default.
/// Takes the flags of `evenkeel serve` that set a value. Tokens and passwords are not shown.
#[derive(Debug, Args)]
pub(super) struct ShowConfigArgs {
    /// Only the values that somebody has set
    #[arg(long)]
    changed: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    overrides: OverrideArgs,
    #[command(flatten)]
    common: CommonArgs,
}

/// The configuration in force. The field names are the keys of `--json`.
#[derive(Debug, Serialize)]
struct ShownConfig {
    /// The configuration file, if there is one.
    file: Option<PathBuf>,
    /// The folder of the relative paths in it; empty for the current folder.
    folder: PathBuf,
    values: Vec<ValueInForce>,
}

fn run_config_show(args: &ShowConfigArgs) -> Result<(), CliError> {
    // Names the line or the variable of a mistake.
    args.common.load()?;
    let ConfigSource { file, folder } = args.common.source();
    let text = args.common.source().text()?;
    let mut values = Config::values_in_force(&folder, &text, environment())?;
    override_values(args, &mut values);
    if args.changed {
        values.retain(|one| one.origin != ValueOrigin::Default);
    }
    let shown = ShownConfig {
        file,
        folder,
        values,
    };
    match args.json {
        true => print_json(&shown),
        false => Ok(write(&mut io::stdout().lock(), &shown)?),
    }
}

/// Puts the values of flags in the place of those from the file and the environment.
fn override_values(args: &ShowConfigArgs, values: &mut [ValueInForce]) {
    let path = |path: &Path| path.display().to_string();
    let flags = &args.overrides;
    let set = [
        (
            "store.database",
            "--db",
            args.common.db.as_deref().map(path),
        ),
        (
            "server.listen",
            "--listen",
            flags.listen.map(|at| at.to_string()),
        ),
        ("web.listen", "--web", flags.web.map(|at| at.to_string())),
        (
            "log.format",
            "--log-format",
            flags.log_format.map(|format| format.as_str().to_owned()),
        ),
    ];
    for (key, flag, text) in set {
        let Some(text) = text else {
            continue;
        };
        let Some(one) = values.iter_mut().find(|one| one.key == key) else {
            continue;
        };
        one.origin = origin_of(flag, &text);
        one.value = text.into();
    }
}

/// Where the value of a flag comes from: some flags are also set by a variable.
fn origin_of(flag: &str, text: &str) -> ValueOrigin {
    let variable = match flag {
        "--db" => "EVENKEEL_DB",
        "--listen" => "EVENKEEL_LISTEN",
        _ => "",
    };
    let by_variable = !variable.is_empty() && std::env::var(variable).is_ok_and(|set| set == text);
    match by_variable {
        true => ValueOrigin::Environment {
            variable: variable.to_owned(),
        },
        false => ValueOrigin::Flag {
            flag: flag.to_owned(),
        },
    }
}

fn write(out: &mut impl Write, shown: &ShownConfig) -> io::Result<()> {
    match &shown.file {
        Some(file) => writeln!(out, "configuration file: {}", file.display())?,
        None => writeln!(out, "configuration file: none")?,
    }
    let folder = match shown.folder.as_os_str().is_empty() {
        true => "the current folder".to_owned(),
        false => shown.folder.display().to_string(),
    };
    writeln!(out, "relative paths begin in: {folder}\n")?;
    let line = |one: &ValueInForce| printable(&format!("{} = {}", one.key, one.value));
    let lines: Vec<String> = shown.values.iter().map(line).collect();
    let widths = lines.iter().map(|line| line.chars().count());
    let width = widths
        .filter(|width| *width <= LONGEST_COLUMN)
        .max()
        .unwrap_or(0);
    for (line, one) in lines.iter().zip(&shown.values) {
        writeln!(out, "{line:width$}  # {}", words(&one.origin))?;
    }
    Ok(())
}

/// The longest value, with its key, behind which the origins are in one column.
const LONGEST_COLUMN: usize = 60;

fn words(origin: &ValueOrigin) -> String {
    match origin {
        ValueOrigin::Default => "default".to_owned(),
        ValueOrigin::File { line } => format!("line {line}"),
        ValueOrigin::Environment { variable } => format!("variable {variable}"),
        ValueOrigin::Flag { flag } => format!("flag {flag}"),
    }
}

/// The number of random bytes of a token.
const BYTES: usize = 32;
/// The most bytes that are read of a token.
const MOST: u64 = 4_096;

/// Make a token for a client, or the hash of one
#[derive(Debug, Args)]
pub(super) struct TokenArgs {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Print a random token for a client, and its hash for the daemon's configuration
    New {
        /// Print a JSON object
        #[arg(long)]
        json: bool,
    },
    /// Read a token from the standard input and print its hash
    Hash,
}

pub(super) fn run_token(args: &TokenArgs) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match args.command {
        TokenCommand::New { json } => {
            let token = to_hex(&random::<BYTES>()?);
            let hash = Secret::of(&token).hash();
            if json {
                return print_json(&json!({"token": token, "hash": hash}));
            }
            writeln!(out, "token {token}")?;
            writeln!(out, "hash  {hash}")?;
        }
        TokenCommand::Hash => {
            let mut text = String::new();
            io::stdin().lock().take(MOST).read_to_string(&mut text)?;
            let token = text.trim();
            if token.is_empty() {
                return Err(CliError::input("the standard input is empty"));
            }
            writeln!(out, "{}", Secret::of(token).hash())?;
            if Secret::can_be_guessed(token) {
                let warning = "warning: this token is short and can be guessed: `evenkeel token new` draws a long one";
                print_error_line(warning);
            }
        }
    }
    Ok(())
}

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
