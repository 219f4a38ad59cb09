//! `evenkeel config`: prints a configuration to start from, or checks a file.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::{Args, Subcommand, ValueEnum};

use super::{CliError, load_config, table::printable};
use crate::{
    config::{GamePreset, START, all_keys},
    daemon,
};

/// Print a configuration to start from, or check a configuration file
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
        file: PathBuf,
    },
}

pub(super) fn run(args: &ConfigArgs) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match &args.command {
        ConfigCommand::Default { all: false } => out.write_all(START.as_bytes())?,
        ConfigCommand::Default { all: true } => out.write_all(all_keys().as_bytes())?,
        ConfigCommand::Preset { game: Some(game) } => out.write_all(game.text().as_bytes())?,
        ConfigCommand::Preset { game: None } => list_presets(&mut out)?,
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

/// Prints the name of each preset, and for what it is.
fn list_presets(out: &mut impl Write) -> io::Result<()> {
    let presets = GamePreset::value_variants().iter();
    for value in presets.filter_map(ValueEnum::to_possible_value) {
        let help = value.get_help().map(ToString::to_string);
        writeln!(out, "{:10} {}", value.get_name(), help.unwrap_or_default())?;
    }
    Ok(())
}
