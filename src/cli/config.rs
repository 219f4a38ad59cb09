//! `evenkeel config`: prints the documented defaults, checks a file, or shows what is in force.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use serde_json::json;

use super::{
    CliError,
    config_show::{self, ShowArgs},
    load_config, print_json,
    table::printable,
};
use crate::{config::DEFAULT, daemon};

/// Print the documented defaults, check a configuration file, or show what is in force
#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print every key with its default, as a file to start from
    Default,
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
        ConfigCommand::Default => out.write_all(DEFAULT.as_bytes())?,
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
