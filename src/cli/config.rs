//! `evenkeel config`: prints the documented defaults, or checks a file.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::{Args, Subcommand};

use super::{CliError, load_config, table::printable};
use crate::{config::DEFAULT, daemon};

/// Print the documented defaults, or check a configuration file
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
        file: PathBuf,
    },
}

pub(super) fn run(args: &ConfigArgs) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match &args.command {
        ConfigCommand::Default => out.write_all(DEFAULT.as_bytes())?,
        ConfigCommand::Check { file } => {
            let config = load_config(Some(file))?;
            config.check_access()?;
            daemon::check_certificate(&config)?;
            writeln!(out, "{}: valid", file.display())?;
            for warning in config.warnings()? {
                writeln!(out, "warning: {}", printable(&warning))?;
            }
        }
    }
    Ok(())
}
