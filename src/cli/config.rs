//! `evenkeel config`: prints a configuration to start from, checks a file, or shows what is in force.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use super::{
    CliError,
    config_show::{self, ShowArgs},
    load_config, print_json,
    table::printable,
};
use crate::{
    config::{GamePreset, START, all_keys},
    daemon,
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
    Show(ShowArgs),
}

pub(super) fn run(args: &ConfigArgs) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match &args.command {
        ConfigCommand::Default { all: false } => out.write_all(START.as_bytes())?,
        ConfigCommand::Default { all: true } => out.write_all(all_keys().as_bytes())?,
        ConfigCommand::Preset { game: Some(game) } => out.write_all(game.text().as_bytes())?,
        ConfigCommand::Preset { game: None } => list_presets(&mut out)?,
        ConfigCommand::Check { file, json } => check(file, *json)?,
        ConfigCommand::Show(args) => config_show::run(args)?,
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
