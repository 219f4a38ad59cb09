//! `evenkeel config` and `evenkeel token`: a configuration to start from, a check of a file, the values in force and
//! where each of them comes from, and the tokens of clients.

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;
use serde_json::json;

use super::{
    CliError, CommonArgs,
    config_file::{ConfigSource, environment},
    load_config, print_json, random,
    serve::OverrideArgs,
    table::{print_error_line, printable},
};
use crate::{
    config::{Config, GamePreset, START, ValueInForce, ValueOrigin, all_keys},
    daemon,
    model::{Secret, to_hex},
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
